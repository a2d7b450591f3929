//! Bringing lines of history together: main into a branch, a branch into main, and a run taken back out again.

use std::collections::{BTreeMap, BTreeSet};

use deckle_doc::DocKey;
use serde_json::json;

use crate::branch::{self, Branch, BranchState};
use crate::changes::{Changes, Commit, Meta};
use crate::combine::{Combined, Delta};
use crate::conflict::Resolution;
use crate::core::Line;
use crate::error::StoreError;
use crate::ids::{BranchId, RunId};
use crate::main_folder::Also;
use crate::object::ObjectId;
use crate::oplog::{self, Detail, Op, OpKind};
use crate::protect;
use crate::snapshot::Snapshot;
use crate::sql::{Tx, args};
use crate::workspace::Workspace;

/// What an undo did.
#[derive(Clone, Debug, PartialEq)]
pub struct UndoReport {
    /// The branch on which the run was taken back; none: main.
    pub branch: Option<BranchId>,
    /// The documents that changed.
    pub keys: Vec<DocKey>,
    /// The new state; none when nothing of the run was left to take back.
    pub commit: Option<Commit>,
}

/// A check of the documents that are about to be written: each with its text before and after. What it returns is shown,
/// and nothing is written.
pub type Gate<'a> = &'a (dyn Fn(&BTreeMap<DocKey, (Option<String>, Option<String>)>) -> Vec<String> + Send + Sync);

impl Workspace {
    /// Brings what main gained into a branch, so that the branch stands on main as it is now.
    ///
    /// # Errors
    /// When both changed the same thing in different ways and `resolutions` does not say what then; the error holds every
    /// conflict, and the branch stays as it was.
    pub async fn update(
        &self,
        id: &BranchId,
        resolutions: &BTreeMap<DocKey, Resolution>,
        meta: &Meta,
    ) -> Result<Option<Commit>, StoreError> {
        let core = self.core();
        let main = self.snapshot().await?;
        let branch = self.branch(id).await?;
        let info = branch.info().await?;
        if info.base == main.commit() {
            return Ok(None);
        }
        let base = core.at(&Line::Main, info.base).await?;
        let head = core.at(&branch.line(), info.head).await?;
        let since = oplog::seq_of(core.scope(), &core.id, info.base).await?;
        let theirs = Delta::between(&base, &main, oplog::renames(core.scope(), &core.id, None, since).await?).await?;
        let moved = oplog::renames(core.scope(), &core.id, Some(id), 0).await?;
        let mut combined = Combined::new(&head, resolutions);
        combined.apply(&theirs, &moved).await?;
        let changes = combined.into_changes().await?;
        let mut prepared = core.prepare(&head, &changes, meta, &[main.commit()]).await?;
        prepared.detail = Detail::default();
        let mut tx = core.scope().begin().await?;
        if !branch::touch(&mut tx, core, id).await? {
            drop(tx);
            return Err(branch.closed().await?);
        }
        let done = core.store(&mut tx, &branch.line(), prepared, OpKind::Update, meta).await?;
        set_base(&mut tx, self, id, main.commit()).await?;
        tx.commit().await?;
        Ok(Some(done))
    }

    /// Returns what a branch did since the state of main that it stands on.
    pub(crate) async fn delta(&self, branch: &Branch) -> Result<(Snapshot, Snapshot, Delta), StoreError> {
        let core = self.core();
        let info = branch.info().await?;
        let base = core.at(&branch.line(), info.base).await?;
        let head = core.at(&branch.line(), info.head).await?;
        let renames = oplog::renames(core.scope(), &core.id, Some(branch.name()), 0).await?;
        let delta = Delta::between(&base, &head, renames).await?;
        Ok((base, head, delta))
    }

    /// Works out what main becomes when this is done on it.
    pub(crate) async fn onto_main(
        &self,
        main: &Snapshot,
        base: ObjectId,
        delta: &Delta,
        resolutions: &BTreeMap<DocKey, Resolution>,
    ) -> Result<Changes, StoreError> {
        let core = self.core();
        let since = oplog::seq_of(core.scope(), &core.id, base).await?;
        let moved = oplog::renames(core.scope(), &core.id, None, since).await?;
        let mut combined = Combined::new(main, resolutions);
        combined.apply(delta, &moved).await?;
        combined.into_changes().await
    }

