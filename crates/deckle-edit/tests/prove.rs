//! Random operations on the documents of the specification: nothing that an operation does not name may change.
#![allow(clippy::unwrap_used)]

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

#[test]
fn random_edits_change_what_they_name_and_nothing_else() {
    let scale: u64 = std::env::var("DECKLE_PROVE_SCALE").ok().and_then(|scale| scale.parse().ok()).unwrap_or(1);
    let report = prove::run(&documents(), 1, 6_000 * scale);
    assert!(report.is_clean(), "{}\n\n{}", report.problems.join("\n\n"), report.line());
    assert!(report.planned * 4 > report.edits, "{}", report.line());
}
