//! The op log: every write, with who, for whom, why, and what came of it.

use deckle_doc::DocKey;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::changes::{Commit, Meta};
use crate::error::StoreError;
use crate::ids::{Actor, BranchId, CallId, RunId, Timestamp, UserId, WorkspaceId};
use crate::object::ObjectId;
use crate::sql::{Row, Scope, Tx, args};

/// What an entry did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpKind {
    /// The workspace was made.
    Init,
    /// Main changed in the folder, by some editor.
    Outside,
    /// Documents were written on main directly, by a person.
    Direct,
    /// Documents were written on a branch.
    Commit,
    /// A branch was made.
    Create,
    /// A branch took over what main had gained.
    Update,
    /// Accepted changes reached main.
    Merge,
    /// A run, or one entry, was taken back.
    Undo,
    /// A branch was given up.
    Discard,
    /// Commits came from git.
    Import,
}

impl OpKind {
    const ALL: [Self; 10] = [
        Self::Init,
        Self::Outside,
        Self::Direct,
        Self::Commit,
        Self::Create,
        Self::Update,
        Self::Merge,
        Self::Undo,
        Self::Discard,
        Self::Import,
    ];

    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Init => "init",
            Self::Outside => "outside",
            Self::Direct => "direct",
            Self::Commit => "commit",
            Self::Create => "create",
            Self::Update => "update",
            Self::Merge => "merge",
            Self::Undo => "undo",
            Self::Discard => "discard",
            Self::Import => "import",
        }
    }
}

/// One entry of the op log.
#[derive(Clone, Debug, PartialEq)]
pub struct Op {
    /// Its number; it grows by one.
    pub seq: i64,
    /// When.
    pub at: Timestamp,
    /// On which branch; none: main.
    pub branch: Option<BranchId>,
    /// What it did.
    pub kind: OpKind,
    /// Who did it.
    pub actor: Actor,
    /// The run it belongs to.
    pub run: Option<RunId>,
    /// The tool call that it was.
    pub call: Option<CallId>,
    /// Why.
    pub intent: String,
    /// Where the branch or main was before.
    pub before: Option<ObjectId>,
    /// Where it was afterwards.
    pub after: Option<ObjectId>,
    /// What was done.
    pub receipt: Value,
    /// What the store needs to take it back.
    pub(crate) detail: Detail,
}

/// What the store notes about an entry for itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Detail {
    /// Documents that moved, old key first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) renames: Vec<(String, String)>,
    /// The runs whose changes a merge carried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) runs: Vec<String>,
    /// The branch that a merge carried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) merged: Option<String>,
    /// The run that an undo took back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) undoes: Option<String>,
}

const COLUMNS: &str = "seq, at, branch, kind, person, agent, run, call, intent, before_commit, after_commit, receipt, detail";

impl Op {
    fn read(row: &Row) -> Result<Self, StoreError> {
        let word = row.text(3)?;
        let kind = OpKind::ALL.into_iter().find(|kind| kind.as_str() == word).ok_or_else(|| StoreError::Corrupt {
            what: format!("op log entry {}", row.int(0).unwrap_or_default()),
            finding: format!("its kind `{word}` is unknown"),
        })?;
        Ok(Self {
            seq: row.int(0)?,
            at: row.time(1)?,
            branch: row.text_or_none(2)?.map(BranchId::parse).transpose()?,
            kind,
            actor: Actor { person: UserId::parse(row.text(4)?)?, agent: row.text_or_none(5)?.map(str::to_owned) },
            run: row.text_or_none(6)?.map(RunId::parse).transpose()?,
            call: row.text_or_none(7)?.map(CallId::parse).transpose()?,
            intent: row.text(8)?.to_owned(),
            before: row.text_or_none(9)?.map(str::parse).transpose()?,
            after: row.text_or_none(10)?.map(str::parse).transpose()?,
            receipt: row.json(11)?,
            detail: serde_json::from_value(row.json(12)?).map_err(|_| StoreError::Corrupt {
                what: format!("op log entry {}", row.int(0).unwrap_or_default()),
                finding: "its detail cannot be read".into(),
            })?,
        })
    }

