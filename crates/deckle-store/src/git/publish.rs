//! A branch as a branch of the repository around the folder: the repository's own commit, with what the branch changed, so
//! `git diff`, `git log` and a pull request show just that.

use serde_json::json;

use super::{Git, data, quoted};
use crate::error::StoreError;
use crate::ids::BranchId;
use crate::main_folder::blocking;
use crate::object::{EntryMode, ObjectId};
use crate::sql::args;
use crate::tree_edit;
use crate::workspace::Workspace;

/// A branch as it stands in the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// The ref.
    pub name: String,
    /// The commit of the repository that it names.
    pub commit: String,
}

/// What was published last: the repository's commit, and the state of the branch that it shows.
struct Last {
    commit: String,
    head: ObjectId,
}

impl Workspace {
    /// Shows a branch as `refs/heads/deckle/<branch>` of the git repository around the folder; nothing when there is none, or
    /// the branch changed nothing since it was shown last.
    ///
    /// # Errors
    /// When git refuses, for instance because somebody else moved that ref.
    pub async fn publish_to_git(&self, id: &BranchId) -> Result<Option<Published>, StoreError> {
        let Some(root) = self.folder().map(std::path::Path::to_path_buf) else { return Ok(None) };
        let Some((git, prefix)) = blocking(move || Git::around(&root)).await? else { return Ok(None) };
        let core = self.core();
        let info = self.branch(id).await?.info().await?;
        let name = crate::refs::of_branch(id);
        let (parent, shown) = match self.published(id).await? {
            Some(last) if last.head == info.head => return Ok(None),
            Some(last) => (last.commit, last.head),
            None => {
                let asked = git.clone();
                let head = blocking(move || asked.run(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], b"")).await;
                // A repository without a commit has nothing that the branch could stand on.
                let Ok(head) = head else { return Ok(None) };
                (head.trim().to_owned(), info.base)
            }
        };
        let (before, after) = (core.objects.commit(shown).await?, core.objects.commit(info.head).await?);
        let changes = tree_edit::diff(&core.objects, before.tree, after.tree).await?;
        if changes.is_empty() {
            return Ok(None);
        }
        let mut script: Vec<u8> = Vec::new();
        script.extend(format!("commit {name}\nauthor {}\ncommitter {}\n", after.author, after.committer).into_bytes());
        data(&mut script, after.message.as_bytes());
        script.extend(format!("from {parent}\n").into_bytes());
        for change in &changes {
            let path = quoted(&format!("{prefix}{}", change.path));
            match change.after {
                Some((mode, blob)) if matches!(mode, EntryMode::File | EntryMode::Executable) => {
                    script.extend(format!("M {} inline {path}\n", mode.as_str()).into_bytes());
                    data(&mut script, &core.objects.blob(blob).await?);
                }
                // Links and opaque files are never changed by a branch.
                Some(_) => {}
                None => script.extend(format!("D {path}\n").into_bytes()),
            }
        }
        script.extend(b"\ndone\n");
        let (asked, ref_name) = (git.clone(), name.clone());
        let commit = blocking(move || {
            let moved = |error: StoreError| match error {
                StoreError::Git { message, .. } => StoreError::Git {
                    message,
                    hint: "somebody moved the branch in git: rename it there (`git branch -m`), then publish again",
                },
                other => other,
            };
            asked.run_bytes(&["fast-import", "--quiet", "--done", "--date-format=raw"], &script).map_err(moved)?;
            asked.run(&["rev-parse", "--verify", &ref_name], b"")
        })
        .await?;
        let commit = commit.trim().to_owned();
        let value = json!({ "commit": commit, "head": info.head.to_string() });
        let mut tx = core.scope().begin().await?;
        tx.exec(
            "INSERT INTO settings (tenant, workspace, name, value) VALUES ($1, $2, $3, $4) \
             ON CONFLICT (tenant, workspace, name) DO UPDATE SET value = excluded.value",
            args![core.id.as_str(), format!("git:{id}"), &value],
        )
        .await?;
        tx.commit().await?;
        Ok(Some(Published { name, commit }))
    }

    async fn published(&self, id: &BranchId) -> Result<Option<Last>, StoreError> {
        let core = self.core();
        let row = core
            .scope()
            .first(
                "SELECT value FROM settings WHERE tenant = $1 AND workspace = $2 AND name = $3",
                args![core.id.as_str(), format!("git:{id}")],
            )
            .await?;
        let Some(row) = row else { return Ok(None) };
        let value = row.json(0)?;
        let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
        Ok(Some(Last { commit: text("commit"), head: text("head").parse()? }))
    }

    /// Refuses to write the folder while git has something in progress there: its next step would take our files for its own.
    pub(crate) fn check_git(&self) -> Result<(), StoreError> {
        match self.folder().and_then(Git::in_progress) {
            Some(what) => Err(StoreError::Git {
                message: format!("{what} is in progress in this repository, and nothing was written"),
                hint: "end it with `git … --continue` or `--abort`, then run the command again",
            }),
            None => Ok(()),
        }
    }
}
