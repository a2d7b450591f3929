//! What lies between two states, in the units that a person decides about: blocks, and documents as a whole.

pub(crate) mod pieces;

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use deckle_doc::{DocKey, Ids, Tree};
use serde::Serialize;
use sha2::{Digest, Sha256};

use pieces::Piece;
pub use pieces::Version;

/// The id of a change: the same change has the same id whenever it is looked at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct ChangeId(String);

impl ChangeId {
    /// Takes the text of an id; one that belongs to no change simply finds none.
    pub fn new(text: &str) -> Self {
        Self(text.trim().to_owned())
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ChangeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a change does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeKind {
    /// The document is new.
    DocumentCreated,
    /// The document goes.
    DocumentDeleted,
    /// The document has another key.
    DocumentRenamed,
    /// Blocks are new.
    Added,
    /// Blocks go.
    Removed,
    /// A block says something else.
    Changed,
    /// A block stands elsewhere.
    Moved,
}

/// One thing to decide about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Its id.
    pub id: ChangeId,
    /// The document, under the key that it has afterwards; a deleted one under the key that it had.
    pub key: String,
    /// The key before, when it is another.
    pub from: Option<String>,
    /// What it does.
    pub kind: ChangeKind,
    /// What kind of block it is; for several blocks the first one's.
    pub block: &'static str,
    /// The ids of the blocks.
    pub blocks: Vec<String>,
    /// The heading under which it stands.
    pub place: String,
    /// What was there.
    pub before: Option<String>,
    /// What is there.
    pub after: Option<String>,
    /// Why it was made: changes with one intent were made together.
    pub intent: String,
}

/// A document on both sides.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The key before, when it is another.
    pub from: Option<DocKey>,
    /// The version before.
    pub before: Option<(Tree, Ids)>,
    /// The version after.
    pub after: Option<(Tree, Ids)>,
    /// Why it was changed.
    pub intent: String,
}

/// Lists the changes of documents, in the order of keys and places.
pub fn changes(documents: &BTreeMap<DocKey, Pair>) -> Vec<Change> {
    documents.iter().flat_map(|(key, pair)| of_document(key, pair)).collect()
}

pub(crate) fn version(side: &(Tree, Ids)) -> Version<'_> {
    Version { tree: &side.0, ids: &side.1 }
}

/// Both sides of a document cut at the top, with one id for one block.
pub(crate) struct Rows {
    pub(crate) before: Vec<Piece>,
    pub(crate) after: Vec<Piece>,
}

impl Rows {
    pub(crate) fn new(before: &(Tree, Ids), after: &(Tree, Ids)) -> Self {
        let ids = pieces::aligned(version(before), version(after));
        Self { before: pieces::top(version(before)), after: pieces::top(Version { tree: &after.0, ids: &ids }) }
    }
}

/// Lists the changes of one document.
pub(crate) fn of_document(key: &DocKey, pair: &Pair) -> Vec<Change> {
    let mut out = Vec::new();
    let from = pair.from.as_ref().map(ToString::to_string);
    let make = |kind, block, blocks: Vec<String>, place: String, before: Option<String>, after: Option<String>| Change {
        id: id_of(key, kind, &blocks, before.as_deref(), after.as_deref()),
        key: key.to_string(),
        from: from.clone(),
        kind,
        block,
        blocks,
        place,
        before,
        after,
        intent: pair.intent.clone(),
    };
    let (before, after) = match (&pair.before, &pair.after) {
        (None, None) => return out,
        (None, Some((tree, _))) => {
            out.push(make(
                ChangeKind::DocumentCreated,
                "document",
                Vec::new(),
                String::new(),
                None,
                Some(tree.source().to_owned()),
            ));
            return out;
        }
        (Some((tree, _)), None) => {
            out.push(make(
                ChangeKind::DocumentDeleted,
                "document",
                Vec::new(),
                String::new(),
                Some(tree.source().to_owned()),
                None,
            ));
            return out;
        }
        (Some(before), Some(after)) => (before, after),
    };
    if let Some(from) = &from {
        let (from, to) = (Some(from.clone()), Some(key.to_string()));
        out.push(make(ChangeKind::DocumentRenamed, "document", Vec::new(), String::new(), from, to));
    }
    if before.0.source() == after.0.source() {
        return out;
    }
    let rows = Rows::new(before, after);
    let (old, new) = (pieces::by_id(&rows.before), pieces::by_id(&rows.after));
    let stable: HashSet<&str> = pieces::stable(&rows.before, &rows.after);
    let text = |run: &[&Piece]| {
        let all: String = run.iter().map(|piece| format!("{}{}", piece.text, piece.gap)).collect();
        all.trim_end().to_owned()
    };
    let ids = |run: &[&Piece]| run.iter().map(|piece| piece.id.clone()).collect::<Vec<_>>();
    // Runs of blocks that are only on one side are one change each.
    let mut run: Vec<&Piece> = Vec::new();
    for (at, piece) in rows.before.iter().enumerate() {
        if !new.contains_key(piece.id.as_str()) {
            run.push(piece);
        }
        let next_goes = rows.before.get(at + 1).is_some_and(|next| !new.contains_key(next.id.as_str()));
        if let (Some(first), false) = (run.first(), next_goes) {
            let place = place(&rows.before, &first.id);
            out.push(make(ChangeKind::Removed, first.kind, ids(&run), place, Some(text(&run)), None));
            run.clear();
        }
    }
    for (at, piece) in rows.after.iter().enumerate() {
        match old.get(piece.id.as_str()) {
            None => run.push(piece),
            Some(before) => {
                let place = place(&rows.after, &piece.id);
                let same = before.text == piece.text;
                let moved = !stable.contains(piece.id.as_str());
                if moved || !same {
                    let kind = if moved { ChangeKind::Moved } else { ChangeKind::Changed };
                    let (was, is) = (Some(before.text.clone()), Some(piece.text.clone()));
                    out.push(make(kind, piece.kind, vec![piece.id.clone()], place, was, is));
                }
            }
        }
        let next_is_new = rows.after.get(at + 1).is_some_and(|next| !old.contains_key(next.id.as_str()));
        if let (Some(first), false) = (run.first(), next_is_new) {
            let place = place(&rows.after, &first.id);
            out.push(make(ChangeKind::Added, first.kind, ids(&run), place, None, Some(text(&run))));
            run.clear();
        }
    }
    out
}

fn place(row: &[Piece], id: &str) -> String {
    let before = row.iter().take_while(|piece| piece.id != id).filter(|piece| piece.kind == "heading").last();
    before.map(|heading| heading.text.trim_start_matches('#').trim().to_owned()).unwrap_or_default()
}

fn id_of(key: &DocKey, kind: ChangeKind, blocks: &[String], before: Option<&str>, after: Option<&str>) -> ChangeId {
    let mut sha = Sha256::new();
    for part in [key.as_str(), &format!("{kind:?}"), &blocks.join(" "), before.unwrap_or("\u{1}"), after.unwrap_or("\u{1}")] {
        sha.update((part.len() as u64).to_le_bytes());
        sha.update(part.as_bytes());
    }
    ChangeId(sha.finalize().iter().take(5).map(|byte| format!("{byte:02x}")).collect())
}
