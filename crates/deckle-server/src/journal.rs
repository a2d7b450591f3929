//! The journal of a turn, in the store.

use async_trait::async_trait;
use deckle_agent::ChatMessage;
use deckle_agent::drive::Journal;
use deckle_store::{Lease, Notices, SessionId, Sessions, StoreError, Tenant, TurnId};
use deckle_wire::Event;
use serde_json::Value;
use tokio::sync::watch;

use crate::turns::topic_of_session;

/// Writes messages and events of one turn, then tells the streams.
pub(crate) struct StoreJournal {
    pub sessions: Sessions,
    pub session: SessionId,
    pub turn: TurnId,
    pub lease: Lease,
    /// The last number that was written.
    pub written: watch::Sender<i64>,
    /// Tells the streams of other processes.
    pub told: Told,
}

/// How other processes are told.
pub(crate) struct Told {
    pub notices: Notices,
    pub tenant: Tenant,
}

#[async_trait]
impl Journal for StoreJournal {
    async fn checkpoint(&self, place: usize, messages: &[ChatMessage]) -> Result<(), StoreError> {
        let bodies: Vec<Value> = messages.iter().map(|message| serde_json::to_value(message).unwrap_or(Value::Null)).collect();
        self.sessions.append_messages(&self.session, Some(&self.turn), place as u64, &bodies, Some(&self.lease)).await
    }

    async fn emit(&self, event: Event) -> Result<(), StoreError> {
        let body = serde_json::to_value(&event).unwrap_or(Value::Null);
        let seq = self.sessions.append_events(&self.session, &self.turn, &[body], Some(&self.lease)).await?;
        self.written.send_replace(seq);
        self.told.notices.tell(&self.told.tenant, &topic_of_session(&self.session)).await;
        Ok(())
    }
}
