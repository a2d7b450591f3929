//! Directives: generic ones as the reference parser reads them, and the forms of the dialects.

use super::cursor::{Ahead, trim_end};
use super::raw::{Directive, Form, Kind};
use super::{OpenKind, Parser, Reading};
use crate::kind::Dialect;
use crate::kind::Span;
use crate::limits::LimitError;

/// The limits of the reference parser's label.
const MAX_LABEL_ESCAPES: usize = 999;
const MAX_LABEL_DEPTH: usize = 32;

impl Parser<'_> {
    /// `:::name[label]{attributes}`, or what the dialect writes for it.
    pub(super) fn open_directive(&mut self, line: &mut Reading<'_>, ahead: Ahead) -> Result<bool, LimitError> {
        let text = &self.source[ahead.pos..line.cursor.end];
        let mark = text.bytes().take_while(|b| *b == b':').count();
        if mark < 3 {
            return Ok(false);
        }
        let Some(directive) = generic(text, ahead.pos, mark).or_else(|| self.spaced(text, ahead.pos, mark)) else {
            return Ok(false);
        };
        self.open_container(line, ahead, directive, OpenKind::Directive { byte: b':', mark, indent: ahead.indent })?;
        Ok(true)
    }

    /// `::name[label]{attributes}`.
    pub(super) fn start_leaf_directive(&mut self, line: &mut Reading<'_>, ahead: Ahead) -> bool {
        let text = &self.source[ahead.pos..line.cursor.end];
        if text.bytes().take_while(|b| *b == b':').count() != 2 {
            return false;
        }
        let Some(directive) = generic(text, ahead.pos, 2) else { return false };
        self.make_room(line, false);
        let node = self.push(Kind::Leaf(directive), line.block_start(), ahead.pos);
        self.extend(node, trim_end(self.bytes, ahead.pos, line.cursor.end));
        true
    }

    /// A MyST fence, ```` ```{note} Title ````: a directive when its name is one that holds text, else code.
    pub(super) fn open_fence_directive(&mut self, line: &mut Reading<'_>, ahead: Ahead) -> Result<bool, LimitError> {
        if self.dialect != Dialect::Myst {
            return Ok(false);
        }
        let text = &self.source[ahead.pos..line.cursor.end];
        let mark = text.bytes().take_while(|b| *b == ahead.byte).count();
        let rest = &text[mark..];
        let Some((name, title)) = rest.strip_prefix('{').and_then(|rest| rest.split_once('}')) else { return Ok(false) };
        if mark < 3 || !HOLDS_TEXT.contains(&name) || title.contains('`') {
            return Ok(false);
        }
        let name = Span::new(ahead.pos + mark + 1, ahead.pos + mark + 1 + name.len());
        let label = trimmed(title, ahead.pos + text.len() - title.len());
        let directive = Directive { form: Form::Fence, mark: mark as u32, name, label, attributes: Span::NONE };
        self.open_container(line, ahead, directive, OpenKind::Directive { byte: ahead.byte, mark, indent: ahead.indent })?;
        Ok(true)
    }

    /// `!!! note "Title"`, `??? note`, `???+ note`, the content indented by four.
    pub(super) fn open_admonition(&mut self, line: &mut Reading<'_>, ahead: Ahead) -> Result<bool, LimitError> {
        if self.dialect != Dialect::MkDocs {
            return Ok(false);
        }
        let text = &self.source[ahead.pos..line.cursor.end];
        let (mark, form) = if text.starts_with("!!!") {
            (3, Form::Admonition)
        } else if text.starts_with("???+") {
            (4, Form::Folded)
        } else if text.starts_with("???") {
            (3, Form::Folded)
        } else {
            return Ok(false);
        };
        let rest = &text[mark..];
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let name_length = rest[blanks..].bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_')).count();
        if name_length == 0 {
            return Ok(false);
        }
        let name_start = ahead.pos + mark + blanks;
        let tail = &rest[blanks + name_length..];
        // Further words are classes; a quoted text is the title.
        let label = match (tail.find('"'), tail.rfind('"')) {
            (Some(open), Some(close)) if open < close => {
                Span::new(name_start + name_length + open + 1, name_start + name_length + close)
            }
            _ => Span::NONE,
        };
        let name = Span::new(name_start, name_start + name_length);
        let directive = Directive { form, mark: mark as u32, name, label, attributes: Span::NONE };
        self.open_container(line, ahead, directive, OpenKind::Indented)?;
        Ok(true)
    }

    /// Opens the container and uses the line up.
    fn open_container(
        &mut self,
        line: &mut Reading<'_>,
        ahead: Ahead,
        directive: Directive,
        kind: OpenKind,
    ) -> Result<(), LimitError> {
        self.make_room(line, false);
        let node = self.push(Kind::Container(directive), line.block_start(), ahead.pos);
        self.extend(node, trim_end(self.bytes, ahead.pos, line.cursor.end));
        self.enter(node, kind)
    }

    /// `::: name label`, and `:::name label`, where the dialect has them.
    fn spaced(&self, text: &str, at: usize, mark: usize) -> Option<Directive> {
        if !matches!(self.dialect, Dialect::VitePress | Dialect::Docusaurus) {
            return None;
        }
        let rest = &text[mark..];
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let length = name(&rest[blanks..])?;
        let name_start = at + mark + blanks;
        let after = &rest[blanks + length..];
        let mut end = length + name_start;
        let mut label = Span::NONE;
        if let Some(used) = bracketed(after) {
            label = Span::new(end + 1, end + used - 1);
            end += used;
        } else if !after.is_empty() && !after.starts_with([' ', '\t', '{']) {
            return None;
        }
        let mut tail = &text[end - at..];
        let attributes = match tail.trim_start().strip_prefix('{') {
            Some(_) => {
                let start = at + text.len() - tail.trim_start().len();
                let used = attributes(tail.trim_start());
                if let Some(used) = used {
                    tail = &tail.trim_start()[used..];
                }
                used.map_or_else(|| Span::NONE, |used| Span::new(start + 1, start + used - 1))
            }
            None => Span::NONE,
        };
        if label.is_empty() {
            label = trimmed(tail, at + text.len() - tail.len());
        }
        Some(Directive {
            form: Form::Spaced,
            mark: mark as u32,
            name: Span::new(name_start, name_start + length),
            label,
            attributes,
        })
    }
}

