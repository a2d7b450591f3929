//! Blocks as the block phase makes them, before they are packed into the arena.

use crate::kind::{Alignment, Span};
use crate::node::{Arena, Info, Node as Packed, Tag};

/// One block while the document is read.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub kind: Kind,
    pub span: Span,
    pub content: Span,
    /// Where the closing part begins.
    pub close: u32,
    pub parent: u32,
    /// The index after the last descendant.
    pub end: u32,
}

/// The format of front matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrontFormat {
    /// Between `---` lines.
    Yaml,
    /// Between `+++` lines.
    Toml,
}

/// The fence of a code block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fence {
    /// A backtick or a tilde.
    pub byte: u8,
    /// How many of them open it.
    pub length: u32,
    /// Whether a closing fence was found.
    pub closed: bool,
}

/// Which syntax a container or leaf directive is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `:::name[label]{attributes}`, or `::name…` for a leaf.
    Generic,
    /// `::: name label`.
    Spaced,
    /// `!!! name "label"`; the content is indented.
    Admonition,
    /// `??? name "label"`, folded; `???+` when the mark is 4 bytes long.
    Folded,
    /// ```` ```{name} label ````.
    Fence,
}

/// The opening of a container or leaf directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Directive {
    /// The syntax.
    pub form: Form,
    /// How many bytes the mark has: colons, or the fence.
    pub mark: u32,
    /// The name.
    pub name: Span,
    /// The label or title, without its brackets or quotes; empty when there is none.
    pub label: Span,
    /// The attributes between the braces; empty when there are none.
    pub attributes: Span,
}

/// What a block is, as it is written. The block *type* (callout, steps, …) is derived from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The whole document; the root.
    Document,
    /// Front matter, at the first byte of the document.
    FrontMatter {
        /// YAML or TOML.
        format: FrontFormat,
    },
    /// A heading.
    Heading {
        /// 1 to 6.
        level: u8,
        /// Underlined with `=` or `-` instead of marked with `#`.
        setext: bool,
    },
    /// A paragraph.
    Paragraph,
    /// A block quote.
    Quote,
    /// A list; its children are items.
    List {
        /// The first number of an ordered list.
        ordered: Option<u32>,
        /// The bullet, or the byte after the number.
        marker: u8,
        /// Whether no blank line stands between its items or inside them.
        tight: bool,
    },
    /// A list item.
    Item {
        /// The check box of a task: `Some(true)` when checked.
        task: Option<bool>,
    },
    /// A code block.
    Code {
        /// The fence; nothing for an indented block.
        fence: Option<Fence>,
        /// The info string; empty when there is none.
        info: Span,
    },
    /// A block of HTML.
    Html,
    /// A thematic break.
    Break,
    /// A table; its children are rows, the first one the head.
    Table {
        /// One a column.
        align: Box<[Alignment]>,
    },
    /// A row of a table.
    Row {
        /// Whether it is the head.
        head: bool,
    },
    /// A cell of a row.
    Cell,
    /// The definition of a footnote.
    FootnoteDefinition {
        /// The label, without `[^` and `]`.
        label: Span,
    },
    /// A link reference definition.
    LinkDefinition {
        /// The label, without brackets.
        label: Span,
        /// The destination, without `<` and `>`.
        destination: Span,
        /// The title, without its quotes; empty when there is none.
        title: Span,
    },
    /// A directive that holds blocks.
    Container(Directive),
    /// A directive that holds none.
    Leaf(Directive),
}

/// Packs the blocks into the arena.
pub(super) fn pack(nodes: Vec<Node>) -> Arena {
    let mut arena = Arena { nodes: Vec::with_capacity(nodes.len()), ..Arena::default() };
    for node in nodes {
        let (mut flag, mut small, mut extra) = (0, 0, 0);
        let mut info = None;
        let directive = |directive: &Directive| Info {
            a: directive.name,
            b: optional(directive.label),
            c: optional(directive.attributes),
            number: directive.mark,
            form: 0,
        };
        let tag = match &node.kind {
            Kind::Document => Tag::Document,
            Kind::FrontMatter { format: FrontFormat::Yaml } => Tag::Yaml,
            Kind::FrontMatter { format: FrontFormat::Toml } => Tag::Toml,
            Kind::Heading { level, setext } => {
                flag = *level;
                if *setext { Tag::Setext } else { Tag::Heading }
            }
            Kind::Paragraph => Tag::Paragraph,
            Kind::Quote => Tag::Quote,
            Kind::List { ordered, marker, tight } => {
                flag = u8::from(*tight);
                small = u16::from(*marker);
                extra = ordered.unwrap_or(0);
                Tag::List
            }
            Kind::Item { task } => {
                flag = match task {
                    None => 0,
                    Some(false) => 1,
                    Some(true) => 2,
                };
                Tag::Item
            }
            Kind::Code { fence: None, .. } => Tag::Indented,
            Kind::Code { fence: Some(fence), info: words } => {
                info = Some(Info { a: *words, number: fence.length, form: u32::from(fence.byte), ..Info::EMPTY });
                Tag::Fenced
            }
            Kind::Html => Tag::Html,
            Kind::Break => Tag::Break,
            Kind::Table { align } => {
                info = Some(Info { number: align.len() as u32, form: arena.alignments.len() as u32, ..Info::EMPTY });
                arena.alignments.extend_from_slice(align);
                Tag::Table
            }
            Kind::Row { head } => {
                flag = u8::from(*head);
                Tag::Row
            }
            Kind::Cell => Tag::Cell,
            Kind::FootnoteDefinition { label } => {
                info = Some(Info { a: *label, ..Info::EMPTY });
                Tag::Footnote
            }
            Kind::LinkDefinition { label, destination, title } => {
                info = Some(Info { a: *label, b: *destination, c: optional(*title), ..Info::EMPTY });
                Tag::Definition
            }
            Kind::Container(parts) if parts.form == Form::Generic => {
                info = Some(directive(parts));
                Tag::Container
            }
            Kind::Container(parts) => {
                let form = match (parts.form, parts.mark) {
                    (Form::Generic | Form::Spaced, _) => 0,
                    (Form::Admonition, _) => 1,
                    (Form::Folded, 4) => 3,
                    (Form::Folded, _) => 2,
                    (Form::Fence, _) => 4,
                };
                info = Some(Info { form, ..directive(parts) });
                Tag::Admonition
            }
            Kind::Leaf(parts) => {
                info = Some(directive(parts));
                Tag::Leaf
            }
        };
        if let Some(info) = info {
            extra = arena.infos.len() as u32;
            arena.infos.push(info);
        }
        arena.nodes.push(Packed {
            tag,
            flag,
            small,
            start: node.span.start,
            end: node.span.end,
            content_start: node.content.start,
            content_end: node.content.end,
            parent: node.parent,
            last: node.end,
            extra,
        });
    }
    arena
}

/// An empty span stands for a part that is not there.
fn optional(span: Span) -> Span {
    if span.is_empty() { Span::NONE } else { span }
}
