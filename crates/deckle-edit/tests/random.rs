//! Random edits on real documents, judged by a checker that knows nothing of plans and splices.
//!
//! It reads both texts with the parser alone and compares the leaves: whatever the edit does not name must be there, in order, with the same
//! text and type. `DECKLE_EDITS` sets how many edits are tried.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::fs;
use std::path::{Path, PathBuf};

use deckle_doc::{Dialect, DocKey, Ids, Kind, Tree};
use deckle_edit::{Operation, Policy, Sources, plan};
use serde_json::{Value, json};

fn documents() -> Vec<(PathBuf, String)> {
    let base = std::env::var_os("DECKLE_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let mut found = Vec::new();
    let mut open = vec![base.join("corpora")];
    assert!(open[0].is_dir(), "{} is not there; the tests read real documents from `shared` (DECKLE_SHARED)", open[0].display());
    while let Some(one) = open.pop() {
        for entry in fs::read_dir(&one).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if let Ok(text) = fs::read_to_string(&path)
                && path.extension().is_some_and(|ending| ending == "md")
            {
                found.push((path, text));
            }
        }
    }
    found.sort();
    found
}

/// SplitMix64, seeded, so that a failure repeats.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound.max(1) as u64) as usize
    }
}

/// Type and text of each leaf.
fn leaves(tree: &Tree) -> Vec<(std::mem::Discriminant<Kind>, String)> {
    tree.blocks()
        .filter(|block| block.first_child().is_none())
        .map(|block| (std::mem::discriminant(&block.kind()), block.text().to_owned()))
        .collect()
}

/// Payloads, hostile ones among them: open fences, underlines, lists that would join, definitions that shadow, HTML that swallows.
const PAYLOADS: [&str; 16] = [
    "A plain paragraph.",
    "- one\n- two",
    "1. one\n2. two",
    "---",
    "===",
    "```js\nlet x = 1;\n```",
    "```js\nopen",
    "> quote",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "| a |",
    ":::note\ntext\n:::",
    ":::note\nopen",
    "[x]: /shadow",
    "<div>",
    "# A heading\n\ntext",
    "    indented",
];

#[test]
fn what_an_edit_does_not_name_is_there_afterwards() {
    let documents = documents();
    let edits: usize = std::env::var("DECKLE_EDITS").ok().and_then(|text| text.parse().ok()).unwrap_or(4_000);
    let mut random = Random(1);
    let (mut done, mut refused) = (0, 0);
    let key = DocKey::parse("doc").unwrap();
    while done + refused < edits {
        let (path, text) = &documents[random.below(documents.len())];
        if text.len() > 60_000 {
            continue;
        }
        let Ok(tree) = Tree::parse(text.as_str(), Dialect::Generic) else { continue };
        if tree.is_empty() {
            continue;
        }
        let ids = Ids::derive(&tree);
        let block = tree.blocks().nth(random.below(tree.len())).unwrap();
        let id = ids.id(block.index()).unwrap();
        let payload = PAYLOADS[random.below(PAYLOADS.len())];
        let (name, argument): (&str, Value) = match random.below(6) {
            0 => ("$insertAfter", json!({ "$id": id, "content": payload, "expect": 1 })),
            1 => ("$insertBefore", json!({ "$id": id, "content": payload, "expect": 1 })),
            2 => ("$append", json!({ "$id": id, "content": payload, "expect": 1 })),
            3 => ("$replace", json!({ "$id": id, "content": payload, "expect": 1 })),
            4 => ("$delete", json!({ "$id": id, "nested": true, "expect": 1 })),
            _ => ("$replaceText", json!({ "$id": id, "to": payload.lines().next().unwrap(), "expect": 1 })),
        };
        let operation = Operation::parse(&json!({ "filter": { "$key": "doc" }, "update": { name: argument } })).unwrap();
        let mut sources = Sources::new();
        sources.insert(key.clone(), text, Dialect::Generic);
        let Ok(plan) = plan(&sources, &operation, &Policy::person()) else {
            refused += 1;
            continue;
        };
        done += 1;
        let Some(change) = plan.changes().first() else { continue };
        let new = &change.new.as_ref().unwrap().0;
        // What may go: the block and what is inside it.
        let named = block.span();
        let whole = matches!(name, "$replace" | "$delete" | "$replaceText");
        let kept: Vec<_> = tree
            .blocks()
            .filter(|leaf| leaf.first_child().is_none())
            .filter(|leaf| !(whole && named.contains(&leaf.content().start)))
            // An item or list that the last of its items leaves goes with it; a table's row takes its cells.
            .map(|leaf| (std::mem::discriminant(&leaf.kind()), leaf.text().to_owned()))
            .collect();
        let after = leaves(new);
        let mut at = after.iter();
        for leaf in &kept {
            assert!(
                at.any(|other| other == leaf),
                "{}: {name} on {block:?} with {payload:?} lost {leaf:?}\n── before ──\n{text}\n── after ──\n{}",
                path.display(),
                new.source()
            );
        }
    }
    println!("{done} edits done, {refused} refused, 0 leaves lost");
    assert!(done > edits / 5, "{done} of {edits} edits were possible");
}
