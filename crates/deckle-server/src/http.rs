//! The HTTP surface: sessions and their streams. Loopback only.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};

use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use deckle_doc::Diag;
use deckle_store::SessionId;
use deckle_wire::{Cancelled, Health, Hello, Refusal, TurnRequest};
use serde::Deserialize;
use tokio::net::TcpListener;
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::ReceiverStream;

use crate::turns::{Started, Turns};

/// The media type of the stream.
const NDJSON: &str = "application/x-ndjson";

/// Returns the routes.
pub fn app(turns: Turns) -> Router {
    Router::new()
        .route("/ping", get(ping))
        .route("/v1/sessions", post(create))
        .route("/v1/sessions/{id}/turns", post(follow_up))
        .route("/v1/sessions/{id}/cancel", post(cancel))
        .route("/v1/sessions/{id}/events", get(events))
        .fallback(|| async {
            refuse(
                StatusCode::NOT_FOUND,
                &Diag::new("not-found", "there is no such address").hint("see README.md for the addresses"),
            )
        })
        .layer(middleware::from_fn(no_origin))
        .with_state(turns)
}

/// Listens on loopback; `listening` is told the address.
///
/// # Errors
/// When the port is taken.
pub async fn serve(
    turns: Turns,
    port: u16,
    listening: impl FnOnce(SocketAddr),
    stop: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    listening(listener.local_addr()?);
    axum::serve(listener, app(turns)).with_graceful_shutdown(stop).await
}

/// A web page may not reach a local listener.
async fn no_origin(request: Request, next: Next) -> Response {
    if request.headers().contains_key(header::ORIGIN) {
        let diag = Diag::new("origin", "requests of web pages are refused on this listener").hint("call it from a program");
        return refuse(StatusCode::FORBIDDEN, &diag);
    }
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    if !host.is_empty() && !matches!(name, "127.0.0.1" | "localhost" | "[::1]") {
        let diag = Diag::new("host", format!("the host `{name}` is not this machine")).hint("use 127.0.0.1");
        return refuse(StatusCode::FORBIDDEN, &diag);
    }
    next.run(request).await
}

fn refuse(status: StatusCode, diag: &Diag) -> Response {
    (status, Json(Refusal { code: diag.code.to_owned(), detail: diag.to_string() })).into_response()
}

fn refused(diag: &Diag) -> Response {
    let status = match diag.code {
        "no-session" | "not-found" | "no-branch" => StatusCode::NOT_FOUND,
        "busy" | "held" | "branch-state" => StatusCode::CONFLICT,
        "no-model" => StatusCode::SERVICE_UNAVAILABLE,
        code if code.starts_with("no-") || code.ends_with("-not-found") => StatusCode::NOT_FOUND,
        _ => StatusCode::BAD_REQUEST,
    };
    refuse(status, diag)
}

async fn ping(State(turns): State<Turns>) -> Json<Health> {
    let status = if turns.is_busy() { "HealthyBusy" } else { "Healthy" };
    Json(Health { status: status.into() })
}

fn read(body: &Bytes) -> Result<TurnRequest, Diag> {
    serde_json::from_slice(body).map_err(|error| {
        Diag::new("bad-request", format!("the body is not a request: {error}"))
            .hint("send {\"message\": \"…\"} as JSON; `branch` may name a branch")
    })
}

fn session_id(text: &str) -> Result<SessionId, Diag> {
    SessionId::parse(text).map_err(|error| Diag::from(&error))
}

async fn create(State(turns): State<Turns>, body: Bytes) -> Response {
    match start(&turns, None, &body).await {
        Ok(started) => stream(&turns, &started.session, started.after).await,
        Err(diag) => refused(&diag),
    }
}

async fn follow_up(State(turns): State<Turns>, Path(id): Path<String>, body: Bytes) -> Response {
    match start(&turns, Some(&id), &body).await {
        Ok(started) => stream(&turns, &started.session, started.after).await,
        Err(diag) => refused(&diag),
    }
}

async fn start(turns: &Turns, session: Option<&str>, body: &Bytes) -> Result<Started, Diag> {
    let request = read(body)?;
    let session = session.map(session_id).transpose()?;
    turns.start(session.as_ref(), &request).await
}

#[derive(Deserialize)]
struct After {
    #[serde(default)]
    after: i64,
}

async fn events(State(turns): State<Turns>, Path(id): Path<String>, Query(query): Query<After>) -> Response {
    match session_id(&id) {
        Ok(session) => stream(&turns, &session, query.after).await,
        Err(diag) => refused(&diag),
    }
}

async fn cancel(State(turns): State<Turns>, Path(id): Path<String>) -> Response {
    let outcome = match session_id(&id) {
        Ok(session) => turns.cancel(&session).await,
        Err(diag) => Err(diag),
    };
    match outcome {
        Ok(cancelled) => Json(Cancelled { cancelled }).into_response(),
        Err(diag) => refused(&diag),
    }
}

async fn stream(turns: &Turns, session: &SessionId, after: i64) -> Response {
    let receiver = match turns.events(session, after).await {
        Ok(receiver) => receiver,
        Err(diag) => return refused(&diag),
    };
    let line = |text: serde_json::Result<String>| Ok::<_, Infallible>(Bytes::from(text.unwrap_or_default() + "\n"));
    let hello = line(serde_json::to_string(&Hello { session_id: session.to_string() }));
    let lines = tokio_stream::once(hello)
        .chain(ReceiverStream::new(receiver).map(move |envelope| line(serde_json::to_string(&envelope))));
    ([(header::CONTENT_TYPE, NDJSON)], Body::from_stream(lines)).into_response()
}
