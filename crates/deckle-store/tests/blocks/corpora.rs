//! The same on real documents, edited at random.

use std::path::{Path, PathBuf};

use deckle_doc::{Dialect, Tree};

use crate::support::{carried, derived};
use crate::{merge, review};

fn shared() -> PathBuf {
    let folder = std::env::var_os("DECKLE_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let corpora = folder.join("corpora");
    assert!(corpora.is_dir(), "{} is not there; set DECKLE_SHARED to the folder that holds `corpora`", corpora.display());
    corpora
}

/// Every Markdown file, in the order of the paths.
fn files() -> Vec<PathBuf> {
    let (mut open, mut files) = (vec![shared()], Vec::new());
    while let Some(folder) = open.pop() {
        let mut entries: Vec<PathBuf> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        for path in entries {
            if path.is_dir() && !path.is_symlink() {
                open.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                files.push(path);
            }
        }
    }
    files.sort();
    assert!(files.len() > 100, "the corpora are incomplete");
    files
}

/// A small generator, so that a failure names a document and nothing else.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides.max(1)
    }
}

/// Edits a document: words, blocks that come, go or trade places.
fn edited(text: &str, dice: &mut Dice, tag: &str) -> String {
    let mut text = text.to_owned();
    for round in 0..1 + dice.roll(4) {
        let tree = Tree::parse(text.as_str(), Dialect::Generic).unwrap();
        if tree.is_empty() {
            return format!("{tag}{round}7q\n");
        }
        let blocks: Vec<_> = tree.blocks().collect();
        let block = blocks[dice.roll(blocks.len())];
        let new = format!("{tag}{round}7q{} new", dice.roll(100));
        let (mut range, mut with) = (block.content(), new.clone());
        match dice.roll(5) {
            0 | 1 if block.has_inlines() => {
                // One word of a paragraph, heading or cell.
                let inner = block.inner();
                let at = tree.source()[inner.clone()].find(' ').map_or(inner.end, |at| inner.start + at);
                (range, with) = (at..at, format!(" {tag}{round}7q{}", dice.roll(100)));
            }
            2 => {
                let mut top = block;
                while let Some(parent) = top.parent().filter(|parent| parent.depth() > 0) {
                    top = parent;
                }
                (range, with) = (top.span().end..top.span().end, format!("{new}\n\n"));
                if !tree.source()[..range.start].ends_with("\n\n") {
                    with = format!("\n\n{with}");
                }
            }
            3 => (range, with) = (block.span(), String::new()),
            4 => {
                if let Some(next) = block.next() {
                    range = block.span().start..next.span().end;
                    with = format!("{}{}", next.raw(), block.raw());
                }
            }
            _ => {}
        }
        text.replace_range(range, &with);
    }
    text
}

#[test]
fn real_documents_merge_and_review_exactly() {
    let scale: usize = std::env::var("DECKLE_PROVE_SCALE").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let files = files();
    let step = (files.len() / (400 * scale).min(files.len())).max(1);
    let (mut merged, mut selected, mut all) = (0, 0, 0);
    for file in files.iter().step_by(step) {
        let Ok(text) = std::fs::read_to_string(file) else { continue };
        if text.len() > 40_000 {
            continue;
        }
        let mut dice = Dice(text.len() as u64 + 7);
        let (ours, theirs) = (edited(&text, &mut dice, "o"), edited(&text, &mut dice, "t"));
        let fail = |error: proptest::test_runner::TestCaseError| -> bool { panic!("{}: {error}", file.display()) };
        let carry = dice.roll(2) == 0;
        merged += usize::from(merge::check(&text, &ours, &theirs, carry).unwrap_or_else(fail));
        let before = derived(&text);
        let after = carried(&before, &ours);
        selected += usize::from(review::check(&before, &after, dice.roll(1 << 30) as u64).unwrap_or_else(fail));
        all += 1;
    }
    assert!(all > 200, "{all} documents");
    assert!(merged * 100 >= all * 70, "{merged} of {all} merged");
    // What is not possible is refused, and nothing is lost; 478 of 506 were when this was written.
    assert!(selected * 100 >= all * 94, "{selected} of {all} selections were possible");
}
