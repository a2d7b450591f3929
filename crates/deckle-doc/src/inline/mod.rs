//! Inline nodes: what stands inside a paragraph, a heading or a cell.

use std::ops::Range;

use crate::kind::Span;
use crate::tree::Block;

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

pub(crate) fn parse(block: &Block<'_>) -> Vec<Inline> {
    let inner = block.inner();
    vec![Inline { kind: InlineKind::Text, span: inner.clone(), content: inner, descendants: 0 }]
}

pub(crate) fn plain_text(block: &Block<'_>) -> String {
    block.tree().source()[block.inner()].to_owned()
}
