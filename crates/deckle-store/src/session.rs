//! Sessions: conversations with their messages, whole, and the log of events that clients read.

use std::ops::Range;

use serde_json::Value;

use crate::core::Core;
use crate::error::StoreError;
use crate::ids::{BranchId, SessionId, Timestamp, TurnId, UserId};
use crate::lease::{self, Lease};
use crate::sql::{Row, Tx, args};
use crate::workspace::Workspace;

/// How many digits a message's place has: enough for any conversation, and text order is number order.
const PLACE_DIGITS: usize = 10;

/// One conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// The branch that its turns write, once there is one.
    pub branch: Option<BranchId>,
    /// Whose it is.
    pub person: UserId,
    /// What it is called.
    pub title: String,
    /// What the caller keeps with it.
    pub state: Value,
    /// When it began.
    pub created_at: Timestamp,
    /// When it changed last.
    pub changed_at: Timestamp,
}

/// One message of a session, whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Its place, from 0.
    pub place: u64,
    /// The turn in which it was said.
    pub turn: Option<TurnId>,
    /// What the caller stored, byte for byte the same JSON.
    pub body: Value,
    /// When.
    pub at: Timestamp,
}

/// One event of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Its number in the session; it grows by one.
    pub seq: i64,
    /// The turn it belongs to.
    pub turn: TurnId,
    /// What the caller stored.
    pub body: Value,
    /// When.
    pub at: Timestamp,
}

/// The sessions of a workspace. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Sessions {
    pub(crate) core: Core,
}

const COLUMNS: &str = "id, branch, person, title, state, created_at, changed_at";

impl Session {
    fn read(row: &Row) -> Result<Self, StoreError> {
        Ok(Self {
            id: SessionId::parse(row.text(0)?)?,
            branch: row.text_or_none(1)?.map(BranchId::parse).transpose()?,
            person: UserId::parse(row.text(2)?)?,
            title: row.text(3)?.to_owned(),
            state: row.json(4)?,
            created_at: row.time(5)?,
            changed_at: row.time(6)?,
        })
    }
}

fn place(at: u64) -> String {
    format!("{at:0PLACE_DIGITS$}")
}

impl Workspace {
    /// Returns the sessions.
    pub fn sessions(&self) -> Sessions {
        Sessions { core: self.core().clone() }
    }
}

impl Sessions {
    /// Begins a session.
    ///
    /// # Errors
    /// When there is one with this id.
    pub async fn create(
        &self,
        id: &SessionId,
        person: &UserId,
        branch: Option<&BranchId>,
        title: &str,
    ) -> Result<Session, StoreError> {
        let now = self.core.now();
        let mut tx = self.core.scope().begin().await?;
        let made = tx
            .exec(
                "INSERT INTO sessions (tenant, id, workspace, branch, person, title, state, created_at, changed_at) \
                 VALUES ($1, $2, $3, $4, $5, $6, '{}', $7, $7) ON CONFLICT (tenant, id) DO NOTHING",
                args![id.as_str(), self.core.id.as_str(), branch.map(BranchId::as_str), person.as_str(), title, now],
            )
            .await?;
        if made == 0 {
            return Err(StoreError::Exists { what: "session", name: id.to_string() });
        }
        tx.commit().await?;
        Ok(Session {
            id: id.clone(),
            branch: branch.cloned(),
            person: person.clone(),
            title: title.to_owned(),
            state: Value::Object(serde_json::Map::new()),
            created_at: now,
            changed_at: now,
        })
    }

