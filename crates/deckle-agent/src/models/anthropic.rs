//! The Anthropic Messages API, streamed.

use std::collections::BTreeMap;

use async_trait::async_trait;
use deckle_wire::Usage;
use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::http::{self, Decoder};
use super::sse::SseEvent;
use super::{Delta, Model, ModelError, ModelTurn, OnDelta, Request, Stop, call_of};
use crate::chat::{ChatMessage, Native};

/// The version of the wire format.
const VERSION: &str = "2023-06-01";

/// A model of the Anthropic Messages API.
#[derive(Debug)]
pub struct Anthropic {
    client: reqwest::Client,
    model: String,
    url: String,
    headers: HeaderMap<HeaderValue>,
}

impl Anthropic {
    /// Returns a model. `base` is the service's address, without `/v1`.
    ///
    /// # Errors
    /// When the key cannot be sent in a header.
    pub fn new(model: &str, base: &str, key: &str) -> Result<Self, ModelError> {
        let mut headers = HeaderMap::new();
        let mut key = HeaderValue::from_str(key).map_err(|_| ModelError::NoKey { variable: "ANTHROPIC_API_KEY" })?;
        key.set_sensitive(true);
        headers.insert("x-api-key", key);
        headers.insert("anthropic-version", HeaderValue::from_static(VERSION));
        let url = format!("{}/v1/messages", base.trim_end_matches('/'));
        Ok(Self { client: reqwest::Client::new(), model: model.to_owned(), url, headers })
    }
}

#[async_trait]
impl Model for Anthropic {
    fn name(&self) -> String {
        format!("anthropic/{}", self.model)
    }

    async fn ask(&self, request: &Request, cancel: &CancellationToken, on_delta: OnDelta<'_>) -> Result<ModelTurn, ModelError> {
        let body = body(&self.model, &self.name(), request);
        let name = self.name();
        http::ask(&self.client, &self.url, &self.headers, &body, &move || Box::new(Reading::new(&name)), cancel, on_delta).await
    }
}

fn body(model: &str, name: &str, request: &Request) -> Value {
    let tools: Vec<Value> = request
        .tools
        .iter()
        .map(|tool| json!({ "name": tool.name, "description": tool.description, "input_schema": tool.schema }))
        .collect();
    json!({
        "model": model,
        "max_tokens": request.max_tokens,
        "stream": true,
        "system": [{ "type": "text", "text": request.system, "cache_control": { "type": "ephemeral" } }],
        "messages": messages(&request.messages, name),
        "tools": tools,
    })
}

/// The conversation in the provider's form: results of one answer's calls are one user message.
fn messages(all: &[ChatMessage], name: &str) -> Vec<Value> {
    let mut out: Vec<Value> = Vec::new();
    let mut push = |role: &str, blocks: Vec<Value>| {
        if let Some(last) = out.last_mut()
            && last["role"] == role
            && let Some(content) = last["content"].as_array_mut()
        {
            content.extend(blocks);
            return;
        }
        out.push(json!({ "role": role, "content": blocks }));
    };
    for message in all {
        match message {
            ChatMessage::User { text } => push("user", vec![json!({ "type": "text", "text": text })]),
            ChatMessage::Tool { id, content, is_error, .. } => {
                push("user", vec![json!({ "type": "tool_result", "tool_use_id": id, "content": content, "is_error": is_error })]);
            }
            ChatMessage::Assistant { native: Some(Native { model, blocks: Value::Array(blocks) }), .. }
                if model == name && !blocks.is_empty() =>
            {
                push("assistant", blocks.clone());
            }
            ChatMessage::Assistant { text, calls, .. } => {
                let mut blocks = Vec::new();
                if !text.is_empty() || calls.is_empty() {
                    let text = if text.is_empty() { "(no words)" } else { text };
                    blocks.push(json!({ "type": "text", "text": text }));
                }
                for call in calls {
                    let input = if call.arguments.is_object() { call.arguments.clone() } else { json!({}) };
                    blocks.push(json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": input }));
                }
                push("assistant", blocks);
            }
        }
    }
    out
}

/// An answer while it is read.
struct Reading {
    name: String,
    blocks: BTreeMap<u64, Block>,
    usage: Usage,
    stop: Option<String>,
    whole: bool,
}

/// One block of the answer.
struct Block {
    start: Value,
    text: String,
    signature: String,
    stopped: bool,
}

impl Reading {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            blocks: BTreeMap::new(),
            usage: Usage { requests: 1, ..Usage::default() },
            stop: None,
            whole: false,
        }
    }

    /// The counts of the provider overwrite; what came from the cache is counted apart there.
    fn count(&mut self, usage: &Value) {
        let number = |name: &str| usage[name].as_u64();
        if let Some(input) = number("input_tokens") {
            self.usage.cached_tokens = number("cache_read_input_tokens").unwrap_or(self.usage.cached_tokens);
            self.usage.input_tokens = input + self.usage.cached_tokens + number("cache_creation_input_tokens").unwrap_or(0);
        }
        if let Some(output) = number("output_tokens") {
            self.usage.output_tokens = output;
        }
    }
}

