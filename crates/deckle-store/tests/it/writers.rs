//! Many writers on one branch, in processes of their own: every acknowledged write is in the one line of history, once, and
//! in an order that agrees with the clock.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use deckle_store::{Changes, Meta, ObjectId, OpKind, Store, StoreError, Tenant, WorkspaceId};

use crate::support::*;

const TASK: &str = "DECKLE_TEST_WRITER";
const PROCESSES: u64 = 8;

fn nanos() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos()
}

/// The entry of a writer process.
#[tokio::test]
async fn child() {
    let Ok(task) = std::env::var(TASK) else { return };
    // The harness has begun a line of its own.
    println!();
    let mut words = task.split('\n');
    let (place, tenant, writer, count) =
        (words.next().unwrap(), words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
    let store = Store::open(place).await.unwrap();
    let workspace = store.workspace(&Tenant::parse(tenant).unwrap(), &WorkspaceId::parse("docs").unwrap()).await.unwrap();
    let handle = workspace.branch(&branch("work")).await.unwrap();
    let mut retries = 0;
    for n in 0..count.parse().unwrap() {
        let invoked = nanos();
        let id = format!("{writer}.{n}");
        loop {
            let base = handle.head().await.unwrap();
            // All append to one document, so a lost write shows.
            let text = base.text(&key("list")).await.unwrap().unwrap();
            let changes = Changes::new().write(key("list"), format!("{text}- {id}\n"));
            match handle.commit(&base, &changes, &Meta::new(agent(), "append").call(run("r"), call(&id))).await {
                Ok(done) => {
                    println!("ok {id} {invoked} {} {}", nanos(), done.id);
                    break;
                }
                Err(StoreError::Moved { .. }) => retries += 1,
                Err(other) => panic!("{other}"),
            }
        }
    }
    println!("retries {retries}");
}

#[tokio::test]
async fn eight_processes_lose_nothing() {
    let each = 25 * scale().min(10);
    for engine in engines().await {
        let workspace = engine.workspace("//- list\n# List\n\n").await;
        let handle = workspace.create_branch(&branch("work"), &agent(), "").await.unwrap();
        let writers: Vec<_> = (0..PROCESSES)
            .map(|writer| {
                Command::new(std::env::current_exe().unwrap())
                    .args(["writers::child", "--exact", "--nocapture", "--test-threads=1"])
                    .env(TASK, format!("{}\n{}\n{writer}\n{each}", engine.url, engine.tenant))
                    .stdout(Stdio::piped())
                    .spawn()
                    .unwrap()
            })
            .collect();
        let mut history: HashMap<ObjectId, (String, u128, u128)> = HashMap::new();
        for mut writer in writers {
            for line in BufReader::new(writer.stdout.take().unwrap()).lines().map_while(Result::ok) {
                let words: Vec<&str> = line.split(' ').collect();
                if let ["ok", id, invoked, done, commit] = words.as_slice() {
                    let times = (id.to_string(), invoked.parse().unwrap(), done.parse().unwrap());
                    assert!(history.insert(commit.parse().unwrap(), times).is_none(), "two writes are one commit");
                }
            }
            assert!(writer.wait().unwrap().success());
        }
        assert_eq!(history.len() as u64, PROCESSES * each, "{}", engine.name);

        // The one line of history, the oldest first.
        let log = handle.log(100_000).await.unwrap();
        let line: Vec<ObjectId> = log.iter().rev().filter(|op| op.kind == OpKind::Commit).filter_map(|op| op.after).collect();
        assert_eq!(line.len(), history.len(), "{}: what is in the log was acknowledged, and the other way round", engine.name);
        let order: Vec<&(String, u128, u128)> = line.iter().map(|commit| &history[commit]).collect();
        let head = handle.head().await.unwrap();
        assert_eq!(Some(&head.commit()), line.last());
        let text = head.text(&key("list")).await.unwrap().unwrap();
        let items: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("- ")).collect();
        let expected: Vec<&str> = order.iter().map(|(id, ..)| id.as_str()).collect();
        assert_eq!(items, expected, "{}: the document is what the line of history says", engine.name);

        // Real time: a write that was done before another began stands before it. Walking back, no earlier one may have
        // begun after a later one was done.
        let mut earliest_done = u128::MAX;
        for (id, invoked, done) in order.iter().rev() {
            assert!(*invoked <= earliest_done, "{}: {id} stands before a write that was done when it began", engine.name);
            earliest_done = earliest_done.min(*done);
        }
        assert_eq!(engine.store.fsck(&engine.tenant).await.unwrap().findings, []);
    }
}
