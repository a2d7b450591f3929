//! The machine under every interruption.

use serde_json::json;

use super::*;
use crate::history;

fn turn(text: &str, calls: &[&str]) -> ModelTurn {
    let calls = calls
        .iter()
        .map(|id| ToolCall { id: (*id).to_owned(), name: "search".into(), arguments: json!({}), broken: None })
        .collect();
    ModelTurn { text: text.into(), reasoning: String::new(), calls, stop: Stop::End, usage: Usage::default(), native: None }
}

fn done(id: &str) -> ToolOutcome {
    ToolOutcome {
        id: id.into(),
        content: "ok".into(),
        is_error: false,
        documents: 1,
        blocks: 1,
        wrote: true,
        receipt: Some(format!("wrote {id}")),
        events: Vec::new(),
    }
}

/// What became of a script that was played until `stop` outputs were taken.
struct Played {
    stored: Vec<ChatMessage>,
    executed: Vec<String>,
    ended: Option<Outcome>,
    last: Option<Event>,
    taken: usize,
}

/// Plays answers against a run that begins with `stored`; dies after `stop` outputs, cancels at output `cancel`.
fn play(stored: &[ChatMessage], answers: &[ModelTurn], stop: usize, cancel: Option<usize>) -> Played {
    let mut run = Run::start(stored.to_vec(), "do it");
    let mut played = Played { stored: stored.to_vec(), executed: Vec::new(), ended: None, last: None, taken: 0 };
    while played.taken < stop {
        if cancel == Some(played.taken) {
            run.handle(Input::Cancel);
        }
        let Some(output) = run.poll() else { break };
        played.taken += 1;
        match output {
            Output::Checkpoint { place, messages } => {
                assert_eq!(place, played.stored.len(), "a checkpoint leaves a gap");
                played.stored.extend(messages);
            }
            Output::Emit(event) => played.last = Some(event),
            Output::Done(outcome) => played.ended = Some(outcome),
            Output::AskModel => {
                assert_eq!(history::check(&run.history()), Ok(()));
                let asked = run.history().iter().filter(|message| matches!(message, ChatMessage::Assistant { .. })).count();
                run.handle(Input::Model(answers.get(asked).cloned().unwrap_or_else(|| turn("over", &[]))));
            }
            Output::RunTool(call) => {
                played.executed.push(call.id.clone());
                run.handle(Input::Tool(done(&call.id)));
            }
        }
    }
    played
}

fn script() -> Vec<ModelTurn> {
    let mut broken = turn("", &["b1", "b2"]);
    if let Some(call) = broken.calls.first_mut() {
        call.broken = Some("cut off".into());
    }
    vec![turn("first", &["a1", "a2"]), broken, turn("", &["c1"]), turn("all done", &[])]
}

#[test]
fn a_run_ends_with_one_terminal_event() {
    let played = play(&[], &script(), usize::MAX, None);
    assert_eq!(played.ended, Some(Outcome::Done));
    assert_eq!(played.executed, ["a1", "a2", "b2", "c1"]);
    assert!(
        matches!(played.last, Some(Event::AgentDone { outcome: Outcome::Done, ref summary, .. }) if summary == "all done"),
        "{:?}",
        played.last
    );
    assert_eq!(history::check(&played.stored), Ok(()));
}

#[test]
fn dying_at_any_output_leaves_a_history_that_goes_on() {
    let whole = play(&[], &script(), usize::MAX, None);
    for stop in 0..whole.taken {
        let died = play(&[], &script(), stop, None);
        let repaired = history::repair(&died.stored);
        assert_eq!(history::check(&repaired), Ok(()), "after {stop} outputs");
        assert_eq!(history::repair(&repaired), repaired);
        let resumed = play(&died.stored, &script(), usize::MAX, None);
        assert_eq!(resumed.ended, Some(Outcome::Done), "after {stop} outputs");
        // A call whose result was stored is not executed again; one without gets an error result and is not executed either.
        for id in &resumed.executed {
            let known = died.stored.iter().any(
                |message| matches!(message, ChatMessage::Assistant { calls, .. } if calls.iter().any(|call| call.id == *id)),
            );
            assert!(!known, "{id} was executed again after {stop} outputs");
        }
    }
}

#[test]
fn cancelling_at_any_output_runs_at_most_one_more_tool() {
    let whole = play(&[], &script(), usize::MAX, None);
    for at in 0..whole.taken {
        let before = play(&[], &script(), at, None).executed.len();
        let cancelled = play(&[], &script(), usize::MAX, Some(at));
        assert!(cancelled.executed.len() <= before + 1, "cancelled at {at}: {:?}", cancelled.executed);
        assert!(matches!(cancelled.last, Some(Event::AgentDone { .. })), "cancelled at {at}: {:?}", cancelled.last);
        assert_eq!(history::check(&history::repair(&cancelled.stored)), Ok(()));
    }
}

#[test]
fn a_model_that_never_stops_is_asked_fifty_times() {
    let answers: Vec<ModelTurn> = (0..80).map(|number| turn("", &[&format!("call{number}")])).collect();
    let played = play(&[], &answers, usize::MAX, None);
    assert_eq!(played.ended, Some(Outcome::Limit));
    assert_eq!(played.executed.len(), MAX_ITERATIONS as usize);
}

#[test]
fn a_turn_that_wrote_and_said_nothing_is_summed_up_from_its_receipts() {
    let played = play(&[], &[turn("", &["a"]), turn("", &[])], usize::MAX, None);
    assert!(matches!(played.last, Some(Event::AgentDone { ref summary, .. }) if summary == "wrote a"), "{:?}", played.last);
}
