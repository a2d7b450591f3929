//! Every byte has its place: parse and emit are inverse, and spans tile at every level.

use std::sync::Arc;

use deckle_doc::{Dialect, Tree};
use proptest::prelude::*;

use crate::common::{PIECES, Random, corpora, variants};

/// Checks what holds of every tree.
pub fn check(text: &str, dialect: Dialect) {
    let Ok(tree) = Tree::parse(text, dialect) else { return };
    assert_eq!(tree.emit(), text);
    let root = tree.root();
    assert_eq!(root.span(), 0..text.len());
    for block in tree.blocks() {
        let parent = block.parent().unwrap();
        let (span, content, inner) = (block.span(), block.content(), block.inner());
        assert!(span.start <= content.start && content.start <= content.end && content.end <= span.end, "{block:?} in {text:?}");
        assert!(
            content.start <= inner.start && inner.start <= inner.end && inner.end <= span.end,
            "{block:?} {inner:?} in {text:?}"
        );
        assert!(
            parent.content().start <= content.start && content.end <= parent.content().end,
            "{block:?} of {parent:?} in {text:?}"
        );
        match block.previous() {
            Some(before) => assert_eq!(before.span().end, span.start, "{block:?} after {before:?} in {text:?}"),
            None => assert!(parent.span().start <= span.start, "{block:?} of {parent:?}"),
        }
        if block.next().is_none() {
            assert!(span.end <= parent.span().end, "{block:?} of {parent:?} in {text:?}");
        }
        assert_eq!(block.previous().and_then(|before| before.next()).map_or(block, |next| next), block);
        let mut at = inner.start;
        let mut ends: Vec<(usize, usize)> = Vec::new();
        for (place, inline) in block.inlines().iter().enumerate() {
            while ends.last().is_some_and(|&(last, _)| last < place) {
                ends.pop();
            }
            if let Some(&(_, end)) = ends.last() {
                assert!(inline.span.end <= end, "{inline:?} in {text:?}");
            }
            assert!(
                at <= inline.span.start && inline.span.start <= inline.span.end && inline.span.end <= inner.end.max(content.end),
                "{inline:?} in {text:?}"
            );
            assert!(inline.span.start <= inline.content.start && inline.content.end <= inline.span.end, "{inline:?} in {text:?}");
            at = inline.span.start;
            ends.push((place + inline.descendants as usize, inline.span.end));
        }
        if block.first_child().is_none() {
            block.plain_text();
            block.code();
        }
    }
}

#[test]
fn every_document_in_every_variant() {
    for (_, text) in corpora() {
        for (_, variant) in variants(&text) {
            check(&variant, Dialect::Generic);
        }
        for dialect in Dialect::ALL {
            check(&text, dialect);
        }
    }
}

#[test]
fn mutations_of_real_documents() {
    let documents = corpora();
    let mut random = Random(20_261_201);
    for round in 0..6_000 {
        let text = &documents[random.below(documents.len())].1;
        let mut at = random.below(text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let mut end = (at + 1 + random.below(1500)).min(text.len());
        while !text.is_char_boundary(end) {
            end += 1;
        }
        let mut part = text[at..end].to_owned();
        for _ in 0..1 + random.below(4) {
            let mut place = random.below(part.len() + 1);
            while !part.is_char_boundary(place) {
                place -= 1;
            }
            part.insert_str(place, random.pick(PIECES));
        }
        check(&part, Dialect::ALL[round % Dialect::ALL.len()]);
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
