//! What the handles share: one workspace of one tenant, and the one way in which documents are written.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use deckle_doc::{Dialect, DocKey, Ids, Tree};

use crate::block_ids::{self, Carried};
use crate::changes::{Changes, Commit, Meta};
use crate::document;
use crate::error::StoreError;
use crate::ids::{Actor, BranchId, Clock, Timestamp, WorkspaceId};
use crate::lease;
use crate::object::{CommitObject, EntryMode, ObjectId, ObjectKind, RawObject, Signature};
use crate::objects::{Objects, Packed, Pending};
use crate::oplog::{self, Detail, NewOp, OpKind};
use crate::refs;
use crate::snapshot::Snapshot;
use crate::sql::{Scope, Tx, args};
use crate::trash::{self, Trashed};
use crate::tree_edit;

/// One workspace of one tenant.
#[derive(Clone, Debug)]
pub(crate) struct Core {
    pub(crate) objects: Objects,
    pub(crate) id: WorkspaceId,
    pub(crate) clock: Clock,
}

/// A line of history: main, or a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Main,
    Branch(BranchId),
}

impl Line {
    /// The name of its ref.
    pub(crate) fn ref_name(&self) -> String {
        match self {
            Self::Main => refs::MAIN.to_owned(),
            Self::Branch(id) => refs::of_branch(id),
        }
    }

    /// Its name in tables that keep both.
    pub(crate) fn column(&self) -> &str {
        match self {
            Self::Main => block_ids::MAIN,
            Self::Branch(id) => id.as_str(),
        }
    }

    /// Its branch.
    pub(crate) fn branch(&self) -> Option<&BranchId> {
        match self {
            Self::Main => None,
            Self::Branch(id) => Some(id),
        }
    }

    /// Its name for people.
    pub(crate) fn label(&self) -> &str {
        match self {
            Self::Main => "main",
            Self::Branch(id) => id.as_str(),
        }
    }
}

/// One file that a write changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileChange {
    pub(crate) path: String,
    pub(crate) before: Option<ObjectId>,
    pub(crate) after: Option<ObjectId>,
    pub(crate) executable: bool,
}

/// A write that was checked, with all its objects made and nothing stored.
#[must_use = "store() it"]
pub(crate) struct Prepared {
    pub(crate) before: ObjectId,
    pub(crate) after: ObjectId,
    pub(crate) files: Vec<FileChange>,
    pub(crate) texts: HashMap<ObjectId, Vec<u8>>,
    packed: Packed,
    carried: Vec<Carried>,
    trashed: Vec<Trashed>,
    restored: Vec<(DocKey, i64)>,
    pub(crate) detail: Detail,
}

impl Core {
    pub(crate) fn scope(&self) -> &Scope {
        self.objects.scope()
    }

    /// Parses a document as this workspace reads it.
    fn parse(&self, key: &DocKey, text: &Arc<str>) -> Result<Tree, StoreError> {
        parse(key, text, self.objects.dialect())
    }

