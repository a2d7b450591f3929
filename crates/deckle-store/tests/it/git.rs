//! The real `git` reads what we write and writes what we read, with the same ids.

use deckle_store::{Changes, MergeOptions, Selection, StoreError, WorkspaceId};

use crate::git_ids::git;
use crate::support::*;

const DOCS: &str = "//- guide/a.md\n# A\n\nOne.\n//- guide/b.md\n# B\n//- .github/x.yml\nhidden\n//- pic.png\npng\n";

#[tokio::test]
async fn a_branch_is_shown_in_the_repository_around_the_folder() {
    let dir = folder(DOCS);
    git(dir.path(), &["init", "-q", "-b", "main"]);
    git(dir.path(), &["add", "-A"]);
    git(dir.path(), &["commit", "-q", "-m", "first"]);
    let workspace = init(dir.path()).await;
    let handle = workspace.create_branch(&branch("fix"), &agent(), "").await.unwrap();
    assert_eq!(workspace.publish_to_git(&branch("fix")).await.unwrap(), None, "nothing to show yet");
    let base = handle.head().await.unwrap();
    let changes = Changes::new().write(key("guide/a"), "# A\n\nOne!\n").delete(key("guide/b")).write(key("neu ü"), "x\n");
    handle.commit(&base, &changes, &meta("say it better")).await.unwrap();
    let shown = workspace.publish_to_git(&branch("fix")).await.unwrap().unwrap();
    assert_eq!(shown.name, "refs/heads/deckle/fix");
    let diff = git(dir.path(), &["-c", "core.quotePath=false", "diff", "--name-status", "--no-renames", "main", "deckle/fix"]);
    assert_eq!(diff, "M\tguide/a.md\nD\tguide/b.md\nA\tneu ü.md", "only what the branch changed");
    assert_eq!(git(dir.path(), &["log", "-1", "--format=%an|%s", "deckle/fix"]), "Agent for ana|say it better");
    assert_eq!(git(dir.path(), &["status", "--porcelain"]), "", "neither the index nor a file was touched");
    // The next turn adds a commit, and takes a change back.
    let head = handle.head().await.unwrap();
    handle.commit(&head, &Changes::new().write(key("guide/a"), "# A\n\nOne.\n"), &meta("back")).await.unwrap();
    workspace.publish_to_git(&branch("fix")).await.unwrap().unwrap();
    assert_eq!(workspace.publish_to_git(&branch("fix")).await.unwrap(), None);
    assert_eq!(git(dir.path(), &["rev-list", "--count", "main..deckle/fix"]), "2");
    assert_eq!(git(dir.path(), &["diff", "--name-status", "main", "deckle/fix", "--", "guide/a.md"]), "");
    git(dir.path(), &["fsck", "--strict"]);
    // Somebody else moved the ref: theirs stays.
    git(dir.path(), &["update-ref", "refs/heads/deckle/fix", "main"]);
    let theirs = git(dir.path(), &["commit-tree", "-m", "theirs", "-p", "main", "main^{tree}"]);
    git(dir.path(), &["update-ref", "refs/heads/deckle/fix", &theirs]);
    let head = handle.head().await.unwrap();
    handle.commit(&head, &Changes::new().write(key("guide/a"), "# A3\n"), &meta("more")).await.unwrap();
    let error = workspace.publish_to_git(&branch("fix")).await.unwrap_err();
    assert!(matches!(error, StoreError::Git { .. }), "{error}");
    assert_eq!(git(dir.path(), &["rev-parse", "deckle/fix"]), theirs);
}

#[tokio::test]
async fn a_folder_inside_a_repository_is_shown_at_its_place() {
    let dir = folder("//- docs/a.md\n# A\n//- code.rs\nfn main() {}\n");
    git(dir.path(), &["init", "-q", "-b", "main"]);
    git(dir.path(), &["add", "-A"]);
    git(dir.path(), &["commit", "-q", "-m", "first"]);
    let workspace = init(&dir.path().join("docs")).await;
    let handle = workspace.create_branch(&branch("fix"), &agent(), "").await.unwrap();
    let base = handle.head().await.unwrap();
    handle.commit(&base, &Changes::new().write(key("a"), "# A!\n"), &meta("edit")).await.unwrap();
    workspace.publish_to_git(&branch("fix")).await.unwrap().unwrap();
    assert_eq!(git(dir.path(), &["diff", "--name-only", "main", "deckle/fix"]), "docs/a.md");
    assert_eq!(git(dir.path(), &["status", "--porcelain"]), "", "the store is not seen by git");
}

