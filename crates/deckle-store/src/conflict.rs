//! Conflicts are values: what each side says, shown and never guessed.

use std::fmt;

use deckle_doc::DocKey;
use serde::Serialize;

/// A place where two sides changed the same thing in different ways.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conflict {
    /// The document.
    #[serde(serialize_with = "key_as_text")]
    pub key: DocKey,
    /// What collides.
    pub kind: ConflictKind,
    /// Where in the document, for people: the headings down to the block; empty for the document itself.
    pub place: String,
    /// What both sides began with.
    pub base: Option<String>,
    /// What stands on the line that is written.
    pub ours: Option<String>,
    /// What the other line brings.
    pub theirs: Option<String>,
}

/// What collides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConflictKind {
    /// Both sides changed a block.
    Block,
    /// Both sides made a document with this key.
    BothCreated,
    /// One side deleted what the other changed.
    DeletedAndChanged,
    /// One side moved a document to where the other has one, or both moved it to different places.
    Moved,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.key)?;
        if !self.place.is_empty() {
            write!(f, " › {}", self.place)?;
        }
        f.write_str(match self.kind {
            ConflictKind::Block => ": changed on both sides",
            ConflictKind::BothCreated => ": created on both sides with different text",
            ConflictKind::DeletedAndChanged => ": deleted on one side and changed on the other",
            ConflictKind::Moved => ": moved to a place that is taken",
        })
    }
}

fn key_as_text<S: serde::Serializer>(key: &DocKey, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(key.as_str())
}

/// What a person says about a conflict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// Keep what stands on the line that is written.
    Ours,
    /// Take what the other line brings.
    Theirs,
    /// Write this instead.
    Write(String),
}
