//! Turns: one request of a session, run by one process at a time, which another may take over when it died.

use std::time::Duration;

use serde_json::Value;

use crate::error::StoreError;
use crate::ids::{BranchId, RunId, SessionId, Timestamp, TurnId};
use crate::lease::{self, Lease, TakeOver};
use crate::session::Sessions;
use crate::sql::{Row, args};

/// How far a turn has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnState {
    /// A process runs it, or died over it.
    Running,
    /// It came to its end.
    Done,
    /// It ended with an error.
    Failed,
    /// A person ended it.
    Cancelled,
}

impl TurnState {
    const ALL: [Self; 4] = [Self::Running, Self::Done, Self::Failed, Self::Cancelled];

    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// One request of a session, to its end.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// Its id.
    pub id: TurnId,
    /// The session.
    pub session: SessionId,
    /// The branch that it writes.
    pub branch: BranchId,
    /// The run that carries it out.
    pub run: RunId,
    /// How far it has come.
    pub state: TurnState,
    /// Somebody asked to end it.
    pub cancel: bool,
    /// What was asked.
    pub request: Value,
    /// What came of it, once it ended.
    pub outcome: Option<Value>,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
}

/// A turn to begin.
#[derive(Clone, Debug)]
pub struct NewTurn {
    /// Its id.
    pub id: TurnId,
    /// The session.
    pub session: SessionId,
    /// The branch that it writes.
    pub branch: BranchId,
    /// The run that carries it out.
    pub run: RunId,
    /// What was asked.
    pub request: Value,
}

const COLUMNS: &str = "t.id, t.session, t.branch, t.run, t.state, t.cancel, t.request, t.outcome, t.started_at, t.ended_at";
const TABLES: &str = "turns t JOIN sessions s ON s.tenant = t.tenant AND s.id = t.session";

impl Turn {
    fn read(row: &Row) -> Result<Self, StoreError> {
        let word = row.text(4)?;
        let state = TurnState::ALL.into_iter().find(|state| state.as_str() == word).ok_or_else(|| StoreError::Corrupt {
            what: format!("turn `{}`", row.text(0).unwrap_or_default()),
            finding: format!("its state `{word}` is unknown"),
        })?;
        Ok(Self {
            id: TurnId::parse(row.text(0)?)?,
            session: SessionId::parse(row.text(1)?)?,
            branch: BranchId::parse(row.text(2)?)?,
            run: RunId::parse(row.text(3)?)?,
            state,
            cancel: row.int(5)? != 0,
            request: row.json(6)?,
            outcome: row.text_or_none(7)?.map(|_| row.json(7)).transpose()?,
            started_at: row.time(8)?,
            ended_at: row.int_or_none(9)?.map(Timestamp),
        })
    }
}

impl Sessions {
    fn lease_name(&self, branch: &BranchId) -> String {
        format!("branch:{}:{branch}", self.core.id)
    }

    /// Begins a turn, and takes the branch for it.
    ///
    /// # Errors
    /// When a turn runs on the branch: [`StoreError::Busy`] names it, so that the caller attaches to it or takes it over.
    pub async fn begin_turn(&self, turn: &NewTurn, holder: &str, ttl: Duration) -> Result<(Turn, Lease), StoreError> {
        let now = self.core.now();
        let session = self.get(&turn.session).await?;
        let mut tx = self.begin(None).await?;
        let name = self.lease_name(&turn.branch);
        // The lease's row serialises those who begin on one branch.
        let lease = match lease::take(&mut tx, &name, holder, now, ttl, TakeOver::Expired).await {
            Ok(lease) => lease,
            Err(StoreError::Held { until, .. }) => {
                drop(tx);
                return Err(self.busy(&turn.branch, until).await?);
            }
            Err(error) => return Err(error),
        };
        let sql = format!(
            "SELECT {COLUMNS} FROM {TABLES} WHERE t.tenant = $1 AND s.workspace = $2 AND t.branch = $3 AND t.state = 'running'"
        );
        if let Some(row) = tx.first(&sql, args![self.core.id.as_str(), turn.branch.as_str()]).await? {
            // Its process died. It must be taken over and ended, or its branch would have two stories.
            let turn = Turn::read(&row)?;
            return Err(StoreError::Busy { branch: turn.branch.to_string(), turn: turn.id.to_string(), until: now });
        }
        let made = tx
            .exec(
                "INSERT INTO turns (tenant, id, session, branch, run, state, cancel, request, started_at) \
                 VALUES ($1, $2, $3, $4, $5, 'running', 0, $6, $7) ON CONFLICT (tenant, id) DO NOTHING",
                args![turn.id.as_str(), session.id.as_str(), turn.branch.as_str(), turn.run.as_str(), &turn.request, now],
            )
            .await?;
        if made == 0 {
            return Err(StoreError::Exists { what: "turn", name: turn.id.to_string() });
        }
        tx.commit().await?;
        let begun = Turn {
            id: turn.id.clone(),
            session: turn.session.clone(),
            branch: turn.branch.clone(),
            run: turn.run.clone(),
            state: TurnState::Running,
            cancel: false,
            request: turn.request.clone(),
            outcome: None,
            started_at: now,
            ended_at: None,
        };
        Ok((begun, lease))
    }

