//! One run of the agent loop: no clock, no socket, no task.
//!
//! The driver feeds [`Input`]s, drains [`Output`]s and is the only place that waits. Each output is a point at which a process may die: what must
//! survive was handed out in a [`Output::Checkpoint`] before it.

use std::collections::VecDeque;

use deckle_wire::{Event, Outcome, ToolState, Usage};

use crate::chat::{ChatMessage, ToolCall};
use crate::history;
use crate::models::{ModelTurn, Stop};

/// The most iterations of one run, a model call and its tools being one. Long edits over fifty documents take about thirty.
pub const MAX_ITERATIONS: u32 = 50;
/// How often a turn that did nothing and said little is asked to go on.
const MAX_NUDGES: u32 = 2;
/// The status of a run that another process goes on with.
pub const RESUMED: &str = "resumed";
/// An answer of at least so many characters counts as one.
const ENOUGH_WORDS: usize = 400;

/// What happened.
#[derive(Clone, Debug)]
pub enum Input {
    /// The model answered.
    Model(ModelTurn),
    /// The model could not be asked, after all retries.
    ModelFailed {
        /// The code.
        code: String,
        /// The one rendering of the error.
        message: String,
    },
    /// A tool call came to its end.
    Tool(ToolOutcome),
    /// A person wants the run to end.
    Cancel,
    /// The budget is used up.
    OverBudget {
        /// What was used up.
        what: String,
    },
}

/// What a tool call came to.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOutcome {
    /// The call.
    pub id: String,
    /// What the model is shown.
    pub content: String,
    /// Whether it was refused.
    pub is_error: bool,
    /// Documents that changed, or were read.
    pub documents: u64,
    /// Blocks that changed.
    pub blocks: u64,
    /// Whether it wrote.
    pub wrote: bool,
    /// The receipt in words, when it wrote.
    pub receipt: Option<String>,
    /// Further events: progress, navigation, documents.
    pub events: Vec<Event>,
}

/// What to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Store these messages, from this place on, before anything else.
    Checkpoint {
        /// The place of the first.
        place: usize,
        /// The messages.
        messages: Vec<ChatMessage>,
    },
    /// Write this event to the log, then send it.
    Emit(Event),
    /// Ask the model with the history as it is; it is well formed.
    AskModel,
    /// Run a tool.
    RunTool(ToolCall),
    /// The run is over.
    Done(Outcome),
}

/// What the run waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Waiting {
    Model,
    Tool(String),
    Nothing,
}

/// A run.
#[derive(Clone, Debug)]
pub struct Run {
    messages: Vec<ChatMessage>,
    /// Messages up to here were handed out in checkpoints.
    stored: usize,
    iteration: u32,
    queue: VecDeque<ToolCall>,
    waiting: Waiting,
    out: VecDeque<Output>,
    cancelled: bool,
    over_budget: Option<String>,
    nudges: u32,
    called: u64,
    answered: u64,
    receipts: Vec<String>,
    documents: u64,
    blocks: u64,
    usage: Usage,
    branch: Option<String>,
    over: bool,
}

impl Run {
    /// Begins a turn: the history so far, and what the person asks.
    #[must_use]
    pub fn start(stored: Vec<ChatMessage>, request: &str) -> Self {
        let mut run = Self::of(stored);
        run.messages.push(ChatMessage::User { text: request.to_owned() });
        run.checkpoint();
        run.emit(Event::AgentStatus { status: "started".into(), message: None });
        run.ask();
        run
    }

