//! A state of the workspace at one commit: read-only, and read only as far as it is asked.

use std::collections::BTreeMap;
use std::sync::Arc;

use deckle_corpus::{Corpus, Options};
use deckle_doc::{DocKey, Ids, Tree};
use tokio::sync::OnceCell;

use crate::block_ids;
use crate::document::{self, Manifest, OtherFile, is_markdown};
use crate::error::StoreError;
use crate::ids::WorkspaceId;
use crate::object::{EntryMode, ObjectId};
use crate::objects::Objects;
use crate::tree_edit::{self, FileEntry};

/// A read-only view of one commit. Cheap to clone.
#[derive(Clone)]
pub struct Snapshot {
    inner: Arc<Inner>,
}

struct Inner {
    objects: Objects,
    workspace: WorkspaceId,
    /// The line whose carried block ids are meant; empty for main.
    line: String,
    commit: ObjectId,
    tree: ObjectId,
    manifest: OnceCell<Arc<Manifest>>,
}

/// A document of a snapshot: its text and the file it stands in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Its key.
    pub key: DocKey,
    /// Its text, byte for byte.
    pub text: Arc<str>,
    /// The path of its file.
    pub path: Box<str>,
    /// Git's id of the text.
    pub blob: ObjectId,
}

impl Snapshot {
    pub(crate) async fn at(objects: &Objects, workspace: &WorkspaceId, line: &str, commit: ObjectId) -> Result<Self, StoreError> {
        let tree = objects.commit(commit).await?.tree;
        Ok(Self {
            inner: Arc::new(Inner {
                objects: objects.clone(),
                workspace: workspace.clone(),
                line: line.to_owned(),
                commit,
                tree,
                manifest: OnceCell::new(),
            }),
        })
    }

    pub(crate) fn objects(&self) -> &Objects {
        &self.inner.objects
    }

    pub(crate) fn line(&self) -> &str {
        &self.inner.line
    }

    /// Returns the commit.
    pub fn commit(&self) -> ObjectId {
        self.inner.commit
    }

    /// Returns how the documents are read.
    pub fn dialect(&self) -> deckle_doc::Dialect {
        self.inner.objects.dialect()
    }

    /// Returns the root folder's tree.
    pub fn tree(&self) -> ObjectId {
        self.inner.tree
    }

    pub(crate) async fn manifest(&self) -> Result<&Arc<Manifest>, StoreError> {
        let inner = &self.inner;
        inner
            .manifest
            .get_or_try_init(|| async {
                let files = tree_edit::list(&inner.objects, inner.tree).await?;
                let opaque = inner.objects.opaque().await?;
                Ok(Arc::new(Manifest::new(files, &opaque)))
            })
            .await
    }

