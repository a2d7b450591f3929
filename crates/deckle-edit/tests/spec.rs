//! Runs `spec/*.md`: each heading is a case. `UPDATE_SPEC=1` rewrites what comes out; `spec/README.md` says how a case is written.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use deckle_doc::{Diag, Dialect, DocKey};
use deckle_edit::language::Predicate;
use deckle_edit::sections::{self, SectionEdit};
use deckle_edit::{Documents, EditError, Operation, Policy, Sources, plan, read, read_value};
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;

fn main() {
    let arguments = Arguments::from_args();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec");
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "md"))
        .collect();
    files.sort();
    let update = std::env::var_os("UPDATE_SPEC").is_some();
    let mut trials = Vec::new();
    for file in files.iter().filter(|file| !file.ends_with("README.md")) {
        let text = fs::read_to_string(file).unwrap();
        let cases = parse(&text);
        if update {
            fs::write(file, rewritten(&text, &cases)).unwrap();
            continue;
        }
        let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
        for case in cases {
            trials.push(Trial::test(format!("{stem}::{}", case.name), move || check(&case)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}

/// A fenced block of a case.
#[derive(Clone)]
struct Fenced {
    info: String,
    text: String,
    /// Its lines in the file, without the fences.
    lines: std::ops::Range<usize>,
}

struct Case {
    name: String,
    blocks: Vec<Fenced>,
}

fn parse(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut open: Option<(String, String, usize)> = None;
    for (number, line) in text.lines().enumerate() {
        if let Some((fence, info, start)) = &open {
            if line.trim_end() == fence {
                let body: Vec<&str> = text.lines().skip(*start).take(number - start).collect();
                let mut content = body.join("\n");
                if !content.is_empty() {
                    content.push('\n');
                }
                if let Some(case) = cases.last_mut() {
                    case.blocks.push(Fenced { info: info.clone(), text: content, lines: *start..number });
                }
                open = None;
            }
        } else if line.starts_with("```") {
            let length = line.bytes().take_while(|byte| *byte == b'`').count();
            open = Some(("`".repeat(length), line[length..].trim().to_owned(), number + 1));
        } else if let Some(name) = line.strip_prefix("## ") {
            cases.push(Case { name: name.to_owned(), blocks: Vec::new() });
        }
    }
    cases.retain(|case| case.blocks.iter().any(|block| block.info.split(' ').next() == Some("op")));
    cases
}

/// `\r`, `\t`, `\u{feff}` and a final `\c` (no line end) are written as escapes, where the block says so.
fn unescaped(block: &Fenced) -> String {
    if !block.info.split(' ').any(|word| word == "escaped") {
        return block.text.clone();
    }
    let text = block.text.replace("\\r", "\r").replace("\\t", "\t").replace("\\u{feff}", "\u{feff}").replace("\\s", " ");
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

fn word<'b>(block: &'b Fenced, name: &str) -> Option<&'b str> {
    block.info.split(' ').find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
}

fn kind(block: &Fenced) -> &str {
    block.info.split(' ').next().unwrap_or_default()
}

/// Runs a case and returns what each result block should hold.
fn outcomes(case: &Case) -> Vec<(usize, String)> {
    let mut sources = Sources::new();
    let mut dialect = Dialect::Generic;
    for block in case.blocks.iter().filter(|block| kind(block) == "md") {
        if let Some(name) = word(block, "dialect") {
            dialect = Dialect::named(name).unwrap();
        }
    }
    for block in case.blocks.iter().filter(|block| kind(block) == "md") {
        sources.insert(DocKey::parse(word(block, "doc").unwrap_or("doc")).unwrap(), &unescaped(block), dialect);
    }
    let op = case.blocks.iter().find(|block| kind(block) == "op").unwrap();
    let outcome = run(&sources, op, dialect);
    let mut wanted = Vec::new();
    for (number, block) in case.blocks.iter().enumerate() {
        let text = match (kind(block), &outcome) {
            ("md" | "op", _) => continue,
            ("result", Outcome::Changed(texts, _)) => {
                let key = word(block, "doc").unwrap_or("doc");
                let text = texts.get(key).cloned().unwrap_or_else(|| "(no document)\n".into());
                if block.info.split(' ').any(|word| word == "escaped") { escaped(&text) } else { text }
            }
            ("receipt", Outcome::Changed(_, receipt)) => format!("{receipt}\n"),
            ("out", Outcome::Read(text)) => text.clone(),
            ("error", Outcome::Refused(diag)) => format!("{diag}\n"),
            (_, Outcome::Refused(diag)) => format!("(refused)\n{diag}\n"),
            (_, Outcome::Changed(texts, _)) => format!("(changed)\n{}", texts.values().cloned().collect::<String>()),
            (_, Outcome::Read(text)) => format!("(read)\n{text}"),
        };
        wanted.push((number, text));
    }
    wanted
}

enum Outcome {
    Changed(BTreeMap<String, String>, String),
    Read(String),
    Refused(Diag),
}

fn run(sources: &Sources, op: &Fenced, dialect: Dialect) -> Outcome {
    let policy =
        if op.info.split(' ').any(|word| word == "agent") { Policy::agent() } else { Policy::person() }.in_dialect(dialect);
    let value = match read_value(&op.text) {
        Ok(value) => value,
        Err(error) => return Outcome::Refused(Diag::from(&error)),
    };
    let operation = match operation(sources, &value) {
        Ok(Ok(operation)) => operation,
        Ok(Err(text)) => return Outcome::Read(text),
        Err(error) => return Outcome::Refused(Diag::from(&error)),
    };
    match &operation {
        Operation::Find(find) => {
            let mut out = String::new();
            for entry in read::find(sources, find) {
                let _ = writeln!(out, "{}", serde_json::to_string(&entry).unwrap());
            }
            Outcome::Read(out)
        }
        Operation::Count(find) => Outcome::Read(format!("{}\n", find.filter.select(sources).len())),
        Operation::Change(_) => match plan(sources, &operation, &policy) {
            Ok(plan) => {
                let mut texts: BTreeMap<String, String> =
                    sources.iter().map(|(key, tree)| (key.to_string(), tree.source().to_owned())).collect();
                for change in plan.changes() {
                    if let Some(before) = &change.before {
                        texts.remove(before.as_str());
                    }
                    if let (Some(after), Some((tree, _))) = (&change.after, &change.new) {
                        texts.insert(after.to_string(), tree.source().to_owned());
                    }
                }
                Outcome::Changed(texts, plan.receipt().summary())
            }
            Err(error) => Outcome::Refused(Diag::from(&error)),
        },
    }
}

/// Reads the operation of a case: an operation document, `section: …`, `outline: KEY` or `lens: …`.
fn operation(sources: &Sources, value: &Value) -> Result<Result<Operation, String>, EditError> {
    let key = |name: &str| DocKey::parse(value[name].as_str().unwrap_or("doc")).unwrap();
    if value.get("outline").is_some() {
        let key = key("outline");
        let tree = sources.tree(&key).unwrap();
        return Ok(Err(read::outline(&tree, &sources.ids(&key, &tree))));
    }
    if value.get("lens").is_some() {
        let key = key("lens");
        let tree = sources.tree(&key).unwrap();
        let scope = value.get("scope").map(Predicate::parse).transpose()?.unwrap_or_default();
        let budget = value["budget"].as_u64().map_or(usize::MAX, |budget| budget as usize);
        return Ok(Err(read::lens(&key, &tree, &sources.ids(&key, &tree), &scope, budget)));
    }
    if let Some(section) = value.get("section").and_then(Value::as_str) {
        let key = key("key");
        let tree = sources.tree(&key).unwrap();
        let content = || value["content"].as_str().unwrap_or_default().to_owned();
        let edit = match value["do"].as_str().unwrap_or_default() {
            "update" => SectionEdit::Update { content: content() },
            "insert" => SectionEdit::Insert { content: content() },
            "append" => SectionEdit::Append { content: content() },
            "delete" => SectionEdit::Delete,
            _ => SectionEdit::Move {
                to: value["to"].as_str().unwrap_or_default().to_owned(),
                before: value["before"].as_bool().unwrap_or(false),
            },
        };
        return sections::operation(&key, &tree, &sources.ids(&key, &tree), section, &edit).map(Ok);
    }
    Operation::parse(value).map(Ok)
}

fn check(case: &Case) -> Result<(), Failed> {
    for (number, wanted) in outcomes(case) {
        let block = &case.blocks[number];
        if block.text != wanted {
            return Err(format!("`{}` differs\n── expected ──\n{}── got ──\n{wanted}", block.info, block.text).into());
        }
    }
    if case.blocks.iter().all(|block| matches!(kind(block), "md" | "op")) {
        return Err("the case expects nothing; add a result, error, receipt or out block".into());
    }
    Ok(())
}

fn rewritten(text: &str, cases: &[Case]) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut edits: Vec<(std::ops::Range<usize>, String)> = Vec::new();
    for case in cases {
        for (number, wanted) in outcomes(case) {
            edits.push((case.blocks[number].lines.clone(), wanted));
        }
    }
    edits.sort_by_key(|(range, _)| range.start);
    for (range, wanted) in edits.into_iter().rev() {
        let new: Vec<String> = wanted.trim_end_matches('\n').split('\n').map(str::to_owned).collect();
        lines.splice(range, if wanted.is_empty() { Vec::new() } else { new });
    }
    let mut out = lines.join("\n");
    out.push('\n');
    out
}
