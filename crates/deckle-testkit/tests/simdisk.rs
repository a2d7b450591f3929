//! The simulated disk behaves as SQLite needs, keeps what was synced, and shows a missing sync.

#![allow(clippy::unwrap_used)]

use deckle_testkit::simdisk::{Fault, FaultKind, SimDisk};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, SqliteConnection};
use std::str::FromStr;

async fn connect(disk: &SimDisk, synchronous: SqliteSynchronous) -> Result<SqliteConnection, sqlx::Error> {
    SqliteConnectOptions::from_str(&disk.url("a.db"))?
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(synchronous)
        .connect()
        .await
}

/// Inserts rows until the disk fails; returns how many were acknowledged.
async fn insert(disk: &SimDisk, synchronous: SqliteSynchronous, count: i64) -> i64 {
    let mut acknowledged = 0;
    let Ok(mut connection) = connect(disk, synchronous).await else { return 0 };
    let created = sqlx::query("create table if not exists t (n integer primary key)").execute(&mut connection).await.is_ok();
    for n in 1..=count {
        if !created || sqlx::query("insert into t (n) values ($1)").bind(n).execute(&mut connection).await.is_err() {
            break;
        }
        acknowledged = n;
    }
    // A connection that is only dropped closes on its own thread, perhaps after the power loss.
    let _ = connection.close().await;
    acknowledged
}

async fn stored(disk: &SimDisk) -> i64 {
    let mut connection = connect(disk, SqliteSynchronous::Full).await.unwrap();
    let sound: String = sqlx::query_scalar("pragma integrity_check").fetch_one(&mut connection).await.unwrap();
    assert_eq!(sound, "ok");
    let exists: i64 =
        sqlx::query_scalar("select count(*) from sqlite_master where name = 't'").fetch_one(&mut connection).await.unwrap();
    if exists == 0 {
        return 0;
    }
    sqlx::query_scalar("select coalesce(max(n), 0) from t").fetch_one(&mut connection).await.unwrap()
}

#[tokio::test]
async fn two_connections_share_a_file() {
    let disk = SimDisk::new();
    assert_eq!(insert(&disk, SqliteSynchronous::Full, 20).await, 20);
    let mut one = connect(&disk, SqliteSynchronous::Full).await.unwrap();
    let two = stored(&disk).await;
    let own: i64 = sqlx::query_scalar("select count(*) from t").fetch_one(&mut one).await.unwrap();
    assert_eq!((own, two), (20, 20));
}

#[tokio::test]
async fn power_loss_at_every_call_keeps_what_was_acknowledged() {
    let calls = {
        let disk = SimDisk::new();
        insert(&disk, SqliteSynchronous::Full, 8).await;
        disk.calls()
    };
    assert!(calls > 40, "only {calls} calls reached the disk");
    for at in 0..calls {
        let disk = SimDisk::new();
        disk.arm(Fault { at, kind: FaultKind::PowerOff, persistent: true });
        let acknowledged = insert(&disk, SqliteSynchronous::Full, 8).await;
        disk.power_loss(at);
        let there = stored(&disk).await;
        assert!(there >= acknowledged, "power loss at call {at}: {acknowledged} acknowledged, {there} stored");
    }
}

#[tokio::test]
async fn a_missing_sync_is_caught() {
    let mut lost = 0;
    for seed in 0..40 {
        let disk = SimDisk::new();
        let acknowledged = insert(&disk, SqliteSynchronous::Off, 8).await;
        disk.power_loss(seed);
        // Without syncs even the file's own structure may be torn, so count what can be read.
        let there = match connect(&disk, SqliteSynchronous::Full).await {
            Ok(mut connection) => {
                sqlx::query_scalar::<_, i64>("select coalesce(max(n), 0) from t").fetch_one(&mut connection).await.unwrap_or(0)
            }
            Err(_) => 0,
        };
        lost += i64::from(there < acknowledged);
    }
    assert!(lost > 10, "the simulated disk loses nothing without syncs ({lost} of 40)");
}

#[tokio::test]
async fn a_full_disk_is_an_error_and_heals() {
    let disk = SimDisk::new();
    assert_eq!(insert(&disk, SqliteSynchronous::Full, 3).await, 3);
    let mut connection = connect(&disk, SqliteSynchronous::Full).await.unwrap();
    disk.arm(Fault { at: 0, kind: FaultKind::Full, persistent: true });
    assert!(sqlx::query("insert into t (n) values (4)").execute(&mut connection).await.is_err());
    disk.heal();
    connection.close().await.unwrap();
    assert_eq!(stored(&disk).await, 3);
}
