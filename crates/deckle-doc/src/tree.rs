//! The tree of a document: an arena in preorder over the source, and `Block`, a borrowed view of one entry.
//!
//! **Tiling.** The children of a block touch one another; a block is its opening, its children, its closing. Its *span* is all of
//! that, the blank lines after it included; its *content* is the span from its first to its last byte that is not a blank or the
//! prefix of a container. A child starts with its first line, the prefixes of its parents included, or after the marker of its parent when
//! that stands on the same line; prefixes on later lines are inside.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::incremental;
use crate::inline::{self, Inline};
use crate::kind::{AdmonitionForm, Alignment, Dialect, Directive, Fence, Format, Kind, Opaque, Span};
use crate::limits::{LimitError, MAX_DOCUMENT_BYTES, ParseError};
use crate::lines::{self, Line};
use crate::node::{Arena, Info, Node, Tag};
use crate::parse::{self, Syntax};

/// A parsed document. Cloning shares it.
///
/// ```
/// use deckle_doc::{Dialect, Kind, Tree};
/// let tree = Tree::parse("# Title\n\n- one\n- two\n", Dialect::Generic)?;
/// assert_eq!(tree.emit(), tree.source());
/// let heading = tree.root().children().next().unwrap();
/// assert!(matches!(heading.kind(), Kind::Heading { level: 1, .. }));
/// assert_eq!(heading.text(), "# Title");
/// # Ok::<(), deckle_doc::LimitError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tree {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    source: Text,
    syntax: Syntax,
    arena: Arena,
    labels: OnceLock<Labels>,
}

/// The source, as it came or as a splice made it. A splice copies the text once; it is shared when somebody asks for that.
#[derive(Debug)]
enum Text {
    Shared(Arc<str>),
    Made { text: String, shared: OnceLock<Arc<str>> },
}

/// Where each label is defined first.
#[derive(Debug, Default)]
pub(crate) struct Labels {
    links: HashMap<String, u32>,
    footnotes: HashMap<String, u32>,
}

/// The position of a block in preorder; the root is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockIndex(pub u32);

/// One block of a tree.
#[derive(Clone, Copy)]
pub struct Block<'t> {
    tree: &'t Tree,
    index: u32,
}

impl Tree {
    /// Returns the tree of `source`. The only errors are limits.
    ///
    /// # Errors
    /// When the source is larger than [`MAX_DOCUMENT_BYTES`] or nests deeper than [`MAX_DEPTH`](crate::limits::MAX_DEPTH).
    pub fn parse(source: impl Into<Arc<str>>, dialect: Dialect) -> Result<Tree, LimitError> {
        Tree::read(source.into(), Syntax { dialect, directives: true })
    }

    /// Returns the tree of `source` as a parser reads it that knows no directives: they are paragraphs. For comparisons.
    ///
    /// # Errors
    /// As [`Tree::parse`].
    pub fn parse_without_directives(source: impl Into<Arc<str>>, dialect: Dialect) -> Result<Tree, LimitError> {
        Tree::read(source.into(), Syntax { dialect, directives: false })
    }

    fn read(source: Arc<str>, syntax: Syntax) -> Result<Tree, LimitError> {
        if source.len() > MAX_DOCUMENT_BYTES {
            return Err(LimitError::Size { bytes: source.len() });
        }
        let arena = parse::document(&source, syntax)?;
        Ok(Tree::of(Text::Shared(source), syntax, arena))
    }

    /// Returns the tree of bytes.
    ///
    /// # Errors
    /// When they are not UTF-8, or past a limit.
    pub fn parse_bytes(bytes: &[u8], dialect: Dialect) -> Result<Tree, ParseError> {
        if bytes.len() > MAX_DOCUMENT_BYTES {
            return Err(LimitError::Size { bytes: bytes.len() }.into());
        }
        let text = std::str::from_utf8(bytes).map_err(|error| ParseError::NotUtf8 { offset: error.valid_up_to() })?;
        Ok(Tree::parse(text, dialect)?)
    }

