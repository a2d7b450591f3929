//! A model that plays a YAML file: for demonstrations and tests. `docs/script.md` describes the file.

use async_trait::async_trait;
use deckle_wire::Usage;
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{Delta, Model, ModelError, ModelTurn, OnDelta, Request, Stop};
use crate::chat::{ChatMessage, ToolCall};

/// A script.
#[derive(Clone, Debug)]
pub struct Script {
    file: String,
    steps: Vec<Step>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    steps: Vec<Step>,
}

/// One answer of the model.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Step {
    text: String,
    reasoning: String,
    calls: Vec<Call>,
    usage: Tokens,
    /// How long the answer takes, in milliseconds.
    wait_ms: u64,
    /// What must hold of the results that the model was shown last.
    require: Vec<Require>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    tool: String,
    #[serde(default)]
    arguments: Value,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Tokens {
    input: u64,
    output: u64,
    cached: u64,
}

/// A condition on the results of the answer before.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Require {
    /// Which result, from 0; without it, any.
    result: Option<usize>,
    /// It contains this text.
    contains: Option<String>,
    /// It was refused, or was not.
    is_error: Option<bool>,
}

impl Script {
    /// Reads a script. `file` names it in errors.
    ///
    /// # Errors
    /// When it is not of the form; the error has the line.
    pub fn parse(file: &str, text: &str) -> Result<Self, ModelError> {
        let fail = |message: String| ModelError::Script { file: file.to_owned(), message };
        let read: File = serde_saphyr::from_str(text).map_err(|error| {
            let line = error.location().map_or(String::new(), |location| format!("line {}: ", location.line()));
            fail(format!("{line}{}", error.to_string().lines().next().unwrap_or_default()))
        })?;
        if read.steps.is_empty() {
            return Err(fail("it has no steps".into()));
        }
        Ok(Self { file: file.to_owned(), steps: read.steps })
    }
}

#[async_trait]
impl Model for Script {
    fn name(&self) -> String {
        format!("script:{}", self.file)
    }

    async fn ask(&self, request: &Request, cancel: &CancellationToken, on_delta: OnDelta<'_>) -> Result<ModelTurn, ModelError> {
        let fail = |message: String| ModelError::Script { file: self.file.clone(), message };
        // The place in the script is the number of answers so far, so that it survives a restart.
        let answered = request.messages.iter().filter(|message| matches!(message, ChatMessage::Assistant { .. })).count();
        let Some(step) = self.steps.get(answered) else {
            return Ok(ModelTurn {
                text: "The script is over.".into(),
                reasoning: String::new(),
                calls: Vec::new(),
                stop: Stop::End,
                usage: Usage { requests: 1, ..Usage::default() },
                native: None,
            });
        };
        let results: Vec<(&str, bool)> = request
            .messages
            .iter()
            .rev()
            .take_while(|message| !matches!(message, ChatMessage::Assistant { .. }))
            .filter_map(|message| match message {
                ChatMessage::Tool { content, is_error, .. } => Some((content.as_str(), *is_error)),
                _ => None,
            })
            .collect();
        let results: Vec<(&str, bool)> = results.into_iter().rev().collect();
        for require in &step.require {
            let holds = |(content, is_error): &(&str, bool)| {
                require.contains.as_ref().is_none_or(|text| content.contains(text.as_str()))
                    && require.is_error.is_none_or(|wanted| wanted == *is_error)
            };
            let met = match require.result {
                Some(place) => results.get(place).is_some_and(holds),
                None => results.iter().any(holds),
            };
            if !met {
                return Err(fail(format!("step {} requires {require:?} of the results, which were: {results:?}", answered + 1)));
            }
        }
        if step.wait_ms > 0 {
            tokio::select! {
                () = tokio::time::sleep(std::time::Duration::from_millis(step.wait_ms)) => {}
                () = cancel.cancelled() => return Err(ModelError::Cancelled),
            }
        }
        if !step.reasoning.is_empty() {
            on_delta(Delta::Reasoning(step.reasoning.clone()));
        }
        if !step.text.is_empty() {
            on_delta(Delta::Text(step.text.clone()));
        }
        let calls: Vec<ToolCall> = step
            .calls
            .iter()
            .enumerate()
            .map(|(place, call)| ToolCall {
                id: format!("call_{}_{}", answered + 1, place + 1),
                name: call.tool.clone(),
                arguments: if call.arguments.is_null() { Value::Object(serde_json::Map::new()) } else { call.arguments.clone() },
                broken: None,
            })
            .collect();
        let stop = if calls.is_empty() { Stop::End } else { Stop::Tools };
        let usage = Usage {
            input_tokens: step.usage.input,
            output_tokens: step.usage.output,
            cached_tokens: step.usage.cached,
            requests: 1,
        };
        Ok(ModelTurn { text: step.text.clone(), reasoning: step.reasoning.clone(), calls, stop, usage, native: None })
    }
}
