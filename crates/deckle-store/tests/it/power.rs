//! Power that goes at any call to the disk, and any single call that fails: what was acknowledged is there, the rest is
//! whole or absent, and after a failed sync nothing more is acknowledged.

use deckle_store::{Actor, Changes, Meta, Store, StoreError, Tenant, WorkspaceId};
use deckle_testkit::simdisk::{Fault, FaultKind, SimDisk};

use crate::support::*;

/// How many writes the script makes.
const WRITES: u64 = 12;

fn docs() -> WorkspaceId {
    WorkspaceId::parse("docs").unwrap()
}

/// Makes the script's writes until one fails; returns how many were acknowledged, and what the last one said.
async fn script(disk: &SimDisk) -> (u64, Option<StoreError>) {
    let store = match Store::open_with(&disk.url("s.db"), clock()).await {
        Ok(store) => store,
        Err(error) => return (0, Some(error)),
    };
    let done = writes(&store).await;
    store.close().await;
    done
}

async fn writes(store: &Store) -> (u64, Option<StoreError>) {
    let opened = match store.workspace(&Tenant::local(), &docs()).await {
        Ok(there) => Ok(there),
        Err(_) => store.create_workspace(&Tenant::local(), &docs(), &Actor::local()).await,
    };
    let workspace = match opened {
        Ok(workspace) => workspace,
        Err(error) => return (0, Some(error)),
    };
    let id = branch("work");
    let opened = match workspace.branch(&id).await {
        Ok(there) => Ok(there),
        Err(_) => workspace.create_branch(&id, &agent(), "").await,
    };
    let handle = match opened {
        Ok(handle) => handle,
        Err(error) => return (0, Some(error)),
    };
    let mut acknowledged = 0;
    for n in 1..=WRITES {
        let base = match handle.head().await {
            Ok(base) => base,
            Err(error) => return (acknowledged, Some(error)),
        };
        let changes = Changes::new().write(key("count"), format!("{n}\n")).write(key(&format!("d{n}")), "x\n".repeat(300));
        match handle.commit(&base, &changes, &Meta::new(agent(), "count").call(run("r"), call(&n.to_string()))).await {
            Ok(_) => acknowledged = n,
            Err(error) => return (acknowledged, Some(error)),
        }
    }
    (acknowledged, None)
}

/// Opens what is left and checks it.
async fn check(disk: &SimDisk, acknowledged: u64, label: &str) {
    let store = Store::open_with(&disk.url("s.db"), clock()).await.unwrap_or_else(|error| panic!("{label}: {error}"));
    let report = store.fsck(&Tenant::local()).await.unwrap();
    assert_eq!(report.findings, [], "{label}");
    if acknowledged > 0 {
        let workspace = store.workspace(&Tenant::local(), &docs()).await.unwrap();
        let head = workspace.branch(&branch("work")).await.unwrap().head().await.unwrap();
        let count: u64 = head.text(&key("count")).await.unwrap().unwrap().trim().parse().unwrap();
        assert!(count >= acknowledged, "{label}: {acknowledged} were acknowledged, {count} are there");
        for n in 1..=count {
            assert!(head.text(&key(&format!("d{n}"))).await.unwrap().is_some(), "{label}: write {n} of {count} is not whole");
        }
        assert!(head.text(&key(&format!("d{}", count + 1))).await.unwrap().is_none(), "{label}: half of a later write is there");
    }
    // And work goes on.
    store.close().await;
    let (after, error) = script(disk).await;
    assert!(error.is_none() && after == WRITES, "{label}: {error:?}");
}

/// The calls at which something happens: all of them in `make prove`, a spread of them at every run.
fn points(calls: u64, wanted: u64) -> impl Iterator<Item = u64> {
    let step = (calls / (wanted * scale())).max(1);
    let offset = u64::from(std::process::id()) % step;
    (offset..calls).step_by(usize::try_from(step).unwrap())
}

async fn calls() -> (u64, u64) {
    let disk = SimDisk::new();
    assert!(script(&disk).await.1.is_none());
    (disk.calls(), disk.syncs())
}

#[tokio::test]
async fn power_loss_at_any_call_keeps_what_was_acknowledged() {
    let (calls, _) = calls().await;
    for at in points(calls, 80) {
        let disk = SimDisk::new();
        disk.arm(Fault { at, kind: FaultKind::PowerOff, persistent: true });
        let (acknowledged, _) = script(&disk).await;
        disk.power_loss(at);
        check(&disk, acknowledged, &format!("power loss at call {at} of {calls}")).await;
    }
}

#[tokio::test]
async fn any_single_failure_leaves_a_good_store() {
    let (calls, _) = calls().await;
    for kind in [FaultKind::Io, FaultKind::Full, FaultKind::ShortWrite] {
        for persistent in [false, true] {
            for at in points(calls, 12) {
                let disk = SimDisk::new();
                disk.arm(Fault { at, kind, persistent });
                let (acknowledged, error) = script(&disk).await;
                disk.heal();
                let label = format!("{kind:?} (persistent: {persistent}) at call {at} of {calls}: {error:?}");
                check(&disk, acknowledged, &label).await;
            }
        }
    }
}

#[tokio::test]
async fn after_a_failed_sync_nothing_more_is_acknowledged() {
    let (_, syncs) = calls().await;
    for persistent in [false, true] {
        for at in points(syncs, 15) {
            let disk = SimDisk::new();
            disk.arm(Fault { at, kind: FaultKind::Sync, persistent });
            let label = format!("sync {at} of {syncs} fails (persistent: {persistent})");
            let Ok(store) = Store::open_with(&disk.url("s.db"), clock()).await else {
                disk.power_loss(at);
                continue;
            };
            let (acknowledged, error) = writes(&store).await;
            if let Some(StoreError::Disk { .. }) = error {
                // The disk works again, but nobody knows what reached it.
                disk.heal();
                let (more, error) = writes(&store).await;
                // What was acknowledged before is answered again; nothing is added.
                assert_eq!(more, acknowledged, "{label}: acknowledged after a failed sync");
                assert!(matches!(error, Some(StoreError::ReadOnly)), "{label}: {error:?}");
            }
            store.close().await;
            disk.power_loss(at + 1);
            check(&disk, acknowledged, &label).await;
        }
    }
}
