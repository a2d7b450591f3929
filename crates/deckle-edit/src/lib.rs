//! The edit language: predicates, guards, operations, plans of byte splices, the proof, receipts.
//!
//! [`Operation::parse`] reads an operation document; [`plan`](plan::plan) selects, checks the guards, makes splices, applies them to a copy,
//! parses the copy again and proves that nothing else changed. A [`Plan`] that was not proven cannot be built; a refusal is an [`EditError`],
//! which reads as an instruction.
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod blocks;
pub mod catalogue;
pub mod config;
pub mod documents;
mod error;
pub mod filter;
mod fit;
pub mod gates;
pub mod identity;
pub mod language;
pub mod links;
mod ops;
pub mod plan;
mod proof;
pub mod prove;
pub mod read;
pub mod receipt;
mod rename;
pub mod schema;
pub mod sections;
mod select;
mod stale;
mod value;

pub use blocks::{own_text, section_path, shown_block, shown_text, type_name};
pub use config::Config;
pub use documents::{Documents, Overlay, Sources};
pub use error::{EditError, Place};
pub use language::{Expect, Operation};
pub use plan::{DocumentChange, Plan, Policy, plan};
pub use receipt::Receipt;
pub use select::{Selected, roots, select};
pub use value::read_value;
