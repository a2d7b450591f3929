//! A folder as main: seen as it is, written only where it changes, and never over somebody else's bytes.

use std::fs;
use std::path::Path;

use deckle_store::{Changes, InitOptions, LogFilter, NotDocument, OpKind, StoreError, Workspace};

use crate::support::*;

const DOCS: &str = "//- a.md\n# A\n//- b/c.markdown\n# C\n//- b/d.mdx\n# D\n//- node_modules/x.md\nno\n//- .hidden/x.md\nno\n";

#[tokio::test]
async fn a_folder_becomes_a_workspace_and_keeps_its_bytes() {
    let dir = folder(DOCS);
    let before = files(dir.path());
    let workspace = init(dir.path()).await;
    let snapshot = workspace.snapshot().await.unwrap();
    assert_eq!(snapshot.keys().await.unwrap(), [key("a"), key("b/c"), key("b/d")]);
    assert_eq!(snapshot.text(&key("b/c")).await.unwrap().unwrap().as_ref(), "# C\n");
    assert_eq!(files(dir.path()), before);
    let again = Workspace::open(dir.path()).await.unwrap();
    assert_eq!(again.snapshot().await.unwrap().commit(), snapshot.commit(), "looking writes nothing");
}

#[tokio::test]
async fn bad_folders_are_refused_and_nothing_is_made() {
    let dir = folder("//- x.txt\nno markdown\n");
    let missing = dir.path().join("missing");
    let refused = |at: &Path| {
        let at = at.to_path_buf();
        async move { Workspace::init(&at, InitOptions::default()).await.unwrap_err() }
    };
    assert!(matches!(refused(&missing).await, StoreError::FolderMissing(_)));
    assert!(matches!(refused(&dir.path().join("x.txt")).await, StoreError::NotAFolder(_)));
    assert!(matches!(refused(dir.path()).await, StoreError::NoMarkdown(_)));
    assert!(matches!(Workspace::open(dir.path()).await.unwrap_err(), StoreError::NotAWorkspace(_)));
    assert_eq!(files(dir.path()).len(), 1);
    assert!(!dir.path().join(".deckle").exists());
    Workspace::init(dir.path(), InitOptions { allow_empty: true, ..InitOptions::default() }).await.unwrap();
}

#[tokio::test]
async fn files_that_are_no_documents_are_listed_and_kept() {
    let dir = folder("//- a.md\n# A\n");
    put(dir.path(), "latin.md", b"caf\xe9\n");
    put(dir.path(), "picture.png", [0, 1, 2]);
    put(dir.path(), "big.md", vec![b'x'; 9 * 1024 * 1024]);
    put(dir.path(), "a.mdx", "shadowed");
    let outside = folder("//- secret.md\nsecret\n");
    std::os::unix::fs::symlink(outside.path().join("secret.md"), dir.path().join("out.md")).unwrap();
    std::os::unix::fs::symlink(outside.path(), dir.path().join("outdir")).unwrap();
    let before = files(dir.path());
    let workspace = init(dir.path()).await;
    let snapshot = workspace.snapshot().await.unwrap();
    assert_eq!(snapshot.keys().await.unwrap(), [key("a")]);
    let others: Vec<(String, NotDocument)> =
        snapshot.others().await.unwrap().into_iter().map(|other| (other.path.to_string(), other.why)).collect();
    assert_eq!(
        others,
        [
            ("a.mdx".into(), NotDocument::Shadowed),
            ("big.md".into(), NotDocument::Opaque),
            ("latin.md".into(), NotDocument::Opaque),
            ("out.md".into(), NotDocument::Link),
            ("outdir".into(), NotDocument::NotMarkdown),
            ("picture.png".into(), NotDocument::NotMarkdown),
        ]
    );
    for name in ["latin", "out", "big"] {
        assert_eq!(workspace.snapshot().await.unwrap().text(&key(name)).await.unwrap(), None, "{name}");
        let base = workspace.snapshot().await.unwrap();
        let error = workspace.write(&base, &Changes::new().write(key(name), "x\n"), &meta("")).await.unwrap_err();
        assert!(matches!(error, StoreError::Exists { .. }), "{name}: {error}");
    }
    assert_eq!(files(dir.path()), before);
}

#[tokio::test]
async fn what_an_editor_did_is_mains_history() {
    let dir = folder(DOCS);
    let workspace = init(dir.path()).await;
    let first = workspace.snapshot().await.unwrap();
    put(dir.path(), "a.md", "# A, edited\n");
    put(dir.path(), "e.md", "# E\n");
    fs::remove_file(dir.path().join("b/d.mdx")).unwrap();
    let second = workspace.snapshot().await.unwrap();
    assert_ne!(first.commit(), second.commit());
    assert_eq!(second.keys().await.unwrap(), [key("a"), key("b/c"), key("e")]);
    assert_eq!(second.text(&key("a")).await.unwrap().unwrap().as_ref(), "# A, edited\n");
    assert_eq!(first.text(&key("a")).await.unwrap().unwrap().as_ref(), "# A\n", "the earlier state stays");
    let log = workspace.log(&LogFilter { limit: Some(1), ..LogFilter::default() }).await.unwrap();
    assert_eq!((log[0].kind, log[0].intent.as_str()), (OpKind::Outside, "edited outside: 3 files"));
    assert_eq!(log[0].receipt["paths"], serde_json::json!(["a.md", "b/d.mdx", "e.md"]));
}

