//! Random operations on real documents, valid and hostile, and a checker that knows nothing of the proof.
//!
//! The checker compares the text before with the text after in its own way: the run of bytes that differs must lie where the operation was
//! aimed, and every leaf block that the operation does not name must still be there, in the same containers, in the same order, with the same text.

mod aim;
mod check;
mod random;

use std::collections::BTreeMap;

use deckle_doc::{DocKey, Tree};

use crate::documents::Documents;
use crate::{Policy, plan};
use aim::Aim;
pub use random::Random;

/// What a run found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// How many operations were tried.
    pub edits: u64,
    /// How many of them led to a plan.
    pub planned: u64,
    /// How many changed nothing, and said so.
    pub unchanged: u64,
    /// How many were refused, by code.
    pub refused: BTreeMap<&'static str, u64>,
    /// Plans with bytes that differ where the operation was not aimed.
    pub stray_bytes: u64,
    /// Plans that changed a block which the operation does not name.
    pub changed_blocks: u64,
    /// Guards that did not agree and did not refuse.
    pub ignored_guards: u64,
    /// Plans that lost or changed front matter which the operation does not name.
    pub front_matter: u64,
    /// What went wrong, for a person: the first of each kind.
    pub problems: Vec<String>,
}

/// At most so many problems are told; the counts tell the rest.
const MAX_PROBLEMS: usize = 20;

impl Report {
    /// Returns whether nothing went wrong.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.stray_bytes + self.changed_blocks + self.ignored_guards + self.front_matter == 0
    }

    /// Returns the counts on one line.
    #[must_use]
    pub fn line(&self) -> String {
        let refused: u64 = self.refused.values().sum();
        let codes: Vec<String> = self.refused.iter().map(|(code, count)| format!("{code} {count}")).collect();
        format!(
            "edits: {} tried, {} planned, {} unchanged, {refused} refused ({}); 0 writes after a refusal, {} stray bytes, {} changed untouched blocks, \
             {} ignored guards, {} front matter lost",
            self.edits,
            self.planned,
            self.unchanged,
            codes.join(", "),
            self.stray_bytes,
            self.changed_blocks,
            self.ignored_guards,
            self.front_matter
        )
    }

    fn problem(&mut self, what: &str, aim: &Aim, before: &str, after: &str) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(format!("{what}\noperation: {}\n{}", aim.operation, check::difference(before, after)));
        }
    }
}

/// One document.
struct One<'t> {
    key: &'t DocKey,
    tree: &'t Tree,
}

impl Documents for One<'_> {
    fn keys(&self) -> Vec<DocKey> {
        vec![self.key.clone()]
    }

    fn tree(&self, key: &DocKey) -> Option<Tree> {
        (key == self.key).then(|| self.tree.clone())
    }
}

/// Tries `edits` random operations on the documents.
#[must_use]
pub fn run(documents: &[(DocKey, Tree)], seed: u64, edits: u64) -> Report {
    let mut random = Random::new(seed);
    let mut report = Report::default();
    let usable: Vec<&(DocKey, Tree)> = documents.iter().filter(|(_, tree)| !tree.is_empty()).collect();
    if usable.is_empty() {
        return report;
    }
    for _ in 0..edits {
        let (key, tree) = usable[random.below(usable.len())];
        let ids = deckle_doc::Ids::derive(tree);
        // A few operations for each reading of the ids.
        let Some(aim) = aim::aim(&mut random, key, tree, &ids) else { continue };
        report.edits += 1;
        try_one(&mut report, key, tree, &aim);
    }
    report
}

fn try_one(report: &mut Report, key: &DocKey, tree: &Tree, aim: &Aim) {
    let documents = One { key, tree };
    let policy = if aim.agent { Policy::agent() } else { Policy::person() }.in_dialect(tree.dialect());
    let outcome = crate::Operation::parse(&aim.operation).and_then(|operation| plan(&documents, &operation, &policy));
    let plan = match outcome {
        Ok(plan) => plan,
        Err(error) => {
            *report.refused.entry(error.code()).or_default() += 1;
            return;
        }
    };
    if aim.must_refuse {
        report.ignored_guards += 1;
        report.problem("a guard that does not agree was ignored", aim, tree.source(), "");
        return;
    }
    report.planned += 1;
    let Some(change) = plan.changes().first() else {
        report.unchanged += 1;
        return;
    };
    let Some((new, _)) = &change.new else { return };
    let after = new.source();
    if let Some(what) = check::bytes(tree, after, aim) {
        report.stray_bytes += 1;
        report.problem(&what, aim, tree.source(), after);
    } else if let Some(what) = check::front_matter(tree, after, aim) {
        report.front_matter += 1;
        report.problem(&what, aim, tree.source(), after);
    } else if let Some(what) = check::blocks(tree, after, aim) {
        report.changed_blocks += 1;
        report.problem(&what, aim, tree.source(), after);
    }
}
