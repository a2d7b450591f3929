//! What a branch does, counted by the engine: the part of a review that no model writes.

use std::collections::BTreeMap;
use std::fmt;

use deckle_doc::{DocKey, InlineKind, Tree};
use serde::Serialize;

use crate::diff::{Change, ChangeId, ChangeKind, Mark, Pair};

/// A document is shrunk when it loses more than this share of its words.
const LARGE_LOSS: f64 = 0.5;

/// Losses of fewer words are not worth a warning.
const FEW_WORDS: usize = 20;

/// Counts over all changes of a branch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Documents that are new.
    pub created: usize,
    /// Documents that go.
    pub deleted: usize,
    /// Documents with another key.
    pub renamed: usize,
    /// Other documents in which something changes.
    pub edited: usize,
    /// Blocks that are new.
    pub blocks_added: usize,
    /// Blocks that go.
    pub blocks_removed: usize,
    /// Blocks that say something else, or are something else.
    pub blocks_changed: usize,
    /// Blocks that stand elsewhere.
    pub blocks_moved: usize,
    /// Words that come.
    pub words_added: usize,
    /// Words that go.
    pub words_removed: usize,
    /// Links that come, each as often as it is written.
    pub links_added: usize,
    /// Links that go.
    pub links_removed: usize,
    /// Front matter keys that come, go, or have another value, with how many documents.
    pub front_matter: BTreeMap<String, usize>,
    /// What to look at first, the riskiest first.
    pub warnings: Vec<Warning>,
}

/// Something that a reviewer should look at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Warning {
    /// How much is at stake; the least is the most.
    pub rank: u8,
    /// The document.
    pub key: String,
    /// What happens, in words.
    pub message: String,
    /// The change, when it is one.
    pub change: Option<ChangeId>,
}

/// Counts what changes do.
#[must_use]
pub fn summarize(documents: &BTreeMap<DocKey, Pair>, changes: &[Change]) -> Summary {
    let mut summary = Summary::default();
    for (key, pair) in documents {
        match (&pair.before, &pair.after, &pair.from) {
            (None, Some(_), _) => summary.created += 1,
            (Some(_), None, _) => summary.deleted += 1,
            (Some(_), Some(_), Some(_)) => summary.renamed += 1,
            (Some(before), Some(after), None) if before.0.source() != after.0.source() => summary.edited += 1,
            _ => {}
        }
        links(&mut summary, pair);
        losses(&mut summary, key, pair);
    }
    for change in changes {
        count(&mut summary, change);
    }
    summary.warnings.sort();
    summary
}

fn count(summary: &mut Summary, change: &Change) {
    let blocks = change.blocks.len();
    match change.kind {
        ChangeKind::Added => summary.blocks_added += blocks,
        ChangeKind::Removed => {
            summary.blocks_removed += blocks;
            let gone = words(change.before.as_deref().unwrap_or_default());
            if gone >= FEW_WORDS {
                summary.warnings.push(warning(3, change, format!("a {} of {gone} words goes", change.block)));
            }
        }
        ChangeKind::Changed | ChangeKind::Attributes => {
            summary.blocks_changed += blocks;
            let (before, gone) = (words(change.before.as_deref().unwrap_or_default()), gone(change));
            if gone >= FEW_WORDS && gone as f64 > LARGE_LOSS * before as f64 {
                summary.warnings.push(warning(4, change, format!("a {} loses {gone} of {before} words", change.block)));
            }
        }
        ChangeKind::Moved | ChangeKind::Renested => summary.blocks_moved += blocks,
        ChangeKind::FrontMatter => {
            for name in &change.blocks {
                *summary.front_matter.entry(name.clone()).or_insert(0) += 1;
            }
            if change.after.is_none() {
                let names = change.blocks.join("`, `");
                summary.warnings.push(warning(2, change, format!("the front matter key `{names}` goes")));
            }
        }
        ChangeKind::DocumentDeleted => {
            let gone = words(change.before.as_deref().unwrap_or_default());
            summary.warnings.push(warning(0, change, format!("the document goes, with {gone} words")));
        }
        ChangeKind::DocumentCreated | ChangeKind::DocumentRenamed | ChangeKind::Spacing => {}
    }
    if change.kind == ChangeKind::DocumentRenamed {
        return;
    }
    match (&change.before, &change.after) {
        (None, Some(after)) => summary.words_added += words(after),
        (Some(before), None) => summary.words_removed += words(before),
        _ => {
            summary.words_removed += gone(change);
            summary.words_added +=
                change.words.iter().filter(|one| one.mark == Mark::Added).map(|one| words(&one.text)).sum::<usize>();
        }
    }
}

