//! Main as a folder: what any editor did becomes history, and what is merged becomes files.
//!
//! A write to main is first made true in the database (objects, entry, ref, and a note of the files that are to follow),
//! then the files are written one by one, then the note is removed. A process that dies in between is finished by the
//! next one that opens the store. A file that somebody else changed in the meantime is never overwritten: before
//! anything began that is a refusal, and in the last moment the whole write is taken back.

use std::collections::BTreeMap;

use deckle_doc::DocKey;
use serde_json::{Value, json};

use crate::changes::{Commit, Meta};
use crate::core::{Core, FileChange, Line, Prepared};
use crate::document;
use crate::error::StoreError;
use crate::folder::{FileWrite, Folder};
use crate::ids::Actor;
use crate::object::{EntryMode, ObjectId, ObjectKind, RawObject};
use crate::objects::Pending;
use crate::oplog::{self, Detail, NewOp, OpKind};
use crate::refs;
use crate::sql::{Tx, args};
use crate::tree_edit;
use crate::workspace::Workspace;

/// How many bytes of new documents are held at once while a folder is read.
const BATCH: u64 = 16 * 1024 * 1024;
/// How many paths an entry of the log names; the commit knows them all.
const MAX_NAMED: usize = 50;
/// How often a snapshot is tried anew when another process moves main at the same time.
const ATTEMPTS: usize = 20;

/// Runs work that touches the disk where it stalls nobody.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => std::panic::resume_unwind(error.try_into_panic().unwrap_or_else(|error| Box::new(error.to_string()))),
    }
}

fn outside(paths: &[String]) -> Meta {
    let intent = match paths {
        [one] => format!("edited outside: {one}"),
        _ => format!("edited outside: {} files", paths.len()),
    };
    let named: Vec<&String> = paths.iter().take(MAX_NAMED).collect();
    Meta::new(Actor::local(), &intent).receipt(json!({ "paths": named, "count": paths.len() }))
}

/// Looks at the whole folder, and commits to main what changed in it.
pub(crate) async fn take_snapshot(core: &Core, folder: &Folder) -> Result<ObjectId, StoreError> {
    for _ in 0..ATTEMPTS {
        recover(core, folder).await?;
        let lock = share(folder).await?;
        let head = core.head(&Line::Main).await?;
        let old_tree = core.objects.commit(head).await?.tree;
        let look = folder.clone();
        let mut scan = blocking(move || look.scan()).await?;
        // Earlier versions, so that a new one is stored as what it changed.
        let mut earlier: Option<BTreeMap<Box<str>, ObjectId>> = None;
        loop {
            let (scanned, fresh) = blocking(move || {
                let mut scan = scan;
                let fresh = scan.read_some(BATCH)?;
                Ok((scan, fresh))
            })
            .await?;
            scan = scanned;
            if fresh.is_empty() {
                break;
            }
            if earlier.is_none() {
                let files = tree_edit::list(&core.objects, old_tree).await?;
                earlier = Some(files.into_iter().map(|file| (file.path, file.id)).collect());
            }
            let mut pending = Pending::default();
            for file in fresh {
                match file.text {
                    Some(text) => {
                        let base = earlier.as_ref().and_then(|earlier| earlier.get(&file.path)).copied();
                        if base != Some(file.id) {
                            pending.add_on(RawObject::new(ObjectKind::Blob, text), base);
                        }
                    }
                    None => pending.add_opaque(file.id, file.size),
                }
            }
            // Objects before the ref: content that no ref names yet does no harm.
            let packed = pending.pack(&core.objects).await?;
            let mut tx = core.scope().begin().await?;
            packed.write(&mut tx).await?;
            tx.commit().await?;
        }
        folder.remember(&scan);
        let (files, links) = scan.into_files();
        let mut pending = Pending::default();
        let tree = tree_edit::build(&files, &mut pending);
        if tree == old_tree {
            return Ok(head);
        }
        for link in links {
            pending.add(link);
        }
        let done = commit_outside(core, head, old_tree, tree, pending).await?;
        drop(lock);
        if let Some(commit) = done {
            return Ok(commit);
        }
    }
    Err(StoreError::Locked)
}

