//! The turn registry: starts, attaches, cancels.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use deckle_agent::drive::drive;
use deckle_agent::run::{RESUMED, Run};
use deckle_agent::tools::{Budget, Config, Seen, Spent, ToolContext};
use deckle_agent::{ChatMessage, Model, prompt};
use deckle_doc::types::Rules;
use deckle_doc::{Diag, Dialect};
use deckle_store::{
    Actor, BranchId, Lease, NewTurn, Notices, RunId, SessionId, StoreError, Subscription, Turn, TurnId, TurnState, Workspace,
};
use deckle_wire::{Envelope, Event, Outcome, ToolState, TurnRequest, Usage};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::journal::{StoreJournal, Told};
use crate::recover;

/// How long a turn holds its branch without a sign of life, when nobody says otherwise.
pub const LEASE: Duration = Duration::from_secs(30);
/// How many signs of life a turn gives while its lease lasts: two may be lost.
const SIGNS: u32 = 3;
/// How often a server looks for turns whose processes died.
const SWEEP: Duration = Duration::from_secs(2);
/// How often one turn is gone on with: a turn that kills each process that runs it must end.
const MAX_RESUMES: usize = 3;
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
    /// How processes tell one another that something happened.
    pub notices: Notices,
    /// How long a turn holds its branch without a sign of life.
    pub lease: Duration,
    /// What becomes of a turn whose process died: it is gone on with, or closed for its person to follow up.
    pub resume: bool,
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
        Self { config, holder: recover::holder(), live: Arc::default() }
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
        let mut begun = sessions.begin_turn(&wanted, &self.holder, self.config.lease).await;
        if let Err(StoreError::Busy { turn: other, .. }) = &begun {
            // Perhaps its process is dead.
            let other = sessions.turn(&TurnId::parse(other).map_err(diag)?).await.map_err(diag)?;
            if recover::is_left(workspace, &other).await.map_err(diag)? {
                recover::close(workspace, &other, &self.holder).await.map_err(diag)?;
                begun = sessions.begin_turn(&wanted, &self.holder, self.config.lease).await;
            }
        }
        let (_, lease) = begun.map_err(diag)?;
        let mut with_branch = session.clone();
        with_branch.branch = Some(branch.clone());
        sessions.update(&with_branch, Some(&lease)).await.map_err(diag)?;
        let after = self.last_seq(&session.id).await.map_err(diag)?;
        let begun = Begun { session: session.id, turn, run, branch, lease, after };
        Ok(self.spawn(begun, model, Work::Request(request.message.clone())))
    }

    /// Runs a turn in this process, detached.
    fn spawn(&self, begun: Begun, model: Arc<dyn Model>, work: Work) -> Started {
        let Begun { session, turn, run, branch, lease, after } = begun;
        let (sender, written) = watch::channel(after);
        let cancel = CancellationToken::new();
        let started = Started { session: session.clone(), turn: turn.clone(), branch: branch.clone(), after, attached: false };
        let live = Live { turn: turn.clone(), branch: branch.clone(), after, cancel: cancel.clone(), written };
        self.live().insert(session.to_string(), live);
        let workspace = &self.config.workspace;
        let told = Told { notices: self.config.notices.clone(), tenant: workspace.tenant().clone() };
        let journal = StoreJournal { sessions: workspace.sessions(), session, turn, lease, written: sender, told };
        tokio::spawn(Task { turns: self.clone(), model, journal, run, branch, cancel, work }.run());
        started
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
        let Some(turn) = turns.iter().rev().find(|turn| turn.state == TurnState::Running) else { return Ok(false) };
        let cancelled = sessions.cancel_turn(&turn.id).await.map_err(diag)?;
        self.config.notices.tell(self.config.workspace.tenant(), &topic_of_turn(&turn.id)).await;
        Ok(cancelled)
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
            for turn in sessions.turns(session).await.map_err(diag)?.iter().filter(|turn| turn.state == TurnState::Running) {
                self.settle(turn).await.map_err(diag)?;
            }
        }
        let mut elsewhere_written = self.config.notices.listen(self.config.workspace.tenant(), &topic_of_session(session));
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
                    None if elsewhere => {
                        elsewhere_written.changed(POLL).await;
                    }
                    None => return,
                }
            }
        });
        Ok(receiver)
    }

    /// Goes on with a turn whose process died, or closes it; says whether it was one.
    async fn settle(&self, turn: &Turn) -> Result<bool, StoreError> {
        let workspace = &self.config.workspace;
        if self.running(&turn.session).is_some() || !recover::is_left(workspace, turn).await? {
            return Ok(false);
        }
        let model = self.config.model.clone().filter(|_| self.config.resume);
        let done = match model {
            Some(model) => self.resume(turn, model).await,
            None => recover::close(workspace, turn, &self.holder).await,
        };
        match done {
            Ok(()) => Ok(true),
            // Another process was faster, or it came to its end.
            Err(StoreError::Busy { .. } | StoreError::NotFound { .. } | StoreError::Fenced { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Goes on with a turn whose process died, from its last checkpoint.
    async fn resume(&self, turn: &Turn, model: Arc<dyn Model>) -> Result<(), StoreError> {
        let workspace = &self.config.workspace;
        let (turn, lease) = recover::take(workspace, turn, &self.holder, self.config.lease).await?;
        let after = self.last_seq(&turn.session).await?;
        let logged = self.logged(&turn, after).await?;
        let resumes = logged.iter().filter(|event| matches!(event, Event::AgentStatus { status, .. } if status == RESUMED));
        if resumes.count() >= MAX_RESUMES {
            return recover::close_held(workspace, &turn, &lease).await;
        }
        let message = turn.request["message"].as_str().unwrap_or_default().to_owned();
        let begun = Begun { session: turn.session, turn: turn.id, run: turn.run, branch: turn.branch, lease, after };
        self.spawn(begun, model, Work::Resume { message, logged });
        Ok(())
    }

    /// Returns the events of a turn so far.
    async fn logged(&self, turn: &Turn, last: i64) -> Result<Vec<Event>, StoreError> {
        let sessions = self.config.workspace.sessions();
        let (mut after, mut logged) = (0, Vec::new());
        while after < last {
            let page = sessions.events(&turn.session, after, PAGE).await?;
            let Some(end) = page.last() else { break };
            after = end.seq;
            let own = page.into_iter().filter(|stored| stored.turn == turn.id);
            logged.extend(own.filter_map(|stored| serde_json::from_value(stored.body).ok()));
        }
        Ok(logged)
    }

    /// Settles the turns of processes that died, as a server does when it starts; returns how many.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn recover(&self) -> Result<usize, StoreError> {
        let mut settled = 0;
        for turn in self.config.workspace.sessions().running_turns().await? {
            settled += usize::from(self.settle(&turn).await?);
        }
        Ok(settled)
    }

    /// Settles the turns of other processes when they die, without end: a server polls it beside what it serves.
    pub async fn watch(&self) {
        loop {
            tokio::time::sleep(SWEEP).await;
            if let Err(error) = self.recover().await {
                // The database is away; turns of this process hold their leases, and the next look may succeed.
                tracing::warn!(%error, "turns of other processes could not be looked at");
            }
        }
    }

    /// Takes what any editor does in the folder into main's history, without end.
    pub async fn watch_folder(&self) {
        let workspace = &self.config.workspace;
        loop {
            match workspace.watch().await {
                Ok(None) => std::future::pending::<()>().await,
                Ok(Some(mut watch)) => {
                    while let Ok(main) = watch.changed().await {
                        tracing::debug!(commit = %main.commit(), "the folder changed");
                        self.config.notices.tell(workspace.tenant(), MAIN).await;
                    }
                }
                Err(error) => tracing::warn!(%error, "the folder could not be looked at"),
            }
            tokio::time::sleep(SWEEP).await;
        }
    }
}

/// What is told when main changed.
pub const MAIN: &str = "main";

/// What streams in other processes listen to.
pub(crate) fn topic_of_session(session: &SessionId) -> String {
    format!("session/{session}")
}

/// What the process that runs a turn listens to.
fn topic_of_turn(turn: &TurnId) -> String {
    format!("turn/{turn}")
}

/// A turn that this process holds.
struct Begun {
    session: SessionId,
    turn: TurnId,
    run: RunId,
    branch: BranchId,
    lease: Lease,
    after: i64,
}

/// What a turn does.
enum Work {
    /// What a person asks.
    Request(String),
    /// What a process that died left undone, with the events that it logged.
    Resume { message: String, logged: Vec<Event> },
}

/// One turn, detached.
struct Task {
    turns: Turns,
    model: Arc<dyn Model>,
    journal: StoreJournal,
    run: RunId,
    branch: BranchId,
    cancel: CancellationToken,
    work: Work,
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
        // In a git repository the branch is shown as git's own, so that git's tools see what the turn did. The branch itself is
        // in the store whatever git says.
        if let Err(error) = self.turns.config.workspace.publish_to_git(&self.branch).await {
            tracing::warn!(branch = %self.branch, %error, "the branch is not shown in git");
        }
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
        let (mut stored, mut begun): (Vec<ChatMessage>, Option<usize>) = (Vec::new(), None);
        for message in sessions.messages(&self.journal.session, 0..count).await? {
            if message.turn.as_ref() == Some(&self.journal.turn) {
                begun = begun.or(Some(stored.len()));
            }
            stored.extend(serde_json::from_value::<ChatMessage>(message.body));
        }
        let branch = config.workspace.branch(&self.branch).await?;
        let context = ToolContext {
            branch,
            run: self.run.clone(),
            actor: config.actor.agent("Agent"),
            lease: Some(self.journal.lease.clone()),
            dialect: config.dialect,
            rules: Rules::default(),
            budget: Budget::default(),
            spent: Mutex::new(self.work.spent()),
            config: config.config.clone(),
            seen: Seen::default(),
        };
        let system = prompt::system(&config.name, config.dialect.name(), self.branch.as_str());
        let mut run = match (&self.work, begun) {
            (Work::Resume { logged, .. }, Some(begun)) => Run::resume(stored, begun, logged),
            // Its process died before it stored the request.
            (Work::Request(message) | Work::Resume { message, .. }, _) => Run::start(stored, message),
        };
        drive(&mut run, &system, self.model.as_ref(), &context, &self.journal, &self.cancel).await
    }

    /// Gives signs of life; ends when the lease was lost. Also looks for a cancel flag of another process.
    async fn renew(&self) {
        let config = &self.turns.config;
        let mut told: Subscription = config.notices.listen(config.workspace.tenant(), &topic_of_turn(&self.journal.turn));
        let (every, mut last) = (config.lease / SIGNS, Instant::now());
        let mut lease: Lease = self.journal.lease.clone();
        loop {
            told.changed(POLL.min(every)).await;
            if !self.cancel.is_cancelled()
                && let Ok(turn) = self.journal.sessions.turn(&self.journal.turn).await
                && turn.cancel
            {
                self.cancel.cancel();
            }
            if last.elapsed() >= every {
                last = Instant::now();
                match self.journal.sessions.renew(&lease, config.lease).await {
                    Ok(renewed) => lease = renewed,
                    Err(StoreError::Fenced { .. } | StoreError::Held { .. }) => return,
                    Err(error) => tracing::warn!(%error, "a lease could not be renewed"),
                }
            }
        }
    }
}

impl Work {
    /// What a run that is gone on with spent before, as far as its log says.
    fn spent(&self) -> Spent {
        let mut spent = Spent::default();
        if let Self::Resume { logged, .. } = self {
            for event in logged {
                if let Event::AgentTool { state: ToolState::Ok, documents, blocks, text: Some(_), .. } = event {
                    spent.documents += documents.and_then(|count| usize::try_from(count).ok()).unwrap_or_default();
                    spent.blocks += blocks.and_then(|count| usize::try_from(count).ok()).unwrap_or_default();
                }
            }
        }
        spent
    }
}
