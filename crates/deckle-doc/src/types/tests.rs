//! Every type, every dialect, every nesting: from the table, so that a new rule is tested by existing.

use serde_json::{Value, json};

use super::*;
use crate::{Dialect, Tree};

/// A small block of each type, its parts filled.
fn sample(name: &str) -> Value {
    let paragraph = json!({ "type": "paragraph", "text": "Some *text*." });
    match name {
        "paragraph" => paragraph,
        "heading" => json!({ "type": "heading", "level": 3, "text": "Words" }),
        "bullet_list" => json!({ "type": "bullet_list", "items": ["one", "two"] }),
        "ordered_list" => json!({ "type": "ordered_list", "items": ["one", "two"], "start": 3 }),
        "task_list" => json!({ "type": "task_list", "tasks": [{ "text": "one", "done": true }, { "text": "two" }] }),
        "code" => json!({ "type": "code", "language": "rust", "code": "let a = \"```\";" }),
        "table" => json!({ "type": "table", "head": ["a", "b"], "rows": [["1 | x", "2"]] }),
        "divider" => json!({ "type": "divider" }),
        "image" => json!({ "type": "image", "url": "a b.png", "alt": "A" }),
        "math" => json!({ "type": "math", "formula": "a^2" }),
        "diagram" => json!({ "type": "diagram", "code": "graph TD" }),
        "callout" => json!({ "type": "callout", "kind": "warning", "title": "Mind", "children": [paragraph] }),
        "embed" | "file" => json!({ "type": name, "url": "https://example.com/a", "title": "T" }),
        "api" => json!({ "type": "api", "method": "GET", "path": "/v1/a" }),
        "columns" => json!({ "type": "columns", "children": [sample("column"), sample("column")] }),
        "tabs" | "steps" | "cards" => json!({ "type": name, "children": [sample(name.trim_end_matches('s'))] }),
        "code_group" => json!({ "type": "code_group", "children": [sample("code")] }),
        _ => json!({ "type": name, "children": [paragraph] }),
    }
}

/// The wrapper of a part, or the block itself.
fn standing(name: &str, block: Value) -> Value {
    match TABLE.iter().find(|one| one.name == name).and_then(|one| one.part_of) {
        Some("columns") => json!({ "type": "columns", "children": [block, sample("column")] }),
        Some(whole) => json!({ "type": whole, "children": [block] }),
        None => block,
    }
}

#[test]
fn every_type_round_trips_in_every_dialect() {
    let rules = Rules::default();
    for one in TABLE {
        for dialect in Dialect::ALL {
            let text = write(&standing(one.name, sample(one.name)), dialect, &[], &rules).unwrap();
            let tree = Tree::parse(format!("before\n\n{text}\n\nafter\n"), dialect).unwrap();
            let found = tree.blocks().any(|block| type_of(&block) == Some(one.name));
            assert!(found, "{} in {dialect:?} is read as something else:\n{text}", one.name);
            assert_eq!(
                tree.root().children().filter(|block| block.text() == "after" || block.text() == "before").count(),
                2,
                "{text}"
            );
            assert_eq!(validate(&tree, &rules), Vec::new(), "{text}");
        }
    }
}

#[test]
fn every_nesting_is_written_or_refused_as_the_rules_say() {
    let rules = Rules::default();
    for container in TABLE.iter().filter(|one| !one.holds.is_empty()) {
        for child in TABLE {
            let mut block = sample(container.name);
            let inside = if container.parts.is_some() && child.name == "column" {
                vec![sample("column"), sample("column")]
            } else {
                vec![sample(child.name)]
            };
            block["children"] = Value::Array(inside);
            let legal = container.holds.contains(&child.name);
            for dialect in Dialect::ALL {
                let outcome = write(&standing(container.name, block.clone()), dialect, &[], &rules);
                assert_eq!(outcome.is_ok(), legal, "{} in {} ({dialect:?}): {outcome:?}", child.name, container.name);
                match outcome {
                    Ok(text) => {
                        let tree = Tree::parse(text.clone(), dialect).unwrap();
                        assert_eq!(validate(&tree, &rules), Vec::new(), "{text}");
                        let nested = tree.blocks().any(|one| {
                            type_of(&one) == Some(child.name)
                                && one.ancestors().any(|above| type_of(&above) == Some(container.name))
                        });
                        assert!(nested, "{} left {} in {dialect:?}:\n{text}", child.name, container.name);
                    }
                    Err(WriteError::Nesting(violation)) => assert!(!violation.allowed.is_empty(), "{violation:?}"),
                    Err(other) => panic!("{other}"),
                }
            }
        }
    }
}

#[test]
fn a_directive_inside_itself_is_refused_at_any_depth() {
    let rules = Rules::default();
    let tree = Tree::parse("::::note\n- item\n\n  :::warning\n  x\n  :::\n::::\n", Dialect::Generic).unwrap();
    let found = validate(&tree, &rules);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].message, "`callout` cannot go inside another `callout`, at any depth");
}

#[test]
fn a_workspace_changes_the_rules() {
    let rules = Rules::from_toml("[containers]\ncallout = [\"paragraph\", \"tabs\"]\n").unwrap();
    assert!(check_nesting(&["callout"], "tabs", &rules).is_ok());
    assert!(check_nesting(&["callout"], "table", &rules).is_err());
    assert_eq!(Rules::from_toml("[containers]\nfoo = []\n"), Err(RulesError::Unknown("foo".into())));
}

#[test]
fn the_page_of_block_types_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/blocks.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, docs()).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap_or_default(), docs(), "run `UPDATE_DOCS=1 cargo test -p deckle-doc`");
}
