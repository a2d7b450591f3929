//! The tools over the Model Context Protocol.

use std::io::Write as _;
use std::sync::Arc;

use deckle_doc::Diag;
use deckle_mcp::{Desk, Landing};
use deckle_store::BranchId;

use crate::arguments::Arguments;
use crate::context;
use crate::failure::Failure;

pub async fn run(arguments: &Arguments, http: Option<u16>, branch: Option<&str>, direct: bool) -> Result<(), Failure> {
    let workspace = context::open(arguments).await?;
    let config = context::config(&workspace)?;
    let landing = match (branch, direct) {
        (_, true) => Landing::Direct,
        (Some(name), false) => Landing::Branch(BranchId::parse(name)?),
        (None, false) => Landing::NewBranch,
    };
    let desk = Arc::new(Desk::new(workspace, config, landing)?);
    match http {
        None => deckle_mcp::stdio(Arc::clone(&desk)).await.map_err(|error| {
            Failure::from(
                Diag::new("mcp", format!("the client did not speak the Model Context Protocol: {error}"))
                    .hint("register `deckle -C DIR mcp` with an MCP client; on a terminal use the other commands"),
            )
        })?,
        Some(port) => {
            let stop = async {
                let _ = tokio::signal::ctrl_c().await;
            };
            let listening = |address: std::net::SocketAddr| {
                let _ = writeln!(std::io::stdout(), "listening on http://{address}/mcp");
            };
            deckle_mcp::http(Arc::clone(&desk), port, listening, stop).await.map_err(|error| {
                Failure::from(
                    Diag::new("port", format!("port {port} cannot be used: {error}")).hint("choose another; 0 takes a free one"),
                )
            })?;
        }
    }
    if let Some(branch) = desk.close().await? {
        // Standard output belongs to the protocol.
        eprintln!("the changes are on branch {branch}; next: deckle diff {branch}");
    }
    Ok(())
}
