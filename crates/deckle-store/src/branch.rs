//! A branch, the only handle that an agent's tools get. It reads and writes its own line of history and names no other.

use std::collections::BTreeMap;

use deckle_doc::DocKey;

use crate::changes::{Changes, Commit, Meta};
use crate::core::{Core, Line};
use crate::decisions::{self, Decision};
use crate::diff::ChangeId;
use crate::error::StoreError;
use crate::ids::{Actor, BranchId, CallId, RunId, Timestamp, UserId};
use crate::object::ObjectId;
use crate::oplog::{self, LogFilter, Op, OpKind};
use crate::protect::{self, Protection};
use crate::snapshot::Snapshot;
use crate::sql::{Row, Tx, args};
use crate::trash::{self, Trashed};

/// A branch. Cheap to clone; two clones see the same branch.
///
/// It is the only handle that an agent's tools get. This is all they can do with it:
///
/// ```
/// # use deckle_store::{Branch, Changes, Meta, StoreError};
/// async fn tool(branch: &Branch, changes: &Changes, meta: &Meta) -> Result<(), StoreError> {
///     let head = branch.head().await?;
///     branch.commit(&head, changes, meta).await?;
///     Ok(())
/// }
/// ```
///
/// And this does not compile, because there is no way from a branch to main, to the workspace, or to another branch:
///
/// ```compile_fail,E0599
/// # use deckle_store::{Branch, Changes, Meta, StoreError};
/// async fn tool(branch: &Branch, changes: &Changes, meta: &Meta) -> Result<(), StoreError> {
///     let head = branch.head().await?;
///     branch.write(&head, changes, meta).await?;
///     Ok(())
/// }
/// ```
/// ```compile_fail,E0599
/// # use deckle_store::Branch;
/// fn tool(branch: &Branch) { let _ = branch.workspace(); }
/// ```
/// ```compile_fail,E0599
/// # use deckle_store::Branch;
/// fn tool(branch: &Branch) { let _ = branch.merge(); }
/// ```
/// ```compile_fail,E0616
/// # use deckle_store::Branch;
/// fn tool(branch: Branch) { let _ = branch.core; }
/// ```
/// ```compile_fail,E0616
/// # use deckle_store::Branch;
/// fn tool(mut branch: Branch, other: deckle_store::BranchId) { branch.id = other; }
/// ```
/// ```compile_fail,E0624
/// # use deckle_store::Snapshot;
/// fn tool(snapshot: Snapshot) { let _ = snapshot.objects(); }
/// ```
#[derive(Clone, Debug)]
pub struct Branch {
    core: Core,
    id: BranchId,
}

/// How far a branch has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BranchState {
    /// It is being worked on.
    Open,
    /// A person decides about its changes.
    InReview,
    /// What was accepted of it is on main.
    Merged,
    /// It was given up.
    Discarded,
}

impl BranchState {
    const ALL: [Self; 4] = [Self::Open, Self::InReview, Self::Merged, Self::Discarded];

    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::InReview => "in-review",
            Self::Merged => "merged",
            Self::Discarded => "discarded",
        }
    }

    /// Whether the branch can still be written.
    pub fn is_writable(self) -> bool {
        matches!(self, Self::Open | Self::InReview)
    }
}

/// What is known about a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchInfo {
    /// Its name.
    pub id: BranchId,
    /// How far it has come.
    pub state: BranchState,
    /// The commit of main that it stands on.
    pub base: ObjectId,
    /// Where it is.
    pub head: ObjectId,
    /// Who made it.
    pub actor: Actor,
    /// Why.
    pub intent: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it changed last.
    pub changed_at: Timestamp,
}

const COLUMNS: &str = "b.id, b.state, b.base, r.target, b.person, b.agent, b.intent, b.created_at, b.changed_at";
const TABLES: &str =
    "branches b JOIN refs r ON r.tenant = b.tenant AND r.workspace = b.workspace AND r.name = 'refs/heads/deckle/' || b.id";