    /// Returns the write that this entry was.
    pub(crate) fn as_commit(&self, repeated: bool) -> Option<Commit> {
        let (id, before) = (self.after?, self.before?);
        Some(Commit { id, before, op: self.seq, at: self.at, receipt: self.receipt.clone(), repeated })
    }
}

/// An entry before it has a number.
pub(crate) struct NewOp<'a> {
    pub(crate) kind: OpKind,
    pub(crate) branch: Option<&'a BranchId>,
    pub(crate) meta: &'a Meta,
    pub(crate) before: Option<ObjectId>,
    pub(crate) after: Option<ObjectId>,
    pub(crate) detail: Detail,
}

/// Adds an entry; returns its number. The counter's row is locked until the transaction ends, so numbers have no gaps and
/// are in the order of commits.
pub(crate) async fn append(tx: &mut Tx, workspace: &WorkspaceId, at: Timestamp, op: NewOp<'_>) -> Result<i64, StoreError> {
    let row = tx
        .first(
            "UPDATE workspaces SET op_seq = op_seq + 1 WHERE tenant = $1 AND id = $2 RETURNING op_seq",
            args![workspace.as_str()],
        )
        .await?
        .ok_or_else(|| StoreError::not_found("workspace", workspace))?;
    let seq = row.int(0)?;
    let meta = op.meta;
    // Sabotage: forget which call this was, so a repeated one writes again.
    let call = meta.call.as_ref().filter(|_| !cfg!(sabotage = "reuse_call_id"));
    tx.exec(
        "INSERT INTO ops (tenant, workspace, seq, at, branch, kind, person, agent, run, call, intent, before_commit, after_commit, receipt, detail) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
        args![
            workspace.as_str(),
            seq,
            at,
            op.branch.map(BranchId::as_str),
            op.kind.as_str(),
            meta.actor.person.as_str(),
            meta.actor.agent.as_deref(),
            meta.run.as_ref().map(RunId::as_str),
            call.map(CallId::as_str),
            meta.intent.as_str(),
            op.before,
            op.after,
            &meta.receipt,
            serde_json::to_string(&op.detail).unwrap_or_default(),
        ],
    )
    .await?;
    Ok(seq)
}

/// Which entries are wanted.
#[derive(Clone, Debug, Default)]
pub struct LogFilter {
    /// Only this branch's.
    pub branch: Option<BranchId>,
    /// Only main's.
    pub main_only: bool,
    /// Only this run's.
    pub run: Option<RunId>,
    /// Only those before this number.
    pub before: Option<i64>,
    /// At most so many, the newest first; 100 when not said.
    pub limit: Option<u32>,
}

/// Returns entries, the newest first.
pub(crate) async fn list(scope: &Scope, workspace: &WorkspaceId, filter: &LogFilter) -> Result<Vec<Op>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM ops WHERE tenant = $1 AND workspace = $2 AND seq < $3 AND ($4 = '' OR branch = $4) \
         AND ($5 = 0 OR branch IS NULL) AND ($6 = '' OR run = $6) ORDER BY seq DESC LIMIT $7"
    );
    let values = args![
        workspace.as_str(),
        filter.before.unwrap_or(i64::MAX),
        filter.branch.as_ref().map_or("", BranchId::as_str),
        filter.main_only,
        filter.run.as_ref().map_or("", RunId::as_str),
        i64::from(filter.limit.unwrap_or(100)),
    ];
    scope.fetch(&sql, values).await?.iter().map(Op::read).collect()
}

