//! Operations at random: a block, an operator, a payload that may be hostile.

use std::ops::Range;

use deckle_doc::{Block, DocKey, Ids, Kind, Tree};
use serde_json::{Value, json};

use super::Random;
use crate::select::addressable;

/// An operation, and what it may touch.
pub(super) struct Aim {
    pub operation: Value,
    /// Whether it comes through an agent's surface.
    pub agent: bool,
    /// Whether its guard is wrong.
    pub must_refuse: bool,
    /// The blocks that it names, by position.
    pub named: Range<u32>,
    /// A block without children that something may be put into.
    pub holder: Option<u32>,
    /// What it may do.
    pub reach: Reach,
}

impl Aim {
    /// Whether a block is named, or holds what is put into it.
    pub(super) fn names(&self, block: &Block<'_>) -> bool {
        let index = block.index().0;
        self.named.contains(&index) || self.holder == Some(index)
    }
}

/// What an operation may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// The named blocks, and what comes beside or into them.
    Named,
    /// The bytes of the named block's content alone.
    Inside,
    /// Where blocks stand: leaves may move, and none changes.
    Places,
    /// As `Places`, and leaves may be there once more.
    Copies,
    /// The front matter alone.
    FrontMatter,
}

/// Texts that may swallow, retype, join or shadow what stands beside them; and a few that are good.
const PAYLOADS: [&str; 52] = [
    "A new paragraph.",
    "Two\nlines.",
    "One.\n\nTwo.",
    "# Heading",
    "## Heading\n\nText.",
    "###### Deep",
    "- item",
    "- one\n- two",
    "* star",
    "+ plus\n  - nested",
    "1. one",
    "7) seven",
    "- [ ] open\n- [x] done",
    "> quoted",
    "> [!NOTE]\n> An alert.",
    "```js\nlet x = 1;\n```",
    "````\n```\n````",
    "```js\nnot closed",
    "~~~",
    "    indented",
    "\tindented with a tab",
    "---",
    "***",
    "===",
    "Title\n===",
    "Title\n---",
    "<div>",
    "<div>\n\ntext\n\n</div>",
    "<!-- a comment -->",
    "<!-- open",
    "<script>",
    "</details>",
    ":::note\nInside.\n:::",
    ":::note\nnot closed",
    "::::tip[Title]\n:::note\nx\n:::\n::::",
    "::leaf{a=b}",
    "[a]: /somewhere",
    "[^1]: a footnote",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "| a | b |",
    "a | b\n--|--\n1 | 2",
    "$$\nx\n$$",
    "$$",
    "---\ntitle: x\n---",
    "+++\na = 1\n+++",
    "",
    "   ",
    "trailing backslash \\",
    "![image](x.png)",
    "[[page#part|text]]",
    "\u{feff}bom",
    "&nbsp;",
];

/// Texts to put into text.
const WORDS: [&str; 24] = [
    "word",
    "two words",
    "*",
    "**bold**",
    "`",
    "`code`",
    "[",
    "[x](y)",
    "](",
    "<b>",
    "|",
    "\\",
    "#",
    "- ",
    "\n\n",
    "\nnext line",
    "\n# Heading",
    "\n---",
    "\n> quote",
    "\n- item",
    "\n```",
    "",
    "ünïcode 漢字",
    "1. ",
];

