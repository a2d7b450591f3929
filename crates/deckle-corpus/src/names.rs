//! What documents are called: the index by which links find them.

use std::collections::HashMap;

use deckle_doc::DocKey;

use crate::facts::Facts;
use crate::path::{INDEX_NAMES, is_index};

/// Every name of every document. Lookups that ignore case come second, and only where one document answers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    exact: HashMap<Box<str>, DocKey>,
    folded: HashMap<Box<str>, Vec<DocKey>>,
    last: HashMap<Box<str>, Vec<DocKey>>,
    called: HashMap<Box<str>, Vec<DocKey>>,
    /// The documents that stand for a folder, by the folder.
    indexes: HashMap<Box<str>, Vec<DocKey>>,
}

/// Returns a name as names are compared.
pub(crate) fn fold(text: &str) -> String {
    text.to_lowercase()
}

fn add(map: &mut HashMap<Box<str>, Vec<DocKey>>, name: String, key: &DocKey) {
    let keys = map.entry(name.into()).or_default();
    if let Err(at) = keys.binary_search(key) {
        keys.insert(at, key.clone());
    }
}

fn drop(map: &mut HashMap<Box<str>, Vec<DocKey>>, name: &str, key: &DocKey) {
    if let Some(keys) = map.get_mut(name) {
        keys.retain(|other| other != key);
        if keys.is_empty() {
            map.remove(name);
        }
    }
}

impl Names {
    pub(crate) fn insert(&mut self, key: &DocKey, facts: &Facts) {
        self.exact.insert(key.as_str().into(), key.clone());
        add(&mut self.folded, fold(key.as_str()), key);
        add(&mut self.last, fold(key.name()), key);
        if is_index(key) {
            add(&mut self.indexes, fold(key.folder().unwrap_or_default()), key);
        }
        for name in facts.names() {
            add(&mut self.called, fold(name), key);
        }
    }

    pub(crate) fn remove(&mut self, key: &DocKey, facts: &Facts) {
        self.exact.remove(key.as_str());
        drop(&mut self.folded, &fold(key.as_str()), key);
        drop(&mut self.last, &fold(key.name()), key);
        if is_index(key) {
            drop(&mut self.indexes, &fold(key.folder().unwrap_or_default()), key);
        }
        for name in facts.names() {
            drop(&mut self.called, &fold(name), key);
        }
    }

    /// Returns the document whose key a path is: as written, else the only one that differs in case alone.
    pub(crate) fn find(&self, path: &str) -> Option<&DocKey> {
        if let Some(key) = self.exact.get(path) {
            return Some(key);
        }
        match self.folded.get(fold(path).as_str()).map(Vec::as_slice) {
            Some([key]) => Some(key),
            _ => None,
        }
    }

    /// Returns the document that stands for a folder: of several the first by [`INDEX_NAMES`], one of the same case before others.
    pub(crate) fn index_of(&self, folder: &str) -> Option<&DocKey> {
        let keys = self.indexes.get(fold(folder).as_str())?;
        let rank = |key: &&DocKey| {
            let place = INDEX_NAMES.iter().position(|name| key.name().eq_ignore_ascii_case(name));
            (place, key.folder().unwrap_or_default() != folder, !INDEX_NAMES.contains(&key.name()))
        };
        let first = keys.iter().min_by_key(rank)?;
        // Folders that differ in case alone are told apart, or none is meant.
        let others = keys.iter().any(|key| key.folder() != first.folder());
        (!others || first.folder().unwrap_or_default() == folder).then_some(first)
    }

    /// Returns the documents whose last segments are those of `path`, without case.
    pub(crate) fn ending_in(&self, path: &str) -> Vec<DocKey> {
        let folded = fold(path);
        let last = folded.rsplit('/').next().unwrap_or(&folded);
        let Some(keys) = self.last.get(last) else { return Vec::new() };
        let fits = |key: &DocKey| {
            let key = fold(key.as_str());
            key.strip_suffix(folded.as_str()).is_some_and(|before| before.is_empty() || before.ends_with('/'))
        };
        keys.iter().filter(|key| fits(key)).cloned().collect()
    }

    /// Returns the documents that have this title or alias, without case.
    pub(crate) fn called(&self, name: &str) -> &[DocKey] {
        self.called.get(fold(name).as_str()).map_or(&[], Vec::as_slice)
    }
}
