//! The text of a leaf as one run of bytes, without the prefixes that containers put before its later lines.

use std::borrow::Cow;
use std::ops::Range;

use crate::kind::{Kind, Span};
use crate::tree::Block;

/// The text of a leaf, and where each of its lines stands in the source.
pub(super) struct View<'t> {
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
            return View { bytes: Cow::Borrowed(text), lines: vec![(0, range.start)] };
        };
        let quotes = block.ancestors().filter(|above| above.kind() == Kind::Quote).count();
        let indented = block
            .ancestors()
            .any(|above| matches!(above.kind(), Kind::Item { .. } | Kind::FootnoteDefinition { .. } | Kind::Admonition { .. }));
        let mut bytes = text[..first_end].to_vec();
        let mut lines = vec![(0, range.start)];
        let mut at = first_end;
        while at < text.len() {
            // `at` is a line end.
            at += if text[at] == b'\r' && text.get(at + 1) == Some(&b'\n') { 2 } else { 1 };
            bytes.push(b'\n');
            at += prefix(&text[at..], quotes, indented);
            lines.push((bytes.len(), range.start + at));
            let end = memchr::memchr2(b'\n', b'\r', &text[at..]).map_or(text.len(), |end| at + end);
            bytes.extend_from_slice(&text[at..end]);
            at = end;
        }
        View { bytes: Cow::Owned(bytes), lines }
    }

    /// The place in the source of a byte that starts something.
    pub fn start(&self, at: usize) -> usize {
        let line = self.lines.partition_point(|(offset, _)| *offset <= at).saturating_sub(1);
        self.lines.get(line).map_or(0, |(offset, place)| place + (at - offset))
    }

    /// The place in the source after a byte that ends something.
    pub fn end(&self, at: usize) -> usize {
        if at == 0 { self.start(0) } else { self.start(at - 1) + 1 }
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

/// The length of the blanks and quote marks in front of a later line.
fn prefix(line: &[u8], quotes: usize, indented: bool) -> usize {
    let blanks = |from: usize| line[from..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let mut at = 0;
    for _ in 0..quotes {
        let indent = blanks(at);
        if line.get(at + indent) != Some(&b'>') || indent > 4 && !indented {
            break;
        }
        at += indent + 1;
    }
    at + blanks(at)
}
