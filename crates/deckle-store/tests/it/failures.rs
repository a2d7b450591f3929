//! What goes wrong around a store: a server that goes away, a file that somebody holds, a disk that is full, a folder that two
//! processes work in. Each is said with an instruction, and nothing is lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use deckle_doc::Diag;
use deckle_store::{Changes, LogFilter, Meta, Store, StoreError, Tenant, Workspace, WorkspaceId};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::support::*;

/// A wire to a server that is cut after so many bytes were sent to it.
struct Wire {
    port: u16,
    /// How many bytes may still go; at none the wire is cut.
    left: Arc<AtomicU64>,
}

const NEVER: u64 = u64::MAX / 2;

impl Wire {
    async fn to(server: String) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let wire = Self { port: listener.local_addr().unwrap().port(), left: Arc::new(AtomicU64::new(NEVER)) };
        let left = wire.left.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                // A server that is away takes no calls.
                if left.load(Ordering::SeqCst) > 0 {
                    tokio::spawn(carry(client, server.clone(), left.clone()));
                }
            }
        });
        wire
    }
}

/// Carries bytes both ways until the wire is cut.
async fn carry(client: TcpStream, server: String, left: Arc<AtomicU64>) {
    let Ok(server) = TcpStream::connect(server).await else { return };
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let back = tokio::spawn(async move { tokio::io::copy(&mut from_server, &mut to_client).await });
    let mut piece = [0; 4096];
    while let Ok(read) = from_client.read(&mut piece).await {
        let size = read as u64;
        let may = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| Some(left.saturating_sub(size))).unwrap_or(0);
        if read == 0 || may < size {
            break;
        }
        if to_server.write_all(&piece[..read]).await.is_err() {
            break;
        }
    }
    back.abort();
}

/// An instruction: what happened, and what to do.
fn instruction(error: &StoreError) -> Diag {
    let diag = Diag::from(error);
    assert!(!diag.hints.is_empty(), "{diag}");
    diag
}

#[tokio::test]
async fn a_postgres_that_goes_away_at_any_byte_loses_nothing_that_was_acknowledged() {
    let Ok(url) = std::env::var("DECKLE_TEST_POSTGRES") else { return };
    let address = url.rsplit('@').next().unwrap();
    let (server, name) = address.split_once('/').unwrap();
    let wire = Wire::to(server.to_owned()).await;
    let through = url.replace(server, &format!("127.0.0.1:{}", wire.port));
    assert!(through.ends_with(name));
    let direct = Store::open(&url).await.unwrap();
    let engine = Engine::of("postgres", direct, tenant(), url.clone());
    let seen = engine.workspace("//- count\n0\n").await;
    seen.create_branch(&branch("work"), &agent(), "").await.unwrap();
    let (mut acknowledged, mut cut, mut unsure) = (0_u64, 0, 0);
    let rounds = 60 * scale();
    let mut random = Random::new();
    for round in 1..=rounds {
        wire.left.store(NEVER, Ordering::SeqCst);
        let store = Store::open(&through).await.unwrap();
        let workspace = store.workspace(&engine.tenant, &WorkspaceId::parse("docs").unwrap()).await.unwrap();
        let handle = workspace.branch(&branch("work")).await.unwrap();
        let base = handle.head().await.unwrap();
        let before: u64 = base.text(&key("count")).await.unwrap().unwrap().trim().parse().unwrap();
        assert!(before >= acknowledged, "round {round}: {acknowledged} was acknowledged, {before} is there");
        assert!(before <= acknowledged + unsure, "round {round}: a write that nobody made");
        (acknowledged, unsure) = (before, 0);
        let next = before + 1;
        // A write is some kilobytes on the wire; the cut may fall anywhere in it, or behind it.
        wire.left.store(random.below(40_000), Ordering::SeqCst);
        let write = Meta::new(agent(), "count").call(run("r"), call(&format!("{round}")));
        let changes = || Changes::new().write(key("count"), format!("{next}\n")).write(key("other"), format!("{next}\n"));
        match handle.commit(&base, &changes(), &write).await {
            Ok(_) => acknowledged = next,
            Err(error) => {
                cut += 1;
                let diag = instruction(&error);
                assert_eq!(diag.code, "database-unreachable", "DECKLE_TEST_SEED={}: {diag}", random.seed);
                // The same call again, when the server is back, happens once: here for every other round, else the next
                // round finds out what became of it.
                wire.left.store(NEVER, Ordering::SeqCst);
                if round % 2 == 0 {
                    let done = handle.commit(&base, &changes(), &write).await.unwrap();
                    assert_eq!(handle.head().await.unwrap().commit(), done.id);
                    acknowledged = next;
                } else {
                    unsure = 1;
                }
            }
        }
        store.close().await;
        let (count, other) = (seen.branch(&branch("work")).await.unwrap().head().await.unwrap(), key("other"));
        let (one, two) = (count.text(&key("count")).await.unwrap(), count.text(&other).await.unwrap());
        assert!(two.is_none() || one == two, "round {round}: half a write: {one:?} {two:?}");
    }
    assert!(cut > rounds / 10 && cut < rounds, "{cut} of {rounds} writes were cut off");
    assert_eq!(engine.store.fsck(&engine.tenant).await.unwrap().findings, []);
}

