//! A tree that was re-parsed after a splice is the tree of the new text.
#![no_main]

use deckle_doc::{Dialect, Tree};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: (&str, u16, u8, &str)| {
    let (text, at, length, with) = data;
    let Ok(tree) = Tree::parse(text, Dialect::Generic) else { return };
    let mut start = usize::from(at) % (text.len() + 1);
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let mut end = (start + usize::from(length)).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let end = end.max(start);
    let spliced = tree.splice(start..end, with);
    let whole = Tree::parse(format!("{}{with}{}", &text[..start], &text[end..]), Dialect::Generic);
    assert_eq!(spliced, whole);
});
