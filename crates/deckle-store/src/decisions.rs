//! What a person decided about the changes of a branch. Append-only, so that a decision can be taken back.

use std::collections::BTreeMap;

use crate::core::Core;
use crate::diff::ChangeId;
use crate::error::StoreError;
use crate::ids::{Actor, BranchId, Timestamp, UserId};
use crate::review::Fate;
use crate::sql::args;

/// One decision, the last one about its change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// What becomes of the change.
    pub fate: Fate,
    /// What the person said about it; the agent's next run reads it.
    pub note: String,
    /// Who decided.
    pub person: UserId,
    /// When.
    pub at: Timestamp,
}

/// Returns the decisions about a branch that stand.
pub(crate) async fn load(core: &Core, branch: &BranchId) -> Result<BTreeMap<ChangeId, Decision>, StoreError> {
    let rows = core
        .scope()
        .fetch(
            "SELECT change, verdict, text, note, person, at FROM decisions WHERE tenant = $1 AND workspace = $2 AND branch = $3 ORDER BY seq",
            args![core.id.as_str(), branch.as_str()],
        )
        .await?;
    let mut decisions = BTreeMap::new();
    for row in &rows {
        let change = ChangeId::new(row.text(0)?);
        let fate = match row.text(1)? {
            "accept" => Fate::Accept,
            "reject" => Fate::Reject,
            "edit" => Fate::Edit(row.text(2)?.to_owned()),
            _ => {
                decisions.remove(&change);
                continue;
            }
        };
        let decision = Decision { fate, note: row.text(3)?.to_owned(), person: UserId::parse(row.text(4)?)?, at: row.time(5)? };
        decisions.insert(change, decision);
    }
    Ok(decisions)
}

/// Notes decisions; none takes the decision about a change back.
pub(crate) async fn add(
    core: &Core,
    branch: &BranchId,
    decided: &[(ChangeId, Option<Fate>)],
    note: &str,
    actor: &Actor,
) -> Result<(), StoreError> {
    let mut tx = core.scope().begin().await?;
    if !crate::branch::set_state(&mut tx, core, branch, crate::branch::BranchState::InReview).await? {
        return Err(StoreError::State { branch: branch.to_string(), state: "closed" });
    }
    let row = tx
        .first(
            "SELECT COALESCE(MAX(seq), 0) FROM decisions WHERE tenant = $1 AND workspace = $2 AND branch = $3",
            args![core.id.as_str(), branch.as_str()],
        )
        .await?;
    let first = row.map(|row| row.int(0)).transpose()?.unwrap_or_default() + 1;
    for (seq, (change, fate)) in (first..).zip(decided) {
        let (verdict, text) = match fate {
            Some(Fate::Accept) => ("accept", None),
            Some(Fate::Reject) => ("reject", None),
            Some(Fate::Edit(text)) => ("edit", Some(text.as_str())),
            None => ("none", None),
        };
        tx.exec(
            "INSERT INTO decisions (tenant, workspace, branch, seq, change, verdict, text, note, person, at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
            args![
                core.id.as_str(),
                branch.as_str(),
                seq,
                change.as_str(),
                verdict,
                text,
                note,
                actor.person.as_str(),
                core.now(),
            ],
        )
        .await?;
    }
    tx.commit().await
}

/// Takes the last decision back; returns which change it was about.
pub(crate) async fn take_back(core: &Core, branch: &BranchId) -> Result<Option<ChangeId>, StoreError> {
    let mut tx = core.scope().begin().await?;
    let row = tx
        .first(
            "DELETE FROM decisions WHERE tenant = $1 AND workspace = $2 AND branch = $3 AND seq = (SELECT MAX(seq) FROM decisions \
             WHERE tenant = $1 AND workspace = $2 AND branch = $3) RETURNING change",
            args![core.id.as_str(), branch.as_str()],
        )
        .await?;
    tx.commit().await?;
    row.map(|row| Ok(ChangeId::new(row.text(0)?))).transpose()
}
