//! Brakes: documents and folders that may not be deleted, or not changed at all.

use deckle_doc::DocKey;

use crate::changes::Changes;
use crate::core::Core;
use crate::error::StoreError;
use crate::sql::args;

/// How much a protection forbids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protection {
    /// It may not be deleted or moved.
    Delete,
    /// It may not be changed at all.
    Edit,
}

impl Protection {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Delete => "delete",
            Self::Edit => "edit",
        }
    }

    fn parse(word: &str) -> Self {
        if word == "edit" { Self::Edit } else { Self::Delete }
    }
}

/// A protected document (`a/b`) or folder (`a/`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protected {
    /// The key, or the folder with a slash at its end.
    pub path: String,
    /// What is forbidden.
    pub level: Protection,
}

impl Protected {
    fn covers(&self, key: &DocKey) -> bool {
        if self.path.ends_with('/') { key.as_str().starts_with(&self.path) } else { key.as_str() == self.path }
    }
}

/// Lists the protections.
pub(crate) async fn list(core: &Core) -> Result<Vec<Protected>, StoreError> {
    let rows = core
        .scope()
        .fetch("SELECT path, level FROM protections WHERE tenant = $1 AND workspace = $2 ORDER BY path", args![core.id.as_str()])
        .await?;
    rows.iter().map(|row| Ok(Protected { path: row.text(0)?.to_owned(), level: Protection::parse(row.text(1)?) })).collect()
}

/// Returns what protects a document, the stricter of two.
pub(crate) fn of(protections: &[Protected], key: &DocKey) -> Option<Protection> {
    protections.iter().filter(|one| one.covers(key)).map(|one| one.level).max()
}

/// Refuses a write that a protection forbids.
pub(crate) async fn check(core: &Core, changes: &Changes) -> Result<(), StoreError> {
    let protections = list(core).await?;
    if protections.is_empty() {
        return Ok(());
    }
    let forbidden = changes.texts().iter().filter(|(key, text)| match of(&protections, key) {
        Some(Protection::Edit) => true,
        Some(Protection::Delete) => text.is_none(),
        None => false,
    });
    let keys: Vec<String> = forbidden.map(|(key, _)| key.to_string()).collect();
    if keys.is_empty() { Ok(()) } else { Err(StoreError::Protected { keys }) }
}