    fn of(source: Text, syntax: Syntax, arena: Arena) -> Tree {
        Tree { inner: Arc::new(Inner { source, syntax, arena, labels: OnceLock::new() }) }
    }

    /// Returns the tree of the source with the bytes of `range` replaced by `with`: the same tree as a full parse, made by
    /// parsing only what the change touches.
    ///
    /// # Errors
    /// As [`Tree::parse`].
    ///
    /// # Panics
    /// When `range` is out of bounds or cuts a character.
    pub fn splice(&self, range: Range<usize>, with: &str) -> Result<Tree, LimitError> {
        let (before, after) = (&self.source()[..range.start], &self.source()[range.end..]);
        let bytes = before.len() + with.len() + after.len();
        if bytes > MAX_DOCUMENT_BYTES {
            return Err(LimitError::Size { bytes });
        }
        let text = [before, with, after].concat();
        let arena = incremental::splice(self.source(), &self.inner.arena, &text, self.inner.syntax, range, with.len())?;
        Ok(Tree::of(Text::Made { text, shared: OnceLock::new() }, self.inner.syntax, arena))
    }

    /// Returns the source.
    pub fn source(&self) -> &str {
        match &self.inner.source {
            Text::Shared(text) => text,
            Text::Made { text, .. } => text,
        }
    }

    /// Returns the source as it is shared between clones.
    pub fn shared(&self) -> &Arc<str> {
        match &self.inner.source {
            Text::Shared(text) => text,
            Text::Made { text, shared } => shared.get_or_init(|| text.as_str().into()),
        }
    }

    /// Returns the dialect it was read in.
    pub fn dialect(&self) -> Dialect {
        self.inner.syntax.dialect
    }

    /// Returns the root.
    pub fn root(&self) -> Block<'_> {
        Block { tree: self, index: 0 }
    }

    /// Returns how many blocks there are, without the root.
    pub fn len(&self) -> usize {
        self.inner.arena.nodes.len() - 1
    }

    /// Whether there is no block but the root.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the block at a position of the preorder.
    ///
    /// # Panics
    /// When the index is of another tree and out of bounds.
    pub fn block(&self, index: BlockIndex) -> Block<'_> {
        assert!((index.0 as usize) < self.inner.arena.nodes.len(), "BUG: block {} of a tree of {}", index.0, self.len());
        Block { tree: self, index: index.0 }
    }

    /// Returns the blocks in preorder, without the root.
    pub fn blocks(&self) -> impl DoubleEndedIterator<Item = Block<'_>> + ExactSizeIterator {
        (1..self.inner.arena.nodes.len() as u32).map(|index| Block { tree: self, index })
    }

    /// Returns the deepest block whose span holds the byte at `offset`; at the end of the source, the last.
    pub fn block_at(&self, offset: usize) -> Block<'_> {
        let offset = offset.min(self.source().len().saturating_sub(1)) as u32;
        let nodes = &self.inner.arena.nodes;
        // Preorder with tiling spans is ordered by start: the last block that starts at or before the byte is the deepest
        // candidate, and what holds the byte is that block or one of its parents.
        let mut index = nodes.partition_point(|node| node.start <= offset).saturating_sub(1) as u32;
        while index > 0 && nodes[index as usize].end <= offset {
            index = nodes[index as usize].parent;
        }
        Block { tree: self, index }
    }

    /// Returns the text that the leaves' and markers' pieces make when they are put together: the source, always.
    pub fn emit(&self) -> String {
        let mut out = String::with_capacity(self.source().len());
        let mut done = 0;
        for piece in self.pieces() {
            assert!(piece.start == done, "BUG: the tree does not tile at byte {done}");
            out.push_str(&self.source()[piece.clone()]);
            done = piece.end;
        }
        out
    }

    /// Returns the ranges that belong to no child, in order: openings, leaves, closings. They tile the source.
    fn pieces(&self) -> Vec<Range<usize>> {
        let nodes = &self.inner.arena.nodes;
        let mut pieces = Vec::with_capacity(nodes.len() + 1);
        let mut open: Vec<u32> = Vec::new();
        let mut done = 0;
        let close_to = |open: &mut Vec<u32>, pieces: &mut Vec<Range<usize>>, done: &mut u32, index: u32| {
            while let Some(&top) = open.last() {
                if nodes[top as usize].last > index {
                    break;
                }
                pieces.push(*done as usize..nodes[top as usize].end as usize);
                *done = nodes[top as usize].end;
                open.pop();
            }
        };
        for (index, node) in nodes.iter().enumerate() {
            close_to(&mut open, &mut pieces, &mut done, index as u32);
            if node.start != done {
                pieces.push(done as usize..node.start as usize);
                done = node.start;
            }
            open.push(index as u32);
        }
        close_to(&mut open, &mut pieces, &mut done, nodes.len() as u32);
        pieces.retain(|piece| !piece.is_empty());
        pieces
    }

    /// Returns the link definitions, in order; of two with one label the first counts.
    pub fn definitions(&self) -> impl Iterator<Item = Block<'_>> {
        self.blocks().filter(|block| block.node().tag == Tag::Definition)
    }

    /// Returns the footnote definitions, in order.
    pub fn footnotes(&self) -> impl Iterator<Item = Block<'_>> {
        self.blocks().filter(|block| block.node().tag == Tag::Footnote)
    }

    /// Returns the link definition that a reference with this label means.
    pub fn definition(&self, label: &str) -> Option<Block<'_>> {
        let index = *self.labels().links.get(&inline::normalized_label(label))?;
        Some(Block { tree: self, index })
    }

    /// Returns the footnote definition that a reference with this label means.
    pub fn footnote(&self, label: &str) -> Option<Block<'_>> {
        let index = *self.labels().footnotes.get(&inline::normalized_label(label))?;
        Some(Block { tree: self, index })
    }

    fn labels(&self) -> &Labels {
        self.inner.labels.get_or_init(|| {
            let mut labels = Labels::default();
            for block in self.blocks() {
                let map = match block.node().tag {
                    Tag::Definition => &mut labels.links,
                    Tag::Footnote => &mut labels.footnotes,
                    _ => continue,
                };
                map.entry(inline::normalized_label(block.info().a.of(self.source()))).or_insert(block.index);
            }
            labels
        })
    }
}

