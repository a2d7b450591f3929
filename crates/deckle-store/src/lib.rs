//! Snapshots, branches, op log, block merge, review, sessions.
//!
//! The store keeps documents in git's object model inside one SQL database: SQLite in `.deckle/`, or Postgres. A
//! [`Workspace`] is what a person's programs hold; a [`Branch`] is what an agent's tools hold, and it names no other line
//! of history than its own.
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod access;
mod block_ids;
mod branch;
mod changes;
mod combine;
mod conflict;
mod core;
mod damage;
mod decisions;
mod diag;
pub mod diff;
mod document;
mod error;
mod folder;
mod fsck;
mod git;
mod ids;
mod landing;
mod lease;
mod main_folder;
pub mod merge;
mod notice;
pub mod object;
mod objects;
mod oplog;
mod protect;
mod quota;
mod reconcile;
mod refs;
pub mod review;
mod session;
mod snapshot;
mod sql;
mod store;
mod trash;
mod tree_edit;
mod turn;
mod watch;
mod workspace;

pub use access::{Access, Rights, Role, Subject, Token, Verb, read_token};
pub use branch::{Branch, BranchInfo, BranchState};
pub use changes::{Changes, Commit, Meta};
pub use conflict::{Conflict, ConflictKind, Resolution};
pub use damage::DamageGate;
pub use decisions::Decision;
pub use document::{NotDocument, OtherFile};
pub use error::StoreError;
pub use folder::STORE_FOLDER;
pub use fsck::{Finding, FindingKind, FsckReport};
pub use git::{ExportReport, ImportReport, Published};
pub use ids::{Actor, BranchId, CallId, Clock, RunId, SessionId, TeamId, Tenant, Timestamp, TurnId, UserId, WorkspaceId};
pub use landing::{MergeOptions, MergeReport, Review, Selection};
pub use lease::{Lease, TakeOver};
pub use notice::{Notices, Subscription};
pub use object::ObjectId;
pub use oplog::{LogFilter, Op, OpKind};
pub use protect::{Protected, Protection};
pub use quota::{Quota, Quotas, Reservation, Usage, UsageTotal};
pub use reconcile::{Gate, UndoReport};
pub use session::{Event, Message, Session, Sessions};
pub use snapshot::{Document, Snapshot};
pub use sql::SCHEMA_VERSION;
pub use store::Store;
pub use trash::Trashed;
pub use tree_edit::FileEntry;
pub use turn::{NewTurn, Turn, TurnState};
pub use watch::Watch;
pub use workspace::{InitOptions, Workspace};
