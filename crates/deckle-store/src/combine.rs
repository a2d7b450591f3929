//! Three-way work on whole states: what one line did since a common state, done again on another line. Documents that only
//! one side touched are taken as they are; only a document that both changed is merged, block by block.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use deckle_doc::{Dialect, DocKey, Ids, Tree};

use crate::block_ids;
use crate::changes::Changes;
use crate::conflict::{Conflict, ConflictKind, Resolution};
use crate::core::parse;
use crate::document::key_of;
use crate::error::StoreError;
use crate::snapshot::Snapshot;
use crate::tree_edit;

/// One version of a document.
#[derive(Clone, Debug)]
pub(crate) struct Version {
    pub(crate) text: Arc<str>,
    pub(crate) names: Vec<String>,
    pub(crate) dialect: Dialect,
}

impl Version {
    /// Reads a document with its ids.
    pub(crate) async fn read(snapshot: &Snapshot, key: &DocKey) -> Result<Option<Self>, StoreError> {
        let Some(document) = snapshot.document(key).await? else { return Ok(None) };
        let dialect = snapshot.objects().dialect();
        let tree = parse(key, &document.text, dialect)?;
        let ids = snapshot.ids(key, &tree).await?;
        Ok(Some(Self { text: document.text, names: block_ids::names(&ids), dialect }))
    }

    /// A text that a person decided on, with the ids of the version it came from.
    pub(crate) fn carried(key: &DocKey, from: Option<&Self>, text: &str, dialect: Dialect) -> Result<Self, StoreError> {
        let tree = parse(key, &text.into(), dialect)?;
        let ids = match from {
            Some(from) => {
                let (old, ids) = from.parts(key)?;
                Ids::carry(&old, &ids, &tree)
            }
            None => Ids::derive(&tree),
        };
        Ok(Self { text: text.into(), names: block_ids::names(&ids), dialect })
    }

    pub(crate) fn parts(&self, key: &DocKey) -> Result<(Tree, Ids), StoreError> {
        let tree = parse(key, &self.text, self.dialect)?;
        let ids = block_ids::restore(&tree, &self.names).unwrap_or_else(|| Ids::derive(&tree));
        Ok((tree, ids))
    }
}

/// What one side did to documents: each key with its version before and after, and which of them moved.
#[derive(Clone, Debug, Default)]
pub(crate) struct Delta {
    pub(crate) documents: BTreeMap<DocKey, (Option<Version>, Option<Version>)>,
    pub(crate) renames: Vec<(DocKey, DocKey)>,
}

impl Delta {
    /// Finds what lies between two states; reads only documents that differ.
    pub(crate) async fn between(before: &Snapshot, after: &Snapshot, renames: Vec<(DocKey, DocKey)>) -> Result<Self, StoreError> {
        let paths = tree_edit::diff(after.objects(), before.tree(), after.tree()).await?;
        let keys: BTreeSet<DocKey> = paths.iter().filter_map(|change| key_of(&change.path)).collect();
        let mut documents = BTreeMap::new();
        for key in keys {
            let pair = (Version::read(before, &key).await?, Version::read(after, &key).await?);
            if pair.0.as_ref().map(|version| &version.text) != pair.1.as_ref().map(|version| &version.text) {
                documents.insert(key, pair);
            }
        }
        let mut delta = Self { documents, renames: Vec::new() };
        delta.renames = renames.into_iter().filter(|(from, to)| delta.is_rename(from, to)).collect();
        Ok(delta)
    }

    /// Whether a document is gone from one key and stands under another.
    fn is_rename(&self, from: &DocKey, to: &DocKey) -> bool {
        matches!(self.documents.get(from), Some((Some(_), None))) && matches!(self.documents.get(to), Some((None, Some(_))))
    }

    /// The same the other way round.
    pub(crate) fn reversed(self) -> Self {
        Self {
            documents: self.documents.into_iter().map(|(key, (before, after))| (key, (after, before))).collect(),
            renames: self.renames.into_iter().map(|(from, to)| (to, from)).collect(),
        }
    }
}

