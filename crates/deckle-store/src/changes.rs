//! What a write does to documents, whole texts in and out.

use std::collections::BTreeMap;
use std::sync::Arc;

use deckle_doc::DocKey;
use serde_json::Value;

use crate::ids::{Actor, CallId, RunId, Timestamp};
use crate::lease::Lease;
use crate::object::ObjectId;

/// The documents that a write changes: the text that each has afterwards, or none for one that is deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    texts: BTreeMap<DocKey, Option<Arc<str>>>,
    renames: Vec<(DocKey, DocKey)>,
    restores: BTreeMap<DocKey, i64>,
    /// Ids that a merge worked out, in place of carrying them from the version before.
    ids: BTreeMap<DocKey, Vec<String>>,
}

impl Changes {
    /// No change.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives a document this text, creating it when it is not there.
    #[must_use]
    pub fn write(mut self, key: DocKey, text: impl Into<Arc<str>>) -> Self {
        self.texts.insert(key, Some(text.into()));
        self
    }

    /// Deletes a document; it can be restored with its ids.
    #[must_use]
    pub fn delete(mut self, key: DocKey) -> Self {
        self.texts.insert(key, None);
        self
    }

    /// Moves a document to a new key with this text, so that its blocks keep their ids.
    #[must_use]
    pub fn rename(mut self, from: DocKey, to: DocKey, text: impl Into<Arc<str>>) -> Self {
        self.texts.insert(from.clone(), None);
        self.texts.insert(to.clone(), Some(text.into()));
        self.renames.push((from, to));
        self
    }

    /// Marks a written document as one that comes back from the trash: it gets the ids it had.
    pub(crate) fn restore(mut self, key: DocKey, text: Arc<str>, op: i64) -> Self {
        self.restores.insert(key.clone(), op);
        self.texts.insert(key, Some(text));
        self
    }

    /// Gives a written document these block ids.
    pub(crate) fn with_ids(mut self, key: DocKey, names: Vec<String>) -> Self {
        self.ids.insert(key, names);
        self
    }

    pub(crate) fn ids(&self, key: &DocKey) -> Option<&[String]> {
        self.ids.get(key).map(Vec::as_slice)
    }

    /// Returns the documents and their texts.
    pub fn texts(&self) -> &BTreeMap<DocKey, Option<Arc<str>>> {
        &self.texts
    }

    /// Returns the renames, old key first.
    pub fn renames(&self) -> &[(DocKey, DocKey)] {
        &self.renames
    }

    pub(crate) fn restored(&self, key: &DocKey) -> Option<i64> {
        self.restores.get(key).copied()
    }

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }
}

/// Why and by whom a write is made.
#[derive(Clone, Debug, PartialEq)]
pub struct Meta {
    /// Who does it.
    pub actor: Actor,
    /// Why, in words.
    pub intent: String,
    /// The run it belongs to.
    pub run: Option<RunId>,
    /// The tool call that it is: a second write of the same run and call is the first one again.
    pub call: Option<CallId>,
    /// What was done, for the log; the store does not read it.
    pub receipt: Value,
    /// The lease under which it is done: when another process took it over, the write is refused.
    pub lease: Option<Lease>,
}

impl Meta {
    /// A write outside any run.
    pub fn new(actor: Actor, intent: &str) -> Self {
        Self { actor, intent: intent.to_owned(), run: None, call: None, receipt: Value::Null, lease: None }
    }

    /// The same, as one call of a run.
    #[must_use]
    pub fn call(mut self, run: RunId, call: CallId) -> Self {
        (self.run, self.call) = (Some(run), Some(call));
        self
    }

    /// The same, as a part of a run that is no tool call.
    #[must_use]
    pub fn run(mut self, run: RunId) -> Self {
        self.run = Some(run);
        self
    }

    /// The same, under a lease.
    #[must_use]
    pub fn lease(mut self, lease: Lease) -> Self {
        self.lease = Some(lease);
        self
    }

    /// The same, with a receipt.
    #[must_use]
    pub fn receipt(mut self, receipt: Value) -> Self {
        self.receipt = receipt;
        self
    }
}

/// A write that is true and durable.
#[derive(Clone, Debug, PartialEq)]
pub struct Commit {
    /// The commit that the branch is at now.
    pub id: ObjectId,
    /// The one that it was at before.
    pub before: ObjectId,
    /// Its number in the op log.
    pub op: i64,
    /// When it was made.
    pub at: Timestamp,
    /// The receipt that was stored with it.
    pub receipt: Value,
    /// This very call was made before, and nothing was written now.
    pub repeated: bool,
}
