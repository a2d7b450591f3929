//! Lines of history brought together: update from main, and runs taken back.

use std::collections::BTreeMap;

use deckle_store::{Changes, ConflictKind, OpKind, Resolution, StoreError};

use crate::support::*;

const DOCS: &str = "//- a\n# A\n\nOne.\n//- b\n# B\n//- c\n# C\n";

fn none() -> BTreeMap<deckle_doc::DocKey, Resolution> {
    BTreeMap::new()
}

#[tokio::test]
async fn a_branch_takes_over_what_main_gained() {
    for engine in engines().await {
        let workspace = engine.workspace(DOCS).await;
        let handle = workspace.create_branch(&branch("fix"), &agent(), "").await.unwrap();
        let base = handle.head().await.unwrap();
        let mine =
            Changes::new().write(key("a"), "# A\n\nMine.\n").write(key("new"), "# New\n").rename(key("c"), key("d"), "# C\n");
        handle.commit(&base, &mine, &meta("mine")).await.unwrap();
        let main = workspace.snapshot().await.unwrap();
        let theirs = Changes::new().write(key("b"), "# B, main\n").write(key("c"), "# C, main\n");
        workspace.write(&main, &theirs, &meta("theirs")).await.unwrap();

        let done = workspace.update(&branch("fix"), &none(), &meta("update")).await.unwrap().unwrap();
        let head = handle.head().await.unwrap();
        assert_eq!(head.commit(), done.id);
        assert_eq!(head.keys().await.unwrap(), [key("a"), key("b"), key("d"), key("new")]);
        assert_eq!(head.text(&key("a")).await.unwrap().unwrap().as_ref(), "# A\n\nMine.\n");
        assert_eq!(head.text(&key("b")).await.unwrap().unwrap().as_ref(), "# B, main\n");
        assert_eq!(head.text(&key("d")).await.unwrap().unwrap().as_ref(), "# C, main\n", "a change follows the move");
        assert_eq!(handle.base().await.unwrap().commit(), workspace.snapshot().await.unwrap().commit());
        assert_eq!(workspace.update(&branch("fix"), &none(), &meta("again")).await.unwrap(), None);
    }
}

#[tokio::test]
async fn what_collides_is_shown_and_a_person_says_what_then() {
    for engine in engines().await {
        let workspace = engine.workspace(DOCS).await;
        let handle = workspace.create_branch(&branch("fix"), &agent(), "").await.unwrap();
        let base = handle.head().await.unwrap();
        let mine = Changes::new().write(key("a"), "# A\n\nMine.\n").delete(key("b")).write(key("n"), "mine\n");
        handle.commit(&base, &mine, &meta("mine")).await.unwrap();
        let main = workspace.snapshot().await.unwrap();
        let theirs = Changes::new().write(key("a"), "# A\n\nTheirs.\n").write(key("b"), "# B!\n").write(key("n"), "theirs\n");
        workspace.write(&main, &theirs, &meta("theirs")).await.unwrap();
        let head = handle.head().await.unwrap().commit();
        match workspace.update(&branch("fix"), &none(), &meta("update")).await.unwrap_err() {
            StoreError::Conflicts(conflicts) => {
                let all: Vec<(String, ConflictKind)> = conflicts.iter().map(|one| (one.key.to_string(), one.kind)).collect();
                assert_eq!(
                    all,
                    [
                        ("a".into(), ConflictKind::Block),
                        ("b".into(), ConflictKind::DeletedAndChanged),
                        ("n".into(), ConflictKind::BothCreated)
                    ]
                );
            }
            other => panic!("{other}"),
        }
        assert_eq!(handle.head().await.unwrap().commit(), head, "nothing was written");
        let said = BTreeMap::from([
            (key("a"), Resolution::Write("# A\n\nBoth.\n".into())),
            (key("b"), Resolution::Theirs),
            (key("n"), Resolution::Ours),
        ]);
        workspace.update(&branch("fix"), &said, &meta("update")).await.unwrap().unwrap();
        let head = handle.head().await.unwrap();
        assert_eq!(head.text(&key("a")).await.unwrap().unwrap().as_ref(), "# A\n\nBoth.\n");
        assert_eq!(head.text(&key("b")).await.unwrap().unwrap().as_ref(), "# B!\n");
        assert_eq!(head.text(&key("n")).await.unwrap().unwrap().as_ref(), "mine\n");
    }
}

