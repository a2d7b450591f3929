//! Review and merge: what a branch changed, what a person decided about it, and what of it reaches main.

use std::collections::{BTreeMap, BTreeSet};

use deckle_doc::DocKey;

use crate::branch::{BranchInfo, BranchState};
use crate::changes::{Commit, Meta};
use crate::combine::{Delta, Version};
use crate::conflict::Resolution;
use crate::decisions::{self, Decision};
use crate::diff::{self, Change, ChangeId, Pair};
use crate::error::StoreError;
use crate::ids::{Actor, BranchId};
use crate::oplog::{self, OpKind};
use crate::reconcile::{self, Gate};
use crate::review::{self, Fate};
use crate::tree_edit;
use crate::workspace::Workspace;

/// A branch as its reviewer sees it.
#[derive(Clone, Debug)]
pub struct Review {
    /// The branch.
    pub branch: BranchInfo,
    /// What it changes, in the order of documents and places.
    pub changes: Vec<Change>,
    /// What was decided, by change. A change that was made anew since is undecided again.
    pub decisions: BTreeMap<ChangeId, Decision>,
}

impl Review {
    /// Returns the changes that nobody decided about.
    pub fn undecided(&self) -> impl Iterator<Item = &Change> {
        self.changes.iter().filter(|change| !self.decisions.contains_key(&change.id))
    }
}

/// Which changes are to reach main.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// Those that were accepted or edited.
    Accepted,
    /// All except those that were rejected.
    All,
    /// These, decided or not.
    Only(BTreeSet<ChangeId>),
}

/// How a branch is merged.
#[derive(Default)]
pub struct MergeOptions<'a> {
    /// Which changes; those that were accepted when not said.
    pub selection: Option<Selection>,
    /// What a person said about conflicts, by document.
    pub resolutions: BTreeMap<DocKey, Resolution>,
    /// Work everything out and write nothing.
    pub dry_run: bool,
    /// A check that can refuse.
    pub gate: Option<Gate<'a>>,
}

/// What a merge did.
#[derive(Clone, Debug, PartialEq)]
pub struct MergeReport {
    /// The new state of main; none when it was a dry run, or nothing was left to do.
    pub commit: Option<Commit>,
    /// The changes that reached main.
    pub merged: Vec<ChangeId>,
    /// The changes that are left on the branch, undecided.
    pub left: Vec<ChangeId>,
    /// The documents that were written, with the files they stand in.
    pub written: Vec<(DocKey, String)>,
    /// The documents that were deleted or moved away, with their files.
    pub removed: Vec<(DocKey, String)>,
    /// The branch's state now.
    pub state: BranchState,
}

impl Workspace {
    /// Returns what a branch changes, in units to decide about, with the decisions.
    ///
    /// # Errors
    /// When there is no such branch.
    pub async fn review(&self, id: &BranchId) -> Result<Review, StoreError> {
        let branch = self.branch(id).await?;
        let info = branch.info().await?;
        let (_, _, delta) = self.delta(&branch).await?;
        let pairs = self.pairs(id, &delta).await?;
        let changes = diff::changes(&pairs);
        let mut decisions = decisions::load(self.core(), id).await?;
        decisions.retain(|change, _| changes.iter().any(|one| one.id == *change));
        Ok(Review { branch: info, changes, decisions })
    }

    /// Decides about changes: accept, reject, or write something else instead. The branch is in review from then on.
    ///
    /// # Errors
    /// When a change is not one of the branch's, or the branch is closed; then nothing was decided.
    pub async fn decide(&self, id: &BranchId, decided: &[(ChangeId, Fate)], note: &str, actor: &Actor) -> Result<(), StoreError> {
        let review = self.review(id).await?;
        for (change, _) in decided {
            if !review.changes.iter().any(|one| one.id == *change) {
                let there = review.changes.iter().map(|one| one.id.to_string()).take(10).collect();
                return Err(StoreError::NotFound { what: "change", name: change.to_string(), there });
            }
        }
        if !review.branch.state.is_writable() {
            return Err(StoreError::State { branch: id.to_string(), state: review.branch.state.as_str() });
        }
        let decided: Vec<(ChangeId, Option<Fate>)> =
            decided.iter().map(|(change, fate)| (change.clone(), Some(fate.clone()))).collect();
        decisions::add(self.core(), id, &decided, note, actor).await
    }

