//! Checks, proofs and generated files of the Deckle workspace.

fn main() {}
