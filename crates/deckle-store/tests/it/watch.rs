//! A watched folder: what any editor does is history without anybody asking.

use std::fs;
use std::time::Duration;

use deckle_store::{LogFilter, OpKind, Snapshot, Watch, Workspace};

use crate::support::*;

/// Longer than any notice takes on a busy machine, and shorter than the look that comes without one.
const PATIENCE: Duration = Duration::from_secs(30);

async fn next(watch: &mut Watch) -> Snapshot {
    tokio::time::timeout(PATIENCE, watch.changed()).await.expect("the change was not noticed").unwrap()
}

#[tokio::test]
async fn an_edit_by_any_editor_is_mains_history() {
    let dir = folder("//- a.md\n# A\n//- b/c.md\n# C\n");
    let workspace = init(dir.path()).await;
    let mut watch = workspace.watch().await.unwrap().unwrap();
    let text = |snapshot: Snapshot, name: &'static str| async move {
        snapshot.text(&key(name)).await.unwrap().map(|text| text.to_string())
    };

    // Saved in place.
    put(dir.path(), "a.md", "# A, edited\n");
    assert_eq!(text(next(&mut watch).await, "a").await.as_deref(), Some("# A, edited\n"));
    // Saved as editors do: a new file beside it takes its name.
    put(dir.path(), "b/.c.md.swp", "# C, edited\n");
    fs::rename(dir.path().join("b/.c.md.swp"), dir.path().join("b/c.md")).unwrap();
    assert_eq!(text(next(&mut watch).await, "b/c").await.as_deref(), Some("# C, edited\n"));
    // A folder that was not there when the watch began.
    put(dir.path(), "new/deep/d.md", "# D\n");
    assert_eq!(text(next(&mut watch).await, "new/deep/d").await.as_deref(), Some("# D\n"));
    put(dir.path(), "new/deep/d.md", "# D, edited\n");
    assert_eq!(text(next(&mut watch).await, "new/deep/d").await.as_deref(), Some("# D, edited\n"));
    fs::remove_file(dir.path().join("a.md")).unwrap();
    assert_eq!(text(next(&mut watch).await, "a").await, None);

    // Another process reads it in the log without looking at the folder.
    let other = Workspace::open(dir.path()).await.unwrap();
    let log = other.log(&LogFilter::default()).await.unwrap();
    let outside = log.iter().filter(|op| op.kind == OpKind::Outside).count();
    assert_eq!(outside, 5 + 1, "five edits, and what was there at first: {log:#?}");
}

#[tokio::test]
async fn what_is_no_document_and_the_stores_own_writes_are_not_news() {
    let dir = folder("//- a.md\n# A\n");
    let workspace = init(dir.path()).await;
    let mut watch = workspace.watch().await.unwrap().unwrap();
    workspace.create_branch(&branch("work"), &agent(), "").await.unwrap();
    put(dir.path(), ".git/index", "x");
    put(dir.path(), "node_modules/x/y.md", "no\n");
    let quiet = tokio::time::timeout(Duration::from_millis(1_500), watch.changed()).await;
    assert!(quiet.is_err(), "something was told");
    // The wait was given up in the middle, and misses nothing.
    put(dir.path(), "a.md", "# B\n");
    assert_eq!(next(&mut watch).await.text(&key("a")).await.unwrap().unwrap().as_ref(), "# B\n");
}