    /// Learns how the documents are read.
    pub(crate) async fn load_dialect(&mut self) -> Result<(), StoreError> {
        let row = self
            .scope()
            .first(
                "SELECT value FROM settings WHERE tenant = $1 AND workspace = $2 AND name = 'dialect'",
                args![self.id.as_str()],
            )
            .await?;
        let named = row.map(|row| row.text(0).map(Dialect::named)).transpose()?.flatten();
        self.objects.set_dialect(named.unwrap_or_default());
        Ok(())
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Returns where a line is.
    pub(crate) async fn head(&self, line: &Line) -> Result<ObjectId, StoreError> {
        let head = refs::read(self.scope(), &self.id, &line.ref_name()).await?;
        match (head, line) {
            (Some(head), _) => Ok(head),
            (None, Line::Main) => Err(StoreError::not_found("workspace", &self.id)),
            (None, Line::Branch(id)) => Err(self.no_branch(id).await?),
        }
    }

    /// Says that a branch is not there, and which are.
    pub(crate) async fn no_branch(&self, id: &BranchId) -> Result<StoreError, StoreError> {
        let rows = self
            .scope()
            .fetch(
                "SELECT id FROM branches WHERE tenant = $1 AND workspace = $2 AND state IN ('open', 'in-review') ORDER BY changed_at DESC LIMIT 10",
                args![self.id.as_str()],
            )
            .await?;
        let there = rows.iter().map(|row| row.text(0).map(str::to_owned)).collect::<Result<_, _>>()?;
        Ok(StoreError::NotFound { what: "branch", name: id.to_string(), there })
    }

    /// Returns the state of a line at a commit.
    pub(crate) async fn at(&self, line: &Line, commit: ObjectId) -> Result<Snapshot, StoreError> {
        Snapshot::at(&self.objects, &self.id, line.column(), commit).await
    }

    /// Checks a write and makes its objects.
    pub(crate) async fn prepare(
        &self,
        base: &Snapshot,
        changes: &Changes,
        meta: &Meta,
        other_parents: &[ObjectId],
    ) -> Result<Prepared, StoreError> {
        let mut work = Work {
            core: self,
            base,
            changes,
            pending: Pending::default(),
            files: Vec::new(),
            texts: HashMap::new(),
            carried: Vec::new(),
        };
        let mut trashed = Vec::new();
        let mut restored = Vec::new();
        let mut paths: BTreeMap<String, Option<(EntryMode, ObjectId)>> = BTreeMap::new();
        // What goes makes room for what comes.
        for key in changes.texts().iter().filter(|(_, text)| text.is_none()).map(|(key, _)| key) {
            let (file, gone) = work.delete(key, meta).await?;
            // A document that moved is not deleted, so it is not in the trash.
            if !changes.renames().iter().any(|(from, _)| from == key) {
                trashed.push(gone);
            }
            paths.insert(file, None);
        }
        for (key, text) in changes.texts() {
            let Some(text) = text else { continue };
            if let Some((path, mode, blob)) = work.write(key, text).await? {
                paths.insert(path, Some((mode, blob)));
            }
            restored.extend(changes.restored(key).map(|op| (key.clone(), op)));
        }
        let Work { mut pending, files, texts, carried, .. } = work;
        let tree = tree_edit::edit(&self.objects, base.tree(), &paths, &mut pending).await?;
        let after = if tree == base.tree() && other_parents.is_empty() {
            base.commit()
        } else {
            let mut parents = vec![base.commit()];
            parents.extend(other_parents);
            pending.add(self.commit_object(tree, parents, meta).to_raw())
        };
        let packed = pending.pack(&self.objects).await?;
        let renames = changes.renames().iter().map(|(from, to)| (from.to_string(), to.to_string())).collect();
        let detail = Detail { renames, ..Detail::default() };
        Ok(Prepared { before: base.commit(), after, files, texts, packed, carried, trashed, restored, detail })
    }

    /// Makes a commit.
    pub(crate) fn commit_object(&self, tree: ObjectId, parents: Vec<ObjectId>, meta: &Meta) -> CommitObject {
        let seconds = self.now().seconds();
        let mut message = meta.intent.trim().to_owned();
        message.push('\n');
        if let Some(run) = &meta.run {
            message.push_str(&format!("\nDeckle-Run: {run}\n"));
        }
        CommitObject {
            tree,
            parents,
            author: signature(&meta.actor, seconds),
            committer: Signature::new("Deckle", "store@deckle.invalid", seconds),
            extra: String::new(),
            message,
        }
    }

    /// Stores a write inside a transaction: objects, entry, ids, trash, then the ref, which decides.
    pub(crate) async fn store(
        &self,
        tx: &mut Tx,
        line: &Line,
        prepared: Prepared,
        kind: OpKind,
        meta: &Meta,
    ) -> Result<Commit, StoreError> {
        let at = self.now();
        if let Some(lease) = &meta.lease {
            lease::check(tx, lease).await?;
        }
        prepared.packed.write(tx).await?;
        let op = NewOp {
            kind,
            branch: line.branch(),
            meta,
            before: Some(prepared.before),
            after: Some(prepared.after),
            detail: prepared.detail,
        };
        let op = oplog::append(tx, &self.id, at, op).await?;
        block_ids::save(tx, &self.id, line.column(), &prepared.carried).await?;
        trash::add(tx, &self.id, line, op, at, &meta.actor, &prepared.trashed).await?;
        trash::take(tx, &self.id, line, &prepared.restored).await?;
        if let Err(actual) = refs::move_to(tx, &self.id, &line.ref_name(), prepared.before, prepared.after).await? {
            return Err(match actual {
                Some(actual) => StoreError::Moved { name: line.label().to_owned(), expected: prepared.before, actual },
                None => StoreError::not_found("branch", line.label()),
            });
        }
        Ok(Commit { id: prepared.after, before: prepared.before, op, at, receipt: meta.receipt.clone(), repeated: false })
    }
}

/// Returns the commit's author: the person, or the agent for the person.
fn signature(actor: &Actor, seconds: i64) -> Signature {
    Signature::new(&actor.to_string(), &format!("{}@deckle.invalid", actor.person), seconds)
}

/// What is gathered while a write is checked.
struct Work<'a> {
    core: &'a Core,
    base: &'a Snapshot,
    changes: &'a Changes,
    pending: Pending,
    files: Vec<FileChange>,
    texts: HashMap<ObjectId, Vec<u8>>,
    carried: Vec<Carried>,
}

