//! Documents of a snapshot, loaded for a synchronous reader: all of them, or those that an operation names.

use std::collections::{BTreeMap, BTreeSet};

use deckle_corpus::{Corpus, Options};
use deckle_doc::{Diag, Dialect, DocKey, Ids, Tree};
use deckle_edit::Documents;
use deckle_edit::documents::{Changed, Fixes};
use deckle_edit::links::DocumentLink;
use deckle_store::{Snapshot, StoreError};

use crate::tools::ToolContext;

/// Documents in memory, with the ids that they carry.
#[derive(Debug, Default)]
pub struct View {
    keys: BTreeSet<DocKey>,
    loaded: BTreeMap<DocKey, (Tree, Ids)>,
    dialect: Dialect,
    /// Documents as the caller last read them.
    known: BTreeMap<DocKey, (Tree, Ids)>,
    /// The index over all documents, when all are loaded: links are looked up, and a rename is planned and proven by it.
    index: Option<Corpus>,
}

impl View {
    /// Loads every document.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn all(snapshot: &Snapshot, dialect: Dialect) -> Result<Self, StoreError> {
        let mut view = Self { dialect, ..Self::default() };
        for document in snapshot.documents().await? {
            view.add(snapshot, document.key, &document.text).await?;
        }
        let mut index = Corpus::new(Options { dialect, ..Options::default() });
        for (key, (tree, _)) in &view.loaded {
            index.insert_tree(key.clone(), tree.clone());
        }
        view.index = Some(index);
        Ok(view)
    }

    /// Loads the named documents; the keys of all others are known.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn some(snapshot: &Snapshot, keys: &[DocKey], dialect: Dialect) -> Result<Self, StoreError> {
        let mut view = Self { keys: snapshot.keys().await?.into_iter().collect(), dialect, ..Self::default() };
        for key in keys {
            if let Some(text) = snapshot.text(key).await? {
                view.add(snapshot, key.clone(), &text).await?;
            }
        }
        Ok(view)
    }

    /// Adds what the run has read, so that what changed since is stale.
    pub(crate) async fn remember(&mut self, context: &ToolContext) -> Result<(), StoreError> {
        for (key, at) in context.seen.all() {
            self.knows(&key, &at).await?;
        }
        Ok(())
    }

    /// Adds a document as the caller read it, at the snapshot of that moment.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn knows(&mut self, key: &DocKey, at: &Snapshot) -> Result<(), StoreError> {
        if !self.loaded.contains_key(key) {
            return Ok(());
        }
        if let Some(text) = at.text(key).await?
            && let Ok(tree) = Tree::parse(text, self.dialect)
        {
            let ids = at.ids(key, &tree).await?;
            self.known.insert(key.clone(), (tree, ids));
        }
        Ok(())
    }

    async fn add(&mut self, snapshot: &Snapshot, key: DocKey, text: &std::sync::Arc<str>) -> Result<(), StoreError> {
        // A document past a limit is kept and listed; no edit touches it.
        if let Ok(tree) = Tree::parse(std::sync::Arc::clone(text), self.dialect) {
            let ids = snapshot.ids(&key, &tree).await?;
            self.loaded.insert(key.clone(), (tree, ids));
        }
        self.keys.insert(key);
        Ok(())
    }

    /// Returns the loaded documents.
    pub fn iter(&self) -> impl Iterator<Item = (&DocKey, &Tree)> {
        self.loaded.iter().map(|(key, (tree, _))| (key, tree))
    }
}

impl Documents for View {
    fn keys(&self) -> Vec<DocKey> {
        self.keys.iter().cloned().collect()
    }

    fn tree(&self, key: &DocKey) -> Option<Tree> {
        self.loaded.get(key).map(|(tree, _)| tree.clone())
    }

    fn ids(&self, key: &DocKey, tree: &Tree) -> Ids {
        match self.loaded.get(key) {
            Some((known, ids)) if known == tree => ids.clone(),
            _ => Ids::derive(tree),
        }
    }

    fn known(&self, key: &DocKey, revision: Option<&str>) -> Option<(Tree, Ids)> {
        // A run knows documents by its reads; it is told no revisions.
        if revision.is_some() { None } else { self.known.get(key).cloned() }
    }

    fn may_link_to(&self, key: &DocKey) -> Vec<DocKey> {
        self.index.as_ref().map_or_else(|| self.keys(), |index| index.may_link_to(key))
    }

    fn known_links(&self, key: &DocKey) -> Option<Vec<DocumentLink>> {
        self.index.as_ref()?.known_links(key)
    }

    fn rename_fixes(&self, changed: Changed<'_>, from: &DocKey, to: &DocKey) -> Option<Result<Fixes, Diag>> {
        self.index.as_ref()?.rename_fixes(changed, from, to)
    }

    fn contains(&self, key: &DocKey) -> bool {
        self.keys.contains(key)
    }
}
