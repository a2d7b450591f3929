//! The tree against real documents, the reference parser and the specifications.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod common;
mod dialects;
mod front_matter;
mod hostile;
mod html;
mod limits;
mod lossless;
mod oracle;
mod spec;
mod splice;
