//! Everything that can go wrong in the store, for code; [`crate::diag`] says it to the reader.

use std::io;
use std::path::{Path, PathBuf};

use crate::ids::Timestamp;
use crate::object::ObjectId;

/// An error of the store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A name breaks the rule of its kind.
    #[error("`{name}` is not a {what}")]
    Name {
        /// The kind of name.
        what: &'static str,
        /// What was given.
        name: String,
        /// What is allowed.
        rule: &'static str,
    },
    /// There is no store in the folder or above it.
    #[error("`{}` is not a workspace", .0.display())]
    NotAWorkspace(PathBuf),
    /// The folder is not there.
    #[error("the folder `{}` is not there", .0.display())]
    FolderMissing(PathBuf),
    /// The path is a file.
    #[error("`{}` is not a folder", .0.display())]
    NotAFolder(PathBuf),
    /// The folder refuses to be written.
    #[error("the folder `{}` is not writable", .0.display())]
    NotWritable(PathBuf),
    /// The folder holds no Markdown file.
    #[error("the folder `{}` holds no Markdown file", .0.display())]
    NoMarkdown(PathBuf),
    /// Another process holds the store.
    #[error("another process holds the store")]
    Locked,
    /// The schema was written by a newer program.
    #[error("the store has schema {found}, and this program knows {known}")]
    NewerSchema {
        /// The version in the store.
        found: i64,
        /// The version that we write.
        known: i64,
    },
    /// No space is left.
    #[error("the disk is full")]
    DiskFull,
    /// The disk failed below the database or the folder.
    #[error("the disk failed: {cause}")]
    Disk {
        /// What the system said.
        cause: String,
    },
    /// A write failed in the disk earlier, so nothing more is acknowledged.
    #[error("the store is read-only since the disk failed")]
    ReadOnly,
    /// The database went away.
    #[error("the database does not answer: {cause}")]
    Unreachable {
        /// What the driver said.
        cause: String,
    },
    /// The database refused a statement.
    #[error("the database refused: {0}")]
    Sql(sqlx::Error),
    /// A file could not be read or written.
    #[error("`{}`: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Something is not there.
    #[error("no {what} `{name}`")]
    NotFound {
        /// The kind of thing.
        what: &'static str,
        /// The name that was asked for.
        name: String,
        /// What is there, as far as the caller may see it.
        there: Vec<String>,
    },
    /// Something is there already.
    #[error("the {what} `{name}` exists")]
    Exists {
        /// The kind of thing.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// The branch moved since the caller read it.
    #[error("`{name}` moved from {} to {}", .expected.short(), .actual.short())]
    Moved {
        /// The branch.
        name: String,
        /// The commit that the caller knew.
        expected: ObjectId,
        /// The commit that it is at.
        actual: ObjectId,
    },
    /// Files are not what the change was planned on.
    #[error("{} file(s) changed underneath", .files.len())]
    ChangedUnderneath {
        /// Their paths in the folder.
        files: Vec<String>,
    },
    /// The branch's state does not allow it.
    #[error("the branch `{branch}` is {state}")]
    State {
        /// The branch.
        branch: String,
        /// Its state.
        state: &'static str,
    },
    /// A document or its folder is protected.
    #[error("{} document(s) are protected", .keys.len())]
    Protected {
        /// The documents.
        keys: Vec<String>,
    },
    /// Two different changes to one block.
    #[error("{} conflict(s)", .0.len())]
    Conflicts(Vec<crate::Conflict>),
    /// What would be written is not sound.
    #[error("the result is refused: {} finding(s)", .findings.len())]
    Unsound {
        /// What is wrong, document by document.
        findings: Vec<String>,
    },
    /// A document breaks a limit or is not text.
    #[error("`{key}` cannot be a document: {why}")]
    NotADocument {
        /// The document or file.
        key: String,
        /// Why.
        why: String,
    },
    /// A stored thing is not what it says it is.
    #[error("{what} is damaged: {finding}")]
    Corrupt {
        /// The thing.
        what: String,
        /// What is wrong with it.
        finding: String,
    },
    /// The lease is another's, or is over.
    #[error("`{name}` is held by {holder}")]
    Held {
        /// What is held.
        name: String,
        /// Who holds it.
        holder: String,
        /// Until when.
        until: Timestamp,
    },
    /// The lease was lost: another took it over.
    #[error("the lease of `{name}` was lost")]
    Fenced {
        /// What was held.
        name: String,
    },
    /// A turn runs on the branch.
    #[error("turn `{turn}` runs on the branch `{branch}`")]
    Busy {
        /// The branch.
        branch: String,
        /// The turn.
        turn: String,
        /// Until when its process holds it; in the past when the process died.
        until: Timestamp,
    },
    /// A message would leave a gap.
    #[error("the next message of session `{session}` has place {next}, not {asked}")]
    Gap {
        /// The session.
        session: String,
        /// The next place.
        next: u64,
        /// The place that was asked for.
        asked: u64,
    },
    /// The quota does not allow it.
    #[error("the quota of {resource} for `{team}` has {left} left, {asked} asked for")]
    Quota {
        /// The team.
        team: String,
        /// What is counted.
        resource: String,
        /// What is left.
        left: i64,
        /// What was asked for.
        asked: i64,
        /// When it begins anew.
        resets_at: Timestamp,
    },
    /// The person may not do this.
    #[error("`{person}` may not {verb} here")]
    Rights {
        /// Who asked.
        person: String,
        /// What was asked.
        verb: &'static str,
    },
    /// Git said no.
    #[error("git: {message}")]
    Git {
        /// What it said.
        message: String,
        /// What to do.
        hint: &'static str,
    },
}

