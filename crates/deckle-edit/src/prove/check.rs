//! The checker: what is outside an operation's reach must be there as it was.

use std::collections::HashMap;

use deckle_doc::{Block, Kind, Tree, front};

use super::aim::{Aim, Reach};
use crate::type_name;

/// The bytes that differ must be where the operation was aimed.
pub(super) fn bytes(old: &Tree, after: &str, aim: &Aim) -> Option<String> {
    let before = old.source();
    let (low, high) = match aim.reach {
        Reach::Places | Reach::Copies => return None,
        Reach::FrontMatter => (0, front_end(old)),
        Reach::Inside => {
            let block = old.block(deckle_doc::BlockIndex(aim.named.start));
            (block.content().start, block.content().end)
        }
        Reach::Named => window(old, aim),
    };
    let kept = before.get(..low).is_some_and(|head| after.starts_with(head))
        && before.get(high..).is_some_and(|tail| after.ends_with(tail) && after.len() >= low + tail.len());
    if kept {
        return None;
    }
    let (start, tail) = ends(before, after);
    Some(format!("bytes {start}..{} differ, and the operation reaches {low}..{high}", before.len() - tail))
}

/// How many bytes are the same at the start, and at the end.
fn ends(before: &str, after: &str) -> (usize, usize) {
    let (before, after) = (before.as_bytes(), after.as_bytes());
    let start = before.iter().zip(after).take_while(|(one, other)| one == other).count();
    let limit = before.len().min(after.len()) - start;
    let tail = before.iter().rev().zip(after.iter().rev()).take(limit).take_while(|(one, other)| one == other).count();
    (start, tail)
}

/// From the end of the last leaf before the named blocks to the start of the first leaf after them.
fn window(old: &Tree, aim: &Aim) -> (usize, usize) {
    let mut low = 0;
    let mut high = old.source().len();
    for leaf in old.blocks().filter(|block| block.first_child().is_none() && Some(block.index().0) != aim.holder) {
        let index = leaf.index().0;
        if index < aim.named.start {
            low = low.max(leaf.content().end);
        } else if index >= aim.named.end {
            high = high.min(leaf.content().start);
        }
    }
    (low, high)
}

fn front_end(tree: &Tree) -> usize {
    tree.root().first_child().filter(|first| matches!(first.kind(), Kind::FrontMatter { .. })).map_or(0, |first| first.span().end)
}

/// Front matter that the operation does not name is what it was; of what it names, the other keys are.
pub(super) fn front_matter(old: &Tree, after: &str, aim: &Aim) -> Option<String> {
    let new = Tree::parse(after, old.dialect()).ok()?;
    let text = |tree: &Tree| tree.source().get(..front_end(tree)).unwrap_or_default().trim_end().to_owned();
    if aim.reach != Reach::FrontMatter {
        return (front_end(old) > 0 && text(old) != text(&new)).then(|| "the front matter changed".to_owned());
    }
    let (Ok(before), Ok(now)) = (front::read(old), front::read(&new)) else {
        return Some("the front matter does not parse any more".into());
    };
    let lost = before.iter().find(|(name, value)| {
        let named = matches!(name.as_str(), "title" | "proof");
        !named && now.get(*name) != Some(value)
    });
    lost.map(|(name, _)| format!("the key `{name}` of the front matter is not what it was"))
}

/// A leaf as the checker sees it: the containers around it, its type, its text.
type Leaf<'t> = (Vec<&'static str>, &'static str, &'t str);

fn leaves<'t>(tree: &'t Tree, wanted: impl Fn(&Block<'t>) -> bool) -> Vec<Leaf<'t>> {
    tree.blocks()
        .filter(|block| block.first_child().is_none() && !matches!(block.kind(), Kind::FrontMatter { .. }) && wanted(block))
        .map(|block| {
            let above: Vec<&'static str> = block.ancestors().map(|above| type_name(&above)).collect();
            // The first text of an item may become a later one when something is put before it.
            let name = if block.kind() == Kind::Paragraph { "text" } else { type_name(&block) };
            (above, name, block.text())
        })
        .collect()
}

/// Every leaf that the operation does not name must be there.
pub(super) fn blocks(old: &Tree, after: &str, aim: &Aim) -> Option<String> {
    let new = Tree::parse(after, old.dialect()).ok()?;
    let now = leaves(&new, |_| true);
    match aim.reach {
        Reach::Places | Reach::Copies => {
            let before = leaves(old, |block| aim.holder != Some(block.index().0));
            let mut counts: HashMap<String, i64> = HashMap::new();
            for (_, name, text) in &before {
                *counts.entry(bare(name, text)).or_default() += 1;
            }
            for (_, name, text) in &now {
                *counts.entry(bare(name, text)).or_default() -= 1;
            }
            let lost = counts.into_iter().find(|(_, count)| *count > 0);
            if let Some((text, _)) = lost {
                return Some(format!("a leaf is lost: {text:?}"));
            }
            let rest = leaves(old, |block| !aim.names(block));
            missing(&rest, &now)
        }
        Reach::Inside | Reach::Named | Reach::FrontMatter => {
            let rest = leaves(old, |block| !aim.names(block));
            missing(&rest, &now)
        }
    }
}

/// A leaf's words without the prefixes of what holds it.
fn bare(name: &str, text: &str) -> String {
    // A heading gets the level of its new place.
    // An underlined one gets marks in front where it must.
    let underlined = text.rsplit_once(['\n', '\r']).filter(|(_, line)| {
        let line = line.trim_matches([' ', '\t', '>']);
        !line.is_empty() && (line.bytes().all(|byte| byte == b'=') || line.bytes().all(|byte| byte == b'-'))
    });
    let text = match (name, underlined) {
        ("header", Some((words, _))) => words.trim_matches(['\r', '\n']),
        ("header", None) => text.trim_matches(['#', ' ']),
        _ => text,
    };
    let lines: Vec<&str> = text.lines().map(|line| line.trim_start_matches([' ', '\t', '>']).trim_end()).collect();
    format!("{name}: {}", lines.join("\n"))
}

/// The first leaf that is not there in its order.
fn missing(rest: &[Leaf<'_>], now: &[Leaf<'_>]) -> Option<String> {
    let mut at = now.iter();
    for leaf in rest {
        if !at.any(|other| other == leaf) {
            return Some(format!("an untouched {} is not what it was: {:?} in {:?}", leaf.1, leaf.2, leaf.0));
        }
    }
    None
}

/// The lines around the difference.
pub(super) fn difference(before: &str, after: &str) -> String {
    let (start, tail) = ends(before, after);
    let cut = |text: &str| {
        let mut from = start.saturating_sub(80).min(text.len());
        let mut to = (text.len().saturating_sub(tail) + 80).clamp(from, text.len());
        while !text.is_char_boundary(from) {
            from -= 1;
        }
        while !text.is_char_boundary(to) {
            to += 1;
        }
        text.get(from..to).unwrap_or_default().to_owned()
    };
    format!("before: {:?}\nafter:  {:?}", cut(before), cut(after))
}
