//! What each error says to its reader: what was asked, what is there, and what to do next.

use std::borrow::Cow;

use deckle_doc::Diag;

use crate::error::StoreError;

impl From<&StoreError> for Diag {
    fn from(error: &StoreError) -> Self {
        let (code, at, hints) = parts(error);
        Self { code, message: message(error), at, hints }
    }
}

fn message(error: &StoreError) -> String {
    match error {
        StoreError::Protected { keys } => format!("{} document(s) are protected, and nothing was written", keys.len()),
        StoreError::ChangedUnderneath { files } => {
            format!("{} file(s) changed since the change was planned, and nothing was written", files.len())
        }
        other => other.to_string(),
    }
}

type Hints = Vec<Cow<'static, str>>;

fn parts(error: &StoreError) -> (&'static str, Vec<String>, Hints) {
    let none = Vec::new;
    let hint = |text: &'static str| vec![Cow::Borrowed(text)];
    match error {
        StoreError::Name { rule, .. } => ("name", none(), vec![Cow::Owned(format!("use {rule}"))]),
        StoreError::NotAWorkspace(dir) => {
            ("not-a-workspace", none(), vec![Cow::Owned(format!("run `deckle -C {} init` to make it one", dir.display()))])
        }
        StoreError::FolderMissing(_) => ("folder-missing", none(), hint("name a folder that exists with `-C DIR`")),
        StoreError::NotAFolder(_) => ("not-a-folder", none(), hint("name the folder that holds the file with `-C DIR`")),
        StoreError::NotWritable(_) => {
            ("not-writable", none(), hint("make the folder writable for this user, or work on a copy of it; nothing was written"))
        }
        StoreError::NoMarkdown(_) => (
            "no-markdown",
            none(),
            hint("name a folder with `.md`, `.markdown` or `.mdx` files, or use `init --allow-empty` to begin with none"),
        ),
        StoreError::Locked => {
            ("locked", none(), hint("wait until the other process is done and run the command again; nothing was written"))
        }
        StoreError::NewerSchema { .. } => {
            ("newer-schema", none(), hint("use the version of `deckle` that wrote it, or a later one; nothing was changed"))
        }
        StoreError::DiskFull => {
            ("disk-full", none(), hint("free some space and run the command again; what was acknowledged is kept"))
        }
        StoreError::Disk { .. } => (
            "disk-failed",
            none(),
            hint("check the disk, then open the store again and run `deckle fsck`; this write was not acknowledged"),
        ),
        StoreError::ReadOnly => {
            ("read-only", none(), hint("check the disk and its permissions, then start `deckle` again; reading still works"))
        }
        StoreError::Unreachable { .. } => (
            "database-unreachable",
            none(),
            hint(
                "check that the database runs and that its URL is right, then run the command again; a write with the same run and call happens once",
            ),
        ),
        StoreError::Sql(_) => ("database", none(), hint("run `deckle fsck`; if it finds nothing, report this message")),
        StoreError::Io { .. } => ("io", none(), hint("check the file and its permissions, then run the command again")),
        StoreError::NotFound { what, there, .. } => {
            let hints = match *what {
                "branch" if there.is_empty() => hint("there is no open branch; create one with `deckle branch create NAME`"),
                "branch" => hint("use one of the branches above, or `deckle branch list`"),
                "deleted document" => hint("`deckle log` shows when it was deleted and on which branch"),
                "document" => hint("list the documents with `deckle find`"),
                _ => none_of(),
            };
            ("not-found", there.clone(), hints)
        }
        StoreError::Exists { what, .. } => {
            let hints = match *what {
                "branch" => hint("choose another name, or work on the branch that is there"),
                "file" => hint("choose another key, or move what stands there first"),
                _ => hint("choose another name"),
            };
            ("exists", none(), hints)
        }
        StoreError::Moved { .. } => ("moved", none(), hint("read the documents again, and make the change on what they say now")),
        StoreError::ChangedUnderneath { files } => (
            "changed-underneath",
            files.clone(),
            hint("run `deckle diff` to see what changed, then merge again: the new text is taken into account"),
        ),
        StoreError::State { state, .. } => {
            let hints = match *state {
                "merged" => hint("its changes are on main; create a new branch for more"),
                "discarded" => hint("create a new branch"),
                _ => none_of(),
            };
            ("branch-closed", none(), hints)
        }
        StoreError::Protected { keys } => (
            "protected",
            keys.clone(),
            hint("leave these documents out, or ask a person to lift the protection with `deckle protect --off PATH`"),
        ),
        StoreError::Conflicts(conflicts) => (
            "conflict",
            conflicts.iter().map(ToString::to_string).collect(),
            hint("choose a side for each with `deckle review`, or write the block; nothing was written"),
        ),
        StoreError::Unsound { findings } => {
            ("unsound", findings.clone(), hint("reject or edit the changes above, then merge again; nothing was written"))
        }
        StoreError::NotADocument { .. } => {
            ("not-a-document", none(), hint("the file is kept as it is; edit it with another tool"))
        }
        StoreError::Corrupt { .. } => {
            ("corrupt", none(), hint("run `deckle fsck` for all findings, and restore the store from a copy"))
        }
        StoreError::Held { .. } => ("held", none(), hint("wait until it is done, attach to it, or cancel it")),
        StoreError::Busy { .. } => ("branch-busy", none(), hint("attach to the running turn, cancel it, or use another branch")),
        StoreError::Gap { .. } => ("gap", none(), hint("read the messages again, and append after the last one")),
        StoreError::Fenced { .. } => ("lease-lost", none(), hint("stop: another process continues this work")),
        StoreError::Quota { .. } => {
            ("quota", none(), hint("wait until the quota begins anew, or ask an owner of the team to raise it"))
        }
        StoreError::Rights { .. } => ("rights", none(), hint("ask an owner of the workspace for the right")),
        StoreError::Git { hint: text, .. } => ("git", none(), hint(text)),
    }
}

fn none_of() -> Hints {
    Vec::new()
}
