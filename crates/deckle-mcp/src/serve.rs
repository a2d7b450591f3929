//! The two transports.

use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use rmcp::ServiceExt as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::{Desk, Server};

/// Serves one client on standard input and output, until it closes them.
///
/// # Errors
/// When the client's first message is not of the protocol.
pub async fn stdio(desk: Arc<Desk>) -> io::Result<()> {
    let service = Server::new(desk).serve(rmcp::transport::stdio()).await.map_err(io::Error::other)?;
    service.waiting().await.map_err(io::Error::other)?;
    Ok(())
}

/// Serves any number of clients at `http://127.0.0.1:PORT/mcp`, until `stop`. Port 0 takes a free one. Only this machine reaches it: other
/// hosts' names and web pages' origins are refused.
///
/// # Errors
/// When the port cannot be used.
pub async fn http(
    desk: Arc<Desk>,
    port: u16,
    listening: impl FnOnce(SocketAddr),
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    listening(listener.local_addr()?);
    let over = CancellationToken::new();
    let mut config = StreamableHttpServerConfig::default()
        .with_allowed_origins(["http://127.0.0.1:*", "http://localhost:*"])
        .enforce_origin_validation();
    config.cancellation_token = over.clone();
    let service =
        StreamableHttpService::new(move || Ok(Server::new(Arc::clone(&desk))), Arc::new(LocalSessionManager::default()), config);
    let app = axum::Router::new().nest_service("/mcp", service);
    let stop = async move {
        stop.await;
        over.cancel();
    };
    axum::serve(listener, app).with_graceful_shutdown(stop).await
}
