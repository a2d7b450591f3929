//! Models behind one small trait: Anthropic Messages, OpenAI-compatible chat completions, and a script.

pub mod anthropic;
mod http;
pub mod openai;
pub mod retry;
pub mod script;
pub mod sse;

use async_trait::async_trait;
use deckle_doc::Diag;
use deckle_wire::Usage;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::chat::{ChatMessage, Native, ToolCall};

/// What a model is asked.
#[derive(Clone, Debug)]
pub struct Request {
    /// The system prompt.
    pub system: String,
    /// The conversation, well formed.
    pub messages: Vec<ChatMessage>,
    /// The tools: name, description and JSON schema of the arguments.
    pub tools: Vec<ToolSchema>,
    /// The most tokens of the answer.
    pub max_tokens: u32,
}

/// A tool as a model is told of it.
#[derive(Clone, Debug)]
pub struct ToolSchema {
    /// Its name.
    pub name: String,
    /// What it does and what it destroys.
    pub description: String,
    /// The JSON schema of its arguments.
    pub schema: Value,
}

/// Pieces of an answer, as they come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delta {
    /// Words.
    Text(String),
    /// Reasoning.
    Reasoning(String),
    /// A request failed and is tried again.
    Retry {
        /// Which attempt failed, from 1.
        attempt: u32,
        /// Why.
        why: String,
        /// How long it waits, in milliseconds.
        wait_ms: u64,
    },
}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It had no more to say.
    End,
    /// It wants tools to run.
    Tools,
    /// The output limit cut it off.
    Length,
    /// It declined.
    Refusal,
}

/// A whole answer.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelTurn {
    /// Words.
    pub text: String,
    /// Reasoning.
    pub reasoning: String,
    /// Calls, those that cannot be executed among them.
    pub calls: Vec<ToolCall>,
    /// Why it stopped.
    pub stop: Stop,
    /// Tokens.
    pub usage: Usage,
    /// The provider's own blocks.
    pub native: Option<Native>,
}

/// Why a model could not be asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// No model is configured.
    #[error("no model is configured")]
    NotConfigured,
    /// The name is not of the form.
    #[error("`{0}` is no model")]
    BadName(String),
    /// A key is missing.
    #[error("`{variable}` is not set")]
    NoKey {
        /// The environment variable.
        variable: &'static str,
    },
    /// The script cannot be read, or does not fit the run.
    #[error("the script {file}: {message}")]
    Script {
        /// The file.
        file: String,
        /// What is wrong, with its line where there is one.
        message: String,
    },
    /// The service answered with an error.
    #[error("the model service answered {status}: {message}")]
    Status {
        /// The HTTP status.
        status: u16,
        /// What it said.
        message: String,
        /// How long it asks to wait, in milliseconds.
        retry_after_ms: Option<u64>,
        /// What the service itself says of trying again.
        should_retry: Option<bool>,
    },
    /// The connection failed.
    #[error("the model service could not be reached: {0}")]
    Connection(String),
    /// The stream ended before the answer did.
    #[error("the answer was cut off: {0}")]
    Truncated(String),
    /// The run was cancelled.
    #[error("cancelled")]
    Cancelled,
}

impl From<&ModelError> for Diag {
    fn from(error: &ModelError) -> Self {
        let (code, hint) = match error {
            ModelError::NotConfigured => (
                "no-model",
                "set `DECKLE_MODEL` to `anthropic/NAME`, `openai/NAME` (with `DECKLE_MODEL_URL` for Ollama, vLLM or llama.cpp) or `script:FILE`; `deckle demo` needs none",
            ),
            ModelError::BadName(_) => ("bad-model", "write `anthropic/NAME`, `openai/NAME` or `script:FILE`"),
            ModelError::NoKey { .. } => ("no-key", "set it to your key for the service; a local server takes any text"),
            ModelError::Script { .. } => ("bad-script", "see docs/script.md for what a script may say"),
            ModelError::Status { status: 401 | 403, .. } => ("model-refused", "check the key and its rights"),
            ModelError::Status { status: 429, .. } => ("model-busy", "wait a while, then follow up on the session"),
            ModelError::Status { .. } => {
                ("model-status", "follow up on the session to try again; the work so far is on its branch")
            }
            ModelError::Connection(_) => {
                ("model-unreachable", "check the network and `DECKLE_MODEL_URL`, then follow up on the session")
            }
            ModelError::Truncated(_) => {
                ("model-truncated", "follow up on the session to try again; the work so far is on its branch")
            }
            ModelError::Cancelled => ("cancelled", "follow up on the session to go on"),
        };
        Self::new(code, error.to_string()).hint(hint)
    }
}

