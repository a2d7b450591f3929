//! A document as a row of pieces: what a block says, and the blank lines after it. Joined they are the document.

use std::collections::{HashMap, HashSet};

use deckle_doc::{Block, Ids, Kind, Tree};

/// One version of a document.
#[derive(Clone, Copy, Debug)]
pub struct Version<'a> {
    /// Its blocks.
    pub tree: &'a Tree,
    /// Their ids.
    pub ids: &'a Ids,
}

/// A run of bytes that belongs to one block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The block's id, with a mark when the piece is only its opening (`<`) or closing (`>`).
    pub(crate) id: String,
    /// What kind of block it is.
    pub(crate) kind: &'static str,
    /// The bytes, without the blanks at their end.
    pub(crate) text: String,
    /// The blanks up to the next piece.
    pub(crate) gap: String,
    /// How deep it stands; 1 at the top.
    pub(crate) depth: usize,
    /// The id of the list that it stands in; empty outside of one.
    pub(crate) list: String,
}

/// Cuts a document into its blocks at the top.
pub(crate) fn top(version: Version<'_>) -> Vec<Piece> {
    cut(version, false)
}

/// Cuts a document into the smallest blocks that are edited as one: paragraphs, rows, code; containers are opened.
pub(crate) fn deep(version: Version<'_>) -> Vec<Piece> {
    cut(version, true)
}

fn cut(version: Version<'_>, deep: bool) -> Vec<Piece> {
    let mut pieces = Vec::new();
    inside(version, version.tree.root(), "", deep, (1, ""), &mut pieces);
    pieces
}

/// Cuts what lies inside a block.
fn inside(version: Version<'_>, block: Block<'_>, id: &str, deep: bool, (depth, list): (usize, &str), out: &mut Vec<Piece>) {
    let (source, span) = (version.tree.source(), block.span());
    let list = if matches!(block.kind(), Kind::List { .. }) { id } else { list };
    let mut at = span.start;
    let mut first = true;
    for child in block.children() {
        let child_span = child.span();
        if let Some(open) = source.get(at..child_span.start).filter(|open| !open.is_empty()) {
            // Between two children no byte is left over; before the first it is the opening.
            push(out, format!("{id}{}", if first { "<" } else { "=" }), name(block.kind()), open, open.len(), (depth - 1, list));
        }
        let child_id = version.ids.id(child.index()).map(|id| id.to_string()).unwrap_or_default();
        if deep && is_opened(child) {
            inside(version, child, &child_id, deep, (depth + 1, list), out);
        } else if let Some(raw) = source.get(child_span.clone()) {
            let length = child.content().end.saturating_sub(child_span.start).min(raw.len());
            push(out, child_id, name(child.kind()), raw, length, (depth, list));
        }
        at = child_span.end;
        first = false;
    }
    if let Some(close) = source.get(at..span.end).filter(|close| !close.is_empty()) {
        let length = close.trim_end().len();
        match out.last_mut() {
            // Blank lines at the end of a list are blanks after its last block.
            Some(last) if length == 0 => last.gap.push_str(close),
            _ => push(out, format!("{id}>"), name(block.kind()), close, length, (depth - 1, list)),
        }
    }
}

fn push(out: &mut Vec<Piece>, id: String, kind: &'static str, raw: &str, length: usize, (depth, list): (usize, &str)) {
    let length = if raw.is_char_boundary(length) { length } else { raw.len() };
    let (text, gap) = raw.split_at(length);
    out.push(Piece { id, kind, text: text.to_owned(), gap: gap.to_owned(), depth, list: list.to_owned() });
}

/// Whether a block's parts are reviewed and merged one by one.
fn is_opened(block: Block<'_>) -> bool {
    block.first_child().is_some()
        && matches!(
            block.kind(),
            Kind::Quote
                | Kind::List { .. }
                | Kind::Item { .. }
                | Kind::Table { .. }
                | Kind::Container(_)
                | Kind::Admonition { .. }
                | Kind::FootnoteDefinition { .. }
        )
}

/// Names a kind for people.
pub(crate) fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Document => "document",
        Kind::FrontMatter { .. } => "front matter",
        Kind::Heading { .. } => "heading",
        Kind::Paragraph => "paragraph",
        Kind::Quote => "quote",
        Kind::List { .. } => "list",
        Kind::Item { .. } => "item",
        Kind::Code { .. } => "code",
        Kind::Html => "html",
        Kind::Break => "divider",
        Kind::Table { .. } => "table",
        Kind::Row { .. } => "row",
        Kind::Cell => "cell",
        Kind::FootnoteDefinition { .. } => "footnote",
        Kind::LinkDefinition { .. } => "link definition",
        Kind::Container(_) => "container",
        Kind::Leaf(_) => "directive",
        Kind::Math => "math",
        Kind::Admonition { .. } => "callout",
        Kind::Opaque { .. } => "opaque",
    }
}