#[tokio::test]
async fn nothing_is_merged_in_the_middle_of_a_rebase() {
    let dir = folder(DOCS);
    git(dir.path(), &["init", "-q", "-b", "main"]);
    let workspace = init(dir.path()).await;
    let handle = workspace.create_branch(&branch("fix"), &agent(), "").await.unwrap();
    let base = handle.head().await.unwrap();
    handle.commit(&base, &Changes::new().write(key("guide/a"), "# A!\n"), &meta("edit")).await.unwrap();
    std::fs::create_dir(dir.path().join(".git/rebase-merge")).unwrap();
    let before = files(dir.path());
    let options = || MergeOptions { selection: Some(Selection::All), ..MergeOptions::default() };
    let error = workspace.merge(&branch("fix"), &options(), &meta("merge")).await.unwrap_err();
    assert!(error.to_string().contains("a rebase is in progress"), "{error}");
    assert_eq!(files(dir.path()), before);
    std::fs::remove_dir(dir.path().join(".git/rebase-merge")).unwrap();
    workspace.merge(&branch("fix"), &options(), &meta("merge")).await.unwrap();
}

#[tokio::test]
async fn histories_go_out_and_come_in_with_their_ids() {
    for engine in engines().await {
        let workspace = engine.workspace("//- a\n# A\n\nOne.\n//- b/c\n# C\n").await;
        let handle = workspace.create_branch(&branch("fix"), &agent(), "").await.unwrap();
        for n in 0..3 {
            let head = handle.head().await.unwrap();
            handle.commit(&head, &Changes::new().write(key("a"), format!("# A\n\n{n}.\n")), &meta("count")).await.unwrap();
        }
        let all = MergeOptions { selection: Some(Selection::All), ..MergeOptions::default() };
        workspace.merge(&branch("fix"), &all, &meta("merge")).await.unwrap();
        let out = tempfile::TempDir::new().unwrap();
        let report = workspace.export_git(None, out.path()).await.unwrap();
        assert_eq!(git(out.path(), &["rev-parse", "refs/heads/main"]), report.commit.to_string());
        assert_eq!(git(out.path(), &["fsck", "--strict", "--no-dangling"]), "");
        assert_eq!(git(out.path(), &["show", "main:a.md"]), "# A\n\n2.");
        assert_eq!(git(out.path(), &["rev-list", "--count", "main"]), "6", "init, seed, three commits, and the merge");

        // Git writes on, and the result comes back.
        let work = tempfile::TempDir::new().unwrap();
        git(work.path(), &["clone", "-q", "-b", "main", out.path().to_str().unwrap(), "w"]);
        let clone = work.path().join("w");
        put(&clone, "d.md", "# D\n");
        put(&clone, "pic.png", [0, 159, 146]);
        git(&clone, &["add", "-A"]);
        git(&clone, &["commit", "-q", "-m", "by git"]);
        let head = git(&clone, &["rev-parse", "HEAD"]);
        let report = workspace.import_git(&clone, "HEAD", &meta("import")).await.unwrap();
        assert_eq!(report.commit.to_string(), head);
        let main = workspace.snapshot().await.unwrap();
        assert_eq!(main.commit().to_string(), head);
        assert_eq!(main.keys().await.unwrap(), [key("a"), key("b/c"), key("d")]);
        assert_eq!(engine.store.fsck(&engine.tenant).await.unwrap().findings, []);

        // A new workspace takes the whole history; one that went its own way refuses.
        let other = engine.store.create_workspace(&engine.tenant, &WorkspaceId::parse("other").unwrap(), &ana()).await.unwrap();
        other.import_git(&clone, "main", &meta("import")).await.unwrap();
        assert_eq!(other.snapshot().await.unwrap().commit().to_string(), head);
        let base = other.snapshot().await.unwrap();
        other.write(&base, &Changes::new().write(key("own"), "x\n"), &meta("own way")).await.unwrap();
        let error = other.import_git(&clone, "main", &meta("again")).await.unwrap_err();
        assert!(error.to_string().contains("no ancestor"), "{error}");
        let error = workspace.import_git(&clone, "nothing", &meta("")).await.unwrap_err();
        assert!(matches!(error, StoreError::Git { .. }), "{error}");
    }
}

#[tokio::test]
async fn a_folder_is_exported_with_the_files_that_only_it_holds() {
    let dir = folder(DOCS);
    let workspace = init(dir.path()).await;
    let out = tempfile::TempDir::new().unwrap();
    workspace.export_git(None, out.path()).await.unwrap();
    assert_eq!(git(out.path(), &["show", "main:pic.png"]), "png");
    put(dir.path(), "pic.png", "changed");
    let error = workspace.export_git(None, out.path()).await.unwrap_err();
    assert!(error.to_string().contains("pic.png"), "{error}");
}
