//! Deleted documents: kept with their bytes and their block ids until a person purges them.

use deckle_doc::DocKey;

use crate::core::{Core, Line};
use crate::error::StoreError;
use crate::ids::{Actor, Timestamp, UserId, WorkspaceId};
use crate::object::ObjectId;
use crate::sql::{Row, Tx, args};

/// A document that was deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trashed {
    /// Its key.
    pub key: DocKey,
    /// The file it stood in.
    pub path: String,
    /// Whether the file may be run.
    pub executable: bool,
    /// Its text.
    pub blob: ObjectId,
    /// Its block ids, when they cannot be derived.
    pub(crate) names: Option<Vec<String>>,
    /// Who deleted it.
    pub actor: Actor,
    /// When.
    pub at: Timestamp,
    /// The entry of the op log that deleted it.
    pub op: i64,
}

const COLUMNS: &str = "doc, path, mode, blob, ids, person, agent, at, op";

fn read(row: &Row) -> Result<Trashed, StoreError> {
    let damaged = |_| StoreError::Corrupt { what: "the trash".into(), finding: "a row cannot be read".into() };
    Ok(Trashed {
        key: DocKey::parse(row.text(0)?)
            .map_err(|error| StoreError::Corrupt { what: "the trash".into(), finding: error.to_string() })?,
        path: row.text(1)?.to_owned(),
        executable: row.text(2)? == "executable",
        blob: row.id(3)?,
        names: row.text_or_none(4)?.map(serde_json::from_str).transpose().map_err(damaged)?,
        actor: Actor { person: UserId::parse(row.text(5)?)?, agent: row.text_or_none(6)?.map(str::to_owned) },
        at: row.time(7)?,
        op: row.int(8)?,
    })
}

/// Lists a line's trash, the newest first.
pub(crate) async fn list(core: &Core, line: &Line) -> Result<Vec<Trashed>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM trash WHERE tenant = $1 AND workspace = $2 AND branch = $3 ORDER BY op DESC, doc");
    core.scope().fetch(&sql, args![core.id.as_str(), line.column()]).await?.iter().map(read).collect()
}

/// Returns one entry.
pub(crate) async fn get(core: &Core, line: &str, key: &DocKey, op: i64) -> Result<Trashed, StoreError> {
    let sql =
        format!("SELECT {COLUMNS} FROM trash WHERE tenant = $1 AND workspace = $2 AND branch = $3 AND doc = $4 AND op = $5");
    let row = core.scope().first(&sql, args![core.id.as_str(), line, key.as_str(), op]).await?;
    read(&row.ok_or_else(|| StoreError::not_found("deleted document", key))?)
}

/// Puts documents in.
pub(crate) async fn add(
    tx: &mut Tx,
    workspace: &WorkspaceId,
    line: &Line,
    op: i64,
    at: Timestamp,
    actor: &Actor,
    trashed: &[Trashed],
) -> Result<(), StoreError> {
    for one in trashed {
        let names = one.names.as_ref().map(|names| serde_json::json!(names).to_string());
        tx.exec(
            "INSERT INTO trash (tenant, workspace, branch, doc, op, path, mode, blob, ids, person, agent, at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
            args![
                workspace.as_str(),
                line.column(),
                one.key.as_str(),
                op,
                one.path.as_str(),
                if one.executable { "executable" } else { "file" },
                one.blob,
                names,
                actor.person.as_str(),
                actor.agent.as_deref(),
                at,
            ],
        )
        .await?;
    }
    Ok(())
}

/// Takes restored documents out.
pub(crate) async fn take(
    tx: &mut Tx,
    workspace: &WorkspaceId,
    line: &Line,
    restored: &[(DocKey, i64)],
) -> Result<(), StoreError> {
    for (key, op) in restored {
        tx.exec(
            "DELETE FROM trash WHERE tenant = $1 AND workspace = $2 AND branch = $3 AND doc = $4 AND op = $5",
            args![workspace.as_str(), line.column(), key.as_str(), *op],
        )
        .await?;
    }
    Ok(())
}
