//! The rules of the house that no compiler checks. Each failure names the file and what to do.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Problems, relative, workspace};

/// The crates in the order of `ARCHITECTURE.md`: each may use only those before it.
const ORDER: [&str; 10] = [
    "deckle-doc",
    "deckle-edit",
    "deckle-corpus",
    "deckle-store",
    "deckle-wire",
    "deckle-agent",
    "deckle-mcp",
    "deckle-server",
    "deckle",
    // Only ever a dev-dependency, so it may use all the others.
    "deckle-testkit",
];

/// Crates that are handed time, bytes and randomness, and reach for none of them.
const PURE: [&str; 4] = ["deckle-doc", "deckle-edit", "deckle-corpus", "deckle-wire"];

/// What a pure crate may not name, and what to do instead.
const IMPURE: [(&str, &str); 9] = [
    ("std::fs", "take the bytes as an argument"),
    ("std::env::", "take the value as an argument"),
    ("std::net", "leave the network to deckle-server"),
    ("std::process", "leave processes to the binary"),
    ("Instant::now", "take the time as an argument"),
    ("SystemTime::now", "take the time as an argument"),
    ("tokio::", "leave waiting to the drivers"),
    ("async fn", "leave waiting to the drivers"),
    ("thread_rng", "take a seed as an argument"),
];

/// A Rust file longer than this is two rooms in one.
const MAX_LINES: usize = 1_100;
/// `ARCHITECTURE.md` stays short enough to be read.
const MAX_ARCHITECTURE_LINES: usize = 300;
/// A tracked file is not a store.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// Runs every check.
pub fn run(root: &Path) -> Result<String, Problems> {
    let files = workspace::files(root).map_err(Problems::one)?;
    let mut problems = Vec::new();
    crate_order(root, &mut problems)?;
    let mut checked = 0_usize;
    for file in &files {
        let path = root.join(file);
        if fs::metadata(&path).is_ok_and(|meta| meta.len() > MAX_FILE_BYTES) {
            problems.push(format!("{}: over 1 MiB; keep data out of the repository", file.display()));
        }
        let Ok(text) = fs::read_to_string(&path) else { continue };
        checked += 1;
        traces(file, &text, &mut problems);
        match file.extension().and_then(|e| e.to_str()) {
            Some("rs") => rust_file(file, &text, &mut problems),
            Some("md") if !is_specification(file) => links(root, file, &text, &mut problems),
            _ => {}
        }
    }
    architecture(root, &mut problems);
    Problems::or(problems, format!("tidy: {checked} files, 0 problems"))
}

/// Specification cases and sample documents hold links on purpose that lead nowhere.
fn is_specification(file: &Path) -> bool {
    file.starts_with("spec") || file.components().any(|part| part.as_os_str() == "sample" || part.as_os_str() == "fixtures")
}

fn crate_order(root: &Path, problems: &mut Vec<String>) -> Result<(), Problems> {
    let metadata = workspace::metadata(root, false).map_err(Problems::one)?;
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let name = package["name"].as_str().unwrap_or_default();
        let Some(place) = ORDER.iter().position(|one| *one == name) else { continue };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let other = dependency["name"].as_str().unwrap_or_default();
            let Some(other_place) = ORDER.iter().position(|one| *one == other) else { continue };
            let only_for_tests = dependency["kind"].as_str() == Some("dev");
            if other_place >= place && !only_for_tests {
                problems.push(format!("crates/{name}/Cargo.toml: uses {other}, which stands after it; move the shared part up"));
            }
        }
    }
    Ok(())
}

