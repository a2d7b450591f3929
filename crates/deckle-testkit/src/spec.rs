//! The executable specification: `spec/*.md` as cases, each a few documents, operations on them and what comes out.
//!
//! `spec/README.md` says how a case is written. A case knows nothing of an implementation: [`Engine`] is one, and `cargo xtask spec` puts any
//! command in its place.

mod cases;
pub mod run;
pub mod table;

use std::collections::BTreeMap;
use std::fmt::Write as _;

pub use cases::{Case, Fenced, File, Step};

/// The documents of a case by key, with the dialect that they are in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workspace {
    /// The texts by key.
    pub documents: BTreeMap<String, String>,
    /// The dialect's name.
    pub dialect: String,
    /// A file of the workspace's configuration, where the case has one.
    pub config: String,
}

/// What an implementation answers to one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The documents afterwards, and the receipt in words.
    Changed(BTreeMap<String, String>, String),
    /// What a reading operation prints.
    Read(String),
    /// The refusal: its code, and how it reads.
    Refused(String, String),
}

/// An implementation of the specification.
pub trait Engine {
    /// A case begins: what was remembered of the one before is nothing to it.
    fn begin(&self) {}

    /// Runs one operation on a workspace.
    fn run(&self, workspace: &Workspace, step: &Step) -> Outcome;
}

/// One thing that a case expects, and what came instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Which block of the case.
    pub what: String,
    /// What the specification says.
    pub expected: String,
    /// What came.
    pub got: String,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` differs\n── expected ──\n{}\n── got ──\n{}", self.what, self.expected, self.got)
    }
}

impl Case {
    /// Runs the case: every operation on what the one before left, and for each expected block what should stand there.
    pub fn outcomes(&self, engine: &dyn Engine) -> Vec<(&Fenced, String)> {
        engine.begin();
        let mut workspace = self.workspace.clone();
        let mut wanted = Vec::new();
        for step in &self.steps {
            let outcome = engine.run(&workspace, step);
            if let Outcome::Changed(documents, _) = &outcome {
                workspace.documents.clone_from(documents);
            }
            for block in &step.expected {
                wanted.push((block, shown(block, &outcome)));
            }
        }
        wanted
    }

    /// Compares what comes out with what the case says.
    ///
    /// # Errors
    /// The first difference, or a case that expects nothing.
    pub fn check(&self, engine: &dyn Engine) -> Result<(), Difference> {
        if self.steps.is_empty() || self.steps.iter().any(|step| step.expected.is_empty()) {
            return Err(Difference {
                what: self.name.clone(),
                expected: "a result, receipt, error or out block behind each operation".into(),
                got: "none".into(),
            });
        }
        match self.outcomes(engine).into_iter().find(|(block, got)| block.text != *got) {
            Some((block, got)) => Err(Difference { what: block.info.clone(), expected: block.text.clone(), got }),
            None => Ok(()),
        }
    }
}

/// An outcome as a block of its kind shows it.
fn shown(block: &Fenced, outcome: &Outcome) -> String {
    if block.in_table {
        return match outcome {
            Outcome::Changed(documents, _) => table::cell(documents.get("doc").map_or("", String::as_str)),
            Outcome::Read(text) => table::cell(text.strip_suffix('\n').unwrap_or(text)),
            Outcome::Refused(code, text) => {
                let message = text.lines().next().unwrap_or_default();
                let message = message.strip_prefix(&format!("error[{code}]: ")).unwrap_or(message);
                format!("✗ {code}: {}", table::prose(message))
            }
        };
    }
    match (block.kind(), outcome) {
        ("result", Outcome::Changed(documents, _)) => {
            let text = documents.get(block.word("doc").unwrap_or("doc")).map_or("(no document)\n", String::as_str);
            if block.has("escaped") { escaped(text) } else { text.to_owned() }
        }
        ("receipt", Outcome::Changed(_, receipt)) => format!("{receipt}\n"),
        ("out", Outcome::Read(text)) => text.clone(),
        ("error", Outcome::Refused(_, text)) => format!("{text}\n"),
        (_, Outcome::Refused(_, text)) => format!("(refused)\n{text}\n"),
        (_, Outcome::Changed(documents, _)) => {
            let mut out = "(changed)\n".to_owned();
            for (key, text) in documents {
                let _ = writeln!(out, "── {key} ──\n{text}");
            }
            out
        }
        (_, Outcome::Read(text)) => format!("(read)\n{text}"),
    }
}

/// `\r`, `\t`, `\u{feff}`, `\s` and a final `\c` (no line end) stand for what no eye sees.
pub(crate) fn unescaped(text: &str) -> String {
    let text = text.replace("\\r", "\r").replace("\\t", "\t").replace("\\u{feff}", "\u{feff}").replace("\\s", " ");
    match text.strip_suffix("\\c\n") {
        Some(cut) => cut.to_owned(),
        None => text,
    }
}

fn escaped(text: &str) -> String {
    let mut out = text.replace('\r', "\\r").replace('\t', "\\t").replace('\u{feff}', "\\u{feff}");
    if !out.ends_with('\n') && !out.is_empty() {
        out.push_str("\\c\n");
    }
    out
}