/// Looks at the files of these documents only.
pub(crate) async fn take_snapshot_of(core: &Core, folder: &Folder, keys: &[DocKey]) -> Result<ObjectId, StoreError> {
    for _ in 0..ATTEMPTS {
        recover(core, folder).await?;
        let lock = share(folder).await?;
        let head = core.head(&Line::Main).await?;
        let old_tree = core.objects.commit(head).await?.tree;
        let mut pending = Pending::default();
        let mut changes: BTreeMap<String, Option<(EntryMode, ObjectId)>> = BTreeMap::new();
        for path in keys.iter().flat_map(document::paths) {
            let before = tree_edit::find(&core.objects, old_tree, &path).await?;
            let (look, at) = (folder.clone(), path.clone());
            let Some(bytes) = blocking(move || look.read(&at)).await? else {
                if before.is_some_and(|before| matches!(before.mode, EntryMode::File | EntryMode::Executable)) {
                    changes.insert(path, None);
                }
                continue;
            };
            let id = ObjectId::of(ObjectKind::Blob, &bytes);
            if before.as_ref().is_some_and(|before| before.id == id) {
                continue;
            }
            let mode = before.as_ref().map_or(EntryMode::File, |before| before.mode);
            changes.insert(path, Some((mode, id)));
            if bytes.len() <= document::MAX_DOCUMENT_BYTES && std::str::from_utf8(&bytes).is_ok() {
                pending.add_on(RawObject::new(ObjectKind::Blob, bytes), before.map(|before| before.id));
            } else {
                pending.add_opaque(id, bytes.len() as u64);
            }
        }
        if changes.is_empty() {
            return Ok(head);
        }
        let tree = tree_edit::edit(&core.objects, old_tree, &changes, &mut pending).await?;
        let done = commit_outside(core, head, old_tree, tree, pending).await?;
        drop(lock);
        if let Some(commit) = done {
            return Ok(commit);
        }
    }
    Err(StoreError::Locked)
}

/// Several may look at the folder at once; nobody looks while files are being written.
async fn share(folder: &Folder) -> Result<std::fs::File, StoreError> {
    let look = folder.clone();
    blocking(move || look.lock_shared()).await
}

/// Commits a tree that was found in the folder; nothing when main moved meanwhile.
async fn commit_outside(
    core: &Core,
    head: ObjectId,
    old_tree: ObjectId,
    tree: ObjectId,
    mut pending: Pending,
) -> Result<Option<ObjectId>, StoreError> {
    // The trees are not stored yet, so the paths are read from the new ones as they wait.
    let meta = outside(&pending_diff(core, old_tree, tree, &pending).await?);
    let commit = pending.add(core.commit_object(tree, vec![head], &meta).to_raw());
    let packed = pending.pack(&core.objects).await?;
    let mut tx = core.scope().begin().await?;
    packed.write(&mut tx).await?;
    let op = NewOp {
        kind: OpKind::Outside,
        branch: None,
        meta: &meta,
        before: Some(head),
        after: Some(commit),
        detail: Detail::default(),
    };
    oplog::append(&mut tx, &core.id, core.now(), op).await?;
    if refs::move_to(&mut tx, &core.id, refs::MAIN, head, commit).await?.is_err() {
        return Ok(None);
    }
    tx.commit().await?;
    Ok(Some(commit))
}

async fn pending_diff(core: &Core, old_tree: ObjectId, tree: ObjectId, pending: &Pending) -> Result<Vec<String>, StoreError> {
    let changes = tree_edit::diff_with(&core.objects, pending, old_tree, tree).await?;
    Ok(changes.into_iter().map(|change| change.path).collect())
}

/// Notes the files that are to follow a commit.
async fn note(tx: &mut Tx, core: &Core, commit: &Commit, files: &[FileChange]) -> Result<(), StoreError> {
    let files: Vec<Value> = files
        .iter()
        .map(|file| {
            json!({
                "path": file.path,
                "before": file.before.map(|id| id.to_string()),
                "after": file.after.map(|id| id.to_string()),
                "executable": file.executable,
            })
        })
        .collect();
    let plan = json!({ "from": commit.before.to_string(), "to": commit.id.to_string(), "files": files });
    tx.exec(
        "INSERT INTO writeouts (tenant, workspace, plan, at) VALUES ($1, $2, $3, $4)",
        args![core.id.as_str(), &plan, core.now()],
    )
    .await?;
    Ok(())
}

async fn forget(tx: &mut Tx, core: &Core) -> Result<(), StoreError> {
    tx.exec("DELETE FROM writeouts WHERE tenant = $1 AND workspace = $2", args![core.id.as_str()]).await?;
    Ok(())
}

/// Reads the note, if one was left.
async fn noted(core: &Core) -> Result<Option<Vec<FileChange>>, StoreError> {
    let row =
        core.scope().first("SELECT plan FROM writeouts WHERE tenant = $1 AND workspace = $2", args![core.id.as_str()]).await?;
    let Some(row) = row else { return Ok(None) };
    let plan = row.json(0)?;
    let id = |value: &Value| value.as_str().map(str::parse::<ObjectId>).transpose();
    let mut files = Vec::new();
    for file in plan["files"].as_array().into_iter().flatten() {
        files.push(FileChange {
            path: file["path"].as_str().unwrap_or_default().to_owned(),
            before: id(&file["before"])?,
            after: id(&file["after"])?,
            executable: file["executable"].as_bool().unwrap_or_default(),
        });
    }
    Ok(Some(files))
}

