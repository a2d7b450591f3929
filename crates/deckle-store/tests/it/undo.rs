//! Undo returns the exact bytes: whatever runs did, taking them back in any order that they did not build on one another
//! leaves what was there. And the same steps make the same history, byte for byte.

use std::collections::BTreeMap;

use deckle_store::{Changes, Meta, ObjectId, Store, Tenant, Workspace, WorkspaceId};
use deckle_testkit::simdisk::SimDisk;

use crate::support::*;

/// A workspace in memory.
async fn workspace() -> Workspace {
    let store = Store::open_with(&SimDisk::new().url("s.db"), clock()).await.unwrap();
    store.create_workspace(&Tenant::local(), &WorkspaceId::parse("docs").unwrap(), &ana()).await.unwrap()
}

fn bytes(random: &mut Random) -> String {
    let endings = ["\n", "\r\n", "\n\n", "  \n", ""];
    (0..1 + random.below(5))
        .map(|_| format!("{}{}", "w".repeat(random.below(9) as usize), endings[random.below(5) as usize]))
        .collect()
}

/// One random step on main as one run.
async fn step(workspace: &Workspace, random: &mut Random, n: usize) {
    let base = workspace.snapshot().await.unwrap();
    let keys = base.keys().await.unwrap();
    let mut changes = Changes::new();
    for _ in 0..1 + random.below(3) {
        let name = key(&format!("d{}", random.below(6)));
        let there = keys.contains(&name) && !changes.texts().contains_key(&name);
        let to = key(&format!("r/{n}-{}", random.below(100)));
        changes = match random.below(4) {
            0 if there => changes.delete(name),
            1 if there && !changes.texts().contains_key(&to) => {
                let text = base.text(&name).await.unwrap().unwrap();
                changes.rename(name, to, text)
            }
            _ if changes.texts().contains_key(&name) => changes,
            _ => changes.write(name, bytes(random)),
        };
    }
    let meta = Meta::new(agent(), "step").call(run(&format!("r{n}")), call("1"));
    workspace.write(&base, &changes, &meta).await.unwrap();
}

async fn state(workspace: &Workspace) -> (ObjectId, Vec<(String, String)>) {
    let main = workspace.snapshot().await.unwrap();
    let documents = main.documents().await.unwrap();
    (main.tree(), documents.into_iter().map(|document| (document.path.to_string(), document.text.to_string())).collect())
}

#[tokio::test]
async fn runs_taken_back_from_the_last_leave_the_exact_bytes() {
    let mut random = Random::new();
    for history in 0..12 * scale() {
        let workspace = workspace().await;
        let mut states = vec![state(&workspace).await];
        let steps = 2 + random.below(5) as usize;
        for n in 0..steps {
            step(&workspace, &mut random, n).await;
            states.push(state(&workspace).await);
        }
        for n in (0..steps).rev() {
            let label = format!("history {history}, run {n} of {steps}, DECKLE_TEST_SEED={}", random.seed);
            let report = workspace.undo(&run(&format!("r{n}")), &BTreeMap::new(), &meta("undo")).await;
            let report = report.unwrap_or_else(|error| panic!("{label}: {error:?}"));
            assert_eq!(state(&workspace).await, states[n], "{label}: {report:?}");
        }
        workspace.store().close().await;
    }
}

#[tokio::test]
async fn the_same_steps_make_the_same_objects() {
    let mut random = Random::new();
    let seed = random.below(u64::MAX);
    let mut heads = Vec::new();
    for _ in 0..2 {
        let mut random = Random::seeded(seed);
        let workspace = workspace().await;
        for n in 0..6 {
            step(&workspace, &mut random, n).await;
        }
        let log = workspace.log(&deckle_store::LogFilter::default()).await.unwrap();
        heads.push((workspace.snapshot().await.unwrap().commit(), log));
        workspace.store().close().await;
    }
    assert_eq!(heads[0], heads[1], "DECKLE_TEST_SEED={}", random.seed);
}
