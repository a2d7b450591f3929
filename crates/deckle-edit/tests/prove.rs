//! Random operations on the documents of the specification: nothing that an operation does not name may change.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use deckle_doc::{Dialect, DocKey, Tree};
use deckle_edit::prove;

/// The documents that the specification's cases use.
fn documents() -> Vec<(DocKey, Tree)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut found = Vec::new();
    for file in files.iter().filter(|file| file.extension().is_some_and(|end| end == "md")) {
        let text = std::fs::read_to_string(file).unwrap();
        let tree = Tree::parse(text, Dialect::Generic).unwrap();
        for block in tree.blocks() {
            let deckle_doc::Kind::Code { info, .. } = block.kind() else { continue };
            if info.of(tree.source()).split(' ').next() == Some("md") {
                let text = tree.source().get(block.inner()).unwrap();
                found.push((DocKey::parse("doc").unwrap(), Tree::parse(text, Dialect::Generic).unwrap()));
            }
        }
    }
    found
}

/// Real documents beside the checkout; one as large as a hundred ordinary ones is left out.
fn corpora() -> Vec<(DocKey, Tree)> {
    let base = std::env::var_os("DECKLE_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let mut open = vec![base.join("corpora")];
    assert!(open[0].is_dir(), "{} is not there; the tests read real documents from `shared` (DECKLE_SHARED)", open[0].display());
    let mut paths = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { &mut open } else { &mut paths }.push(path);
        }
    }
    paths.sort();
    let readable = paths.iter().filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    readable
        .filter_map(|path| std::fs::read_to_string(path).ok().filter(|text| text.len() < MAX_BYTES))
        .filter_map(|text| Some((DocKey::parse("doc").ok()?, Tree::parse(text, Dialect::Generic).ok()?)))
        .collect()
}

const MAX_BYTES: usize = 100_000;
/// Edits on real documents, over all the shards.
const EDITS: u64 = 50_000;
/// As many tests, so that they run side by side.
const SHARDS: u64 = 4;

/// `DECKLE_PROVE_SCALE` multiplies what is tried.
fn scale() -> u64 {
    std::env::var("DECKLE_PROVE_SCALE").ok().and_then(|scale| scale.parse().ok()).unwrap_or(1)
}

#[track_caller]
fn check(documents: &[(DocKey, Tree)], seed: u64, edits: u64) {
    let report = prove::run(documents, seed, edits);
    assert!(report.is_clean(), "{}\n\n{}", report.problems.join("\n\n"), report.line());
    assert!(report.planned * 4 > report.edits, "{}", report.line());
}

#[test]
fn random_edits_change_what_they_name_and_nothing_else() {
    check(&documents(), 1, 6_000 * scale());
}

#[test]
fn on_real_documents_first_shard() {
    check(&corpora(), 101, EDITS / SHARDS * scale());
}

#[test]
fn on_real_documents_second_shard() {
    check(&corpora(), 102, EDITS / SHARDS * scale());
}

#[test]
fn on_real_documents_third_shard() {
    check(&corpora(), 103, EDITS / SHARDS * scale());
}

#[test]
fn on_real_documents_fourth_shard() {
    check(&corpora(), 104, EDITS / SHARDS * scale());
}