/// Chains renames: what was moved twice was moved once, from the first key to the last.
pub(crate) fn chain(renames: impl IntoIterator<Item = (DocKey, DocKey)>) -> Vec<(DocKey, DocKey)> {
    let mut out: Vec<(DocKey, DocKey)> = Vec::new();
    for (from, to) in renames {
        match out.iter_mut().find(|(_, end)| *end == from) {
            Some(earlier) => earlier.1 = to,
            None => out.push((from, to)),
        }
    }
    out.retain(|(from, to)| from != to);
    out
}

/// A line with work done on it that is not stored yet.
pub(crate) struct Combined<'a> {
    ours: &'a Snapshot,
    now: BTreeMap<DocKey, Option<Version>>,
    renames: Vec<(DocKey, DocKey)>,
    pub(crate) conflicts: Vec<Conflict>,
    resolutions: &'a BTreeMap<DocKey, Resolution>,
}

impl<'a> Combined<'a> {
    pub(crate) fn new(ours: &'a Snapshot, resolutions: &'a BTreeMap<DocKey, Resolution>) -> Self {
        Self { ours, now: BTreeMap::new(), renames: Vec::new(), conflicts: Vec::new(), resolutions }
    }

    async fn read(&self, key: &DocKey) -> Result<Option<Version>, StoreError> {
        match self.now.get(key) {
            Some(version) => Ok(version.clone()),
            None => Version::read(self.ours, key).await,
        }
    }

    /// Does on this line what another did. `moved` are renames that this line made itself since the common state.
    pub(crate) async fn apply(&mut self, theirs: &Delta, moved: &[(DocKey, DocKey)]) -> Result<(), StoreError> {
        let mut done: BTreeSet<DocKey> = BTreeSet::new();
        for (from, to) in &theirs.renames {
            let (Some((Some(base), _)), Some((_, Some(new)))) = (theirs.documents.get(from), theirs.documents.get(to)) else {
                continue;
            };
            done.extend([from.clone(), to.clone()]);
            self.apply_rename(from, to, base, new, moved).await?;
        }
        for (key, (base, new)) in &theirs.documents {
            if done.contains(key) {
                continue;
            }
            // What this line moved is found where it is now.
            let at = moved.iter().find(|(from, _)| from == key && base.is_some()).map_or(key, |(_, to)| to);
            let ours = self.read(at).await?;
            let kind = match (base, &ours, new) {
                (None, None, Some(_)) | (_, None, None) => {
                    self.put(at, new.clone());
                    continue;
                }
                (None, Some(ours), Some(new)) if ours.text == new.text => continue,
                (None, Some(_), _) => ConflictKind::BothCreated,
                (Some(base), Some(ours), None) if base.text == ours.text => {
                    self.put(at, None);
                    continue;
                }
                (Some(_), Some(_), None) | (Some(_), None, Some(_)) => ConflictKind::DeletedAndChanged,
                (Some(base), Some(ours), Some(new)) => {
                    self.apply_text(at, base, ours, new)?;
                    continue;
                }
            };
            self.conflict(at, kind, base.clone(), ours, new.clone())?;
        }
        Ok(())
    }

    async fn apply_rename(
        &mut self,
        from: &DocKey,
        to: &DocKey,
        base: &Version,
        new: &Version,
        moved: &[(DocKey, DocKey)],
    ) -> Result<(), StoreError> {
        let ours_to = moved.iter().find(|(ours_from, _)| ours_from == from).map(|(_, ours_to)| ours_to);
        if ours_to == Some(to) {
            return match self.read(to).await? {
                Some(ours) => self.apply_text(to, base, &ours, new),
                None => self.conflict(to, ConflictKind::DeletedAndChanged, Some(base.clone()), None, Some(new.clone())),
            };
        }
        let (ours, taken) = (self.read(from).await?, self.read(to).await?);
        match (ours, taken) {
            (Some(ours), None) => {
                self.renames.push((from.clone(), to.clone()));
                self.put(from, None);
                self.apply_text(to, base, &ours, new)
            }
            // It is there already, moved by hand or by an earlier part of this work.
            (None, Some(taken)) if taken.text == new.text => Ok(()),
            (_, Some(taken)) => self.conflict(to, ConflictKind::Moved, Some(base.clone()), Some(taken), Some(new.clone())),
            (None, None) => {
                let kind = if ours_to.is_some() { ConflictKind::Moved } else { ConflictKind::DeletedAndChanged };
                self.conflict(to, kind, Some(base.clone()), None, Some(new.clone()))
            }
        }
    }