    /// Returns the keys of all documents, in order.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn keys(&self) -> Result<Vec<DocKey>, StoreError> {
        Ok(self.manifest().await?.documents.keys().cloned().collect())
    }

    /// Returns the files that are no documents, each with the reason.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn others(&self) -> Result<Vec<OtherFile>, StoreError> {
        Ok(self.manifest().await?.others.clone())
    }

    /// Finds the file of a document without listing the rest.
    pub(crate) async fn entry(&self, key: &DocKey) -> Result<Option<FileEntry>, StoreError> {
        if let Some(manifest) = self.inner.manifest.get() {
            return Ok(manifest.documents.get(key).cloned());
        }
        for path in document::paths(key) {
            let Some(entry) = tree_edit::find(&self.inner.objects, self.inner.tree, &path).await? else { continue };
            if matches!(entry.mode, EntryMode::File | EntryMode::Executable) && is_markdown(&entry.path) {
                return Ok(Some(entry));
            }
        }
        Ok(None)
    }

    /// Returns a document; nothing when there is none with this key.
    ///
    /// # Errors
    /// When the store cannot be read, or the file is no text.
    pub async fn document(&self, key: &DocKey) -> Result<Option<Document>, StoreError> {
        let Some(entry) = self.entry(key).await? else { return Ok(None) };
        if self.inner.manifest.get().is_none() && self.inner.objects.is_opaque(entry.id).await? {
            return Ok(None);
        }
        let text = self.inner.objects.text(entry.id).await?;
        Ok(Some(Document { key: key.clone(), text, path: entry.path, blob: entry.id }))
    }

    /// Returns a document's text; nothing when there is none with this key.
    ///
    /// # Errors
    /// As [`Snapshot::document`].
    pub async fn text(&self, key: &DocKey) -> Result<Option<Arc<str>>, StoreError> {
        Ok(self.document(key).await?.map(|document| document.text))
    }

    /// Returns every document.
    ///
    /// # Errors
    /// As [`Snapshot::document`].
    pub async fn documents(&self) -> Result<Vec<Document>, StoreError> {
        let manifest = self.manifest().await?.clone();
        let mut documents = Vec::with_capacity(manifest.documents.len());
        let entries: Vec<(&DocKey, &FileEntry)> = manifest.documents.iter().collect();
        // In pieces, so that the bytes are not held twice for a whole corpus.
        for piece in entries.chunks(512) {
            let ids: Vec<ObjectId> = piece.iter().map(|(_, entry)| entry.id).collect();
            let mut read = self.inner.objects.read_many(&ids).await?;
            let mut texts: BTreeMap<ObjectId, Arc<str>> = BTreeMap::new();
            for (key, entry) in piece {
                let text = match texts.get(&entry.id) {
                    Some(text) => text.clone(),
                    None => {
                        let object = read.remove(&entry.id).ok_or_else(|| StoreError::Corrupt {
                            what: format!("blob {}", entry.id),
                            finding: format!("the text of `{key}` is not in the store"),
                        })?;
                        let text = String::from_utf8(object.into_data()).map_err(|_| StoreError::NotADocument {
                            key: key.to_string(),
                            why: "its bytes are not UTF-8".into(),
                        })?;
                        let text: Arc<str> = text.into();
                        texts.insert(entry.id, text.clone());
                        text
                    }
                };
                documents.push(Document { key: (*key).clone(), text, path: entry.path.clone(), blob: entry.id });
            }
        }
        Ok(documents)
    }

    /// Returns all documents as a corpus, each with its block ids.
    ///
    /// # Errors
    /// As [`Snapshot::document`].
    pub async fn to_corpus(&self, options: Options) -> Result<Corpus, StoreError> {
        let carried = block_ids::load_all(self.inner.objects.scope(), &self.inner.workspace, &self.inner.line).await?;
        let dialect = self.inner.objects.dialect();
        let mut corpus = Corpus::new(options);
        for document in self.documents().await? {
            let names = carried.get(&(document.key.clone(), document.blob));
            let ids = names.and_then(|names| {
                let tree = Tree::parse(document.text.clone(), dialect).ok()?;
                block_ids::restore(&tree, names)
            });
            match ids {
                Some(ids) => corpus.insert_with_ids(document.key, document.text, ids),
                None => corpus.insert(document.key, document.text),
            }
        }
        Ok(corpus)
    }

    /// Returns the block ids of a document: those that were carried here, else those that its text gives.
    ///
    /// # Errors
    /// When the store cannot be read, or the text breaks a limit.
    pub async fn ids(&self, key: &DocKey, tree: &Tree) -> Result<Ids, StoreError> {
        let blob = ObjectId::of(crate::object::ObjectKind::Blob, tree.source().as_bytes());
        let carried = block_ids::load(self.inner.objects.scope(), &self.inner.workspace, &self.inner.line, key, blob).await?;
        Ok(match carried {
            Some(names) => block_ids::restore(tree, &names).unwrap_or_else(|| Ids::derive(tree)),
            None => Ids::derive(tree),
        })
    }
}
