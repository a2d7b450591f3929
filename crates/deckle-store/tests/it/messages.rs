//! What each error says: a stable code, what is there, and what to do next.

use std::io;
use std::path::PathBuf;

use deckle_doc::Diag;
use deckle_store::{Conflict, ConflictKind, ObjectId, StoreError, Timestamp};

use crate::support::*;

fn every() -> Vec<StoreError> {
    let dir = PathBuf::from("docs");
    let text = |text: &str| text.to_owned();
    let conflict = Conflict {
        key: key("a"),
        kind: ConflictKind::Block,
        place: text("Plans"),
        base: None,
        ours: Some(text("x")),
        theirs: Some(text("y")),
    };
    vec![
        StoreError::Name { what: "branch name", name: text("a b"), rule: "letters" },
        StoreError::NotAWorkspace(dir.clone()),
        StoreError::FolderMissing(dir.clone()),
        StoreError::NotAFolder(dir.clone()),
        StoreError::NotWritable(dir.clone()),
        StoreError::NoMarkdown(dir.clone()),
        StoreError::Locked,
        StoreError::NewerSchema { found: 9, known: 1 },
        StoreError::DiskFull,
        StoreError::Disk { cause: text("input/output error") },
        StoreError::ReadOnly,
        StoreError::Unreachable { cause: text("connection refused") },
        StoreError::Io { path: dir, source: io::Error::from(io::ErrorKind::PermissionDenied) },
        StoreError::NotFound { what: "branch", name: text("fxi"), there: vec![text("fix")] },
        StoreError::NotFound { what: "document", name: text("a"), there: Vec::new() },
        StoreError::Exists { what: "branch", name: text("fix") },
        StoreError::Moved { name: text("fix"), expected: ObjectId::EMPTY_TREE, actual: ObjectId::EMPTY_TREE },
        StoreError::ChangedUnderneath { files: vec![text("a.md")] },
        StoreError::State { branch: text("fix"), state: "merged" },
        StoreError::Protected { keys: vec![text("a")] },
        StoreError::Conflicts(vec![conflict]),
        StoreError::Unsound { findings: vec![text("a: link to `b` is broken")] },
        StoreError::NotADocument { key: text("a"), why: text("its bytes are not UTF-8") },
        StoreError::Corrupt { what: text("blob 1234"), finding: text("its bytes are those of 5678") },
        StoreError::Held { name: text("x"), holder: text("p"), until: Timestamp(0) },
        StoreError::Fenced { name: text("branch fix") },
        StoreError::Busy { branch: text("fix"), turn: text("t1"), until: Timestamp(0) },
        StoreError::Gap { session: text("s"), next: 3, asked: 5 },
        StoreError::Quota { team: text("docs"), resource: text("tokens"), left: 3, asked: 9, resets_at: Timestamp(0) },
        StoreError::Rights { person: text("ana"), verb: "edit" },
        StoreError::Git { message: text("no"), hint: "run `git fsck`" },
    ]
}

#[test]
fn every_error_has_a_code_and_says_what_to_do() {
    for error in every() {
        let diag = Diag::from(&error);
        assert!(!diag.code.is_empty() && diag.code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{diag}");
        assert!(!diag.hints.is_empty(), "no way out of: {diag}");
        let all = diag.to_string();
        for word in ["please", "simply", "invalid input", "Please"] {
            assert!(!all.contains(word), "{all}");
        }
    }
}

#[test]
fn errors_read_like_instructions() {
    let shown: Vec<String> = every().iter().map(|error| Diag::from(error).to_string()).collect();
    let find = |code: &str| shown.iter().find(|text| text.starts_with(&format!("error[{code}]"))).unwrap().as_str();
    assert_eq!(
        find("not-found"),
        "error[not-found]: no branch `fxi`\n  fix\nhint: use one of the branches above, or `deckle branch list`"
    );
    assert_eq!(
        find("newer-schema"),
        "error[newer-schema]: the store has schema 9, and this program knows 1\nhint: use the version of `deckle` that wrote it, or a later one; nothing was changed"
    );
    assert_eq!(
        find("conflict"),
        "error[conflict]: 1 conflict(s)\n  a › Plans: changed on both sides\nhint: choose a side for each with `deckle review`, or write the block; nothing was written"
    );
}
