//! Plans that move text between documents: rename, extract, inline. Each keeps what every link means.
//!
//! A plan is made in three steps. The *recipe* says which bytes of which documents make each document afterwards. The *engine*
//! writes each link that would mean something else so that it means the same, in its author's way of writing. Then all links of
//! the corpus are resolved again in the state afterwards, and a plan in which one of them means something else is refused.

mod engine;
mod extract;
mod inline;
mod levels;
mod recipe;
mod rename;

use std::collections::BTreeMap;
use std::sync::Arc;

use deckle_doc::{DocKey, Splice};

use crate::Corpus;

pub use extract::{Extract, LinkStyle};

/// What is to be done, proven. Nothing has changed yet.
#[derive(Clone, Debug)]
#[must_use = "a plan changes nothing until its texts are written"]
pub struct Plan {
    /// The documents that get another key.
    pub moves: BTreeMap<DocKey, DocKey>,
    /// The new documents and their text.
    pub created: BTreeMap<DocKey, Arc<str>>,
    /// The documents that are removed, their text being elsewhere.
    pub removed: Vec<DocKey>,
    /// The changes of the documents that stay or move, by the key that they have before.
    pub edits: BTreeMap<DocKey, Vec<Splice>>,
    /// How many links were written anew.
    pub rewritten: usize,
    /// What else is different afterwards: links to nowhere that now find a document, names that are no longer ambiguous.
    pub notes: Vec<String>,
    pub(crate) after: Corpus,
}

impl Plan {
    /// Returns the corpus as it will be.
    #[must_use]
    pub fn after(&self) -> &Corpus {
        &self.after
    }

    /// Returns the text that each changed, moved or new document will have, by its key afterwards.
    #[must_use]
    pub fn texts(&self) -> BTreeMap<&DocKey, &Arc<str>> {
        let edited = self.edits.keys().map(|key| self.moves.get(key).unwrap_or(key));
        let keys = edited.chain(self.moves.values()).chain(self.created.keys());
        keys.filter_map(|key| self.after.get(key).map(|document| (key, document.text()))).collect()
    }
}
