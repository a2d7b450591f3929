//! What the workspace depends on: licences, sources, bans, and dependencies that nothing uses.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::{Problems, workspace};

/// Licences that a dependency may have; of an `OR` one is enough, of an `AND` each must be here.
const LICENCES: [&str; 17] = [
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "MIT",
    "MIT-0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MPL-2.0",
    "OpenSSL",
    "Unicode-3.0",
    "Unicode-DFS-2016",
    "Unlicense",
    "Zlib",
    "0BSD",
];

/// Crates that must not come in, with the reason.
const BANNED: [(&str, &str); 4] = [
    ("openssl-sys", "TLS is rustls, so that a build needs no system library"),
    ("serde_yaml", "deprecated; its parser is unmaintained (RUSTSEC-2024-0449)"),
    ("serde_yml", "unsound (RUSTSEC-2025-0068)"),
    ("yrs-axum", "pins an old yrs"),
];

/// Runs every check.
pub fn run(root: &Path) -> Result<String, Problems> {
    let metadata = workspace::metadata(root, true).map_err(Problems::one)?;
    let mut problems = Vec::new();
    let packages = metadata["packages"].as_array().cloned().unwrap_or_default();
    for package in &packages {
        let name = text(package, "name");
        if let Some((_, why)) = BANNED.iter().find(|(banned, _)| *banned == name) {
            problems.push(format!("{name} is banned: {why}"));
        }
        let ours = package["source"].is_null();
        if !ours && !text(package, "source").starts_with("registry+") {
            problems.push(format!("{name} comes from {}, not from a registry", text(package, "source")));
        }
        if !allowed(&text(package, "license")) && !ours {
            problems.push(format!("{name}: licence `{}` is not on the list in xtask/src/deps.rs", text(package, "license")));
        }
        if ours {
            unused(package, &mut problems);
        }
    }
    Problems::or(problems, format!("deps: {} packages, 0 problems", packages.len()))
}

fn text(value: &Value, field: &str) -> String {
    value[field].as_str().unwrap_or_default().to_owned()
}

/// Reads the part of SPDX expressions that registries hold: `A OR B`, `A AND B`, `A/B`, one level of brackets.
fn allowed(expression: &str) -> bool {
    let expression = expression.replace('/', " OR ");
    split_outside(&expression, " AND ").iter().all(|part| {
        let part = part.trim();
        let inner = part.strip_prefix('(').and_then(|p| p.strip_suffix(')'));
        match inner {
            Some(inner) => allowed(inner),
            None => split_outside(part, " OR ").iter().any(|one| {
                let one = one.trim();
                LICENCES.contains(&one) || one.strip_prefix('(').and_then(|p| p.strip_suffix(')')).is_some_and(allowed)
            }),
        }
    })
}

/// Splits at a word that stands outside brackets.
fn split_outside<'t>(text: &'t str, word: &str) -> Vec<&'t str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_i32, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ if depth == 0 && at >= start && text[at..].starts_with(word) => {
                parts.push(&text[start..at]);
                start = at + word.len();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// A dependency that no source file of the crate names costs compile time for nothing.
fn unused(package: &Value, problems: &mut Vec<String>) {
    let manifest = text(package, "manifest_path");
    let Some(folder) = Path::new(&manifest).parent() else { return };
    let source = sources(folder);
    for dependency in package["dependencies"].as_array().into_iter().flatten() {
        let name = dependency["rename"].as_str().or(dependency["name"].as_str()).unwrap_or_default().replace('-', "_");
        let word = |line: &str| {
            line.match_indices(&name).any(|(at, _)| {
                let before = line[..at].chars().next_back();
                let after = line[at + name.len()..].chars().next();
                !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
                    && !after.is_some_and(|c| c.is_alphanumeric() || c == '_')
            })
        };
        if !source.lines().any(word) {
            problems.push(format!(
                "{}: `{}` is not used by any source file; remove it",
                manifest_name(package),
                dependency["name"]
            ));
        }
    }
}

fn manifest_name(package: &Value) -> String {
    format!("crates/{}/Cargo.toml", text(package, "name"))
}

/// All Rust source of a crate in one string.
fn sources(folder: &Path) -> String {
    let mut all = String::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(one) = open.pop() {
        for entry in fs::read_dir(&one).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                all.push_str(&fs::read_to_string(&path).unwrap_or_default());
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::allowed;

    #[test]
    fn licence_expressions_are_read() {
        for good in
            ["MIT", "MIT OR Apache-2.0", "MIT/Apache-2.0", "(MIT OR GPL-3.0) AND Unicode-3.0", "Apache-2.0 OR (MIT AND GPL-2.0)"]
        {
            assert!(allowed(good), "{good}");
        }
        for bad in ["", "GPL-3.0", "MIT AND GPL-3.0", "(GPL-2.0 OR AGPL-3.0) AND MIT"] {
            assert!(!allowed(bad), "{bad}");
        }
    }
}
