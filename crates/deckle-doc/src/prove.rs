//! What must hold of every document, as functions: the tests, the fuzz targets and `xtask prove docs` all call these.
//!
//! - [`tree`]: the spans of a tree tile, at every level, and emit is the inverse of parse.
//! - [`front_matter`]: setting or unsetting any key changes that key alone.
//! - [`splice`]: a tree after a splice is the tree of the new text.
//! - [`agreement`]: the blocks that a reference parser and this one have in common.

mod agreement;
mod front_matter;
mod mutate;
mod tree;

pub use agreement::{Agreement, agreement};
pub use front_matter::front_matter;
pub use mutate::{PIECES, Random, mutate, splice, variants};
pub use tree::tree;

use crate::{Dialect, Tree};

/// What a run found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// How many documents were read.
    pub documents: u64,
    /// How many trees of them and of their variants were checked.
    pub trees: u64,
    /// How many random mutations were checked.
    pub mutations: u64,
    /// How many keys of front matter were set or unset.
    pub front_matter: u64,
    /// How many of all these failed.
    pub failed: u64,
    /// The first failures, for a person.
    pub problems: Vec<String>,
}

/// At most so many problems are told; the count tells the rest.
const MAX_PROBLEMS: usize = 20;

impl Report {
    /// Returns the counts on one line.
    #[must_use]
    pub fn line(&self) -> String {
        format!(
            "docs: {} documents, {} trees, {} mutations, {} edits of front matter; {} failures",
            self.documents, self.trees, self.mutations, self.front_matter, self.failed
        )
    }

    fn note(&mut self, name: &str, outcome: Result<u64, String>) -> u64 {
        match outcome {
            Ok(count) => count,
            Err(problem) => {
                self.failed += 1;
                if self.problems.len() < MAX_PROBLEMS {
                    self.problems.push(format!("{name}: {problem}"));
                }
                0
            }
        }
    }
}

/// Checks documents, their variants in every dialect, their front matter, and `mutations` random changes of them.
#[must_use]
pub fn run(documents: &[(String, String)], seed: u64, mutations: u64) -> Report {
    let mut report = Report { documents: documents.len() as u64, ..Report::default() };
    for (name, text) in documents {
        for (variant, text) in variants(text) {
            for dialect in Dialect::ALL {
                report.trees += 1;
                report.note(&format!("{name} ({variant}, {})", dialect.name()), tree(&text, dialect).map(|()| 1));
            }
        }
        if let Ok(tree) = Tree::parse(text.as_str(), Dialect::Generic) {
            let checked = front_matter(&tree);
            report.front_matter += report.note(name, checked);
        }
    }
    let mut random = Random::new(seed);
    for number in 0..if documents.is_empty() { 0 } else { mutations } {
        let (name, text) = &documents[random.below(documents.len())];
        let dialect = Dialect::ALL[random.below(Dialect::ALL.len())];
        let part = mutate(&mut random, text);
        report.mutations += 1;
        let name = format!("mutation {number} of {name} ({})", dialect.name());
        report.note(&name, tree(&part, dialect).map(|()| 1));
        // One in four is also reached by a splice.
        if number % 4 == 0 {
            report.note(&name, splice(&mut random, &part, dialect));
        }
    }
    report
}
