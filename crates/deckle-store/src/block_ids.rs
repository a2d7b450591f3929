//! Block ids that were carried. A row exists only where the text alone would give other ids.

use std::collections::HashMap;

use deckle_doc::{DocKey, Ids, Tree};

use crate::error::StoreError;
use crate::ids::WorkspaceId;
use crate::object::ObjectId;
use crate::sql::{Scope, Tx, args};

/// The line of main in the table.
pub(crate) const MAIN: &str = "";

/// The ids of one version of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Carried {
    pub(crate) key: DocKey,
    pub(crate) blob: ObjectId,
    pub(crate) names: Vec<String>,
}

/// Loads the ids of a version: those of the line, else those of main, on which every line stands.
pub(crate) async fn load(
    scope: &Scope,
    workspace: &WorkspaceId,
    line: &str,
    key: &DocKey,
    blob: ObjectId,
) -> Result<Option<Vec<String>>, StoreError> {
    let row = scope
        .first(
            "SELECT ids FROM block_ids WHERE tenant = $1 AND workspace = $2 AND branch IN ($3, '') AND doc = $4 AND blob = $5 \
             ORDER BY branch DESC LIMIT 1",
            args![workspace.as_str(), line, key.as_str(), blob],
        )
        .await?;
    row.map(|row| {
        serde_json::from_value(row.json(0)?).map_err(|_| StoreError::Corrupt {
            what: format!("block ids of `{key}`"),
            finding: "they are not a list of names".into(),
        })
    })
    .transpose()
}

/// Loads all ids that were carried on a line, or on main below it.
pub(crate) async fn load_all(
    scope: &Scope,
    workspace: &WorkspaceId,
    line: &str,
) -> Result<HashMap<(DocKey, ObjectId), Vec<String>>, StoreError> {
    let rows = scope
        .fetch(
            "SELECT doc, blob, ids FROM block_ids WHERE tenant = $1 AND workspace = $2 AND branch IN ($3, '') ORDER BY branch",
            args![workspace.as_str(), line],
        )
        .await?;
    let mut all = HashMap::with_capacity(rows.len());
    for row in &rows {
        // A row that cannot be read is a finding of `fsck`; here its document simply has the ids that its text gives.
        if let (Ok(key), Ok(names)) = (DocKey::parse(row.text(0)?), serde_json::from_str(row.text(2)?)) {
            all.insert((key, row.id(1)?), names);
        }
    }
    Ok(all)
}

/// Stores the ids of versions on a line.
pub(crate) async fn save(tx: &mut Tx, workspace: &WorkspaceId, line: &str, carried: &[Carried]) -> Result<(), StoreError> {
    for one in carried {
        tx.exec(
            "INSERT INTO block_ids (tenant, workspace, branch, doc, blob, ids) VALUES ($1, $2, $3, $4, $5, $6) \
             ON CONFLICT (tenant, workspace, branch, doc, blob) DO UPDATE SET ids = excluded.ids",
            args![workspace.as_str(), line, one.key.as_str(), one.blob, &serde_json::json!(one.names)],
        )
        .await?;
    }
    Ok(())
}

/// Returns the names of all blocks in preorder.
pub(crate) fn names(ids: &Ids) -> Vec<String> {
    ids.names().map(str::to_owned).collect()
}

/// Gives a tree the names that were stored for it; nothing when they do not fit.
pub(crate) fn restore(tree: &Tree, names: &[String]) -> Option<Ids> {
    Ids::from_names(tree, names)
}

/// Returns what must be stored for a new version: nothing when its own text gives the same ids.
pub(crate) fn worth_storing(key: &DocKey, blob: ObjectId, tree: &Tree, ids: &Ids) -> Option<Carried> {
    let names = names(ids);
    (names != self::names(&Ids::derive(tree))).then(|| Carried { key: key.clone(), blob, names })
}
