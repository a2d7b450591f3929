//! A database with workspaces in it.

use std::path::Path;

use crate::changes::Meta;
use crate::core::{Core, Line};
use crate::error::StoreError;
use crate::folder::Folder;
use crate::ids::{Actor, Clock, Tenant, WorkspaceId};
use crate::object::ObjectId;
use crate::objects::{Objects, Pending, TreeCache};
use crate::oplog::{self, Detail, NewOp, OpKind};
use crate::refs;
use crate::sql::{self, Db, Location, args};
use crate::workspace::Workspace;

/// An open database: SQLite in a file, or Postgres.
#[derive(Clone, Debug)]
pub struct Store {
    pub(crate) db: Db,
    pub(crate) clock: Clock,
    cache: TreeCache,
}

impl Store {
    /// Opens `sqlite:PATH`, `postgres://…` or a plain path, creating the schema when there is none.
    ///
    /// # Errors
    /// When the database cannot be reached, or its schema is newer than this program.
    pub async fn open(location: &str) -> Result<Self, StoreError> {
        Self::open_with(location, Clock::system()).await
    }

    /// The same with a clock of the caller's.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub async fn open_with(location: &str, clock: Clock) -> Result<Self, StoreError> {
        let db = sql::open(&Location::parse(location)?).await?;
        Ok(Self { db, clock, cache: TreeCache::default() })
    }

    pub(crate) async fn open_file(path: &Path, clock: Clock) -> Result<Self, StoreError> {
        let db = sql::open(&Location::Path(path.to_path_buf())).await?;
        Ok(Self { db, clock, cache: TreeCache::default() })
    }

    /// Returns where the store reads the time.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    pub(crate) fn core(&self, tenant: &Tenant, id: &WorkspaceId) -> Core {
        let objects = Objects::new(self.db.scope(tenant), self.cache.clone());
        Core { objects, id: id.clone(), clock: self.clock.clone() }
    }

    /// Creates a workspace whose main is a ref, empty.
    ///
    /// # Errors
    /// When the tenant has one with this name.
    pub async fn create_workspace(&self, tenant: &Tenant, id: &WorkspaceId, actor: &Actor) -> Result<Workspace, StoreError> {
        let core = self.core(tenant, id);
        if !create(&core, "ref", &Meta::new(actor.clone(), "create the workspace")).await? {
            return Err(StoreError::Exists { what: "workspace", name: id.to_string() });
        }
        Ok(Workspace::new(self.clone(), core, None))
    }

    /// Opens a workspace of a tenant. Another tenant's is not there.
    ///
    /// # Errors
    /// When the tenant has none with this name, or its main is a folder.
    pub async fn workspace(&self, tenant: &Tenant, id: &WorkspaceId) -> Result<Workspace, StoreError> {
        let mut core = self.core(tenant, id);
        let row = core
            .scope()
            .first("SELECT id FROM workspaces WHERE tenant = $1 AND id = $2 AND main = 'ref'", args![id.as_str()])
            .await?;
        row.ok_or_else(|| StoreError::not_found("workspace", id))?;
        core.load_dialect().await?;
        Ok(Workspace::new(self.clone(), core, None))
    }

    /// Lists the tenant's workspaces.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn workspaces(&self, tenant: &Tenant) -> Result<Vec<WorkspaceId>, StoreError> {
        let rows = self.db.scope(tenant).fetch("SELECT id FROM workspaces WHERE tenant = $1 ORDER BY id", Vec::new()).await?;
        rows.iter().map(|row| WorkspaceId::parse(row.text(0)?)).collect()
    }

    pub(crate) async fn folder(self, folder: Folder) -> Result<Workspace, StoreError> {
        let mut core = self.core(&Tenant::local(), &WorkspaceId::folder());
        create(&core, "folder", &Meta::new(Actor::local(), "take the folder as main")).await?;
        core.load_dialect().await?;
        Ok(Workspace::new(self, core, Some(folder)))
    }

    /// Closes every connection, after what was begun is done.
    pub async fn close(&self) {
        self.db.close().await;
    }
}

/// Makes the rows of a workspace, with an empty first commit; says whether it was not there.
async fn create(core: &Core, main: &str, meta: &Meta) -> Result<bool, StoreError> {
    if refs::read(core.scope(), &core.id, refs::MAIN).await?.is_some() {
        return Ok(false);
    }
    let mut pending = Pending::default();
    let commit = pending.add(core.commit_object(ObjectId::EMPTY_TREE, Vec::new(), meta).to_raw());
    let packed = pending.pack(&core.objects).await?;
    let mut tx = core.scope().begin().await?;
    let made = tx
        .exec(
            "INSERT INTO workspaces (tenant, id, main, op_seq, created_at) VALUES ($1, $2, $3, 0, $4) ON CONFLICT (tenant, id) DO NOTHING",
            args![core.id.as_str(), main, core.now()],
        )
        .await?;
    if made == 0 {
        return Ok(false);
    }
    packed.write(&mut tx).await?;
    let op = NewOp {
        kind: OpKind::Init,
        branch: Line::Main.branch(),
        meta,
        before: None,
        after: Some(commit),
        detail: Detail::default(),
    };
    oplog::append(&mut tx, &core.id, core.now(), op).await?;
    refs::create(&mut tx, &core.id, refs::MAIN, commit).await?;
    tx.commit().await?;
    Ok(true)
}
