//! What the rest of a line is, after its containers: the open leaf's next line, or the start of another.

use crate::node::{Info, SPLIT, Tag};
use crate::parse::chars::is_blank;
use crate::parse::html::HtmlEnd;
use crate::parse::start::Start;
use crate::parse::table::{self, MAX_EXCESS_CELLS};
use crate::parse::{Leaf, OpenKind, Parser, TextLine};

impl Parser<'_> {
    /// Whether the leaf takes every line that its containers go on with.
    pub(super) fn leaf_is_concrete(&self) -> bool {
        matches!(self.leaf, Leaf::Code { .. } | Leaf::Html { .. } | Leaf::Math { .. } | Leaf::Opaque { .. })
    }

    /// Reads what is left of the line.
    pub(super) fn read_rest(&mut self, matched: usize, opened: bool, quotes: usize) {
        let (columns, place) = self.line.indent();
        let all = opened || matched == self.stack.len();
        if place == self.line.end {
            if !all {
                self.close_to(matched);
            }
            let verbatim = self.leaf_is_concrete();
            self.blank_rest();
            self.blank = !opened && !verbatim;
            self.blank_quotes = quotes;
            return;
        }
        if !all {
            if self.may_be_lazy(matched) && (columns > 3 || self.start_at(place, true).is_none()) {
                self.lazy_line(columns, place);
                self.blank = false;
                return;
            }
            self.close_to(matched);
        }
        self.text_rest(columns, place);
        self.blank = false;
    }

    /// A line without content.
    fn blank_rest(&mut self) {
        match self.leaf {
            Leaf::Paragraph { .. } | Leaf::Table { .. } | Leaf::Opaque { .. } | Leaf::Html { end: HtmlEnd::Blank, .. } => {
                self.close_leaf();
            }
            _ => {}
        }
    }

    /// Whether a line may go on with the paragraph although containers around it don't go on. Nothing reaches into a fenced one.
    fn may_be_lazy(&self, matched: usize) -> bool {
        matches!(self.leaf, Leaf::Paragraph { .. }) && !self.stack[matched..].iter().any(|open| open.kind == OpenKind::Fenced)
    }

    /// A line that interrupts no paragraph. A complete HTML tag on it starts HTML in the innermost container, as in the reference;
    /// else it is text of the paragraph.
    fn lazy_line(&mut self, columns: usize, place: usize) {
        if columns < 4
            && self.src[place] == b'<'
            && let Some(start @ Start::Html(_)) = self.start_at(place, false)
        {
            self.close_leaf();
            self.begin(start, place);
        } else {
            self.paragraph_line(place, true, columns > 3);
        }
    }

    fn text_rest(&mut self, columns: usize, place: usize) {
        match self.leaf {
            Leaf::Code { node, character, length } => {
                let end = self.line.trimmed_end(place);
                self.node(node).content_end = end as u32;
                if columns < 4 && self.is_closing_fence(place, character, length) {
                    let info = self.node(node).extra as usize;
                    self.arena.infos[info].close = self.line.start as u32;
                    self.leaf = Leaf::None;
                }
            }
            Leaf::Html { node, end } => {
                let trimmed = self.line.trimmed_end(place);
                self.node(node).content_end = trimmed as u32;
                if end.is_in(&self.src[place..self.line.end]) {
                    self.leaf = Leaf::None;
                }
            }
            Leaf::Math { node } => {
                let end = self.line.trimmed_end(place);
                self.node(node).content_end = end as u32;
                if &self.src[place..end] == b"$$" {
                    self.leaf = Leaf::None;
                }
            }
            Leaf::Opaque { node } => {
                let end = self.line.trimmed_end(place);
                self.node(node).content_end = end as u32;
            }
            Leaf::Indented { node } => {
                if columns > 3 {
                    let end = self.line.trimmed_end(place);
                    self.node(node).content_end = end as u32;
                } else {
                    self.leaf = Leaf::None;
                    self.start_leaf(columns, place);
                }
            }
            Leaf::Paragraph { .. } => self.after_paragraph(columns, place),
            Leaf::Table { columns: count, .. } => {
                if columns > 3 || self.start_at(place, false).is_some() {
                    self.close_leaf();
                    self.start_leaf(columns, place);
                } else {
                    self.row(false, count + MAX_EXCESS_CELLS, self.line.start, place, self.line.end);
                }
            }
            Leaf::None => self.start_leaf(columns, place),
        }
    }

    /// A line after the lines of a paragraph.
    fn after_paragraph(&mut self, columns: usize, place: usize) {
        if columns > 3 {
            self.paragraph_line(place, false, true);
            return;
        }
        let first = self.src[place];
        if matches!(first, b'=' | b'-') {
            let end = self.line.trimmed_end(place);
            if self.src[place..end].iter().all(|&byte| byte == first) && self.close_as_heading(first, end) {
                return;
            }
            if matches!(self.leaf, Leaf::None) {
                // The paragraph was nothing but definitions. What starts here could not start a list: not a place to begin at.
                self.start_leaf(columns, place);
                if let Some(node) = self.arena.nodes.last_mut() {
                    node.small |= SPLIT;
                }
                return;
            }
        }
        if matches!(first, b'|' | b'-' | b':') && self.close_as_table(place) {
            return;
        }
        if let Some(start) = self.start_at(place, true) {
            self.close_leaf();
            self.begin(start, place);
        } else {
            self.paragraph_line(place, false, false);
        }
    }

    /// Starts a leaf, a fenced container or a paragraph.
    fn start_leaf(&mut self, columns: usize, place: usize) {
        let at = self.block_start();
        if columns > 3 {
            let end = self.line.trimmed_end(place);
            let node = self.push(Tag::Indented, at, place..end);
            self.leaf = Leaf::Indented { node };
        } else if let Some(start) = self.start_at(place, false) {
            self.begin(start, place);
        } else {
            let node = self.push(Tag::Paragraph, at, place..place);
            self.leaf = Leaf::Paragraph { node };
            self.lines.clear();
            self.paragraph_line(place, false, false);
        }
    }

    fn begin(&mut self, start: Start, place: usize) {
        let at = self.block_start();
        let end = self.line.trimmed_end(place);
        match start {
            Start::Heading(level) => {
                let node = self.push(Tag::Heading, at, place..end);
                self.node(node).flag = level;
            }
            Start::Break => {
                self.push(Tag::Break, at, place..end);
            }
            Start::Code { character, length, info } => {
                let node = self.push(Tag::Fenced, at, place..end);
                let info = Info { a: info, number: length as u32, form: u32::from(character), ..Info::EMPTY };
                let extra = self.push_info(info);
                self.node(node).extra = extra;
                self.leaf = Leaf::Code { node, character, length };
            }
            Start::Html(end_of_block) => {
                let node = self.push(Tag::Html, at, place..end);
                if !end_of_block.is_in(&self.src[place..self.line.end]) {
                    self.leaf = Leaf::Html { node, end: end_of_block };
                }
            }
            Start::Math => {
                let node = self.push(Tag::Math, at, place..end);
                self.leaf = Leaf::Math { node };
            }
            Start::Opaque(flag) => {
                let node = self.push(Tag::Opaque, at, place..end);
                self.node(node).flag = flag;
                self.leaf = Leaf::Opaque { node };
            }
            Start::Leaf(info) => {
                let node = self.push(Tag::Leaf, at, place..end);
                let extra = self.push_info(info);
                self.node(node).extra = extra;
            }
            Start::Container { tag, info, character } => {
                let indent = self.line.indent().0;
                let node = self.push(tag, at, place..end);
                let size = info.number as usize;
                let extra = self.push_info(info);
                let stored = self.node(node);
                stored.extra = extra;
                stored.small = indent as u16;
                self.open(OpenKind::Fenced, node, indent, size, character, 1);
            }
        }
    }

    /// Adds the line to the open paragraph.
    pub(super) fn paragraph_line(&mut self, place: usize, lazy: bool, deep: bool) {
        let Leaf::Paragraph { node } = self.leaf else { return };
        let end = self.line.trimmed_end(place) as u32;
        self.node(node).content_end = end;
        let (prefix, end) = (self.block_start() as u32, self.line.end as u32);
        self.lines.push(TextLine { prefix, start: place as u32, end, lazy, deep });
    }

    /// Adds a row of the open table; its line is `at..end`, its first byte that is not blank at `place`.
    pub(super) fn row(&mut self, head: bool, limit: usize, at: usize, place: usize, end: usize) {
        let Leaf::Table { node: table, .. } = self.leaf else { return };
        let mut trimmed = end;
        while trimmed > place && is_blank(self.src[trimmed - 1]) {
            trimmed -= 1;
        }
        let depth = self.depth + 2;
        let row = self.push_under(table, Tag::Row, at, place..trimmed, depth);
        self.node(row).flag = u8::from(head);
        let src = self.src;
        let line = &src[place..trimmed];
        let mut close = trimmed;
        for cell in table::cells(line, limit) {
            let (mut from, mut to) = (cell.start, cell.end);
            while from < to && is_blank(line[from]) {
                from += 1;
            }
            while to > from && is_blank(line[to - 1]) {
                to -= 1;
            }
            if from == to {
                // The place to write into an empty cell: after one blank.
                from = (cell.start + 1).min(cell.end);
                to = from;
            }
            let start = place + cell.start;
            self.push_under(row, Tag::Cell, start, place + from..place + to, depth + 1);
            close = place + cell.end + usize::from(cell.piped);
        }
        let last = self.arena.nodes.len() as u32;
        let node = self.node(row);
        node.last = last;
        node.extra = close as u32;
        self.node(table).last = last;
    }
}
