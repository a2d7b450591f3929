//! The corpus on real documents and on small ones.

#![allow(clippy::unwrap_used)]

mod links;
mod rename;
mod support;
