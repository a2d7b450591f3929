//! What an operation reads: documents by key.

use std::collections::BTreeMap;

use deckle_doc::{Diag, Dialect, DocKey, Ids, Splice, Tree};
use serde_json::Value;

use crate::links::DocumentLink;

/// A set of documents at one moment.
pub trait Documents {
    /// Returns every key, sorted.
    fn keys(&self) -> Vec<DocKey>;

    /// Returns the tree of a document; nothing when there is none, or when it is kept but cannot be edited.
    fn tree(&self, key: &DocKey) -> Option<Tree>;

    /// Returns the ids of a document's blocks.
    fn ids(&self, _key: &DocKey, tree: &Tree) -> Ids {
        Ids::derive(tree)
    }

    /// Returns the documents that may link to `key`: a superset. An index makes this quick.
    fn may_link_to(&self, _key: &DocKey) -> Vec<DocKey> {
        self.keys()
    }

    /// Returns the links of a document, each with the document that it means, when an index knows them. Without one they are read
    /// off the tree.
    fn known_links(&self, _key: &DocKey) -> Option<Vec<DocumentLink>> {
        None
    }

    /// Returns a deleted document with the ids of its blocks, where the documents remember it.
    fn deleted(&self, _key: &DocKey) -> Option<(Tree, Ids)> {
        None
    }

    /// Returns a document as the caller knows it: at a revision, or without one as it was when the caller last read it. Nothing when there is no
    /// such revision, or the caller has not read it.
    fn known(&self, _key: &DocKey, _revision: Option<&str>) -> Option<(Tree, Ids)> {
        None
    }

    /// Returns the splices that keep every link right when `from` becomes `to`, by the key that each document has before, when the
    /// documents can plan and prove that themselves. `changed` is laid over them first; nothing there deletes a document.
    fn rename_fixes(&self, _changed: Changed<'_>, _from: &DocKey, _to: &DocKey) -> Option<Result<Fixes, Diag>> {
        None
    }

    /// Returns whether there is such a document.
    fn contains(&self, key: &DocKey) -> bool {
        self.tree(key).is_some()
    }

    /// Returns the front matter as a value: an empty object when there is none or it cannot be read.
    fn front(&self, key: &DocKey) -> Value {
        self.tree(key).map_or(Value::Null, |tree| front_value(&tree))
    }
}

/// Documents as they are after earlier steps; nothing where one was deleted.
pub type Changed<'c> = &'c [(&'c DocKey, Option<&'c Tree>)];

/// Splices by document.
pub type Fixes = BTreeMap<DocKey, Vec<Splice>>;

/// Returns a document's front matter as a value: an empty object when there is none or it cannot be read.
#[must_use]
pub fn front_value(tree: &Tree) -> Value {
    let empty = || Value::Object(serde_json::Map::new());
    let Some(block) = tree.root().first_child() else { return empty() };
    let text = tree.source().get(block.inner()).unwrap_or_default();
    let value = match block.kind() {
        deckle_doc::Kind::FrontMatter { format: deckle_doc::Format::Yaml } => deckle_doc::front::yaml(text).ok(),
        deckle_doc::Kind::FrontMatter { format: deckle_doc::Format::Toml } => toml_value(text),
        _ => None,
    };
    value.filter(Value::is_object).unwrap_or_else(empty)
}

fn toml_value(text: &str) -> Option<Value> {
    let table: toml::Table = toml::from_str(text).ok()?;
    Some(plain(toml::Value::Table(table)))
}

/// A TOML value as a JSON value, dates as the texts that they are written as.
fn plain(value: toml::Value) -> Value {
    match value {
        toml::Value::Datetime(date) => Value::String(date.to_string()),
        toml::Value::Array(all) => all.into_iter().map(plain).collect(),
        toml::Value::Table(table) => Value::Object(table.into_iter().map(|(name, value)| (name, plain(value))).collect()),
        toml::Value::String(text) => Value::String(text),
        toml::Value::Boolean(flag) => Value::Bool(flag),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) => number.into(),
    }
}

