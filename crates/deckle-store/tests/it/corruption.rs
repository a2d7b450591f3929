//! Row 12: damage to what is stored is found, the object named, and is never served as if it were sound.

use std::collections::BTreeMap;

use deckle_store::{Changes, Store, Workspace, WorkspaceId};
use sqlx::Row;

use crate::support::*;

/// Every text that the workspace has, on main and on the branch.
async fn texts(workspace: &Workspace) -> Result<BTreeMap<String, String>, deckle_store::StoreError> {
    let mut all = BTreeMap::new();
    let branch = workspace.branch(&branch("work")).await?.head().await?;
    for (line, snapshot) in [("main", workspace.snapshot().await?), ("work", branch)] {
        for document in snapshot.documents().await? {
            all.insert(format!("{line}/{}", document.key), document.text.to_string());
        }
    }
    Ok(all)
}

#[tokio::test]
async fn every_damaged_object_is_found_and_named() {
    let dir = tempfile::TempDir::new().unwrap();
    let url = format!("sqlite:{}", dir.path().join("s.db").display());
    let engine = Engine::of("sqlite", Store::open_with(&url, clock()).await.unwrap(), tenant(), url.clone());
    let workspace = engine.workspace("//- a\n# A\n\nOne.\n//- b/c\n# C\n").await;
    let handle = workspace.create_branch(&branch("work"), &agent(), "").await.unwrap();
    let long: String = (0..60).map(|n| format!("Paragraph {n} says something.\n\n")).collect();
    // Large enough to be stored as what it changes of the version before.
    for n in 0..3 {
        let head = handle.head().await.unwrap();
        let text = long.replace("Paragraph 30", &format!("Paragraph thirty, {n}"));
        handle.commit(&head, &Changes::new().write(key("a"), text), &meta("edit")).await.unwrap();
    }
    let sound = texts(&workspace).await.unwrap();
    assert_eq!(engine.store.fsck(&engine.tenant).await.unwrap().findings, []);

    let raw = sqlx::SqlitePool::connect(&url).await.unwrap();
    let rows = sqlx::query("SELECT id, data FROM objects WHERE data IS NOT NULL ORDER BY id").fetch_all(&raw).await.unwrap();
    let objects: Vec<(String, Vec<u8>)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    assert!(objects.len() > 10);
    let put = |id: String, data: Vec<u8>| {
        let raw = raw.clone();
        async move { sqlx::query("UPDATE objects SET data = ? WHERE id = ?").bind(data).bind(id).execute(&raw).await.unwrap() }
    };
    let mut random = Random::new();
    let (damages, mut harmless) = (1_000 * scale().min(10), 0);
    for damage in 0..damages {
        let pick = |random: &mut Random| usize::try_from(random.below(objects.len() as u64)).unwrap();
        let (at, other) = (pick(&mut random), pick(&mut random));
        let (id, data) = objects[at].clone();
        let mut damaged = data.clone();
        let label = format!("damage {damage} of {id}, DECKLE_TEST_SEED={}", random.seed);
        match random.below(3) {
            0 if !data.is_empty() => {
                let bit = random.below(data.len() as u64 * 8);
                damaged[usize::try_from(bit / 8).unwrap()] ^= 1 << (bit % 8);
            }
            1 if !data.is_empty() => damaged.truncate(usize::try_from(random.below(data.len() as u64)).unwrap()),
            _ => damaged.clone_from(&objects[other].1),
        }
        if damaged == data {
            continue;
        }
        put(id.clone(), damaged).await;
        let found = engine.store.fsck(&engine.tenant).await.unwrap().findings;
        let named = found.iter().any(|finding| format!("{finding}").contains(&id));
        if !named || damage % 20 == 0 {
            // Nothing that was read before is remembered by a store that is opened now.
            let store = Store::open_with(&url, clock()).await.unwrap();
            let read = match store.workspace(&engine.tenant, &WorkspaceId::parse("docs").unwrap()).await {
                Ok(workspace) => texts(&workspace).await,
                Err(error) => Err(error),
            };
            store.close().await;
            // Either the damage is said, or what is served is what was stored.
            if let Ok(read) = &read {
                assert_eq!(read, &sound, "{label}: damage was served");
            }
            // A change of the way in which the same bytes are written down is none.
            assert!(named || read.is_ok(), "{label}: not found by name: {found:?}");
            harmless += u64::from(!named);
        }
        put(id, data).await;
    }
    assert!(harmless * 100 <= damages, "{harmless} of {damages} damages left no trace");
    assert_eq!(engine.store.fsck(&engine.tenant).await.unwrap().findings, []);
}
