//! The end of a paragraph: what its lines turn out to be.

use std::ops::Range;

use crate::kind::{Alignment, Span};
use crate::node::{Info, Node, SPLIT, Tag};
use crate::parse::chars::is_blank;
use crate::parse::definition::{self, Definition};
use crate::parse::{Leaf, OpenKind, Parser, TextLine, table};

impl Parser<'_> {
    /// Closes the open leaf.
    pub(super) fn close_leaf(&mut self) {
        match std::mem::replace(&mut self.leaf, Leaf::None) {
            Leaf::Paragraph { node } => {
                self.leaf = Leaf::Paragraph { node };
                self.close_paragraph();
                self.leaf = Leaf::None;
            }
            Leaf::Table { node, .. } => {
                let last = self.arena.nodes.len() as u32;
                self.node(node).last = last;
            }
            _ => {}
        }
    }

    /// Closes the open paragraph; whether text was left of it.
    fn close_paragraph(&mut self) -> bool {
        let Leaf::Paragraph { node } = self.leaf else { return false };
        let start = self.arena.nodes[node as usize].content_start as usize;
        if self.src[start] == b'[' {
            if self.take_definitions(node) {
                return false;
            }
            self.take_task();
        }
        self.classify();
        true
    }

    /// Closes the open paragraph as the text of a heading; `false` when there was no text but definitions: then the leaf is none.
    pub(super) fn close_as_heading(&mut self, underline: u8, end: usize) -> bool {
        if self.close_paragraph() {
            let node = self.arena.nodes.len() as u32 - 1;
            let heading = self.node(node);
            heading.tag = Tag::Setext;
            heading.flag = if underline == b'=' { 1 } else { 2 };
            heading.content_end = end as u32;
            self.leaf = Leaf::None;
            return true;
        }
        self.leaf = Leaf::None;
        false
    }

    /// When the line is a delimiter row for the last line of the paragraph: turns both into a table.
    pub(super) fn close_as_table(&mut self, place: usize) -> bool {
        let Leaf::Paragraph { node } = self.leaf else { return false };
        let Some(&head) = self.lines.last() else { return false };
        if head.lazy || head.deep {
            return false;
        }
        let end = self.line.trimmed_end(place);
        let mut alignments: Vec<Alignment> = Vec::new();
        if !table::delimiter_row(&self.src[place..end], &mut alignments) {
            return false;
        }
        let src = self.src;
        let trimmed = head.start() + trimmed_len(&src[head.start()..head.end()]);
        let line = &src[head.start()..trimmed];
        if line == b"|" || table::cells(line, alignments.len() + 2).count() != alignments.len() {
            return false;
        }
        self.lines.pop();
        let split = !self.lines.is_empty();
        if let Some(before) = self.lines.last() {
            let end = before.start() + trimmed_len(&src[before.start()..before.end()]);
            self.node(node).content_end = end as u32;
            self.close_paragraph();
        } else {
            self.arena.nodes.pop();
        }
        self.leaf = Leaf::None;
        let table = self.push(Tag::Table, head.prefix(), head.start()..end);
        let info = Info { number: alignments.len() as u32, form: self.arena.alignments.len() as u32, ..Info::EMPTY };
        let extra = self.push_info(info);
        let node = self.node(table);
        node.extra = extra;
        node.small = if split { SPLIT } else { 0 };
        let columns = alignments.len();
        self.arena.alignments.append(&mut alignments);
        self.leaf = Leaf::Table { node: table, columns };
        self.row(true, columns + 1, head.prefix(), head.start(), head.end());
        true
    }

    /// Takes the definitions at the start of the paragraph out of it; `true` when nothing is left.
    fn take_definitions(&mut self, node: u32) -> bool {
        let content = self.arena.nodes[node as usize];
        let range = content.content_start as usize..content.content_end as usize;
        if memchr::memmem::find(&self.src[range.clone()], b"]:").is_none() {
            return false;
        }
        let text = Joined::new(self.src, &self.lines, range.end);
        let mut at = 0;
        let mut count = 0;
        while at < text.bytes.len()
            && let Some(definition) = definition::definition(&text.bytes, at)
        {
            if count == 0 {
                self.arena.nodes.pop();
            }
            self.push_definition(&text, &definition, (count == 0).then_some(&content));
            at = definition.end + 1;
            count += 1;
        }
        if count == 0 {
            return false;
        }
        if at >= text.bytes.len() {
            return true;
        }
        let (start, place) = (text.prefix(at), text.place(at));
        let rest = self.push(Tag::Paragraph, start, place..range.end);
        self.node(rest).small = SPLIT;
        false
    }

    /// Adds a definition; the first one stands where the paragraph stood.
    fn push_definition(&mut self, text: &Joined, definition: &Definition, first: Option<&Node>) {
        let (label, destination) = (text.span(&definition.label), text.span(&definition.destination));
        let title = definition.title.as_ref().map_or(Span::NONE, |title| text.span(title));
        let from = definition.label.start - 1;
        let start = first.map_or_else(|| text.prefix(from), |paragraph| paragraph.start as usize);
        let place = text.place(from);
        let mut end = text.end_place(definition.end);
        while end > place && is_blank(self.src[end - 1]) {
            end -= 1;
        }
        let index = self.push(Tag::Definition, start, place..end);
        let extra = self.push_info(Info { a: label, b: destination, c: title, ..Info::EMPTY });
        let stored = self.node(index);
        stored.extra = extra;
        stored.small = first.map_or(SPLIT, |paragraph| paragraph.small);
    }

    /// Reads `[ ]` or `[x]` at the start of the first paragraph of an item: it belongs to the item.
    fn take_task(&mut self) {
        let Some(open) = self.stack.last().filter(|open| open.kind == OpenKind::Item) else { return };
        let item = open.node;
        let node = self.arena.nodes.len() - 1;
        if node != item as usize + 1 {
            return;
        }
        let paragraph = self.arena.nodes[node];
        let text = &self.src[paragraph.content_start as usize..paragraph.content_end as usize];
        let task = match text {
            [b'[', b' ' | b'\t', b']', b' ' | b'\t' | b'\n' | b'\r', ..] => 1,
            [b'[', b'x' | b'X', b']', b' ' | b'\t' | b'\n' | b'\r', ..] => 2,
            _ => return,
        };
        let Some(&line) = self.lines.first() else { return };
        let start = line.start() + 4;
        let (at, place) = if start < line.end() {
            let mut place = start;
            while place < line.end() && is_blank(self.src[place]) {
                place += 1;
            }
            if place < line.end() { (start, place) } else { self.second_line(start) }
        } else {
            self.second_line(line.end())
        };
        self.node(item).flag = task;
        let stored = &mut self.arena.nodes[node];
        stored.start = at as u32;
        stored.content_start = place as u32;
    }

    fn second_line(&self, fallback: usize) -> (usize, usize) {
        self.lines.get(1).map_or((fallback, fallback), |line| (line.prefix(), line.start()))
    }

    /// Tells math and shortcodes from other paragraphs.
    fn classify(&mut self) {
        let Some(node) = self.arena.nodes.last_mut() else { return };
        let text = &self.src[node.content_start as usize..node.content_end as usize];
        match text.first() {
            Some(b'$') => {
                let inner = text.strip_prefix(b"$$").and_then(|rest| rest.strip_suffix(b"$$"));
                if inner.is_some_and(|inner| !inner.is_empty() && memchr::memmem::find(inner, b"$$").is_none()) {
                    node.tag = Tag::Math;
                }
            }
            Some(b'{') => {
                let pairs: [(&[u8], &[u8]); 3] = [(b"{{<", b">}}"), (b"{{%", b"%}}"), (b"{%", b"%}")];
                if pairs.iter().any(|(open, close)| {
                    text.starts_with(open) && text.ends_with(close) && text.len() >= open.len() + close.len()
                }) {
                    node.tag = Tag::Opaque;
                    node.flag = 2;
                }
            }
            _ => {}
        }
    }
}

