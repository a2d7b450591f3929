//! Git: a branch shown in the repository around the folder, and whole histories handed over with the ids they have.
//!
//! Everything goes through the `git` program, so that whatever a repository is configured to be is git's own business.
//! Neither HEAD nor the index nor a file is ever touched.

mod exchange;
mod publish;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub use exchange::{ExportReport, ImportReport};
pub use publish::Published;

use crate::error::StoreError;

/// A git repository, reached through its program.
#[derive(Clone, Debug)]
pub(crate) struct Git {
    dir: PathBuf,
}

/// What is in progress in a repository, by the file that says so.
const IN_PROGRESS: [(&str, &str); 5] = [
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase"),
    ("MERGE_HEAD", "a merge"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
];

impl Git {
    /// Takes a folder inside a repository, or a bare repository.
    pub(crate) fn at(dir: &Path) -> Self {
        Self { dir: dir.to_path_buf() }
    }

    /// Finds the repository around a folder, and the folder's path inside it; nothing when there is none.
    pub(crate) fn around(dir: &Path) -> Result<Option<(Self, String)>, StoreError> {
        // Without a `.git` anywhere above there is no need to ask.
        if !dir.ancestors().any(|folder| folder.join(".git").exists()) {
            return Ok(None);
        }
        let git = Self::at(dir);
        match git.run(&["rev-parse", "--is-inside-work-tree", "--show-prefix"], b"") {
            Ok(out) => {
                let mut lines = out.lines();
                let inside = lines.next() == Some("true");
                Ok(inside.then(|| (git, lines.next().unwrap_or_default().to_owned())))
            }
            Err(_) => Ok(None),
        }
    }

    /// Says what is in progress in the repository around a folder, when something is.
    pub(crate) fn in_progress(dir: &Path) -> Option<&'static str> {
        let entry = dir.ancestors().map(|folder| folder.join(".git")).find(|entry| entry.exists())?;
        let home = if entry.is_dir() {
            entry
        } else {
            // A worktree's `.git` is a file that names the place.
            let text = std::fs::read_to_string(&entry).ok()?;
            entry.parent()?.join(text.strip_prefix("gitdir:")?.trim())
        };
        IN_PROGRESS.iter().find(|(file, _)| home.join(file).exists()).map(|(_, what)| *what)
    }

    /// Runs git with bytes on its input and returns what it printed.
    pub(crate) fn run_bytes(&self, args: &[&str], input: &[u8]) -> Result<Vec<u8>, StoreError> {
        let mut child = Command::new("git")
            // A repository is not to run programs of its own for us.
            .args(["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "gc.auto=0", "--no-optional-locks"])
            .args(args)
            .current_dir(&self.dir)
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("LC_ALL", "C")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| StoreError::Git { message: error.to_string(), hint: "install git, and put it in the PATH" })?;
        let pipe = child.stdin.take();
        let input = input.to_vec();
        // Written by a thread of its own: git may answer before it has read everything.
        let writer = std::thread::spawn(move || pipe.map_or(Ok(()), |mut pipe| pipe.write_all(&input)));
        let output = child.wait_with_output().map_err(|error| StoreError::io(&self.dir, error))?;
        // When git stopped reading, its own words say why.
        let _ = writer.join();
        if output.status.success() {
            return Ok(output.stdout);
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let message = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("it failed without a word").to_owned();
        Err(StoreError::Git { message, hint: "run `git fsck` in the repository; nothing of it was changed" })
    }

    /// The same for text.
    pub(crate) fn run(&self, args: &[&str], input: &[u8]) -> Result<String, StoreError> {
        String::from_utf8(self.run_bytes(args, input)?).map_err(|_| StoreError::Git {
            message: "it printed what is not UTF-8".into(),
            hint: "rename the file with git first",
        })
    }
}

/// Quotes a path as `fast-import` reads it.
fn quoted(path: &str) -> String {
    format!("\"{}\"", path.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

/// Writes a counted piece of a `fast-import` stream.
fn data(script: &mut Vec<u8>, bytes: &[u8]) {
    script.extend(format!("data {}\n", bytes.len()).into_bytes());
    script.extend_from_slice(bytes);
    script.push(b'\n');
}
