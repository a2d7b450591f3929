//! The line that `deckle blocks` prints for a document: the tree as JSON, in the form of the reference's own listing.
//!
//! `{"file": path, "bytes": n, "blocks": [[type, detail, start, end, [children]], …]}`, with the names that mdast gives to blocks
//! and with contents as spans.

use crate::inline::InlineKind;
use crate::kind::{Dialect, Format, Kind};
use crate::tree::{Block, Tree};

/// What a line holds beyond the blocks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'o> {
    /// A block's id, shown as the sixth element.
    pub ids: Option<&'o dyn IdOf>,
    /// Inline nodes, shown as the last element of blocks that have text.
    pub inline: bool,
}

/// Gives blocks their ids.
pub trait IdOf: std::fmt::Debug {
    /// Returns the id of the block.
    fn id_of(&self, block: &Block<'_>) -> String;
}

/// Returns the line, without a line ending.
pub fn line(file: &str, tree: &Tree, options: &Options<'_>) -> String {
    let mut out = String::with_capacity(tree.len() * 32 + 64);
    out.push_str("{\"file\":");
    string(&mut out, file);
    out.push_str(&format!(",\"bytes\":{},\"blocks\":", tree.source().len()));
    children(&mut out, &tree.root(), options);
    out.push('}');
    out
}

/// The tree is at most 64 deep, and so is this.
fn children(out: &mut String, parent: &Block<'_>, options: &Options<'_>) {
    out.push('[');
    for (order, block) in parent.children().enumerate() {
        if order > 0 {
            out.push(',');
        }
        element(out, &block, options);
    }
    out.push(']');
}

fn element(out: &mut String, block: &Block<'_>, options: &Options<'_>) {
    let (name, detail) = names(block);
    out.push_str("[\"");
    out.push_str(name);
    out.push_str("\",");
    string(out, &detail);
    let content = block.content();
    let start = if name == "paragraph" { paragraph_start(block) } else { content.start };
    out.push_str(&format!(",{start},{},", content.end));
    children(out, block, options);
    if let Some(ids) = options.ids {
        out.push(',');
        string(out, &ids.id_of(block));
    }
    if options.inline && block.has_inlines() {
        out.push_str(",[");
        for (order, inline) in block.inlines().iter().enumerate() {
            if order > 0 {
                out.push(',');
            }
            let name = inline_name(&inline.kind);
            out.push_str(&format!("[\"{name}\",{},{},{}]", inline.span.start, inline.span.end, inline.descendants));
        }
        out.push(']');
    }
    out.push(']');
}

/// Where the reference has the start of a paragraph: of a task whose text does not start with plain text, on its `[`.
fn paragraph_start(block: &Block<'_>) -> usize {
    let start = block.content().start;
    let Some(item) = block.parent() else { return start };
    let task = matches!(item.kind(), Kind::Item { task: Some(_) });
    if !task || block.index().0 != item.index().0 + 1 || block.tree().dialect() != Dialect::Generic {
        return start;
    }
    let source = block.tree().source();
    let text = source[item.content().start..start].rfind('[').map_or(start, |at| item.content().start + at);
    // After the box stands one blank; a second one is text.
    let blank_is_text = source[text + 3..start].chars().count() > 1;
    let plain = block.inlines().first().is_none_or(|first| matches!(first.kind, InlineKind::Text) || is_text(&first.kind));
    if plain || blank_is_text { start } else { text }
}

/// Whether the reference has no node of its own for this.
fn is_text(kind: &InlineKind) -> bool {
    matches!(kind, InlineKind::Math { .. } | InlineKind::Wikilink { .. } | InlineKind::Shortcode | InlineKind::SoftBreak)
}

fn names(block: &Block<'_>) -> (&'static str, String) {
    let source = block.tree().source();
    let generic = block.tree().dialect() == Dialect::Generic;
    let none = String::new;
    match block.kind() {
        Kind::Document => ("root", none()),
        Kind::FrontMatter { format: Format::Yaml } => ("yaml", none()),
        Kind::FrontMatter { format: Format::Toml } => ("toml", none()),
        Kind::Heading { level, .. } => ("heading", level.to_string()),
        Kind::Paragraph => ("paragraph", none()),
        Kind::Quote => ("blockquote", none()),
        Kind::List { ordered: Some(start), .. } => ("list", format!("ordered {start}")),
        Kind::List { ordered: None, .. } => ("list", "bullet".to_owned()),
        Kind::Item { task: Some(true) } => ("listItem", "checked".to_owned()),
        Kind::Item { task: Some(false) } => ("listItem", "unchecked".to_owned()),
        Kind::Item { task: None } => ("listItem", none()),
        Kind::Code { .. } => ("code", none()),
        Kind::Html => ("html", none()),
        Kind::Break => ("thematicBreak", none()),
        Kind::Table { .. } => ("table", none()),
        Kind::Row { .. } => ("tableRow", none()),
        Kind::Cell => ("tableCell", none()),
        Kind::FootnoteDefinition { .. } => ("footnoteDefinition", none()),
        Kind::LinkDefinition { .. } => ("definition", none()),
        Kind::Container(directive) => ("containerDirective", directive.name.of(source).to_owned()),
        Kind::Leaf(directive) => ("leafDirective", directive.name.of(source).to_owned()),
        Kind::Math | Kind::Opaque { .. } if generic => ("paragraph", none()),
        Kind::Math => ("math", none()),
        Kind::Opaque { .. } => ("opaque", none()),
        Kind::Admonition { name, .. } => ("admonition", name.of(source).to_owned()),
    }
}

fn inline_name(kind: &InlineKind) -> &'static str {
    match kind {
        InlineKind::Text => "text",
        InlineKind::Emphasis => "emphasis",
        InlineKind::Strong => "strong",
        InlineKind::Strikethrough => "delete",
        InlineKind::Code => "inlineCode",
        InlineKind::Math { .. } => "inlineMath",
        InlineKind::Link(_) | InlineKind::Autolink { .. } => "link",
        InlineKind::Image(_) => "image",
        InlineKind::Wikilink { embed: false, .. } => "wikilink",
        InlineKind::Wikilink { embed: true, .. } => "embed",
        InlineKind::Directive { .. } => "textDirective",
        InlineKind::FootnoteReference { .. } => "footnoteReference",
        InlineKind::Html => "html",
        InlineKind::Shortcode => "shortcode",
        InlineKind::HardBreak => "break",
        InlineKind::SoftBreak => "softBreak",
    }
}

fn string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
}
