//! The language: what an operation document says. `$`-keys select, bare keys configure.

pub mod operation;
pub mod predicate;

pub use operation::{BlockOp, BlockOpKind, Expect, Find, IfExists, Operation, Projection, Source, Step, Update};
pub use predicate::{Clause, Predicate, TextTest};
