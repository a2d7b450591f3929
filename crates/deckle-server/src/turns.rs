//! The turn registry: starts, attaches, cancels.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use deckle_agent::drive::drive;
use deckle_agent::run::Run;
use deckle_agent::tools::{Budget, Config, Seen, Spent, ToolContext};
use deckle_agent::{ChatMessage, Model, prompt};
use deckle_doc::types::Rules;
use deckle_doc::{Diag, Dialect};
use deckle_store::{Actor, BranchId, Lease, NewTurn, RunId, SessionId, StoreError, TurnId, TurnState, Workspace};
use deckle_wire::{Envelope, Event, Outcome, TurnRequest, Usage};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::journal::StoreJournal;
use crate::recover;

/// How long a turn holds its branch without a sign of life.
const LEASE: Duration = Duration::from_secs(30);
/// How often it gives one.
const RENEW: Duration = Duration::from_secs(10);
/// How many events a stream reads at once.
const PAGE: u32 = 500;
/// How many events may wait for a slow reader.
const STREAM_QUEUE: usize = 64;
/// How often a stream looks for what another process wrote.
const POLL: Duration = Duration::from_millis(500);

/// What turns need.
#[derive(Clone)]
pub struct TurnsConfig {
    /// The workspace.
    pub workspace: Workspace,
    /// The model; nothing when none is configured.
    pub model: Option<Arc<dyn Model>>,
    /// The workspace's name, for the model.
    pub name: String,
    /// The dialect of its documents.
    pub dialect: Dialect,
    /// The person who answers for what the agent does.
    pub actor: Actor,
    /// Key templates and schemas of the workspace.
    pub config: Config,
}

/// A turn that was started, or one that is attached to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    /// The session.
    pub session: SessionId,
    /// The turn.
    pub turn: TurnId,
    /// The branch that it writes.
    pub branch: BranchId,
    /// The number after which its events come.
    pub after: i64,
    /// Whether it was running already.
    pub attached: bool,
}

/// A turn that runs in this process.
struct Live {
    turn: TurnId,
    branch: BranchId,
    after: i64,
    cancel: CancellationToken,
    written: watch::Receiver<i64>,
}

/// The turns of a workspace. Cheap to clone.
#[derive(Clone)]
pub struct Turns {
    config: TurnsConfig,
    holder: String,
    live: Arc<Mutex<HashMap<String, Live>>>,
}

impl Turns {
    /// Returns the registry of this process.
    #[must_use]
    pub fn new(config: TurnsConfig) -> Self {
        let holder = format!("pid-{}-{}", std::process::id(), ulid::Ulid::generate());
        Self { config, holder, live: Arc::default() }
    }

    /// Returns the workspace.
    #[must_use]
    pub fn workspace(&self) -> &Workspace {
        &self.config.workspace
    }