/// MyST directives whose body is Markdown.
const HOLDS_TEXT: [&str; 14] = [
    "admonition",
    "attention",
    "caution",
    "danger",
    "dropdown",
    "error",
    "hint",
    "important",
    "note",
    "seealso",
    "tip",
    "warning",
    "tab-set",
    "tab-item",
];

/// Reads the generic form; `text` starts with `mark` colons and stands at `at`.
fn generic(text: &str, at: usize, mark: usize) -> Option<Directive> {
    let name_length = name(&text[mark..])?;
    let name = Span::new(at + mark, at + mark + name_length);
    let mut used = mark + name_length;
    let mut label = Span::NONE;
    if let Some(length) = bracketed(&text[used..]) {
        label = Span::new(at + used + 1, at + used + length - 1);
        used += length;
    }
    let mut span = Span::NONE;
    if let Some(length) = attributes(&text[used..]) {
        span = Span::new(at + used + 1, at + used + length - 1);
        used += length;
    }
    let rest = &text[used..];
    rest.bytes().all(|b| matches!(b, b' ' | b'\t')).then_some(Directive {
        form: Form::Generic,
        mark: mark as u32,
        name,
        label,
        attributes: span,
    })
}

fn trimmed(text: &str, at: usize) -> Span {
    let left = text.len() - text.trim_start_matches([' ', '\t']).len();
    let inner = text.trim_matches([' ', '\t']);
    if inner.is_empty() { Span::NONE } else { Span::new(at + left, at + left + inner.len()) }
}

/// Whether a character ends a name: white space, or punctuation and symbols of any script.
fn ends_name(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_whitespace() || c.is_ascii_punctuation();
    }
    c.is_whitespace() || crate::unicode::is_punctuation(c)
}

/// The length of a name: not empty, of letters, digits, `-` and `_`, the first and last not `-` or `_`.
pub(crate) fn name(text: &str) -> Option<usize> {
    let first = text.chars().next()?;
    if ends_name(first) {
        return None;
    }
    let length = text.find(|c: char| ends_name(c) && c != '-' && c != '_').unwrap_or(text.len());
    (!text[..length].ends_with(['-', '_'])).then_some(length)
}

/// The length of `[…]` with balanced brackets on one line.
pub(crate) fn bracketed(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    if bytes.first() != Some(&b'[') {
        return None;
    }
    let (mut depth, mut escapes, mut at) = (0_usize, 0_usize, 1_usize);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'[' => {
                depth += 1;
                if depth > MAX_LABEL_DEPTH {
                    return None;
                }
            }
            b']' if depth == 0 => return Some(at + 1),
            b']' => depth -= 1,
            b'\n' | b'\r' => return None,
            b'\\' if matches!(bytes.get(at + 1), Some(b'[' | b']' | b'\\')) => {
                at += 1;
                escapes += 1;
                if escapes > MAX_LABEL_ESCAPES {
                    return None;
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// The length of `{…}` with well-formed attributes on one line: `#id`, `.class`, `name`, `name=value`, `name="value"`.
pub(crate) fn attributes(text: &str) -> Option<usize> {
    if !text.starts_with('{') {
        return None;
    }
    let bytes = text.as_bytes();
    let blanks = |mut at: usize| {
        while matches!(bytes.get(at), Some(b' ' | b'\t')) {
            at += 1;
        }
        at
    };
    let mut at = 1;
    loop {
        at = blanks(at);
        match *bytes.get(at)? {
            b'}' => return Some(at + 1),
            b'#' | b'.' => {
                let start = at + 1;
                at = start;
                loop {
                    match bytes.get(at)? {
                        b'"' | b'\'' | b'<' | b'=' | b'>' | b'`' => return None,
                        b'#' | b'.' | b'}' | b' ' | b'\t' | b'\n' | b'\r' => break,
                        _ => at += 1,
                    }
                }
                if at == start {
                    return None;
                }
            }
            _ => {
                let first = text[at..].chars().next()?;
                if ends_name(first) && first != '-' && first != '_' {
                    return None;
                }
                at += text[at..].find(|c: char| ends_name(c) && !matches!(c, '-' | '.' | ':' | '_')).unwrap_or(text.len() - at);
                let equals = blanks(at);
                if bytes.get(equals) != Some(&b'=') {
                    continue;
                }
                at = blanks(equals + 1);
                match *bytes.get(at)? {
                    b'<' | b'=' | b'>' | b'`' | b'}' => return None,
                    quote @ (b'"' | b'\'') => {
                        let length = bytes[at + 1..].iter().position(|b| *b == quote || matches!(b, b'\n' | b'\r'))?;
                        if bytes[at + 1 + length] != quote {
                            return None;
                        }
                        at += length + 2;
                        if !matches!(bytes.get(at), Some(b'}' | b' ' | b'\t')) {
                            return None;
                        }
                    }
                    _ => loop {
                        match bytes.get(at)? {
                            b'"' | b'\'' | b'<' | b'=' | b'>' | b'`' => return None,
                            b'}' | b' ' | b'\t' | b'\n' | b'\r' => break,
                            _ => at += 1,
                        }
                    },
                }
            }
        }
    }
}
