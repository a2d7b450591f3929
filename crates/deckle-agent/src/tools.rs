//! The tools: one registry feeds the loop, MCP and the docs.

mod blocks;
mod documents;
mod specs;

use std::collections::BTreeMap;
use std::sync::Mutex;

use deckle_doc::types::Rules;
use deckle_doc::{Diag, Dialect, DocKey};
use deckle_edit::{EditError, Policy};
use deckle_store::{Actor, Branch, CallId, Lease, Meta, RunId, Snapshot, StoreError};
use deckle_wire::Event;
use serde_json::{Map, Value};

use crate::chat::ToolCall;
use crate::models::ToolSchema;
use crate::run::ToolOutcome;

pub use deckle_edit::Config;
pub use specs::{SPECS, ToolSpec, docs};

/// What tools hold: a branch, and no way to anything else.
#[derive(Debug)]
pub struct ToolContext {
    /// The branch that they read and write.
    pub branch: Branch,
    /// The run.
    pub run: RunId,
    /// Who acts, for whom.
    pub actor: Actor,
    /// The lease under which writes are made.
    pub lease: Option<Lease>,
    /// The dialect of the workspace.
    pub dialect: Dialect,
    /// What may stand in what.
    pub rules: Rules,
    /// What the run may spend.
    pub budget: Budget,
    /// What it spent.
    pub spent: Mutex<Spent>,
    /// What the workspace says about itself: key templates and schemas.
    pub config: Config,
    /// What the run has read: an edit of a block that changed since is stale.
    pub seen: Seen,
}

/// The documents as the run last read them, each at the snapshot of that moment.
#[derive(Default)]
pub struct Seen(Mutex<BTreeMap<DocKey, Snapshot>>);

impl std::fmt::Debug for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.all().iter().map(|(key, at)| (key, at.commit()))).finish()
    }
}

impl Seen {
    /// Remembers that a document was read.
    pub(crate) fn read(&self, key: &DocKey, at: &Snapshot) {
        if let Ok(mut seen) = self.0.lock() {
            seen.insert(key.clone(), at.clone());
        }
    }

    /// Returns what was read.
    pub(crate) fn all(&self) -> Vec<(DocKey, Snapshot)> {
        self.0.lock().map(|seen| seen.iter().map(|(key, at)| (key.clone(), at.clone())).collect()).unwrap_or_default()
    }

    /// Whether a document at `base` is as the run read it, or was never read: then the run knows all of what it makes of it.
    pub(crate) async fn knew(&self, key: &DocKey, base: &Snapshot) -> Result<bool, StoreError> {
        let known = self.0.lock().ok().and_then(|seen| seen.get(key).cloned());
        match known {
            Some(at) => Ok(at.text(key).await? == base.text(key).await?),
            None => Ok(true),
        }
    }
}

/// The bounds of a run; passing one ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Documents changed.
    pub documents: usize,
    /// Blocks changed.
    pub blocks: usize,
    /// Words removed.
    pub words_removed: usize,
    /// Documents deleted.
    pub deletes: usize,
}

impl Default for Budget {
    /// What an unattended run over a large corpus needs, and a runaway one does not reach unseen.
    fn default() -> Self {
        Self { documents: 500, blocks: 5_000, words_removed: 50_000, deletes: 50 }
    }
}

/// What a run spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Documents changed, a document twice when it was changed twice.
    pub documents: usize,
    /// Blocks changed.
    pub blocks: usize,
    /// Words removed.
    pub words_removed: usize,
    /// Documents deleted.
    pub deletes: usize,
}

impl Spent {
    fn plus(self, other: Self) -> Self {
        Self {
            documents: self.documents + other.documents,
            blocks: self.blocks + other.blocks,
            words_removed: self.words_removed + other.words_removed,
            deletes: self.deletes + other.deletes,
        }
    }

    /// What is past the budget.
    fn past(self, budget: Budget) -> Option<String> {
        [
            ("documents changed", self.documents, budget.documents),
            ("blocks changed", self.blocks, budget.blocks),
            ("words removed", self.words_removed, budget.words_removed),
            ("documents deleted", self.deletes, budget.deletes),
        ]
        .into_iter()
        .find(|(_, spent, bound)| spent > bound)
        .map(|(what, spent, bound)| format!("{spent} {what}, {bound} allowed"))
    }
}

/// Why a tool did not do what was asked. There are two kinds, and no third.
#[derive(Debug)]
pub enum ToolError {
    /// The model is told, and can go on.
    Refused(Box<Diag>),
    /// The run cannot go on.
    Fatal(StoreError),
}

