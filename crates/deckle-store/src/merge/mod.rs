//! Three-way merge of one document, block by block. Only two different changes to one block conflict; the result is parsed
//! again, and what would read otherwise than its blocks do is a conflict too.

use std::collections::{HashMap, HashSet};

use deckle_doc::{Dialect, Ids, Tree};

use crate::diff::pieces::{self, Piece, Version};

/// A merged document.
#[derive(Clone, Debug)]
pub struct Merged {
    /// Its text.
    pub text: String,
    /// Its blocks' ids.
    pub ids: Ids,
}

/// A block that both sides changed in different ways.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockConflict {
    /// Where it is, for people.
    pub place: String,
    /// What both began with.
    pub base: Option<String>,
    /// What ours says; none: removed.
    pub ours: Option<String>,
    /// What theirs says; none: removed.
    pub theirs: Option<String>,
}

/// Merges what two sides made of one document.
///
/// # Errors
/// Every block that both changed, or the document when its blocks would not read as they should side by side.
pub fn merge(base: Version<'_>, ours: Version<'_>, theirs: Version<'_>) -> Result<Merged, Vec<BlockConflict>> {
    let (base_text, ours_text, theirs_text) = (base.tree.source(), ours.tree.source(), theirs.tree.source());
    if ours_text == theirs_text || base_text == theirs_text {
        return Ok(Merged { text: ours_text.to_owned(), ids: ours.ids.clone() });
    }
    if base_text == ours_text {
        return Ok(Merged { text: theirs_text.to_owned(), ids: theirs.ids.clone() });
    }
    let (our_ids, their_ids) = (pieces::aligned(base, ours), pieces::aligned(base, theirs));
    let b = pieces::deep(base);
    let o = pieces::deep(Version { tree: ours.tree, ids: &our_ids });
    let mut t = pieces::deep(Version { tree: theirs.tree, ids: &their_ids });
    separate(&b, &o, &mut t);
    let (base_of, ours_of, theirs_of) = (pieces::by_id(&b), pieces::by_id(&o), pieces::by_id(&t));
    let mut conflicts = Vec::new();
    let mut merged = Vec::new();
    for id in order(&b, &o, &t) {
        let (base, ours, theirs) = (base_of.get(id), ours_of.get(id), theirs_of.get(id));
        match content(base.copied(), ours.copied(), theirs.copied()) {
            Ok(Some(piece)) => merged.push(piece),
            Ok(None) => {}
            Err(()) => {
                let said = |piece: Option<&&Piece>| piece.map(|piece| piece.text.clone());
                let place = base.or(ours).or(theirs).map(|piece| place(&b, piece)).unwrap_or_default();
                conflicts.push(BlockConflict { place, base: said(base), ours: said(ours), theirs: said(theirs) });
            }
        }
    }
    if !conflicts.is_empty() {
        return Err(conflicts);
    }
    let gaps = pieces::merged_gaps(&pieces::gaps(&b), pieces::gaps(&o), &pieces::gaps(&t));
    let text = pieces::join(&merged, &gaps, pieces::end_of_line(ours_text));
    proven(&text, &merged, ours, &our_ids).ok_or_else(|| {
        let all = |text: &str| Some(text.to_owned());
        vec![BlockConflict { place: String::new(), base: all(base_text), ours: all(ours_text), theirs: all(theirs_text) }]
    })
}

/// Two blocks that both sides made are one only when they say the same.
fn separate(base: &[Piece], ours: &[Piece], theirs: &mut [Piece]) {
    let base: HashSet<&str> = base.iter().map(|piece| piece.id.as_str()).collect();
    let ours = pieces::by_id(ours);
    for piece in theirs.iter_mut() {
        let twin = ours.get(piece.id.as_str()).filter(|_| !base.contains(piece.id.as_str()));
        if twin.is_some_and(|twin| twin.text != piece.text) {
            piece.id.push('\'');
        }
    }
}

