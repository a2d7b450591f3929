//! Containers: which open ones a line goes on with, and which it opens.

use crate::kind::{Dialect, Span};
use crate::node::{Info, Tag};
use crate::parse::chars::{is_blank, is_line_end};
use crate::parse::{Leaf, Open, OpenKind, Parser};

/// Whether a container goes on with the line.
enum Goes {
    On,
    Not,
    /// The line is its closing fence.
    Closed,
    /// The line is the next item of the same list.
    Sibling(Marker),
}

/// A list marker and what follows it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marker {
    /// The byte that tells lists apart: `-`, `+`, `*`, `.` or `)`.
    delimiter: u8,
    number: u32,
    /// Where the marker is.
    start: usize,
    end: usize,
    /// Whether nothing follows it.
    blank: bool,
}

impl Parser<'_> {
    /// Reads the line.
    pub(super) fn read_line(&mut self) {
        let mut matched = 0;
        let mut quotes = 0;
        let mut opened = false;
        self.opened_here = false;
        while matched < self.stack.len() {
            match self.goes_on(matched) {
                Goes::On => {
                    matched += 1;
                    if self.stack[matched - 1].kind == OpenKind::Quote {
                        quotes = matched;
                    }
                }
                Goes::Not => break,
                Goes::Closed => {
                    self.close_fenced(matched);
                    self.blank = false;
                    return;
                }
                Goes::Sibling(marker) => {
                    self.next_item(matched, marker);
                    matched += 1;
                    opened = true;
                    break;
                }
            }
        }
        // A line that all containers go on with belongs to an open fence or HTML block, whatever it looks like.
        let all = matched == self.stack.len();
        if !(all && !opened && self.leaf_is_concrete()) {
            opened |= self.open_containers(matched, all, opened);
        }
        self.read_rest(matched, opened, quotes);
    }

    fn goes_on(&mut self, at: usize) -> Goes {
        let open = self.stack[at];
        match open.kind {
            OpenKind::Quote => {
                let (columns, place) = self.line.indent();
                if columns > 3 || place == self.line.end || self.src[place] != b'>' {
                    return Goes::Not;
                }
                self.after_quote_marker(place);
                Goes::On
            }
            OpenKind::Item => {
                let (columns, place) = self.line.indent();
                if place == self.line.end {
                    self.stack[at].over |= open.starts_blank;
                    self.line.skip_columns(open.indent);
                    return Goes::On;
                }
                self.stack[at].over = false;
                self.stack[at].starts_blank = false;
                if !open.over && columns >= open.indent {
                    self.line.skip_columns(open.indent);
                    return Goes::On;
                }
                if columns > 3 {
                    return Goes::Not;
                }
                match self.marker(place, false) {
                    Some(marker) if marker.delimiter == open.marker => Goes::Sibling(marker),
                    _ => Goes::Not,
                }
            }
            OpenKind::Footnote | OpenKind::Indented => {
                let (columns, place) = self.line.indent();
                if place == self.line.end {
                    return Goes::On;
                }
                if columns < 4 {
                    return Goes::Not;
                }
                self.line.skip_columns(4);
                Goes::On
            }
            OpenKind::Fenced => {
                let (columns, place) = self.line.indent();
                if columns < 4 && self.is_closing_fence(place, open.marker, open.size) {
                    return Goes::Closed;
                }
                self.line.skip_columns(open.indent);
                Goes::On
            }
        }
    }

    /// Whether the line from `place` on is a run of at least `size` of `character` and blanks.
    pub(super) fn is_closing_fence(&self, place: usize, character: u8, size: usize) -> bool {
        let line = &self.src[place..self.line.end];
        if line.first() != Some(&character) {
            return false;
        }
        let run = line.iter().take_while(|&&byte| byte == character).count();
        run >= size && line[run..].iter().all(|&byte| is_blank(byte))
    }

    fn after_quote_marker(&mut self, place: usize) {
        self.line.move_over(place + 1);
        self.line.skip_columns(1);
    }

    /// The line closes the fenced container at `at`.
    fn close_fenced(&mut self, at: usize) {
        self.close_to(at + 1);
        let open = self.stack[at];
        let close = self.line.start;
        let end = self.line.trimmed_end(close);
        let node = self.node(open.node);
        node.content_end = end as u32;
        let info = node.extra as usize;
        self.arena.infos[info].close = close as u32;
        self.close_to(at);
    }

    /// Opens the containers that start on the line; the first of them closes what did not go on.
    fn open_containers(&mut self, matched: usize, all: bool, already: bool) -> bool {
        let mut opened = already;
        loop {
            let (columns, place) = self.line.indent();
            // Past the limit nothing more is read of the line: each marker may look at the whole rest of it.
            if columns > 3 || place == self.line.end || self.too_deep {
                return opened;
            }
            let interrupting = all && !opened && matches!(self.leaf, Leaf::Paragraph { .. });
            match self.src[place] {
                b'>' => {
                    self.close_before(matched, &mut opened);
                    let start = self.block_start();
                    let node = self.push(Tag::Quote, start, place..place + 1);
                    self.open(OpenKind::Quote, node, 0, 0, 0, 1);
                    self.after_quote_marker(place);
                }
                b'-' | b'+' | b'*' | b'0'..=b'9' => {
                    let Some(marker) = self.marker(place, interrupting) else { return opened };
                    self.close_before(matched, &mut opened);
                    self.first_item(marker);
                }
                b'[' => {
                    let Some(close) = self.footnote_label(place) else { return opened };
                    self.close_before(matched, &mut opened);
                    let start = self.block_start();
                    let node = self.push(Tag::Footnote, start, place..close + 2);
                    let info = Info { a: Span::new(place + 2, close), ..Info::EMPTY };
                    let extra = self.push_info(info);
                    self.node(node).extra = extra;
                    self.node(node).small = 4;
                    self.open(OpenKind::Footnote, node, 4, 0, 0, 1);
                    self.line.move_over(close + 2);
                    self.line.skip_columns(usize::MAX / 2);
                }
                b'!' | b'?' if self.dialect == Dialect::MkDocs => {
                    let Some((info, end)) = self.bang_admonition(place) else { return opened };
                    self.close_before(matched, &mut opened);
                    let start = self.block_start();
                    let node = self.push(Tag::Admonition, start, place..end);
                    let extra = self.push_info(info);
                    self.node(node).extra = extra;
                    self.node(node).small = 4;
                    self.open(OpenKind::Indented, node, 4, 0, 0, 1);
                    self.line.move_over(self.line.end);
                    return opened;
                }
                _ => return opened,
            }
        }
    }

    fn close_before(&mut self, matched: usize, opened: &mut bool) {
        if !*opened {
            self.close_to(matched);
        }
        *opened = true;
    }

    pub(super) fn open(&mut self, kind: OpenKind, node: u32, indent: usize, size: usize, marker: u8, depth: usize) {
        self.opened_here = true;
        self.depth += depth;
        self.stack.push(Open { kind, node, indent, size, marker, starts_blank: false, over: false });
    }

    /// Closes the leaf, and containers until `size` are left.
    pub(super) fn close_to(&mut self, size: usize) {
        self.close_leaf();
        while self.stack.len() > size {
            let Some(open) = self.stack.pop() else { break };
            let last = self.arena.nodes.len() as u32;
            self.node(open.node).last = last;
            self.depth -= 1;
            if open.kind == OpenKind::Item {
                let list = self.node(open.node).parent;
                self.node(list).last = last;
                self.depth -= 1;
            }
        }
    }

    fn first_item(&mut self, marker: Marker) {
        let start = self.block_start();
        let list = self.push(Tag::List, start, marker.start..marker.end);
        let node = self.node(list);
        node.flag = 1;
        node.small = u16::from(marker.delimiter);
        node.extra = marker.number;
        self.item(list, start, marker);
    }

    fn next_item(&mut self, at: usize, marker: Marker) {
        let list = self.arena.nodes[self.stack[at].node as usize].parent;
        if self.blank && self.blank_quotes <= at {
            self.node(list).flag = 0;
        }
        self.close_to(at);
        self.item(list, self.block_start(), marker);
    }

    fn item(&mut self, list: u32, start: usize, marker: Marker) {
        let depth = self.depth + 2;
        let item = self.push_under(list, Tag::Item, start, marker.start..marker.end, depth);
        let from = self.line.column;
        self.line.move_over(marker.end);
        let mut padding = self.line.indent().0;
        if marker.blank || padding > 4 {
            padding = 1;
        }
        let indent = self.line.column - from + padding;
        self.line.skip_columns(padding);
        self.node(item).small = indent.min(u16::MAX as usize / 2) as u16;
        self.open(OpenKind::Item, item, indent, 0, marker.delimiter, 2);
        if let Some(open) = self.stack.last_mut() {
            open.starts_blank = marker.blank;
        }
    }

    /// Reads a list marker. In a paragraph only one that says `1` and has text after it starts a list.
    fn marker(&self, place: usize, interrupting: bool) -> Option<Marker> {
        let line = &self.src[place..self.line.end];
        let first = *line.first()?;
        let (delimiter, number, length) = if first.is_ascii_digit() {
            let digits = line.iter().take(10).take_while(|byte| byte.is_ascii_digit()).count();
            let delimiter = *line.get(digits)?;
            if digits > 9 || !matches!(delimiter, b'.' | b')') {
                return None;
            }
            let number = line[..digits].iter().fold(0, |number, &digit| number * 10 + u32::from(digit - b'0'));
            // A number with leading zeros interrupts nothing either, as in the reference.
            if interrupting && line[..digits] != *b"1" {
                return None;
            }
            (delimiter, number, digits + 1)
        } else if matches!(first, b'-' | b'+' | b'*') {
            (first, 0, 1)
        } else {
            return None;
        };
        if line.get(length).is_some_and(|&byte| !is_blank(byte)) {
            return None;
        }
        let blank = line[length..].iter().all(|&byte| is_blank(byte));
        if interrupting && blank || matches!(first, b'-' | b'*') && is_break(line) {
            return None;
        }
        Some(Marker { delimiter, number, start: place, end: place + length, blank })
    }

    /// Reads `[^label]:`; returns the place of the bracket that closes it.
    fn footnote_label(&self, place: usize) -> Option<usize> {
        let line = &self.src[place..self.line.end];
        if line.get(1) != Some(&b'^') {
            return None;
        }
        let mut at = 2;
        let mut size = 0;
        loop {
            match *line.get(at)? {
                b']' => break,
                b'[' => return None,
                byte if is_blank(byte) || is_line_end(byte) => return None,
                b'\\' if matches!(line.get(at + 1), Some(b'[' | b'\\' | b']')) => at += 2,
                _ => at += 1,
            }
            size += 1;
            if size > 999 {
                return None;
            }
        }
        (at > 2 && line.get(at + 1) == Some(&b':')).then_some(place + at)
    }

    /// Reads `!!! type "title"`, `??? type` or `???+ type`.
    fn bang_admonition(&self, place: usize) -> Option<(Info, usize)> {
        let end = self.line.trimmed_end(place);
        let line = &self.text[place..end];
        let (form, rest) = if let Some(rest) = line.strip_prefix("!!!") {
            (1, rest)
        } else if let Some(rest) = line.strip_prefix("???+") {
            (3, rest)
        } else {
            (2, line.strip_prefix("???")?)
        };
        let rest = rest.strip_prefix([' ', '\t'])?.trim_start();
        let words = rest.find('"').map_or(rest, |quote| &rest[..quote]).trim_end();
        let named = !words.is_empty()
            && words.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ' '))
            && (rest.len() == words.len() || rest.ends_with('"'));
        if !named {
            return None;
        }
        let name_start = end - rest.len();
        let name = words.split(' ').next().unwrap_or(words);
        let quoted = rest[words.len()..].trim_start();
        let title = match quoted.len() {
            0 => Span::NONE,
            1 => return None,
            length => Span::new(end - length + 1, end - 1),
        };
        let info = Info { a: Span::new(name_start, name_start + name.len()), b: title, number: 3, form, ..Info::EMPTY };
        Some((info, end))
    }
}

/// Whether the line is a thematic break: three or more of one marker, and blanks.
pub(super) fn is_break(line: &[u8]) -> bool {
    let Some(&marker) = line.first() else { return false };
    let mut count = 0;
    for &byte in line {
        if byte == marker {
            count += 1;
        } else if !is_blank(byte) {
            return false;
        }
    }
    count >= 3 && matches!(marker, b'-' | b'*' | b'_')
}
