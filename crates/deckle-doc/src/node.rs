//! The arena: one entry of 32 bytes a block, in preorder, and one entry for the parts of those blocks that have parts.

use crate::kind::{Alignment, Span};

/// The stored form of [`Kind`](crate::Kind).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Tag {
    Document,
    Yaml,
    Toml,
    Heading,
    Setext,
    Paragraph,
    Quote,
    List,
    Item,
    Indented,
    Fenced,
    Html,
    Break,
    Table,
    Row,
    Cell,
    Footnote,
    Definition,
    Container,
    Leaf,
    Math,
    Admonition,
    Opaque,
}

impl Tag {
    /// Whether `extra` of such a node is the index of an [`Info`].
    pub(crate) fn has_info(self) -> bool {
        matches!(self, Tag::Fenced | Tag::Table | Tag::Footnote | Tag::Definition | Tag::Container | Tag::Leaf | Tag::Admonition)
    }
}

/// A bit of `small`: the block was split off the lines of another, so that parsing cannot start again at it.
pub(crate) const SPLIT: u16 = 0x8000;

/// One block. `small` and `extra` mean what the tag says:
/// `flag` is the level (heading), tight (list), task (item), head (row), what (opaque); `small` the delimiter (list) or the
/// columns to its content (item, footnote, container); `extra` the start (list), the closing (row) or an [`Info`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub tag: Tag,
    pub flag: u8,
    pub small: u16,
    pub start: u32,
    pub end: u32,
    pub content_start: u32,
    pub content_end: u32,
    pub parent: u32,
    /// The index after the last descendant.
    pub last: u32,
    pub extra: u32,
}

/// The parts of a block that has parts; unused ones are [`Span::NONE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Info {
    pub a: Span,
    pub b: Span,
    pub c: Span,
    pub number: u32,
    pub form: u32,
    /// Where the closing of a container starts; `u32::MAX` without one.
    pub close: u32,
}

impl Info {
    pub(crate) const EMPTY: Info = Info { a: Span::NONE, b: Span::NONE, c: Span::NONE, number: 0, form: 0, close: u32::MAX };

    /// Moves the spans by `by`.
    pub(crate) fn shift(&mut self, by: u32) {
        for span in [&mut self.a, &mut self.b, &mut self.c] {
            if *span != Span::NONE {
                span.start = span.start.wrapping_add(by);
                span.end = span.end.wrapping_add(by);
            }
        }
        if self.close != u32::MAX {
            self.close = self.close.wrapping_add(by);
        }
    }
}

/// Everything that the block phase writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Arena {
    pub nodes: Vec<Node>,
    pub infos: Vec<Info>,
    pub alignments: Vec<Alignment>,
}