#[tokio::test]
async fn two_edits_within_one_tick_of_the_clock_are_both_seen() {
    let dir = folder(DOCS);
    let workspace = init(dir.path()).await;
    for n in 0..20 {
        // The same size, and perhaps the same time.
        put(dir.path(), "a.md", format!("# {n:02}\n"));
        let snapshot = workspace.snapshot().await.unwrap();
        assert_eq!(snapshot.text(&key("a")).await.unwrap().unwrap().as_ref(), format!("# {n:02}\n"));
    }
}

#[tokio::test]
async fn one_document_is_looked_at_without_the_rest() {
    let dir = folder(DOCS);
    let workspace = init(dir.path()).await;
    put(dir.path(), "a.md", "# A2\n");
    put(dir.path(), "b/c.markdown", "# C2\n");
    let snapshot = workspace.snapshot_of(&[key("a")]).await.unwrap();
    assert_eq!(snapshot.text(&key("a")).await.unwrap().unwrap().as_ref(), "# A2\n");
    assert_eq!(snapshot.text(&key("b/c")).await.unwrap().unwrap().as_ref(), "# C\n", "not looked at");
    let snapshot = workspace.snapshot().await.unwrap();
    assert_eq!(snapshot.text(&key("b/c")).await.unwrap().unwrap().as_ref(), "# C2\n");
}

#[tokio::test]
async fn a_write_changes_the_files_it_names_and_no_other() {
    use std::os::unix::fs::PermissionsExt;
    let dir = folder(DOCS);
    fs::set_permissions(dir.path().join("a.md"), fs::Permissions::from_mode(0o755)).unwrap();
    let workspace = init(dir.path()).await;
    let base = workspace.snapshot().await.unwrap();
    let changes = Changes::new().write(key("a"), "# A2\n").write(key("new/deep/e"), "# E\n").delete(key("b/c"));
    let done = workspace.write(&base, &changes, &meta("write")).await.unwrap();
    assert_eq!(fs::read_to_string(dir.path().join("a.md")).unwrap(), "# A2\n");
    assert_eq!(fs::read_to_string(dir.path().join("new/deep/e.md")).unwrap(), "# E\n");
    assert!(!dir.path().join("b/c.markdown").exists());
    assert_eq!(fs::metadata(dir.path().join("a.md")).unwrap().permissions().mode() & 0o777, 0o755);
    let snapshot = workspace.snapshot().await.unwrap();
    assert_eq!(snapshot.commit(), done.id, "the folder is what main says");
    let names: Vec<String> = files(dir.path()).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, [".hidden/x.md", "a.md", "b/d.mdx", "new/deep/e.md", "node_modules/x.md"], "no temporary file is left");
}

#[tokio::test]
async fn a_file_that_changed_underneath_is_never_overwritten() {
    let dir = folder(DOCS);
    let workspace = init(dir.path()).await;
    let base = workspace.snapshot().await.unwrap();
    put(dir.path(), "b/c.markdown", "# mine\n");
    let before = files(dir.path());
    let changes = Changes::new().write(key("a"), "# A2\n").write(key("b/c"), "# C2\n");
    match workspace.write(&base, &changes, &meta("write")).await.unwrap_err() {
        StoreError::ChangedUnderneath { files } => assert_eq!(files, ["b/c.markdown"]),
        other => panic!("{other}"),
    }
    assert_eq!(files(dir.path()), before);
    // A new document whose place was taken meanwhile, a deletion of a file that changed, and a file that became a link.
    put(dir.path(), "n.md", "somebody's\n");
    for changes in [Changes::new().write(key("n"), "x\n"), Changes::new().delete(key("b/c"))] {
        let error = workspace.write(&base, &changes, &meta("")).await.unwrap_err();
        assert!(matches!(error, StoreError::ChangedUnderneath { .. }), "{error}");
    }
    fs::remove_file(dir.path().join("a.md")).unwrap();
    std::os::unix::fs::symlink("b/d.mdx", dir.path().join("a.md")).unwrap();
    let error = workspace.write(&base, &Changes::new().write(key("a"), "x\n"), &meta("")).await.unwrap_err();
    assert!(matches!(error, StoreError::ChangedUnderneath { .. }), "{error}");
    assert_eq!(fs::read_to_string(dir.path().join("b/d.mdx")).unwrap(), "# D\n");
}

#[tokio::test]
async fn a_folder_that_became_a_link_is_not_written_through() {
    let dir = folder(DOCS);
    let workspace = init(dir.path()).await;
    let base = workspace.snapshot().await.unwrap();
    let outside = folder("//- c.markdown\n# C\n");
    fs::remove_dir_all(dir.path().join("b")).unwrap();
    std::os::unix::fs::symlink(outside.path(), dir.path().join("b")).unwrap();
    assert!(workspace.write(&base, &Changes::new().write(key("b/c"), "x\n"), &meta("")).await.is_err());
    assert_eq!(fs::read_to_string(outside.path().join("c.markdown")).unwrap(), "# C\n");
}

#[tokio::test]
async fn a_newer_schema_is_an_instruction_and_stays_as_it_is() {
    let dir = folder(DOCS);
    init(dir.path()).await.store().close().await;
    let database = dir.path().join(".deckle/store.db");
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&database);
    let mut connection = sqlx::ConnectOptions::connect(&options).await.unwrap();
    sqlx::raw_sql("PRAGMA user_version = 999").execute(&mut connection).await.unwrap();
    sqlx::Connection::close(connection).await.unwrap();
    let before = fs::read(&database).unwrap();
    let error = Workspace::open(dir.path()).await.unwrap_err();
    assert!(matches!(error, StoreError::NewerSchema { found: 999, .. }), "{error}");
    assert_eq!(fs::read(&database).unwrap(), before);
}