/// Finishes a write that a dead process began: each file that is still as it was becomes as it should be, and one that
/// somebody changed since stays as it is and will be seen as edited outside.
pub(crate) async fn recover(core: &Core, folder: &Folder) -> Result<(), StoreError> {
    if noted(core).await?.is_none() {
        return Ok(());
    }
    // A live writer holds the lock and removes its own note; once we have the lock, a note is a dead one's.
    let look = folder.clone();
    let _lock = blocking(move || look.lock()).await?;
    let Some(files) = noted(core).await? else { return Ok(()) };
    tracing::info!(files = files.len(), "finishing a write to the folder that was cut off");
    for file in files {
        let after = match file.after {
            Some(id) => Some(core.objects.blob(id).await?),
            None => None,
        };
        let write = FileWrite { path: file.path, before: file.before, after, executable: file.executable };
        let look = folder.clone();
        if let Err(refusal) = blocking(move || {
            look.sweep(&write.path);
            look.write(&write)
        })
        .await?
        {
            tracing::warn!(?refusal, "a file changed while it was being written and stays as it is");
        }
    }
    let mut tx = core.scope().begin().await?;
    forget(&mut tx, core).await?;
    tx.commit().await
}

impl Workspace {
    /// Makes a prepared write to main true: in the store, and in the folder when main is one. `also` runs in the same
    /// transaction.
    pub(crate) async fn publish(
        &self,
        prepared: Prepared,
        kind: OpKind,
        meta: &Meta,
        also: Also<'_>,
    ) -> Result<Commit, StoreError> {
        let core = self.core();
        let Some(folder) = self.main_folder() else {
            let mut tx = core.scope().begin().await?;
            let done = core.store(&mut tx, &Line::Main, prepared, kind, meta).await?;
            also.run(&mut tx, core).await?;
            tx.commit().await?;
            return Ok(done);
        };
        self.check_git()?;
        recover(core, folder).await?;
        let look = folder.clone();
        let _lock = blocking(move || look.lock()).await?;
        let files = prepared.files.clone();
        let writes: Vec<FileWrite> = files
            .iter()
            .map(|file| FileWrite {
                path: file.path.clone(),
                before: file.before,
                after: file.after.and_then(|id| prepared.texts.get(&id).cloned()),
                executable: file.executable,
            })
            .collect();
        let (look, planned) = (folder.clone(), writes.clone());
        let changed = blocking(move || look.changed(&planned)).await?;
        if !changed.is_empty() {
            return Err(StoreError::ChangedUnderneath { files: changed });
        }
        let mut tx = core.scope().begin().await?;
        let done = core.store(&mut tx, &Line::Main, prepared, kind, meta).await?;
        also.run(&mut tx, core).await?;
        note(&mut tx, core, &done, &files).await?;
        tx.commit().await?;
        let (look, planned) = (folder.clone(), writes.clone());
        // Not awaited under a timeout and not cancelled: a thread that began to write files finishes.
        let outcome = blocking(move || Ok(look.write_all(&planned))).await?;
        match outcome {
            Ok(()) => {
                let mut tx = core.scope().begin().await?;
                forget(&mut tx, core).await?;
                tx.commit().await?;
                Ok(done)
            }
            Err((written, error)) => {
                self.take_back(folder, &done, &writes, written, meta).await?;
                Err(error)
            }
        }
    }

    /// Takes a write back that could not be finished: the files that were written become what they were, main goes back
    /// by one more entry of the log.
    async fn take_back(
        &self,
        folder: &Folder,
        done: &Commit,
        writes: &[FileWrite],
        written: usize,
        meta: &Meta,
    ) -> Result<(), StoreError> {
        let core = self.core();
        for write in writes.iter().take(written) {
            let before = match write.before {
                Some(id) => Some(core.objects.blob(id).await?),
                None => None,
            };
            let now = write.after.as_ref().map(|bytes| ObjectId::of(ObjectKind::Blob, bytes));
            let back = FileWrite { path: write.path.clone(), before: now, after: before, executable: write.executable };
            let look = folder.clone();
            if blocking(move || look.write(&back)).await?.is_err() {
                tracing::warn!(path = write.path, "a file changed while it was being taken back and stays as it is");
            }
        }
        let mut back = Meta::new(meta.actor.clone(), &format!("not written, a file was in the way: {}", meta.intent));
        back.receipt = json!({ "undoes": done.op });
        let mut tx = core.scope().begin().await?;
        let op = NewOp {
            kind: OpKind::Undo,
            branch: None,
            meta: &back,
            before: Some(done.id),
            after: Some(done.before),
            detail: Detail::default(),
        };
        oplog::append(&mut tx, &core.id, core.now(), op).await?;
        // The call did not happen, so it may be made again.
        tx.exec("UPDATE ops SET call = NULL WHERE tenant = $1 AND workspace = $2 AND seq = $3", args![core.id.as_str(), done.op])
            .await?;
        if refs::move_to(&mut tx, &core.id, refs::MAIN, done.id, done.before).await?.is_err() {
            return Err(StoreError::Locked);
        }
        forget(&mut tx, core).await?;
        tx.commit().await
    }
}

/// More statements for the transaction of a write to main.
#[derive(Default)]
pub(crate) struct Also<'a>(pub(crate) Vec<(&'a str, Vec<crate::sql::Value>)>);

impl Also<'_> {
    async fn run(self, tx: &mut Tx, _core: &Core) -> Result<(), StoreError> {
        for (sql, values) in self.0 {
            tx.exec(sql, values).await?;
        }
        Ok(())
    }
}
