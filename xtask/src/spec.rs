//! The executable specification against any implementation: a command that reads one operation a line and writes one answer a line.
//!
//! A request is a JSON object: `begin` (whether a case begins), `documents` (texts by key), `dialect`, `config` (the text of `deckle.toml`),
//! `operation` (YAML text), `agent` (whether it is an agent's surface), `read` (the revision that the caller last read, or null). An answer is one
//! of `{"changed": {key: text}}`, `{"read": text}` and `{"refused": {"code": …, "text": …}}`.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use deckle_testkit::spec::run::Reference;
use deckle_testkit::spec::{Case, Engine, Fenced, File, Outcome, Step, Workspace};
use serde_json::{Value, json};

use crate::Problems;

/// Files whose operations another crate adds.
const ELSEWHERE: [&str; 2] = ["README", "merge"];
/// At most so many differences are told.
const SHOWN: usize = 20;

/// Runs every case on a command.
pub fn against(root: &Path, command: &str) -> Result<String, Problems> {
    let engine = Remote::start(command)?;
    let (mut cases, mut codes, mut problems) = (0_usize, 0_usize, Vec::new());
    for (stem, file) in files(root)? {
        for case in &file.cases {
            cases += 1;
            let found = compare(case, &engine);
            codes += usize::from(found.other_code);
            if let Some(difference) = found.difference {
                problems.push(format!("{stem}::{}\n{difference}", case.name));
            }
            if let Some(error) = engine.error.borrow_mut().take() {
                return Err(Problems::one(format!("{stem}::{}: {error}", case.name)));
            }
        }
    }
    let wrong = problems.len();
    problems.truncate(SHOWN);
    if wrong > 0 {
        problems.push(format!("{wrong} of {cases} cases come out otherwise"));
    }
    Problems::or(problems, format!("spec: {cases} cases, {} the same, {codes} refused with another code", cases - wrong))
}

/// Answers as the reference implementation, a line for a line.
pub fn answer() -> Result<String, Problems> {
    let engine = Reference::default();
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|error| Problems::one(error.to_string()))?;
        let request: Value = serde_json::from_str(&line).map_err(|error| Problems::one(error.to_string()))?;
        let text = |name: &str| request[name].as_str().unwrap_or_default().to_owned();
        let documents = request["documents"].as_object().into_iter().flatten();
        let workspace = Workspace {
            documents: documents.map(|(key, text)| (key.clone(), text.as_str().unwrap_or_default().to_owned())).collect(),
            dialect: text("dialect"),
            config: text("config"),
        };
        let step = Step {
            operation: text("operation"),
            agent: request["agent"].as_bool().unwrap_or(false),
            read: request["read"].as_u64().and_then(|read| usize::try_from(read).ok()),
            expected: Vec::new(),
        };
        if request["begin"].as_bool().unwrap_or(false) {
            engine.begin();
        }
        let answer = match engine.run(&workspace, &step) {
            Outcome::Changed(documents, _) => json!({ "changed": documents }),
            Outcome::Read(text) => json!({ "read": text }),
            Outcome::Refused(code, text) => json!({ "refused": { "code": code, "text": text } }),
        };
        writeln!(out, "{answer}").and_then(|()| out.flush()).map_err(|error| Problems::one(error.to_string()))?;
    }
    Ok(String::new())
}

fn files(root: &Path) -> Result<Vec<(String, File)>, Problems> {
    let folder = root.join("spec");
    let bad = |error: std::io::Error| Problems::one(format!("{}: {error}", folder.display()));
    let mut found = Vec::new();
    for entry in fs::read_dir(&folder).map_err(bad)? {
        let path = entry.map_err(bad)?.path();
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        if path.extension().is_some_and(|ending| ending == "md") && !ELSEWHERE.contains(&stem.as_str()) {
            found.push((stem, File::parse(&fs::read_to_string(&path).map_err(bad)?)));
        }
    }
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(found)
}

