//! The block phase: bytes to blocks, line by line, on exact bytes.
//!
//! The algorithm is the one in the appendix of the CommonMark specification 0.31: for each line, match the open containers, try to start new
//! blocks, and give what is left to a leaf. Blocks are stored in the order in which they open, which is preorder. A container stack is
//! limited in depth, so each line costs a bounded multiple of its length.

mod containers;
mod cursor;
mod definitions;
mod directives;
mod finish;
mod html;
mod leaves;
mod lists;
mod raw;
mod tables;

use memchr::memchr2_iter;

use crate::kind::{Dialect, Span};
use crate::limits::{LimitError, MAX_DEPTH};
use crate::node::Arena;
use cursor::Cursor;
use raw::{FrontFormat, Kind, Node};

pub(crate) use directives::{attributes as directive_attributes, bracketed as directive_label, name as directive_name};
pub(crate) use html::whole_tag as html_tag;

/// The byte order mark, which is no part of the text.
const BOM: &str = "\u{feff}";

/// Returns the blocks of a document.
pub(crate) fn document(source: &str, dialect: Dialect) -> Result<Arena, LimitError> {
    let mut parser = Parser::new(source, dialect);
    let start = if source.starts_with(BOM) { BOM.len() } else { 0 };
    let body = parser.front_matter(start);
    let bytes = source.as_bytes();
    let mut line_start = body;
    // A lone CR ends a line as well.
    let mut ends = memchr2_iter(b'\n', b'\r', &bytes[body..]).map(|at| at + body).peekable();
    while let Some(end) = ends.next() {
        let mut next = end + 1;
        if bytes[end] == b'\r' && ends.peek() == Some(&next) && bytes[next] == b'\n' {
            next += 1;
            ends.next();
        }
        parser.line(line_start, end, next)?;
        line_start = next;
    }
    if line_start < bytes.len() {
        parser.line(line_start, bytes.len(), bytes.len())?;
    }
    Ok(raw::pack(parser.finish()))
}

/// A container that is open.
#[derive(Clone, Copy, Debug)]
struct Open {
    node: u32,
    kind: OpenKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpenKind {
    Document,
    Quote,
    List {
        marker: u8,
        ordered: bool,
    },
    /// `width`: columns that a line must be indented to belong to it.
    Item {
        width: usize,
    },
    /// A footnote definition or an indented admonition: four columns.
    Indented,
    /// `mark` colons, or a fence of `byte`; `indent`: columns before the opening.
    Directive {
        byte: u8,
        mark: usize,
        indent: usize,
    },
}

/// The leaf that takes lines.
#[derive(Clone, Copy, Debug)]
enum Leaf {
    None,
    Paragraph { node: u32 },
    Fenced { node: u32, byte: u8, length: usize },
    Indented { node: u32 },
    Html { node: u32, end: html::End },
    Table { node: u32 },
}

/// A line of the open paragraph.
#[derive(Clone, Copy, Debug)]
struct Line {
    /// Where its block would start if it began here.
    start: usize,
    /// Its text without prefixes and outer blanks.
    text: Span,
}

/// One line as it is being read: where it is, and what was opened on it.
struct Reading<'s> {
    cursor: Cursor<'s>,
    /// The first byte of the line.
    start: usize,
    /// The first byte after the line's end.
    next: usize,
    /// How many open containers the line continues.
    matched: usize,
    /// Whether a container was opened on this line, and where its content starts.
    opened_at: Option<usize>,
}

impl Reading<'_> {
    /// Where a block that starts now has the start of its extent.
    fn block_start(&self) -> usize {
        self.opened_at.unwrap_or(self.start)
    }
}

/// The parser: the nodes so far, what is open, and the lines of the open paragraph.
struct Parser<'s> {
    source: &'s str,
    bytes: &'s [u8],
    dialect: Dialect,
    nodes: Vec<Node>,
    open: Vec<Open>,
    leaf: Leaf,
    lines: Vec<Line>,
    /// How many of `open` are not lists.
    depth: usize,
    line_number: usize,
}

