//! GFM tables.

use super::cursor::{Ahead, trim_end};
use super::raw::Kind;
use super::{Leaf, Parser, Reading};
use crate::kind::Alignment;

impl Parser<'_> {
    /// Makes the last line of the open paragraph the head of a table when this line is its delimiter row.
    pub(super) fn start_table(&mut self, line: &mut Reading<'_>, ahead: Ahead) -> bool {
        let Leaf::Paragraph { node } = self.leaf else { return false };
        let end = trim_end(self.bytes, ahead.pos, line.cursor.end);
        let Some(align) = delimiter_row(&self.bytes[ahead.pos..end]) else { return false };
        let Some(head) = self.lines.last().copied() else { return false };
        let head_text = head.text.range();
        if count_cells(&self.bytes[head_text.clone()]) != Some(align.len()) {
            return false;
        }
        let table = Kind::Table { align: align.into_boxed_slice() };
        let node = if self.lines.len() == 1 {
            self.nodes[node as usize].kind = table;
            node
        } else {
            // The lines before the head stay a paragraph, or what it holds.
            self.lines.pop();
            let before = self.lines.last().map_or(head_text.start, |line| line.text.end as usize);
            self.extend(node, before);
            self.close_leaf();
            self.push(table, head.start, head_text.start)
        };
        self.lines.clear();
        self.leaf = Leaf::Table { node };
        let start = self.nodes[node as usize].span.start as usize;
        self.row(node, true, start, head_text.start, head_text.end);
        self.extend(node, end);
        true
    }

    /// A line of the body.
    pub(super) fn table_row(&mut self, table: u32, line: &Reading<'_>, ahead: Ahead, end: usize) {
        self.row(table, false, line.start, ahead.pos, end);
    }

    /// Adds a row and its cells. The cell's extent goes from after a pipe to after the next.
    fn row(&mut self, table: u32, head: bool, start: usize, from: usize, to: usize) {
        let row = self.push(Kind::Row { head }, start, from);
        self.extend(row, to);
        self.nodes[row as usize].parent = table;
        let mut at = from;
        if self.bytes[at] == b'|' {
            at += 1;
        }
        while at < to {
            let pipe = next_pipe(&self.bytes[at..to]).map(|offset| at + offset);
            let stop = pipe.unwrap_or(to);
            let mut first = at;
            while first < stop && matches!(self.bytes[first], b' ' | b'\t') {
                first += 1;
            }
            // Blanks after the last pipe are no cell.
            if pipe.is_none() && first == stop {
                break;
            }
            let cell = self.push(Kind::Cell, at, first);
            self.extend(cell, trim_end(self.bytes, first, stop));
            self.nodes[cell as usize].parent = row;
            at = pipe.map_or(to, |pipe| pipe + 1);
        }
        self.nodes[row as usize].close = at as u32;
        self.nodes[row as usize].end = self.nodes.len() as u32;
        self.extend(table, to);
    }
}

/// Where the next pipe is that no backslash escapes.
fn next_pipe(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = memchr::memchr2(b'|', b'\\', &text[at..]) {
        at += found;
        if text[at] == b'|' {
            return Some(at);
        }
        at += if matches!(text.get(at + 1), Some(b'|' | b'\\')) { 2 } else { 1 };
        if at >= text.len() {
            break;
        }
    }
    None
}

/// The number of cells of a head row; nothing when it cannot be one.
fn count_cells(text: &[u8]) -> Option<usize> {
    let mut rest = text.strip_prefix(b"|").unwrap_or(text);
    if rest.iter().all(|b| matches!(b, b' ' | b'\t')) {
        return None;
    }
    let mut count = 0;
    while !rest.iter().all(|b| matches!(b, b' ' | b'\t')) {
        count += 1;
        match next_pipe(rest) {
            Some(pipe) => rest = &rest[pipe + 1..],
            None => break,
        }
    }
    Some(count)
}

/// Reads `| --- | :-: |`. At least one colon or pipe must be there, else it is a break or an underline.
fn delimiter_row(text: &[u8]) -> Option<Vec<Alignment>> {
    if !text.iter().all(|b| matches!(b, b'|' | b'-' | b':' | b' ' | b'\t')) || !text.iter().any(|b| matches!(b, b'|' | b':')) {
        return None;
    }
    let inner = text.strip_prefix(b"|").unwrap_or(text);
    let inner = inner.strip_suffix(b"|").unwrap_or(inner);
    inner.split(|b| *b == b'|').map(delimiter_cell).collect()
}

fn delimiter_cell(cell: &[u8]) -> Option<Alignment> {
    let cell = cell.trim_ascii();
    let left = cell.first() == Some(&b':');
    let right = cell.len() > 1 && cell.last() == Some(&b':');
    let dashes = &cell[usize::from(left)..cell.len() - usize::from(right)];
    if dashes.is_empty() || !dashes.iter().all(|b| *b == b'-') {
        return None;
    }
    Some(match (left, right) {
        (false, false) => Alignment::None,
        (true, false) => Alignment::Left,
        (false, true) => Alignment::Right,
        (true, true) => Alignment::Center,
    })
}
