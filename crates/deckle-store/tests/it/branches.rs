//! Branches: copies that cost nothing, writes that happen once, and no way to main.

use deckle_store::{BranchState, Changes, LogFilter, Protection, StoreError};

use crate::support::*;

const DOCS: &str = "//- a\n# A\n\nOne.\n\nTwo.\n//- b/c\n# C\n\nThree.\n";

#[tokio::test]
async fn a_branch_is_written_and_main_is_not() {
    for engine in engines().await {
        let workspace = engine.workspace(DOCS).await;
        let main = workspace.snapshot().await.unwrap();
        let handle = workspace.create_branch(&branch("fix"), &agent(), "fix things").await.unwrap();
        let base = handle.head().await.unwrap();
        assert_eq!(base.commit(), main.commit(), "{}", engine.name);

        let changes = Changes::new().write(key("a"), "# A\n\nOne!\n\nTwo.\n").write(key("new/d"), "# D\n").delete(key("b/c"));
        let done = handle.commit(&base, &changes, &meta("edit")).await.unwrap();
        assert!(!done.repeated);

        let head = handle.head().await.unwrap();
        assert_eq!(head.commit(), done.id);
        assert_eq!(head.keys().await.unwrap(), [key("a"), key("new/d")]);
        assert_eq!(head.text(&key("a")).await.unwrap().unwrap().as_ref(), "# A\n\nOne!\n\nTwo.\n");
        assert_eq!(head.text(&key("b/c")).await.unwrap(), None);

        let after = workspace.snapshot().await.unwrap();
        assert_eq!(after.commit(), main.commit());
        assert_eq!(after.keys().await.unwrap(), [key("a"), key("b/c")]);
    }
}

#[tokio::test]
async fn a_branch_that_moved_refuses_what_was_planned_before() {
    for engine in engines().await {
        let workspace = engine.workspace(DOCS).await;
        let handle = workspace.create_branch(&branch("fix"), &agent(), "").await.unwrap();
        let base = handle.head().await.unwrap();
        let first = handle.commit(&base, &Changes::new().write(key("a"), "1\n"), &meta("first")).await.unwrap();
        let error = handle.commit(&base, &Changes::new().write(key("a"), "2\n"), &meta("second")).await.unwrap_err();
        match error {
            StoreError::Moved { expected, actual, .. } => assert_eq!((expected, actual), (base.commit(), first.id)),
            other => panic!("{other}"),
        }
        assert_eq!(handle.head().await.unwrap().text(&key("a")).await.unwrap().unwrap().as_ref(), "1\n");
        assert_eq!(handle.log(10).await.unwrap().len(), 2, "the refusal left no entry");
    }
}

#[tokio::test]
async fn one_call_writes_once() {
    for engine in engines().await {
        let workspace = engine.workspace(DOCS).await;
        let handle = workspace.create_branch(&branch("fix"), &agent(), "").await.unwrap();
        let base = handle.head().await.unwrap();
        let once = meta("edit").call(run("r1"), call("c1")).receipt(serde_json::json!({"blocks": 1}));
        assert_eq!(handle.replay(&run("r1"), &call("c1")).await.unwrap(), None);
        let done = handle.commit(&base, &Changes::new().write(key("a"), "1\n"), &once).await.unwrap();
        let again = handle.commit(&base, &Changes::new().write(key("a"), "1\n"), &once).await.unwrap();
        assert!(again.repeated);
        assert_eq!((again.id, again.op, &again.receipt), (done.id, done.op, &once.receipt));
        assert_eq!(handle.replay(&run("r1"), &call("c1")).await.unwrap().unwrap().id, done.id);
        assert_eq!(handle.log(10).await.unwrap().len(), 2);
    }
}

