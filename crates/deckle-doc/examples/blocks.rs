//! Prints the block tree of each Markdown file named on standard input, one JSON line a file.

use std::io::BufRead as _;

use deckle_doc::{Dialect, Tree, jsonl};

#[allow(clippy::print_stdout)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    for file in std::io::stdin().lock().lines() {
        let file = file?;
        let tree = Tree::parse_bytes(&std::fs::read(&file)?, Dialect::Generic)?;
        assert_eq!(tree.emit(), tree.source(), "{file}: the spans do not tile");
        println!("{}", jsonl::line(&file, &tree));
    }
    Ok(())
}
