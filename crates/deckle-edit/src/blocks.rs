//! Blocks as the edit language sees them: type names, own text, section paths.

use std::ops::Range;

use deckle_doc::inline::InlineKind;
use deckle_doc::{Block, DocKey, Kind};

use crate::{Place, fit};

/// Returns the type that predicates and receipts name, without the `$`.
#[must_use]
pub fn type_name(block: &Block<'_>) -> &'static str {
    match block.kind() {
        Kind::Document => "document",
        Kind::FrontMatter { .. } => "frontMatter",
        Kind::Heading { .. } => "header",
        Kind::Paragraph if folds_into_item(block) => "item",
        Kind::Paragraph if is_reference(block) => "ref",
        Kind::Paragraph if is_image(block) => "image",
        Kind::Paragraph if is_math(block) => "math",
        Kind::Paragraph => "paragraph",
        Kind::Quote if block.callout().is_some() => "callout",
        Kind::Quote => "quote",
        Kind::List { .. } => "list",
        Kind::Item { .. } => "item",
        Kind::Code { .. } => "code",
        Kind::Html => "html",
        Kind::Break => "hr",
        Kind::Table { .. } => "table",
        Kind::Row { .. } => "row",
        Kind::Cell => "cell",
        Kind::FootnoteDefinition { .. } => "footnote",
        Kind::LinkDefinition { .. } => "definition",
        Kind::Container(directive) => container_type(directive.name.of(block.tree().source())),
        Kind::Leaf(directive) => leaf_type(directive.name.of(block.tree().source())),
        Kind::Math => "math",
        Kind::Admonition { name, .. } => match container_type(name.of(block.tree().source())) {
            "directive" => "callout",
            known => known,
        },
        Kind::Opaque { .. } => "opaque",
    }
}

pub(crate) fn container_type(name: &str) -> &'static str {
    match name {
        "tabs" | "tab-set" => "tabs",
        "tab" | "tab-item" => "tab",
        "columns" => "columns",
        "column" => "column",
        "accordion" | "details" | "dropdown" => "accordion",
        "steps" => "steps",
        "step" => "step",
        "cards" => "cards",
        "card" => "card",
        "code_group" | "code-group" => "code_group",
        "api" => "api",
        "callout" | "note" | "info" | "tip" | "warning" | "danger" | "caution" | "important" | "hint" | "error" | "success"
        | "abstract" | "example" | "question" | "failure" | "bug" | "attention" | "seealso" | "todo" => "callout",
        _ => "directive",
    }
}

fn leaf_type(name: &str) -> &'static str {
    match name {
        "embed" => "embed",
        "file" => "file",
        "diagram" => "diagram",
        "api" => "api",
        _ => "directive",
    }
}

/// The first paragraph of an item is the item's own text.
pub(crate) fn folds_into_item(block: &Block<'_>) -> bool {
    block.kind() == Kind::Paragraph
        && block.parent().is_some_and(|parent| {
            matches!(parent.kind(), Kind::Item { .. }) && parent.first_child().is_some_and(|first| first == *block)
        })
}

/// Whether a paragraph is one link to a document and nothing else.
pub(crate) fn is_reference(block: &Block<'_>) -> bool {
    let text = block.text();
    if !(text.starts_with('[') || text.starts_with("![[")) {
        return false;
    }
    let inlines = block.inlines();
    let Some(first) = inlines.first() else { return false };
    let whole = first.span == block.content() && inlines.len() == first.descendants as usize + 1;
    match first.kind {
        InlineKind::Wikilink { .. } => whole,
        InlineKind::Link(target) => {
            let destination = target.destination.of(block.tree().source());
            whole && !destination.contains("://") && !destination.starts_with('#')
        }
        _ => false,
    }
}

fn is_image(block: &Block<'_>) -> bool {
    block.text().starts_with("![") && {
        let inlines = block.inlines();
        inlines.first().is_some_and(|first| {
            matches!(first.kind, InlineKind::Image(_))
                && first.span == block.content()
                && inlines.len() == first.descendants as usize + 1
        })
    }
}

fn is_math(block: &Block<'_>) -> bool {
    let text = block.text();
    text.len() > 4 && text.starts_with("$$") && text.ends_with("$$")
}

/// Returns the bytes of a block's own text: what text predicates match and `$replaceText` edits. Nothing for a block without any.
pub(crate) fn own_range(block: &Block<'_>) -> Option<Range<usize>> {
    match block.kind() {
        Kind::Heading { .. } | Kind::Code { .. } | Kind::Cell => Some(block.inner()),
        Kind::Paragraph
        | Kind::Html
        | Kind::Table { .. }
        | Kind::Row { .. }
        | Kind::Math
        | Kind::Opaque { .. }
        | Kind::LinkDefinition { .. } => Some(block.content()),
        Kind::Item { .. } => block.first_child().filter(|child| child.kind() == Kind::Paragraph).map(|child| child.content()),
        Kind::Container(directive) | Kind::Leaf(directive) => directive.label.map(deckle_doc::Span::range),
        Kind::Admonition { title, .. } => title.map(deckle_doc::Span::range),
        Kind::Document
        | Kind::FrontMatter { .. }
        | Kind::Quote
        | Kind::List { .. }
        | Kind::Break
        | Kind::FootnoteDefinition { .. } => None,
    }
}