#[tokio::test]
async fn a_run_is_taken_back_on_its_branch_and_other_work_stays() {
    for engine in engines().await {
        let workspace = engine.workspace(DOCS).await;
        let handle = workspace.create_branch(&branch("fix"), &agent(), "").await.unwrap();
        let steps = [
            ("r1", Changes::new().write(key("a"), "# A\n\nFirst.\n")),
            ("r2", Changes::new().write(key("b"), "# B\n\nOther.\n")),
            ("r1", Changes::new().rename(key("c"), key("d"), "# C\n").write(key("new"), "new\n")),
        ];
        for (at, (of, changes)) in steps.into_iter().enumerate() {
            let head = handle.head().await.unwrap();
            handle.commit(&head, &changes, &meta("step").call(run(of), call(&format!("c{at}")))).await.unwrap();
        }
        let report = workspace.undo(&run("r1"), &none(), &meta("undo r1")).await.unwrap();
        assert_eq!(report.branch, Some(branch("fix")));
        let head = handle.head().await.unwrap();
        assert_eq!(head.keys().await.unwrap(), [key("a"), key("b"), key("c")]);
        assert_eq!(head.text(&key("a")).await.unwrap().unwrap().as_ref(), "# A\n\nOne.\n");
        assert_eq!(head.text(&key("b")).await.unwrap().unwrap().as_ref(), "# B\n\nOther.\n");
        assert_eq!(handle.log(1).await.unwrap()[0].kind, OpKind::Undo);
        let error = workspace.undo(&run("r1"), &none(), &meta("again")).await.unwrap_err();
        assert!(matches!(error, StoreError::NotFound { what: "run", .. }), "{error}");
        match workspace.undo(&run("r9"), &none(), &meta("")).await.unwrap_err() {
            StoreError::NotFound { what: "run", there, .. } => assert_eq!(there, ["r1", "r2"]),
            other => panic!("{other}"),
        }
    }
}

#[tokio::test]
async fn undo_of_a_direct_write_keeps_later_edits_and_refuses_what_it_cannot_keep() {
    for engine in engines().await {
        let workspace = engine.workspace(DOCS).await;
        let main = workspace.snapshot().await.unwrap();
        let changes = Changes::new().write(key("a"), "# A\n\nRun.\n").write(key("b"), "# B, run\n").delete(key("c"));
        workspace.write(&main, &changes, &meta("run").call(run("r1"), call("c1"))).await.unwrap();
        let main = workspace.snapshot().await.unwrap();
        workspace.write(&main, &Changes::new().write(key("b"), "# B, later\n"), &meta("later")).await.unwrap();
        match workspace.undo(&run("r1"), &none(), &meta("undo")).await.unwrap_err() {
            StoreError::Conflicts(conflicts) => assert_eq!(conflicts.len(), 1),
            other => panic!("{other}"),
        }
        let said = BTreeMap::from([(key("b"), Resolution::Ours)]);
        let report = workspace.undo(&run("r1"), &said, &meta("undo")).await.unwrap();
        assert_eq!(report.keys, [key("a"), key("c")]);
        let main = workspace.snapshot().await.unwrap();
        assert_eq!(main.text(&key("a")).await.unwrap().unwrap().as_ref(), "# A\n\nOne.\n");
        assert_eq!(main.text(&key("b")).await.unwrap().unwrap().as_ref(), "# B, later\n");
        assert_eq!(main.text(&key("c")).await.unwrap().unwrap().as_ref(), "# C\n");
    }
}
