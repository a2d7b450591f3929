//! The tools of Deckle over the Model Context Protocol: stdio and streamable HTTP, the current revision and those before it.
//!
//! The registry is the one of the agent loop (`deckle_agent::tools`), so a tool reads and refuses the same everywhere. This crate is the only
//! one that knows `rmcp`. A client writes to a [`Desk`]: a branch that a person reviews and merges, or, when the person chose so, main through
//! a branch of its own for each call. Guards are always demanded.

mod desk;
mod resources;
mod serve;
mod server;
mod tools;

pub use desk::{Desk, Landing};
pub use serve::{http, stdio};
pub use server::Server;
