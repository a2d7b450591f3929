//! Review and merge: what was accepted reaches main, and nothing else does.

use std::collections::{BTreeMap, BTreeSet};

use deckle_store::diff::{ChangeId, ChangeKind};
use deckle_store::review::Fate;
use deckle_store::{BranchState, Changes, MergeOptions, OpKind, Resolution, Selection, StoreError, Workspace};

use crate::support::*;

const DOCS: &str = "//- a\n# A\n\nOne.\n\nTwo.\n//- b\n# B\n//- c\n# C\n\nSee [[b]].\n";

fn all() -> MergeOptions<'static> {
    MergeOptions { selection: Some(Selection::All), ..MergeOptions::default() }
}

/// A branch that changes two blocks of one document, moves a second, deletes nothing and makes a third.
async fn worked(workspace: &Workspace) {
    let handle = workspace.create_branch(&branch("fix"), &agent(), "").await.unwrap();
    let base = handle.head().await.unwrap();
    let edit = Changes::new().write(key("a"), "# A\n\nOne!\n\nTwo.\n\nThree.\n").write(key("n"), "# New\n");
    handle.commit(&base, &edit, &meta("say it better").call(run("r1"), call("1"))).await.unwrap();
    let head = handle.head().await.unwrap();
    let rename = Changes::new().rename(key("b"), key("d/b"), "# B\n").write(key("c"), "# C\n\nSee [[d/b]].\n");
    handle.commit(&head, &rename, &meta("move b").call(run("r1"), call("2"))).await.unwrap();
}

#[tokio::test]
async fn a_branch_is_shown_as_changes_with_their_reasons() {
    for engine in engines().await {
        let workspace = engine.workspace(DOCS).await;
        worked(&workspace).await;
        let review = workspace.review(&branch("fix")).await.unwrap();
        let shown: Vec<(&str, ChangeKind, &str)> =
            review.changes.iter().map(|change| (change.key.as_str(), change.kind, change.intent.as_str())).collect();
        assert_eq!(
            shown,
            [
                ("a", ChangeKind::Changed, "say it better"),
                ("a", ChangeKind::Added, "say it better"),
                ("c", ChangeKind::Changed, "move b"),
                ("d/b", ChangeKind::DocumentRenamed, "move b"),
                ("n", ChangeKind::DocumentCreated, "say it better"),
            ]
        );
        let again = workspace.review(&branch("fix")).await.unwrap();
        assert_eq!(review.changes, again.changes, "ids stay");
    }
}

#[tokio::test]
async fn everything_is_merged_and_the_branch_is_closed() {
    for engine in engines().await {
        let workspace = engine.workspace(DOCS).await;
        worked(&workspace).await;
        let dry = workspace.merge(&branch("fix"), &MergeOptions { dry_run: true, ..all() }, &meta("dry")).await.unwrap();
        assert_eq!((dry.commit, dry.merged.len()), (None, 5));
        assert_eq!(workspace.snapshot().await.unwrap().keys().await.unwrap(), [key("a"), key("b"), key("c")]);
        let report = workspace.merge(&branch("fix"), &all(), &meta("merge")).await.unwrap();
        assert_eq!((report.merged.len(), report.left.len(), report.state), (5, 0, BranchState::Merged));
        let written: Vec<String> = report.written.iter().map(|(key, path)| format!("{key} {path}")).collect();
        assert_eq!(written, ["a a.md", "c c.md", "d/b d/b.md", "n n.md"]);
        assert_eq!(report.removed, [(key("b"), "b.md".to_owned())]);
        let main = workspace.snapshot().await.unwrap();
        assert_eq!(main.keys().await.unwrap(), [key("a"), key("c"), key("d/b"), key("n")]);
        assert_eq!(main.text(&key("a")).await.unwrap().unwrap().as_ref(), "# A\n\nOne!\n\nTwo.\n\nThree.\n");
        let error = workspace.merge(&branch("fix"), &all(), &meta("again")).await.unwrap_err();
        assert!(matches!(error, StoreError::State { state: "merged", .. }), "{error}");
        // And the run can still be taken back, on main.
        workspace.undo(&run("r1"), &BTreeMap::new(), &meta("undo")).await.unwrap();
        let main = workspace.snapshot().await.unwrap();
        assert_eq!(main.keys().await.unwrap(), [key("a"), key("b"), key("c")]);
        assert_eq!(main.text(&key("a")).await.unwrap().unwrap().as_ref(), "# A\n\nOne.\n\nTwo.\n");
        assert_eq!(main.text(&key("c")).await.unwrap().unwrap().as_ref(), "# C\n\nSee [[b]].\n");
    }
}

