//! The block phase: bytes to the arena, one line at a time.
//!
//! Each line is read in three steps: which open containers go on (`containers`), which containers start, and what the rest of the
//! line is to the innermost of them (`leaves`). Nodes are pushed when they open, so the arena is in preorder; a paragraph that turns
//! out to start with definitions or to end with a table's head is split when that is known (`paragraph`). Ends of spans are set
//! last: a span ends where the next one starts.

pub(crate) mod chars;
mod containers;
pub(crate) mod cursor;
pub(crate) mod definition;
pub(crate) mod directive;
pub(crate) mod html;
mod leaves;
mod paragraph;
mod start;
mod table;

use crate::kind::Dialect;
use crate::limits::{LimitError, MAX_DEPTH};
use crate::node::{Arena, Info, Node, Tag};
use cursor::Cursor;
use html::HtmlEnd;

/// What is read as more than text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Syntax {
    pub dialect: Dialect,
    /// Whether directives are; without them, they are paragraphs.
    pub directives: bool,
}

/// Returns the blocks of a document.
pub(crate) fn document(source: &str, syntax: Syntax) -> Result<Arena, LimitError> {
    let mut parser = Parser::new(source, syntax, 0, source.len());
    parser.front_matter();
    parser.run(&mut |_| false)?;
    Ok(parser.finish(source.len()))
}

/// An open container.
#[derive(Clone, Copy, Debug)]
struct Open {
    kind: OpenKind,
    node: u32,
    /// The columns to an item's content; the blanks before a directive.
    indent: usize,
    /// How long the fence is.
    size: usize,
    /// A list's marker; the character of a fence.
    marker: u8,
    /// An item whose first line has no content.
    starts_blank: bool,
    /// Such an item after another blank line.
    over: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpenKind {
    Quote,
    Item,
    Footnote,
    /// Goes on until its closing fence.
    Fenced,
    /// Goes on while lines are indented by four columns.
    Indented,
}

/// The open leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leaf {
    None,
    Paragraph { node: u32 },
    Indented { node: u32 },
    Code { node: u32, character: u8, length: usize },
    Html { node: u32, end: HtmlEnd },
    Math { node: u32 },
    Opaque { node: u32 },
    Table { node: u32, columns: usize },
}

/// One line of the open paragraph. A paragraph may have half a million of them, so the places are kept small.
#[derive(Clone, Copy, Debug)]
struct TextLine {
    /// Where a block that began here would start.
    prefix: u32,
    /// The first byte that is not blank.
    start: u32,
    /// The end without the line ending.
    end: u32,
    /// Whether containers didn't go on.
    lazy: bool,
    /// Whether it is indented by four columns or more.
    deep: bool,
}

impl TextLine {
    fn prefix(&self) -> usize {
        self.prefix as usize
    }

    fn start(&self) -> usize {
        self.start as usize
    }

    fn end(&self) -> usize {
        self.end as usize
    }
}

pub(crate) struct Parser<'s> {
    text: &'s str,
    src: &'s [u8],
    dialect: Dialect,
    directives: bool,
    pub(crate) arena: Arena,
    stack: Vec<Open>,
    /// How deep the innermost container is in the tree.
    depth: usize,
    leaf: Leaf,
    line: Cursor<'s>,
    /// The lines of the open paragraph.
    lines: Vec<TextLine>,
    /// Whether the line before was blank, and how many containers a `>` on it was behind.
    blank: bool,
    blank_quotes: usize,
    /// Whether a container was opened on this line.
    opened_here: bool,
    too_deep: bool,
}