    /// Returns a session.
    ///
    /// # Errors
    /// When there is none with this id here.
    pub async fn get(&self, id: &SessionId) -> Result<Session, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM sessions WHERE tenant = $1 AND workspace = $2 AND id = $3");
        let row = self.core.scope().first(&sql, args![self.core.id.as_str(), id.as_str()]).await?;
        Session::read(&row.ok_or_else(|| StoreError::not_found("session", id))?)
    }

    /// Lists sessions, the one that changed last first; only one person's, when asked.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn list(&self, person: Option<&UserId>, limit: u32) -> Result<Vec<Session>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM sessions WHERE tenant = $1 AND workspace = $2 AND ($3 = '' OR person = $3) ORDER BY changed_at DESC, id LIMIT $4"
        );
        let values = args![self.core.id.as_str(), person.map_or("", UserId::as_str), i64::from(limit)];
        self.core.scope().fetch(&sql, values).await?.iter().map(Session::read).collect()
    }

    /// Changes what is known about a session: its branch, title and state as given here.
    ///
    /// # Errors
    /// When there is none with this id, or the lease was lost.
    pub async fn update(&self, session: &Session, lease: Option<&Lease>) -> Result<(), StoreError> {
        let mut tx = self.begin(lease).await?;
        let done = tx
            .exec(
                "UPDATE sessions SET branch = $4, title = $5, state = $6, changed_at = $7 WHERE tenant = $1 AND workspace = $2 AND id = $3",
                args![
                    self.core.id.as_str(),
                    session.id.as_str(),
                    session.branch.as_ref().map(BranchId::as_str),
                    session.title.as_str(),
                    &session.state,
                    self.core.now(),
                ],
            )
            .await?;
        if done == 0 {
            return Err(StoreError::not_found("session", &session.id));
        }
        tx.commit().await
    }

    /// Appends messages from a place on. The same messages a second time are the first ones again, so a checkpoint may be
    /// repeated after a crash.
    ///
    /// # Errors
    /// When another message stands at one of the places, the place would leave a gap, or the lease was lost.
    pub async fn append_messages(
        &self,
        id: &SessionId,
        turn: Option<&TurnId>,
        first: u64,
        bodies: &[Value],
        lease: Option<&Lease>,
    ) -> Result<(), StoreError> {
        let mut tx = self.begin(lease).await?;
        self.touch(&mut tx, id).await?;
        let count = count(&mut tx, id).await?;
        if first > count {
            return Err(StoreError::Gap { session: id.to_string(), next: count, asked: first });
        }
        for (at, body) in (first..).zip(bodies) {
            if at < count {
                let row = tx
                    .first(
                        "SELECT body FROM messages WHERE tenant = $1 AND session = $2 AND place = $3",
                        args![id.as_str(), place(at)],
                    )
                    .await?;
                if row.map(|row| row.json(0)).transpose()?.as_ref() != Some(body) {
                    return Err(StoreError::Exists { what: "message", name: format!("{id}/{at}") });
                }
                continue;
            }
            tx.exec(
                "INSERT INTO messages (tenant, session, place, turn, body, at) VALUES ($1, $2, $3, $4, $5, $6)",
                args![id.as_str(), place(at), turn.map(TurnId::as_str), body, self.core.now()],
            )
            .await?;
        }
        tx.commit().await
    }

    /// Returns the messages of a window, in order: one range read.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn messages(&self, id: &SessionId, window: Range<u64>) -> Result<Vec<Message>, StoreError> {
        self.get(id).await?;
        let rows = self
            .core
            .scope()
            .fetch(
                "SELECT place, turn, body, at FROM messages WHERE tenant = $1 AND session = $2 AND place >= $3 AND place < $4 ORDER BY place",
                args![id.as_str(), place(window.start), place(window.end.min(9_999_999_999))],
            )
            .await?;
        let message = |row: &Row| {
            Ok(Message {
                place: row.text(0)?.parse().map_err(|_| StoreError::Corrupt {
                    what: format!("session `{id}`"),
                    finding: "a message has no place".into(),
                })?,
                turn: row.text_or_none(1)?.map(TurnId::parse).transpose()?,
                body: row.json(2)?,
                at: row.time(3)?,
            })
        };
        rows.iter().map(message).collect()
    }

    /// Returns how many messages there are, which is the next message's place.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn message_count(&self, id: &SessionId) -> Result<u64, StoreError> {
        self.get(id).await?;
        let row = self
            .core
            .scope()
            .first(
                "SELECT place FROM messages WHERE tenant = $1 AND session = $2 ORDER BY place DESC LIMIT 1",
                args![id.as_str()],
            )
            .await?;
        next_place(row.as_ref())
    }

    /// Appends events to the log and returns the first one's number. Only what this returned for may be sent to a client:
    /// the log is written first.
    ///
    /// # Errors
    /// When there is no such session, or the lease was lost.
    pub async fn append_events(
        &self,
        id: &SessionId,
        turn: &TurnId,
        bodies: &[Value],
        lease: Option<&Lease>,
    ) -> Result<i64, StoreError> {
        let mut tx = self.begin(lease).await?;
        self.touch(&mut tx, id).await?;
        let row =
            tx.first("SELECT COALESCE(MAX(seq), 0) FROM events WHERE tenant = $1 AND session = $2", args![id.as_str()]).await?;
        let first = row.map(|row| row.int(0)).transpose()?.unwrap_or_default() + 1;
        for (seq, body) in (first..).zip(bodies) {
            tx.exec(
                "INSERT INTO events (tenant, session, seq, turn, body, at) VALUES ($1, $2, $3, $4, $5, $6)",
                args![id.as_str(), seq, turn.as_str(), body, self.core.now()],
            )
            .await?;
        }
        tx.commit().await?;
        Ok(first)
    }

    /// Returns the events after a number, in order.
    ///
    /// # Errors
    /// When there is no such session.
    pub async fn events(&self, id: &SessionId, after: i64, limit: u32) -> Result<Vec<Event>, StoreError> {
        self.get(id).await?;
        let rows = self
            .core
            .scope()
            .fetch(
                "SELECT seq, turn, body, at FROM events WHERE tenant = $1 AND session = $2 AND seq > $3 ORDER BY seq LIMIT $4",
                args![id.as_str(), after, i64::from(limit)],
            )
            .await?;
        rows.iter()
            .map(|row| Ok(Event { seq: row.int(0)?, turn: TurnId::parse(row.text(1)?)?, body: row.json(2)?, at: row.time(3)? }))
            .collect()
    }

    /// Keeps a tool's result that is too long for the conversation. The same id a second time changes nothing.
    ///
    /// # Errors
    /// When there is no such session.
    pub async fn offload(&self, id: &SessionId, name: &str, tool: &str, media: &str, data: &[u8]) -> Result<(), StoreError> {
        let mut tx = self.begin(None).await?;
        self.touch(&mut tx, id).await?;
        tx.exec(
            "INSERT INTO offloaded (tenant, session, id, tool, media, data, at) VALUES ($1, $2, $3, $4, $5, $6, $7) \
             ON CONFLICT (tenant, session, id) DO NOTHING",
            args![id.as_str(), name, tool, media, data.to_vec(), self.core.now()],
        )
        .await?;
        tx.commit().await
    }

    /// Returns a result that was kept: its media type and its bytes.
    ///
    /// # Errors
    /// When the session has none with this name.
    pub async fn offloaded(&self, id: &SessionId, name: &str) -> Result<(String, Vec<u8>), StoreError> {
        self.get(id).await?;
        let row = self
            .core
            .scope()
            .first("SELECT media, data FROM offloaded WHERE tenant = $1 AND session = $2 AND id = $3", args![id.as_str(), name])
            .await?;
        let row = row.ok_or_else(|| StoreError::not_found("stored result", name))?;
        Ok((row.text(0)?.to_owned(), row.bytes(1)?.to_vec()))
    }

    pub(crate) async fn begin(&self, lease: Option<&Lease>) -> Result<Tx, StoreError> {
        let mut tx = self.core.scope().begin().await?;
        if let Some(lease) = lease {
            lease::check(&mut tx, lease).await?;
        }
        Ok(tx)
    }

    /// Locks the session's row, so that places and numbers are given one by one.
    async fn touch(&self, tx: &mut Tx, id: &SessionId) -> Result<(), StoreError> {
        let done = tx
            .exec(
                "UPDATE sessions SET changed_at = $4 WHERE tenant = $1 AND workspace = $2 AND id = $3",
                args![self.core.id.as_str(), id.as_str(), self.core.now()],
            )
            .await?;
        if done == 1 { Ok(()) } else { Err(StoreError::not_found("session", id)) }
    }
}

async fn count(tx: &mut Tx, id: &SessionId) -> Result<u64, StoreError> {
    let row = tx
        .first("SELECT place FROM messages WHERE tenant = $1 AND session = $2 ORDER BY place DESC LIMIT 1", args![id.as_str()])
        .await?;
    next_place(row.as_ref())
}

fn next_place(row: Option<&Row>) -> Result<u64, StoreError> {
    let Some(row) = row else { return Ok(0) };
    let last: u64 =
        row.text(0)?.parse().map_err(|_| StoreError::Corrupt { what: "a message".into(), finding: "it has no place".into() })?;
    Ok(last + 1)
}
