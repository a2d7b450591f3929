//! The store on its real engines: SQLite always, Postgres when `DECKLE_TEST_POSTGRES` names one (`make unit` does).
#![allow(clippy::unwrap_used)]

mod access;
mod branches;
mod corruption;
mod crash;
mod failures;
mod fixtures;
mod folder;
mod git;
mod git_ids;
mod history;
mod merge;
mod messages;
mod notices;
mod power;
mod sessions;
mod support;
mod tenants;
mod undo;
mod watch;
mod writers;