/// How a case comes out on another implementation.
#[derive(Default)]
struct Found {
    /// The first difference in what must be the same: documents, what is printed, whether it is refused.
    difference: Option<String>,
    /// Whether a refusal has another code.
    other_code: bool,
}

/// Receipts and the words of refusals are each implementation's own.
fn compare(case: &Case, engine: &dyn Engine) -> Found {
    let mut found = Found::default();
    for (block, got) in case.outcomes(engine) {
        let refusal = |text: &str| text.starts_with("error[") || text.starts_with("✗ ");
        let code =
            |text: &str| text.trim_start_matches("error[").trim_start_matches("✗ ").split([']', ':']).next().map(str::to_owned);
        if block.kind() == "receipt" || (refusal(&block.text) && refusal(&got)) {
            found.other_code |= refusal(&got) && code(&block.text) != code(&got);
        } else if block.text != got {
            found.difference.get_or_insert_with(|| told(block, &got));
        }
    }
    found
}

fn told(block: &Fenced, got: &str) -> String {
    format!("  `{}` is\n{}\n  and came out as\n{got}", block.kind(), block.text)
}

/// A command that answers.
struct Remote {
    child: RefCell<Child>,
    input: RefCell<ChildStdin>,
    output: RefCell<BufReader<ChildStdout>>,
    begins: Cell<bool>,
    error: RefCell<Option<String>>,
}

impl Remote {
    fn start(command: &str) -> Result<Self, Problems> {
        let bad = |what: &str| Problems::one(format!("`{command}`: {what}"));
        let mut child = Command::new("sh")
            .args(["-c", command])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| bad(&error.to_string()))?;
        let input = child.stdin.take().ok_or_else(|| bad("it has no standard input"))?;
        let output = child.stdout.take().ok_or_else(|| bad("it has no standard output"))?;
        Ok(Self {
            child: RefCell::new(child),
            input: RefCell::new(input),
            output: RefCell::new(BufReader::new(output)),
            begins: Cell::new(true),
            error: RefCell::new(None),
        })
    }

    fn ask(&self, request: &Value) -> Result<Outcome, String> {
        let mut input = self.input.borrow_mut();
        writeln!(input, "{request}")
            .and_then(|()| input.flush())
            .map_err(|error| format!("it takes no more requests: {error}"))?;
        let mut line = String::new();
        self.output.borrow_mut().read_line(&mut line).map_err(|error| error.to_string())?;
        let answer: Value = serde_json::from_str(&line).map_err(|error| format!("`{}` is no answer: {error}", line.trim()))?;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        if let Some(documents) = answer.get("changed").and_then(Value::as_object) {
            let documents: BTreeMap<String, String> =
                documents.iter().filter_map(|(key, value)| Some((key.clone(), text(value)?))).collect();
            return Ok(Outcome::Changed(documents, String::new()));
        }
        if let Some(read) = answer.get("read").and_then(text) {
            return Ok(Outcome::Read(read));
        }
        let refused = answer.get("refused").ok_or_else(|| format!("`{answer}` is none of changed, read and refused"))?;
        let code = refused.get("code").and_then(text).unwrap_or_default();
        let words = refused.get("text").and_then(text).unwrap_or_default();
        let words = if words.starts_with("error[") { words } else { format!("error[{code}]: {words}") };
        Ok(Outcome::Refused(code, words))
    }
}

impl Engine for Remote {
    fn begin(&self) {
        self.begins.set(true);
    }

    fn run(&self, workspace: &Workspace, step: &Step) -> Outcome {
        let request = json!({
            "begin": self.begins.replace(false),
            "documents": workspace.documents,
            "dialect": workspace.dialect,
            "config": workspace.config,
            "operation": step.operation,
            "agent": step.agent,
            "read": step.read,
        });
        self.ask(&request).unwrap_or_else(|error| {
            *self.error.borrow_mut() = Some(error.clone());
            Outcome::Read(error)
        })
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        // It ends with its input; one that does not is ended.
        let mut child = self.child.borrow_mut();
        let _ = child.kill();
        let _ = child.wait();
    }
}
