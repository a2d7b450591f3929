//! What a block is, as the parser read it.

use std::ops::Range;

/// A range of bytes of the source; half the size of a `Range<usize>`, and `Copy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

impl Span {
    pub(crate) const NONE: Span = Span { start: u32::MAX, end: u32::MAX };

    pub(crate) fn new(start: usize, end: usize) -> Span {
        Span { start: start as u32, end: end as u32 }
    }

    pub(crate) fn some(self) -> Option<Span> {
        (self != Span::NONE).then_some(self)
    }

    /// Returns the span as a range.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Returns the text of the span in `source`.
    pub fn of(self, source: &str) -> &str {
        source.get(self.range()).unwrap_or("")
    }

    /// Whether the span holds no byte.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// How callouts and other extensions are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// CommonMark, GFM, front matter and generic directives: what remark with its plugins reads.
    #[default]
    Generic,
    /// `::: warning Title`.
    VitePress,
    /// `:::note[Title]`, `:::note Title`, and MDX.
    Docusaurus,
    /// `!!! note "Title"`, `??? note`, `???+ note`.
    MkDocs,
    /// `> [!note]- Title`.
    Obsidian,
    /// ```` ```{note} ````.
    Myst,
}

impl Dialect {
    /// Every dialect.
    pub const ALL: [Dialect; 6] =
        [Dialect::Generic, Dialect::VitePress, Dialect::Docusaurus, Dialect::MkDocs, Dialect::Obsidian, Dialect::Myst];

    /// Returns the name that a person types: `generic`, `vitepress`, …
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Generic => "generic",
            Dialect::VitePress => "vitepress",
            Dialect::Docusaurus => "docusaurus",
            Dialect::MkDocs => "mkdocs",
            Dialect::Obsidian => "obsidian",
            Dialect::Myst => "myst",
        }
    }

    /// Returns the dialect of that name.
    pub fn named(name: &str) -> Option<Dialect> {
        Dialect::ALL.into_iter().find(|dialect| dialect.name() == name)
    }
}

/// What a block is. Ranges are absolute positions in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The root.
    Document,
    /// Metadata at the top of the file, fences included.
    FrontMatter {
        /// The language between the fences.
        format: Format,
    },
    /// `# Title`, or a title with a line of `=` or `-` under it.
    Heading {
        /// 1 to 6.
        level: u8,
        /// Whether it is underlined.
        setext: bool,
    },
    /// Running text.
    Paragraph,
    /// Lines after `>`. [`Block::callout`](crate::Block::callout) tells whether it is an alert.
    Quote,
    /// A list; its children are [`Kind::Item`]s.
    List {
        /// The number of the first item of an ordered list.
        ordered: Option<u32>,
        /// Whether no blank line divides its blocks.
        tight: bool,
        /// `-`, `+` or `*`; `.` or `)` after numbers.
        delimiter: u8,
    },
    /// An item of a list.
    Item {
        /// `[ ]` and `[x]`.
        task: Option<bool>,
    },
    /// Code, fenced or indented.
    Code {
        /// The fence, where it has one.
        fence: Option<Fence>,
        /// The text after the opening fence, blanks trimmed; empty without one.
        info: Span,
    },
    /// HTML that starts a line; kept as it is.
    Html,
    /// `---`, `***` or `___`.
    Break,
    /// A table; its children are [`Kind::Row`]s. [`Block::alignments`](crate::Block::alignments) has a value per column.
    Table {
        /// How many columns the head has.
        columns: u32,
    },
    /// A row; its children are [`Kind::Cell`]s.
    Row {
        /// Whether it is the head.
        head: bool,
    },
    /// A cell.
    Cell,
    /// `[^label]: …`.
    FootnoteDefinition {
        /// The label between `[^` and `]`.
        label: Span,
    },
    /// `[label]: destination "title"`.
    LinkDefinition {
        /// The label between the brackets.
        label: Span,
        /// The destination, without `<` and `>`.
        destination: Span,
        /// The title, without its quotes.
        title: Option<Span>,
    },
    /// `:::name[label]{attributes}` and the blocks to its closing fence.
    Container(Directive),
    /// `::name[label]{attributes}`.
    Leaf(Directive),
    /// `$$`, lines, `$$`.
    Math,
    /// A callout in the form of a dialect; its blocks are its children.
    Admonition {
        /// The form it is written in.
        form: AdmonitionForm,
        /// How many characters its fence has: colons, backticks, or the three of `!!!`.
        fence: u32,
        /// The type: `note`, `warning`, …
        name: Span,
        /// The title as written, without quotes or brackets.
        title: Option<Span>,
    },
    /// Text that is not Markdown; kept as it is.
    Opaque {
        /// What it is.
        what: Opaque,
    },
}

/// The language of front matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Between `---`.
    Yaml,
    /// Between `+++`.
    Toml,
}

/// The fence of a code block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fence {
    /// `` ` `` or `~`.
    pub character: u8,
    /// How many: three or more.
    pub length: u32,
}

/// The parts of a directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Directive {
    /// How many colons open it.
    pub colons: u32,
    /// The name.
    pub name: Span,
    /// The text between `[` and `]`.
    pub label: Option<Span>,
    /// The text between `{` and `}`.
    pub attributes: Option<Span>,
}

/// The form of a callout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AdmonitionForm {
    /// `::: warning Title` (VitePress) or `:::warning Title` (Docusaurus).
    Colons,
    /// `!!! note "Title"`, with an indented body.
    Bang,
    /// `??? note` (closed) or `???+ note` (open), with an indented body.
    Fold {
        /// Whether it is open at first.
        open: bool,
    },
    /// ```` ```{note} Title ````, with a body of Markdown.
    Fence,
}

/// What opaque text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Opaque {
    /// `import` or `export` of MDX.
    Module,
    /// An element or expression of MDX.
    Jsx,
    /// `{{< name >}}`, `{{% name %}}`, `{% name %}` on lines of their own.
    Shortcode,
}

/// The alignment of a table's column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Alignment {
    /// `---`
    None,
    /// `:--`
    Left,
    /// `:-:`
    Center,
    /// `--:`
    Right,
}
