//! Any key of any real document's front matter can be set and unset, and nothing else changes.

use deckle_doc::prove::front_matter;
use deckle_doc::{Dialect, Tree};

use crate::common::corpora;

#[test]
fn every_key_of_every_document() {
    let mut edits = 0;
    for (path, text) in corpora() {
        for text in [text.replace('\n', "\r\n"), text] {
            let tree = Tree::parse(text, Dialect::Generic).unwrap();
            edits += front_matter(&tree).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()));
        }
    }
    println!("{edits} edits");
    assert!(edits > 5_000, "{edits}");
}

#[test]
fn styles_that_no_corpus_has() {
    let mut edits = 0;
    for text in [
        "---\n'quoted key': 1\n\"other: key\": {a: 1, b: [x, y]}\nplain: |\n  many\n  lines\n\n---\n\nbody\n",
        "---\n# a comment\na: &anchor\n  b: 1 # at the end\nc: *anchor\nd: >-\n  folded\n  text\n---\nbody\n",
        "---\n{a: 1, b: two}\n---\nbody\n",
        "---\na:\n- one\n- two\nb:\n    deep:\n        deeper: x\nc: 2024-01-01\n---\n",
        "---\n---\n\nbody\n",
        "---\r\na: 1\r\nb:\r\n  - x\r\n---\r\nbody\r\n",
        "+++\ntitle = \"T\" # comment\ntags = [\"a\", \"b\"]\n[params]\nx = 1\n+++\nbody\n",
        "---\n#\n-:\n---\n\nbody\n",
        "---\n!:):\n     a:\n---\n\nbody\n",
        "no front matter\n",
        "",
    ] {
        let tree = Tree::parse(text, Dialect::Generic).unwrap();
        edits += front_matter(&tree).unwrap_or_else(|problem| panic!("{text:?}: {problem}"));
    }
    assert!(edits > 100, "{edits}");
}