#[tokio::test]
async fn decisions_are_kept_and_only_what_was_accepted_is_merged() {
    for engine in engines().await {
        let workspace = engine.workspace(DOCS).await;
        worked(&workspace).await;
        let review = workspace.review(&branch("fix")).await.unwrap();
        let ids: Vec<ChangeId> = review.changes.iter().map(|change| change.id.clone()).collect();
        let decided = [
            (ids[0].clone(), Fate::Accept),
            (ids[1].clone(), Fate::Edit("Three, as a person wrote it.".into())),
            (ids[2].clone(), Fate::Reject),
            (ids[3].clone(), Fate::Reject),
        ];
        workspace.decide(&branch("fix"), &decided, "b stays", &ana()).await.unwrap();
        let error = workspace.decide(&branch("fix"), &[(ChangeId::new("nope"), Fate::Accept)], "", &ana()).await.unwrap_err();
        assert!(matches!(error, StoreError::NotFound { what: "change", .. }), "{error}");
        workspace.decide(&branch("fix"), &[(ids[4].clone(), Fate::Reject)], "no", &ana()).await.unwrap();
        assert_eq!(workspace.undo_decision(&branch("fix")).await.unwrap(), Some(ids[4].clone()));
        let review = workspace.review(&branch("fix")).await.unwrap();
        assert_eq!((review.decisions.len(), review.undecided().count()), (4, 1));
        assert_eq!(review.branch.state, BranchState::InReview);
        let handle = workspace.branch(&branch("fix")).await.unwrap();
        assert_eq!(handle.decisions().await.unwrap()[&ids[3]].note, "b stays", "the next run can read it");

        let report = workspace.merge(&branch("fix"), &MergeOptions::default(), &meta("merge")).await.unwrap();
        assert_eq!((report.merged.as_slice(), report.left.as_slice()), (&ids[0..2], &ids[4..5]));
        assert_eq!(report.state, BranchState::InReview);
        let main = workspace.snapshot().await.unwrap();
        assert_eq!(main.keys().await.unwrap(), [key("a"), key("b"), key("c")]);
        assert_eq!(
            main.text(&key("a")).await.unwrap().unwrap().as_ref(),
            "# A\n\nOne!\n\nTwo.\n\nThree, as a person wrote it.\n"
        );
        assert_eq!(main.text(&key("c")).await.unwrap().unwrap().as_ref(), "# C\n\nSee [[b]].\n");
    }
}

#[tokio::test]
async fn chosen_changes_are_merged_and_the_rest_stays() {
    for engine in engines().await {
        let workspace = engine.workspace(DOCS).await;
        worked(&workspace).await;
        let review = workspace.review(&branch("fix")).await.unwrap();
        let chosen: BTreeSet<ChangeId> = review.changes.iter().take(1).map(|change| change.id.clone()).collect();
        let options = MergeOptions { selection: Some(Selection::Only(chosen)), ..MergeOptions::default() };
        let report = workspace.merge(&branch("fix"), &options, &meta("one")).await.unwrap();
        assert_eq!((report.merged.len(), report.left.len()), (1, 4));
        assert_eq!(workspace.snapshot().await.unwrap().text(&key("a")).await.unwrap().unwrap().as_ref(), "# A\n\nOne!\n\nTwo.\n");
        let review = workspace.review(&branch("fix")).await.unwrap();
        assert_eq!(review.changes.len(), 4, "what reached main is no change any more");
        let report = workspace.merge(&branch("fix"), &all(), &meta("rest")).await.unwrap();
        assert_eq!((report.merged.len(), report.state), (4, BranchState::Merged));
        assert_eq!(workspace.snapshot().await.unwrap().keys().await.unwrap(), [key("a"), key("c"), key("d/b"), key("n")]);
    }
}

#[tokio::test]
async fn main_that_went_on_is_merged_block_by_block() {
    for engine in engines().await {
        let workspace = engine.workspace(DOCS).await;
        worked(&workspace).await;
        let main = workspace.snapshot().await.unwrap();
        let theirs = Changes::new().write(key("a"), "# A, by hand\n\nOne.\n\nTwo, by hand.\n").write(key("b"), "# B, by hand\n");
        workspace.write(&main, &theirs, &meta("by hand")).await.unwrap();
        workspace.merge(&branch("fix"), &all(), &meta("merge")).await.unwrap();
        let main = workspace.snapshot().await.unwrap();
        assert_eq!(main.text(&key("a")).await.unwrap().unwrap().as_ref(), "# A, by hand\n\nOne!\n\nTwo, by hand.\n\nThree.\n");
        assert_eq!(main.text(&key("d/b")).await.unwrap().unwrap().as_ref(), "# B, by hand\n");
    }
}