    /// Takes the last decision about a branch back; returns which change it was about.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn undo_decision(&self, id: &BranchId) -> Result<Option<ChangeId>, StoreError> {
        self.branch(id).await?;
        decisions::take_back(self.core(), id).await
    }

    /// Brings the selected changes of a branch to main. Only the files that change are written, each whole; a file that
    /// changed since main was looked at is refused, and then none is written.
    ///
    /// # Errors
    /// When main changed the same blocks in other ways (every conflict is in the error), a file changed underneath, the gate
    /// refused, or the branch is closed. Nothing was written then.
    pub async fn merge(&self, id: &BranchId, options: &MergeOptions<'_>, meta: &Meta) -> Result<MergeReport, StoreError> {
        let branch = self.branch(id).await?;
        let info = branch.info().await?;
        if !info.state.is_writable() {
            return Err(StoreError::State { branch: id.to_string(), state: info.state.as_str() });
        }
        let main = self.snapshot().await?;
        let (_, _, delta) = self.delta(&branch).await?;
        let pairs = self.pairs(id, &delta).await?;
        let all = diff::changes(&pairs);
        let decided = decisions::load(self.core(), id).await?;
        let fates = fates(&all, &decided, options.selection.as_ref().unwrap_or(&Selection::Accepted));
        let merged: Vec<ChangeId> = all
            .iter()
            .map(|change| &change.id)
            .filter(|change| !matches!(fates.get(*change), None | Some(Fate::Reject)))
            .cloned()
            .collect();
        let left: Vec<ChangeId> =
            all.iter().map(|change| &change.id).filter(|change| !fates.contains_key(*change)).cloned().collect();
        let selected = self.select(&delta, &pairs, &fates)?;
        let changes = self.onto_main(&main, info.base, &selected, &options.resolutions).await?;
        self.ask(&main, &changes, options.gate).await?;
        let state = if left.is_empty() { BranchState::Merged } else { BranchState::InReview };
        let mut report = MergeReport { commit: None, merged, left, written: Vec::new(), removed: Vec::new(), state };
        let mut meta = meta.clone();
        if meta.receipt.is_null() {
            meta.receipt = reconcile::receipt(&changes.texts().keys().cloned().collect::<Vec<_>>());
        }
        let mut prepared = self.core().prepare(&main, &changes, &meta, &[info.head]).await?;
        prepared.detail.merged = Some(id.to_string());
        prepared.detail.runs = self.runs_of(id).await?;
        for (key, text) in changes.texts() {
            let file = prepared.files.iter().find(|file| crate::document::key_of(&file.path).as_ref() == Some(key));
            let Some(file) = file else { continue };
            let list = if text.is_some() { &mut report.written } else { &mut report.removed };
            list.push((key.clone(), file.path.clone()));
        }
        if options.dry_run || (changes.is_empty() && !report.left.is_empty()) {
            report.state = info.state;
            return Ok(report);
        }
        let also = reconcile::after_merge(self, id, report.state);
        report.commit = Some(self.publish(prepared, OpKind::Merge, &meta, also).await?);
        if !report.left.is_empty() {
            // What is left is shown against main as it is now.
            self.update(id, &options.resolutions, &Meta::new(meta.actor.clone(), "stand on main after the merge")).await?;
        }
        Ok(report)
    }

    /// Both sides of each document that a branch changed, with the reason.
    async fn pairs(&self, id: &BranchId, delta: &Delta) -> Result<BTreeMap<DocKey, Pair>, StoreError> {
        let reasons = self.reasons(id).await?;
        let side = |key: &DocKey, version: &Option<Version>| version.as_ref().map(|version| version.parts(key)).transpose();
        let mut pairs = BTreeMap::new();
        for (key, (before, after)) in &delta.documents {
            if delta.renames.iter().any(|(from, _)| from == key) {
                continue;
            }
            let from = delta.renames.iter().find(|(_, to)| to == key).map(|(from, _)| from.clone());
            let before = match &from {
                Some(from) => delta.documents.get(from).map_or(Ok(None), |(before, _)| side(from, before))?,
                None => side(key, before)?,
            };
            let intent = reasons.get(key).cloned().unwrap_or_default();
            pairs.insert(key.clone(), Pair { from, before, after: side(key, after)?, intent });
        }
        Ok(pairs)
    }

    /// Returns why each document of a branch was changed last.
    async fn reasons(&self, id: &BranchId) -> Result<BTreeMap<DocKey, String>, StoreError> {
        let core = self.core();
        let ops = oplog::select(core.scope(), &core.id, Some(OpKind::Commit), None, Some(id)).await?;
        let mut reasons = BTreeMap::new();
        for op in &ops {
            let (Some(before), Some(after)) = (op.before, op.after) else { continue };
            let (before, after) = (core.objects.commit(before).await?.tree, core.objects.commit(after).await?.tree);
            for change in tree_edit::diff(&core.objects, before, after).await? {
                if let Some(key) = crate::document::key_of(&change.path) {
                    reasons.entry(key).or_insert_with(|| op.intent.clone());
                }
            }
        }
        Ok(reasons)
    }

    /// Leaves of a delta only what the decisions let through.
    fn select(
        &self,
        delta: &Delta,
        pairs: &BTreeMap<DocKey, Pair>,
        fates: &BTreeMap<ChangeId, Fate>,
    ) -> Result<Delta, StoreError> {
        let mut selected = Delta::default();
        let mut findings = Vec::new();
        for (key, pair) in pairs {
            let old_key = pair.from.clone().unwrap_or_else(|| key.clone());
            let before = delta.documents.get(&old_key).and_then(|(before, _)| before.clone());
            let after = delta.documents.get(key).and_then(|(_, after)| after.clone());
            let decided = match review::apply(key, pair, fates) {
                Ok(decided) => decided,
                Err(why) => {
                    findings.push(format!("{key}: {why}"));
                    continue;
                }
            };
            let version = match &decided.text {
                None => None,
                Some(text) if after.as_ref().is_some_and(|after| *after.text == **text) => after,
                Some(text) if before.as_ref().is_some_and(|before| *before.text == **text) => before.clone(),
                Some(text) => {
                    Some(Version::carried(key, before.as_ref().or(after.as_ref()), text, self.core().objects.dialect())?)
                }
            };
            if decided.key != old_key {
                selected.renames.push((old_key.clone(), decided.key.clone()));
                selected.documents.insert(old_key, (before, None));
                selected.documents.insert(decided.key, (None, version));
            } else {
                selected.documents.insert(decided.key, (before, version));
            }
        }
        if !findings.is_empty() {
            return Err(StoreError::Unsound { findings });
        }
        selected.documents.retain(|_, (before, after)| {
            before.as_ref().map(|version| &version.text) != after.as_ref().map(|version| &version.text)
        });
        Ok(selected)
    }
}

/// Says what becomes of each change; one that is not named stays on the branch.
fn fates(all: &[Change], decided: &BTreeMap<ChangeId, Decision>, selection: &Selection) -> BTreeMap<ChangeId, Fate> {
    let mut fates = BTreeMap::new();
    for change in all {
        let decision = decided.get(&change.id).map(|decision| decision.fate.clone());
        let fate = match (selection, decision) {
            (Selection::Only(chosen), Some(Fate::Edit(text))) if chosen.contains(&change.id) => Some(Fate::Edit(text)),
            (Selection::Only(chosen), _) if chosen.contains(&change.id) => Some(Fate::Accept),
            (Selection::Only(_), Some(Fate::Reject)) => Some(Fate::Reject),
            (Selection::Only(_), _) => None,
            (_, Some(fate)) => Some(fate),
            (Selection::All, None) => Some(Fate::Accept),
            (Selection::Accepted, None) => None,
        };
        fates.extend(fate.map(|fate| (change.id.clone(), fate)));
    }
    fates
}