    /// Returns whether a turn runs in this process.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        !self.live().is_empty()
    }

    fn live(&self) -> std::sync::MutexGuard<'_, HashMap<String, Live>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a turn of a new session, or of the one named; attaches when one runs there.
    ///
    /// # Errors
    /// When there is no such session, no model, or the branch is held by another turn.
    pub async fn start(&self, session: Option<&SessionId>, request: &TurnRequest) -> Result<Started, Diag> {
        let Some(model) = self.config.model.clone() else { return Err(Diag::from(&deckle_agent::ModelError::NotConfigured)) };
        if request.message.trim().is_empty() {
            return Err(Diag::new("bad-request", "`message` is empty").hint("say what is to be done, in plain words"));
        }
        let diag = |error: StoreError| Diag::from(&error);
        if let Some(session) = session
            && let Some(running) = self.running(session)
        {
            return Ok(running);
        }
        let workspace = &self.config.workspace;
        let sessions = workspace.sessions();
        // What is in the folder now is what the run starts from.
        workspace.snapshot().await.map_err(diag)?;
        let session = match session {
            Some(id) => sessions.get(id).await.map_err(diag)?,
            None => {
                let id = SessionId::parse(&ulid::Ulid::generate().to_string().to_lowercase()).map_err(diag)?;
                let title: String = request.message.chars().take(80).collect();
                sessions.create(&id, &self.config.actor.person, None, &title).await.map_err(diag)?
            }
        };
        let branch = self.branch_of(&session, request).await?;
        let turn = TurnId::parse(&format!("turn-{}", ulid::Ulid::generate().to_string().to_lowercase())).map_err(diag)?;
        let run = RunId::parse(&format!("run-{}", ulid::Ulid::generate().to_string().to_lowercase())).map_err(diag)?;
        let wanted = NewTurn {
            id: turn.clone(),
            session: session.id.clone(),
            branch: branch.clone(),
            run: run.clone(),
            request: serde_json::to_value(request).unwrap_or(Value::Null),
        };
        let mut begun = sessions.begin_turn(&wanted, &self.holder, LEASE).await;
        if let Err(StoreError::Busy { turn: other, .. }) = &begun {
            // Perhaps its process is dead.
            let other = sessions.turn(&TurnId::parse(other).map_err(diag)?).await.map_err(diag)?;
            let lease = sessions.lease_of(&other.branch).await.map_err(diag)?;
            let expired = lease
                .as_ref()
                .is_none_or(|lease| lease.until <= workspace.store().clock().now() || recover::is_dead(&lease.holder));
            if expired {
                recover::close(workspace, &other, &self.holder).await.map_err(diag)?;
                begun = sessions.begin_turn(&wanted, &self.holder, LEASE).await;
            }
        }
        let (_, lease) = begun.map_err(diag)?;
        let mut with_branch = session.clone();
        with_branch.branch = Some(branch.clone());
        sessions.update(&with_branch, Some(&lease)).await.map_err(diag)?;
        let after = self.last_seq(&session.id).await.map_err(diag)?;
        let (sender, written) = watch::channel(after);
        let cancel = CancellationToken::new();
        let started = Started { session: session.id.clone(), turn: turn.clone(), branch: branch.clone(), after, attached: false };
        self.live().insert(session.id.to_string(), Live { turn: turn.clone(), branch, after, cancel: cancel.clone(), written });
        let journal = StoreJournal { sessions, session: session.id, turn, lease, written: sender };
        let task = Task {
            turns: self.clone(),
            model,
            journal,
            run,
            branch: started.branch.clone(),
            cancel,
            message: request.message.clone(),
        };
        tokio::spawn(task.run());
        Ok(started)
    }

    fn running(&self, session: &SessionId) -> Option<Started> {
        self.live().get(session.as_str()).map(|live| Started {
            session: session.clone(),
            turn: live.turn.clone(),
            branch: live.branch.clone(),
            after: live.after,
            attached: true,
        })
    }

    /// The branch that the request or the session names, or a new one.
    async fn branch_of(&self, session: &deckle_store::Session, request: &TurnRequest) -> Result<BranchId, Diag> {
        let diag = |error: StoreError| Diag::from(&error);
        let workspace = &self.config.workspace;
        if let Some(name) = &request.branch {
            let id = BranchId::parse(name).map_err(diag)?;
            if !workspace.branches().await.map_err(diag)?.iter().any(|branch| branch.id == id) {
                workspace.create_branch(&id, &self.config.actor, &request.message).await.map_err(diag)?;
            }
            return Ok(id);
        }
        if let Some(id) = &session.branch {
            let open = workspace
                .branches()
                .await
                .map_err(diag)?
                .into_iter()
                .any(|branch| branch.id == *id && branch.state.is_writable());
            if open {
                return Ok(id.clone());
            }
        }
        let words: Vec<String> = request
            .message
            .to_lowercase()
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|word| word.len() > 2)
            .take(4)
            .map(str::to_owned)
            .collect();
        let stem = if words.is_empty() { "agent".to_owned() } else { words.join("-") };
        let taken: Vec<String> = workspace.branches().await.map_err(diag)?.iter().map(|branch| branch.id.to_string()).collect();
        let name = std::iter::once(stem.clone())
            .chain((2..).map(|number| format!("{stem}-{number}")))
            .find(|name| !taken.contains(name))
            .unwrap_or(stem);
        let id = BranchId::parse(&name).map_err(diag)?;
        workspace.create_branch(&id, &self.config.actor, &request.message).await.map_err(diag)?;
        Ok(id)
    }

    async fn last_seq(&self, session: &SessionId) -> Result<i64, StoreError> {
        let sessions = self.config.workspace.sessions();
        let mut last = 0;
        loop {
            let page = sessions.events(session, last, PAGE).await?;
            let Some(event) = page.last() else { return Ok(last) };
            last = event.seq;
        }
    }

    /// Asks the running turn of a session to end; false when none runs.
    ///
    /// # Errors
    /// When there is no such session.
    pub async fn cancel(&self, session: &SessionId) -> Result<bool, Diag> {
        if let Some(live) = self.live().get(session.as_str()) {
            live.cancel.cancel();
            return Ok(true);
        }
        let sessions = self.config.workspace.sessions();
        let diag = |error: StoreError| Diag::from(&error);
        sessions.get(session).await.map_err(diag)?;
        // A turn of another process reads the flag.
        let turns = sessions.turns(session).await.map_err(diag)?;
        match turns.iter().rev().find(|turn| turn.state == TurnState::Running) {
            Some(turn) => sessions.cancel_turn(&turn.id).await.map_err(diag),
            None => Ok(false),
        }
    }

    /// Returns the events of a session after a number, as they come, until its running turn is over. A turn that died is closed first.
    ///
    /// # Errors
    /// When there is no such session.
    pub async fn events(&self, session: &SessionId, after: i64) -> Result<mpsc::Receiver<Envelope>, Diag> {
        let diag = |error: StoreError| Diag::from(&error);
        let sessions = self.config.workspace.sessions();
        sessions.get(session).await.map_err(diag)?;
        if self.running(session).is_none() {
            self.close_dead(session).await.map_err(diag)?;
        }
        let (sender, receiver) = mpsc::channel(STREAM_QUEUE);
        let turns = self.clone();
        let session = session.clone();
        tokio::spawn(async move {
            let mut last = after;
            loop {
                // What runs is looked at before the log is read, so that nothing is written between unseen.
                let live = turns.live().get(session.as_str()).map(|live| live.written.clone());
                let elsewhere = match &live {
                    Some(_) => false,
                    None => {
                        sessions.turns(&session).await.is_ok_and(|all| all.iter().any(|turn| turn.state == TurnState::Running))
                    }
                };
                loop {
                    let Ok(page) = sessions.events(&session, last, PAGE).await else { return };
                    if page.is_empty() {
                        break;
                    }
                    for stored in page {
                        last = stored.seq;
                        let Ok(event) = serde_json::from_value::<Event>(stored.body) else { continue };
                        if sender.send(Envelope { seq: stored.seq, event }).await.is_err() {
                            return;
                        }
                    }
                }
                match live {
                    Some(mut written) => {
                        if *written.borrow_and_update() > last {
                            continue;
                        }
                        let _ = tokio::time::timeout(POLL, written.changed()).await;
                    }
                    None if elsewhere => tokio::time::sleep(POLL).await,
                    None => return,
                }
            }
        });
        Ok(receiver)
    }

    async fn close_dead(&self, session: &SessionId) -> Result<(), StoreError> {
        let workspace = &self.config.workspace;
        let sessions = workspace.sessions();
        for turn in sessions.turns(session).await?.iter().filter(|turn| turn.state == TurnState::Running) {
            let lease = sessions.lease_of(&turn.branch).await?;
            if lease.is_none_or(|lease| lease.until <= workspace.store().clock().now() || recover::is_dead(&lease.holder)) {
                recover::close(workspace, turn, &self.holder).await?;
            }
        }
        Ok(())
    }

    /// Closes the turns of processes that died, as a server does when it starts.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn recover(&self) -> Result<usize, StoreError> {
        let workspace = &self.config.workspace;
        let mut closed = 0;
        for turn in workspace.sessions().running_turns().await? {
            let lease = workspace.sessions().lease_of(&turn.branch).await?;
            if lease.is_none_or(|lease| lease.until <= workspace.store().clock().now() || recover::is_dead(&lease.holder)) {
                recover::close(workspace, &turn, &self.holder).await?;
                closed += 1;
            }
        }
        Ok(closed)
    }
}

