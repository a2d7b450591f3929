//! Looking for damage: every object hashed, every reference followed, every number counted. Each finding has a name.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use deckle_doc::{Dialect, DocKey, Tree};

use crate::block_ids;
use crate::document::{MAX_DOCUMENT_BYTES, is_markdown};
use crate::error::StoreError;
use crate::ids::Tenant;
use crate::object::{CommitObject, EntryMode, ObjectId, ObjectKind, TreeObject};
use crate::objects::Objects;
use crate::sql::{Scope, args};
use crate::store::Store;

/// How many objects are held at once.
const BATCH: i64 = 512;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingKind {
    /// The database's own structure is damaged.
    DatabaseDamaged,
    /// An object's bytes are not those of its id.
    HashMismatch,
    /// An object's row says another size than its bytes have.
    SizeMismatch,
    /// An object's bytes cannot be put together or read.
    BadObject,
    /// An object is named and not there.
    MissingObject,
    /// A document is marked as no document.
    HiddenDocument,
    /// A ref has a name that is none of ours, or a branch has no ref.
    BadRef,
    /// The op log has a gap, or an entry that cannot be read.
    BadLog,
    /// Block ids do not fit their document.
    BadBlockIds,
    /// A session's messages or events have a gap.
    SessionGap,
    /// What is held of a quota is not what its reservations hold.
    QuotaMismatch,
    /// A write to the folder began and did not end; opening the workspace ends it.
    UnfinishedWrite,
}

impl FindingKind {
    /// Returns the name of the finding.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::DatabaseDamaged => "databaseDamaged",
            Self::HashMismatch => "hashMismatch",
            Self::SizeMismatch => "sizeMismatch",
            Self::BadObject => "badObject",
            Self::MissingObject => "missingObject",
            Self::HiddenDocument => "hiddenDocument",
            Self::BadRef => "badRef",
            Self::BadLog => "badLog",
            Self::BadBlockIds => "badBlockIds",
            Self::SessionGap => "sessionGap",
            Self::QuotaMismatch => "quotaMismatch",
            Self::UnfinishedWrite => "unfinishedWrite",
        }
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// What.
    pub kind: FindingKind,
    /// Where: an object, a ref, a document, a session.
    pub at: String,
    /// More about it.
    pub detail: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.kind.as_str(), self.at, self.detail)
    }
}

/// What was looked at, and what is wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FsckReport {
    /// How many objects were hashed.
    pub objects: usize,
    /// How many refs were followed.
    pub refs: usize,
    /// How many entries of op logs were read.
    pub ops: usize,
    /// What is wrong.
    pub findings: Vec<Finding>,
}

impl Store {
    /// Looks at everything that a tenant has.
    ///
    /// # Errors
    /// When the database cannot be read at all; what is only damaged is a finding.
    pub async fn fsck(&self, tenant: &Tenant) -> Result<FsckReport, StoreError> {
        let scope = self.db.scope(tenant);
        let mut look = Look { scope: &scope, report: FsckReport::default(), good: HashMap::new(), opaque: BTreeSet::new() };
        for problem in self.db.integrity().await? {
            look.find(FindingKind::DatabaseDamaged, "the database", &problem);
        }
        look.objects().await?;
        look.refs().await?;
        look.log().await?;
        look.block_ids().await?;
        look.sessions().await?;
        look.quotas().await?;
        let mut report = look.report;
        report.findings.sort();
        report.findings.dedup();
        Ok(report)
    }
}

/// What an object that is sound refers to.
enum Known {
    Blob { text: bool },
    Tree(TreeObject),
    Commit(Box<CommitObject>),
}

struct Look<'a> {
    scope: &'a Scope,
    report: FsckReport,
    good: HashMap<ObjectId, Known>,
    opaque: BTreeSet<ObjectId>,
}

