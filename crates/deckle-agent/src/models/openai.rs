//! OpenAI-compatible chat completions, streamed; also Ollama, vLLM and llama.cpp.

use std::collections::BTreeMap;

use async_trait::async_trait;
use deckle_wire::Usage;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::http::{self, Decoder};
use super::sse::SseEvent;
use super::{Delta, Model, ModelError, ModelTurn, OnDelta, Request, Stop, call_of};
use crate::chat::ChatMessage;

/// A model behind chat completions.
#[derive(Debug)]
pub struct OpenAi {
    client: reqwest::Client,
    model: String,
    url: String,
    headers: HeaderMap<HeaderValue>,
}

impl OpenAi {
    /// Returns a model. `base` is the service's address, with `/v1`.
    ///
    /// # Errors
    /// When the key cannot be sent in a header.
    pub fn new(model: &str, base: &str, key: &str) -> Result<Self, ModelError> {
        let mut headers = HeaderMap::new();
        if !key.is_empty() {
            let mut value =
                HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_| ModelError::NoKey { variable: "OPENAI_API_KEY" })?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let url = format!("{}/chat/completions", base.trim_end_matches('/'));
        Ok(Self { client: reqwest::Client::new(), model: model.to_owned(), url, headers })
    }
}

#[async_trait]
impl Model for OpenAi {
    fn name(&self) -> String {
        format!("openai/{}", self.model)
    }

    async fn ask(&self, request: &Request, cancel: &CancellationToken, on_delta: OnDelta<'_>) -> Result<ModelTurn, ModelError> {
        let body = body(&self.model, request);
        http::ask(&self.client, &self.url, &self.headers, &body, &|| Box::new(Reading::new()), cancel, on_delta).await
    }
}

fn body(model: &str, request: &Request) -> Value {
    let tools: Vec<Value> = request
        .tools
        .iter()
        .map(|tool| json!({ "type": "function", "function": { "name": tool.name, "description": tool.description, "parameters": tool.schema } }))
        .collect();
    let mut messages = vec![json!({ "role": "system", "content": request.system })];
    for message in &request.messages {
        messages.push(match message {
            ChatMessage::User { text } => json!({ "role": "user", "content": text }),
            ChatMessage::Tool { id, content, .. } => json!({ "role": "tool", "tool_call_id": id, "content": content }),
            ChatMessage::Assistant { text, calls, .. } if calls.is_empty() => json!({ "role": "assistant", "content": text }),
            ChatMessage::Assistant { text, calls, .. } => {
                let calls: Vec<Value> = calls
                    .iter()
                    .map(|call| {
                        let arguments = if call.arguments.is_object() { call.arguments.to_string() } else { "{}".to_owned() };
                        json!({ "id": call.id, "type": "function", "function": { "name": call.name, "arguments": arguments } })
                    })
                    .collect();
                let content = if text.is_empty() { Value::Null } else { json!(text) };
                json!({ "role": "assistant", "content": content, "tool_calls": calls })
            }
        });
    }
    json!({
        "model": model,
        "stream": true,
        "stream_options": { "include_usage": true },
        "max_tokens": request.max_tokens,
        "messages": messages,
        "tools": tools,
    })
}

/// An answer while it is read.
struct Reading {
    text: String,
    reasoning: String,
    calls: BTreeMap<u64, (String, String, String)>,
    finish: Option<String>,
    usage: Usage,
}

impl Reading {
    fn new() -> Self {
        Self {
            text: String::new(),
            reasoning: String::new(),
            calls: BTreeMap::new(),
            finish: None,
            usage: Usage { requests: 1, ..Usage::default() },
        }
    }
}

impl Decoder for Reading {
    fn event(&mut self, event: &SseEvent, on_delta: OnDelta<'_>) -> Result<bool, ModelError> {
        if event.data.trim() == "[DONE]" {
            return Ok(true);
        }
        let Ok(data) = serde_json::from_str::<Value>(&event.data) else {
            return Err(ModelError::Truncated("an event is not JSON".into()));
        };
        if let Some(message) = data["error"]["message"].as_str() {
            return Err(ModelError::Status {
                status: 500,
                message: message.to_owned(),
                retry_after_ms: None,
                should_retry: None,
            });
        }
        if let Some(input) = data["usage"]["prompt_tokens"].as_u64() {
            self.usage.input_tokens = input;
            self.usage.output_tokens = data["usage"]["completion_tokens"].as_u64().unwrap_or(0);
            self.usage.cached_tokens = data["usage"]["prompt_tokens_details"]["cached_tokens"].as_u64().unwrap_or(0);
        }
        let choice = &data["choices"][0];
        let delta = &choice["delta"];
        if let Some(text) = delta["content"].as_str().filter(|text| !text.is_empty()) {
            self.text.push_str(text);
            on_delta(Delta::Text(text.to_owned()));
        }
        if let Some(text) = delta["reasoning_content"].as_str().or(delta["reasoning"].as_str()).filter(|text| !text.is_empty()) {
            self.reasoning.push_str(text);
            on_delta(Delta::Reasoning(text.to_owned()));
        }
        for (at, piece) in delta["tool_calls"].as_array().into_iter().flatten().enumerate() {
            let index = piece["index"].as_u64().unwrap_or(at as u64);
            let call = self.calls.entry(index).or_default();
            if let Some(id) = piece["id"].as_str().filter(|id| !id.is_empty()) {
                call.0 = id.to_owned();
            }
            if let Some(name) = piece["function"]["name"].as_str().filter(|name| !name.is_empty()) {
                call.1 = name.to_owned();
            }
            match &piece["function"]["arguments"] {
                Value::String(text) => call.2.push_str(text),
                // Some servers send the arguments as an object.
                object @ Value::Object(_) => call.2 = object.to_string(),
                _ => {}
            }
        }
        if let Some(reason) = choice["finish_reason"].as_str() {
            self.finish = Some(reason.to_owned());
        }
        Ok(false)
    }

    fn finish(self: Box<Self>) -> Result<ModelTurn, ModelError> {
        let Some(reason) = self.finish.as_deref() else {
            return Err(ModelError::Truncated("the stream ended in the middle of the answer".into()));
        };
        let stop = match reason {
            "tool_calls" | "function_call" => Stop::Tools,
            "length" => Stop::Length,
            "content_filter" => Stop::Refusal,
            _ if !self.calls.is_empty() => Stop::Tools,
            _ => Stop::End,
        };
        let last = self.calls.keys().next_back().copied();
        let calls = self
            .calls
            .into_iter()
            .map(|(index, (id, name, raw))| {
                let id = if id.is_empty() { format!("call_{index}") } else { id };
                call_of(id, name, &raw, stop != Stop::Length || Some(index) != last)
            })
            .collect();
        Ok(ModelTurn { text: self.text, reasoning: self.reasoning, calls, stop, usage: self.usage, native: None })
    }
}