/// Documents in memory.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    trees: BTreeMap<DocKey, Tree>,
}

impl Sources {
    /// Returns no documents.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a document. One past a limit is left out.
    pub fn insert(&mut self, key: DocKey, text: &str, dialect: Dialect) {
        if let Ok(tree) = Tree::parse(text, dialect) {
            self.trees.insert(key, tree);
        }
    }

    /// Returns the documents.
    pub fn iter(&self) -> impl Iterator<Item = (&DocKey, &Tree)> {
        self.trees.iter()
    }
}

impl Documents for Sources {
    fn keys(&self) -> Vec<DocKey> {
        self.trees.keys().cloned().collect()
    }

    fn tree(&self, key: &DocKey) -> Option<Tree> {
        self.trees.get(key).cloned()
    }
}

/// Documents with changes laid over them, so that one step sees what the step before did.
pub struct Overlay<'d> {
    base: &'d dyn Documents,
    changed: BTreeMap<DocKey, Option<(Tree, Ids)>>,
}

impl<'d> Overlay<'d> {
    /// Returns the documents as they are.
    #[must_use]
    pub fn new(base: &'d dyn Documents) -> Self {
        Self { base, changed: BTreeMap::new() }
    }

    /// Puts a document over the base; nothing deletes it.
    pub fn put(&mut self, key: DocKey, document: Option<(Tree, Ids)>) {
        self.changed.insert(key, document);
    }
}

impl Overlay<'_> {
    /// Whether a document of the base is deleted, or one is there that the base has not.
    fn changes_keys(&self) -> bool {
        self.changed.iter().any(|(key, document)| document.is_some() != self.base.contains(key))
    }
}

impl Documents for Overlay<'_> {
    fn keys(&self) -> Vec<DocKey> {
        let mut keys: Vec<DocKey> = self.base.keys().into_iter().filter(|key| !self.changed.contains_key(key)).collect();
        keys.extend(self.changed.iter().filter(|(_, document)| document.is_some()).map(|(key, _)| key.clone()));
        keys.sort();
        keys
    }

    fn tree(&self, key: &DocKey) -> Option<Tree> {
        match self.changed.get(key) {
            Some(document) => document.as_ref().map(|(tree, _)| tree.clone()),
            None => self.base.tree(key),
        }
    }

    fn ids(&self, key: &DocKey, tree: &Tree) -> Ids {
        match self.changed.get(key) {
            Some(Some((known, ids))) if known == tree => ids.clone(),
            Some(_) => Ids::derive(tree),
            None => self.base.ids(key, tree),
        }
    }

    fn known_links(&self, key: &DocKey) -> Option<Vec<DocumentLink>> {
        // Links are what the base says as long as the same keys answer.
        if self.changed.contains_key(key) || self.changes_keys() { None } else { self.base.known_links(key) }
    }

    fn deleted(&self, key: &DocKey) -> Option<(Tree, Ids)> {
        self.base.deleted(key)
    }

    fn known(&self, key: &DocKey, revision: Option<&str>) -> Option<(Tree, Ids)> {
        self.base.known(key, revision)
    }

    fn rename_fixes(&self, changed: Changed<'_>, from: &DocKey, to: &DocKey) -> Option<Result<Fixes, Diag>> {
        let mut all: Vec<(&DocKey, Option<&Tree>)> =
            self.changed.iter().map(|(key, document)| (key, document.as_ref().map(|(tree, _)| tree))).collect();
        all.extend(changed);
        self.base.rename_fixes(&all, from, to)
    }

    fn may_link_to(&self, key: &DocKey) -> Vec<DocKey> {
        let mut keys = self.base.may_link_to(key);
        keys.retain(|key| !self.changed.contains_key(key));
        keys.extend(self.changed.iter().filter(|(_, document)| document.is_some()).map(|(key, _)| key.clone()));
        keys.sort();
        keys.dedup();
        keys
    }
}
