//! Change notices: "something happened here, look again". They carry no content, so losing one costs a poll and nothing
//! else. In one process they are channels; several processes share them through Redis, or poll the database.

use std::time::Duration;

use futures::StreamExt;
use tokio::sync::broadcast;
use tokio::task::JoinHandle;

use crate::error::StoreError;
use crate::ids::Tenant;

/// How many notices wait for a slow listener; one that missed some simply looks again.
const WAITING: usize = 1024;
/// What the channels in Redis begin with.
const PREFIX: &str = "deckle:";
/// How long a notice may hold up the work that it tells of.
const PATIENCE: Duration = Duration::from_millis(200);
/// How long to wait before Redis is asked again after it went away.
const AGAIN: Duration = Duration::from_secs(1);

/// Tells other tasks, and other processes, that something changed. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Notices {
    local: broadcast::Sender<String>,
    redis: Option<redis::aio::ConnectionManager>,
    /// Ends with the last clone.
    _listener: std::sync::Arc<Listener>,
}

#[derive(Debug, Default)]
struct Listener(Option<JoinHandle<()>>);

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some(task) = &self.0 {
            task.abort();
        }
    }
}

/// Waits for notices about one thing.
#[derive(Debug)]
pub struct Subscription {
    topic: String,
    notices: broadcast::Receiver<String>,
}

impl Default for Notices {
    fn default() -> Self {
        Self::local()
    }
}

impl Notices {
    /// Notices within this process.
    pub fn local() -> Self {
        Self { local: broadcast::channel(WAITING).0, redis: None, _listener: std::sync::Arc::default() }
    }

    /// Notices among all processes that use one Redis.
    ///
    /// # Errors
    /// When Redis does not answer. Once it did, its going away only makes notices late: listeners look by themselves.
    pub async fn redis(url: &str) -> Result<Self, StoreError> {
        let away = |error: redis::RedisError| StoreError::Unreachable { cause: format!("Redis: {error}") };
        let client = redis::Client::open(url).map_err(away)?;
        let sender = client.get_connection_manager().await.map_err(away)?;
        let mut listener = client.get_async_pubsub().await.map_err(away)?;
        listener.psubscribe(format!("{PREFIX}*")).await.map_err(away)?;
        let local = broadcast::channel(WAITING).0;
        let out = local.clone();
        let task = tokio::spawn(async move {
            loop {
                let mut messages = listener.into_on_message();
                while let Some(message) = messages.next().await {
                    if let Some(topic) = message.get_channel_name().strip_prefix(PREFIX) {
                        // Nobody listens: fine.
                        let _ = out.send(topic.to_owned());
                    }
                }
                listener = loop {
                    tokio::time::sleep(AGAIN).await;
                    let Ok(mut next) = client.get_async_pubsub().await else { continue };
                    if next.psubscribe(format!("{PREFIX}*")).await.is_ok() {
                        break next;
                    }
                };
            }
        });
        Ok(Self { local, redis: Some(sender), _listener: std::sync::Arc::new(Listener(Some(task))) })
    }

    /// Says that something of a tenant changed.
    pub async fn tell(&self, tenant: &Tenant, what: &str) {
        let topic = format!("{tenant}/{what}");
        match &self.redis {
            None => drop(self.local.send(topic)),
            Some(redis) => {
                let mut redis = redis.clone();
                let mut publish = redis::cmd("PUBLISH");
                publish.arg(format!("{PREFIX}{topic}")).arg("");
                let sent = tokio::time::timeout(PATIENCE, publish.query_async::<i64>(&mut redis)).await;
                if !matches!(sent, Ok(Ok(_))) {
                    tracing::debug!(?sent, "Redis does not answer; others will look by themselves");
                    let _ = self.local.send(topic);
                }
            }
        }
    }

    /// Listens for changes of one thing of a tenant.
    pub fn listen(&self, tenant: &Tenant, what: &str) -> Subscription {
        Subscription { topic: format!("{tenant}/{what}"), notices: self.local.subscribe() }
    }
}

impl Subscription {
    /// Waits until something changed, or the time to look anyway has come; says which.
    pub async fn changed(&mut self, at_most: Duration) -> bool {
        let wait = async {
            loop {
                match self.notices.recv().await {
                    Ok(topic) if topic == self.topic => return true,
                    Ok(_) => {}
                    // Some were missed, and ours may be one of them.
                    Err(broadcast::error::RecvError::Lagged(_)) => return true,
                    Err(broadcast::error::RecvError::Closed) => std::future::pending::<()>().await,
                }
            }
        };
        tokio::time::timeout(at_most, wait).await.unwrap_or(false)
    }
}
