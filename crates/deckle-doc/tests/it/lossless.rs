//! Every byte has its place: parse and emit are inverse, and spans tile at every level.

use std::sync::Arc;

use deckle_doc::prove::{self, PIECES, Random, mutate, variants};
use deckle_doc::{Dialect, Tree};
use proptest::prelude::*;

use crate::common::{corpora, scale};

fn check(text: &str, dialect: Dialect) {
    prove::tree(text, dialect).unwrap();
}

#[test]
fn every_document_in_every_variant() {
    for (place, (_, text)) in corpora().into_iter().enumerate() {
        for dialect in Dialect::ALL {
            check(&text, dialect);
        }
        for (_, variant) in variants(&text) {
            check(&variant, Dialect::Generic);
            check(&variant, Dialect::ALL[place % Dialect::ALL.len()]);
        }
    }
}

#[test]
fn mutations_of_real_documents() {
    let documents = corpora();
    let mut random = Random::new(20_261_201);
    for round in 0..40_000 * scale() {
        let text = &documents[random.below(documents.len())].1;
        check(&mutate(&mut random, text), Dialect::ALL[round % Dialect::ALL.len()]);
    }
}

#[test]
fn the_block_at_an_offset_holds_it() {
    for (_, text) in corpora().into_iter().step_by(9) {
        let tree = Tree::parse(Arc::from(text.as_str()), Dialect::Generic).unwrap();
        for offset in (0..text.len()).step_by(7) {
            let block = tree.block_at(offset);
            assert!(block.span().contains(&offset));
            assert!(block.children().all(|child| !child.span().contains(&offset)));
        }
    }
}

/// A checker that finds nothing would pass everything above.
#[test]
fn a_tree_that_lost_a_byte_is_found() {
    let text = "# A\n\n- b\n";
    let tree = Tree::parse(text, Dialect::Generic).unwrap();
    assert_ne!(tree.emit(), text[1..]);
    assert!(tree.splice(0..1, "").unwrap() != tree);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn any_text_of_pieces(parts in prop::collection::vec(prop::sample::select(PIECES), 0..40), dialect in prop::sample::select(&Dialect::ALL[..])) {
        check(&parts.concat(), dialect);
    }

    #[test]
    fn any_text(text in any::<String>()) {
        check(&text, Dialect::Generic);
    }
}
