//! Turns whose process died: their calls are answered from what the store knows, and they get their last event.

use std::time::Duration;

use deckle_agent::ChatMessage;
use deckle_agent::history;
use deckle_store::{CallId, Lease, StoreError, TakeOver, Turn, TurnState, Workspace};
use deckle_wire::{Event, Outcome, Usage};
use serde_json::{Value, json};

/// How long a taken-over turn is held while it is closed.
const CLOSING: Duration = Duration::from_secs(30);

/// Names this process as the holder of leases: its number, and the machine on which the number means anything.
pub(crate) fn holder() -> String {
    format!("pid-{}-{}-{}", std::process::id(), machine(), ulid::Ulid::generate())
}

/// This boot of this machine, and within it this space of process numbers: two containers number their processes alike.
fn machine() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let space = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let digits = |text: &str| text.chars().filter(char::is_ascii_hexdigit).collect::<String>();
    format!("{}.{}", digits(&boot), digits(&space.to_string_lossy()))
}

/// Whether a holder's process is known to be dead: it ran on this machine, and is there no more.
fn is_dead(holder: &str) -> bool {
    let mut parts = holder.strip_prefix("pid-").unwrap_or_default().split('-');
    let (pid, place) = (parts.next().and_then(|pid| pid.parse::<u32>().ok()), parts.next());
    let Some(pid) = pid.filter(|_| place == Some(&machine())) else { return false };
    pid != std::process::id()
        && !std::path::Path::new("/proc").join(pid.to_string()).exists()
        && std::path::Path::new("/proc/self").exists()
}

/// Whether nobody runs a turn any more: its lease is over, or its process is known to be dead.
pub(crate) async fn is_left(workspace: &Workspace, turn: &Turn) -> Result<bool, StoreError> {
    let lease = workspace.sessions().lease_of(&turn.branch).await?;
    Ok(lease.is_none_or(|lease| lease.until <= workspace.store().clock().now() || is_dead(&lease.holder)))
}

/// Takes a turn over whose process died.
pub(crate) async fn take(workspace: &Workspace, turn: &Turn, holder: &str, ttl: Duration) -> Result<(Turn, Lease), StoreError> {
    let sessions = workspace.sessions();
    let dead = sessions.lease_of(&turn.branch).await?.map(|lease| lease.holder);
    let over = match dead.as_deref().filter(|dead| is_dead(dead)) {
        Some(dead) => TakeOver::Dead(dead),
        None => TakeOver::Expired,
    };
    sessions.take_over(&turn.id, holder, ttl, over).await
}

/// Closes a turn whose process died. Each call without a result gets one that says whether its effect is on the branch.
pub(crate) async fn close(workspace: &Workspace, turn: &Turn, holder: &str) -> Result<(), StoreError> {
    let (turn, lease) = take(workspace, turn, holder, CLOSING).await?;
    close_held(workspace, &turn, &lease).await
}

/// The same for a turn that this process holds.
pub(crate) async fn close_held(workspace: &Workspace, turn: &Turn, lease: &Lease) -> Result<(), StoreError> {
    let sessions = workspace.sessions();
    answer_calls(workspace, turn, lease).await?;
    let done = Event::AgentDone {
        outcome: Outcome::Failed,
        summary: "The turn was interrupted. What it wrote is on its branch; follow up on the session to go on.".into(),
        branch: Some(turn.branch.to_string()),
        documents: 0,
        blocks: 0,
        usage: Usage::default(),
    };
    sessions.append_events(&turn.session, &turn.id, &[serde_json::to_value(&done).unwrap_or(Value::Null)], Some(lease)).await?;
    sessions.end_turn(&turn.id, TurnState::Failed, &json!({ "why": "interrupted" }), lease).await
}

async fn answer_calls(workspace: &Workspace, turn: &Turn, lease: &Lease) -> Result<(), StoreError> {
    let sessions = workspace.sessions();
    let count = sessions.message_count(&turn.session).await?;
    let stored: Vec<ChatMessage> = sessions
        .messages(&turn.session, 0..count)
        .await?
        .into_iter()
        .filter_map(|message| serde_json::from_value(message.body).ok())
        .collect();
    let repaired = history::repair(&stored);
    // Only a tail can be missing: what came before was followed by other messages.
    let missing = repaired.get(stored.len()..).unwrap_or_default();
    let mut bodies = Vec::new();
    for message in missing {
        let ChatMessage::Tool { id, name, .. } = message else { continue };
        let key = deckle_agent::ToolCall { id: id.clone(), name: name.clone(), arguments: Value::Null, broken: None }.key();
        let branch = workspace.branch(&turn.branch).await?;
        let done = branch.replay(&turn.run, &CallId::parse(&key)?).await?;
        let (content, is_error) = match done {
            Some(commit) => (format!("The process died right after this call; its effect IS on the branch (operation {}). Do not repeat it.", commit.op), false),
            None => ("The process died before this call was executed; its effect is NOT on the branch. Call again if it is still wanted.".to_owned(), true),
        };
        let answer = ChatMessage::Tool { id: id.clone(), name: name.clone(), content, is_error };
        bodies.push(serde_json::to_value(&answer).unwrap_or(Value::Null));
    }
    if bodies.is_empty() {
        Ok(())
    } else {
        sessions.append_messages(&turn.session, Some(&turn.id), count, &bodies, Some(lease)).await
    }
}