    /// Merges three texts of one document; what only one side changed is that side's.
    fn apply_text(&mut self, key: &DocKey, base: &Version, ours: &Version, new: &Version) -> Result<(), StoreError> {
        if ours.text == new.text || base.text == new.text {
            self.put(key, Some(ours.clone()));
        } else if base.text == ours.text {
            self.put(key, Some(new.clone()));
        } else {
            self.merge_texts(key, base, ours, new)?;
        }
        Ok(())
    }

    fn merge_texts(&mut self, key: &DocKey, base: &Version, ours: &Version, new: &Version) -> Result<(), StoreError> {
        let (base_side, ours_side, new_side) = (base.parts(key)?, ours.parts(key)?, new.parts(key)?);
        let version = crate::diff::version;
        match crate::merge::merge(version(&base_side), version(&ours_side), version(&new_side)) {
            Ok(merged) => {
                self.put(
                    key,
                    Some(Version { text: merged.text.into(), names: block_ids::names(&merged.ids), dialect: ours.dialect }),
                );
                Ok(())
            }
            Err(_) if self.resolutions.contains_key(key) => {
                self.conflict(key, ConflictKind::Block, Some(base.clone()), Some(ours.clone()), Some(new.clone()))
            }
            Err(conflicts) => {
                self.conflicts.extend(conflicts.into_iter().map(|one| Conflict {
                    key: key.clone(),
                    kind: ConflictKind::Block,
                    place: one.place,
                    base: one.base,
                    ours: one.ours,
                    theirs: one.theirs,
                }));
                Ok(())
            }
        }
    }

    fn put(&mut self, key: &DocKey, version: Option<Version>) {
        self.now.insert(key.clone(), version);
    }

    /// Resolves a conflict as a person said, or keeps it.
    fn conflict(
        &mut self,
        key: &DocKey,
        kind: ConflictKind,
        base: Option<Version>,
        ours: Option<Version>,
        theirs: Option<Version>,
    ) -> Result<(), StoreError> {
        match self.resolutions.get(key) {
            Some(Resolution::Ours) => self.put(key, ours),
            Some(Resolution::Theirs) => self.put(key, theirs),
            Some(Resolution::Write(text)) => {
                let from = ours.as_ref().or(base.as_ref());
                self.put(key, Some(Version::carried(key, from, text, self.ours.objects().dialect())?));
            }
            None => {
                let text = |version: Option<Version>| version.map(|version| version.text.to_string());
                let (base, ours, theirs) = (text(base), text(ours), text(theirs));
                self.conflicts.push(Conflict { key: key.clone(), kind, place: String::new(), base, ours, theirs });
            }
        }
        Ok(())
    }

    /// Returns the change to this line; refuses when conflicts are left.
    pub(crate) async fn into_changes(self) -> Result<Changes, StoreError> {
        if !self.conflicts.is_empty() {
            return Err(StoreError::Conflicts(self.conflicts));
        }
        let mut changes = Changes::new();
        for (key, version) in &self.now {
            let before = self.ours.text(key).await?;
            match (before, version) {
                (None, None) => {}
                (Some(before), Some(version)) if before == version.text => {}
                (Some(_), None) => changes = changes.delete(key.clone()),
                (_, Some(version)) => {
                    let from = self.renames.iter().find(|(_, to)| to == key).map(|(from, _)| from.clone());
                    changes = match from.filter(|from| matches!(self.now.get(from), Some(None))) {
                        Some(from) => changes.rename(from, key.clone(), version.text.clone()),
                        None => changes.write(key.clone(), version.text.clone()),
                    };
                    changes = changes.with_ids(key.clone(), version.names.clone());
                }
            }
        }
        Ok(changes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renames_are_chained() {
        let key = |text: &str| DocKey::parse(text).unwrap();
        let chained = chain([(key("a"), key("b")), (key("x"), key("y")), (key("b"), key("c")), (key("y"), key("x"))]);
        assert_eq!(chained, [(key("a"), key("c"))]);
    }
}
