//! A workspace as a person's programs hold it: main, the branches, the log. Agents hold a [`Branch`] instead.

use std::path::Path;

use deckle_doc::{Dialect, DocKey};

use crate::branch::{Branch, BranchInfo, BranchState};
use crate::changes::{Changes, Commit, Meta};
use crate::core::{Core, Line};
use crate::error::StoreError;
use crate::folder::{Folder, STORE_FOLDER};
use crate::ids::{Actor, BranchId, CallId, Clock, RunId, Tenant};
use crate::main_folder::{self, Also};
use crate::oplog::{self, Detail, LogFilter, NewOp, Op, OpKind};
use crate::protect::{self, Protected, Protection};
use crate::refs;
use crate::snapshot::Snapshot;
use crate::sql::args;
use crate::store::Store;
use crate::trash::{self, Trashed};

/// One corpus: main, and the branches that stand on it. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Workspace {
    store: Store,
    core: Core,
    folder: Option<Folder>,
}

/// How a folder becomes a workspace.
#[derive(Clone, Debug)]
pub struct InitOptions {
    /// Take a folder that holds no Markdown yet.
    pub allow_empty: bool,
    /// Where the time is read.
    pub clock: Clock,
}

impl Workspace {
    pub(crate) fn new(store: Store, core: Core, folder: Option<Folder>) -> Self {
        Self { store, core, folder }
    }

    /// Makes a folder a workspace: `.deckle/` appears in it, and nothing else changes. A folder that is one already is
    /// opened.
    ///
    /// # Errors
    /// When the folder is not there, cannot be written or holds no Markdown; then nothing was made.
    pub async fn init(dir: &Path, options: InitOptions) -> Result<Self, StoreError> {
        let folder = Folder::locate(dir)?;
        if !folder.database().exists() {
            let look = folder.clone();
            let scan = main_folder::blocking(move || look.scan()).await?;
            if !options.allow_empty && !scan.has_markdown() {
                return Err(StoreError::NoMarkdown(dir.to_path_buf()));
            }
            folder.create_store()?;
        }
        let store = Store::open_file(&folder.database(), options.clock).await?;
        let workspace = store.folder(folder).await?;
        workspace.snapshot().await?;
        Ok(workspace)
    }

    /// Opens the workspace of a folder.
    ///
    /// # Errors
    /// When the folder is not there, or is no workspace.
    pub async fn open(dir: &Path) -> Result<Self, StoreError> {
        Self::open_with(dir, Clock::system()).await
    }

    /// The same with a clock of the caller's.
    ///
    /// # Errors
    /// As [`Workspace::open`].
    pub async fn open_with(dir: &Path, clock: Clock) -> Result<Self, StoreError> {
        let folder = Folder::locate(dir)?;
        if !folder.database().exists() {
            return Err(StoreError::NotAWorkspace(dir.to_path_buf()));
        }
        let store = Store::open_file(&folder.database(), clock).await?;
        let workspace = store.folder(folder).await?;
        workspace.recover().await?;
        Ok(workspace)
    }

    /// Whether a folder is a workspace.
    pub fn is_workspace(dir: &Path) -> bool {
        dir.join(STORE_FOLDER).join(crate::folder::DATABASE).exists()
    }

    /// Returns the database it lives in.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Returns whose it is.
    pub fn tenant(&self) -> &Tenant {
        self.core.scope().tenant()
    }

    pub(crate) fn core(&self) -> &Core {
        &self.core
    }

    pub(crate) fn main_folder(&self) -> Option<&Folder> {
        self.folder.as_ref()
    }

