//! The gate that a person's merge goes through: what it would break in places that nobody looked at.

use std::collections::BTreeMap;

use deckle_corpus::{Corpus, Damage, Options};
use deckle_doc::DocKey;

use crate::error::StoreError;
use crate::snapshot::Snapshot;

/// Main as it is before a merge, to compare with.
#[derive(Debug)]
pub struct DamageGate {
    before: Corpus,
}

impl DamageGate {
    /// Reads main.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn new(main: &Snapshot) -> Result<Self, StoreError> {
        let options = Options { dialect: main.dialect(), ..Options::default() };
        Ok(Self { before: main.to_corpus(options).await? })
    }

    /// Says what documents about to be written would break; this is a merge's [`Gate`](crate::Gate).
    ///
    /// Only links and headings of other places count, and documents that nothing leads to any more: the reviewer accepted the
    /// changes one by one, and none of them shows that. What a change itself removes (a section, a row, a key) was shown.
    pub fn findings(&self, documents: &BTreeMap<DocKey, (Option<String>, Option<String>)>) -> Vec<String> {
        let mut after = self.before.clone();
        for (key, (_, text)) in documents {
            match text {
                Some(text) => after.insert(key.clone(), text.as_str()),
                None => drop(after.remove(key)),
            }
        }
        let delta = self.before.damage(&after, &BTreeMap::new());
        let unseen = |what: &Damage| {
            matches!(
                what,
                Damage::LinkBroken { .. } | Damage::LinkRetargeted { .. } | Damage::FragmentBroken { .. } | Damage::Orphaned
            )
        };
        delta.findings.iter().filter(|one| unseen(&one.what)).map(|one| format!("{}: {}", one.key, one.what)).collect()
    }
}