impl PartialEq for Tree {
    /// Whether source, dialect and every block are the same.
    fn eq(&self, other: &Tree) -> bool {
        self.source() == other.source() && self.dialect() == other.dialect() && self.inner.arena == other.inner.arena
    }
}

impl Eq for Tree {}

impl<'t> Block<'t> {
    fn node(&self) -> &'t Node {
        &self.tree.inner.arena.nodes[self.index as usize]
    }

    fn info(&self) -> &'t Info {
        &self.tree.inner.arena.infos[self.node().extra as usize]
    }

    fn with(self, index: u32) -> Block<'t> {
        Block { tree: self.tree, index }
    }

    /// Returns the tree.
    pub fn tree(&self) -> &'t Tree {
        self.tree
    }

    /// Returns the position in preorder.
    pub fn index(&self) -> BlockIndex {
        BlockIndex(self.index)
    }

    /// Returns what it is.
    pub fn kind(&self) -> Kind {
        let node = self.node();
        match node.tag {
            Tag::Document => Kind::Document,
            Tag::Yaml => Kind::FrontMatter { format: Format::Yaml },
            Tag::Toml => Kind::FrontMatter { format: Format::Toml },
            Tag::Heading => Kind::Heading { level: node.flag, setext: false },
            Tag::Setext => Kind::Heading { level: node.flag, setext: true },
            Tag::Paragraph => Kind::Paragraph,
            Tag::Quote => Kind::Quote,
            Tag::List => {
                let delimiter = node.small as u8;
                let ordered = matches!(delimiter, b'.' | b')').then_some(node.extra);
                Kind::List { ordered, tight: node.flag == 1, delimiter }
            }
            Tag::Item => Kind::Item { task: [None, Some(false), Some(true)][usize::from(node.flag.min(2))] },
            Tag::Indented => Kind::Code { fence: None, info: Span { start: node.content_start, end: node.content_start } },
            Tag::Fenced => {
                let info = self.info();
                Kind::Code { fence: Some(Fence { character: info.form as u8, length: info.number }), info: info.a }
            }
            Tag::Html => Kind::Html,
            Tag::Break => Kind::Break,
            Tag::Table => Kind::Table { columns: self.info().number },
            Tag::Row => Kind::Row { head: node.flag == 1 },
            Tag::Cell => Kind::Cell,
            Tag::Footnote => Kind::FootnoteDefinition { label: self.info().a },
            Tag::Definition => {
                let info = self.info();
                Kind::LinkDefinition { label: info.a, destination: info.b, title: info.c.some() }
            }
            Tag::Container => Kind::Container(self.directive()),
            Tag::Leaf => Kind::Leaf(self.directive()),
            Tag::Math => Kind::Math,
            Tag::Admonition => {
                let info = self.info();
                let form = match info.form {
                    0 => AdmonitionForm::Colons,
                    1 => AdmonitionForm::Bang,
                    2 => AdmonitionForm::Fold { open: false },
                    3 => AdmonitionForm::Fold { open: true },
                    _ => AdmonitionForm::Fence,
                };
                Kind::Admonition { form, fence: info.number, name: info.a, title: info.b.some() }
            }
            Tag::Opaque => {
                let what = [Opaque::Module, Opaque::Jsx, Opaque::Shortcode][usize::from(node.flag.min(2))];
                Kind::Opaque { what }
            }
        }
    }

    fn directive(&self) -> Directive {
        let info = self.info();
        Directive { colons: info.number, name: info.a, label: info.b.some(), attributes: info.c.some() }
    }

    /// Returns the outer extent: the blank lines after it are part of it.
    pub fn span(&self) -> Range<usize> {
        self.node().start as usize..self.node().end as usize
    }

    /// Returns the extent from the first byte that is not blank to the last byte of content.
    pub fn content(&self) -> Range<usize> {
        self.node().content_start as usize..self.node().content_end as usize
    }

    /// Returns the text inside the markers: a heading's words, a code block's lines without fences, front matter without its
    /// fences, a cell's text; of a container, what lies between its opening and its closing; else the content.
    pub fn inner(&self) -> Range<usize> {
        crate::inner::inner(self)
    }

    /// Returns the source of the content.
    pub fn text(&self) -> &'t str {
        &self.tree.source()[self.content()]
    }

    /// Returns the source of the span.
    pub fn raw(&self) -> &'t str {
        &self.tree.source()[self.span()]
    }

    /// Returns the block that holds this one; the root has none.
    pub fn parent(&self) -> Option<Block<'t>> {
        (self.index != 0).then(|| self.with(self.node().parent))
    }

    /// Returns the blocks directly inside.
    pub fn children(&self) -> impl Iterator<Item = Block<'t>> + use<'t> {
        let (block, last) = (*self, self.node().last);
        let mut next = self.index + 1;
        std::iter::from_fn(move || {
            (next < last).then(|| {
                let child = block.with(next);
                next = child.node().last;
                child
            })
        })
    }

    /// Returns the blocks inside at any depth, in preorder.
    pub fn descendants(&self) -> impl DoubleEndedIterator<Item = Block<'t>> + ExactSizeIterator + use<'t> {
        let block = *self;
        (self.index + 1..self.node().last).map(move |index| block.with(index))
    }

    /// Returns the blocks around, from the parent to the root.
    pub fn ancestors(&self) -> impl Iterator<Item = Block<'t>> + use<'t> {
        std::iter::successors(self.parent(), Block::parent)
    }

    /// Returns the next block with the same parent.
    pub fn next(&self) -> Option<Block<'t>> {
        let last = self.node().last;
        (self.index != 0 && last < self.with(self.node().parent).node().last).then(|| self.with(last))
    }

    /// Returns the block before it with the same parent.
    pub fn previous(&self) -> Option<Block<'t>> {
        let parent = self.node().parent;
        let mut before = self.index.checked_sub(1).filter(|&before| self.index != 0 && before != parent)?;
        while self.with(before).node().parent != parent {
            before = self.with(before).node().parent;
        }
        Some(self.with(before))
    }

    /// Returns the first block inside.
    pub fn first_child(&self) -> Option<Block<'t>> {
        (self.index + 1 < self.node().last).then(|| self.with(self.index + 1))
    }

    /// Returns the last block inside.
    pub fn last_child(&self) -> Option<Block<'t>> {
        self.children().last()
    }

    /// Returns how many blocks are around: the root has 0.
    pub fn depth(&self) -> usize {
        self.ancestors().count()
    }

    /// Returns the level of a heading.
    pub fn heading_level(&self) -> Option<u8> {
        matches!(self.node().tag, Tag::Heading | Tag::Setext).then(|| self.node().flag)
    }

    /// Returns the blocks of the section that a heading opens: the heading, then its siblings up to the next heading of its level
    /// or above. Of another block, the block alone.
    pub fn section(&self) -> impl Iterator<Item = Block<'t>> + use<'t> {
        let level = self.heading_level();
        let first = *self;
        std::iter::successors(Some(first), Block::next)
            .enumerate()
            .take_while(move |(place, block)| {
                *place == 0 || level.is_some_and(|level| block.heading_level().is_none_or(|other| other > level))
            })
            .map(|(_, block)| block)
    }

    /// Returns the end of the section that a heading opens: where its last block's span ends.
    pub fn section_end(&self) -> usize {
        self.section().last().unwrap_or(*self).span().end
    }

    /// Returns the alignments of a table's columns; of another block, none.
    pub fn alignments(&self) -> &'t [Alignment] {
        if self.node().tag != Tag::Table {
            return &[];
        }
        let info = self.info();
        let start = info.form as usize;
        &self.tree.inner.arena.alignments[start..start + info.number as usize]
    }

    /// Returns the lines of the content without the prefixes of the containers around.
    pub fn lines(&self) -> Vec<Line> {
        lines::lines(self)
    }

    /// Returns the text of a code block: its lines without fences and indent, each ended by a line feed. Of another block, nothing.
    pub fn code(&self) -> Option<String> {
        lines::code(self)
    }

    /// Where the line of the closing fence starts.
    pub(crate) fn fence_close(&self) -> Option<usize> {
        let close = self.info().close;
        (close != u32::MAX).then_some(close as usize)
    }

    /// The columns to the content of an item, before the fence of a container.
    pub(crate) fn stored_indent(&self) -> usize {
        usize::from(self.node().small & !crate::node::SPLIT)
    }

    /// Returns the alert or Obsidian callout that a quote is: `> [!note]- Title`.
    pub fn callout(&self) -> Option<Callout> {
        crate::inner::callout(self)
    }

    /// Whether the block holds inline text itself: headings, paragraphs, cells.
    pub fn has_inlines(&self) -> bool {
        matches!(self.node().tag, Tag::Heading | Tag::Setext | Tag::Paragraph | Tag::Cell)
    }

    /// Returns the inline nodes of a heading, paragraph or cell in preorder, with positions in the source; parsed on each call.
    pub fn inlines(&self) -> Vec<Inline> {
        if self.has_inlines() { inline::parse(self) } else { Vec::new() }
    }

    /// Returns the words a reader sees, markup removed; of a container, those of its blocks, a line each.
    pub fn plain_text(&self) -> String {
        inline::plain_text(self)
    }
}

impl PartialEq for Block<'_> {
    /// Whether both are the same place of the same tree.
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index && Arc::ptr_eq(&self.tree.inner, &other.tree.inner)
    }
}

impl Eq for Block<'_> {}

impl std::fmt::Debug for Block<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Block({}, {:?}, {:?}, {:?})", self.index, self.kind(), self.span(), self.content())
    }
}

/// The first line of a quote that is an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Callout {
    /// The type, as written: `NOTE`, `warning`.
    pub name: Span,
    /// `-` (closed at first) or `+` (open at first) after the bracket.
    pub fold: Option<bool>,
    /// The title after it on the line.
    pub title: Option<Span>,
}
