//! Diff, review and merge of blocks: properties on random documents and on real ones, and readable examples.
//!
//! `DECKLE_PROVE_SCALE=25` runs each property 25 times as often: the release gate.
#![allow(clippy::unwrap_used)]

mod corpora;
mod diff;
mod git;
mod merge;
mod model;
mod review;
mod specification;
mod support;
