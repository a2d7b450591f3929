//! `prove docs`: identity and tiling, agreement with the reference parser, and edits of front matter, on any folder.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use deckle_doc::jsonl::{self, Options};
use deckle_doc::{Dialect, Tree, prove};
use serde_json::Value;

use crate::Problems;

/// At most one block in so many may differ from the reference parser's.
const AGREEMENT: usize = 2_000;

/// Proves it of the Markdown files below `corpus`, and of `mutations` random changes of them.
pub fn run(corpus: &Path, seed: u64, mutations: u64) -> Result<String, Problems> {
    let mut files = Vec::new();
    collect(corpus, &mut files)?;
    if files.is_empty() {
        return Err(Problems::one(format!("no Markdown below {}", corpus.display())));
    }
    let agreement = agree(&files)?;
    let documents: Vec<(String, String)> = files.into_iter().map(|(path, text)| (path.display().to_string(), text)).collect();
    let report = prove::run(&documents, seed, mutations);
    let line = format!("{agreement}\nseed {seed}; {}", report.line());
    if report.failed == 0 {
        Ok(line)
    } else {
        let mut problems = report.problems;
        problems.push(line);
        Err(Problems(problems))
    }
}

/// Compares blocks with the reference parser's; says so when that is not installed.
fn agree(files: &[(PathBuf, String)]) -> Result<String, Problems> {
    let script = cache().join("oracle/blocks.mjs");
    if !script.is_file() {
        return Ok("the reference parser is not installed (`make setup-oracle`): blocks were not compared".to_owned());
    }
    let failed = |error: std::io::Error| Problems::one(format!("{}: {error}", script.display()));
    let mut child = Command::new("node")
        .arg(&script)
        .arg("--directives")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let list: String = files.iter().map(|(path, _)| format!("{}\n", path.display())).collect();
    let stdin = child.stdin.take();
    let writer = std::thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(list.as_bytes())));
    let output = child.wait_with_output().map_err(failed)?;
    let _ = writer.join();
    let (mut total, mut different, mut shown) = (0, 0, Vec::new());
    for ((path, text), line) in files.iter().zip(String::from_utf8_lossy(&output.stdout).lines()) {
        let Ok(tree) = Tree::parse(text.as_str(), Dialect::Generic) else { continue };
        let ours = jsonl::line("", &tree, &Options::default());
        let read = |line: &str| serde_json::from_str::<Value>(line).unwrap_or(Value::Null);
        let found = prove::agreement(text, &read(&ours), &read(line));
        total += found.total;
        different += found.different;
        shown.extend(found.first.map(|first| format!("{}: {first}", path.display())));
    }
    let share = 100.0 * (total - different.min(total)) as f64 / total.max(1) as f64;
    let line = format!("agreement: {} of {total} blocks ({share:.3} %)", total - different.min(total));
    if total == 0 || different * AGREEMENT > total {
        shown.push(line);
        return Err(Problems(shown));
    }
    Ok(line)
}

fn cache() -> PathBuf {
    if let Some(cache) = std::env::var_os("DECKLE_CACHE") {
        return cache.into();
    }
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    base.or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"))).unwrap_or_default().join("deckle")
}

fn collect(folder: &Path, files: &mut Vec<(PathBuf, String)>) -> Result<(), Problems> {
    let failed = |error: std::io::Error| Problems::one(format!("{}: {error}", folder.display()));
    let folder = folder.canonicalize().map_err(failed)?;
    let mut paths: Vec<PathBuf> = fs::read_dir(&folder).map_err(failed)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|ending| ["md", "mdx", "markdown"].iter().any(|one| ending == *one))
            && let Ok(text) = fs::read_to_string(&path)
        {
            files.push((path, text));
        }
    }
    Ok(())
}