impl Look<'_> {
    fn find(&mut self, kind: FindingKind, at: impl fmt::Display, detail: &str) {
        self.report.findings.push(Finding { kind, at: at.to_string(), detail: detail.to_owned() });
    }

    async fn objects(&mut self) -> Result<(), StoreError> {
        // A cache of its own: what is to be checked must come from the database.
        let objects = Objects::new(self.scope.clone(), Default::default());
        let mut after = String::new();
        loop {
            let rows = self
                .scope
                .fetch(
                    "SELECT id, opaque, data IS NULL FROM objects WHERE tenant = $1 AND id > $2 ORDER BY id LIMIT $3",
                    args![after.as_str(), BATCH],
                )
                .await?;
            let Some(last) = rows.last() else { return Ok(()) };
            after = last.text(0)?.to_owned();
            let mut ids = Vec::new();
            for row in &rows {
                self.report.objects += 1;
                let name = row.text(0)?;
                let Ok(id) = name.parse::<ObjectId>() else {
                    self.find(FindingKind::BadObject, name, "its id is no id");
                    continue;
                };
                let (opaque, absent) = (row.int(1)? != 0, row.truth(2)?);
                if opaque {
                    self.opaque.insert(id);
                }
                match (opaque, absent) {
                    (false, true) => self.find(FindingKind::MissingObject, id, "its bytes are not in the store"),
                    (true, true) => drop(self.good.insert(id, Known::Blob { text: false })),
                    (_, false) => ids.push(id),
                }
            }
            match objects.read_many(&ids).await {
                Ok(read) => {
                    for (id, object) in read {
                        self.object(id, object.kind(), object.data());
                    }
                }
                // One of them is damaged: each is read alone, so the others are not blamed.
                Err(_) => {
                    for id in ids {
                        match objects.read_many(&[id]).await {
                            Ok(read) => {
                                for (id, object) in read {
                                    self.object(id, object.kind(), object.data());
                                }
                            }
                            Err(error) => self.bad(id, &error),
                        }
                    }
                }
            }
        }
    }

    fn bad(&mut self, id: ObjectId, error: &StoreError) {
        match error {
            StoreError::Corrupt { finding, .. } if finding.starts_with("its bytes are those of") => {
                self.find(FindingKind::HashMismatch, id, finding);
            }
            StoreError::Corrupt { finding, .. } if finding.starts_with("its row says") => {
                self.find(FindingKind::SizeMismatch, id, finding);
            }
            StoreError::Corrupt { finding, .. } => self.find(FindingKind::BadObject, id, finding),
            other => self.find(FindingKind::BadObject, id, &other.to_string()),
        }
    }

    fn object(&mut self, id: ObjectId, kind: ObjectKind, data: &[u8]) {
        let known = match kind {
            ObjectKind::Blob => Ok(Known::Blob { text: data.len() <= MAX_DOCUMENT_BYTES && std::str::from_utf8(data).is_ok() }),
            ObjectKind::Tree => TreeObject::parse(id, data).map(Known::Tree),
            ObjectKind::Commit => CommitObject::parse(id, data).map(|commit| Known::Commit(Box::new(commit))),
        };
        match known {
            Ok(known) => drop(self.good.insert(id, known)),
            Err(error) => self.bad(id, &error),
        }
    }

    /// Follows everything that a commit needs.
    fn follow(&mut self, from: &str, commit: ObjectId, seen: &mut BTreeSet<ObjectId>) {
        let mut stack = vec![(commit, ObjectKind::Commit, String::new())];
        while let Some((id, kind, path)) = stack.pop() {
            if id == ObjectId::EMPTY_TREE || !seen.insert(id) {
                continue;
            }
            let mut hidden = false;
            match (self.good.get(&id), kind) {
                (Some(Known::Commit(commit)), ObjectKind::Commit) => {
                    stack.push((commit.tree, ObjectKind::Tree, String::new()));
                    stack.extend(commit.parents.iter().map(|parent| (*parent, ObjectKind::Commit, String::new())));
                }
                (Some(Known::Tree(tree)), ObjectKind::Tree) => {
                    for entry in tree.entries() {
                        let at = format!("{path}{}", entry.name);
                        match entry.mode {
                            EntryMode::Folder => stack.push((entry.id, ObjectKind::Tree, format!("{at}/"))),
                            EntryMode::Module => {}
                            _ => stack.push((entry.id, ObjectKind::Blob, at)),
                        }
                    }
                }
                (Some(Known::Blob { text }), ObjectKind::Blob) => {
                    hidden = *text && is_markdown(&path) && self.opaque.contains(&id)
                }
                (Some(_), _) => self.find(FindingKind::BadObject, id, &format!("`{from}` needs it as a {}", kind.as_str())),
                (None, _) => self.find(FindingKind::MissingObject, id, &format!("`{from}` needs it: {} {path}", kind.as_str())),
            }
            if hidden {
                self.find(FindingKind::HiddenDocument, &path, "it is a document, and marked as none");
            }
        }
    }

    async fn refs(&mut self) -> Result<(), StoreError> {
        let rows = self
            .scope
            .fetch("SELECT workspace, name, target FROM refs WHERE tenant = $1 ORDER BY workspace, name", Vec::new())
            .await?;
        let mut seen = BTreeSet::new();
        let mut names = BTreeSet::new();
        for row in &rows {
            self.report.refs += 1;
            let name = format!("{}:{}", row.text(0)?, row.text(1)?);
            names.insert(name.clone());
            match row.id(2) {
                Ok(id) => self.follow(&name, id, &mut seen),
                Err(_) => self.find(FindingKind::BadRef, name, "its target is no id"),
            }
        }
        let rows = self
            .scope
            .fetch("SELECT workspace, id, base FROM branches WHERE tenant = $1 ORDER BY workspace, id", Vec::new())
            .await?;
        for row in &rows {
            let name = format!("{}:refs/heads/deckle/{}", row.text(0)?, row.text(1)?);
            if !names.remove(&name) {
                self.find(FindingKind::BadRef, &name, "the branch has no ref");
            }
            match row.id(2) {
                Ok(id) => self.follow(&name, id, &mut seen),
                Err(_) => self.find(FindingKind::BadRef, &name, "its base is no id"),
            }
        }
        for row in self.scope.fetch("SELECT id FROM workspaces WHERE tenant = $1 ORDER BY id", Vec::new()).await? {
            let name = format!("{}:{}", row.text(0)?, crate::refs::MAIN);
            if !names.remove(&name) {
                self.find(FindingKind::BadRef, &name, "the workspace has no main");
            }
        }
        for name in names {
            self.find(FindingKind::BadRef, name, "it belongs to no branch");
        }
        let rows = self
            .scope
            .fetch("SELECT workspace, doc, blob FROM trash WHERE tenant = $1 ORDER BY workspace, doc", Vec::new())
            .await?;
        for row in &rows {
            if !row.id(2).is_ok_and(|id| self.good.contains_key(&id)) {
                self.find(FindingKind::MissingObject, row.text(2)?, &format!("the deleted document `{}` needs it", row.text(1)?));
            }
        }
        for row in self.scope.fetch("SELECT workspace FROM writeouts WHERE tenant = $1", Vec::new()).await? {
            self.find(FindingKind::UnfinishedWrite, row.text(0)?, "a write to the folder was cut off");
        }
        Ok(())
    }

    async fn log(&mut self) -> Result<(), StoreError> {
        let rows = self
            .scope
            .fetch(
                "SELECT workspace, seq, before_commit, after_commit FROM ops WHERE tenant = $1 ORDER BY workspace, seq",
                Vec::new(),
            )
            .await?;
        let mut last: BTreeMap<String, i64> = BTreeMap::new();
        for row in &rows {
            self.report.ops += 1;
            let (workspace, seq) = (row.text(0)?.to_owned(), row.int(1)?);
            let expected = last.get(&workspace).copied().unwrap_or_default() + 1;
            if seq != expected {
                self.find(FindingKind::BadLog, format!("{workspace}:{seq}"), &format!("entry {expected} is missing"));
            }
            last.insert(workspace.clone(), seq);
            for at in [2, 3] {
                let Some(id) = row.text_or_none(at)? else { continue };
                let sound = id.parse().is_ok_and(|id: ObjectId| matches!(self.good.get(&id), Some(Known::Commit(_))));
                if !sound {
                    self.find(FindingKind::MissingObject, id, &format!("entry {seq} of the log needs it: commit"));
                }
            }
        }
        for row in self.scope.fetch("SELECT id, op_seq FROM workspaces WHERE tenant = $1", Vec::new()).await? {
            let (workspace, counter) = (row.text(0)?, row.int(1)?);
            if last.get(workspace).copied().unwrap_or_default() != counter {
                self.find(FindingKind::BadLog, workspace, &format!("the counter says {counter}, which is not the last entry"));
            }
        }
        Ok(())
    }

    async fn block_ids(&mut self) -> Result<(), StoreError> {
        let objects = Objects::new(self.scope.clone(), Default::default());
        let rows = self
            .scope
            .fetch(
                "SELECT workspace, branch, doc, blob, ids FROM block_ids WHERE tenant = $1 ORDER BY workspace, branch, doc",
                Vec::new(),
            )
            .await?;
        let settings =
            self.scope.fetch("SELECT workspace, value FROM settings WHERE tenant = $1 AND name = 'dialect'", Vec::new()).await?;
        let mut dialects: HashMap<String, Dialect> = HashMap::new();
        for row in &settings {
            dialects.extend(Dialect::named(row.text(1)?).map(|dialect| (row.text(0).unwrap_or_default().to_owned(), dialect)));
        }
        for row in &rows {
            let at = format!("{}:{}:{}", row.text(0)?, row.text(1)?, row.text(2)?);
            let names: Option<Vec<String>> = serde_json::from_str(row.text(4)?).ok();
            let text = match row.id(3) {
                Ok(id) if self.good.contains_key(&id) => objects.text(id).await.ok(),
                _ => None,
            };
            let dialect = dialects.get(row.text(0)?).copied().unwrap_or_default();
            let tree = text.and_then(|text| Tree::parse(text, dialect).ok());
            let fits = match (&tree, &names) {
                (Some(tree), Some(names)) => block_ids::restore(tree, names).is_some(),
                _ => false,
            };
            if !fits || DocKey::parse(row.text(2)?).is_err() {
                self.find(FindingKind::BadBlockIds, at, "they do not fit the document");
            }
        }
        Ok(())
    }

    async fn sessions(&mut self) -> Result<(), StoreError> {
        for (table, sql) in [
            (
                "messages",
                "SELECT session, COUNT(*), MAX(CAST(place AS BIGINT)) + 1 FROM messages WHERE tenant = $1 GROUP BY session",
            ),
            ("events", "SELECT session, COUNT(*), MAX(seq) FROM events WHERE tenant = $1 GROUP BY session"),
        ] {
            for row in self.scope.fetch(sql, Vec::new()).await? {
                let (count, last) = (row.int(1)?, row.int(2)?);
                if count != last {
                    self.find(FindingKind::SessionGap, row.text(0)?, &format!("{} of {last} {table} are there", count));
                }
            }
        }
        Ok(())
    }

    async fn quotas(&mut self) -> Result<(), StoreError> {
        let sql = "SELECT q.team, q.resource, q.reserved, CAST(COALESCE((SELECT SUM(r.amount) FROM reservations r WHERE r.tenant = q.tenant \
                   AND r.team = q.team AND r.resource = q.resource), 0) AS BIGINT) FROM quotas q WHERE q.tenant = $1";
        for row in self.scope.fetch(sql, Vec::new()).await? {
            let (held, sum) = (row.int(2)?, row.int(3)?);
            if held != sum {
                let at = format!("{}:{}", row.text(0)?, row.text(1)?);
                self.find(FindingKind::QuotaMismatch, at, &format!("{held} held, {sum} reserved"));
            }
        }
        Ok(())
    }
}
