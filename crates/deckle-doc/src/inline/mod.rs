//! Inline nodes: what stands inside a paragraph, a heading or a cell.

mod delimiters;
mod links;
mod literal;
mod plain;
mod scan;
mod view;

use std::ops::Range;

use crate::kind::Span;
use crate::tree::Block;
use scan::{Found, Scanner};
use view::View;

/// One inline node. The list is in preorder; `descendants` of the entries that follow are inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inline {
    /// What it is.
    pub kind: InlineKind,
    /// Its bytes, markers included.
    pub span: Range<usize>,
    /// What is inside its markers.
    pub content: Range<usize>,
    /// How many entries after it are inside it.
    pub descendants: u32,
}

/// What an inline node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InlineKind {
    /// Characters that stand for themselves, escapes and character references included.
    Text,
    /// `*text*`
    Emphasis,
    /// `**text**`
    Strong,
    /// `~~text~~`
    Strikethrough,
    /// `` `code` ``
    Code,
    /// `$math$` or `$$math$$`
    Math {
        /// Whether it has two dollars.
        display: bool,
    },
    /// `[text](destination "title")`, or a reference.
    Link(Target),
    /// `![text](destination "title")`, or a reference.
    Image(Target),
    /// `<https://…>`, or a bare address.
    Autolink {
        /// Whether it has no angle brackets.
        bare: bool,
    },
    /// `[[key#heading|text]]`; with `!` before it an embed.
    Wikilink {
        /// Whether it is an embed.
        embed: bool,
        /// The document; empty for a heading of this one.
        target: Span,
        /// What follows `#`.
        heading: Option<Span>,
        /// What follows `|`.
        alias: Option<Span>,
    },
    /// `:name[label]{attributes}`; a mention is one with the name `mention`.
    Directive {
        /// The name.
        name: Span,
        /// The text between `[` and `]`.
        label: Option<Span>,
        /// The text between `{` and `}`.
        attributes: Option<Span>,
    },
    /// `[^label]`
    FootnoteReference {
        /// The label.
        label: Span,
    },
    /// A tag, comment, instruction or declaration.
    Html,
    /// `{{< name >}}` and its like.
    Shortcode,
    /// A line ending after two blanks or a `\`.
    HardBreak,
    /// A line ending.
    SoftBreak,
}

/// Where a link or an image goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// How it is written.
    pub form: LinkForm,
    /// The destination as written, without `<` and `>`: of a reference, that of its definition.
    pub destination: Span,
    /// The title as written, without its quotes.
    pub title: Option<Span>,
    /// The label of a reference.
    pub label: Option<Span>,
}

/// How a link is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkForm {
    /// `[text](destination)`
    Inline,
    /// `[text][label]`
    Full,
    /// `[label][]`
    Collapsed,
    /// `[label]`
    Shortcut,
}

/// Returns a label in the form in which labels are compared: blanks collapsed, case folded.
pub fn normalized_label(label: &str) -> String {
    let mut out = String::with_capacity(label.len());
    for word in label.split([' ', '\t', '\r', '\n']).filter(|word| !word.is_empty()) {
        if !out.is_empty() {
            out.push(' ');
        }
        // Lower and then upper case, as the specification's reference implementations do: `ẞ` and `ss` are one label.
        out.extend(word.chars().flat_map(char::to_lowercase).flat_map(char::to_uppercase));
    }
    out
}

/// Returns the inline nodes of a block's text, also of one that is read as a whole: math, a shortcode.
pub fn nodes(block: &Block<'_>) -> Vec<Inline> {
    parse(block)
}

pub(crate) use plain::plain_text;

/// Returns the inline nodes of a leaf, in preorder.
pub(crate) fn parse(block: &Block<'_>) -> Vec<Inline> {
    let view = View::of(block);
    let mut found = Scanner::new(block.tree(), &view).run();
    found.sort_by(|a, b| a.span.start.cmp(&b.span.start).then(b.span.end.cmp(&a.span.end)));
    let mut builder = Builder { view: &view, out: Vec::with_capacity(found.len() * 2 + 1), open: Vec::new(), links: 0, done: 0 };
    for one in found {
        builder.place(one);
    }
    builder.finish()
}

/// Puts found nodes into preorder, with text in the gaps.
struct Builder<'v, 't> {
    view: &'v View<'t>,
    out: Vec<Inline>,
    /// The nodes that are open: their place in `out`, where their content and they end, and whether they are a link.
    open: Vec<(usize, usize, usize, bool)>,
    /// How many of them are links.
    links: usize,
    /// What is placed up to here.
    done: usize,
}

impl Builder<'_, '_> {
    fn place(&mut self, found: Found) {
        // What stands inside code, HTML and the like is no node.
        if found.span.start < self.done {
            return;
        }
        self.close_to(found.span.start);
        self.text(found.span.start);
        let holds_nodes = matches!(
            found.kind,
            InlineKind::Emphasis | InlineKind::Strong | InlineKind::Strikethrough | InlineKind::Link(_) | InlineKind::Image(_)
        );
        let is_link = matches!(found.kind, InlineKind::Link(_) | InlineKind::Image(_));
        let (span, content) = (self.view.range(found.span.clone()), self.view.range(found.content.clone()));
        // An empty content after a line ending would stand behind the next line's prefix.
        let content = content.start.min(span.end)..content.end.min(span.end);
        self.out.push(Inline { kind: found.kind, span, content, descendants: 0 });
        if holds_nodes {
            self.open.push((self.out.len() - 1, found.content.end, found.span.end, is_link));
            self.links += usize::from(is_link);
            self.done = found.content.start;
        } else {
            self.done = found.span.end;
        }
    }

    /// Closes the nodes whose content ends at or before `at`.
    fn close_to(&mut self, at: usize) {
        while let Some(&(node, content_end, end, is_link)) = self.open.last() {
            if content_end > at {
                break;
            }
            self.text(content_end);
            self.open.pop();
            self.links -= usize::from(is_link);
            self.out[node].descendants = (self.out.len() - node - 1) as u32;
            self.done = end;
        }
    }

    /// Adds the text up to `end`, bare addresses in it as links.
    fn text(&mut self, end: usize) {
        while self.done < end {
            let address = if self.links > 0 { None } else { literal::bare(&self.view.bytes, self.done..end) };
            let stop = address.as_ref().map_or(end, |address| address.start);
            if stop > self.done {
                self.leaf(InlineKind::Text, self.done..stop);
            }
            if let Some(address) = address {
                self.done = address.end;
                self.leaf(InlineKind::Autolink { bare: true }, address);
            } else {
                self.done = end;
            }
        }
    }

    fn leaf(&mut self, kind: InlineKind, range: Range<usize>) {
        let span = self.view.range(range);
        self.out.push(Inline { kind, span: span.clone(), content: span, descendants: 0 });
    }

    fn finish(mut self) -> Vec<Inline> {
        let end = self.view.bytes.len();
        self.close_to(end);
        self.text(end);
        self.out
    }
}
