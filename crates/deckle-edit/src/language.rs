//! The language: what an operation document says. `$`-keys select, bare keys configure.

pub mod operation;
mod parse;
pub mod predicate;

pub use operation::{
    BlockOp, BlockOpKind, Create, Destination, Expect, Find, IfExists, Operation, Projection, Search, Side, Source, Step, Update,
};
pub use predicate::{Clause, Predicate, TextTest};
