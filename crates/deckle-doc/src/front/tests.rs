//! One change of one key, in each style that YAML has.

use serde_json::json;

use super::*;
use crate::{Dialect, apply};

#[track_caller]
fn check(before: &str, change: impl Fn(&Tree) -> Result<Splice, FrontError>, after: &str) {
    let document = |front: &str| format!("---\n{front}---\n\n# Title\n");
    let tree = Tree::parse(document(before), Dialect::Generic).unwrap();
    let splice = change(&tree).unwrap();
    assert_eq!(apply(tree.source(), &[splice]), document(after));
}

fn set_to(path: &'static str, value: Value) -> impl Fn(&Tree) -> Result<Splice, FrontError> {
    move |tree| set(tree, path, &value)
}

#[test]
fn a_value_is_replaced_in_its_own_style() {
    check("title: Old # why\nb: 1\n", set_to("title", json!("New")), "title: New # why\nb: 1\n");
    check("title: \"Old\"\n", set_to("title", json!("New")), "title: \"New\"\n");
    check("title: 'Old'\n", set_to("title", json!("it's")), "title: 'it''s'\n");
    check("a:   1   # x\n", set_to("a", json!(2)), "a:   2   # x\n");
    check("a: x\n", set_to("a", json!("yes")), "a: \"yes\"\n");
    check("a: x\n", set_to("a", json!("a: b")), "a: \"a: b\"\n");
    check("date: 2026-01-02\nb: c\n", set_to("date", json!("2026-03-04")), "date: 2026-03-04\nb: c\n");
    check("tags: [a, b]\n", set_to("tags", json!(["c"])), "tags: [c]\n");
    check("tags:\n  - a\n  - b\nz: 1\n", set_to("tags", json!(["c"])), "tags:\n  - c\nz: 1\n");
    check("text: |\n  one\n  two\nz: 1\n", set_to("text", json!("short")), "text: short\nz: 1\n");
    check("a:\nb: 1\n", set_to("a", json!("x")), "a: x\nb: 1\n");
    check("\"quoted key\": 1\n", set_to("quoted key", json!(2)), "\"quoted key\": 2\n");
}

#[test]
fn a_key_is_added_at_the_end_of_its_mapping() {
    check("a: 1\n", set_to("b", json!("x")), "a: 1\nb: x\n");
    check("a: 1 # last\n", set_to("b", json!(["x", "z"])), "a: 1 # last\nb:\n- x\n- z\n");
    check("a:\n  b: 1\nc: 2\n", set_to("a.d", json!(3)), "a:\n  b: 1\n  d: 3\nc: 2\n");
    check("a: { b: 1 }\n", set_to("a.d", json!(3)), "a: { b: 1, d: 3 }\n");
    check("a: 1\n", set_to("x.w", json!(true)), "a: 1\nx:\n  w: true\n");
    check("# only a comment\n", set_to("a", json!(1)), "# only a comment\na: 1\n");
}

#[test]
fn a_key_is_removed_with_its_lines() {
    let gone = |path: &'static str| move |tree: &Tree| unset(tree, path).map(|splice| splice.unwrap());
    check("a: 1\nb: 2\nc: 3\n", gone("b"), "a: 1\nc: 3\n");
    check("a: 1\nb:\n  - x\n  - y\nc: 3\n", gone("b"), "a: 1\nc: 3\n");
    check("a: { b: 1, c: 2 }\n", gone("a.b"), "a: { c: 2 }\n");
    check("a: { b: 1, c: 2 }\n", gone("a.c"), "a: { b: 1 }\n");
    check("a: |\n  text\nb: 1\n", gone("a"), "b: 1\n");
}

#[test]
fn lists_grow_and_keys_are_renamed() {
    check("tags: [a]\n", |tree| append(tree, "tags", &json!("b")), "tags: [a, b]\n");
    check("tags:\n  - a\nb: 1\n", |tree| append(tree, "tags", &json!("c")), "tags:\n  - a\n  - c\nb: 1\n");
    check("old: 1 # x\nb: 2\n", |tree| rename_key(tree, "old", "new"), "new: 1 # x\nb: 2\n");
}

#[test]
fn a_document_without_front_matter_gets_some() {
    let tree = Tree::parse("a\n\n---\n\nb\n", Dialect::Generic).unwrap();
    let splice = set(&tree, "t", &json!(1)).unwrap();
    assert_eq!(apply(tree.source(), &[splice]), "---\nt: 1\n---\n\na\n\n---\n\nb\n");
}

#[test]
fn toml_keeps_what_it_does_not_change() {
    let tree = Tree::parse("+++\ntitle = \"a\" # c\n\n[x]\ny = 1\n+++\n\nb\n", Dialect::Generic).unwrap();
    let splice = set(&tree, "title", &json!("b")).unwrap();
    assert_eq!(apply(tree.source(), &[splice]), "+++\ntitle = \"b\" # c\n\n[x]\ny = 1\n+++\n\nb\n");
}

#[test]
fn what_does_not_parse_is_refused_with_its_line() {
    let tree = Tree::parse("---\ntitle: x\nbroken: \"a \"b\" c\"\n---\n\nx\n", Dialect::Generic).unwrap();
    assert!(
        matches!(set(&tree, "a", &json!(1)), Err(FrontError::Unparseable { line: 3, .. })),
        "{:?}",
        set(&tree, "a", &json!(1))
    );
}

#[test]
fn an_anchor_that_others_use_is_refused() {
    let tree = Tree::parse("---\na: &x 1\nb: *x\n---\n", Dialect::Generic).unwrap();
    assert!(matches!(unset(&tree, "a"), Err(FrontError::Unprovable { .. })));
}
