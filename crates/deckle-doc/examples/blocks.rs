//! Prints the block tree of each file named on standard input, a JSON line a file: `find . -name '*.md' | cargo run --example blocks`.
use std::io::{BufRead, Write};

use deckle_doc::{Dialect, Tree, jsonl};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::stdout().lock();
    for path in std::io::stdin().lock().lines() {
        let path = path?;
        let tree = Tree::parse(std::fs::read_to_string(&path)?, Dialect::Generic)?;
        writeln!(out, "{}", jsonl::line(&path, &tree, &jsonl::Options::default()))?;
    }
    Ok(())
}
