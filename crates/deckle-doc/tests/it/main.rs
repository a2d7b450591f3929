//! The block and inline phases against real documents, the reference parser and the specification.
#![allow(clippy::unwrap_used)]

mod common;
mod html;
mod limits;
mod lossless;
mod oracle;
mod spec;
mod splice;
