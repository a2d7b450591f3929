//! What follows the text of a link.

use std::ops::Range;

/// The part in round brackets.
pub(super) struct InlineTarget {
    pub destination: Range<usize>,
    pub title: Option<Range<usize>>,
    pub end: usize,
}

/// Reads `(destination "title")` at `at`.
pub(super) fn inline(text: &[u8], at: usize) -> Option<InlineTarget> {
    if text.get(at) != Some(&b'(') {
        return None;
    }
    let start = blanks(text, at + 1);
    let (destination, after) = destination(text, start)?;
    let title_at = blanks(text, after);
    let mut end = title_at;
    let mut found = None;
    if title_at > after
        && let Some((title, after_title)) = title(text, title_at)
    {
        found = Some(title);
        end = blanks(text, after_title);
    }
    (text.get(end) == Some(&b')')).then_some(InlineTarget { destination, title: found, end: end + 1 })
}

/// Reads `[label]` at `at`; the range is what stands between the brackets.
pub(super) fn label(text: &[u8], at: usize) -> Option<Range<usize>> {
    if text.get(at) != Some(&b'[') {
        return None;
    }
    let start = at + 1;
    let mut at = start;
    while at - start <= 999 {
        match text.get(at)? {
            b']' => return Some(start..at),
            b'[' => return None,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    None
}

/// Skips blanks and line ends; no blank line can stand in a paragraph.
fn blanks(text: &[u8], mut at: usize) -> usize {
    while matches!(text.get(at), Some(b' ' | b'\t' | b'\n')) {
        at += 1;
    }
    at
}

fn destination(text: &[u8], at: usize) -> Option<(Range<usize>, usize)> {
    if text.get(at) == Some(&b'<') {
        let start = at + 1;
        let mut at = start;
        loop {
            match text.get(at)? {
                b'>' => return Some((start..at, at + 1)),
                b'<' | b'\n' => return None,
                b'\\' if text.get(at + 1).is_some_and(u8::is_ascii_punctuation) => at += 2,
                _ => at += 1,
            }
        }
    }
    let start = at;
    let mut at = at;
    let mut depth = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            0..=0x20 | 0x7f => break,
            b'(' => {
                depth += 1;
                // The limit of the reference implementations.
                if depth > 32 {
                    return None;
                }
            }
            b')' if depth == 0 => break,
            b')' => depth -= 1,
            b'\\' if text.get(at + 1).is_some_and(u8::is_ascii_punctuation) => at += 1,
            _ => {}
        }
        at += 1;
    }
    (depth == 0).then_some((start..at, at))
}

fn title(text: &[u8], at: usize) -> Option<(Range<usize>, usize)> {
    let close = match text.get(at)? {
        b'"' => b'"',
        b'\'' => b'\'',
        b'(' => b')',
        _ => return None,
    };
    let start = at + 1;
    let mut at = start;
    loop {
        match *text.get(at)? {
            byte if byte == close => return Some((start..at, at + 1)),
            b'(' if close == b')' => return None,
            b'\\' if text.get(at + 1).is_some_and(u8::is_ascii_punctuation) => at += 2,
            _ => at += 1,
        }
    }
}