#[tokio::test]
async fn a_conflict_is_shown_and_resolved_by_a_person() {
    for engine in engines().await {
        let workspace = engine.workspace(DOCS).await;
        worked(&workspace).await;
        let main = workspace.snapshot().await.unwrap();
        workspace.write(&main, &Changes::new().write(key("a"), "# A\n\nOne?\n\nTwo.\n"), &meta("by hand")).await.unwrap();
        match workspace.merge(&branch("fix"), &all(), &meta("merge")).await.unwrap_err() {
            StoreError::Conflicts(conflicts) => {
                assert_eq!(conflicts.len(), 1);
                assert_eq!(conflicts[0].to_string(), "a › A › paragraph \"One.\": changed on both sides");
                assert_eq!(
                    (conflicts[0].base.as_deref(), conflicts[0].ours.as_deref(), conflicts[0].theirs.as_deref()),
                    (Some("One."), Some("One?"), Some("One!"))
                );
            }
            other => panic!("{other}"),
        }
        let resolutions = BTreeMap::from([(key("a"), Resolution::Write("# A\n\nOne?!\n\nTwo.\n\nThree.\n".into()))]);
        workspace.merge(&branch("fix"), &MergeOptions { resolutions, ..all() }, &meta("merge")).await.unwrap();
        let main = workspace.snapshot().await.unwrap();
        assert_eq!(main.text(&key("a")).await.unwrap().unwrap().as_ref(), "# A\n\nOne?!\n\nTwo.\n\nThree.\n");
    }
}

#[tokio::test]
async fn a_gate_can_refuse() {
    for engine in engines().await {
        let workspace = engine.workspace(DOCS).await;
        worked(&workspace).await;
        let before = workspace.snapshot().await.unwrap().commit();
        let gate = |documents: &BTreeMap<deckle_doc::DocKey, (Option<String>, Option<String>)>| {
            documents.iter().filter(|(_, (_, after))| after.is_none()).map(|(key, _)| format!("{key} is gone")).collect()
        };
        let options = MergeOptions { gate: Some(&gate), ..all() };
        match workspace.merge(&branch("fix"), &options, &meta("merge")).await.unwrap_err() {
            StoreError::Unsound { findings } => assert_eq!(findings, ["b is gone"]),
            other => panic!("{other}"),
        }
        assert_eq!(workspace.snapshot().await.unwrap().commit(), before);
    }
}

#[tokio::test]
async fn a_merge_writes_the_files_it_names_and_refuses_one_that_changed() {
    let dir = folder("//- a.md\n# A\n\nOne.\n\nTwo.\n//- b.md\n# B\n//- c.md\n# C\n\nSee [[b]].\n//- keep.md\n  odd   bytes\t\n");
    let workspace = init(dir.path()).await;
    worked(&workspace).await;
    let before = files(dir.path());
    workspace.review(&branch("fix")).await.unwrap();
    assert_eq!(files(dir.path()), before, "until the merge no file changes");
    // An edit that does not collide is taken along; it is seen because the folder is looked at first.
    put(dir.path(), "a.md", "# A\n\nOne.\n\nTwo, by hand.\n");
    let report = workspace.merge(&branch("fix"), &all(), &meta("merge")).await.unwrap();
    assert_eq!(report.written.len(), 4);
    let names: Vec<(String, String)> =
        files(dir.path()).into_iter().map(|(name, bytes)| (name, String::from_utf8(bytes).unwrap())).collect();
    let expected = [
        ("a.md", "# A\n\nOne!\n\nTwo, by hand.\n\nThree.\n"),
        ("c.md", "# C\n\nSee [[d/b]].\n"),
        ("d/b.md", "# B\n"),
        ("keep.md", "  odd   bytes\t\n"),
        ("n.md", "# New\n"),
    ];
    assert_eq!(names, expected.map(|(name, text)| (name.to_owned(), text.to_owned())));
    let log = workspace.log(&deckle_store::LogFilter::default()).await.unwrap();
    assert_eq!(log[0].kind, OpKind::Merge);
    workspace.undo(&run("r1"), &BTreeMap::new(), &meta("undo")).await.unwrap();
    assert_eq!(std::fs::read_to_string(dir.path().join("a.md")).unwrap(), "# A\n\nOne.\n\nTwo, by hand.\n");
    assert!(!dir.path().join("d").exists());
}
