//! The set of documents.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use deckle_doc::{Dialect, DocKey, Ids, LimitError, Tree};

use crate::facts::Facts;
use crate::link::{Link, Resolver, Target};
use crate::names::Names;
use crate::search::Index;

/// How a corpus is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The dialect of its documents.
    pub dialect: Dialect,
    /// The folders that a leading `/` of a path may mean, tried in order. The root, unless told otherwise; a site whose pages lie
    /// in `docs` has `docs` here.
    pub roots: Vec<String>,
}

impl Default for Options {
    fn default() -> Options {
        Options { dialect: Dialect::Generic, roots: vec![String::new()] }
    }
}

/// One document: its text, and what was read of it so far.
#[derive(Debug)]
pub struct Document {
    text: Arc<str>,
    dialect: Dialect,
    facts: OnceLock<Facts>,
    tree: OnceLock<Result<Tree, LimitError>>,
    ids: OnceLock<Ids>,
}

impl Document {
    pub(crate) fn new(text: Arc<str>, dialect: Dialect) -> Document {
        Document { text, dialect, facts: OnceLock::new(), tree: OnceLock::new(), ids: OnceLock::new() }
    }

    /// Returns the text.
    #[must_use]
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// Returns the tree, which is kept from then on.
    ///
    /// # Errors
    /// When the text is past a limit.
    pub fn tree(&self) -> Result<&Tree, &LimitError> {
        self.tree.get_or_init(|| Tree::parse(self.text.clone(), self.dialect)).as_ref()
    }

    /// Returns the ids of the blocks: those that were handed in, else those that the text gives. Nothing past a limit.
    #[must_use]
    pub fn ids(&self) -> Option<&Ids> {
        let tree = self.tree().ok()?;
        Some(self.ids.get_or_init(|| Ids::derive(tree)))
    }

    /// Returns the facts. Reading them does not keep the tree: a corpus of many documents holds their facts alone. A document
    /// past a limit has none.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        self.facts.get_or_init(|| match self.tree.get() {
            Some(tree) => tree.as_ref().map(Facts::of).unwrap_or_default(),
            None => Tree::parse(self.text.clone(), self.dialect).map(|tree| Facts::of(&tree)).unwrap_or_default(),
        })
    }
}

/// A set of documents in memory. Cloning shares the documents and what was read of them.
///
/// ```
/// use deckle_corpus::Corpus;
/// use deckle_doc::DocKey;
/// let key = |text| DocKey::parse(text);
/// let mut corpus = Corpus::default();
/// corpus.insert(key("guides/start")?, "# Start\n\nSee [[install]].\n");
/// corpus.insert(key("guides/install")?, "# Install\n");
/// assert_eq!(corpus.incoming(&key("guides/install")?).len(), 1);
/// # Ok::<(), deckle_doc::KeyError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Corpus {
    options: Arc<Options>,
    documents: BTreeMap<DocKey, Arc<Document>>,
    names: OnceLock<Names>,
    edges: OnceLock<Edges>,
    index: OnceLock<Index>,
}

/// Where every link goes, and what comes in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Edges {
    /// The targets of a document's links, in the order of its links.
    pub(crate) out: BTreeMap<DocKey, Arc<[Target]>>,
    /// The documents that have an edge to this one.
    pub(crate) into: BTreeMap<DocKey, BTreeSet<DocKey>>,
}

/// A link with the document it stands in and what it means.
#[derive(Clone, Copy, Debug)]
pub struct Reference<'c> {
    /// The document that holds it.
    pub from: &'c DocKey,
    /// The link.
    pub link: &'c Link,
    /// What it means.
    pub target: &'c Target,
}

impl Corpus {
    /// Returns an empty corpus.
    #[must_use]
    pub fn new(options: Options) -> Corpus {
        Corpus { options: Arc::new(options), ..Corpus::default() }
    }