fn warning(rank: u8, change: &Change, message: String) -> Warning {
    Warning { rank, key: change.key.clone(), message, change: Some(change.id.clone()) }
}

fn gone(change: &Change) -> usize {
    change.words.iter().filter(|one| one.mark == Mark::Removed).map(|one| words(&one.text)).sum()
}

fn words(text: &str) -> usize {
    text.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).count()
}

/// Counts the targets that links of a document name, each as often as it does.
fn targets(tree: &Tree) -> BTreeMap<String, usize> {
    let mut out = BTreeMap::new();
    for block in tree.blocks().filter(|block| block.has_inlines()) {
        for inline in block.inlines() {
            let target = match inline.kind {
                InlineKind::Link(target) | InlineKind::Image(target) => target.destination,
                InlineKind::Wikilink { target, .. } => target,
                _ => continue,
            };
            *out.entry(target.of(tree.source()).to_owned()).or_insert(0) += 1;
        }
    }
    out
}

fn links(summary: &mut Summary, pair: &Pair) {
    let side = |side: &Option<(Tree, deckle_doc::Ids)>| side.as_ref().map(|(tree, _)| targets(tree)).unwrap_or_default();
    let (before, after) = (side(&pair.before), side(&pair.after));
    let more = |a: &BTreeMap<String, usize>, b: &BTreeMap<String, usize>| -> usize {
        a.iter().map(|(link, count)| count.saturating_sub(b.get(link).copied().unwrap_or(0))).sum()
    };
    summary.links_added += more(&after, &before);
    summary.links_removed += more(&before, &after);
}

/// Warns of a document that loses most of its words.
fn losses(summary: &mut Summary, key: &DocKey, pair: &Pair) {
    let (Some(before), Some(after)) = (&pair.before, &pair.after) else { return };
    let (before, after) = (words(before.0.source()), words(after.0.source()));
    if before >= FEW_WORDS && (after as f64) < (1.0 - LARGE_LOSS) * before as f64 {
        let message = format!("the document shrinks from {before} to {after} words");
        summary.warnings.push(Warning { rank: 1, key: key.to_string(), message, change: None });
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |parts: &[(usize, &str)]| {
            let said: Vec<String> =
                parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
            said.join(", ")
        };
        let documents =
            line(&[(self.created, "created"), (self.edited, "edited"), (self.renamed, "renamed"), (self.deleted, "deleted")]);
        let blocks = line(&[
            (self.blocks_added, "added"),
            (self.blocks_changed, "changed"),
            (self.blocks_moved, "moved"),
            (self.blocks_removed, "removed"),
        ]);
        let mut rows = vec![("documents", documents), ("blocks", blocks)];
        rows.push(("words", format!("+{} -{}", self.words_added, self.words_removed)));
        if self.links_added + self.links_removed > 0 {
            rows.push(("links", format!("+{} -{}", self.links_added, self.links_removed)));
        }
        if !self.front_matter.is_empty() {
            let keys: Vec<String> = self.front_matter.iter().map(|(name, count)| format!("{name} ({count})")).collect();
            rows.push(("front matter", keys.join(", ")));
        }
        for (name, text) in rows.iter().filter(|(_, text)| !text.is_empty()) {
            writeln!(f, "{name}: {text}")?;
        }
        for warning in &self.warnings {
            writeln!(f, "warning: {}: {}", warning.key, warning.message)?;
        }
        Ok(())
    }
}
