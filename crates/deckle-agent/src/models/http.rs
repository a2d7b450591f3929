//! One streamed request: status, headers, events, cancellation.

use std::time::Duration;

use futures::StreamExt as _;
use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::sse::{SseEvent, SseReader};
use super::{Delta, ModelError, ModelTurn, OnDelta, retry};

/// The longest silence in a stream before it counts as broken.
const SILENCE: Duration = Duration::from_secs(120);

/// Reads the events of one answer.
pub(super) trait Decoder: Send {
    /// Takes an event in; true when the answer is whole.
    fn event(&mut self, event: &SseEvent, on_delta: OnDelta<'_>) -> Result<bool, ModelError>;
    /// Returns the answer.
    fn finish(self: Box<Self>) -> Result<ModelTurn, ModelError>;
}

/// Sends a request and reads the answer, with retries.
pub(super) async fn ask(
    client: &reqwest::Client,
    url: &str,
    headers: &HeaderMap<HeaderValue>,
    body: &Value,
    decoder: &(dyn Fn() -> Box<dyn Decoder> + Send + Sync),
    cancel: &CancellationToken,
    on_delta: OnDelta<'_>,
) -> Result<ModelTurn, ModelError> {
    let mut failed = 0;
    loop {
        let attempt = once(client, url, headers, body, decoder(), cancel, on_delta);
        let outcome = tokio::select! {
            outcome = attempt => outcome,
            () = cancel.cancelled() => Err(ModelError::Cancelled),
        };
        let error = match outcome {
            Ok(turn) => return Ok(turn),
            Err(error) => error,
        };
        failed += 1;
        let Some(wait_ms) = retry::wait(&error, failed) else { return Err(error) };
        on_delta(Delta::Retry { attempt: failed, why: error.to_string(), wait_ms });
        tokio::select! {
            () = tokio::time::sleep(Duration::from_millis(wait_ms)) => {}
            () = cancel.cancelled() => return Err(ModelError::Cancelled),
        }
    }
}

async fn once(
    client: &reqwest::Client,
    url: &str,
    headers: &HeaderMap<HeaderValue>,
    body: &Value,
    mut decoder: Box<dyn Decoder>,
    cancel: &CancellationToken,
    on_delta: OnDelta<'_>,
) -> Result<ModelTurn, ModelError> {
    let response = client
        .post(url)
        .headers(headers.clone())
        .json(body)
        .send()
        .await
        .map_err(|error| ModelError::Connection(reason(&error)))?;
    let status = response.status().as_u16();
    if status != 200 {
        return Err(refused(status, response).await);
    }
    let mut stream = response.bytes_stream();
    let mut reader = SseReader::default();
    loop {
        if cancel.is_cancelled() {
            return Err(ModelError::Cancelled);
        }
        let piece = match tokio::time::timeout(SILENCE, stream.next()).await {
            Err(_) => return Err(ModelError::Truncated("nothing came for two minutes".into())),
            Ok(None) => return decoder.finish(),
            Ok(Some(Err(error))) => return Err(ModelError::Truncated(reason(&error))),
            Ok(Some(Ok(piece))) => piece,
        };
        let events = reader.push(&piece).ok_or_else(|| ModelError::Truncated("an event is past 16 MiB".into()))?;
        for event in events {
            if decoder.event(&event, on_delta)? {
                return decoder.finish();
            }
        }
    }
}

/// The innermost reason of an error, without addresses or keys.
fn reason(error: &reqwest::Error) -> String {
    let mut inner: &dyn std::error::Error = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}

async fn refused(status: u16, response: reqwest::Response) -> ModelError {
    let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let retry_after_ms = header("retry-after-ms")
        .and_then(|text| text.parse::<f64>().ok())
        .or_else(|| header("retry-after").and_then(|text| text.parse::<f64>().ok()).map(|seconds| seconds * 1_000.0))
        .filter(|ms| ms.is_finite() && *ms >= 0.0)
        .map(|ms| ms as u64);
    let should_retry = header("x-should-retry").and_then(|text| text.parse().ok());
    let text = response.text().await.unwrap_or_default();
    let message = serde_json::from_str::<Value>(&text)
        .ok()
        .and_then(|body| body["error"]["message"].as_str().map(str::to_owned))
        .unwrap_or_else(|| text.chars().take(300).collect());
    ModelError::Status { status, message, retry_after_ms, should_retry }
}
