//! Lossless Markdown block trees: spans, ids, block types, front matter, canonical text.
//!
//! [`Tree::parse`] reads any UTF-8 text into a tree whose spans tile the source at every level. Nothing here prints a tree back
//! as Markdown: a change is a [`Splice`] of bytes, made by whoever knows why.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod diag;
pub mod front;
mod ids;
mod incremental;
pub mod inline;
mod inner;
pub mod jsonl;
mod key;
mod kind;
pub mod limits;
mod lines;
mod node;
mod parse;
pub mod prove;
mod splice;
mod tree;
pub mod types;
mod unicode;

pub use diag::Diag;
pub use ids::Ids;
pub use inline::{Inline, InlineKind, LinkForm, Target};
pub use key::{DocKey, KeyError, KeyFault};
pub use kind::{AdmonitionForm, Alignment, Dialect, Directive, Fence, Format, Kind, Opaque, Span};
pub use limits::{LimitError, ParseError};
pub use lines::Line;
pub use splice::{Splice, apply};
pub use tree::{Block, BlockIndex, Callout, Tree};
