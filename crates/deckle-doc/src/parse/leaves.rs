//! Leaves: headings, paragraphs, code, breaks.

use super::cursor::{Ahead, trim_end};
use super::raw::{Fence, Kind};
use super::{Leaf, Line, OpenKind, Parser, Reading, definitions};
use crate::kind::Span;

impl Parser<'_> {
    /// Gives the line to an open leaf that takes it before any block may start. Returns true when the line is used up.
    pub(super) fn continue_leaf(&mut self, line: &mut Reading<'_>) -> bool {
        match self.leaf {
            Leaf::Fenced { node, byte, length } => {
                let ahead = line.cursor.ahead();
                let end = trim_end(self.bytes, ahead.pos.min(line.cursor.end), line.cursor.end);
                if ahead.indent < 4 && ahead.byte == byte {
                    let text = &self.bytes[ahead.pos..end];
                    if text.len() >= length && text.iter().all(|b| *b == byte) {
                        self.extend(node, end);
                        if let Kind::Code { fence: Some(fence), .. } = &mut self.nodes[node as usize].kind {
                            fence.closed = true;
                        }
                        self.leaf = Leaf::None;
                        return true;
                    }
                }
                if !ahead.is_blank() {
                    self.extend(node, end);
                }
                true
            }
            Leaf::Html { node, end } => {
                let ahead = line.cursor.ahead();
                if ahead.is_blank() && end.at_blank() {
                    self.leaf = Leaf::None;
                    return true;
                }
                if !ahead.is_blank() {
                    self.extend(node, trim_end(self.bytes, ahead.pos, line.cursor.end));
                    if end.is_in(&self.bytes[ahead.pos..line.cursor.end]) {
                        self.leaf = Leaf::None;
                    }
                }
                true
            }
            Leaf::Indented { node } => {
                let ahead = line.cursor.ahead();
                if ahead.is_blank() {
                    return true;
                }
                if ahead.indent >= 4 {
                    self.extend(node, trim_end(self.bytes, ahead.pos, line.cursor.end));
                    return true;
                }
                self.leaf = Leaf::None;
                false
            }
            Leaf::None | Leaf::Paragraph { .. } | Leaf::Table { .. } => false,
        }
    }

    /// A line with nothing on it ends a paragraph or a table.
    pub(super) fn blank_line(&mut self, line: &Reading<'_>) {
        if line.matched < self.open.len() {
            let keep = line.matched;
            self.close_to(keep);
        } else if !matches!(self.leaf, Leaf::Fenced { .. }) {
            self.close_leaf();
        }
    }

    /// Text that starts no block: a line of the open paragraph or table, or a new paragraph.
    pub(super) fn text_line(&mut self, line: &mut Reading<'_>, ahead: Ahead, paragraph: Option<u32>) {
        let end = trim_end(self.bytes, ahead.pos, line.cursor.end);
        let text = Span::new(ahead.pos, end);
        let all_matched = line.matched == self.open.len();
        if let Some(node) = paragraph {
            // A lazy line continues a paragraph in quotes and items, not inside a directive that it does not belong to.
            let lazy = self.open[line.matched..].iter().all(|open| !matches!(open.kind, OpenKind::Directive { .. }));
            if all_matched || lazy {
                self.lines.push(Line { start: line.start, text });
                self.extend(node, end);
                return;
            }
        }
        if let (Leaf::Table { node }, true) = (self.leaf, all_matched) {
            self.table_row(node, line, ahead, end);
            return;
        }
        self.make_room(line, false);
        let start = line.block_start();
        let node = self.push(Kind::Paragraph, start, ahead.pos);
        self.extend(node, end);
        self.leaf = Leaf::Paragraph { node };
        self.lines.clear();
        self.lines.push(Line { start, text });
    }

    /// Ends the open leaf.
    pub(super) fn close_leaf(&mut self) {
        if let Leaf::Paragraph { node } = self.leaf {
            self.close_paragraph(node);
        }
        if let Leaf::Table { node } = self.leaf {
            self.nodes[node as usize].end = self.nodes.len() as u32;
        }
        self.leaf = Leaf::None;
    }

    /// Takes link definitions off the front of a paragraph and a check box off the first paragraph of an item. Returns whether text is left.
    pub(super) fn close_paragraph(&mut self, node: u32) -> bool {
        let Some(first) = self.lines.first().copied() else { return true };
        if self.bytes[first.text.start as usize] != b'[' {
            return true;
        }
        let used = definitions::read(self.source, &self.lines);
        if !used.is_empty() {
            // The paragraph is the last block, so the definitions can take its place and it can follow them.
            let Some(paragraph) = self.nodes.pop() else { return true };
            let mut taken = 0;
            for definition in used {
                let start = self.lines[taken].start;
                let at = self.push(definition.kind, start, definition.content.start as usize);
                self.extend(at, definition.content.end as usize);
                self.nodes[at as usize].parent = paragraph.parent;
                taken = definition.lines;
            }
            self.lines.drain(..taken);
            let Some(rest) = self.lines.first().copied() else {
                self.leaf = Leaf::None;
                return false;
            };
            let at = self.push(Kind::Paragraph, rest.start, rest.text.start as usize);
            self.extend(at, paragraph.content.end as usize);
            self.nodes[at as usize].parent = paragraph.parent;
            self.leaf = Leaf::Paragraph { node: at };
            return true;
        }
        self.check_box(node, first);
        true
    }

    /// `[ ]` or `[x]` and a blank, in front of the first paragraph of an item.
    fn check_box(&mut self, node: u32, first: Line) {
        let parent = self.nodes[node as usize].parent;
        if node != parent + 1 || !matches!(self.nodes[parent as usize].kind, Kind::Item { task: None }) {
            return;
        }
        let start = first.text.start as usize;
        let checked = match self.bytes.get(start..start + 3) {
            Some(b"[x]" | b"[X]") => true,
            Some(b"[ ]" | b"[\t]") => false,
            _ => return,
        };
        let mut at = start + 3;
        let content_end = self.nodes[node as usize].content.end as usize;
        let blanks = self.bytes[at..content_end].iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
        let at_line_end = matches!(self.bytes.get(at + blanks), Some(b'\n' | b'\r'));
        if blanks == 0 && !at_line_end || at + blanks >= content_end {
            return;
        }
        at += blanks;
        if at_line_end && let Some(second) = self.lines.get(1) {
            at = second.text.start as usize;
        }
        self.nodes[parent as usize].kind = Kind::Item { task: Some(checked) };
        self.nodes[node as usize].content.start = at as u32;
    }

    /// `# Heading`.
    pub(super) fn start_atx(&mut self, line: &mut Reading<'_>, ahead: Ahead) -> bool {
        let text = &self.bytes[ahead.pos..line.cursor.end];
        let level = text.iter().take_while(|b| **b == b'#').count();
        if level > 6 || !matches!(text.get(level), None | Some(b' ' | b'\t')) {
            return false;
        }
        self.make_room(line, false);
        let node = self.push(Kind::Heading { level: level as u8, setext: false }, line.block_start(), ahead.pos);
        self.extend(node, trim_end(self.bytes, ahead.pos, line.cursor.end));
        true
    }

    /// The underline that makes the open paragraph a heading.
    pub(super) fn underline(&mut self, line: &mut Reading<'_>, ahead: Ahead) -> bool {
        let end = trim_end(self.bytes, ahead.pos, line.cursor.end);
        if !self.bytes[ahead.pos..end].iter().all(|b| *b == ahead.byte) {
            return false;
        }
        let Leaf::Paragraph { node } = self.leaf else { return false };
        if !self.close_paragraph(node) {
            return false;
        }
        let Leaf::Paragraph { node } = self.leaf else { return false };
        self.nodes[node as usize].kind = Kind::Heading { level: if ahead.byte == b'=' { 1 } else { 2 }, setext: true };
        self.extend(node, end);
        self.leaf = Leaf::None;
        true
    }

    /// `***`, `- - -`, `___`.
    pub(super) fn start_break(&mut self, line: &mut Reading<'_>, ahead: Ahead) -> bool {
        let mut count = 0;
        for byte in &self.bytes[ahead.pos..line.cursor.end] {
            match byte {
                b if *b == ahead.byte => count += 1,
                b' ' | b'\t' => {}
                _ => return false,
            }
        }
        if count < 3 {
            return false;
        }
        self.make_room(line, false);
        let node = self.push(Kind::Break, line.block_start(), ahead.pos);
        self.extend(node, trim_end(self.bytes, ahead.pos, line.cursor.end));
        true
    }

    pub(super) fn start_fence(&mut self, line: &mut Reading<'_>, ahead: Ahead) -> bool {
        let end = trim_end(self.bytes, ahead.pos, line.cursor.end);
        let text = &self.bytes[ahead.pos..end];
        let length = text.iter().take_while(|b| **b == ahead.byte).count();
        if length < 3 || ahead.byte == b'`' && text[length..].contains(&b'`') {
            return false;
        }
        let blanks = text[length..].iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
        let info = Span::new(ahead.pos + length + blanks, end);
        let fence = Fence { byte: ahead.byte, length: length as u32, closed: false };
        self.make_room(line, false);
        let node = self.push(Kind::Code { fence: Some(fence), info }, line.block_start(), ahead.pos);
        self.extend(node, end);
        self.leaf = Leaf::Fenced { node, byte: ahead.byte, length };
        true
    }

    pub(super) fn start_indented(&mut self, line: &mut Reading<'_>) {
        self.make_room(line, false);
        let ahead = line.cursor.ahead();
        let node = self.push(Kind::Code { fence: None, info: Span::NONE }, line.block_start(), ahead.pos);
        self.extend(node, trim_end(self.bytes, ahead.pos, line.cursor.end));
        self.leaf = Leaf::Indented { node };
    }
}