fn trimmed_len(line: &[u8]) -> usize {
    line.iter().rposition(|&byte| !is_blank(byte)).map_or(0, |at| at + 1)
}

/// The lines of a paragraph without their prefixes, joined by line feeds, with the way back to the source.
struct Joined {
    bytes: Vec<u8>,
    /// For each line: its place in `bytes`, its place in the source, its prefix.
    lines: Vec<(u32, u32, u32)>,
}

impl Joined {
    fn new(src: &[u8], lines: &[TextLine], end: usize) -> Joined {
        let mut joined = Joined { bytes: Vec::new(), lines: Vec::with_capacity(lines.len()) };
        for line in lines {
            if !joined.lines.is_empty() {
                joined.bytes.push(b'\n');
            }
            joined.lines.push((joined.bytes.len() as u32, line.start, line.prefix));
            joined.bytes.extend_from_slice(&src[line.start()..line.end().min(end).max(line.start())]);
        }
        joined
    }

    fn line(&self, at: usize) -> (usize, usize, usize) {
        let index = self.lines.partition_point(|line| line.0 as usize <= at).max(1) - 1;
        let (from, source, prefix) = self.lines[index];
        (from as usize, source as usize, prefix as usize)
    }

    fn place(&self, at: usize) -> usize {
        let (from, source, _) = self.line(at);
        source + at - from
    }

    /// The place after the byte before `at`.
    fn end_place(&self, at: usize) -> usize {
        if at == 0 { self.place(0) } else { self.place(at - 1) + 1 }
    }

    fn prefix(&self, at: usize) -> usize {
        self.line(at).2
    }

    fn span(&self, range: &Range<usize>) -> Span {
        if range.is_empty() {
            let at = self.place(range.start);
            return Span::new(at, at);
        }
        Span::new(self.place(range.start), self.end_place(range.end))
    }
}
