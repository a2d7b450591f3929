//! Which bytes make each document afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use deckle_doc::{DocKey, Splice};

use crate::Corpus;

/// A part of a document afterwards.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    /// Bytes of a document before.
    Source {
        key: DocKey,
        range: Range<usize>,
        /// Changes inside the range that are not links: levels of headings.
        shape: Vec<Splice>,
    },
    /// New text.
    Text(String),
}

/// Where a link to a whole document goes afterwards.
#[derive(Clone, Debug)]
pub(crate) struct Home {
    pub(crate) key: DocKey,
    /// The heading, of the document before, that stands for the whole.
    pub(crate) heading: Option<usize>,
}

/// What each document that changes is made of. The others stay as they are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recipe {
    pub(crate) documents: BTreeMap<DocKey, Vec<Piece>>,
    pub(crate) removed: BTreeSet<DocKey>,
    pub(crate) home: BTreeMap<DocKey, Home>,
}

impl Piece {
    /// All of a document.
    pub(crate) fn whole(corpus: &Corpus, key: &DocKey) -> Piece {
        let end = corpus.get(key).map_or(0, |document| document.text().len());
        Piece::Source { key: key.clone(), range: 0..end, shape: Vec::new() }
    }
}

/// A piece as laid out: where it starts afterwards, and every splice in it.
#[derive(Debug)]
pub(crate) struct Laid<'r> {
    pub(crate) piece: &'r Piece,
    /// The splices inside, in order of place; absolute positions in the source.
    pub(crate) splices: Vec<Splice>,
}

/// Puts pieces together. Also returns, for each piece, its bytes afterwards.
pub(crate) fn assemble(corpus: &Corpus, pieces: &[Laid<'_>]) -> (String, Vec<Range<usize>>) {
    let mut out = String::new();
    let mut places = Vec::with_capacity(pieces.len());
    for laid in pieces {
        let start = out.len();
        match laid.piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Source { key, range, .. } => {
                let source = corpus.get(key).map_or("", |document| document.text());
                let mut done = range.start;
                for splice in &laid.splices {
                    assert!(splice.range.start >= done && splice.range.end <= range.end, "BUG: a splice outside of its piece");
                    out.push_str(&source[done..splice.range.start]);
                    out.push_str(&splice.with);
                    done = splice.range.end;
                }
                out.push_str(&source[done..range.end]);
            }
        }
        places.push(start..out.len());
    }
    (out, places)
}

/// Returns where a byte of the source lies afterwards, in a piece that starts at `start`.
pub(crate) fn placed(offset: usize, range: &Range<usize>, start: usize, splices: &[Splice]) -> usize {
    let mut at = start + (offset - range.start);
    for splice in splices.iter().take_while(|splice| splice.range.end <= offset && splice.range.start < offset) {
        at = at + splice.with.len() - splice.range.len();
    }
    at
}
