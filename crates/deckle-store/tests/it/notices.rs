//! Change notices, in one process and through the real Redis.

use std::time::Duration;

use deckle_store::Notices;

use crate::support::*;

const LONG: Duration = Duration::from_secs(10);

async fn both_ways(one: &Notices, two: &Notices) {
    let (mine, theirs) = (tenant(), tenant());
    let mut listener = two.listen(&mine, "session:s");
    let mut foreign = two.listen(&theirs, "session:s");
    one.tell(&mine, "session:other").await;
    one.tell(&mine, "session:s").await;
    assert!(listener.changed(LONG).await);
    assert!(!listener.changed(Duration::from_millis(1)).await, "one notice wakes once");
    assert!(!foreign.changed(Duration::from_millis(1)).await, "another tenant hears nothing");
    for _ in 0..5_000 {
        one.tell(&theirs, "flood").await;
    }
    one.tell(&mine, "session:s").await;
    assert!(listener.changed(LONG).await, "a listener that missed some looks again");
}

#[tokio::test]
async fn notices_reach_listeners_of_this_process() {
    let notices = Notices::local();
    both_ways(&notices, &notices.clone()).await;
}

#[tokio::test]
async fn notices_reach_other_processes_through_redis() {
    let Ok(url) = std::env::var("DECKLE_TEST_REDIS") else { return };
    both_ways(&Notices::redis(&url).await.unwrap(), &Notices::redis(&url).await.unwrap()).await;
    assert!(Notices::redis("redis://127.0.0.1:1").await.is_err());
}
