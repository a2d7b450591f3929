//! The catalogue of error codes: its page is current, and every code is shown by a case of the specification.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use deckle_edit::catalogue::{self, CODES};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

#[test]
fn the_page_of_errors_is_current() {
    let path = root().join("docs/errors.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, catalogue::page()).unwrap();
    }
    let there = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(there, catalogue::page(), "run `UPDATE_DOCS=1 cargo test -p deckle-edit --test errors`");
}

/// The codes that the cases are refused with: `error[code]` in blocks, `✗ code:` in tables.
fn shown() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(root().join("spec")).unwrap() {
        let path = entry.unwrap().path();
        // Conflicts of merges are the store's.
        if path.ends_with("README.md") || path.ends_with("merge.md") {
            continue;
        }
        for line in fs::read_to_string(&path).unwrap().lines() {
            let block = line.strip_prefix("error[").and_then(|rest| rest.split_once(']'));
            let row = line.rsplit_once("| ✗ ").and_then(|(_, rest)| rest.split_once(": "));
            found.extend(block.or(row).map(|(code, _)| code.to_owned()));
        }
    }
    found
}

#[test]
fn every_code_has_a_case_and_every_case_a_code() {
    let shown = shown();
    let known: BTreeSet<String> = CODES.iter().map(|code| code.code.to_owned()).collect();
    assert_eq!(known.len(), CODES.len(), "a code stands twice in the catalogue");
    let bare: Vec<_> = known.difference(&shown).collect();
    assert!(bare.is_empty(), "no case of spec/ shows {bare:?}");
    let unknown: Vec<_> = shown.difference(&known).collect();
    assert!(unknown.is_empty(), "the catalogue does not know {unknown:?}");
}
