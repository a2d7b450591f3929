//! The parts of a directive: `name[label]{attributes}`. Text, leaf and container directives share them.

use crate::kind::Span;
use crate::parse::chars::{char_at, is_blank, is_line_end};
use crate::unicode::{is_punctuation, is_whitespace};

/// How long a label may be counted in escapes, and how deep its brackets nest: the reference's bounds.
const MAX_BALANCE: usize = 32;

/// What follows the colons.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts {
    pub name: Span,
    pub label: Span,
    pub attributes: Span,
    pub end: usize,
}

/// Reads `name[label]{attributes}` at `at`, before `limit`. A label or attributes that don't close are not part of it.
/// In text, a label and attributes may hold line endings.
pub(crate) fn parts(text: &[u8], at: usize, limit: usize, lines: bool) -> Option<Parts> {
    let end = name(text, at, limit)?;
    let mut parts = Parts { name: Span::new(at, end), label: Span::NONE, attributes: Span::NONE, end };
    if let Some(close) = label(text, parts.end, limit, lines) {
        parts.label = Span::new(parts.end + 1, close);
        parts.end = close + 1;
    }
    if let Some(close) = attributes(text, parts.end, limit, lines) {
        parts.attributes = Span::new(parts.end + 1, close);
        parts.end = close + 1;
    }
    Some(parts)
}

/// Reads a name: no punctuation but `-` and `_` inside, no white space.
pub(crate) fn name(text: &[u8], at: usize, limit: usize) -> Option<usize> {
    let mut end = at;
    while end < limit {
        let c = char_at(text, end)?;
        let inside = end > at && (c == '-' || c == '_');
        if is_whitespace(c) || (is_punctuation(c) && !inside) {
            break;
        }
        end += c.len_utf8();
    }
    let bytes = text;
    (end > at && !matches!(bytes[end - 1], b'-' | b'_')).then_some(end)
}

/// Reads `[label]` at `at`; returns the place of the closing bracket.
pub(crate) fn label(bytes: &[u8], at: usize, limit: usize, lines: bool) -> Option<usize> {
    if at >= limit || bytes[at] != b'[' {
        return None;
    }
    let mut balance = 0;
    let mut escapes = 0;
    let mut place = at + 1;
    while place < limit {
        match bytes[place] {
            b'[' => {
                balance += 1;
                if balance > MAX_BALANCE {
                    return None;
                }
            }
            b']' if balance == 0 => return Some(place),
            b']' => balance -= 1,
            b'\\' if place + 1 < limit && matches!(bytes[place + 1], b'[' | b'\\' | b']') => {
                place += 1;
                escapes += 1;
                if escapes > 999 {
                    return None;
                }
            }
            byte if is_line_end(byte) && !lines => return None,
            _ => {}
        }
        place += 1;
    }
    None
}

/// Reads `{attributes}` at `at`; returns the place of the closing brace.
pub(crate) fn attributes(text: &[u8], at: usize, limit: usize, lines: bool) -> Option<usize> {
    let bytes = text;
    if at >= limit || bytes[at] != b'{' {
        return None;
    }
    let gap = |place: usize| place < limit && (is_blank(bytes[place]) || lines && is_line_end(bytes[place]));
    let mut place = at + 1;
    loop {
        while gap(place) {
            place += 1;
        }
        if place >= limit {
            return None;
        }
        match bytes[place] {
            b'}' => return Some(place),
            b'#' | b'.' => place = shortcut(bytes, place, limit)?,
            _ => {
                let c = char_at(text, place)?;
                if is_whitespace(c) || is_punctuation(c) && c != '-' && c != '_' {
                    return None;
                }
                place = pair(text, place, limit, lines)?;
            }
        }
    }
}

/// `#id` or `.class`.
fn shortcut(bytes: &[u8], at: usize, limit: usize) -> Option<usize> {
    let mut place = at + 1;
    let first = *bytes.get(place).filter(|_| place < limit)?;
    if matches!(first, b'"' | b'#' | b'\'' | b'.' | b'<' | b'=' | b'>' | b'`' | b'}') || is_blank(first) || is_line_end(first) {
        return None;
    }
    while place < limit {
        match bytes[place] {
            b'"' | b'\'' | b'<' | b'=' | b'>' | b'`' => return None,
            b'#' | b'.' | b'}' => return Some(place),
            byte if is_blank(byte) || is_line_end(byte) => return Some(place),
            _ => place += 1,
        }
    }
    None
}

/// `name`, `name=value`, `name="value"`.
fn pair(text: &[u8], at: usize, limit: usize, lines: bool) -> Option<usize> {
    let bytes = text;
    let gap = |place: usize| place < limit && (is_blank(bytes[place]) || lines && is_line_end(bytes[place]));
    let mut place = at;
    while place < limit {
        let c = char_at(text, place)?;
        if is_whitespace(c) || is_punctuation(c) && !matches!(c, '-' | '.' | ':' | '_') {
            break;
        }
        place += c.len_utf8();
    }
    let after_name = place;
    while gap(place) {
        place += 1;
    }
    if place >= limit || bytes[place] != b'=' {
        return Some(after_name);
    }
    place += 1;
    while gap(place) {
        place += 1;
    }
    let first = *bytes.get(place).filter(|_| place < limit)?;
    match first {
        b'<' | b'=' | b'>' | b'`' | b'}' => None,
        b'"' | b'\'' => {
            place += 1;
            while place < limit && bytes[place] != first {
                if is_line_end(bytes[place]) && !lines {
                    return None;
                }
                place += 1;
            }
            let after = *bytes.get(place + 1).filter(|_| place + 1 < limit)?;
            (after == b'}' || is_blank(after) || is_line_end(after)).then_some(place + 1)
        }
        byte if is_line_end(byte) => None,
        _ => {
            while place < limit {
                match bytes[place] {
                    b'"' | b'\'' | b'<' | b'=' | b'>' | b'`' => return None,
                    b'}' => return Some(place),
                    byte if is_blank(byte) || is_line_end(byte) => return Some(place),
                    _ => place += 1,
                }
            }
            None
        }
    }
}