    /// Goes on with a run whose process died, from its last checkpoint. `begun` is the place of the run's first message;
    /// `logged` are its events so far. A call that has no result is handed out again: the driver asks the store whether its
    /// effect is there before it executes it, so no tool runs twice.
    #[must_use]
    pub fn resume(stored: Vec<ChatMessage>, begun: usize, logged: &[Event]) -> Self {
        let mut run = Self::of(stored);
        let own = run.messages.get(begun..).unwrap_or_default().to_vec();
        run.recall(&own, logged);
        run.emit(Event::AgentStatus {
            status: RESUMED.into(),
            message: Some("The process that ran this turn died; another goes on with it.".into()),
        });
        // Of the last answer, what was called and not answered.
        let last = own.iter().rposition(|message| matches!(message, ChatMessage::Assistant { .. }));
        let (answer, after) = match last {
            Some(at) => (own.get(at), own.get(at + 1..).unwrap_or_default()),
            None => (None, own.as_slice()),
        };
        let mut calls = match answer {
            Some(ChatMessage::Assistant { calls, .. }) => calls.clone(),
            _ => Vec::new(),
        };
        for call in &calls {
            let answered = |message: &&ChatMessage| matches!(message, ChatMessage::Tool { id, .. } if *id == call.id);
            let ended = logged.iter().any(
                |event| matches!(event, Event::AgentTool { id, state, .. } if *id == call.id && *state != ToolState::Started),
            );
            if let (Some(ChatMessage::Tool { content, is_error, .. }), false) = (after.iter().find(answered), ended) {
                // Its result was stored, and the process died before it was told.
                let state = if *is_error { ToolState::Refused } else { ToolState::Ok };
                run.ended(call, state, 0, 0, Some(content.clone()));
            }
        }
        calls.retain(|call| !after.iter().any(|message| matches!(message, ChatMessage::Tool { id, .. } if *id == call.id)));
        run.answered -= calls.len() as u64;
        match after.last() {
            _ if !calls.is_empty() => {
                run.queue.extend(calls);
                run.next_call();
            }
            None if answer.is_some() => run.finish(Outcome::Done),
            _ => run.ask(),
        }
        run
    }

    /// Counts what the run did before its process died.
    fn recall(&mut self, own: &[ChatMessage], logged: &[Event]) {
        for message in own.iter().skip(1) {
            match message {
                ChatMessage::Assistant { calls, .. } => {
                    self.iteration += 1;
                    self.called += calls.len() as u64;
                }
                ChatMessage::User { .. } => self.nudges += 1,
                ChatMessage::Tool { .. } => {}
            }
        }
        self.answered = self.called;
        for event in logged {
            let Event::AgentTool { state: ToolState::Ok, documents, blocks, text: Some(receipt), .. } = event else { continue };
            self.receipts.push(receipt.clone());
            self.documents += documents.unwrap_or_default();
            self.blocks += blocks.unwrap_or_default();
        }
    }

    fn of(stored: Vec<ChatMessage>) -> Self {
        let place = stored.len();
        // What was stored stays as it was stored; what the model is shown is repaired each time.
        Self {
            messages: stored,
            stored: place,
            iteration: 0,
            queue: VecDeque::new(),
            waiting: Waiting::Nothing,
            out: VecDeque::new(),
            cancelled: false,
            over_budget: None,
            nudges: 0,
            called: 0,
            answered: 0,
            receipts: Vec::new(),
            documents: 0,
            blocks: 0,
            usage: Usage::default(),
            branch: None,
            over: false,
        }
    }

    /// Says which branch the run writes, for its last event.
    pub fn set_branch(&mut self, branch: &str) {
        self.branch = Some(branch.to_owned());
    }

    /// Returns the history that a model is shown: well formed whatever was stored.
    #[must_use]
    pub fn history(&self) -> Vec<ChatMessage> {
        history::repair(&self.messages)
    }

