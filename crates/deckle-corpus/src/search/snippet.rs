//! The places of a document that answer a search.

use std::collections::BTreeSet;
use std::ops::Range;

use deckle_doc::{Block, Ids, Kind, Tree};
use regex::Regex;

use super::Passage;
use super::index::words;

/// The most bytes of a passage.
const PASSAGE: usize = 200;

/// Returns the blocks with the most words of the query, in the order of how many they have.
pub(crate) fn for_terms(tree: &Tree, ids: &Ids, terms: &BTreeSet<String>, limit: usize) -> Vec<Passage> {
    let has =
        |word: &str| terms.iter().any(|term| word == term || (term.chars().count() >= 3 && word.starts_with(term.as_str())));
    let mut scored: Vec<(usize, Block<'_>, String)> = Vec::new();
    for block in leaves(tree) {
        let text = shown(&block);
        let distinct: BTreeSet<String> = words(&text).into_iter().filter(|word| has(word)).collect();
        if !distinct.is_empty() {
            scored.push((distinct.len(), block, text));
        }
    }
    scored.sort_by_key(|(count, block, _)| (std::cmp::Reverse(*count), block.index()));
    let passages = scored.into_iter().take(limit).map(|(_, block, text)| {
        let at = first_word(&text, has).unwrap_or(0..0);
        passage(block, ids, &text, at)
    });
    passages.collect()
}

/// Returns the places that match, in order, at most one for each block.
pub(crate) fn for_pattern(tree: &Tree, ids: &Ids, pattern: &Regex, limit: usize) -> Vec<Passage> {
    let mut out: Vec<Passage> = Vec::new();
    let mut last = None;
    for found in pattern.find_iter(tree.source()) {
        let block = tree.block_at(found.start());
        if last == Some(block.index()) {
            continue;
        }
        last = Some(block.index());
        let span = block.span();
        out.push(passage(block, ids, block.raw(), found.start() - span.start..found.end().min(span.end) - span.start));
        if out.len() == limit {
            break;
        }
    }
    out
}

fn leaves(tree: &Tree) -> impl Iterator<Item = Block<'_>> {
    tree.blocks()
        .filter(|block| block.first_child().is_none() && !matches!(block.kind(), Kind::LinkDefinition { .. } | Kind::Break))
}

fn shown(block: &Block<'_>) -> String {
    let plain = block.plain_text();
    if plain.is_empty() { block.text().to_owned() } else { plain }
}

fn first_word(text: &str, has: impl Fn(&str) -> bool) -> Option<Range<usize>> {
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (c.is_alphanumeric(), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                if words(&text[from..at]).iter().any(|word| has(word)) {
                    return Some(from..at);
                }
                start = None;
            }
            _ => {}
        }
    }
    None
}

fn passage(block: Block<'_>, ids: &Ids, text: &str, at: Range<usize>) -> Passage {
    Passage {
        section: section_path(block),
        block: ids.id(block.index()).map(|id| id.to_string()).unwrap_or_default(),
        text: around(text, at),
    }
}

/// Returns the headings above a block, from the outermost; a heading is not above itself.
pub(crate) fn section_path(block: Block<'_>) -> Vec<String> {
    let mut path = Vec::new();
    let mut level = block.heading_level().unwrap_or(7);
    let mut at = Some(block);
    while let Some(here) = at {
        let mut before = here.previous();
        while let Some(sibling) = before {
            if let Some(above) = sibling.heading_level().filter(|above| *above < level) {
                path.push(sibling.plain_text());
                level = above;
            }
            before = sibling.previous();
        }
        at = here.parent();
    }
    path.reverse();
    path
}

/// The words around a range, on one line.
fn around(text: &str, at: Range<usize>) -> String {
    let room = PASSAGE.saturating_sub(at.len()) / 2;
    let floor = |at: usize| (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let mut start = floor(at.start.saturating_sub(room));
    let mut end = floor((at.end + room).max(start + PASSAGE.min(text.len() - start)).min(text.len()));
    if start > 0 {
        start += text[start..at.start].find(char::is_whitespace).unwrap_or(0);
    }
    if end < text.len() {
        let tail = at.end.min(end);
        end = tail + text[tail..end].rfind(char::is_whitespace).unwrap_or(end - tail);
    }
    let line = text[start..end].split_whitespace().collect::<Vec<_>>().join(" ");
    let (lead, tail) = (if start > 0 { "… " } else { "" }, if end < text.trim_end().len() { " …" } else { "" });
    format!("{lead}{line}{tail}")
}