/// One turn, detached.
struct Task {
    turns: Turns,
    model: Arc<dyn Model>,
    journal: StoreJournal,
    run: RunId,
    branch: BranchId,
    cancel: CancellationToken,
    message: String,
}

impl Task {
    async fn run(self) {
        let renewing = self.renew();
        let outcome = {
            let driven = self.drive();
            tokio::pin!(driven);
            tokio::pin!(renewing);
            tokio::select! {
                outcome = &mut driven => outcome,
                () = &mut renewing => Err(StoreError::Fenced { name: self.branch.to_string() }),
            }
        };
        let (state, note) = match &outcome {
            Ok(Outcome::Done | Outcome::Limit) => (TurnState::Done, json!({ "outcome": "done" })),
            Ok(Outcome::Cancelled) => (TurnState::Cancelled, json!({ "outcome": "cancelled" })),
            Ok(Outcome::Failed) => (TurnState::Failed, json!({ "outcome": "failed" })),
            Err(error) => {
                self.fail(error).await;
                (TurnState::Failed, json!({ "outcome": "failed", "why": error.to_string() }))
            }
        };
        let ended = self.journal.sessions.end_turn(&self.journal.turn, state, &note, &self.journal.lease).await;
        if let Err(error) = ended {
            tracing::warn!(turn = %self.journal.turn, %error, "the end of a turn could not be recorded");
        }
        self.turns.live().remove(self.journal.session.as_str());
        // Wakes the streams, which now see that nothing runs.
        self.journal.written.send_modify(|_| {});
    }