/// Returns the ids of a side such that a block which came from the base has the base's id, whether its id was carried or
/// was derived anew because some other editor wrote the file.
pub(crate) fn aligned(base: Version<'_>, side: Version<'_>) -> Ids {
    let known: HashSet<&str> = base.ids.names().collect();
    let carried = Ids::carry(base.tree, base.ids, side.tree);
    let mut used: HashSet<String> = side.ids.names().filter(|name| known.contains(name)).map(str::to_owned).collect();
    let names: Vec<String> = side
        .ids
        .names()
        .zip(carried.names())
        .map(|(own, carried)| {
            if !known.contains(own) && known.contains(carried) && used.insert(carried.to_owned()) {
                carried.to_owned()
            } else {
                own.to_owned()
            }
        })
        .collect();
    Ids::from_names(side.tree, &names).unwrap_or(carried)
}

/// Returns which ids stand in both rows in the same order.
pub(crate) fn stable<'a>(before: &'a [Piece], after: &[Piece]) -> HashSet<&'a str> {
    let ids = |pieces: &[Piece]| pieces.iter().map(|piece| piece.id.clone()).collect::<Vec<_>>();
    let (before_ids, after_ids) = (ids(before), ids(after));
    let mut stable = HashSet::new();
    for op in similar::capture_diff_slices(similar::Algorithm::Myers, &before_ids, &after_ids) {
        if let similar::DiffOp::Equal { old_index, len, .. } = op {
            stable.extend(before.iter().skip(old_index).take(len).map(|piece| piece.id.as_str()));
        }
    }
    stable
}

/// Finds pieces by their ids.
pub(crate) fn by_id(pieces: &[Piece]) -> HashMap<&str, &Piece> {
    pieces.iter().map(|piece| (piece.id.as_str(), piece)).collect()
}

/// The blanks between two blocks that were neighbours; the end of the document is the neighbour without a name.
pub(crate) type Gaps<'a> = HashMap<(&'a str, &'a str), &'a str>;

/// Returns the blanks between the neighbours of a row.
pub(crate) fn gaps(pieces: &[Piece]) -> Gaps<'_> {
    let next = pieces.iter().skip(1).map(|piece| piece.id.as_str()).chain([""]);
    pieces.iter().zip(next).map(|(piece, next)| ((piece.id.as_str(), next), piece.gap.as_str())).collect()
}

/// Returns the blanks of two sides together: what one changed since the base is as it made it.
pub(crate) fn merged_gaps<'a>(base: &Gaps<'a>, ours: Gaps<'a>, theirs: &Gaps<'a>) -> Gaps<'a> {
    let mut all = theirs.clone();
    for (pair, ours) in ours {
        let gap = match (theirs.get(&pair), base.get(&pair)) {
            (Some(theirs), Some(base)) if *base == ours => theirs,
            (Some(theirs), None) if theirs.len() > ours.len() => theirs,
            _ => ours,
        };
        all.insert(pair, gap);
    }
    all
}

/// Joins pieces to a text. Two that were no neighbours before are kept apart, so that they cannot run into one another.
pub(crate) fn join(pieces: &[Piece], gaps: &Gaps<'_>, end_of_line: &str) -> String {
    let mut out = String::new();
    for (at, piece) in pieces.iter().enumerate() {
        out.push_str(&piece.text);
        let next = pieces.get(at + 1);
        if let Some(gap) = gaps.get(&(piece.id.as_str(), next.map_or("", |next| next.id.as_str()))) {
            out.push_str(gap);
            continue;
        }
        let Some(next) = next else {
            // Another block was the last one: the document ends as it did after that.
            let end = gaps.iter().filter(|((_, next), _)| next.is_empty()).map(|(_, gap)| *gap).min();
            out.push_str(end.unwrap_or(&piece.gap));
            continue;
        };
        out.push_str(&piece.gap);
        if piece.id.ends_with('<') {
            continue;
        }
        let wanted = if piece.depth <= 1 && next.depth <= 1 && piece.kind != "row" { 2 } else { 1 };
        let lines = piece.gap.matches('\n').count();
        (lines..wanted).for_each(|_| out.push_str(end_of_line));
    }
    out
}

/// Returns how lines end in a text.
pub(crate) fn end_of_line(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

#[cfg(test)]
mod tests {
    use deckle_doc::Dialect;

    use super::*;

    #[test]
    fn pieces_joined_are_the_document() {
        for text in [
            "",
            "\n\n",
            "# A\n\nB\n",
            "# A\nB",
            "---\nk: v\n---\n\n- a\n  - b\n\n    c\n- d\n\nend\n\n\n",
            "> q\n> - x\n>\n> y\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n:::note\nx\n\ny\n:::\n",
            "\u{feff}# A\r\n\r\nB\r\n",
            "1. a\n2. b\n\n   ```\n   code\n   ```\n\n[^1]: note\n\n    more\n",
        ] {
            let tree = Tree::parse(text, Dialect::Generic).unwrap();
            let ids = Ids::derive(&tree);
            let version = Version { tree: &tree, ids: &ids };
            for pieces in [top(version), deep(version)] {
                let joined: String = pieces.iter().map(|piece| format!("{}{}", piece.text, piece.gap)).collect();
                assert_eq!(joined, text);
                let unique: HashSet<&str> = pieces.iter().map(|piece| piece.id.as_str()).collect();
                assert_eq!(unique.len(), pieces.len(), "{pieces:?}");
            }
        }
    }
}