    async fn busy(&self, branch: &BranchId, until: Timestamp) -> Result<StoreError, StoreError> {
        let running = self.running_turns().await?;
        let turn = running.into_iter().find(|turn| turn.branch == *branch);
        Ok(StoreError::Busy {
            branch: branch.to_string(),
            turn: turn.map_or_else(String::new, |turn| turn.id.to_string()),
            until,
        })
    }

    /// Takes a running turn over from a process that died.
    ///
    /// # Errors
    /// When its process still holds it, or it does not run.
    pub async fn take_over(
        &self,
        id: &TurnId,
        holder: &str,
        ttl: Duration,
        over: TakeOver<'_>,
    ) -> Result<(Turn, Lease), StoreError> {
        let now = self.core.now();
        let turn = self.turn(id).await?;
        let mut tx = self.begin(None).await?;
        let lease = match lease::take(&mut tx, &self.lease_name(&turn.branch), holder, now, ttl, over).await {
            Ok(lease) => lease,
            Err(StoreError::Held { until, .. }) => {
                return Err(StoreError::Busy { branch: turn.branch.to_string(), turn: turn.id.to_string(), until });
            }
            Err(error) => return Err(error),
        };
        // It may have come to its end while we waited for the row.
        let row = tx.first("SELECT state FROM turns WHERE tenant = $1 AND id = $2", args![id.as_str()]).await?;
        if row.map(|row| row.text(0).map(str::to_owned)).transpose()?.as_deref() != Some(TurnState::Running.as_str()) {
            return Err(StoreError::not_found("running turn", id));
        }
        tx.commit().await?;
        Ok((turn, lease))
    }

    /// Makes the lease of a turn last longer.
    ///
    /// # Errors
    /// When another process took it over: stop at once.
    pub async fn renew(&self, lease: &Lease, ttl: Duration) -> Result<Lease, StoreError> {
        let mut tx = self.begin(None).await?;
        let renewed = lease::renew(&mut tx, lease, self.core.now(), ttl).await?;
        tx.commit().await?;
        Ok(renewed)
    }

    /// Ends a turn and gives its branch back.
    ///
    /// # Errors
    /// When another process took it over.
    pub async fn end_turn(&self, id: &TurnId, state: TurnState, outcome: &Value, lease: &Lease) -> Result<(), StoreError> {
        let mut tx = self.begin(Some(lease)).await?;
        let done = tx
            .exec(
                "UPDATE turns SET state = $3, outcome = $4, ended_at = $5 WHERE tenant = $1 AND id = $2 AND state = 'running'",
                args![id.as_str(), state.as_str(), outcome, self.core.now()],
            )
            .await?;
        if done == 0 {
            return Err(StoreError::not_found("running turn", id));
        }
        lease::release(&mut tx, lease).await?;
        tx.commit().await
    }

    /// Asks for the end of a turn; says whether it ran.
    ///
    /// # Errors
    /// When there is no such turn here.
    pub async fn cancel_turn(&self, id: &TurnId) -> Result<bool, StoreError> {
        self.turn(id).await?;
        let mut tx = self.begin(None).await?;
        let done = tx
            .exec("UPDATE turns SET cancel = 1 WHERE tenant = $1 AND id = $2 AND state = 'running'", args![id.as_str()])
            .await?;
        tx.commit().await?;
        Ok(done == 1)
    }

    /// Returns a turn.
    ///
    /// # Errors
    /// When there is none with this id here.
    pub async fn turn(&self, id: &TurnId) -> Result<Turn, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM {TABLES} WHERE t.tenant = $1 AND s.workspace = $2 AND t.id = $3");
        let row = self.core.scope().first(&sql, args![self.core.id.as_str(), id.as_str()]).await?;
        Turn::read(&row.ok_or_else(|| StoreError::not_found("turn", id))?)
    }

    /// Lists the turns of a session, the oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn turns(&self, session: &SessionId) -> Result<Vec<Turn>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM {TABLES} WHERE t.tenant = $1 AND s.workspace = $2 AND t.session = $3 ORDER BY t.started_at, t.id"
        );
        self.core.scope().fetch(&sql, args![self.core.id.as_str(), session.as_str()]).await?.iter().map(Turn::read).collect()
    }

    /// Lists the turns that run, or whose process died; the lease tells which.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn running_turns(&self) -> Result<Vec<Turn>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM {TABLES} WHERE t.tenant = $1 AND s.workspace = $2 AND t.state = 'running' ORDER BY t.started_at, t.id"
        );
        self.core.scope().fetch(&sql, args![self.core.id.as_str()]).await?.iter().map(Turn::read).collect()
    }

    /// Returns who holds the branch of a turn, and until when.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn lease_of(&self, branch: &BranchId) -> Result<Option<Lease>, StoreError> {
        let name = self.lease_name(branch);
        let row = self
            .core
            .scope()
            .first(
                "SELECT holder, fence, until FROM leases WHERE tenant = $1 AND name = $2 AND holder <> ''",
                args![name.as_str()],
            )
            .await?;
        row.map(|row| Ok(Lease { name, holder: row.text(0)?.to_owned(), fence: row.int(1)?, until: row.time(2)? })).transpose()
    }
}