    /// The last event of a turn that the store failed: always one.
    async fn fail(&self, error: &StoreError) {
        use deckle_agent::drive::Journal as _;
        let diag = Diag::from(error);
        let done = Event::AgentDone {
            outcome: Outcome::Failed,
            summary: diag.to_string(),
            branch: Some(self.branch.to_string()),
            documents: 0,
            blocks: 0,
            usage: Usage::default(),
        };
        let told =
            self.journal.emit(Event::AgentError { code: diag.code.to_owned(), message: diag.to_string(), fatal: true }).await;
        if told.is_ok() {
            let _ = self.journal.emit(done).await;
        }
    }

    async fn drive(&self) -> Result<Outcome, StoreError> {
        let config = &self.turns.config;
        let sessions = &self.journal.sessions;
        let count = sessions.message_count(&self.journal.session).await?;
        let stored: Vec<ChatMessage> = sessions
            .messages(&self.journal.session, 0..count)
            .await?
            .into_iter()
            .filter_map(|message| serde_json::from_value(message.body).ok())
            .collect();
        let branch = config.workspace.branch(&self.branch).await?;
        let context = ToolContext {
            branch,
            run: self.run.clone(),
            actor: config.actor.agent("Agent"),
            lease: Some(self.journal.lease.clone()),
            dialect: config.dialect,
            rules: Rules::default(),
            budget: Budget::default(),
            spent: Mutex::new(Spent::default()),
            config: config.config.clone(),
            seen: Seen::default(),
        };
        let system = prompt::system(&config.name, config.dialect.name(), self.branch.as_str());
        let mut run = Run::start(stored, &self.message);
        drive(&mut run, &system, self.model.as_ref(), &context, &self.journal, &self.cancel).await
    }

    /// Gives signs of life; ends when the lease was lost. Also looks for a cancel flag of another process.
    async fn renew(&self) {
        let mut since = Duration::ZERO;
        let mut lease: Lease = self.journal.lease.clone();
        loop {
            tokio::time::sleep(POLL).await;
            since += POLL;
            if !self.cancel.is_cancelled()
                && let Ok(turn) = self.journal.sessions.turn(&self.journal.turn).await
                && turn.cancel
            {
                self.cancel.cancel();
            }
            if since >= RENEW {
                since = Duration::ZERO;
                match self.journal.sessions.renew(&lease, LEASE).await {
                    Ok(renewed) => lease = renewed,
                    Err(StoreError::Fenced { .. } | StoreError::Held { .. }) => return,
                    Err(error) => tracing::warn!(%error, "a lease could not be renewed"),
                }
            }
        }
    }
}