/// Returns an operation on a block of the document.
pub(super) fn aim(random: &mut Random, key: &DocKey, tree: &Tree, ids: &Ids) -> Option<Aim> {
    if random.one_in(12) {
        return Some(front_matter(random, key));
    }
    let block = some_block(random, tree)?;
    let id = ids.id(block.index())?;
    let index = block.index().0;
    let whole = index..index + 1 + block.descendants().len() as u32;
    let section = || {
        let last = block.section().last().unwrap_or(block);
        index..last.index().0 + 1 + last.descendants().len() as u32
    };
    let payload = *random.pick(&PAYLOADS);
    let select = json!({ "$id": id });
    // An empty container that something is put into is a leaf no more.
    let mut filled = None;
    let (name, mut argument, named, reach) = match random.below(14) {
        0 | 1 => {
            let (from, to) = replacement(random, &block)?;
            ("$replaceText", json!({ "$id": id, "from": from, "to": to }), whole, Reach::Inside)
        }
        2 => ("$replaceText", json!({ "$id": id, "to": random.pick(&WORDS) }), whole, Reach::Inside),
        3 | 4 => ("$replace", json!({ "$id": id, "content": payload }), whole, Reach::Named),
        5 => ("$insertBefore", json!({ "$id": id, "content": payload }), index..index, Reach::Named),
        6 => ("$insertAfter", json!({ "$id": id, "content": payload }), whole.end..whole.end, Reach::Named),
        7 => {
            let at = section().end;
            ("$append", json!({ "$id": id, "content": payload }), at..at, Reach::Named)
        }
        8 => {
            // After an item's own text, after a table's head.
            let own = block.first_child().filter(|_| matches!(block.kind(), Kind::Item { .. } | Kind::Table { .. }));
            let at = own.map_or(index + 1, |own| own.index().0 + 1 + own.descendants().len() as u32);
            ("$prepend", json!({ "$id": id, "content": payload }), at..at, Reach::Named)
        }
        9 => ("$delete", json!({ "$id": id, "nested": random.one_in(2) }), whole, Reach::Named),
        10 if block.heading_level().is_some() => {
            let select = json!({ "$id": id });
            if random.one_in(2) {
                ("$delete", json!({ "$section": select }), section(), Reach::Named)
            } else {
                ("$replace", json!({ "$section": select, "content": payload }), section(), Reach::Named)
            }
        }
        10 | 11 => {
            let goal = some_block(random, tree)?;
            let side = *random.pick(&["before", "after", "into", "start"]);
            filled = (goal.first_child().is_none() && matches!(side, "into" | "start")).then_some(goal.index().0);
            let goal = json!({ "$id": ids.id(goal.index())? });
            if random.one_in(2) {
                ("$move", json!({ "$id": id, side: goal }), whole, Reach::Places)
            } else {
                ("$copy", json!({ "$id": id, side: goal }), whole, Reach::Copies)
            }
        }
        12 if block.heading_level().is_some() => {
            ("$setAttr", json!({ "$id": id, "attributes": { "level": 1 + random.below(6) } }), whole, Reach::Inside)
        }
        12 if matches!(block.kind(), Kind::Item { .. }) => ("$toggle", select, whole, Reach::Inside),
        12 if matches!(block.kind(), Kind::Container(_) | Kind::Admonition { .. }) => ("$unwrap", select, whole, Reach::Places),
        12 => ("$setAttr", json!({ "$id": id, "attributes": { "lang": "rust" } }), whole, Reach::Inside),
        _ => ("$wrap", json!({ "$id": id, "name": *random.pick(&["note", "tip", "card"]) }), whole, Reach::Places),
    };
    let must_refuse = random.one_in(10);
    // A table may be named for its cells, so a count that is wrong must be far off.
    argument["expect"] = if must_refuse { json!({ "min": 100_000 }) } else { json!(1) };
    let update = json!({ name: argument });
    let operation = json!({ "filter": { "$key": key.as_str() }, "expect": 1, "removed": true, "update": update });
    let holder = (matches!(name, "$append" | "$prepend") && block.first_child().is_none() && block.heading_level().is_none())
        .then_some(index)
        .or(filled);
    Some(Aim { operation, agent: random.one_in(4), must_refuse, named, holder, reach })
}

fn front_matter(random: &mut Random, key: &DocKey) -> Aim {
    let update = match random.below(4) {
        0 => json!({ "$set": { "proof": "value: with # marks" } }),
        1 => json!({ "$set": { "title": "New \"title\"" } }),
        2 => json!({ "$unset": { "title": "" } }),
        _ => json!({ "$set": { "proof.inner": [1, "two", true] } }),
    };
    let operation = json!({ "filter": { "$key": key.as_str() }, "expect": 1, "update": update });
    Aim { operation, agent: true, must_refuse: false, named: 0..0, holder: None, reach: Reach::FrontMatter }
}

fn some_block<'t>(random: &mut Random, tree: &'t Tree) -> Option<Block<'t>> {
    for _ in 0..8 {
        let block = tree.block(deckle_doc::BlockIndex(1 + random.below(tree.len()) as u32));
        if addressable(&block) {
            return Some(block);
        }
    }
    None
}

/// A part of a block's own text that occurs once, and a text in its place.
fn replacement(random: &mut Random, block: &Block<'_>) -> Option<(String, &'static str)> {
    let own = crate::own_text(block);
    let to = *random.pick(&WORDS);
    if own.is_empty() {
        return Some(("x".into(), to));
    }
    let places: Vec<usize> = own.char_indices().map(|(at, _)| at).chain([own.len()]).collect();
    let start = random.below(places.len() - 1);
    let length = 1 + random.below(24);
    let end = (start + length).min(places.len() - 1);
    Some((own[places[start]..places[end]].to_owned(), to))
}
