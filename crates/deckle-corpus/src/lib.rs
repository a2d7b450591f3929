//! Many documents: keys, links, search, rename, audits.
//!
//! A [`Corpus`] is a set of documents in memory. Bytes are handed in; nothing here reads a disk, a clock or an environment. What
//! changes documents is a *plan* ([`plan`]): splices for each document, proven before they are handed out.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod audit;
mod corpus;
mod documents;
mod error;
pub mod facts;
pub mod graph;
pub mod link;
mod meta;
mod names;
pub mod path;
pub mod plan;
pub mod search;

pub use audit::{AuditDelta, Damage, Finding};
pub use corpus::{Corpus, Document, Options, Reference};
pub use error::PlanError;
pub use facts::{Facts, Heading};
pub use graph::{Direction, Hop, Neighbour};
pub use link::{Link, LinkKind, Target};
pub use plan::Plan;
pub use search::{Bounds, Found, Hit, Passage, TitleHit};
