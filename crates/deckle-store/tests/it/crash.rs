//! `kill -9` at any moment: what was acknowledged is there, what was begun is whole or absent, and nothing is damaged.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use deckle_store::{Actor, Changes, LogFilter, Meta, OpKind, Store, Tenant, Workspace, WorkspaceId};

use crate::support::*;

/// The files that one write to main changes together.
const TOGETHER: [&str; 3] = ["x", "deep/y", "deep/er/z"];
/// Tells the child what to do; without it the child's entry is an empty test.
const TASK: &str = "DECKLE_TEST_CHILD";

/// The entry of the child process: this very test binary, started again.
#[tokio::test]
async fn child() {
    let Ok(task) = std::env::var(TASK) else { return };
    // The harness has begun a line of its own.
    println!();
    let mut words = task.split('\n');
    let (what, place, tenant, first) =
        (words.next().unwrap(), words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
    let first: u64 = first.parse().unwrap();
    let workspace = match what {
        "folder" => Workspace::open(Path::new(place)).await.unwrap(),
        _ => {
            let store = Store::open(place).await.unwrap();
            store.workspace(&Tenant::parse(tenant).unwrap(), &WorkspaceId::parse("docs").unwrap()).await.unwrap()
        }
    };
    let handle = workspace.branch(&branch("work")).await.unwrap();
    for n in first.. {
        let meta = Meta::new(agent(), "count").call(run("r"), call(&n.to_string()));
        if n.is_multiple_of(3) {
            let base = workspace.snapshot().await.unwrap();
            let changes = TOGETHER.iter().fold(Changes::new(), |changes, name| changes.write(key(name), format!("{n}\n")));
            workspace.write(&base, &changes, &meta).await.unwrap();
        } else {
            let base = handle.head().await.unwrap();
            handle.commit(&base, &Changes::new().write(key("count"), format!("{n}\n")), &meta).await.unwrap();
        }
        println!("ack {n}");
    }
}

fn start(task: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["crash::child", "--exact", "--nocapture", "--test-threads=1"])
        .env(TASK, task)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Lets a child work until it has acknowledged a few writes and a little longer, kills it, and returns the last number
/// that it acknowledged.
fn kill_at_random(task: &str, random: &mut Random) -> Option<u64> {
    let mut child = start(task);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let acknowledged = |line: Option<std::io::Result<String>>| line?.ok()?.strip_prefix("ack ")?.parse::<u64>().ok();
    let mut last = None;
    for _ in 0..1 + random.below(8) {
        loop {
            match lines.next() {
                None => panic!("the child died by itself: {task}"),
                line => {
                    if let Some(n) = acknowledged(line) {
                        last = Some(n);
                        break;
                    }
                }
            }
        }
    }
    std::thread::sleep(Duration::from_micros(random.below(12_000)));
    child.kill().unwrap();
    child.wait().unwrap();
    // What it said before it died counts.
    for line in lines {
        last = acknowledged(Some(line)).or(last);
    }
    last
}

/// Opens what the dead left, and checks it against the last acknowledged number; returns the next number.
async fn check(workspace: &Workspace, acknowledged: u64, label: &str) -> u64 {
    let main = workspace.snapshot().await.unwrap();
    let log = workspace.log(&LogFilter { limit: Some(1), ..LogFilter::default() }).await.unwrap();
    for n in acknowledged.saturating_sub(12)..=acknowledged {
        if n > 0 {
            let op = workspace.op_of_call(&run("r"), &call(&n.to_string())).await.unwrap();
            assert!(op.is_some(), "{label}: write {n} was acknowledged and is lost");
        }
    }
    let head = workspace.branch(&branch("work")).await.unwrap().head().await.unwrap();
    let count: u64 = head.text(&key("count")).await.unwrap().unwrap().trim().parse().unwrap();
    let last_on_branch = if acknowledged.is_multiple_of(3) { acknowledged.saturating_sub(1) } else { acknowledged };
    assert!(count >= last_on_branch, "{label}: the branch says {count}, {acknowledged} was acknowledged");
    let mut together = Vec::new();
    for name in TOGETHER {
        together.push(main.text(&key(name)).await.unwrap().unwrap());
    }
    assert!(together.windows(2).all(|pair| pair[0] == pair[1]), "{label}: half a write is on main: {together:?}");
    let on_main: u64 = together[0].trim().parse().unwrap();
    assert!(on_main >= acknowledged - acknowledged % 3, "{label}: main says {on_main}, {acknowledged} was acknowledged");
    assert_ne!(log[0].kind, OpKind::Outside, "{label}: the folder is not what was written");
    count.max(on_main).max(acknowledged) + 1
}

async fn seed(workspace: &Workspace) {
    let base = workspace.snapshot().await.unwrap();
    let changes =
        TOGETHER.iter().fold(Changes::new().write(key("count"), "0\n"), |changes, name| changes.write(key(name), "0\n"));
    workspace.write(&base, &changes, &Meta::new(Actor::local(), "seed")).await.unwrap();
    workspace.create_branch(&branch("work"), &agent(), "count").await.unwrap();
}

#[tokio::test]
async fn kills_lose_nothing_that_was_acknowledged_in_a_folder() {
    let mut random = Random::new();
    let kills = 180 * scale();
    let mut done = 0;
    while done < kills {
        let dir = folder("//- a.md\n# A\n");
        let workspace = init(dir.path()).await;
        seed(&workspace).await;
        workspace.store().close().await;
        let mut next = 1;
        for _ in 0..20.min(kills - done) {
            done += 1;
            let label = format!("kill {done}, DECKLE_TEST_SEED={}", random.seed);
            let task = format!("folder\n{}\n-\n{next}", dir.path().display());
            let acknowledged = kill_at_random(&task, &mut random).unwrap();
            let workspace = Workspace::open(dir.path()).await.unwrap();
            next = check(&workspace, acknowledged, &label).await;
            let report = workspace.store().fsck(&Tenant::local()).await.unwrap();
            assert_eq!(report.findings, [], "{label}");
            workspace.store().close().await;
        }
        let left: Vec<String> =
            files(dir.path()).into_iter().map(|(name, _)| name).filter(|name| name.contains(".tmp")).collect();
        assert!(left.len() <= 20, "temporary files pile up: {left:?}");
    }
}

#[tokio::test]
async fn kills_lose_nothing_that_was_acknowledged_on_postgres() {
    let Ok(url) = std::env::var("DECKLE_TEST_POSTGRES") else { return };
    let mut random = Random::new();
    for engine in engines().await.into_iter().filter(|engine| engine.name == "postgres") {
        let workspace = engine.workspace("//- a\n# A\n").await;
        seed(&workspace).await;
        let mut next = 1;
        for kill in 0..20 * scale() {
            let label = format!("kill {kill}, DECKLE_TEST_SEED={}", random.seed);
            let acknowledged = kill_at_random(&format!("store\n{url}\n{}\n{next}", engine.tenant), &mut random).unwrap();
            next = check(&workspace, acknowledged, &label).await;
        }
        assert_eq!(engine.store.fsck(&engine.tenant).await.unwrap().findings, []);
    }
}