impl StoreError {
    /// Wraps an error of the file system with its path.
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull,
            io::ErrorKind::ReadOnlyFilesystem => Self::NotWritable(path.to_path_buf()),
            _ => Self::Io { path: path.to_path_buf(), source },
        }
    }

    /// Says that a thing is not there.
    pub(crate) fn not_found(what: &'static str, name: impl ToString) -> Self {
        Self::NotFound { what, name: name.to_string(), there: Vec::new() }
    }

    /// Whether trying again from a fresh read can succeed.
    pub fn is_stale(&self) -> bool {
        matches!(self, Self::Moved { .. } | Self::ChangedUnderneath { .. })
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        match &error {
            sqlx::Error::Database(inner) if inner.try_downcast_ref::<sqlx::sqlite::SqliteError>().is_some() => {
                // The low byte of SQLite's extended codes is the primary one.
                let code = inner.code().and_then(|code| code.parse::<u32>().ok()).unwrap_or_default();
                match code & 0xff {
                    5 | 6 => Self::Locked,
                    8 => Self::ReadOnly,
                    10 => Self::Disk { cause: inner.message().to_owned() },
                    11 | 26 => Self::Corrupt { what: "the database".into(), finding: inner.message().to_owned() },
                    13 => Self::DiskFull,
                    14 => Self::Unreachable { cause: inner.message().to_owned() },
                    _ => Self::Sql(error),
                }
            }
            sqlx::Error::Database(inner) => match inner.code().as_deref() {
                Some("53100") => Self::DiskFull,
                Some("55P03" | "40P01" | "40001") => Self::Locked,
                Some("57P01" | "57P02" | "57P03" | "53300") => Self::Unreachable { cause: inner.message().to_owned() },
                Some("58030") => Self::Disk { cause: inner.message().to_owned() },
                _ => Self::Sql(error),
            },
            sqlx::Error::Io(source) => Self::Unreachable { cause: source.to_string() },
            sqlx::Error::PoolTimedOut => Self::Locked,
            sqlx::Error::PoolClosed | sqlx::Error::WorkerCrashed | sqlx::Error::Tls(_) | sqlx::Error::Configuration(_) => {
                Self::Unreachable { cause: error.to_string() }
            }
            _ => Self::Sql(error),
        }
    }
}