impl<'s> Parser<'s> {
    fn new(source: &'s str, dialect: Dialect) -> Self {
        let mut nodes = Vec::with_capacity(source.len() / 48 + 4);
        nodes.push(Node {
            kind: Kind::Document,
            span: Span::new(0, source.len()),
            content: Span::NONE,
            close: NO_CLOSE,
            parent: 0,
            end: 1,
        });
        Self {
            source,
            bytes: source.as_bytes(),
            dialect,
            nodes,
            open: vec![Open { node: 0, kind: OpenKind::Document }],
            leaf: Leaf::None,
            lines: Vec::new(),
            depth: 0,
            line_number: 0,
        }
    }

    /// Reads front matter at the first byte; returns where the body starts.
    fn front_matter(&mut self, start: usize) -> usize {
        let (fence, format) = match self.bytes.get(start..start + 3) {
            Some(b"---") => ("---", FrontFormat::Yaml),
            Some(b"+++") => ("+++", FrontFormat::Toml),
            _ => return start,
        };
        let is_fence = |line: &str| line.strip_prefix(fence).is_some_and(|rest| rest.bytes().all(|b| b == b' ' || b == b'\t'));
        let mut at = start;
        let mut first = true;
        while at < self.source.len() {
            let rest = &self.source[at..];
            let length = rest.find(['\n', '\r']).unwrap_or(rest.len());
            let next = at + length + line_end(&self.bytes[at + length..]);
            let line = &rest[..length];
            if first && !is_fence(line) {
                return start;
            }
            if !first && is_fence(line) {
                let node = self.push(Kind::FrontMatter { format }, start, start);
                self.nodes[node as usize].content = Span::new(start, at + line.trim_end_matches([' ', '\t']).len());
                self.line_number += self.source[start..next].matches('\n').count();
                return next;
            }
            first = false;
            at = next;
        }
        start
    }

    /// Reads one line.
    fn line(&mut self, start: usize, end: usize, next: usize) -> Result<(), LimitError> {
        self.line_number += 1;
        let mut line = Reading { cursor: Cursor::new(self.bytes, start, end), start, next, matched: 1, opened_at: None };
        if self.match_containers(&mut line) {
            return Ok(());
        }
        let all_matched = line.matched == self.open.len();
        if all_matched && self.continue_leaf(&mut line) {
            return Ok(());
        }
        self.start_blocks(&mut line)?;
        Ok(())
    }

    /// Adds a block that starts now inside the innermost open container.
    fn push(&mut self, kind: Kind, start: usize, content: usize) -> u32 {
        let index = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        let parent = self.open.last().map_or(0, |open| open.node);
        self.nodes.push(Node {
            kind,
            span: Span::new(start, start),
            content: Span::new(content, content),
            close: NO_CLOSE,
            parent,
            end: index + 1,
        });
        index
    }

    /// Opens a container whose block was just added.
    fn enter(&mut self, node: u32, kind: OpenKind) -> Result<(), LimitError> {
        if !matches!(kind, OpenKind::List { .. }) {
            self.depth += 1;
            if self.depth > MAX_DEPTH {
                return Err(LimitError::Depth { line: self.line_number });
            }
        }
        self.open.push(Open { node, kind });
        Ok(())
    }

    /// Closes the leaf and the innermost containers, until `keep` containers are open.
    fn close_to(&mut self, keep: usize) {
        self.close_leaf();
        while self.open.len() > keep.max(1) {
            let Some(open) = self.open.pop() else { break };
            if !matches!(open.kind, OpenKind::List { .. }) {
                self.depth -= 1;
            }
            self.nodes[open.node as usize].end = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        }
    }

    /// Sets the end of a block's content.
    fn extend(&mut self, node: u32, end: usize) {
        self.nodes[node as usize].content.end = Span::new(0, end).end;
    }
}

/// Marks a node whose closing part is not known yet, or absent.
const NO_CLOSE: u32 = u32::MAX;

/// The length of the line end at the front of `bytes`.
fn line_end(bytes: &[u8]) -> usize {
    match bytes {
        [b'\r', b'\n', ..] => 2,
        [b'\n' | b'\r', ..] => 1,
        _ => 0,
    }
}
