//! Refs: names of commits, moved by compare-and-set and in no other way.

use crate::error::StoreError;
use crate::ids::{BranchId, WorkspaceId};
use crate::object::ObjectId;
use crate::sql::{Scope, Tx, args};

/// The ref of main.
pub(crate) const MAIN: &str = "refs/heads/main";

/// Returns the ref of a branch.
pub(crate) fn of_branch(branch: &BranchId) -> String {
    format!("refs/heads/deckle/{branch}")
}

/// Reads a ref.
pub(crate) async fn read(scope: &Scope, workspace: &WorkspaceId, name: &str) -> Result<Option<ObjectId>, StoreError> {
    let row = scope
        .first("SELECT target FROM refs WHERE tenant = $1 AND workspace = $2 AND name = $3", args![workspace.as_str(), name])
        .await?;
    row.map(|row| row.id(0)).transpose()
}

/// Creates a ref that must not be there.
pub(crate) async fn create(tx: &mut Tx, workspace: &WorkspaceId, name: &str, target: ObjectId) -> Result<bool, StoreError> {
    let made = tx
        .exec(
            "INSERT INTO refs (tenant, workspace, name, target) VALUES ($1, $2, $3, $4) ON CONFLICT (tenant, workspace, name) DO NOTHING",
            args![workspace.as_str(), name, target],
        )
        .await?;
    Ok(made == 1)
}

/// Moves a ref from where the caller knows it to be; says where it is instead when it is not there.
pub(crate) async fn move_to(
    tx: &mut Tx,
    workspace: &WorkspaceId,
    name: &str,
    from: ObjectId,
    to: ObjectId,
) -> Result<Result<(), Option<ObjectId>>, StoreError> {
    // Sabotage: move it from wherever it is.
    let compare = if cfg!(sabotage = "lost_compare_and_set") { "$5 = $5" } else { "target = $5" };
    let moved = tx
        .exec(
            &format!("UPDATE refs SET target = $4 WHERE tenant = $1 AND workspace = $2 AND name = $3 AND {compare}"),
            args![workspace.as_str(), name, to, from],
        )
        .await?;
    if moved == 1 {
        return Ok(Ok(()));
    }
    let row = tx
        .first("SELECT target FROM refs WHERE tenant = $1 AND workspace = $2 AND name = $3", args![workspace.as_str(), name])
        .await?;
    Ok(Err(row.map(|row| row.id(0)).transpose()?))
}
