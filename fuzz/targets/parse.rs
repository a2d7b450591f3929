//! Any UTF-8 within the limits parses, tiles, and emits the same bytes; inlines and types do not panic.
#![no_main]

use deckle_doc::{Dialect, Ids, Tree, prove, types};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: (u8, &str)| {
    let dialect = Dialect::ALL[usize::from(data.0) % Dialect::ALL.len()];
    if let Err(problem) = prove::tree(data.1, dialect) {
        panic!("{problem}");
    }
    let Ok(tree) = Tree::parse(data.1, dialect) else { return };
    assert_eq!(Ids::derive(&tree).names().count(), tree.len());
    for block in tree.blocks() {
        let _ = types::type_of(&block);
    }
});