    /// Asks the gate about a change to main.
    pub(crate) async fn ask(&self, main: &Snapshot, changes: &Changes, gate: Option<Gate<'_>>) -> Result<(), StoreError> {
        protect::check(self.core(), changes).await?;
        let Some(gate) = gate else { return Ok(()) };
        let mut documents = BTreeMap::new();
        for (key, after) in changes.texts() {
            let before = main.text(key).await?.map(|text| text.to_string());
            documents.insert(key.clone(), (before, after.as_ref().map(|text| text.to_string())));
        }
        let findings = gate(&documents);
        if findings.is_empty() { Ok(()) } else { Err(StoreError::Unsound { findings }) }
    }

    /// Returns the runs that wrote on a branch.
    pub(crate) async fn runs_of(&self, branch: &BranchId) -> Result<Vec<String>, StoreError> {
        let core = self.core();
        let ops = oplog::select(core.scope(), &core.id, Some(OpKind::Commit), None, Some(branch)).await?;
        let runs: BTreeSet<String> = ops.iter().filter_map(|op| op.run.as_ref()).map(ToString::to_string).collect();
        Ok(runs.into_iter().collect())
    }

    /// Takes a run back, on main when its changes were merged, else on its branch. What was done since then stays: where a
    /// later edit touched the same block, that is a conflict, and nothing is written.
    ///
    /// # Errors
    /// When there is no such run, its branch is closed, or a conflict is left.
    pub async fn undo(
        &self,
        run: &RunId,
        resolutions: &BTreeMap<DocKey, Resolution>,
        meta: &Meta,
    ) -> Result<UndoReport, StoreError> {
        let core = self.core();
        // The run's own writes, and what carried or took back any.
        let mut all = oplog::select(core.scope(), &core.id, None, Some(run), None).await?;
        all.extend(oplog::select(core.scope(), &core.id, Some(OpKind::Merge), None, None).await?);
        all.extend(oplog::select(core.scope(), &core.id, Some(OpKind::Undo), None, None).await?);
        all.sort_by_key(|op| std::cmp::Reverse(op.seq));
        all.dedup_by_key(|op| op.seq);
        let undone = |op: &Op| {
            all.iter().any(|later| {
                later.seq > op.seq && later.branch == op.branch && later.detail.undoes.as_deref() == Some(run.as_str())
            }) || all.iter().any(|later| later.kind == OpKind::Undo && later.before == op.after && later.after == op.before)
        };
        let of_run = |op: &&Op| op.run.as_ref() == Some(run) && !undone(op);
        let merged: Vec<&Op> = all
            .iter()
            .filter(|op| op.kind == OpKind::Merge && op.detail.runs.iter().any(|one| one == run.as_str()) && !undone(op))
            .collect();
        let direct: Vec<&Op> = all.iter().filter(|op| op.kind == OpKind::Direct).filter(of_run).collect();
        let commits: Vec<&Op> = all.iter().filter(|op| op.kind == OpKind::Commit).filter(of_run).collect();
        if !merged.is_empty() || !direct.is_empty() {
            return self.undo_on_main(run, &merged, &direct, &commits, resolutions, meta).await;
        }
        let Some(id) = commits.first().and_then(|op| op.branch.clone()) else {
            let there = oplog::recent_runs(core.scope(), &core.id).await?;
            return Err(StoreError::NotFound { what: "run", name: run.to_string(), there });
        };
        let branch = self.branch(&id).await?;
        let head = branch.head().await?;
        let mut combined = Combined::new(&head, resolutions);
        for op in commits.iter().filter(|op| op.branch.as_ref() == Some(&id)) {
            let moved = oplog::renames(core.scope(), &core.id, Some(&id), op.seq).await?;
            combined.apply(&self.reverse_of(op, &branch.line()).await?, &moved).await?;
        }
        let changes = combined.into_changes().await?;
        let keys: Vec<DocKey> = changes.texts().keys().cloned().collect();
        if changes.is_empty() {
            return Ok(UndoReport { branch: Some(id), keys, commit: None });
        }
        let mut prepared = core.prepare(&head, &changes, meta, &[]).await?;
        prepared.detail.undoes = Some(run.to_string());
        let mut tx = core.scope().begin().await?;
        if !branch::touch(&mut tx, core, &id).await? {
            drop(tx);
            return Err(branch.closed().await?);
        }
        let done = core.store(&mut tx, &branch.line(), prepared, OpKind::Undo, meta).await?;
        tx.commit().await?;
        Ok(UndoReport { branch: Some(id), keys, commit: Some(done) })
    }

