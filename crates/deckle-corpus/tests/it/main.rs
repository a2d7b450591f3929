//! The corpus on real documents and on small ones.

#![allow(clippy::unwrap_used)]

mod audit;
mod edit;
mod graph;
mod links;
mod properties;
mod rename;
mod restructure;
mod search;
mod support;