/// Takes the pieces of an answer as they come.
pub type OnDelta<'a> = &'a mut (dyn FnMut(Delta) + Send);

/// A language model.
#[async_trait]
pub trait Model: Send + Sync {
    /// Returns its name, `anthropic/NAME`.
    fn name(&self) -> String;

    /// Asks it. Pieces are handed out as they come; when a request is tried again after pieces came, what was said before stands for nothing.
    ///
    /// # Errors
    /// When it cannot be asked, after the retries that make sense. Dropping the future or cancelling closes the connection.
    async fn ask(&self, request: &Request, cancel: &CancellationToken, on_delta: OnDelta<'_>) -> Result<ModelTurn, ModelError>;
}

/// Which model a run uses, as `DECKLE_MODEL` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelSpec {
    /// `anthropic/NAME`
    Anthropic(String),
    /// `openai/NAME`
    OpenAi(String),
    /// `script:FILE`
    Script(String),
}

impl ModelSpec {
    /// Reads `anthropic/NAME`, `openai/NAME` or `script:FILE`.
    ///
    /// # Errors
    /// When it is none of them.
    pub fn parse(text: &str) -> Result<Self, ModelError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(ModelError::NotConfigured);
        }
        if let Some(file) = text.strip_prefix("script:").filter(|file| !file.is_empty()) {
            return Ok(Self::Script(file.to_owned()));
        }
        match text.split_once('/') {
            Some(("anthropic", name)) if !name.is_empty() => Ok(Self::Anthropic(name.to_owned())),
            Some(("openai", name)) if !name.is_empty() => Ok(Self::OpenAi(name.to_owned())),
            _ => Err(ModelError::BadName(text.to_owned())),
        }
    }
}

/// Makes a call of what a provider sent: one that is whole and whose arguments are an object, or one that says why it cannot be executed.
pub(crate) fn call_of(id: String, name: String, raw: &str, whole: bool) -> ToolCall {
    let parsed =
        if raw.trim().is_empty() { Ok(Value::Object(serde_json::Map::new())) } else { serde_json::from_str::<Value>(raw) };
    let (arguments, broken) = match parsed {
        Ok(value @ Value::Object(_)) if whole => (value, None),
        Ok(value) if !whole => (
            value,
            Some(format!(
                "error[cut-off]: the call of `{name}` was cut off by the output limit, so it was not executed\nhint: send less at once: one document or one section a call, or `$replaceText` and `$insertAfter` instead of whole blocks"
            )),
        ),
        Ok(value) => (
            value,
            Some(format!("error[bad-arguments]: the arguments of `{name}` are not an object\nhint: send one JSON object")),
        ),
        Err(_) if !whole => (
            Value::String(raw.to_owned()),
            Some(format!(
                "error[cut-off]: the call of `{name}` was cut off by the output limit, so it was not executed\nhint: send less at once: one document or one section a call, or `$replaceText` and `$insertAfter` instead of whole blocks"
            )),
        ),
        Err(error) => (
            Value::String(raw.to_owned()),
            Some(format!(
                "error[bad-arguments]: the arguments of `{name}` are not JSON: {error}\nhint: send one JSON object, with quotes and backslashes escaped"
            )),
        ),
    };
    ToolCall { id, name, arguments, broken }
}