impl<'s> Parser<'s> {
    /// A parser that starts at `from`, with room for the blocks that `bytes` of ordinary text have.
    pub(crate) fn new(text: &'s str, syntax: Syntax, from: usize, bytes: usize) -> Parser<'s> {
        let src = text.as_bytes();
        let from = if from == 0 && text.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { from };
        let root = Node {
            tag: Tag::Document,
            flag: 0,
            small: 0,
            start: 0,
            end: src.len() as u32,
            content_start: from as u32,
            content_end: from as u32,
            parent: 0,
            last: 1,
            extra: 0,
        };
        let mut nodes = Vec::with_capacity(bytes / 48 + 4);
        nodes.push(root);
        Parser {
            text,
            src,
            dialect: syntax.dialect,
            directives: syntax.directives,
            arena: Arena { nodes, infos: Vec::new(), alignments: Vec::new() },
            stack: Vec::new(),
            depth: 0,
            leaf: Leaf::None,
            line: Cursor { src, start: from, end: from, next: from, at: from, column: 0, partly: false },
            lines: Vec::new(),
            blank: false,
            blank_quotes: 0,
            opened_here: false,
            too_deep: false,
        }
    }

    /// Reads lines until the end, or until `stop` says of a new block at the top that the rest is known: that block is taken back,
    /// and its start returned.
    pub(crate) fn run(&mut self, stop: &mut dyn FnMut(usize) -> bool) -> Result<Option<usize>, LimitError> {
        while self.line.next < self.src.len() {
            self.line = Cursor::line(self.src, self.line.next);
            self.read_line();
            if self.too_deep {
                return Err(LimitError::Depth { line: line_number(self.src, self.line.start) });
            }
            // A block at the top that starts with this line: all before it is closed.
            if let Some(at) = self.opened_at_top()
                && stop(self.line.start)
            {
                self.take_back(at);
                return Ok(Some(self.line.start));
            }
        }
        Ok(None)
    }

    /// Returns the node that this line opened at the top and at its start.
    fn opened_at_top(&self) -> Option<usize> {
        let start = self.line.start as u32;
        // Only its own children follow it.
        let mut at = self.arena.nodes.len().checked_sub(1)?;
        while at > 0 && self.arena.nodes[at].parent != 0 {
            at = self.arena.nodes[at].parent as usize;
        }
        (at > 0 && self.arena.nodes[at].start == start && self.arena.nodes[at].small & crate::node::SPLIT == 0).then_some(at)
    }

    fn take_back(&mut self, at: usize) {
        let infos = self.arena.nodes[at..].iter().filter(|node| node.tag.has_info()).map(|node| node.extra as usize).min();
        if let Some(first) = infos {
            self.arena.infos.truncate(first);
        }
        self.arena.nodes.truncate(at);
        self.stack.clear();
        self.leaf = Leaf::None;
    }

    /// Where a block that starts now starts: with its line, or after the marker of a container that this line opened.
    fn block_start(&self) -> usize {
        if self.opened_here { self.line.at } else { self.line.start }
    }

    /// Adds a node at the end of the arena, inside the innermost container.
    fn push(&mut self, tag: Tag, start: usize, content: std::ops::Range<usize>) -> u32 {
        let parent = self.stack.last().map_or(0, |open| open.node);
        self.mark_loose(parent);
        self.push_under(parent, tag, start, content, self.depth + 1)
    }

    fn push_under(&mut self, parent: u32, tag: Tag, start: usize, content: std::ops::Range<usize>, depth: usize) -> u32 {
        self.too_deep |= depth > MAX_DEPTH;
        let index = self.arena.nodes.len() as u32;
        if self.arena.nodes.len() == self.arena.nodes.capacity() {
            // Doubling would take twice the memory that a text with a block on every line needs.
            self.arena.nodes.reserve_exact(self.arena.nodes.len() / 4 + 16);
        }
        self.arena.nodes.push(Node {
            tag,
            flag: 0,
            small: 0,
            start: start as u32,
            end: start as u32,
            content_start: content.start as u32,
            content_end: content.end as u32,
            parent,
            last: index + 1,
            extra: 0,
        });
        index
    }

    fn push_info(&mut self, info: Info) -> u32 {
        self.arena.infos.push(info);
        (self.arena.infos.len() - 1) as u32
    }

    fn node(&mut self, index: u32) -> &mut Node {
        &mut self.arena.nodes[index as usize]
    }

    /// A second block of an item after a blank line makes its list loose.
    fn mark_loose(&mut self, parent: u32) {
        if self.blank
            && let Some(open) = self.stack.last()
            && open.kind == OpenKind::Item
            && self.arena.nodes.len() as u32 > parent + 1
            && self.blank_quotes < self.stack.len()
        {
            let list = self.arena.nodes[parent as usize].parent;
            self.node(list).flag = 0;
        }
    }

    /// Closes everything, and sets the ends of spans and of containers' contents; the text read ends at `end`.
    pub(crate) fn finish(mut self, end: usize) -> Arena {
        self.close_to(0);
        let nodes = &mut self.arena.nodes;
        nodes[0].last = nodes.len() as u32;
        nodes[0].end = end as u32;
        if nodes.len() > 1 {
            nodes[0].content_start = nodes[1].content_start;
        }
        for index in (1..nodes.len()).rev() {
            let (parent, end) = (nodes[index].parent as usize, nodes[index].content_end);
            nodes[parent].content_end = nodes[parent].content_end.max(end);
        }
        set_ends(nodes, &self.arena.infos);
        nodes.shrink_to_fit();
        self.arena
    }
}

/// Sets where the spans end: where the next sibling starts, or their parent's closing.
fn set_ends(nodes: &mut [Node], infos: &[Info]) {
    for index in 1..nodes.len() {
        let node = nodes[index];
        let parent = nodes[node.parent as usize];
        nodes[index].end = if node.last < parent.last {
            nodes[node.last as usize].start
        } else {
            match parent.tag {
                Tag::Container | Tag::Admonition => {
                    let close = infos[parent.extra as usize].close;
                    if close == u32::MAX { parent.end } else { close }
                }
                Tag::Row => parent.extra,
                _ => parent.end,
            }
        };
    }
}

fn line_number(src: &[u8], at: usize) -> usize {
    let mut lines = 1;
    for (place, &byte) in src[..at].iter().enumerate() {
        lines += usize::from(byte == b'\n' || byte == b'\r' && src.get(place + 1) != Some(&b'\n'));
    }
    lines
}

impl Parser<'_> {
    /// Reads front matter: only at the very start, between two lines of `---` or of `+++`.
    fn front_matter(&mut self) {
        let from = self.line.next;
        let (fence, tag): (&[u8], Tag) = match self.src.get(from..from + 3) {
            Some(b"---") => (b"---", Tag::Yaml),
            Some(b"+++") => (b"+++", Tag::Toml),
            _ => return,
        };
        let is_fence = |line: &Cursor<'_>| {
            self.src[line.start..line.end].strip_prefix(fence).is_some_and(|rest| rest.iter().all(|&byte| chars::is_blank(byte)))
        };
        let mut line = Cursor::line(self.src, from);
        if !is_fence(&line) {
            return;
        }
        while line.next < self.src.len() {
            line = Cursor::line(self.src, line.next);
            if is_fence(&line) {
                let end = line.trimmed_end(line.start);
                self.line = line;
                self.push(tag, from, from..end);
                return;
            }
        }
    }
}