impl From<Diag> for ToolError {
    fn from(diag: Diag) -> Self {
        Self::Refused(Box::new(diag))
    }
}

impl From<&EditError> for ToolError {
    fn from(error: &EditError) -> Self {
        Diag::from(error).into()
    }
}

impl From<EditError> for ToolError {
    fn from(error: EditError) -> Self {
        Self::from(&error)
    }
}

impl From<StoreError> for ToolError {
    fn from(error: StoreError) -> Self {
        // What a document or branch is like is for the model to know; that the store fails is not.
        match error {
            StoreError::ReadOnly
            | StoreError::Disk { .. }
            | StoreError::DiskFull
            | StoreError::Sql(_)
            | StoreError::Unreachable { .. }
            | StoreError::Corrupt { .. }
            | StoreError::Fenced { .. }
            | StoreError::Io { .. } => Self::Fatal(error),
            other => Self::from(Diag::from(&other)),
        }
    }
}

/// What a tool did.
#[derive(Clone, Debug, Default)]
pub struct Done {
    /// What the model is shown.
    pub content: String,
    /// The same as data, where there is any.
    pub data: Option<Value>,
    /// Documents read or changed.
    pub documents: usize,
    /// Blocks changed.
    pub blocks: usize,
    /// The receipt in words, when something was written.
    pub receipt: Option<String>,
    /// Further events.
    pub events: Vec<Event>,
}

impl Done {
    /// A result that only says something.
    fn says(content: impl Into<String>) -> Self {
        Self { content: content.into(), ..Self::default() }
    }
}

/// Returns the tools as models are told of them.
#[must_use]
pub fn schemas() -> Vec<ToolSchema> {
    SPECS
        .iter()
        .map(|spec| ToolSchema { name: spec.name.to_owned(), description: spec.description.to_owned(), schema: (spec.schema)() })
        .collect()
}

impl ToolContext {
    fn policy(&self) -> Policy {
        Policy { rules: self.rules.clone(), ..Policy::agent().configured(&self.config).in_dialect(self.dialect) }
    }

    fn meta(&self, call: &ToolCall, intent: &str) -> Result<Meta, ToolError> {
        let mut meta = Meta::new(self.actor.clone(), intent).call(self.run.clone(), CallId::parse(&call.key())?);
        meta.lease.clone_from(&self.lease);
        Ok(meta)
    }
}

/// Runs a call to its end. An error of the store that no model can mend is returned apart.
///
/// # Errors
/// When the store fails; the run cannot go on then.
pub async fn call(context: &ToolContext, call: &ToolCall) -> Result<ToolOutcome, StoreError> {
    // A call that was executed before, by a process that died since, is answered with what it did.
    let key = CallId::parse(&call.key())?;
    if let Some(commit) = context.branch.replay(&context.run, &key).await? {
        let receipt = format!(
            "This call was executed before the run was interrupted; its effect is on the branch (operation {}).",
            commit.op
        );
        return Ok(outcome(
            call,
            Done { content: receipt.clone(), receipt: Some(receipt), documents: 1, ..Done::default() },
            true,
        ));
    }
    let done = dispatch(context, call).await;
    match done {
        Ok(done) => {
            let wrote = done.receipt.is_some();
            Ok(outcome(call, done, wrote))
        }
        Err(ToolError::Fatal(error)) => Err(error),
        Err(ToolError::Refused(diag)) => Ok(ToolOutcome {
            id: call.id.clone(),
            content: diag.to_string(),
            is_error: true,
            documents: 0,
            blocks: 0,
            wrote: false,
            receipt: None,
            events: Vec::new(),
        }),
    }
}

fn outcome(call: &ToolCall, done: Done, wrote: bool) -> ToolOutcome {
    ToolOutcome {
        id: call.id.clone(),
        content: done.content,
        is_error: false,
        documents: done.documents as u64,
        blocks: done.blocks as u64,
        wrote,
        receipt: done.receipt,
        events: done.events,
    }
}

