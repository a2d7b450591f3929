//! Setting or unsetting a key changes that key alone, or is refused.
#![no_main]

use deckle_doc::{Dialect, Tree, prove};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &str| {
    let Ok(tree) = Tree::parse(format!("---\n{data}\n---\n\nbody\n"), Dialect::Generic) else { return };
    if let Err(problem) = prove::front_matter(&tree) {
        panic!("{problem}");
    }
});
