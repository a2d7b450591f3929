//! The tree as one JSON line a file, in the format of the reference parser's `blocks.mjs`.

use std::fmt::Write as _;

use crate::kind::{Format, Kind};
use crate::tree::{Block, Tree};

/// What a line shows beyond types, details and spans.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Directives as directives; without it they are what CommonMark makes of them only when the tree was parsed so.
    pub directives: bool,
}

/// Returns `{"file": …, "bytes": …, "blocks": [[type, detail, start, end, [children]], …]}`.
#[must_use]
pub fn line(file: &str, tree: &Tree) -> String {
    let mut out = String::from("{\"file\":");
    string(&mut out, file);
    let _ = write!(out, ",\"bytes\":{},\"blocks\":", tree.source().len());
    children(&mut out, tree.root());
    out.push('}');
    out
}

/// Writes the children of a block; depth is bounded by the parser.
fn children(out: &mut String, block: Block<'_>) {
    out.push('[');
    for (at, child) in block.children().enumerate() {
        if at > 0 {
            out.push(',');
        }
        out.push_str("[\"");
        out.push_str(name(child.kind()));
        out.push_str("\",");
        string(out, &detail(child));
        let content = child.content();
        let _ = write!(out, ",{},{},", content.start, content.end);
        children(out, child);
        out.push(']');
    }
    out.push(']');
}

/// The level, start number, check mark or name of a block.
#[must_use]
pub fn detail(block: Block<'_>) -> String {
    match block.kind() {
        Kind::Heading { level, .. } => level.to_string(),
        Kind::List { ordered: Some(start), .. } => format!("ordered {start}"),
        Kind::List { ordered: None, .. } => "bullet".to_owned(),
        Kind::Item { task: Some(true) } => "checked".to_owned(),
        Kind::Item { task: Some(false) } => "unchecked".to_owned(),
        Kind::Container(directive) | Kind::Leaf(directive) => directive.name.of(block.tree().source()).to_owned(),
        Kind::Admonition { name, .. } => name.of(block.tree().source()).to_owned(),
        _ => String::new(),
    }
}

/// The reference parser's name of a kind, where it has one.
#[must_use]
pub fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Document => "root",
        Kind::FrontMatter { format: Format::Yaml } => "yaml",
        Kind::FrontMatter { format: Format::Toml } => "toml",
        Kind::Heading { .. } => "heading",
        Kind::Paragraph => "paragraph",
        Kind::Quote => "blockquote",
        Kind::List { .. } => "list",
        Kind::Item { .. } => "listItem",
        Kind::Code { .. } => "code",
        Kind::Html => "html",
        Kind::Break => "thematicBreak",
        Kind::Table { .. } => "table",
        Kind::Row { .. } => "tableRow",
        Kind::Cell => "tableCell",
        Kind::FootnoteDefinition { .. } => "footnoteDefinition",
        Kind::LinkDefinition { .. } => "definition",
        Kind::Container(_) | Kind::Admonition { .. } => "containerDirective",
        Kind::Leaf(_) => "leafDirective",
        Kind::Math => "math",
        Kind::Opaque { .. } => "opaque",
    }
}

/// Writes a JSON string.
fn string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if (c as u32) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
