//! A tree after a splice is the tree of the new text.

use deckle_doc::prove::{PIECES, Random};
use deckle_doc::{Dialect, Tree};
use proptest::prelude::*;

use crate::common::{corpora, scale};

fn splice(tree: &Tree, start: usize, length: usize, with: &str) -> Option<Tree> {
    let text = tree.source();
    let (mut start, mut end) = (start.min(text.len()), (start + length).min(text.len()));
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    while !text.is_char_boundary(end) {
        end += 1;
    }
    let next = tree.splice(start..end, with);
    let full = Tree::parse([&text[..start], with, &text[end..]].concat(), tree.dialect());
    assert!(next == full, "{start}..{end} of {text:?} with {with:?}");
    next.ok()
}

#[test]
fn edits_of_real_documents() {
    let mut random = Random::new(7);
    for (place, (_, text)) in corpora().into_iter().enumerate() {
        let mut tree = Tree::parse(text, Dialect::ALL[place % Dialect::ALL.len()]).unwrap();
        for _ in 0..20 * scale() {
            let (start, length) = (random.below(tree.source().len() + 1), [0, 0, 1, 5, 40, 300][random.below(6)]);
            if let Some(next) = splice(&tree, start, length, random.pick(PIECES)) {
                tree = next;
            }
        }
    }
}

#[test]
fn a_splice_at_the_end_and_in_front_matter() {
    for text in ["", "a", "a\r", "---\nx: 1\n", "---\nx: 1\n---\n\ntext\n", "[a]: /u\n-\n", "- x\n::y"] {
        let tree = Tree::parse(text, Dialect::Generic).unwrap();
        for start in 0..=text.len() {
            for with in PIECES {
                splice(&tree, start, 0, with);
                splice(&tree, start, 1, with);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn edits_of_any_text(
        parts in prop::collection::vec(prop::sample::select(PIECES), 0..40),
        edits in prop::collection::vec((0..200usize, 0..12usize, prop::sample::select(PIECES)), 1..8),
    ) {
        let Ok(mut tree) = Tree::parse(parts.concat(), Dialect::Generic) else { return Ok(()) };
        for (start, length, with) in edits {
            if let Some(next) = splice(&tree, start, length, with) {
                tree = next;
            }
        }
    }
}
