//! Finds the links of a tree.

use std::ops::Range;

use deckle_doc::{Block, InlineKind, Kind, LinkForm, Tree};

use super::{Link, LinkKind};

/// Returns every link of the document in the order of the source.
pub(crate) fn links(tree: &Tree) -> Vec<Link> {
    let mut out = Vec::new();
    for block in tree.blocks() {
        match block.kind() {
            Kind::FrontMatter { .. } => front_matter(block, &mut out),
            Kind::LinkDefinition { destination, title: _, label } => {
                let link = Link {
                    text: Some(label.range()),
                    ..destination_link(tree.source(), LinkKind::Definition, block.content(), destination.range(), block)
                };
                out.push(link);
            }
            Kind::Html | Kind::Opaque { .. } => html(tree.source(), block.content(), block, &mut out),
            _ if block.has_inlines() && may_link(block.text()) => inline(block, &mut out),
            _ => {}
        }
    }
    out.sort_by_key(|link| (link.span.start, link.path.start));
    out
}

/// Whether text can hold a link at all; most does not, and is not parsed for it.
fn may_link(text: &str) -> bool {
    memchr::memchr2(b'[', b'<', text.as_bytes()).is_some()
        || memchr::memmem::find(text.as_bytes(), b"://").is_some()
        || memchr::memmem::find(text.as_bytes(), b"www.").is_some()
}

fn inline(block: Block<'_>, out: &mut Vec<Link>) {
    let source = block.tree().source();
    let before = out.len();
    let nodes = block.inlines();
    let alone = block.kind() == Kind::Paragraph
        && nodes.first().is_some_and(|first| first.span == block.content() && nodes.len() == first.descendants as usize + 1);
    for node in nodes {
        match node.kind {
            InlineKind::Link(target) | InlineKind::Image(target) => {
                let image = matches!(node.kind, InlineKind::Image(_));
                let kind = match (image, target.form) {
                    (false, LinkForm::Inline) => LinkKind::Inline,
                    (false, _) => LinkKind::Reference,
                    (true, LinkForm::Inline) => LinkKind::Image,
                    (true, _) => LinkKind::ImageReference,
                };
                let link = destination_link(source, kind, node.span, target.destination.range(), block);
                out.push(Link { text: Some(node.content), ..link });
            }
            InlineKind::Wikilink { embed, target, heading, alias } => out.push(Link {
                kind: if embed { LinkKind::Embed } else { LinkKind::Wikilink },
                span: node.span,
                path: trimmed(source, target.range()),
                fragment: heading.map(|heading| trimmed(source, heading.range())),
                text: alias.map(|alias| alias.range()),
                angle: false,
                in_cell: matches!(block.kind(), Kind::Cell),
                alone: false,
                block: block.index(),
            }),
            InlineKind::Autolink { .. } => {
                let content = node.content.clone();
                out.push(destination_link(source, LinkKind::Autolink, node.span, content, block));
            }
            InlineKind::Html => html(source, node.span, block, out),
            _ => {}
        }
    }
    if let (true, Some(link)) = (alone, out.get_mut(before)) {
        link.alone = !matches!(link.kind, LinkKind::Image | LinkKind::ImageReference | LinkKind::Autolink | LinkKind::Html);
    }
}

/// A link whose destination is a path or an address.
fn destination_link(source: &str, kind: LinkKind, span: Range<usize>, destination: Range<usize>, block: Block<'_>) -> Link {
    let text = source.get(destination.clone()).unwrap_or_default();
    let cut = cut(text);
    let hash = text.find('#').map(|hash| destination.start + hash + 1..destination.end);
    Link {
        kind,
        span,
        path: destination.start..destination.start + cut,
        fragment: hash,
        text: None,
        angle: source.as_bytes().get(destination.start.wrapping_sub(1)) == Some(&b'<'),
        in_cell: matches!(block.kind(), Kind::Cell),
        alone: false,
        block: block.index(),
    }
}

/// Where the path of a destination ends.
fn cut(text: &str) -> usize {
    text.find(['?', '#']).unwrap_or(text.len())
}

fn trimmed(source: &str, range: Range<usize>) -> Range<usize> {
    let text = source.get(range.clone()).unwrap_or_default();
    let start = range.start + (text.len() - text.trim_start().len());
    start..start + text.trim().len()
}

/// Wikilinks in quoted values: unquoted, `[[a, b]]` is a list of lists.
fn front_matter(block: Block<'_>, out: &mut Vec<Link>) {
    let source = block.tree().source();
    let inner = block.inner();
    let Some(text) = source.get(inner.clone()) else { return };
    let mut line_start = 0;
    for line in text.split_inclusive('\n') {
        let mut at = 0;
        while let Some(open) = line[at..].find("[[").map(|open| at + open) {
            let Some(length) = line[open + 2..].find("]]") else { break };
            let end = open + 2 + length;
            let before = &line[..open];
            let quoted = before.matches('"').count() % 2 == 1 || before.matches('\'').count() % 2 == 1;
            let body = &line[open + 2..end];
            at = end + 2;
            if !quoted || body.contains(['[', ']']) || body.is_empty() {
                continue;
            }
            let base = inner.start + line_start;
            let bar = body.find('|');
            let name = &body[..bar.unwrap_or(body.len())];
            let hash = name.find('#');
            let name_end = base + open + 2 + name.len();
            out.push(Link {
                kind: LinkKind::FrontMatter,
                span: base + open..base + end + 2,
                path: trimmed(source, base + open + 2..base + open + 2 + hash.unwrap_or(name.len())),
                fragment: hash.map(|hash| trimmed(source, base + open + 3 + hash..name_end)),
                text: bar.map(|bar| base + open + 3 + bar..base + end),
                angle: false,
                in_cell: false,
                alone: false,
                block: block.index(),
            });
        }
        line_start += line.len();
    }
}

/// `href` and `src` of tags, in quotes. A bound or computed value (`:href`, `{…}`) is code and not read.
fn html(source: &str, range: Range<usize>, block: Block<'_>, out: &mut Vec<Link>) {
    let Some(text) = source.get(range.clone()) else { return };
    if text.starts_with("<!--") {
        return;
    }
    for name in ["href=", "src="] {
        let mut at = 0;
        while let Some(found) = text[at..].find(name).map(|found| at + found) {
            at = found + name.len();
            let before = text[..found].chars().next_back();
            let Some(quote) = text[at..].chars().next().filter(|quote| matches!(quote, '"' | '\'')) else { continue };
            let Some(length) = text[at + 1..].find(quote) else { break };
            let destination = range.start + at + 1..range.start + at + 1 + length;
            at += length + 2;
            if before.is_some_and(char::is_whitespace) && length > 0 {
                let span = range.start + found..destination.end + 1;
                out.push(destination_link(source, LinkKind::Html, span, destination, block));
            }
        }
    }
}