    /// Returns how it is read.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Returns how many documents there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.documents.len()
    }

    /// Whether there is no document.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// Returns the keys in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &DocKey> + ExactSizeIterator {
        self.documents.keys()
    }

    /// Returns the documents in the order of their keys.
    pub fn documents(&self) -> impl DoubleEndedIterator<Item = (&DocKey, &Arc<Document>)> + ExactSizeIterator {
        self.documents.iter()
    }

    /// Returns a document.
    #[must_use]
    pub fn get(&self, key: &DocKey) -> Option<&Arc<Document>> {
        self.documents.get(key)
    }

    /// Whether there is such a document.
    #[must_use]
    pub fn contains(&self, key: &DocKey) -> bool {
        self.documents.contains_key(key)
    }

    /// Adds a document, or replaces its text. What was indexed is brought up to date for what changed alone.
    pub fn insert(&mut self, key: DocKey, text: impl Into<Arc<str>>) {
        let text = text.into();
        if self.documents.get(&key).is_some_and(|document| document.text == text) {
            return;
        }
        let document = Document::new(text, self.options.dialect);
        self.put(key, Arc::new(document));
    }

    /// Adds a document with the ids that its blocks were given.
    pub fn insert_with_ids(&mut self, key: DocKey, text: impl Into<Arc<str>>, ids: Ids) {
        let document = Document::new(text.into(), self.options.dialect);
        // The cell is new: it takes the value.
        let _ = document.ids.set(ids);
        self.put(key, Arc::new(document));
    }

    /// Adds a document that is parsed already.
    pub fn insert_tree(&mut self, key: DocKey, tree: Tree) {
        if self.documents.get(&key).is_some_and(|document| document.text == *tree.shared()) {
            return;
        }
        let document = Document::new(tree.shared().clone(), tree.dialect());
        // The cell is new: it takes the value.
        let _ = document.tree.set(Ok(tree));
        self.put(key, Arc::new(document));
    }

    pub(crate) fn put(&mut self, key: DocKey, document: Arc<Document>) {
        let before = self.documents.insert(key.clone(), document.clone());
        let same_names = before.as_ref().is_some_and(|before| before.facts().names().eq(document.facts().names()));
        if let (Some(names), false) = (self.names.get_mut(), same_names) {
            if let Some(before) = &before {
                names.remove(&key, before.facts());
            }
            names.insert(&key, document.facts());
        }
        if let Some(index) = self.index.get_mut() {
            index.add(&key, &document);
            if index.is_stale() {
                self.index.take();
            }
        }
        if !same_names {
            // Names decide what other documents' links mean.
            self.edges.take();
        } else if let (Some(mut edges), Some(names)) = (self.edges.take(), self.names.get()) {
            let resolver = Resolver { names, roots: &self.options.roots };
            edges.unlink(&key);
            edges.link(&key, &document, resolver);
            self.edges = OnceLock::from(edges);
        }
    }

    /// Removes a document; returns it.
    pub fn remove(&mut self, key: &DocKey) -> Option<Arc<Document>> {
        let document = self.documents.remove(key)?;
        if let Some(names) = self.names.get_mut() {
            names.remove(key, document.facts());
        }
        if let Some(index) = self.index.get_mut() {
            index.remove(key);
        }
        self.edges.take();
        Some(document)
    }

    pub(crate) fn names(&self) -> &Names {
        self.names.get_or_init(|| {
            let mut names = Names::default();
            for (key, document) in &self.documents {
                names.insert(key, document.facts());
            }
            names
        })
    }

    pub(crate) fn index(&self) -> &Index {
        self.index.get_or_init(|| {
            let mut index = Index::default();
            for (key, document) in &self.documents {
                index.add(key, document);
            }
            index
        })
    }

    /// The same documents without what was indexed of all of them.
    pub(crate) fn fresh(&self) -> Corpus {
        Corpus { options: self.options.clone(), documents: self.documents.clone(), ..Corpus::default() }
    }

    pub(crate) fn resolver(&self) -> Resolver<'_> {
        Resolver { names: self.names(), roots: &self.options.roots }
    }

    pub(crate) fn edges(&self) -> &Edges {
        self.edges.get_or_init(|| {
            let resolver = self.resolver();
            let mut edges = Edges::default();
            for (key, document) in &self.documents {
                edges.link(key, document, resolver);
            }
            edges
        })
    }

    /// Returns the links of a document in order, each with what it means.
    #[must_use]
    pub fn outgoing(&self, key: &DocKey) -> Vec<Reference<'_>> {
        let Some((from, document)) = self.documents.get_key_value(key) else { return Vec::new() };
        let Some(targets) = self.edges().out.get(key) else { return Vec::new() };
        let links = document.facts().links.iter().zip(targets.iter());
        links.map(|(link, target)| Reference { from, link, target }).collect()
    }

    /// Returns the links to a document that other documents hold, in the order of their keys.
    #[must_use]
    pub fn incoming(&self, key: &DocKey) -> Vec<Reference<'_>> {
        let sources = self.edges().into.get(key).into_iter().flatten();
        sources
            .flat_map(|from| self.outgoing(from))
            .filter(|reference| reference.link.kind.is_edge() && reference.target.document() == Some(key))
            .collect()
    }

    /// Returns the documents with a link to this one.
    pub fn referenced_by(&self, key: &DocKey) -> impl Iterator<Item = &DocKey> {
        self.edges().into.get(key).into_iter().flatten()
    }

    /// Returns the documents that this one has a link to, each once, in order.
    #[must_use]
    pub fn references(&self, key: &DocKey) -> BTreeSet<&DocKey> {
        let outgoing = self.outgoing(key).into_iter().filter(|reference| reference.link.kind.is_edge());
        outgoing.filter_map(|reference| reference.target.document()).filter(|target| *target != key).collect()
    }

    /// Returns what a name means when it is written as a wikilink in `from`.
    #[must_use]
    pub fn resolve_name(&self, from: &DocKey, name: &str) -> Target {
        self.resolver().meaning(from, crate::LinkKind::Wikilink, name, false)
    }

    /// Returns what a path means when it is written as the destination of a Markdown link in `from`.
    #[must_use]
    pub fn resolve_path(&self, from: &DocKey, path: &str) -> Target {
        self.resolver().meaning(from, crate::LinkKind::Inline, path, false)
    }
}

impl Edges {
    fn link(&mut self, key: &DocKey, document: &Document, resolver: Resolver<'_>) {
        let links = &document.facts().links;
        let targets: Arc<[Target]> = links.iter().map(|link| resolver.resolve(key, link, &document.text)).collect();
        for (link, target) in links.iter().zip(targets.iter()) {
            if let (true, Some(target)) = (link.kind.is_edge(), target.document().filter(|target| *target != key)) {
                match self.into.get_mut(target) {
                    Some(sources) => {
                        sources.insert(key.clone());
                    }
                    None => {
                        self.into.insert(target.clone(), BTreeSet::from([key.clone()]));
                    }
                }
            }
        }
        self.out.insert(key.clone(), targets);
    }

    fn unlink(&mut self, key: &DocKey) {
        let targets = self.out.remove(key);
        for target in targets.iter().flat_map(|targets| targets.iter()).filter_map(Target::document) {
            if let Some(sources) = self.into.get_mut(target) {
                sources.remove(key);
            }
        }
    }
}