    /// Returns the folder that is main, when main is one.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_ref().map(Folder::root)
    }

    /// Returns how the documents are read.
    pub fn dialect(&self) -> Dialect {
        self.core.objects.dialect()
    }

    /// Says how the documents are read from now on: it decides what a block is, and so which ids there are.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn set_dialect(&mut self, dialect: Dialect) -> Result<(), StoreError> {
        let mut tx = self.core.scope().begin().await?;
        tx.exec(
            "INSERT INTO settings (tenant, workspace, name, value) VALUES ($1, $2, 'dialect', $3) \
             ON CONFLICT (tenant, workspace, name) DO UPDATE SET value = excluded.value",
            args![self.core.id.as_str(), dialect.name()],
        )
        .await?;
        tx.commit().await?;
        self.core.objects.set_dialect(dialect);
        Ok(())
    }

    /// Finishes a write to the folder that a process began and did not end.
    pub(crate) async fn recover(&self) -> Result<(), StoreError> {
        match &self.folder {
            Some(folder) => main_folder::recover(&self.core, folder).await,
            None => Ok(()),
        }
    }

    /// Returns main as it is now. A folder is looked at first, and what changed in it since the last look becomes part of
    /// main's history, so the answer is what any editor would show.
    ///
    /// # Errors
    /// When the folder or the store cannot be read.
    pub async fn snapshot(&self) -> Result<Snapshot, StoreError> {
        if let Some(folder) = &self.folder {
            main_folder::take_snapshot(&self.core, folder).await?;
        }
        self.core.at(&Line::Main, self.core.head(&Line::Main).await?).await
    }

    /// Returns main as it is now as far as these documents go: only their files are looked at. For a large folder this
    /// is the difference between one file and all of them.
    ///
    /// # Errors
    /// As [`Workspace::snapshot`].
    pub async fn snapshot_of(&self, keys: &[DocKey]) -> Result<Snapshot, StoreError> {
        if let Some(folder) = &self.folder {
            main_folder::take_snapshot_of(&self.core, folder, keys).await?;
        }
        self.core.at(&Line::Main, self.core.head(&Line::Main).await?).await
    }

    /// Writes documents on main directly. This is a person's way; agents have a [`Branch`].
    ///
    /// # Errors
    /// When main moved since `base`, a file changed underneath, or a document is protected; then nothing was written.
    pub async fn write(&self, base: &Snapshot, changes: &Changes, meta: &Meta) -> Result<Commit, StoreError> {
        if let Some(done) = self.repeated(meta).await? {
            return Ok(done);
        }
        protect::check(&self.core, changes).await?;
        let prepared = self.core.prepare(base, changes, meta, &[]).await?;
        self.publish(prepared, OpKind::Direct, meta, Also::default()).await
    }

    pub(crate) async fn repeated(&self, meta: &Meta) -> Result<Option<Commit>, StoreError> {
        let (Some(run), Some(call)) = (&meta.run, &meta.call) else { return Ok(None) };
        Ok(self.op_of_call(run, call).await?.and_then(|op| op.as_commit(true)))
    }

    /// Creates a branch that stands on main as it is now.
    ///
    /// # Errors
    /// When there is a branch with this name.
    pub async fn create_branch(&self, id: &BranchId, actor: &Actor, intent: &str) -> Result<Branch, StoreError> {
        let base = self.snapshot().await?;
        self.create_branch_at(id, &base, actor, intent).await
    }

    /// Creates a branch that stands on a state of main that was read before.
    ///
    /// # Errors
    /// When there is a branch with this name.
    pub async fn create_branch_at(
        &self,
        id: &BranchId,
        base: &Snapshot,
        actor: &Actor,
        intent: &str,
    ) -> Result<Branch, StoreError> {
        let (core, at, base) = (&self.core, self.core.now(), base.commit());
        let meta = Meta::new(actor.clone(), intent);
        let mut tx = core.scope().begin().await?;
        let op = NewOp {
            kind: OpKind::Create,
            branch: Some(id),
            meta: &meta,
            before: None,
            after: Some(base),
            detail: Detail::default(),
        };
        oplog::append(&mut tx, &core.id, at, op).await?;
        let made = tx
            .exec(
                "INSERT INTO branches (tenant, workspace, id, state, base, person, agent, intent, created_at, changed_at) \
                 VALUES ($1, $2, $3, 'open', $4, $5, $6, $7, $8, $8) ON CONFLICT (tenant, workspace, id) DO NOTHING",
                args![core.id.as_str(), id.as_str(), base, actor.person.as_str(), actor.agent.as_deref(), intent, at],
            )
            .await?;
        if made == 0 || !refs::create(&mut tx, &core.id, &refs::of_branch(id), base).await? {
            return Err(StoreError::Exists { what: "branch", name: id.to_string() });
        }
        tx.commit().await?;
        Ok(Branch::new(core.clone(), id.clone()))
    }

    /// Opens a branch.
    ///
    /// # Errors
    /// When there is none with this name.
    pub async fn branch(&self, id: &BranchId) -> Result<Branch, StoreError> {
        Branch::open(&self.core, id).await
    }

    /// Lists the branches, the one that changed last first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn branches(&self) -> Result<Vec<BranchInfo>, StoreError> {
        BranchInfo::list(&self.core).await
    }

    /// Gives a branch up: it can no longer be written or merged; its history stays.
    ///
    /// # Errors
    /// When there is none with this name, or it was merged.
    pub async fn discard(&self, id: &BranchId, actor: &Actor) -> Result<(), StoreError> {
        let core = &self.core;
        let branch = self.branch(id).await?;
        let head = core.head(&Line::Branch(id.clone())).await?;
        let meta = Meta::new(actor.clone(), "discard the branch");
        let mut tx = core.scope().begin().await?;
        let op = NewOp {
            kind: OpKind::Discard,
            branch: Some(id),
            meta: &meta,
            before: Some(head),
            after: Some(head),
            detail: Detail::default(),
        };
        oplog::append(&mut tx, &core.id, core.now(), op).await?;
        if !crate::branch::set_state(&mut tx, core, id, BranchState::Discarded).await? {
            return Err(StoreError::State { branch: id.to_string(), state: branch.info().await?.state.as_str() });
        }
        tx.commit().await
    }

    /// Returns entries of the op log, the newest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn log(&self, filter: &LogFilter) -> Result<Vec<Op>, StoreError> {
        oplog::list(self.core.scope(), &self.core.id, filter).await
    }

    /// Returns the entry of one tool call, when the call wrote.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn op_of_call(&self, run: &RunId, call: &CallId) -> Result<Option<Op>, StoreError> {
        oplog::by_call(self.core.scope(), &self.core.id, run, call).await
    }

    /// Protects a document (`a/b`) or a folder (`a/`), or takes the protection away.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn protect(&self, path: &str, level: Option<Protection>, actor: &Actor) -> Result<(), StoreError> {
        let name = path.strip_suffix('/').unwrap_or(path);
        DocKey::parse(name).map_err(|_| StoreError::Name { what: "key or folder", name: path.into(), rule: "`a/b` or `a/`" })?;
        let core = &self.core;
        let mut tx = core.scope().begin().await?;
        tx.exec("DELETE FROM protections WHERE tenant = $1 AND workspace = $2 AND path = $3", args![core.id.as_str(), path])
            .await?;
        if let Some(level) = level {
            tx.exec(
                "INSERT INTO protections (tenant, workspace, path, level, person, at) VALUES ($1, $2, $3, $4, $5, $6)",
                args![core.id.as_str(), path, level.as_str(), actor.person.as_str(), core.now()],
            )
            .await?;
        }
        tx.commit().await
    }

    /// Lists what is protected.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn protections(&self) -> Result<Vec<Protected>, StoreError> {
        protect::list(&self.core).await
    }

    /// Brings deleted documents back to main, with the block ids they had.
    ///
    /// # Errors
    /// When one was not deleted here, or its place is taken.
    pub async fn restore(&self, keys: &[DocKey], meta: &Meta) -> Result<Commit, StoreError> {
        let base = self.snapshot().await?;
        let changes = crate::branch::restore_changes(&self.core, &Line::Main, keys).await?;
        self.write(&base, &changes, meta).await
    }

    /// Forgets a deleted document for good: it can no longer be restored, although the history still knows its text. Only a
    /// person does this; an agent's handle has no such method.
    ///
    /// # Errors
    /// When it was not deleted here.
    pub async fn purge(&self, key: &DocKey) -> Result<(), StoreError> {
        let mut tx = self.core.scope().begin().await?;
        let gone = tx
            .exec(
                "DELETE FROM trash WHERE tenant = $1 AND workspace = $2 AND doc = $3",
                args![self.core.id.as_str(), key.as_str()],
            )
            .await?;
        if gone == 0 {
            return Err(StoreError::not_found("deleted document", key));
        }
        tx.commit().await
    }

    /// Lists the documents that were deleted on main and can be restored.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn trash(&self) -> Result<Vec<Trashed>, StoreError> {
        trash::list(&self.core, &Line::Main).await
    }
}

impl Default for InitOptions {
    fn default() -> Self {
        Self { allow_empty: false, clock: Clock::system() }
    }
}
