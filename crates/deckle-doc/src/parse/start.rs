//! What a line starts that is neither a paragraph nor a container with a prefix.

use crate::kind::{Dialect, Span};
use crate::node::{Info, Tag};
use crate::parse::chars::is_blank;
use crate::parse::containers::is_break;
use crate::parse::html::{self, HtmlEnd};
use crate::parse::{Parser, directive};

/// A block that starts at the first byte of a line that is not blank.
#[derive(Clone, Copy, Debug)]
pub(super) enum Start {
    Heading(u8),
    Break,
    Code {
        character: u8,
        length: usize,
        info: Span,
    },
    Html(HtmlEnd),
    Math,
    /// A leaf directive.
    Leaf(Info),
    /// A directive or callout with a closing fence.
    Container {
        tag: Tag,
        info: Info,
        character: u8,
    },
    /// MDX: the value of `flag`.
    Opaque(u8),
}

/// Callouts of MyST; other names in braces are code or roles of the tool.
const MYST_CALLOUTS: [&str; 12] = [
    "admonition",
    "attention",
    "caution",
    "danger",
    "error",
    "hint",
    "important",
    "note",
    "seealso",
    "tip",
    "warning",
    "dropdown",
];

impl Parser<'_> {
    /// Returns what starts at `place`. `interrupting`: a paragraph that this line could go on with is open.
    pub(super) fn start_at(&self, place: usize, interrupting: bool) -> Option<Start> {
        let line = &self.src[place..self.line.end];
        match *line.first()? {
            b'#' => {
                let level = line.iter().take(7).take_while(|&&byte| byte == b'#').count();
                let closed = line.get(level).is_none_or(|&byte| is_blank(byte));
                (level <= 6 && closed).then_some(Start::Heading(level as u8))
            }
            b'-' | b'*' | b'_' => is_break(line).then_some(Start::Break),
            b'`' | b'~' => self.fence(place, line),
            // A component is one wherever it stands; a complete tag of HTML starts a block only where no paragraph is open.
            b'<' if self.dialect == Dialect::Docusaurus && is_jsx(line) && html::start(line, true).is_none() => {
                Some(Start::Opaque(1))
            }
            b'<' => html::start(line, interrupting).map(Start::Html),
            b':' => self.colons(place, line),
            b'$' if self.dialect != Dialect::Generic => {
                (line.starts_with(b"$$") && line[2..].iter().all(|&byte| is_blank(byte))).then_some(Start::Math)
            }
            b'i' | b'e' if self.dialect == Dialect::Docusaurus && !interrupting => {
                let module = line.starts_with(b"import ") || line.starts_with(b"export ");
                module.then_some(Start::Opaque(0))
            }
            _ => None,
        }
    }

    fn fence(&self, place: usize, line: &[u8]) -> Option<Start> {
        let character = line[0];
        let length = line.iter().take_while(|&&byte| byte == character).count();
        if length < 3 || character == b'`' && memchr::memchr(b'`', &line[length..]).is_some() {
            return None;
        }
        let end = self.line.trimmed_end(place + length);
        let mut start = place + length;
        while start < end && is_blank(self.src[start]) {
            start += 1;
        }
        if self.dialect == Dialect::Myst
            && let Some(info) = braced_callout(self.text, start, end)
        {
            let info = Info { number: length as u32, form: 4, ..info };
            return Some(Start::Container { tag: Tag::Admonition, info, character });
        }
        Some(Start::Code { character, length, info: Span::new(start, end) })
    }

    fn colons(&self, place: usize, line: &[u8]) -> Option<Start> {
        let colons = line.iter().take_while(|&&byte| byte == b':').count();
        if colons < 2 || !self.directives {
            return None;
        }
        let end = self.line.trimmed_end(place);
        let after = place + colons;
        if let Some(parts) = directive::parts(self.src, after, end, false)
            && parts.end == end
        {
            let info = Info { a: parts.name, b: parts.label, c: parts.attributes, number: colons as u32, ..Info::EMPTY };
            return Some(if colons == 2 {
                Start::Leaf(info)
            } else {
                Start::Container { tag: Tag::Container, info, character: b':' }
            });
        }
        if colons < 3 {
            return None;
        }
        let info = match self.dialect {
            Dialect::VitePress | Dialect::Docusaurus => titled_callout(self.text, after, end)?,
            Dialect::Myst => braced_callout(self.text, after, end)?,
            Dialect::Generic | Dialect::MkDocs | Dialect::Obsidian => return None,
        };
        let info = Info { number: colons as u32, form: 0, ..info };
        Some(Start::Container { tag: Tag::Admonition, info, character: b':' })
    }
}

fn is_jsx(line: &[u8]) -> bool {
    matches!(line.get(1), Some(b'A'..=b'Z' | b'>')) || line.starts_with(b"</") && matches!(line.get(2), Some(b'A'..=b'Z' | b'>'))
}

/// `warning Title` after the colons, with blanks before it.
fn titled_callout(text: &str, from: usize, end: usize) -> Option<Info> {
    let rest = text.get(from..end)?;
    let words = rest.trim_start_matches([' ', '\t']);
    let name_start = end - words.len();
    let length = words.find([' ', '\t', '[', '{']).unwrap_or(words.len());
    let named = length > 0 && words[..length].chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'));
    if !named {
        return None;
    }
    let title = words[length..].trim_start_matches([' ', '\t']);
    let title = if title.is_empty() { Span::NONE } else { Span::new(end - title.len(), end) };
    Some(Info { a: Span::new(name_start, name_start + length), b: title, ..Info::EMPTY })
}

/// `{note} Title`.
fn braced_callout(text: &str, from: usize, end: usize) -> Option<Info> {
    let rest = text.get(from..end)?.strip_prefix('{')?;
    let length = rest.find('}')?;
    if !MYST_CALLOUTS.contains(&&rest[..length]) {
        return None;
    }
    let title = rest[length + 1..].trim_start_matches([' ', '\t']);
    let title = if title.is_empty() { Span::NONE } else { Span::new(end - title.len(), end) };
    Some(Info { a: Span::new(from + 1, from + 1 + length), b: title, ..Info::EMPTY })
}