impl BranchInfo {
    fn read(row: &Row) -> Result<Self, StoreError> {
        let word = row.text(1)?;
        let state = BranchState::ALL.into_iter().find(|state| state.as_str() == word).ok_or_else(|| StoreError::Corrupt {
            what: format!("branch `{}`", row.text(0).unwrap_or_default()),
            finding: format!("its state `{word}` is unknown"),
        })?;
        Ok(Self {
            id: BranchId::parse(row.text(0)?)?,
            state,
            base: row.id(2)?,
            head: row.id(3)?,
            actor: Actor { person: UserId::parse(row.text(4)?)?, agent: row.text_or_none(5)?.map(str::to_owned) },
            intent: row.text(6)?.to_owned(),
            created_at: row.time(7)?,
            changed_at: row.time(8)?,
        })
    }

    pub(crate) async fn list(core: &Core) -> Result<Vec<Self>, StoreError> {
        let sql =
            format!("SELECT {COLUMNS} FROM {TABLES} WHERE b.tenant = $1 AND b.workspace = $2 ORDER BY b.changed_at DESC, b.id");
        core.scope().fetch(&sql, args![core.id.as_str()]).await?.iter().map(Self::read).collect()
    }

    pub(crate) async fn get(core: &Core, id: &BranchId) -> Result<Self, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM {TABLES} WHERE b.tenant = $1 AND b.workspace = $2 AND b.id = $3");
        match core.scope().first(&sql, args![core.id.as_str(), id.as_str()]).await? {
            Some(row) => Self::read(&row),
            None => Err(core.no_branch(id).await?),
        }
    }
}

/// Moves a branch to a state from one in which it can be written; says whether it did. It locks the branch's row, so a
/// write and a discard cannot both win.
pub(crate) async fn set_state(tx: &mut Tx, core: &Core, id: &BranchId, state: BranchState) -> Result<bool, StoreError> {
    let done = tx
        .exec(
            "UPDATE branches SET state = $4, changed_at = $5 WHERE tenant = $1 AND workspace = $2 AND id = $3 AND state IN ('open', 'in-review')",
            args![core.id.as_str(), id.as_str(), state.as_str(), core.now()],
        )
        .await?;
    Ok(done == 1)
}

/// Notes that a branch changed, and holds its row until the transaction is over; says whether it can be written.
pub(crate) async fn touch(tx: &mut Tx, core: &Core, id: &BranchId) -> Result<bool, StoreError> {
    let done = tx
        .exec(
            "UPDATE branches SET changed_at = $4 WHERE tenant = $1 AND workspace = $2 AND id = $3 AND state IN ('open', 'in-review')",
            args![core.id.as_str(), id.as_str(), core.now()],
        )
        .await?;
    Ok(done == 1)
}

impl Branch {
    pub(crate) fn new(core: Core, id: BranchId) -> Self {
        Self { core, id }
    }

    pub(crate) async fn open(core: &Core, id: &BranchId) -> Result<Self, StoreError> {
        BranchInfo::get(core, id).await?;
        Ok(Self::new(core.clone(), id.clone()))
    }

    pub(crate) fn line(&self) -> Line {
        Line::Branch(self.id.clone())
    }

    /// Returns the name.
    pub fn name(&self) -> &BranchId {
        &self.id
    }

