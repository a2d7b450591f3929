//! Link reference definitions at the start of a paragraph.

use std::ops::Range;

use crate::parse::chars::{is_blank, is_line_end};

/// The longest label, in characters.
pub(crate) const MAX_LABEL: usize = 999;

/// One definition, as ranges of the text.
pub(crate) struct Definition {
    pub label: Range<usize>,
    pub destination: Range<usize>,
    pub title: Option<Range<usize>>,
    pub end: usize,
}

/// Reads a definition at `at`. After it comes a line ending or the end of the text.
pub(crate) fn definition(text: &[u8], at: usize) -> Option<Definition> {
    let close = label(text, at)?;
    if text.get(close + 1) != Some(&b':') {
        return None;
    }
    let place = gap(text, close + 2);
    let (destination, after) = destination(text, place)?;
    let bare = line_rest(text, after);
    let titled = gap(text, after);
    if titled > after
        && let Some(end) = title(text, titled)
        && let Some(end_of_line) = line_rest(text, end)
    {
        let title = Some(titled + 1..end - 1);
        return Some(Definition { label: at + 1..close, destination, title, end: end_of_line });
    }
    Some(Definition { label: at + 1..close, destination, title: None, end: bare? })
}

/// Returns the place of the `]` that closes the label opened at `at`.
pub(crate) fn label(text: &[u8], at: usize) -> Option<usize> {
    if text.get(at) != Some(&b'[') {
        return None;
    }
    let mut place = at + 1;
    let mut size = 0;
    let mut seen = false;
    while place < text.len() && size <= MAX_LABEL {
        match text[place] {
            b']' => return seen.then_some(place),
            b'[' => return None,
            b'\\' if matches!(text.get(place + 1), Some(b'[' | b'\\' | b']')) => {
                seen = true;
                place += 1;
                size += 1;
            }
            byte => seen |= !is_blank(byte) && !is_line_end(byte),
        }
        place += 1;
        // Characters are counted, not bytes.
        size += usize::from(text.get(place).is_none_or(|byte| byte & 0xC0 != 0x80));
    }
    None
}

fn gap(text: &[u8], mut at: usize) -> usize {
    while at < text.len() && (is_blank(text[at]) || is_line_end(text[at])) {
        at += 1;
    }
    at
}

/// Returns the end of the line when only blanks are left on it.
fn line_rest(text: &[u8], mut at: usize) -> Option<usize> {
    while at < text.len() && is_blank(text[at]) {
        at += 1;
    }
    (at == text.len() || is_line_end(text[at])).then_some(at)
}

/// Reads a destination: the range of its text, and the place after it.
pub(crate) fn destination(text: &[u8], at: usize) -> Option<(Range<usize>, usize)> {
    if text.get(at) == Some(&b'<') {
        let mut place = at + 1;
        while place < text.len() {
            match text[place] {
                b'>' => return Some((at + 1..place, place + 1)),
                b'<' => return None,
                byte if is_line_end(byte) => return None,
                b'\\' if matches!(text.get(place + 1), Some(b'<' | b'>' | b'\\')) => place += 2,
                _ => place += 1,
            }
        }
        return None;
    }
    let mut place = at;
    let mut balance = 0usize;
    while place < text.len() {
        match text[place] {
            b'(' => balance += 1,
            b')' if balance == 0 => break,
            b')' => balance -= 1,
            b'\\' if matches!(text.get(place + 1), Some(b'(' | b')' | b'\\')) => place += 1,
            byte if byte <= b' ' || byte == 0x7F => break,
            _ => {}
        }
        place += 1;
    }
    let ended = place == text.len() || is_blank(text[place]) || is_line_end(text[place]) || text[place] == b')';
    (place > at && balance == 0 && ended).then_some((at..place, place))
}

/// Reads a title with its quotes: the place after it.
pub(crate) fn title(text: &[u8], at: usize) -> Option<usize> {
    let close = match *text.get(at)? {
        b'(' => b')',
        quote @ (b'"' | b'\'') => quote,
        _ => return None,
    };
    let mut place = at + 1;
    while place < text.len() {
        match text[place] {
            byte if byte == close => return Some(place + 1),
            b'(' if close == b')' => return None,
            b'\\' => place += 2,
            _ => place += 1,
        }
    }
    None
}