    async fn undo_on_main(
        &self,
        run: &RunId,
        merged: &[&Op],
        direct: &[&Op],
        commits: &[&Op],
        resolutions: &BTreeMap<DocKey, Resolution>,
        meta: &Meta,
    ) -> Result<UndoReport, StoreError> {
        let core = self.core();
        let main = self.snapshot().await?;
        let mut combined = Combined::new(&main, resolutions);
        let mut ops: Vec<&&Op> = merged.iter().chain(direct).collect();
        ops.sort_by_key(|op| std::cmp::Reverse(op.seq));
        for op in ops {
            let moved = oplog::renames(core.scope(), &core.id, None, op.seq).await?;
            if op.kind == OpKind::Direct || op.detail.runs.len() == 1 {
                combined.apply(&self.reverse_of(op, &Line::Main).await?, &moved).await?;
                continue;
            }
            // The merge carried other runs too, so only this one's own writes are taken back, the newest first.
            let of_branch = |commit: &&&Op| commit.branch.as_ref().map(BranchId::as_str) == op.detail.merged.as_deref();
            for commit in commits.iter().filter(of_branch) {
                let line = Line::Branch(commit.branch.clone().ok_or(StoreError::Locked)?);
                combined.apply(&self.reverse_of(commit, &line).await?, &moved).await?;
            }
        }
        let changes = combined.into_changes().await?;
        let keys: Vec<DocKey> = changes.texts().keys().cloned().collect();
        if changes.is_empty() {
            return Ok(UndoReport { branch: None, keys, commit: None });
        }
        protect::check(core, &changes).await?;
        let mut prepared = core.prepare(&main, &changes, meta, &[]).await?;
        prepared.detail.undoes = Some(run.to_string());
        let done = self.publish(prepared, OpKind::Undo, meta, Also::default()).await?;
        Ok(UndoReport { branch: None, keys, commit: Some(done) })
    }

    /// Returns what takes one entry back.
    async fn reverse_of(&self, op: &Op, line: &Line) -> Result<Delta, StoreError> {
        let (Some(before), Some(after)) = (op.before, op.after) else { return Ok(Delta::default()) };
        let (before, after) = (self.core().at(line, before).await?, self.core().at(line, after).await?);
        let renames = op.detail.renames.iter();
        let renames = renames.filter_map(|(from, to)| Some((DocKey::parse(from).ok()?, DocKey::parse(to).ok()?))).collect();
        Ok(Delta::between(&before, &after, renames).await?.reversed())
    }
}

/// Notes on which commit of main a branch stands.
pub(crate) async fn set_base(tx: &mut Tx, workspace: &Workspace, id: &BranchId, base: ObjectId) -> Result<(), StoreError> {
    tx.exec(
        "UPDATE branches SET base = $4 WHERE tenant = $1 AND workspace = $2 AND id = $3",
        args![workspace.core().id.as_str(), id.as_str(), base],
    )
    .await?;
    Ok(())
}

/// What becomes of a branch in the transaction that merges it.
pub(crate) fn after_merge(workspace: &Workspace, id: &BranchId, state: BranchState) -> Also<'static> {
    let now = workspace.core().now();
    Also(vec![(
        "UPDATE branches SET state = $4, changed_at = $5 WHERE tenant = $1 AND workspace = $2 AND id = $3",
        args![workspace.core().id.as_str(), id.as_str(), state.as_str(), now],
    )])
}

/// A receipt for an entry that nobody wrote one for.
pub(crate) fn receipt(keys: &[DocKey]) -> serde_json::Value {
    json!({ "documents": keys.iter().map(DocKey::as_str).collect::<Vec<_>>() })
}
