//! HTTP, streams, turns. Where things are awaited.
//!
//! A turn is a detached task: a client that leaves does not end it. Its events are written to the session's log before anyone is sent them, so a client
//! that comes back asks for what comes after the last number that it saw.
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod http;
mod journal;
mod recover;
pub mod turns;

pub use http::{app, serve};
pub use turns::{Started, Turns, TurnsConfig};