fn rust_file(file: &Path, text: &str, problems: &mut Vec<String>) {
    let lines = text.lines().count();
    if lines > MAX_LINES {
        problems.push(format!("{}: {lines} lines; split it (limit {MAX_LINES})", file.display()));
    }
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    if !first.starts_with("//!") && !first.starts_with("#![") {
        problems.push(format!("{}: begin with a `//!` line that says what the module is for", file.display()));
    }
    let code = code_lines(text);
    let xtask = file.starts_with("xtask");
    for (number, line) in &code {
        for (word, instead) in [
            ("#[ignore", "assert what it does today and say why"),
            ("#[should_panic", "return an error and assert it"),
            ("todo!(", "finish it"),
            ("unimplemented!(", "finish it"),
            ("FIXME", "fix it"),
            ("dbg!(", "remove it"),
        ] {
            if line.contains(word) && !xtask {
                problems.push(format!("{}:{number}: `{word}`: {instead}", file.display()));
            }
        }
    }
    if let Some(name) = pure_crate(file) {
        for (number, line) in code.iter().take_while(|(_, line)| !line.starts_with("#[cfg(test)]")) {
            for (word, instead) in IMPURE {
                if line.contains(word) {
                    problems.push(format!("{}:{number}: `{word}` in the pure crate {name}: {instead}", file.display()));
                }
            }
        }
    }
}

/// The lines that are not comments, numbered from 1.
fn code_lines(text: &str) -> Vec<(usize, &str)> {
    text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")).map(|(at, line)| (at + 1, line)).collect()
}

/// The pure crate whose `src` holds the file; a crate's tests and benches may touch the disk.
fn pure_crate(file: &Path) -> Option<&'static str> {
    let is_test = file.file_name().is_some_and(|name| name == "tests.rs");
    PURE.into_iter().find(|name| !is_test && file.starts_with(PathBuf::from("crates").join(name).join("src")))
}

/// Traces of a machine or of a package registry. Spelled in halves so that this file does not find itself.
fn traces(file: &Path, text: &str, problems: &mut Vec<String>) {
    let words = [
        concat!("/ro", "ot/"),
        concat!("/wo", "rk/"),
        concat!("registry.npm", "js.org"),
        concat!("py", "pi.org"),
        concat!("static.cra", "tes.io"),
        concat!("deb.deb", "ian.org"),
    ];
    for (number, line) in text.lines().enumerate() {
        for word in words {
            if line.contains(word) {
                problems.push(format!("{}:{}: `{word}` belongs to a machine, not to the project", file.display(), number + 1));
            }
        }
    }
}

/// Every relative link of our own prose leads to a file.
fn links(root: &Path, file: &Path, text: &str, problems: &mut Vec<String>) {
    let mut fenced = false;
    for (number, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        let mut rest = line;
        while let Some(at) = rest.find("](") {
            rest = &rest[at + 2..];
            let Some(end) = rest.find(')') else { break };
            let target = &rest[..end];
            rest = &rest[end..];
            let path = target.split(['#', ' ']).next().unwrap_or_default();
            if path.is_empty()
                || path.contains("://")
                || path.starts_with("mailto:")
                || path.starts_with('<')
                || inside_code(line, at)
            {
                continue;
            }
            let base = file.parent().map(|parent| root.join(parent)).unwrap_or_else(|| root.to_path_buf());
            if !base.join(path).exists() {
                problems.push(format!(
                    "{}:{}: link to `{path}`, which is not there",
                    relative(root, &root.join(file)),
                    number + 1
                ));
            }
        }
    }
}

/// Whether the byte stands in a code span (an odd number of backticks before it).
fn inside_code(line: &str, at: usize) -> bool {
    line.as_bytes().iter().take(at).filter(|byte| **byte == b'`').count() % 2 == 1
}

fn architecture(root: &Path, problems: &mut Vec<String>) {
    match fs::read_to_string(root.join("ARCHITECTURE.md")) {
        Ok(text) if text.lines().count() > MAX_ARCHITECTURE_LINES => {
            problems.push(format!("ARCHITECTURE.md: over {MAX_ARCHITECTURE_LINES} lines; shorten it"));
        }
        Ok(_) => {}
        Err(_) => problems.push("ARCHITECTURE.md is missing".into()),
    }
}
