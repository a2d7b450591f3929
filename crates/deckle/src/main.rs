//! The `deckle` command.

fn main() {}