impl Decoder for Reading {
    fn event(&mut self, event: &SseEvent, on_delta: OnDelta<'_>) -> Result<bool, ModelError> {
        let Ok(data) = serde_json::from_str::<Value>(&event.data) else {
            return Err(ModelError::Truncated("an event is not JSON".into()));
        };
        match data["type"].as_str().unwrap_or_default() {
            "message_start" => self.count(&data["message"]["usage"]),
            "content_block_start" => {
                let block =
                    Block { start: data["content_block"].clone(), text: String::new(), signature: String::new(), stopped: false };
                self.blocks.insert(data["index"].as_u64().unwrap_or(0), block);
            }
            "content_block_delta" => {
                let Some(block) = self.blocks.get_mut(&data["index"].as_u64().unwrap_or(0)) else { return Ok(false) };
                let delta = &data["delta"];
                match delta["type"].as_str().unwrap_or_default() {
                    "text_delta" => {
                        let text = delta["text"].as_str().unwrap_or_default();
                        block.text.push_str(text);
                        on_delta(Delta::Text(text.to_owned()));
                    }
                    "thinking_delta" => {
                        let text = delta["thinking"].as_str().unwrap_or_default();
                        block.text.push_str(text);
                        on_delta(Delta::Reasoning(text.to_owned()));
                    }
                    "signature_delta" => block.signature.push_str(delta["signature"].as_str().unwrap_or_default()),
                    "input_json_delta" => block.text.push_str(delta["partial_json"].as_str().unwrap_or_default()),
                    _ => {}
                }
            }
            "content_block_stop" => {
                if let Some(block) = self.blocks.get_mut(&data["index"].as_u64().unwrap_or(0)) {
                    block.stopped = true;
                }
            }
            "message_delta" => {
                self.count(&data["usage"]);
                if let Some(reason) = data["delta"]["stop_reason"].as_str() {
                    self.stop = Some(reason.to_owned());
                }
            }
            "message_stop" => {
                self.whole = true;
                return Ok(true);
            }
            "error" => {
                let message = data["error"]["message"].as_str().unwrap_or("an error in the stream").to_owned();
                let status = if data["error"]["type"] == "overloaded_error" { 529 } else { 500 };
                return Err(ModelError::Status { status, message, retry_after_ms: None, should_retry: None });
            }
            _ => {}
        }
        Ok(false)
    }

    fn finish(self: Box<Self>) -> Result<ModelTurn, ModelError> {
        if !self.whole {
            return Err(ModelError::Truncated("the stream ended in the middle of the answer".into()));
        }
        let stop = match self.stop.as_deref() {
            Some("tool_use") => Stop::Tools,
            Some("max_tokens" | "model_context_window_exceeded") => Stop::Length,
            Some("refusal") => Stop::Refusal,
            _ => Stop::End,
        };
        let (mut text, mut reasoning, mut calls, mut native) = (String::new(), String::new(), Vec::new(), Vec::new());
        let last = self.blocks.keys().next_back().copied();
        for (index, block) in self.blocks {
            let mut own = block.start;
            match own["type"].as_str().unwrap_or_default() {
                "text" => {
                    text.push_str(&block.text);
                    own["text"] = Value::String(block.text);
                }
                "thinking" => {
                    reasoning.push_str(&block.text);
                    own["thinking"] = Value::String(block.text);
                    own["signature"] = Value::String(block.signature);
                }
                "tool_use" => {
                    // With the output limit the last call may be cut off even when its block was closed.
                    let whole = block.stopped && (stop != Stop::Length || Some(index) != last);
                    let field = |name: &str| own[name].as_str().unwrap_or_default().to_owned();
                    let call = call_of(field("id"), field("name"), &block.text, whole);
                    own["input"] = if call.arguments.is_object() { call.arguments.clone() } else { json!({}) };
                    calls.push(call);
                }
                _ => {}
            }
            if own["type"] != "text" || own["text"] != "" {
                native.push(own);
            }
        }
        let native = Some(Native { model: self.name, blocks: Value::Array(native) });
        Ok(ModelTurn { text, reasoning, calls, stop, usage: self.usage, native })
    }
}
