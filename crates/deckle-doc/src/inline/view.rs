//! The text of a leaf as one run of bytes, without the prefixes that containers put before its later lines.

use std::borrow::Cow;
use std::ops::Range;

use crate::kind::{Kind, Span};
use crate::lines::prefix;
use crate::parse::cursor::Cursor;
use crate::tree::Block;

/// The text of a leaf, and where each of its lines stands in the source.
pub(super) struct View<'t> {
    source: &'t [u8],
    /// The lines, a line feed between them.
    pub bytes: Cow<'t, [u8]>,
    /// For each line: its offset in `bytes`, and in the source.
    lines: Vec<(usize, usize)>,
}

impl<'t> View<'t> {
    pub fn of(block: &Block<'t>) -> View<'t> {
        let source = block.tree().source().as_bytes();
        let range = block.inner();
        let text = &source[range.clone()];
        let Some(first_end) = memchr::memchr2(b'\n', b'\r', text) else {
            return View { source, bytes: Cow::Borrowed(text), lines: vec![(0, range.start)] };
        };
        let mut above: Vec<Block<'_>> =
            block.ancestors().filter(|above| !matches!(above.kind(), Kind::List { .. } | Kind::Document)).collect();
        above.reverse();
        let mut bytes = Vec::with_capacity(text.len());
        bytes.extend_from_slice(&text[..first_end]);
        let mut lines = vec![(0, range.start)];
        let mut at = first_end;
        while at < text.len() {
            // `at` is a line end.
            at += if text[at] == b'\r' && text.get(at + 1) == Some(&b'\n') { 2 } else { 1 };
            bytes.push(b'\n');
            let mut line = Cursor::line(source, range.start + at);
            prefix(&mut line, &above);
            let start = line.indent().1.min(range.end);
            let end = line.end.min(range.end).max(start);
            lines.push((bytes.len(), start));
            bytes.extend_from_slice(&source[start..end]);
            at = end - range.start;
        }
        View { source, bytes: Cow::Owned(bytes), lines }
    }

    /// The place in the source of a byte that starts something.
    pub fn start(&self, at: usize) -> usize {
        let line = self.lines.partition_point(|(offset, _)| *offset <= at).saturating_sub(1);
        self.lines.get(line).map_or(0, |(offset, place)| place + (at - offset))
    }

    /// The place in the source after a byte that ends something; a line feed stands for the whole line ending.
    pub fn end(&self, at: usize) -> usize {
        if at == 0 {
            return self.start(0);
        }
        let last = self.start(at - 1);
        let both = self.bytes[at - 1] == b'\n' && self.source[last..].starts_with(b"\r\n");
        last + if both { 2 } else { 1 }
    }

    pub fn range(&self, range: Range<usize>) -> Range<usize> {
        let start = self.start(range.start);
        // An empty range inside a line stays where it is.
        if range.is_empty() { start..start } else { start..self.end(range.end) }
    }

    pub fn span(&self, range: Range<usize>) -> Span {
        let range = self.range(range);
        Span::new(range.start, range.end)
    }
}