/// Runs a tool, for MCP as well.
///
/// # Errors
/// When it is refused, or the store fails.
pub async fn dispatch(context: &ToolContext, call: &ToolCall) -> Result<Done, ToolError> {
    let Some(spec) = SPECS.iter().find(|spec| spec.name == call.name) else {
        let names: Vec<&str> = SPECS.iter().map(|spec| spec.name).collect();
        return Err(Diag::new("no-tool", format!("there is no tool `{}`", call.name))
            .hint(format!("there are: {}", names.join(" ")))
            .into());
    };
    let arguments = Arguments::of(spec, &call.arguments)?;
    match spec.name {
        "list_documents" => documents::list(context, &arguments).await,
        "read_document" => documents::read(context, &arguments).await,
        "search" => documents::search(context, &arguments).await,
        "document_links" => documents::links(context, &arguments).await,
        "create_document" => documents::create(context, call, &arguments).await,
        "rename_document" => documents::rename(context, call, &arguments).await,
        "delete_documents" => documents::delete(context, call, &arguments).await,
        "restore_document" => documents::restore(context, call, &arguments).await,
        "update_blocks" => blocks::update(context, call, &arguments).await,
        "edit_section" => blocks::section(context, call, &arguments).await,
        "generate_block" => blocks::generate(context, &arguments),
        "report_progress" => Ok(progress(&arguments)),
        "navigate" => navigate(&arguments),
        other => Err(Diag::new("no-tool", format!("the tool `{other}` is not available here")).hint("use another tool").into()),
    }
}

fn progress(arguments: &Arguments) -> Done {
    let event = Event::AgentProgress {
        message: arguments.text("message").unwrap_or_default(),
        done: arguments.number("done"),
        total: arguments.number("total"),
    };
    Done { content: "noted".into(), events: vec![event], ..Done::default() }
}

fn navigate(arguments: &Arguments) -> Result<Done, ToolError> {
    let key = arguments.key("key")?;
    let event = Event::AgentNavigate { key: key.to_string(), block: arguments.text("block") };
    Ok(Done { content: "shown to the person".into(), events: vec![event], ..Done::default() })
}

/// Arguments that are known to be of the tool.
pub(crate) struct Arguments(Map<String, Value>);

impl Arguments {
    /// Checks names; a known argument that stands one level too deep is moved up, an unknown one is an error.
    fn of(spec: &ToolSpec, value: &Value) -> Result<Self, ToolError> {
        let schema = (spec.schema)();
        let known: Vec<String> = schema["properties"].as_object().into_iter().flat_map(|map| map.keys().cloned()).collect();
        let mut map = match value {
            Value::Object(map) => map.clone(),
            Value::Null => Map::new(),
            _ => return Err(bad(spec, "the arguments are not an object", &known)),
        };
        if let [(_, Value::Object(inner))] = map.iter().filter(|(name, _)| !known.contains(name)).collect::<Vec<_>>().as_slice()
            && inner.keys().all(|name| known.contains(name))
        {
            let inner = (*inner).clone();
            map.retain(|name, _| known.contains(name));
            map.extend(inner);
        }
        if let Some(name) = map.keys().find(|name| !known.contains(name)) {
            return Err(bad(spec, &format!("it has no argument `{name}`"), &known));
        }
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        if let Some(name) = required.iter().filter_map(Value::as_str).find(|name| map.get(*name).is_none_or(Value::is_null)) {
            return Err(bad(spec, &format!("`{name}` is missing"), &known));
        }
        Ok(Self(map))
    }

    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    pub fn text(&self, name: &str) -> Option<String> {
        self.get(name).and_then(|value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        })
    }

    pub fn number(&self, name: &str) -> Option<u64> {
        self.get(name).and_then(|value| value.as_u64().or_else(|| value.as_str().and_then(|text| text.parse().ok())))
    }

    pub fn flag(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| value.as_bool() == Some(true) || value.as_str() == Some("true"))
    }

    pub fn key(&self, name: &str) -> Result<DocKey, ToolError> {
        let text = self.text(name).ok_or_else(|| {
            Diag::new("bad-arguments", format!("`{name}` is missing")).hint("give the key of a document: `guides/quick-start`")
        })?;
        parse_key(&text)
    }

    pub fn keys(&self, name: &str) -> Result<Vec<DocKey>, ToolError> {
        match self.get(name) {
            Some(Value::Array(all)) => all.iter().map(|one| parse_key(one.as_str().unwrap_or_default())).collect(),
            Some(Value::String(one)) => Ok(vec![parse_key(one)?]),
            _ => Err(Diag::new("bad-arguments", format!("`{name}` is missing")).hint("give a list of keys").into()),
        }
    }
}

fn parse_key(text: &str) -> Result<DocKey, ToolError> {
    let bare = [".md", ".markdown", ".mdx"].iter().find_map(|ending| text.strip_suffix(ending)).unwrap_or(text);
    DocKey::parse(bare.trim_start_matches("./")).map_err(|error| Diag::from(&error).into())
}

fn bad(spec: &ToolSpec, what: &str, known: &[String]) -> ToolError {
    Diag::new("bad-arguments", format!("`{}`: {what}", spec.name)).hint(format!("it takes: {}", known.join(" "))).into()
}