#[tokio::test]
async fn a_database_that_somebody_locks_is_waited_for_and_then_named() {
    let dir = folder("//- a.md\n# A\n");
    let workspace = init(dir.path()).await;
    let handle = workspace.create_branch(&branch("work"), &agent(), "").await.unwrap();
    let base = handle.head().await.unwrap();
    let file = format!("sqlite:{}", dir.path().join(".deckle/store.db").display());
    let other = sqlx::SqlitePool::connect(&file).await.unwrap();
    let mut lock = other.begin_with("BEGIN IMMEDIATE").await.unwrap();
    // Reading goes on beside a writer, and says what was there before.
    assert_eq!(handle.head().await.unwrap().commit(), base.commit());
    let changes = Changes::new().write(key("a"), "# B\n");
    let begun = Instant::now();
    let error = handle.commit(&base, &changes, &meta("edit")).await.unwrap_err();
    assert!(matches!(error, StoreError::Locked), "{error}");
    assert!(instruction(&error).to_string().contains("nothing was written"));
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    sqlx::query("SELECT 1").execute(&mut *lock).await.unwrap();
    drop(lock);
    handle.commit(&base, &changes, &meta("edit")).await.unwrap();
    assert_eq!(workspace.store().fsck(&Tenant::local()).await.unwrap().findings, []);
}

#[tokio::test]
async fn two_processes_in_one_folder_take_turns_and_lose_nothing() {
    let dir = folder("//- a.md\n# A\n");
    let one = init(dir.path()).await;
    // As another process has it: its own connections, and nothing shared but the folder.
    let two = Workspace::open(dir.path()).await.unwrap();
    let write = |workspace: Workspace, name: &'static str| async move {
        for n in 0..10 {
            loop {
                let base = workspace.snapshot().await.unwrap();
                let changes = Changes::new().write(key(&format!("{name}/{n}")), format!("{n}\n"));
                match workspace.write(&base, &changes, &meta(name)).await {
                    Ok(_) => break,
                    Err(error @ (StoreError::Moved { .. } | StoreError::ChangedUnderneath { .. })) => drop(instruction(&error)),
                    Err(other) => panic!("{other}"),
                }
            }
        }
    };
    tokio::join!(write(one.clone(), "one"), write(two.clone(), "two"));
    assert_eq!(one.snapshot().await.unwrap().keys().await.unwrap().len(), 21);
    assert_eq!(files(dir.path()).len(), 21);
    let log = one.log(&LogFilter::default()).await.unwrap();
    assert_eq!(log.iter().filter(|op| op.intent == "one" || op.intent == "two").count(), 20);
    assert_eq!(one.store().fsck(&Tenant::local()).await.unwrap().findings, []);
}
