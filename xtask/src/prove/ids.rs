//! `prove ids`: how well block ids survive the histories of real documents.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

use deckle_doc::{Dialect, Ids, Tree};

use crate::Problems;

/// Counts over all versions.
#[derive(Default)]
struct Counts {
    versions: usize,
    /// Blocks of the new versions.
    blocks: usize,
    /// Those whose text, and kind, the version before had too.
    unchanged: usize,
    /// Those of them that kept an id.
    unchanged_kept: usize,
    /// The blocks of the version before whose text is gone.
    left: usize,
    /// Blocks with new text.
    changed: usize,
    /// Those of them that carry the id of a block whose text is gone.
    changed_kept: usize,
    /// Ids that stand twice in a version. There must be none.
    doubled: usize,
}

/// Walks the last `commits` commits of a git repository that changed a Markdown file, and carries ids from each version to the next.
pub fn run(repository: &Path, commits: usize) -> Result<String, Problems> {
    let list = git(
        repository,
        &["log", "--first-parent", "--no-renames", "--format=%x00%H", "--name-status", "-n", &commits.to_string(), "--", "*.md"],
    )?;
    let mut counts = Counts::default();
    for entry in list.split('\0').skip(1) {
        let mut lines = entry.lines();
        let Some(commit) = lines.next() else { continue };
        for path in lines.filter_map(|line| line.strip_prefix("M\t")) {
            let (Ok(old), Ok(new)) = (
                git(repository, &["show", &format!("{commit}^:{path}")]),
                git(repository, &["show", &format!("{commit}:{path}")]),
            ) else {
                continue;
            };
            if let (Ok(old), Ok(new)) = (Tree::parse(old, Dialect::Generic), Tree::parse(new, Dialect::Generic)) {
                counts.compare(&old, &new);
            }
        }
    }
    if counts.versions == 0 {
        return Err(Problems::one(format!("no versions of Markdown in {}", repository.display())));
    }
    let line = counts.line();
    if counts.doubled == 0 && counts.unchanged == counts.unchanged_kept { Ok(line) } else { Err(Problems::one(line)) }
}

impl Counts {
    fn compare(&mut self, old: &Tree, new: &Tree) {
        let ids = Ids::derive(old);
        let carried = Ids::carry(old, &ids, new);
        let before: std::collections::HashSet<&str> = ids.names().collect();
        // For each kind and text: how many blocks had it, have it, and have it and an id from before.
        let mut texts: HashMap<(std::mem::Discriminant<deckle_doc::Kind>, &str), (usize, usize, usize)> = HashMap::new();
        for block in old.blocks() {
            texts.entry((std::mem::discriminant(&block.kind()), block.text())).or_default().0 += 1;
        }
        let mut seen = std::collections::HashSet::new();
        for (block, name) in new.blocks().zip(carried.names()) {
            self.blocks += 1;
            self.doubled += usize::from(!seen.insert(name));
            let counts = texts.entry((std::mem::discriminant(&block.kind()), block.text())).or_default();
            counts.1 += 1;
            counts.2 += usize::from(before.contains(name));
        }
        for (had, have, kept) in texts.into_values() {
            let both = had.min(have);
            self.unchanged += both;
            self.unchanged_kept += kept.min(both);
            self.left += had - both;
            self.changed += have - both;
            self.changed_kept += kept - kept.min(both);
        }
        self.versions += 1;
    }

    fn line(&self) -> String {
        let share = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
        let both = self.left.min(self.changed);
        format!(
            "ids: {} versions, {} blocks, {} with an id twice; {:.2} % of {} unchanged blocks kept their id; {} blocks went and {} came, \
             {} of those that came carry an id of one that went ({:.1} % of the {both} possible); {:.2} % of all blocks kept an id",
            self.versions,
            self.blocks,
            self.doubled,
            share(self.unchanged_kept, self.unchanged),
            self.unchanged,
            self.left,
            self.changed,
            self.changed_kept,
            share(self.changed_kept, both),
            share(self.unchanged_kept + self.changed_kept, self.blocks),
        )
    }
}

fn git(repository: &Path, arguments: &[&str]) -> Result<String, Problems> {
    let output = Command::new("git")
        .arg("-C")
        .arg(repository)
        .args(arguments)
        .output()
        .map_err(|error| Problems::one(format!("git: {error}")))?;
    if !output.status.success() {
        return Err(Problems::one(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    String::from_utf8(output.stdout).map_err(|error| Problems::one(format!("git {}: {error}", arguments.join(" "))))
}
