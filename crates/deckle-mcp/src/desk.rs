//! Where a client's calls go: which branch, and whether they land in main at once.

use std::sync::Mutex;

use deckle_agent::chat::ToolCall;
use deckle_agent::tools::{self, Budget, Config, Done, Seen, Spent, ToolContext, ToolError};
use deckle_doc::types::Rules;
use deckle_doc::{Diag, Dialect};
use deckle_store::{Actor, Branch, BranchId, MergeOptions, Meta, RunId, Selection, Snapshot, StoreError, Workspace};
use serde_json::Value;
use tokio::sync::Mutex as Turn;

/// Where writes land.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Landing {
    /// On this branch, which is made when there is none; a person reviews and merges it.
    Branch(BranchId),
    /// On a branch of the server's own, named when it starts.
    NewBranch,
    /// In main, by a merge after each call that wrote.
    Direct,
}

/// What one server works on. Calls are done one after another, so that each sees what the one before did.
#[derive(Debug)]
pub struct Desk {
    workspace: Workspace,
    dialect: Dialect,
    actor: Actor,
    config: Config,
    landing: Landing,
    run: RunId,
    turn: Turn<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The branch that was opened, and whether this server made it.
    open: Option<(BranchId, bool)>,
    calls: u64,
    /// What the client read: an edit of a block that changed since is stale.
    seen: Seen,
}

impl Desk {
    /// Returns a desk on a workspace.
    ///
    /// # Errors
    /// Never, while a ULID is a run id.
    pub fn new(workspace: Workspace, config: Config, landing: Landing) -> Result<Self, StoreError> {
        let dialect = workspace.dialect();
        let run = RunId::parse(&format!("mcp-{}", ulid::Ulid::generate()))?;
        let actor = Actor::local().agent("MCP client");
        Ok(Self { workspace, dialect, actor, config, landing, run, turn: Turn::default() })
    }

    /// Calls a tool. Returns what it did and the branch on which that stands; none when it went into main.
    ///
    /// # Errors
    /// When the tool refuses, or the store fails.
    pub async fn call(&self, name: &str, arguments: Value) -> Result<(Done, Option<BranchId>), ToolError> {
        let mut state = self.turn.lock().await;
        state.calls += 1;
        let branch = self.branch(&mut state).await?;
        let id = branch.name().clone();
        let context = ToolContext {
            branch,
            run: self.run.clone(),
            actor: self.actor.clone(),
            lease: None,
            dialect: self.dialect,
            rules: Rules::default(),
            // A client has no end at which a person looks at the sum, so each call has the budget of a run.
            budget: Budget::default(),
            spent: Mutex::new(Spent::default()),
            config: self.config.clone(),
            seen: std::mem::take(&mut state.seen),
        };
        let call = ToolCall { id: format!("call-{}", state.calls), name: name.to_owned(), arguments, broken: None };
        let done = tools::dispatch(&context, &call).await;
        state.seen = context.seen;
        if self.landing != Landing::Direct {
            return done.map(|done| (done, Some(id)));
        }
        let landed = match &done {
            Ok(done) if done.receipt.is_some() => self.land(&id, &done.content).await,
            _ => Ok(()),
        };
        if landed.is_err() || done.as_ref().is_ok_and(|done| done.receipt.is_none()) || done.is_err() {
            self.workspace.discard(&id, &self.actor).await?;
        }
        state.open = None;
        landed?;
        done.map(|done| (done, None))
    }

    /// The state that a client reads: its branch, or main while it has none.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn head(&self) -> Result<Snapshot, StoreError> {
        let state = self.turn.lock().await;
        match &state.open {
            Some((id, _)) => self.workspace.branch(id).await?.head().await,
            None => self.workspace.snapshot().await,
        }
    }

    /// Ends the server's work: a branch that it made and that has nothing on it goes again. Returns the branch that stays.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn close(&self) -> Result<Option<BranchId>, StoreError> {
        let mut state = self.turn.lock().await;
        let Some((id, made)) = state.open.take() else { return Ok(None) };
        let info = self.workspace.branch(&id).await?.info().await?;
        if made && info.state.is_writable() && info.head == info.base {
            self.workspace.discard(&id, &self.actor).await?;
            return Ok(None);
        }
        Ok(Some(id))
    }

    /// The branch that is open, opened when there is none, or when a person merged or discarded it meanwhile.
    async fn branch(&self, state: &mut State) -> Result<Branch, ToolError> {
        if let Some((id, _)) = &state.open {
            let branch = self.workspace.branch(id).await?;
            if branch.info().await?.state.is_writable() {
                return Ok(branch);
            }
        }
        let known = self.workspace.branches().await?;
        if let Landing::Branch(id) = &self.landing
            && let Some(info) = known.iter().find(|info| info.id == *id)
        {
            if !info.state.is_writable() {
                return Err(Diag::new("branch-state", format!("branch `{id}` is {}", info.state.as_str()))
                    .hint("start the server with `--branch` and another name")
                    .into());
            }
            state.open = Some((id.clone(), false));
            return Ok(self.workspace.branch(id).await?);
        }
        let id = match &self.landing {
            Landing::Branch(id) => id.clone(),
            Landing::NewBranch | Landing::Direct => free(&known.iter().map(|info| info.id.as_str()).collect::<Vec<_>>())?,
        };
        let branch = self.workspace.create_branch(&id, &self.actor, "calls over MCP").await?;
        state.open = Some((id, true));
        Ok(branch)
    }

    /// Merges all of a branch into main; when main changed in the same place meanwhile, that refuses, and main stays as it is.
    async fn land(&self, id: &BranchId, intent: &str) -> Result<(), ToolError> {
        let options = MergeOptions { selection: Some(Selection::All), ..MergeOptions::default() };
        let meta = Meta::new(self.actor.clone(), intent.lines().next().unwrap_or("a call over MCP"));
        let landed = self.workspace.merge(id, &options, &meta).await;
        landed.map(|_| ()).map_err(ToolError::from)
    }
}

/// `mcp`, or the first `mcp-N` that is free.
fn free(taken: &[&str]) -> Result<BranchId, StoreError> {
    let mut names = std::iter::once("mcp".to_owned()).chain((2_u64..).map(|number| format!("mcp-{number}")));
    BranchId::parse(&names.find(|name| !taken.contains(&name.as_str())).unwrap_or_default())
}
