//! Every type that crosses a wire: HTTP bodies and the events of a turn.
//!
//! The NDJSON stream of a turn is one line `{"sessionId": …}`, then one [`Envelope`] a line. There are exactly nine types of event.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The first line of a stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hello {
    /// The session; follow-ups name it.
    pub session_id: String,
}

/// An event with its place in the session's log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Envelope {
    /// Its number; a client that was cut off asks for what comes after.
    pub seq: i64,
    /// The event.
    #[serde(flatten)]
    pub event: Event,
}

/// What happens in a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Event {
    /// The run began, retries, or resumes.
    AgentStatus {
        /// `started`, `thinking`, `retrying`, `resumed` or `cancelling`.
        status: String,
        /// In words.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// A piece of the model's reasoning.
    AgentThinking {
        /// The text.
        text: String,
    },
    /// A piece of what the model says.
    AgentMessage {
        /// The text.
        text: String,
    },
    /// A tool call: started, then ended one way or another.
    AgentTool {
        /// The call.
        id: String,
        /// The tool.
        name: String,
        /// How far it is.
        state: ToolState,
        /// What was asked, while it starts.
        #[serde(skip_serializing_if = "Option::is_none")]
        arguments: Option<Value>,
        /// How many documents it changed or read.
        #[serde(skip_serializing_if = "Option::is_none")]
        documents: Option<u64>,
        /// How many blocks it changed.
        #[serde(skip_serializing_if = "Option::is_none")]
        blocks: Option<u64>,
        /// The receipt or the refusal, in words.
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// What the agent reports of its progress.
    AgentProgress {
        /// In words.
        message: String,
        /// Steps done.
        #[serde(skip_serializing_if = "Option::is_none")]
        done: Option<u64>,
        /// Steps in all.
        #[serde(skip_serializing_if = "Option::is_none")]
        total: Option<u64>,
    },
    /// A place that the person may want to look at.
    AgentNavigate {
        /// The document.
        key: String,
        /// The block.
        #[serde(skip_serializing_if = "Option::is_none")]
        block: Option<String>,
    },
    /// A document is written on the branch.
    AgentDocComplete {
        /// The document.
        key: String,
        /// `created`, `updated`, `renamed` or `deleted`.
        change: String,
        /// The branch.
        branch: String,
    },
    /// Something went wrong; the run may go on.
    AgentError {
        /// The code.
        code: String,
        /// The one rendering of the error.
        message: String,
        /// Whether the turn ends with it.
        fatal: bool,
    },
    /// The turn is over; always the last event.
    AgentDone {
        /// How it ended.
        outcome: Outcome,
        /// What was done, in words.
        summary: String,
        /// The branch that holds the changes, when there are any.
        #[serde(skip_serializing_if = "Option::is_none")]
        branch: Option<String>,
        /// The documents that changed.
        documents: u64,
        /// The blocks that changed.
        blocks: u64,
        /// What it cost.
        usage: Usage,
    },
}

/// How far a tool call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolState {
    /// It runs.
    Started,
    /// It did what was asked.
    Ok,
    /// It was refused; nothing was written.
    Refused,
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The model had no more to do.
    Done,
    /// A person ended it.
    Cancelled,
    /// It could not go on.
    Failed,
    /// It reached a bound: iterations, documents, words, tokens.
    Limit,
}

/// Tokens of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Tokens read, cached ones included.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Tokens read from a cache.
    pub cached_tokens: u64,
    /// Calls to the model.
    pub requests: u64,
}

impl Usage {
    /// Adds another's tokens.
    pub fn add(&mut self, other: Usage) {
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.cached_tokens += other.cached_tokens;
        self.requests += other.requests;
    }
}

/// `POST /v1/sessions` and `POST /v1/sessions/{id}/turns`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TurnRequest {
    /// What the person asks for.
    pub message: String,
    /// The branch to write; a new one unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
}

/// The body of every refusal over HTTP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The code.
    pub code: String,
    /// The one rendering of the error.
    pub detail: String,
}

/// `POST /v1/sessions/{id}/cancel`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cancelled {
    /// Whether a turn was running.
    pub cancelled: bool,
}

/// `GET /ping`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Health {
    /// `Healthy` or `HealthyBusy`.
    pub status: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_flat_object() -> Result<(), serde_json::Error> {
        let event = Event::AgentStatus { status: "started".into(), message: None };
        let line = serde_json::to_string(&Envelope { seq: 3, event: event.clone() })?;
        assert_eq!(line, r#"{"seq":3,"type":"agent_status","status":"started"}"#);
        assert_eq!(serde_json::from_str::<Envelope>(&line)?, Envelope { seq: 3, event });
        Ok(())
    }
}