/// Finds the entry of one call.
pub(crate) async fn by_call(
    scope: &Scope,
    workspace: &WorkspaceId,
    run: &RunId,
    call: &CallId,
) -> Result<Option<Op>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM ops WHERE tenant = $1 AND workspace = $2 AND run = $3 AND call = $4");
    scope.first(&sql, args![workspace.as_str(), run.as_str(), call.as_str()]).await?.as_ref().map(Op::read).transpose()
}

/// The same inside a transaction, where no other writer can come between.
pub(crate) async fn by_call_in(
    tx: &mut Tx,
    workspace: &WorkspaceId,
    run: &RunId,
    call: &CallId,
) -> Result<Option<Op>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM ops WHERE tenant = $1 AND workspace = $2 AND run = $3 AND call = $4");
    tx.first(&sql, args![workspace.as_str(), run.as_str(), call.as_str()]).await?.as_ref().map(Op::read).transpose()
}

/// Returns the documents that a line moved after an entry, chained, old key first.
pub(crate) async fn renames(
    scope: &Scope,
    workspace: &WorkspaceId,
    branch: Option<&BranchId>,
    after: i64,
) -> Result<Vec<(DocKey, DocKey)>, StoreError> {
    let sql = "SELECT detail FROM ops WHERE tenant = $1 AND workspace = $2 AND COALESCE(branch, '') = $3 AND seq > $4 AND detail <> '{}' ORDER BY seq";
    let rows = scope.fetch(sql, args![workspace.as_str(), branch.map_or("", BranchId::as_str), after]).await?;
    let mut all = Vec::new();
    for row in &rows {
        let detail: Detail = serde_json::from_value(row.json(0)?)
            .map_err(|_| StoreError::Corrupt { what: "the op log".into(), finding: "a detail cannot be read".into() })?;
        for (from, to) in detail.renames {
            // What was a key when it was written still is one.
            if let (Ok(from), Ok(to)) = (DocKey::parse(&from), DocKey::parse(&to)) {
                all.push((from, to));
            }
        }
    }
    Ok(crate::combine::chain(all))
}

/// Returns the number of the last entry of a line that led to a commit.
pub(crate) async fn seq_of(scope: &Scope, workspace: &WorkspaceId, commit: ObjectId) -> Result<i64, StoreError> {
    let sql =
        "SELECT COALESCE(MAX(seq), 0) FROM ops WHERE tenant = $1 AND workspace = $2 AND branch IS NULL AND after_commit = $3";
    let row = scope.first(sql, args![workspace.as_str(), commit]).await?;
    row.map_or(Ok(0), |row| row.int(0))
}

/// Returns all entries of a kind, of a run or of a branch, the newest first.
pub(crate) async fn select(
    scope: &Scope,
    workspace: &WorkspaceId,
    kind: Option<OpKind>,
    run: Option<&RunId>,
    branch: Option<&BranchId>,
) -> Result<Vec<Op>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM ops WHERE tenant = $1 AND workspace = $2 AND ($3 = '' OR kind = $3) AND ($4 = '' OR run = $4) \
         AND ($5 = '' OR branch = $5) ORDER BY seq DESC"
    );
    let values = args![
        workspace.as_str(),
        kind.map_or("", OpKind::as_str),
        run.map_or("", RunId::as_str),
        branch.map_or("", BranchId::as_str)
    ];
    scope.fetch(&sql, values).await?.iter().map(Op::read).collect()
}

/// Returns the last runs that wrote anything, for a hint.
pub(crate) async fn recent_runs(scope: &Scope, workspace: &WorkspaceId) -> Result<Vec<String>, StoreError> {
    let sql = "SELECT run, MAX(seq) FROM ops WHERE tenant = $1 AND workspace = $2 AND run IS NOT NULL GROUP BY run ORDER BY 2 DESC LIMIT 10";
    let rows = scope.fetch(sql, args![workspace.as_str()]).await?;
    rows.iter().map(|row| Ok(row.text(0)?.to_owned())).collect()
}