#[tokio::test]
async fn names_are_taken_once_and_missing_ones_are_answered_with_what_is_there() {
    for engine in engines().await {
        let workspace = engine.workspace(DOCS).await;
        workspace.create_branch(&branch("fix"), &agent(), "why").await.unwrap();
        let error = workspace.create_branch(&branch("fix"), &agent(), "").await.unwrap_err();
        assert!(matches!(error, StoreError::Exists { what: "branch", .. }), "{error}");
        match workspace.branch(&branch("fxi")).await.unwrap_err() {
            StoreError::NotFound { what: "branch", there, .. } => assert_eq!(there, ["fix"]),
            other => panic!("{other}"),
        }
        let infos = workspace.branches().await.unwrap();
        assert_eq!(infos.len(), 1);
        assert_eq!((infos[0].state, infos[0].intent.as_str(), &infos[0].actor), (BranchState::Open, "why", &agent()));
        assert_eq!(infos[0].base, infos[0].head);
    }
}

#[tokio::test]
async fn a_discarded_branch_is_closed() {
    for engine in engines().await {
        let workspace = engine.workspace(DOCS).await;
        let handle = workspace.create_branch(&branch("fix"), &agent(), "").await.unwrap();
        let base = handle.head().await.unwrap();
        workspace.discard(&branch("fix"), &ana()).await.unwrap();
        let error = handle.commit(&base, &Changes::new().write(key("a"), "1\n"), &meta("late")).await.unwrap_err();
        assert!(matches!(error, StoreError::State { state: "discarded", .. }), "{error}");
        let error = workspace.discard(&branch("fix"), &ana()).await.unwrap_err();
        assert!(matches!(error, StoreError::State { .. }), "{error}");
    }
}

#[tokio::test]
async fn deleted_documents_come_back_with_their_bytes_and_ids() {
    for engine in engines().await {
        let workspace = engine.workspace(DOCS).await;
        let handle = workspace.create_branch(&branch("fix"), &agent(), "").await.unwrap();
        let tree = |text: &str| deckle_doc::Tree::parse(text, deckle_doc::Dialect::Generic).unwrap();
        let changed = "# A\n\nOne!\n\nTwo.\n";
        let base = handle.head().await.unwrap();
        handle.commit(&base, &Changes::new().write(key("a"), changed), &meta("edit")).await.unwrap();
        let head = handle.head().await.unwrap();
        let before: Vec<String> = head.ids(&key("a"), &tree(changed)).await.unwrap().names().map(str::to_owned).collect();
        handle.commit(&head, &Changes::new().delete(key("a")), &meta("delete")).await.unwrap();
        assert_eq!(handle.trash().await.unwrap().len(), 1);
        let head = handle.head().await.unwrap();
        assert_eq!(head.text(&key("a")).await.unwrap(), None);
        handle.restore(&head, &[key("a")], &meta("restore")).await.unwrap();
        let head = handle.head().await.unwrap();
        assert_eq!(head.text(&key("a")).await.unwrap().unwrap().as_ref(), changed);
        let after: Vec<String> = head.ids(&key("a"), &tree(changed)).await.unwrap().names().map(str::to_owned).collect();
        assert_eq!(before, after);
        assert_eq!(handle.trash().await.unwrap().len(), 0);
        let error = handle.restore(&head, &[key("a")], &meta("again")).await.unwrap_err();
        assert!(matches!(error, StoreError::NotFound { what: "deleted document", .. }), "{error}");
    }
}

#[tokio::test]
async fn ids_are_carried_through_an_edit_and_a_rename() {
    for engine in engines().await {
        let workspace = engine.workspace(DOCS).await;
        let handle = workspace.create_branch(&branch("fix"), &agent(), "").await.unwrap();
        let tree = |text: &str| deckle_doc::Tree::parse(text, deckle_doc::Dialect::Generic).unwrap();
        let names = |ids: deckle_doc::Ids| ids.names().map(str::to_owned).collect::<Vec<_>>();
        let base = handle.head().await.unwrap();
        let first = names(base.ids(&key("a"), &tree("# A\n\nOne.\n\nTwo.\n")).await.unwrap());
        let edited = "# A\n\nOne!\n\nTwo.\n";
        handle.commit(&base, &Changes::new().write(key("a"), edited), &meta("edit")).await.unwrap();
        let head = handle.head().await.unwrap();
        assert_eq!(names(head.ids(&key("a"), &tree(edited)).await.unwrap()), first);
        handle.commit(&head, &Changes::new().rename(key("a"), key("z/y"), edited), &meta("move")).await.unwrap();
        let head = handle.head().await.unwrap();
        assert_eq!(names(head.ids(&key("z/y"), &tree(edited)).await.unwrap()), first);
        assert_eq!(handle.trash().await.unwrap().len(), 0, "a move is no deletion");
    }
}

