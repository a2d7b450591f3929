//! Proofs: properties tried on real documents, with a seed and a count.

pub mod docs;
pub mod edits;
pub mod ids;