    /// Returns what is known about the branch.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn info(&self) -> Result<BranchInfo, StoreError> {
        BranchInfo::get(&self.core, &self.id).await
    }

    /// Returns the branch as it is now.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn head(&self) -> Result<Snapshot, StoreError> {
        self.core.at(&self.line(), self.core.head(&self.line()).await?).await
    }

    /// Returns what the branch stands on: the workspace as it was when the branch was made or last updated.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn base(&self) -> Result<Snapshot, StoreError> {
        let base = self.info().await?.base;
        self.core.at(&self.line(), base).await
    }

    /// Writes documents, all of them or none. The same run and call a second time writes nothing and answers as the first
    /// time did.
    ///
    /// # Errors
    /// When the branch moved since `base`, is closed, or a document is protected; then nothing was written.
    pub async fn commit(&self, base: &Snapshot, changes: &Changes, meta: &Meta) -> Result<Commit, StoreError> {
        if let Some(done) = self.repeated(meta).await? {
            return Ok(done);
        }
        protect::check(&self.core, changes).await?;
        let prepared = self.core.prepare(base, changes, meta, &[]).await?;
        let mut tx = self.core.scope().begin().await?;
        if !touch(&mut tx, &self.core, &self.id).await? {
            drop(tx);
            return Err(self.closed().await?);
        }
        // Another process may have made this very call since we looked.
        if let (Some(run), Some(call)) = (&meta.run, &meta.call)
            && let Some(op) = oplog::by_call_in(&mut tx, &self.core.id, run, call).await?
            && let Some(done) = op.as_commit(true)
        {
            return Ok(done);
        }
        let done = self.core.store(&mut tx, &self.line(), prepared, OpKind::Commit, meta).await?;
        tx.commit().await?;
        Ok(done)
    }

    pub(crate) async fn closed(&self) -> Result<StoreError, StoreError> {
        let state = self.info().await?.state;
        Ok(StoreError::State { branch: self.id.to_string(), state: state.as_str() })
    }

    async fn repeated(&self, meta: &Meta) -> Result<Option<Commit>, StoreError> {
        let (Some(run), Some(call)) = (&meta.run, &meta.call) else { return Ok(None) };
        self.replay(run, call).await
    }

    /// Returns what a tool call wrote, when it did: after a crash this tells whether its effect is there.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn replay(&self, run: &RunId, call: &CallId) -> Result<Option<Commit>, StoreError> {
        let op = oplog::by_call(self.core.scope(), &self.core.id, run, call).await?;
        Ok(op.filter(|op| op.branch.as_ref() == Some(&self.id)).and_then(|op| op.as_commit(true)))
    }

    /// Returns the branch's entries of the op log, the newest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn log(&self, limit: u32) -> Result<Vec<Op>, StoreError> {
        let filter = LogFilter { branch: Some(self.id.clone()), limit: Some(limit), ..LogFilter::default() };
        oplog::list(self.core.scope(), &self.core.id, &filter).await
    }

    /// Lists the documents that were deleted here and can be restored.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn trash(&self) -> Result<Vec<Trashed>, StoreError> {
        trash::list(&self.core, &self.line()).await
    }

    /// Brings deleted documents back, with the block ids they had.
    ///
    /// # Errors
    /// When one was not deleted here, its place is taken, or the branch moved since `base`.
    pub async fn restore(&self, base: &Snapshot, keys: &[DocKey], meta: &Meta) -> Result<Commit, StoreError> {
        let changes = restore_changes(&self.core, &self.line(), keys).await?;
        self.commit(base, &changes, meta).await
    }

    /// Returns what a person decided about the branch's changes, by change: a run that goes on reads it.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn decisions(&self) -> Result<BTreeMap<ChangeId, Decision>, StoreError> {
        decisions::load(&self.core, &self.id).await
    }

    /// Returns what a protection forbids for a document.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn protection(&self, key: &DocKey) -> Result<Option<Protection>, StoreError> {
        Ok(protect::of(&protect::list(&self.core).await?, key))
    }
}

/// Returns the change that brings documents of a line back.
pub(crate) async fn restore_changes(core: &Core, line: &Line, keys: &[DocKey]) -> Result<Changes, StoreError> {
    let trash = trash::list(core, line).await?;
    let mut changes = Changes::new();
    for key in keys {
        let newest = trash.iter().find(|one| one.key == *key).ok_or_else(|| StoreError::NotFound {
            what: "deleted document",
            name: key.to_string(),
            there: trash.iter().map(|one| one.key.to_string()).take(10).collect(),
        })?;
        changes = changes.restore(key.clone(), core.objects.text(newest.blob).await?, newest.op);
    }
    Ok(changes)
}