/// Returns the ids in the order of the result. A block that one side moved stands where that side put it; blocks that both
/// sides added at one place stand one after the other.
fn order<'a>(b: &'a [Piece], o: &'a [Piece], t: &'a [Piece]) -> Vec<&'a str> {
    // Sabotage: forget the order in which the blocks stood.
    if cfg!(sabotage = "unsorted_merge") {
        let mut all: Vec<&str> = o.iter().chain(t).map(|piece| piece.id.as_str()).collect();
        all.sort_unstable();
        all.dedup();
        return all;
    }
    let in_base: HashSet<&str> = b.iter().map(|piece| piece.id.as_str()).collect();
    let (stay_ours, stay_theirs) = (pieces::stable(b, o), pieces::stable(b, t));
    let moved =
        |id: &str, stay: &HashSet<&str>, side: &HashSet<&str>| in_base.contains(id) && side.contains(id) && !stay.contains(id);
    let ids = |pieces: &'a [Piece]| pieces.iter().map(|piece| piece.id.as_str()).collect::<HashSet<&'a str>>();
    let (in_ours, in_theirs) = (ids(o), ids(t));
    let moved_ours = |id: &str| moved(id, &stay_ours, &in_ours);
    let moved_theirs = |id: &str| moved(id, &stay_theirs, &in_theirs);
    let ours: Vec<&str> = o.iter().map(|piece| piece.id.as_str()).filter(|id| !moved_theirs(id) || moved_ours(id)).collect();
    let theirs: Vec<&str> = t.iter().map(|piece| piece.id.as_str()).filter(|id| !moved_ours(id)).collect();
    // What stands in both now stands in the same order, so it divides both into matching stretches.
    let anchors: HashSet<&str> = {
        let ours: HashSet<&str> = ours.iter().copied().collect();
        theirs.iter().copied().filter(|id| ours.contains(id)).collect()
    };
    let mut out: Vec<&str> = Vec::new();
    let mut rest = theirs.iter().copied().peekable();
    for id in ours {
        if anchors.contains(id) {
            while let Some(next) = rest.next_if(|next| *next != id && !anchors.contains(next)) {
                out.push(next);
            }
            // An anchor is passed once on both sides.
            if rest.peek() == Some(&id) {
                rest.next();
            }
        }
        if !out.contains(&id) {
            out.push(id);
        }
    }
    for id in rest {
        if !out.contains(&id) {
            out.push(id);
        }
    }
    out
}

/// Works out one piece: none when it goes, an error when both sides changed it.
fn content(base: Option<&Piece>, ours: Option<&Piece>, theirs: Option<&Piece>) -> Result<Option<Piece>, ()> {
    let same = |a: &Piece, b: &Piece| a.text == b.text && a.kind == b.kind;
    Ok(match (base, ours, theirs) {
        (_, None, None) => None,
        (None, Some(one), None) | (None, None, Some(one)) => Some(one.clone()),
        (None, Some(ours), Some(_)) => Some(ours.clone()),
        (Some(base), Some(one), None) | (Some(base), None, Some(one)) => {
            if same(base, one) {
                None
            } else {
                return Err(());
            }
        }
        (Some(base), Some(ours), Some(theirs)) => {
            let chosen = if same(ours, theirs) || same(base, theirs) {
                ours
            } else if same(base, ours) {
                theirs
            } else {
                return Err(());
            };
            // A side that put a container around a block, or took one away, changed only how deep it stands.
            let depth = if ours.depth == base.depth { theirs.depth } else { ours.depth };
            Some(Piece { depth, ..chosen.clone() })
        }
    })
}

/// Names the place of a piece: the last heading before it, and its first words.
fn place(base: &[Piece], piece: &Piece) -> String {
    let before = base.iter().take_while(|one| one.id != piece.id).filter(|one| one.kind == "heading").last();
    let heading = before.map(|heading| format!("{} › ", heading.text.trim_start_matches('#').trim())).unwrap_or_default();
    let words: String = piece.text.split_whitespace().take(6).collect::<Vec<_>>().join(" ");
    format!("{heading}{} \"{words}\"", piece.kind)
}

/// Whether two lists that stood apart would be one, or one would be two.
fn joined(found: &[Piece], wanted: &[Piece]) -> bool {
    let together = |pair: &[Piece]| matches!(pair, [one, other] if one.list == other.list);
    found.windows(2).map(together).ne(wanted.windows(2).map(together))
}

/// Parses the merged text and takes it only when its blocks are those that were put together.
fn proven(text: &str, wanted: &[Piece], ours: Version<'_>, our_ids: &Ids) -> Option<Merged> {
    let tree = Tree::parse(text, Dialect::Generic).ok()?;
    let derived = Ids::derive(&tree);
    let found = pieces::deep(Version { tree: &tree, ids: &derived });
    let seen = |pieces: &[Piece]| pieces.iter().map(|piece| (piece.kind, piece.text.clone(), piece.depth)).collect::<Vec<_>>();
    if seen(&found) != seen(wanted) || joined(&found, wanted) {
        return None;
    }
    // Each block gets the id that its piece had on the side it came from.
    let carried = Ids::carry(ours.tree, our_ids, &tree);
    let from: HashMap<&str, &str> =
        found.iter().zip(wanted).map(|(found, wanted)| (found.id.as_str(), wanted.id.as_str())).collect();
    let own = |id: &str| from.get(id).map(|id| (*id).to_owned());
    let names: Vec<String> = derived
        .names()
        .zip(carried.names())
        .map(|(derived, carried)| {
            let open = format!("{derived}<");
            own(derived)
                .or_else(|| own(&open).map(|id| id.trim_end_matches(['<', '\'']).to_owned()))
                .unwrap_or_else(|| carried.to_owned())
        })
        .collect();
    let ids = Ids::from_names(&tree, &names).unwrap_or(carried);
    Some(Merged { text: text.to_owned(), ids })
}

#[cfg(test)]
mod tests;
