//! The links of a document: what is written, where each byte of it stands, and what it means in a corpus.

pub(crate) mod destination;
mod extract;
mod resolve;

use std::ops::Range;

use deckle_doc::{BlockIndex, DocKey};

pub(crate) use extract::links;
pub(crate) use resolve::{Habit, Resolver, Wanted, is_path, is_shortest, render};

/// How a link is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinkKind {
    /// `[text](destination)`
    Inline,
    /// `[text][label]`, `[label][]` or `[label]`; its destination is that of the definition.
    Reference,
    /// `[label]: destination`
    Definition,
    /// `![text](destination)`
    Image,
    /// `![text][label]`
    ImageReference,
    /// `[[key]]`
    Wikilink,
    /// `![[key]]`
    Embed,
    /// `<https://…>`, or a bare address.
    Autolink,
    /// `[[key]]` in a quoted value of the front matter.
    FrontMatter,
    /// `href="…"` or `src="…"` of a tag.
    Html,
}

impl LinkKind {
    /// Whether it names its document as wikilinks do.
    #[must_use]
    pub fn is_wiki(self) -> bool {
        matches!(self, LinkKind::Wikilink | LinkKind::Embed | LinkKind::FrontMatter)
    }

    /// Whether the destination stands at the link itself: of references it stands at the definition.
    #[must_use]
    pub fn owns_destination(self) -> bool {
        !matches!(self, LinkKind::Reference | LinkKind::ImageReference)
    }

    /// Whether it is an edge of the graph: a definition is none, its references are.
    #[must_use]
    pub fn is_edge(self) -> bool {
        self != LinkKind::Definition
    }

    /// Returns the name used in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            LinkKind::Inline => "link",
            LinkKind::Reference => "reference",
            LinkKind::Definition => "definition",
            LinkKind::Image => "image",
            LinkKind::ImageReference => "image reference",
            LinkKind::Wikilink => "wikilink",
            LinkKind::Embed => "embed",
            LinkKind::Autolink => "address",
            LinkKind::FrontMatter => "front matter link",
            LinkKind::Html => "HTML link",
        }
    }
}

/// One link as written. Ranges are bytes of the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// How it is written.
    pub kind: LinkKind,
    /// All of it.
    pub span: Range<usize>,
    /// What names the document: the destination up to its `?` or `#`, without angle brackets.
    pub path: Range<usize>,
    /// What follows the `#`.
    pub fragment: Option<Range<usize>>,
    /// What is shown: the text between the brackets, or after the `|`.
    pub text: Option<Range<usize>>,
    /// Whether the destination stands in angle brackets, where blanks are allowed.
    pub angle: bool,
    /// Whether it stands in a table's cell, where `|` is not itself.
    pub in_cell: bool,
    /// Whether its paragraph holds nothing else: it takes the document in, where it stands.
    pub alone: bool,
    /// The block that holds it.
    pub block: BlockIndex,
}

impl Link {
    /// Returns what names the document, as written.
    #[must_use]
    pub fn path_text<'s>(&self, source: &'s str) -> &'s str {
        source.get(self.path.clone()).unwrap_or_default()
    }

    /// Returns the fragment as written, without `#`.
    #[must_use]
    pub fn fragment_text<'s>(&self, source: &'s str) -> Option<&'s str> {
        self.fragment.clone().and_then(|range| source.get(range))
    }

    /// Returns the whole link as written.
    #[must_use]
    pub fn written<'s>(&self, source: &'s str) -> &'s str {
        source.get(self.span.clone()).unwrap_or_default()
    }
}

/// What a link means in a corpus.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// A document; the document itself for `#fragment`.
    Document(DocKey),
    /// A name that several documents have.
    Ambiguous(Vec<DocKey>),
    /// A file that is no document, by its path from the root.
    File(String),
    /// Nothing that is there, by the path or name looked for.
    Missing(String),
    /// A place outside the workspace, by its path from the root: it starts with `..`.
    Outside(String),
    /// Another site, or nothing at all.
    External,
}

impl Target {
    /// Returns the document, when it is one.
    #[must_use]
    pub fn document(&self) -> Option<&DocKey> {
        match self {
            Target::Document(key) => Some(key),
            _ => None,
        }
    }
}
