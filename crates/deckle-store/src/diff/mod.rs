//! What lies between two states, in the units that a person decides about: blocks, front matter keys, and documents as a whole.
//!
//! Each change of a document is a set of splices of the text before. The splices of all changes make the text after, byte for
//! byte; those of none make the text before; and whatever is chosen, bytes outside the chosen splices are those of before.

mod document;
mod entries;
pub(crate) mod matching;
pub(crate) mod outline;
mod renames;
pub(crate) mod splices;
mod words;

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use deckle_doc::{DocKey, Ids, Tree};
use serde::Serialize;
use sha2::{Digest, Sha256};

pub(crate) use document::DocumentDiff;
pub use outline::Version;
pub use words::{Mark, Segment, segments};

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeKind {
    /// The document is new.
    DocumentCreated,
    /// The document goes.
    DocumentDeleted,
    /// The document has another key.
    DocumentRenamed,
    /// A key of the front matter comes, goes or has another value.
    FrontMatter,
    /// A block is new.
    Added,
    /// A block goes.
    Removed,
    /// A block says something else.
    Changed,
    /// A block says the same and is something else: a level, a check box, a title line, a language.
    Attributes,
    /// A block stands elsewhere among its siblings.
    Moved,
    /// A block stands inside another block than before.
    Renested,
    /// Only blanks and line ends differ.
    Spacing,
}

impl ChangeKind {
    /// Names it as JSON does.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::DocumentCreated => "document-created",
            Self::DocumentDeleted => "document-deleted",
            Self::DocumentRenamed => "document-renamed",
            Self::FrontMatter => "front-matter",
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
            Self::Attributes => "attributes",
            Self::Moved => "moved",
            Self::Renested => "renested",
            Self::Spacing => "spacing",
        }
    }
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
    /// The ids of the blocks; of a front matter change the key's name.
    pub blocks: Vec<String>,
    /// The headings under which it stands, for people.
    pub place: String,
    /// The same as a list, the outermost first.
    pub path: Vec<String>,
    /// Where it stands in the text before, as bytes; none for what is new.
    pub old_span: Option<(usize, usize)>,
    /// Where it stands in the text after; none for what goes.
    pub new_span: Option<(usize, usize)>,
    /// What was there.
    pub before: Option<String>,
    /// What is there.
    pub after: Option<String>,
    /// The words inside, marked; empty when only one side has any.
    pub words: Vec<Segment>,
    /// Why it was made: changes with one intent were made together.
    pub intent: String,
    /// The changes without which this one makes no sense.
    pub needs: Vec<ChangeId>,
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
    let mut changes = documents.iter().flat_map(|(key, pair)| of_document(key, pair)).collect::<Vec<_>>();
    renames::tie(&mut changes);
    changes
}

pub(crate) fn version(side: &(Tree, Ids)) -> Version<'_> {
    Version { tree: &side.0, ids: &side.1 }
}

/// Lists the changes of one document.
pub(crate) fn of_document(key: &DocKey, pair: &Pair) -> Vec<Change> {
    let mut out: Vec<Change> = whole(key, pair).into_iter().collect();
    if let (Some(before), Some(after)) = (&pair.before, &pair.after)
        && before.0.source() != after.0.source()
    {
        out.extend(DocumentDiff::new(key, pair, version(before), version(after)).changes);
    }
    number(&mut out);
    out
}

/// Returns the change to the document as a whole, when there is one.
fn whole(key: &DocKey, pair: &Pair) -> Option<Change> {
    let source = |side: &Option<(Tree, Ids)>| side.as_ref().map(|(tree, _)| tree.source().to_owned());
    let (kind, before, after) = match (&pair.before, &pair.after, &pair.from) {
        (None, None, _) => return None,
        (None, Some(_), _) => (ChangeKind::DocumentCreated, None, source(&pair.after)),
        (Some(_), None, _) => (ChangeKind::DocumentDeleted, source(&pair.before), None),
        (Some(_), Some(_), None) => return None,
        (Some(_), Some(_), Some(from)) => (ChangeKind::DocumentRenamed, Some(from.to_string()), Some(key.to_string())),
    };
    let mut change = blank(key, pair, kind);
    (change.before, change.after) = (before, after);
    change.id = id_of(&change);
    Some(change)
}

fn blank(key: &DocKey, pair: &Pair, kind: ChangeKind) -> Change {
    Change {
        id: ChangeId(String::new()),
        key: key.to_string(),
        from: pair.from.as_ref().map(ToString::to_string),
        kind,
        block: "document",
        blocks: Vec::new(),
        place: String::new(),
        path: Vec::new(),
        old_span: None,
        new_span: None,
        before: None,
        after: None,
        words: Vec::new(),
        intent: pair.intent.clone(),
        needs: Vec::new(),
    }
}

fn id_of(change: &Change) -> ChangeId {
    let mut sha = Sha256::new();
    let (before, after) = (change.before.as_deref().unwrap_or("\u{1}"), change.after.as_deref().unwrap_or("\u{1}"));
    for part in [change.key.as_str(), change.kind.as_str(), &change.blocks.join(" "), before, after] {
        sha.update((part.len() as u64).to_le_bytes());
        sha.update(part.as_bytes());
    }
    ChangeId(sha.finalize().iter().take(5).map(|byte| format!("{byte:02x}")).collect())
}

/// Gives equal changes different ids: the second is `…-2`.
fn number(changes: &mut [Change]) {
    let mut seen: HashMap<ChangeId, usize> = HashMap::new();
    for change in changes {
        let count = seen.entry(change.id.clone()).or_insert(0);
        *count += 1;
        if *count > 1 {
            change.id = ChangeId(format!("{}-{count}", change.id));
        }
    }
}