    /// Returns what to do next; nothing while the run waits.
    pub fn poll(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    /// Returns whether the run is over.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Returns the iteration, from 1.
    #[must_use]
    pub fn iteration(&self) -> u32 {
        self.iteration
    }

    /// Takes in what happened.
    pub fn handle(&mut self, input: Input) {
        if self.over {
            return;
        }
        match input {
            Input::Cancel => {
                self.cancelled = true;
                // A tool that runs is let finish, so that its effect and its result are both known.
                if !matches!(self.waiting, Waiting::Tool(_)) {
                    self.finish(Outcome::Cancelled);
                }
            }
            Input::OverBudget { what } => self.over_budget = Some(what),
            Input::Model(turn) => self.model(turn),
            Input::ModelFailed { code, message } => {
                self.emit(Event::AgentError { code, message, fatal: true });
                self.finish(Outcome::Failed);
            }
            Input::Tool(outcome) => self.tool(outcome),
        }
    }

    fn model(&mut self, turn: ModelTurn) {
        if self.waiting != Waiting::Model {
            return;
        }
        self.waiting = Waiting::Nothing;
        self.usage.add(turn.usage);
        let calls = turn.calls.clone();
        let said = turn.text.len();
        self.messages.push(ChatMessage::Assistant {
            text: turn.text,
            reasoning: turn.reasoning,
            calls: turn.calls,
            native: turn.native,
        });
        if self.cancelled {
            self.checkpoint();
            self.finish(Outcome::Cancelled);
            return;
        }
        self.called += calls.len() as u64;
        self.queue.extend(calls);
        self.checkpoint();
        if self.queue.is_empty() {
            match turn.stop {
                Stop::Length if said == 0 => {
                    self.nudge("Your answer was cut off by the output limit before it said anything. Go on in smaller steps.")
                }
                Stop::Refusal => {
                    self.emit(Event::AgentError {
                        code: "model-refused".into(),
                        message: "error[model-refused]: the model declined to go on".into(),
                        fatal: true,
                    });
                    self.finish(Outcome::Failed);
                }
                _ if self.called == 0
                    && self.receipts.is_empty()
                    && said < ENOUGH_WORDS
                    && self.nudges < MAX_NUDGES
                    && said == 0 =>
                {
                    self.nudge("You have called no tool and said nothing. Carry out the request with the tools, or say why it cannot be done.");
                }
                _ => self.finish(Outcome::Done),
            }
            return;
        }
        self.next_call();
    }

    fn nudge(&mut self, text: &str) {
        if self.nudges >= MAX_NUDGES {
            self.finish(Outcome::Failed);
            return;
        }
        self.nudges += 1;
        self.messages.push(ChatMessage::User { text: text.to_owned() });
        self.checkpoint();
        self.ask();
    }

    /// Runs the next call of the model's answer, or asks again when there is none.
    fn next_call(&mut self) {
        while let Some(call) = self.queue.pop_front() {
            if let Some(why) = call.broken.clone() {
                // A call that cannot be executed is answered, never dropped.
                self.started(&call);
                self.answer(&call, why, true);
                self.ended(&call, ToolState::Refused, 0, 0, None);
                self.checkpoint();
                continue;
            }
            self.started(&call);
            self.waiting = Waiting::Tool(call.id.clone());
            self.out.push_back(Output::RunTool(call));
            return;
        }
        assert!(self.called == self.answered, "BUG: {} calls were made and {} answered", self.called, self.answered);
        self.ask();
    }

    fn tool(&mut self, outcome: ToolOutcome) {
        if self.waiting != Waiting::Tool(outcome.id.clone()) {
            return;
        }
        self.waiting = Waiting::Nothing;
        let call = self.call(&outcome.id);
        self.answer(&call, outcome.content.clone(), outcome.is_error);
        self.checkpoint();
        if outcome.wrote {
            self.documents += outcome.documents;
            self.blocks += outcome.blocks;
        }
        self.receipts.extend(outcome.receipt.clone());
        let state = if outcome.is_error { ToolState::Refused } else { ToolState::Ok };
        let text = outcome.receipt.clone().or_else(|| outcome.is_error.then(|| outcome.content.clone()));
        self.ended(&call, state, outcome.documents, outcome.blocks, text);
        for event in outcome.events {
            self.emit(event);
        }
        if self.cancelled {
            self.give_up("The person cancelled the run before this call was executed.");
            self.finish(Outcome::Cancelled);
        } else if let Some(what) = self.over_budget.clone() {
            self.give_up(&format!("The run's budget is used up ({what}); this call was not executed."));
            self.emit(Event::AgentError {
                code: "budget".into(),
                message: format!("error[budget]: the run's budget is used up: {what}"),
                fatal: true,
            });
            self.finish(Outcome::Limit);
        } else {
            self.next_call();
        }
    }

    fn call(&self, id: &str) -> ToolCall {
        self.messages
            .iter()
            .rev()
            .find_map(|message| match message {
                ChatMessage::Assistant { calls, .. } => calls.iter().find(|call| call.id == id).cloned(),
                _ => None,
            })
            .unwrap_or_else(|| ToolCall {
                id: id.to_owned(),
                name: String::new(),
                arguments: serde_json::Value::Null,
                broken: None,
            })
    }

    /// Answers every call that is left without executing it.
    fn give_up(&mut self, why: &str) {
        while let Some(call) = self.queue.pop_front() {
            self.answer(&call, why.to_owned(), true);
        }
        self.checkpoint();
    }

    fn answer(&mut self, call: &ToolCall, content: String, is_error: bool) {
        self.answered += 1;
        self.messages.push(ChatMessage::Tool { id: call.id.clone(), name: call.name.clone(), content, is_error });
    }

    fn started(&mut self, call: &ToolCall) {
        self.emit(Event::AgentTool {
            id: call.id.clone(),
            name: call.name.clone(),
            state: ToolState::Started,
            arguments: Some(call.arguments.clone()),
            documents: None,
            blocks: None,
            text: None,
        });
    }

    fn ended(&mut self, call: &ToolCall, state: ToolState, documents: u64, blocks: u64, text: Option<String>) {
        self.emit(Event::AgentTool {
            id: call.id.clone(),
            name: call.name.clone(),
            state,
            arguments: None,
            documents: Some(documents),
            blocks: Some(blocks),
            text,
        });
    }

    /// Asks the model, unless a bound is reached.
    fn ask(&mut self) {
        if self.cancelled {
            self.finish(Outcome::Cancelled);
            return;
        }
        let cap = if cfg!(sabotage = "off_by_one_cap") { MAX_ITERATIONS + 1 } else { MAX_ITERATIONS };
        if self.iteration >= cap {
            self.emit(Event::AgentError {
                code: "iterations".into(),
                message: format!(
                    "error[iterations]: the run took {MAX_ITERATIONS} iterations\nhint: follow up on the session to go on"
                ),
                fatal: true,
            });
            self.finish(Outcome::Limit);
            return;
        }
        self.iteration += 1;
        self.waiting = Waiting::Model;
        self.out.push_back(Output::AskModel);
    }

    fn checkpoint(&mut self) {
        if self.stored < self.messages.len() {
            self.out.push_back(Output::Checkpoint { place: self.stored, messages: self.messages[self.stored..].to_vec() });
            self.stored = self.messages.len();
        }
    }

    fn emit(&mut self, event: Event) {
        self.out.push_back(Output::Emit(event));
    }

    /// The last event, always one.
    fn finish(&mut self, outcome: Outcome) {
        if self.over {
            return;
        }
        self.over = true;
        self.waiting = Waiting::Nothing;
        let summary = self.summary(outcome);
        let branch = (!self.receipts.is_empty()).then(|| self.branch.clone()).flatten();
        self.emit(Event::AgentDone {
            outcome,
            summary,
            branch,
            documents: self.documents,
            blocks: self.blocks,
            usage: self.usage,
        });
        self.out.push_back(Output::Done(outcome));
    }

    /// What the model said last; when it ended without words, what its receipts say.
    fn summary(&self, outcome: Outcome) -> String {
        let last = match self.messages.last() {
            Some(ChatMessage::Assistant { text, .. }) if outcome == Outcome::Done => text.trim(),
            _ => "",
        };
        if !last.is_empty() {
            return last.to_owned();
        }
        if self.receipts.is_empty() {
            return "Nothing was changed.".to_owned();
        }
        self.receipts.join("\n")
    }
}

#[cfg(test)]
mod tests;
