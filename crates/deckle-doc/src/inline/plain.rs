//! The words that a reader sees.

use super::{Inline, InlineKind, parse};
use crate::kind::Kind;
use crate::tree::Block;

/// Returns the words of a block, markup removed; of a container, those of its blocks, a line each.
pub(crate) fn plain_text(block: &Block<'_>) -> String {
    let mut out = String::new();
    if block.children().next().is_none() {
        leaf(block, &mut out);
        return out;
    }
    for inside in block.descendants().filter(|inside| inside.children().next().is_none()) {
        let before = out.len();
        leaf(&inside, &mut out);
        if out.len() > before {
            out.push('\n');
        }
    }
    out.truncate(out.trim_end_matches('\n').len());
    out
}

fn leaf(block: &Block<'_>, out: &mut String) {
    let source = block.tree().source();
    if block.has_inlines() {
        words(&parse(block), source, out);
        return;
    }
    match block.kind() {
        Kind::Code { .. } | Kind::Math | Kind::FrontMatter { .. } => {
            out.push_str(source.get(block.inner()).unwrap_or_default().trim_end_matches(['\n', '\r']));
        }
        Kind::Html | Kind::Opaque { .. } => out.push_str(block.text()),
        Kind::Leaf(directive) => out.push_str(directive.label.map_or("", |label| label.of(source))),
        _ => {}
    }
}

fn words(nodes: &[Inline], source: &str, out: &mut String) {
    for node in nodes {
        let content = source.get(node.content.clone()).unwrap_or_default();
        match node.kind {
            InlineKind::Text => unescape(content, out),
            InlineKind::Code | InlineKind::Math { .. } | InlineKind::Autolink { .. } => out.push_str(content),
            InlineKind::Wikilink { target, heading, alias, .. } => {
                out.push_str(alias.unwrap_or(target).of(source));
                if let (None, Some(heading)) = (alias, heading) {
                    out.push('#');
                    out.push_str(heading.of(source));
                }
            }
            InlineKind::Directive { label: Some(label), .. } => out.push_str(label.of(source)),
            InlineKind::HardBreak | InlineKind::SoftBreak => out.push(' '),
            // What holds nodes is spoken by them; the rest says nothing.
            _ => {}
        }
    }
}

/// Takes backslashes off escapes, and reads the character references that hide words.
fn unescape(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find(['\\', '&']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix('\\') {
            if !after.starts_with(|c: char| c.is_ascii_punctuation()) {
                out.push('\\');
                rest = after;
                continue;
            }
            let mut chars = after.chars();
            out.extend(chars.next());
            rest = chars.as_str();
            continue;
        }
        let reference = rest[1..].find(';').filter(|end| *end <= 8).and_then(|end| Some((character(&rest[1..=end])?, end + 2)));
        match reference {
            Some((c, length)) => {
                out.push(c);
                rest = &rest[length..];
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
}

/// The character that a reference names: numbers, and the names that words are written with.
fn character(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => number.parse().ok()?,
        };
        return char::from_u32(code).filter(|c| *c != '\0');
    }
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => '\u{a0}',
        "copy" => '©',
        "mdash" => '—',
        "ndash" => '–',
        "hellip" => '…',
        _ => return None,
    })
}