/// Returns a block's own text, byte for byte as it is on disk.
#[must_use]
pub fn own_text<'t>(block: &Block<'t>) -> &'t str {
    own_range(block).and_then(|range| block.tree().source().get(range)).unwrap_or_default()
}

/// What stands in front of each line of a block's own text.
pub(crate) fn own_prefix(block: &Block<'_>) -> String {
    match block.kind() {
        Kind::Item { .. } => block.first_child().map_or_else(String::new, |own| fit::prefix_of(&own)),
        Kind::Code { fence: None, .. } => fit::prefix_of(block) + "    ",
        _ => fit::prefix_of(block),
    }
}

/// Returns a block's own text as it would read at the top level: without the marks of the quotes and items around it. What reads show is
/// what writes take.
#[must_use]
pub fn shown_text(block: &Block<'_>) -> String {
    let holder = match block.kind() {
        Kind::Item { .. } => block.first_child().unwrap_or(*block),
        _ => *block,
    };
    let own = own_text(block);
    match block.code() {
        Some(code) if own.ends_with(['\n', '\r']) => code,
        Some(code) => code.strip_suffix('\n').unwrap_or(&code).to_owned(),
        None => own_range(block).map_or_else(String::new, |range| shown(&holder, &range)),
    }
}

/// Returns a whole block as it would read at the top level.
#[must_use]
pub fn shown_block(block: &Block<'_>) -> String {
    shown(block, &block.content())
}

/// Returns a section, a heading and all below it, as it would read at the top level.
pub(crate) fn shown_section(heading: &Block<'_>) -> String {
    let mut out = String::new();
    let mut end = heading.content().start;
    for block in heading.section() {
        let between = heading.tree().source().get(end..block.content().start).unwrap_or_default();
        out.extend(std::iter::repeat_n('\n', between.matches('\n').count().max(between.matches('\r').count())));
        out.push_str(&shown_block(&block));
        end = block.content().end;
    }
    out
}

/// The lines of a range of a block, without what the containers put in front of them.
fn shown(block: &Block<'_>, range: &Range<usize>) -> String {
    let source = block.tree().source();
    let mut out = String::new();
    let mut end = None;
    for line in block.lines() {
        let start = line.text.start.max(range.start);
        let stop = line.text.end.min(range.end);
        // A line of nothing but prefixes ends where its text would start.
        if line.start > range.end || start > range.end || line.text.end < range.start {
            continue;
        }
        if let Some(end) = end {
            out.push_str(source.get(end..line.start).unwrap_or_default());
            out.extend(std::iter::repeat_n(' ', line.spaces));
        }
        out.push_str(source.get(start..stop.max(start)).unwrap_or_default());
        end = Some(line.text.end);
    }
    if end.is_some_and(|end| end < range.end) {
        out.push_str(source.get(end.unwrap_or_default()..range.end).unwrap_or_default());
    }
    out
}

/// Returns the headings that a block stands under, the outermost first, the first heading of the document left out where it is the title.
#[must_use]
pub fn section_path(block: &Block<'_>) -> Vec<String> {
    let mut path = Vec::new();
    for heading in enclosing_headings(block) {
        path.push(heading.plain_text());
    }
    path.reverse();
    path
}

/// The headings that a block stands under, the nearest first.
pub(crate) fn enclosing_headings<'t>(block: &Block<'t>) -> Vec<Block<'t>> {
    let mut found: Vec<Block<'t>> = Vec::new();
    let mut at = *block;
    let mut level = block.heading_level().unwrap_or(7);
    loop {
        let mut sibling = at.previous();
        while let Some(before) = sibling {
            if let Some(other) = before.heading_level()
                && other < level
            {
                level = other;
                found.push(before);
            }
            if level == 1 {
                break;
            }
            sibling = before.previous();
        }
        let Some(parent) = at.parent() else { return found };
        at = parent;
        level = 7;
    }
}

/// Names a block for a person: `key › section › "first line"`.
pub(crate) fn place(key: &DocKey, block: &Block<'_>) -> Place {
    let mut parts = vec![key.to_string()];
    parts.extend(section_path(block));
    let line = own_text(block)
        .lines()
        .next()
        .filter(|line| !line.is_empty())
        .unwrap_or_else(|| block.text().lines().next().unwrap_or_default());
    let mut shown: String = line.chars().take(60).collect();
    if shown.len() < line.len() {
        shown.push('…');
    }
    parts.push(format!("\"{shown}\""));
    Place(parts.join(" › "))
}
