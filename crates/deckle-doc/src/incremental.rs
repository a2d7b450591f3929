//! Parsing again after a change: only from a block before it to the first block after it at which both parses agree.
//!
//! A block at the top that its own first line opened (not one split off another's lines) leaves the parser in one state, whatever came
//! before. So parsing can start at such a block whose first line the change doesn't touch; and once the parse opens such a block where the
//! old tree has one too, on bytes after the change, everything that follows is as it was.

use std::ops::Range;

use crate::limits::LimitError;
use crate::node::{Arena, Info, Node, SPLIT, Tag};
use crate::parse::cursor::Cursor;
use crate::parse::{self, Parser, Syntax};

/// Returns the arena of `source`, which is the text of `old` with the bytes of `range` replaced by `inserted` others.
pub(crate) fn splice(
    old_source: &str,
    old: &Arena,
    source: &str,
    syntax: Syntax,
    range: Range<usize>,
    inserted: usize,
) -> Result<Arena, LimitError> {
    let Some(first) = restart(old_source.as_bytes(), &old.nodes, range.start) else { return parse::document(source, syntax) };
    let edit_end = range.start + inserted;
    // Positions in the old and the new text differ by this, in wrapping arithmetic.
    let by = (source.len() as u32).wrapping_sub(old_source.len() as u32);
    let mut parser = Parser::new(source, syntax, old.nodes[first].start as usize, inserted);
    let mut resumed = old.nodes.len();
    let stop = parser.run(&mut |line| {
        if line < edit_end {
            return false;
        }
        let start = (line as u32).wrapping_sub(by);
        let at = first + old.nodes[first..].partition_point(|node| node.start < start);
        let same = old.nodes.get(at).is_some_and(|node| node.start == start && node.parent == 0 && node.small & SPLIT == 0);
        if same {
            resumed = at;
        }
        same
    })?;
    let fresh = parser.finish(stop.unwrap_or(source.len()));
    Ok(join(old, first, fresh, resumed, by, source.len()))
}

/// Returns the block at the top at which parsing can start again: opened by its own first line, which ends before the change.
fn restart(source: &[u8], nodes: &[Node], change: usize) -> Option<usize> {
    if nodes.len() < 2 {
        return None;
    }
    // An opening fence of front matter without its end: anything later may end it.
    let body = if source.starts_with("\u{FEFF}".as_bytes()) { 3 } else { 0 };
    let fence = matches!(source.get(body..body + 3), Some(b"---" | b"+++"));
    if fence && !matches!(nodes[1].tag, Tag::Yaml | Tag::Toml) {
        return None;
    }
    let mut at = nodes.partition_point(|node| (node.start as usize) < change).checked_sub(1)?;
    loop {
        while nodes[at].parent != 0 {
            at = nodes[at].parent as usize;
        }
        let node = &nodes[at];
        if at == 0 || matches!(node.tag, Tag::Yaml | Tag::Toml) {
            return None;
        }
        let line = Cursor::line(source, node.start as usize);
        // A last line without a line ending goes on with what is put after it.
        if node.small & SPLIT == 0 && line.next <= change && line.next > line.end {
            return Some(at);
        }
        at -= 1;
    }
}

/// Puts together the old blocks before `first`, the fresh ones, and the old ones from `resumed` on, moved.
fn join(old: &Arena, first: usize, fresh: Arena, resumed: usize, by: u32, bytes: usize) -> Arena {
    let (old_infos, old_alignments) = (part_counts(old, first), part_counts(old, resumed));
    let mut nodes = Vec::with_capacity(first + fresh.nodes.len() + old.nodes.len() - resumed);
    let mut infos = Vec::with_capacity(old_infos.0 + fresh.infos.len() + old.infos.len() - old_alignments.0);
    let mut alignments = old.alignments[..old_infos.1].to_vec();
    nodes.extend_from_slice(&old.nodes[..first]);
    infos.extend_from_slice(&old.infos[..old_infos.0]);

    // The fresh arena has a root of its own, which is left out.
    let index_by = first as u32 - 1;
    let (info_by, alignment_by) = (infos.len() as u32, alignments.len() as u32);
    nodes.extend(fresh.nodes[1..].iter().map(|node| moved(node, 0, index_by, info_by)));
    infos.extend_from_slice(&fresh.infos);
    shift_alignments(&mut nodes[first..], &mut infos, alignment_by);
    alignments.extend_from_slice(&fresh.alignments);

    let rest = nodes.len();
    let index_by = (rest as u32).wrapping_sub(resumed as u32);
    let info_by = (infos.len() as u32).wrapping_sub(old_alignments.0 as u32);
    let alignment_by = (alignments.len() as u32).wrapping_sub(old_alignments.1 as u32);
    nodes.extend(old.nodes[resumed..].iter().map(|node| moved(node, by, index_by, info_by)));
    infos.extend(old.infos[old_alignments.0..].iter().map(|info| {
        let mut info = *info;
        info.shift(by);
        info
    }));
    if alignment_by != 0 {
        shift_alignments(&mut nodes[rest..], &mut infos, alignment_by);
    }
    alignments.extend_from_slice(&old.alignments[old_alignments.1..]);

    set_root(&mut nodes, bytes, fresh.nodes[0].content_start);
    Arena { nodes, infos, alignments }
}

/// Returns how many infos and alignments belong to the blocks before `at`.
fn part_counts(arena: &Arena, at: usize) -> (usize, usize) {
    let mut infos = None;
    for node in &arena.nodes[at..] {
        if infos.is_none() && node.tag.has_info() {
            infos = Some(node.extra as usize);
        }
        if node.tag == Tag::Table {
            let table = arena.infos[node.extra as usize];
            return (infos.unwrap_or(node.extra as usize), table.form as usize);
        }
    }
    (infos.unwrap_or(arena.infos.len()), arena.alignments.len())
}

fn moved(node: &Node, by: u32, index_by: u32, info_by: u32) -> Node {
    let extra = if node.tag.has_info() {
        node.extra.wrapping_add(info_by)
    } else if node.tag == Tag::Row {
        node.extra.wrapping_add(by)
    } else {
        node.extra
    };
    Node {
        start: node.start.wrapping_add(by),
        end: node.end.wrapping_add(by),
        content_start: node.content_start.wrapping_add(by),
        content_end: node.content_end.wrapping_add(by),
        parent: if node.parent == 0 { 0 } else { node.parent.wrapping_add(index_by) },
        last: node.last.wrapping_add(index_by),
        extra,
        ..*node
    }
}

fn shift_alignments(nodes: &mut [Node], infos: &mut [Info], by: u32) {
    for node in nodes.iter().filter(|node| node.tag == Tag::Table) {
        let form = &mut infos[node.extra as usize].form;
        *form = form.wrapping_add(by);
    }
}

fn set_root(nodes: &mut [Node], bytes: usize, empty: u32) {
    let count = nodes.len();
    let mut last = count - 1;
    while nodes[last].parent != 0 {
        last = nodes[last].parent as usize;
    }
    let (start, end) = if count > 1 { (nodes[1].content_start, nodes[last].content_end) } else { (empty, empty) };
    let root = &mut nodes[0];
    root.content_start = start;
    root.content_end = end;
    root.end = bytes as u32;
    root.last = count as u32;
}
