//! Reading cases from Markdown.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{Engine, Workspace, table, unescaped};

/// A fenced block of a case, or a cell of its table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fenced {
    /// What stands behind the fence.
    pub info: String,
    /// The text inside.
    pub text: String,
    /// Its lines in the file, without the fences; of a cell its line.
    pub lines: Range<usize>,
    /// Whether it is the last cell of a row.
    pub in_table: bool,
}

impl Fenced {
    /// The first word: `md`, `op`, `result`, …
    #[must_use]
    pub fn kind(&self) -> &str {
        self.info.split(' ').next().unwrap_or_default()
    }

    /// The value of `name=value`.
    #[must_use]
    pub fn word(&self, name: &str) -> Option<&str> {
        self.info.split(' ').find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
    }

    /// Whether a word stands there.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.info.split(' ').any(|word| word == name)
    }
}

/// One operation of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The operation, in YAML.
    pub operation: String,
    /// Whether it comes through an agent's surface.
    pub agent: bool,
    /// The revision at which the caller last read the documents: how many operations of the case had run.
    pub read: Option<usize>,
    /// What is expected of it.
    pub expected: Vec<Fenced>,
}

/// One case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Its headings.
    pub heading: String,
    /// The same, and of a row the first cells.
    pub name: String,
    /// The documents before.
    pub workspace: Workspace,
    /// The operations, each on what the one before left.
    pub steps: Vec<Step>,
}

/// A file of cases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    text: String,
    /// The cases in order.
    pub cases: Vec<Case>,
}

/// What is known under a heading: documents go down to the headings below it.
#[derive(Clone, Default)]
struct Section {
    name: String,
    documents: Vec<Fenced>,
    blocks: Vec<Fenced>,
    table: Option<table::Table>,
}

impl File {
    /// Reads a file of cases.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut cases = Vec::new();
        let mut above = Section::default();
        for section in sections(text) {
            let (level, mut section) = section;
            if level == 2 {
                above = section.clone();
            } else {
                let own: Vec<String> = section.documents.iter().map(key).collect();
                let mut documents: Vec<Fenced> = above.documents.iter().filter(|one| !own.contains(&key(one))).cloned().collect();
                documents.append(&mut section.documents);
                section.documents = documents;
                if !section.blocks.iter().any(|block| block.kind() == "op") {
                    let ops = above.blocks.iter().filter(|block| block.kind() == "op").cloned();
                    section.blocks.splice(0..0, ops);
                }
                section.name = format!("{} › {}", above.name, section.name);
            }
            section.cases(&mut cases);
        }
        Self { text: text.to_owned(), cases }
    }

    /// The file with what comes out of an engine in place of what is expected.
    #[must_use]
    pub fn rewritten(&self, engine: &dyn Engine) -> String {
        let mut lines: Vec<String> = self.text.lines().map(str::to_owned).collect();
        let mut edits: Vec<(Range<usize>, bool, String)> = Vec::new();
        for case in &self.cases {
            for (block, got) in case.outcomes(engine) {
                edits.push((block.lines.clone(), block.in_table, got));
            }
        }
        edits.sort_by_key(|(range, ..)| range.start);
        // The rows of a table share the blocks in front of it.
        edits.dedup_by_key(|(range, ..)| range.start);
        for (range, in_table, got) in edits.into_iter().rev() {
            if in_table {
                if let Some(line) = lines.get_mut(range.start) {
                    *line = table::with_last_cell(line, &got);
                }
                continue;
            }
            let new: Vec<String> = got.strip_suffix('\n').unwrap_or(&got).split('\n').map(str::to_owned).collect();
            lines.splice(range, if got.is_empty() { Vec::new() } else { new });
        }
        lines.join("\n") + "\n"
    }
}

fn key(block: &Fenced) -> String {
    block.word("doc").unwrap_or(if block.kind() == "config" { "(config)" } else { "doc" }).to_owned()
}

/// The sections of level 2 and 3 with their blocks and tables.
fn sections(text: &str) -> Vec<(usize, Section)> {
    let mut found: Vec<(usize, Section)> = Vec::new();
    let mut open: Option<(String, String, usize)> = None;
    let all: Vec<&str> = text.lines().collect();
    for (number, line) in all.iter().enumerate() {
        if let Some((fence, info, start)) = &open {
            if line.trim_end() == fence {
                let mut content = all.get(*start..number).unwrap_or_default().join("\n");
                if number > *start {
                    content.push('\n');
                }
                let block = Fenced { info: info.clone(), text: content, lines: *start..number, in_table: false };
                if let Some((_, section)) = found.last_mut() {
                    if matches!(block.kind(), "md" | "config") { &mut section.documents } else { &mut section.blocks }
                        .push(block);
                }
                open = None;
            }
        } else if line.starts_with("```") {
            let length = line.bytes().take_while(|byte| *byte == b'`').count();
            open = Some(("`".repeat(length), line.get(length..).unwrap_or_default().trim().to_owned(), number + 1));
        } else if let Some(name) = line.strip_prefix("## ") {
            found.push((2, Section { name: name.to_owned(), ..Section::default() }));
        } else if let Some(name) = line.strip_prefix("### ") {
            found.push((3, Section { name: name.to_owned(), ..Section::default() }));
        } else if line.starts_with('|')
            && let Some((_, section)) = found.last_mut()
        {
            section.table.get_or_insert_with(table::Table::default).line(number, line);
        }
    }
    found
}

impl Section {
    fn cases(&self, cases: &mut Vec<Case>) {
        if !self.blocks.iter().any(|block| block.kind() == "op") {
            return;
        }
        let Some(table) = &self.table else {
            cases.extend(self.case(self.name.clone(), &|text, _| text.to_owned(), None));
            return;
        };
        for row in &table.rows {
            let name = format!("{} › {}", self.name, row.name());
            let outcome =
                Fenced { info: "becomes".into(), text: row.outcome().to_owned(), lines: row.line..row.line, in_table: true };
            cases.extend(self.case(name, &|text, quoted| table.filled(text, row, quoted), Some(outcome)));
        }
    }

    fn case(&self, name: String, filled: &dyn Fn(&str, bool) -> String, outcome: Option<Fenced>) -> Option<Case> {
        let mut workspace = Workspace { documents: BTreeMap::new(), dialect: "generic".into(), config: String::new() };
        for block in &self.documents {
            let text = if block.has("escaped") { unescaped(&block.text) } else { block.text.clone() };
            let mut text = filled(&text, false);
            if let Some(times) = block.word("repeat").and_then(|number| number.parse().ok()) {
                text = text.trim_end_matches('\n').repeat(times) + "\n";
            }
            if block.kind() == "config" {
                workspace.config = text;
                continue;
            }
            if let Some(dialect) = block.word("dialect") {
                workspace.dialect = filled(dialect, false);
            }
            workspace.documents.insert(key(block), text);
        }
        let mut steps: Vec<Step> = Vec::new();
        for block in &self.blocks {
            if block.kind() == "op" {
                let operation = filled(&block.text, true);
                let read = block.word("read").and_then(|number| number.parse().ok());
                steps.push(Step { operation, agent: block.has("agent"), read, expected: Vec::new() });
            } else if let Some(step) = steps.last_mut() {
                step.expected.push(block.clone());
            }
        }
        if let (Some(outcome), Some(step)) = (outcome, steps.last_mut()) {
            step.expected.push(outcome);
        }
        Some(Case { heading: self.name.clone(), name, workspace, steps })
    }
}
