//! Both adapters against a stub server that speaks the wire formats byte by byte, faults included.
#![allow(clippy::unwrap_used)]

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use deckle_agent::chat::{ChatMessage, ToolCall};
use deckle_agent::models::anthropic::Anthropic;
use deckle_agent::models::openai::OpenAi;
use deckle_agent::models::{Delta, ModelTurn, Request, Stop};
use deckle_agent::{Model, ModelError};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// One answer of the stub.
#[derive(Clone)]
enum Answer {
    /// A status, headers, a body.
    Plain(u16, &'static str, String),
    /// A stream, in pieces of so many bytes; cut in the middle, or held open at the end.
    Stream { body: String, piece: usize, hold: bool },
}

/// What the stub saw.
#[derive(Default)]
struct Seen {
    bodies: Vec<Value>,
    closed: bool,
}

/// Starts a stub that gives the answers in turn. As the services do, it refuses a history whose calls lack results.
async fn stub(answers: Vec<Answer>) -> (String, Arc<Mutex<Seen>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let seen = Arc::new(Mutex::new(Seen::default()));
    let shared = Arc::clone(&seen);
    tokio::spawn(async move {
        for answer in answers {
            let (mut socket, _) = listener.accept().await.unwrap();
            let mut data = Vec::new();
            let body = loop {
                let mut buffer = [0; 4096];
                let count = socket.read(&mut buffer).await.unwrap();
                data.extend_from_slice(&buffer[..count]);
                let text = String::from_utf8_lossy(&data).into_owned();
                let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
                let length: usize = head
                    .lines()
                    .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ").map(|n| n.parse().unwrap()))
                    .unwrap();
                if body.len() >= length {
                    break serde_json::from_str::<Value>(body).unwrap();
                }
            };
            let fault = missing_result(&body);
            shared.lock().unwrap().bodies.push(body);
            let answer = match fault {
                Some(message) => Answer::Plain(
                    400,
                    "",
                    json!({ "error": { "type": "invalid_request_error", "message": message } }).to_string(),
                ),
                None => answer,
            };
            match answer {
                Answer::Plain(status, headers, body) => {
                    let head = format!(
                        "HTTP/1.1 {status} x\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}",
                        body.len()
                    );
                    socket.write_all(head.as_bytes()).await.unwrap();
                }
                Answer::Stream { body, piece, hold } => {
                    socket
                        .write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
                        .await
                        .unwrap();
                    for piece in body.as_bytes().chunks(piece) {
                        if socket.write_all(piece).await.is_err() {
                            break;
                        }
                        socket.flush().await.unwrap();
                        tokio::task::yield_now().await;
                    }
                    if hold {
                        // Waits for the client to go away.
                        let gone = socket.read(&mut [0; 1]).await;
                        shared.lock().unwrap().closed = matches!(gone, Ok(0) | Err(_));
                    }
                }
            }
        }
    });
    (format!("http://{address}"), seen)
}

/// The services' rule for both wire formats: each call has its result right after it.
fn missing_result(body: &Value) -> Option<String> {
    let messages = body["messages"].as_array()?;
    for (at, message) in messages.iter().enumerate() {
        let mut calls: Vec<&str> =
            message["tool_calls"].as_array().into_iter().flatten().filter_map(|call| call["id"].as_str()).collect();
        let blocks = message["content"].as_array().into_iter().flatten();
        calls.extend(blocks.filter(|block| block["type"] == "tool_use").filter_map(|block| block["id"].as_str()));
        for call in calls {
            let after = &messages[at + 1..];
            let answered = after.iter().take_while(|next| next["role"] != "assistant").any(|next| {
                next["tool_call_id"] == call
                    || next["content"].as_array().into_iter().flatten().any(|block| block["tool_use_id"] == call)
            });
            if !answered {
                return Some(format!("`tool_use` ids were found without `tool_result` blocks immediately after: {call}"));
            }
        }
    }
    None
}

fn anthropic_stream(stop: &str, json: &str, closed: bool) -> String {
    let mut out = String::from(
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":10,\"cache_read_input_tokens\":90,\"output_tokens\":1}}}\n\n",
    );
    out.push_str("data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n");
    out.push_str(
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Grüße\"}}\n\n",
    );
    out.push_str("data: {\"type\":\"content_block_stop\",\"index\":0}\n\n: ping\n\n");
    out.push_str("data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"search\",\"input\":{}}}\n\n");
    let delta =
        json!({ "type": "content_block_delta", "index": 1, "delta": { "type": "input_json_delta", "partial_json": json } });
    out.push_str(&format!("data: {delta}\n\n"));
    if closed {
        out.push_str("data: {\"type\":\"content_block_stop\",\"index\":1}\n\n");
    }
    let delta = json!({ "type": "message_delta", "delta": { "stop_reason": stop }, "usage": { "output_tokens": 7 } });
    out.push_str(&format!("data: {delta}\n\ndata: {{\"type\":\"message_stop\"}}\n\n"));
    out
}

fn openai_stream(stop: &str, arguments: &str) -> String {
    let call = json!({ "choices": [{ "delta": { "tool_calls": [{ "index": 0, "id": "call_1", "function": { "name": "search", "arguments": arguments } }] } }] });
    let end = json!({ "choices": [{ "delta": {}, "finish_reason": stop }] });
    format!(
        "data: {{\"choices\":[{{\"delta\":{{\"content\":\"Grüße\"}}}}]}}\r\n\r\ndata: {call}\r\n\r\ndata: {end}\r\n\r\ndata: {{\"choices\":[],\"usage\":{{\"prompt_tokens\":100,\"completion_tokens\":7,\"prompt_tokens_details\":{{\"cached_tokens\":90}}}}}}\r\n\r\ndata: [DONE]\r\n\r\n"
    )
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Wire {
    Anthropic,
    OpenAi,
}

impl Wire {
    fn model(self, base: &str) -> Box<dyn Model> {
        match self {
            Self::Anthropic => Box::new(Anthropic::new("m", base, "key").unwrap()),
            Self::OpenAi => Box::new(OpenAi::new("m", base, "key").unwrap()),
        }
    }

    fn stream(self, stop: Stop, arguments: &str) -> String {
        match (self, stop) {
            (Self::Anthropic, Stop::Length) => anthropic_stream("max_tokens", arguments, false),
            (Self::Anthropic, _) => anthropic_stream("tool_use", arguments, true),
            (Self::OpenAi, Stop::Length) => openai_stream("length", arguments),
            (Self::OpenAi, _) => openai_stream("tool_calls", arguments),
        }
    }
}

fn request(messages: Vec<ChatMessage>) -> Request {
    Request { system: "s".into(), messages, tools: Vec::new(), max_tokens: 100 }
}

fn user() -> Vec<ChatMessage> {
    vec![ChatMessage::User { text: "hi".into() }]
}

async fn ask(wire: Wire, base: &str, messages: Vec<ChatMessage>, deltas: &mut Vec<Delta>) -> Result<ModelTurn, ModelError> {
    wire.model(base).ask(&request(messages), &CancellationToken::new(), &mut |delta| deltas.push(delta)).await
}

const BOTH: [Wire; 2] = [Wire::Anthropic, Wire::OpenAi];

#[tokio::test]
async fn an_answer_is_the_same_in_pieces_of_any_size() {
    for wire in BOTH {
        for piece in [1, 2, 3, 7, 64, 100_000] {
            let (base, _) =
                stub(vec![Answer::Stream { body: wire.stream(Stop::Tools, "{\"query\":\"x\"}"), piece, hold: false }]).await;
            let turn = ask(wire, &base, user(), &mut Vec::new()).await.unwrap();
            assert_eq!((turn.text.as_str(), turn.stop), ("Grüße", Stop::Tools), "{wire:?} in pieces of {piece}");
            assert_eq!(turn.calls[0].arguments, json!({ "query": "x" }));
            assert_eq!(turn.calls[0].broken, None);
            assert_eq!((turn.usage.input_tokens, turn.usage.cached_tokens, turn.usage.output_tokens), (100, 90, 7), "{wire:?}");
        }
    }
}

#[tokio::test]
async fn busy_services_are_asked_again_and_the_wait_is_shown() {
    for wire in BOTH {
        let busy = |status| Answer::Plain(status, "retry-after: 0.05\r\n", json!({ "error": { "message": "busy" } }).to_string());
        let (base, seen) =
            stub(vec![busy(429), busy(529), Answer::Stream { body: wire.stream(Stop::Tools, "{}"), piece: 50, hold: false }])
                .await;
        let mut deltas = Vec::new();
        ask(wire, &base, user(), &mut deltas).await.unwrap();
        assert_eq!(seen.lock().unwrap().bodies.len(), 3);
        let waits: Vec<u64> = deltas
            .iter()
            .filter_map(|delta| if let Delta::Retry { wait_ms, .. } = delta { Some(*wait_ms) } else { None })
            .collect();
        assert_eq!(waits, [50, 50], "{wire:?}");
    }
}

#[tokio::test]
async fn a_stream_cut_in_the_middle_is_asked_again() {
    for wire in BOTH {
        let whole = wire.stream(Stop::Tools, "{}");
        let mut half = whole.len() / 2;
        while !whole.is_char_boundary(half) {
            half -= 1;
        }
        let cut = Answer::Stream { body: whole[..half].to_owned(), piece: 50, hold: false };
        let (base, _) = stub(vec![cut, Answer::Stream { body: whole, piece: 50, hold: false }]).await;
        assert_eq!(ask(wire, &base, user(), &mut Vec::new()).await.unwrap().text, "Grüße", "{wire:?}");
    }
}

#[tokio::test]
async fn calls_that_cannot_be_executed_say_why() {
    for wire in BOTH {
        for (stop, arguments, code) in [
            (Stop::Length, "{\"query\":\"x", "cut-off"),
            (Stop::Length, "{}", "cut-off"),
            (Stop::Tools, "{\"query\":", "bad-arguments"),
            (Stop::Tools, "[1]", "bad-arguments"),
        ] {
            let (base, _) = stub(vec![Answer::Stream { body: wire.stream(stop, arguments), piece: 50, hold: false }]).await;
            let turn = ask(wire, &base, user(), &mut Vec::new()).await.unwrap();
            let why = turn.calls[0].broken.clone().unwrap_or_default();
            assert!(why.contains(code) && why.contains("hint: "), "{wire:?} {arguments}: {why}");
        }
    }
}

#[tokio::test]
async fn a_history_without_a_result_is_refused_and_a_repaired_one_is_taken() {
    for wire in BOTH {
        let call = ToolCall { id: "c1".into(), name: "search".into(), arguments: json!({}), broken: None };
        let mut messages = user();
        messages.push(ChatMessage::Assistant { text: String::new(), reasoning: String::new(), calls: vec![call], native: None });
        messages.extend(user());
        let answer = Answer::Stream { body: wire.stream(Stop::Tools, "{}"), piece: 50, hold: false };
        let (base, _) = stub(vec![answer.clone(), answer]).await;
        let refused = ask(wire, &base, messages.clone(), &mut Vec::new()).await;
        assert!(matches!(refused, Err(ModelError::Status { status: 400, .. })), "{refused:?}");
        assert!(ask(wire, &base, deckle_agent::history::repair(&messages), &mut Vec::new()).await.is_ok(), "{wire:?}");
    }
}

#[tokio::test]
async fn cancelling_closes_the_connection() {
    for wire in BOTH {
        let start: String = wire.stream(Stop::Tools, "{}").lines().take(2).map(|line| format!("{line}\n")).collect();
        let (base, seen) = stub(vec![Answer::Stream { body: start, piece: 50, hold: true }]).await;
        let cancel = CancellationToken::new();
        let (model, wanted) = (wire.model(&base), request(user()));
        let mut ignore = |_: Delta| {};
        let asked = model.ask(&wanted, &cancel, &mut ignore);
        let asked_at = Instant::now();
        let (outcome, ()) = tokio::join!(asked, async {
            while seen.lock().unwrap().bodies.is_empty() {
                tokio::task::yield_now().await;
            }
            cancel.cancel();
        });
        assert_eq!(outcome, Err(ModelError::Cancelled));
        while !seen.lock().unwrap().closed {
            assert!(asked_at.elapsed() < Duration::from_secs(20), "{wire:?}: the stub never saw the connection close");
            tokio::task::yield_now().await;
        }
    }
}
