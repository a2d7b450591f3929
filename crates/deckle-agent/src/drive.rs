//! The driver: performs what a run asks for, and is the only place that waits.

use async_trait::async_trait;
use deckle_doc::Diag;
use deckle_store::StoreError;
use deckle_wire::{Event, Outcome};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::chat::ChatMessage;
use crate::models::{Delta, Model, Request};
use crate::run::{Input, Output, Run};
use crate::tools::{self, ToolContext};

/// The most tokens that one answer may have.
const MAX_OUTPUT_TOKENS: u32 = 16_000;
/// How many pieces of an answer may wait to be logged.
const DELTA_QUEUE: usize = 256;

/// Where a run is recorded.
#[async_trait]
pub trait Journal: Send + Sync {
    /// Stores messages from a place on, durably.
    async fn checkpoint(&self, place: usize, messages: &[ChatMessage]) -> Result<(), StoreError>;
    /// Writes an event to the log, then lets it be sent.
    async fn emit(&self, event: Event) -> Result<(), StoreError>;
}

/// Drives a run to its end.
///
/// # Errors
/// When the journal or the store fails; what was acknowledged before stands.
pub async fn drive(
    run: &mut Run,
    system: &str,
    model: &dyn Model,
    context: &ToolContext,
    journal: &dyn Journal,
    cancel: &CancellationToken,
) -> Result<Outcome, StoreError> {
    run.set_branch(context.branch.name().as_str());
    loop {
        if cancel.is_cancelled() {
            run.handle(Input::Cancel);
        }
        let Some(output) = run.poll() else {
            // A run that waits for nothing and is not over would be a lost turn.
            assert!(run.is_over(), "BUG: the run waits for nothing");
            return Ok(Outcome::Failed);
        };
        match output {
            Output::Checkpoint { place, messages } => journal.checkpoint(place, &messages).await?,
            Output::Emit(event) => journal.emit(event).await?,
            Output::Done(outcome) => return Ok(outcome),
            Output::AskModel => {
                let request = Request {
                    system: system.to_owned(),
                    messages: run.history(),
                    tools: tools::schemas(),
                    max_tokens: MAX_OUTPUT_TOKENS,
                };
                let input = ask(model, &request, journal, cancel).await?;
                run.handle(input);
            }
            Output::RunTool(call) => {
                let outcome = tools::call(context, &call).await?;
                run.handle(Input::Tool(outcome));
            }
        }
    }
}

/// Asks the model; pieces of the answer are logged as they come, in their order.
async fn ask(
    model: &dyn Model,
    request: &Request,
    journal: &dyn Journal,
    cancel: &CancellationToken,
) -> Result<Input, StoreError> {
    let (sender, mut receiver) = mpsc::channel::<Delta>(DELTA_QUEUE);
    let mut on_delta = |delta: Delta| {
        // A piece that finds the queue full is not shown; the whole answer is in the checkpoint.
        let _ = sender.try_send(delta);
    };
    let answer = model.ask(request, cancel, &mut on_delta);
    tokio::pin!(answer);
    let outcome = loop {
        tokio::select! {
            biased;
            Some(delta) = receiver.recv() => journal.emit(event_of(delta)).await?,
            () = cancel.cancelled() => return Ok(Input::Cancel),
            outcome = &mut answer => break outcome,
        }
    };
    while let Ok(delta) = receiver.try_recv() {
        journal.emit(event_of(delta)).await?;
    }
    Ok(match outcome {
        Ok(turn) => Input::Model(turn),
        Err(crate::ModelError::Cancelled) => Input::Cancel,
        Err(error) => {
            let diag = Diag::from(&error);
            Input::ModelFailed { code: diag.code.to_owned(), message: diag.to_string() }
        }
    })
}

fn event_of(delta: Delta) -> Event {
    match delta {
        Delta::Text(text) => Event::AgentMessage { text },
        Delta::Reasoning(text) => Event::AgentThinking { text },
        Delta::Retry { attempt, why, wait_ms } => Event::AgentStatus {
            status: "retrying".into(),
            message: Some(format!("{why}; attempt {} in {:.1} s", attempt + 1, wait_ms as f64 / 1000.0)),
        },
    }
}