#[tokio::test]
async fn protections_brake() {
    for engine in engines().await {
        let workspace = engine.workspace(DOCS).await;
        workspace.protect("b/", Some(Protection::Delete), &ana()).await.unwrap();
        workspace.protect("a", Some(Protection::Edit), &ana()).await.unwrap();
        let handle = workspace.create_branch(&branch("fix"), &agent(), "").await.unwrap();
        let base = handle.head().await.unwrap();
        assert_eq!(handle.protection(&key("b/c")).await.unwrap(), Some(Protection::Delete));
        let all = Changes::new().write(key("a"), "x\n").delete(key("b/c"));
        match handle.commit(&base, &all, &meta("no")).await.unwrap_err() {
            StoreError::Protected { keys } => assert_eq!(keys, ["a", "b/c"]),
            other => panic!("{other}"),
        }
        handle.commit(&base, &Changes::new().write(key("b/c"), "# C\n"), &meta("edit is fine")).await.unwrap();
        workspace.protect("a", None, &ana()).await.unwrap();
        let head = handle.head().await.unwrap();
        handle.commit(&head, &Changes::new().write(key("a"), "x\n"), &meta("now")).await.unwrap();
    }
}

#[tokio::test]
async fn a_new_document_does_not_replace_what_stands_in_its_way() {
    for engine in engines().await {
        let workspace = engine.workspace("//- a\nA\n//- b/c\nC\n").await;
        let handle = workspace.create_branch(&branch("fix"), &agent(), "").await.unwrap();
        let base = handle.head().await.unwrap();
        let error = handle.commit(&base, &Changes::new().write(key("a.md/x"), "x\n"), &meta("")).await.unwrap_err();
        assert!(matches!(error, StoreError::Exists { what: "file", .. }), "{error}");
        let both = Changes::new().rename(key("a"), key("d"), "A\n").write(key("a"), "new\n");
        handle.commit(&base, &both, &meta("move and replace")).await.unwrap();
        let head = handle.head().await.unwrap();
        assert_eq!(head.text(&key("a")).await.unwrap().unwrap().as_ref(), "new\n");
        assert_eq!(head.text(&key("d")).await.unwrap().unwrap().as_ref(), "A\n");
    }
}

#[tokio::test]
async fn the_log_tells_who_and_why() {
    for engine in engines().await {
        let workspace = engine.workspace(DOCS).await;
        let handle = workspace.create_branch(&branch("fix"), &agent(), "fix").await.unwrap();
        let base = handle.head().await.unwrap();
        let meta = meta("say it better").call(run("r"), call("c"));
        handle.commit(&base, &Changes::new().write(key("a"), "x\n"), &meta).await.unwrap();
        let log = workspace.log(&LogFilter::default()).await.unwrap();
        let lines: Vec<String> =
            log.iter().map(|op| format!("{} {} {} {}", op.seq, op.kind.as_str(), op.actor, op.intent)).collect();
        assert_eq!(
            lines,
            [
                "4 commit Agent for ana say it better",
                "3 create Agent for ana fix",
                "2 direct owner seed",
                "1 init owner create the workspace"
            ]
        );
        let of_run = workspace.log(&LogFilter { run: Some(run("r")), ..LogFilter::default() }).await.unwrap();
        assert_eq!(of_run.len(), 1);
        let main = workspace.log(&LogFilter { main_only: true, ..LogFilter::default() }).await.unwrap();
        assert_eq!(main.len(), 2);
    }
}
