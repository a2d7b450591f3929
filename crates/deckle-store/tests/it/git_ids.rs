//! Ids and encodings are git's: the real `git` writes the same folder and gets the same trees.

use std::path::Path;
use std::process::Command;

use deckle_store::object::{ObjectKind, RawObject};

use crate::support::*;

/// Runs git with a configuration that owes nothing to the machine.
pub fn git(dir: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "core.excludesFile=", "-c", "core.autocrlf=false"])
        .args(args)
        .current_dir(dir)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("HOME", dir)
        .output()
        .unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn blobs_have_gits_ids() {
    let dir = tempfile::TempDir::new().unwrap();
    git(dir.path(), &["init", "-q"]);
    for (at, bytes) in [&b""[..], b"x", b"a\r\nb\n", &[0, 255, 10]].iter().enumerate() {
        let name = format!("f{at}");
        std::fs::write(dir.path().join(&name), bytes).unwrap();
        let id = git(dir.path(), &["hash-object", &name]);
        assert_eq!(RawObject::new(ObjectKind::Blob, bytes.to_vec()).id().to_string(), id);
    }
}

#[tokio::test]
async fn a_snapshot_is_the_tree_that_git_writes() {
    use std::os::unix::fs::PermissionsExt;
    let dir =
        folder("//- a.md\nA\n//- a-b.md\nAB\n//- a/x.md\nX\n//- a/y/z.md\nZ\n//- a0.md\n0\n//- ünï.md\nü\n//- p.png\npng\n");
    std::fs::set_permissions(dir.path().join("a0.md"), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink("a.md", dir.path().join("link.md")).unwrap();
    let workspace = init(dir.path()).await;
    let tree = workspace.snapshot().await.unwrap().tree();
    git(dir.path(), &["init", "-q"]);
    git(dir.path(), &["add", "-A"]);
    assert_eq!(git(dir.path(), &["write-tree"]), tree.to_string());
    // And after a change that empties a folder and fills another.
    let base = workspace.snapshot().await.unwrap();
    let changes = deckle_store::Changes::new().delete(key("a/y/z")).write(key("b/c/d"), "D\n").write(key("a"), "A2\n");
    workspace.write(&base, &changes, &meta("change")).await.unwrap();
    git(dir.path(), &["add", "-A"]);
    assert_eq!(git(dir.path(), &["write-tree"]), workspace.snapshot().await.unwrap().tree().to_string());
}
