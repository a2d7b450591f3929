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
    logged: Vec<Event>,
    taken: usize,
}

/// Plays answers against a run that begins with `stored`; dies after `stop` outputs, cancels at output `cancel`.
fn play(stored: &[ChatMessage], answers: &[ModelTurn], stop: usize, cancel: Option<usize>) -> Played {
    play_run(Run::start(stored.to_vec(), "do it"), stored, answers, stop, cancel)
}

fn play_run(mut run: Run, stored: &[ChatMessage], answers: &[ModelTurn], stop: usize, cancel: Option<usize>) -> Played {
    let (stored, executed, logged) = (stored.to_vec(), Vec::new(), Vec::new());
    let mut played = Played { stored, executed, ended: None, last: None, logged, taken: 0 };
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
            Output::Emit(event) => {
                played.logged.push(event.clone());
                played.last = Some(event);
            }
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
fn dying_at_any_output_twice_is_resumed_to_the_same_end() {
    let whole = play(&[], &script(), usize::MAX, None);
    for (stop, again) in (1..whole.taken).flat_map(|stop| [(stop, 1), (stop, 3), (stop, usize::MAX)]) {
        let label = format!("after {stop} and {again} outputs");
        let mut died = play(&[], &script(), stop, None);
        if died.ended.is_some() || died.stored.is_empty() {
            continue;
        }
        let mut executed = std::mem::take(&mut died.executed);
        let mut resumed = play_run(Run::resume(died.stored.clone(), 0, &died.logged), &died.stored, &script(), again, None);
        let answered = |played: &Played, id: &String| {
            played.stored.iter().any(|message| matches!(message, ChatMessage::Tool { id: one, .. } if one == id))
        };
        for id in &resumed.executed {
            assert!(!answered(&died, id), "{label}: {id} has a result and is executed again");
        }
        executed.append(&mut resumed.executed);
        if resumed.ended.is_none() {
            let logged = [died.logged.clone(), resumed.logged.clone()].concat();
            let run = Run::resume(resumed.stored.clone(), 0, &logged);
            let last = play_run(run, &resumed.stored, &script(), usize::MAX, None);
            assert!(last.executed.iter().all(|id| !answered(&resumed, id)), "{label}");
            executed.extend(last.executed.iter().cloned());
            resumed = last;
        }
        assert_eq!(resumed.ended, Some(Outcome::Done), "{label}");
        executed.dedup();
        assert_eq!(executed, whole.executed, "{label}");
        assert_eq!(resumed.stored, whole.stored, "{label}: the history is as if nobody had died");
        assert!(matches!(&resumed.last, Some(Event::AgentDone { summary, .. }) if summary == "all done"), "{label}");
    }
}

#[test]
fn a_run_that_dies_over_and_over_still_has_fifty_iterations() {
    let answers: Vec<ModelTurn> = (0..80).map(|number| turn("", &[&format!("call{number}")])).collect();
    let (mut stored, mut logged) = (Vec::new(), Vec::new());
    let mut run = Run::start(Vec::new(), "do it");
    for _ in 0..1_000 {
        let mut died = play_run(run, &stored, &answers, 7, None);
        logged.append(&mut died.logged);
        if let Some(outcome) = died.ended {
            assert_eq!(outcome, Outcome::Limit);
            let asked = died.stored.iter().filter(|message| matches!(message, ChatMessage::Assistant { .. })).count();
            assert_eq!(asked, MAX_ITERATIONS as usize);
            return;
        }
        stored = died.stored;
        run = Run::resume(stored.clone(), 0, &logged);
    }
    panic!("the run never ended");
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