impl Work<'_> {
    /// Removes a document; returns its path and what the trash keeps.
    async fn delete(&mut self, key: &DocKey, meta: &Meta) -> Result<(String, Trashed), StoreError> {
        let document = self.base.document(key).await?.ok_or_else(|| StoreError::not_found("document", key))?;
        let entry = self.base.entry(key).await?.ok_or_else(|| StoreError::not_found("document", key))?;
        let tree = self.core.parse(key, &document.text)?;
        let ids = self.base.ids(key, &tree).await?;
        let executable = entry.mode == EntryMode::Executable;
        self.files.push(FileChange { path: entry.path.to_string(), before: Some(entry.id), after: None, executable });
        let trashed = Trashed {
            key: key.clone(),
            path: entry.path.to_string(),
            executable,
            blob: entry.id,
            names: block_ids::worth_storing(key, entry.id, &tree, &ids).map(|carried| carried.names),
            actor: meta.actor.clone(),
            at: self.core.now(),
            op: 0,
        };
        Ok((entry.path.to_string(), trashed))
    }

    /// Writes a document; returns its path, mode and blob, or nothing when it is the same as before.
    async fn write(&mut self, key: &DocKey, text: &Arc<str>) -> Result<Option<(String, EntryMode, ObjectId)>, StoreError> {
        let tree = self.core.parse(key, text)?;
        let blob = RawObject::new(ObjectKind::Blob, text.as_bytes().to_vec());
        let id = blob.id();
        let before = self.base.document(key).await?;
        if before.is_some() && self.changes.restored(key).is_some() {
            return Err(StoreError::Exists { what: "document", name: key.to_string() });
        }
        if before.as_ref().is_some_and(|document| document.blob == id) {
            return Ok(None);
        }
        // The version whose ids this one carries on: its own, or that of the document it was.
        let source = match (&before, self.changes.renames().iter().find(|(_, to)| to == key)) {
            (Some(_), _) => Some((key.clone(), before.clone())),
            (None, Some((from, _))) => Some((from.clone(), self.base.document(from).await?)),
            (None, None) => None,
        };
        let trashed = match self.changes.restored(key) {
            Some(op) => Some(trash::get(self.core, self.base.line(), key, op).await?),
            None => None,
        };
        if let Some(trashed) = &trashed {
            if let Some(names) = trashed.names.as_ref().filter(|_| trashed.blob == id) {
                self.carried.push(Carried { key: key.clone(), blob: id, names: names.clone() });
            }
        } else if let Some(ids) = self.changes.ids(key).and_then(|names| block_ids::restore(&tree, names)) {
            self.carried.extend(block_ids::worth_storing(key, id, &tree, &ids));
        } else if let Some((from, Some(old))) = &source {
            let old_tree = self.core.parse(from, &old.text)?;
            let old_ids = self.base.ids(from, &old_tree).await?;
            let ids = Ids::carry(&old_tree, &old_ids, &tree);
            self.carried.extend(block_ids::worth_storing(key, id, &tree, &ids));
        }
        let base_blob = source.as_ref().and_then(|(_, old)| old.as_ref()).map(|old| old.blob);
        let entry = self.base.entry(key).await?;
        let (path, mode) = match (&entry, &source, &trashed) {
            (Some(entry), ..) => (entry.path.to_string(), entry.mode),
            (None, _, Some(trashed)) => {
                (trashed.path.clone(), if trashed.executable { EntryMode::Executable } else { EntryMode::File })
            }
            (None, Some((from, Some(old))), None) => {
                // A renamed document keeps its ending.
                let ending = old.path.strip_prefix(from.as_str()).unwrap_or(".md");
                (format!("{key}{ending}"), EntryMode::File)
            }
            (None, ..) => (document::paths(key).next().unwrap_or_default(), EntryMode::File),
        };
        if before.is_none() && !self.is_free(&path).await? {
            return Err(StoreError::Exists { what: "file", name: path });
        }
        let executable = mode == EntryMode::Executable;
        self.files.push(FileChange {
            path: path.clone(),
            before: before.map(|document| document.blob),
            after: Some(id),
            executable,
        });
        self.texts.insert(id, text.as_bytes().to_vec());
        self.pending.add_on(blob, base_blob);
        Ok(Some((path, mode, id)))
    }

    /// Whether a new file can stand at a path, once the deletions of this very write are done.
    async fn is_free(&self, path: &str) -> Result<bool, StoreError> {
        let going = self.files.iter().any(|file| file.path == path && file.after.is_none());
        Ok(going || tree_edit::is_free(&self.core.objects, self.base.tree(), path).await?)
    }
}

/// Parses a document; the only refusals are limits.
pub(crate) fn parse(key: &DocKey, text: &Arc<str>, dialect: Dialect) -> Result<Tree, StoreError> {
    Tree::parse(text.clone(), dialect).map_err(|error| StoreError::NotADocument { key: key.to_string(), why: error.to_string() })
}
