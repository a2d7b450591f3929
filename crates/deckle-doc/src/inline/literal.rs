//! Addresses: in angle brackets (CommonMark) and bare (GFM's extended autolinks).

use std::ops::Range;

/// The length of `<scheme:…>` or `<name@host>`.
pub(super) fn angle_link(text: &[u8]) -> Option<usize> {
    let inner = text.get(1..)?;
    let close = inner.iter().position(|byte| matches!(byte, b'>' | b'<' | b' ' | b'\t' | b'\n'))?;
    if inner[close] != b'>' || close == 0 {
        return None;
    }
    let inner = &inner[..close];
    (is_absolute(inner) || is_mail(inner)).then_some(close + 2)
}

fn is_absolute(text: &[u8]) -> bool {
    let Some(colon) = text.iter().take(33).position(|byte| *byte == b':') else { return false };
    (2..=32).contains(&colon)
        && text[0].is_ascii_alphabetic()
        && text[..colon].iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
        && text.iter().all(|byte| *byte > 0x20 && *byte != 0x7f)
}

fn is_mail(text: &[u8]) -> bool {
    let Some(at) = text.iter().position(|byte| *byte == b'@') else { return false };
    let (name, host) = (&text[..at], &text[at + 1..]);
    !name.is_empty()
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || b".!#$%&'*+/=?^_`{|}~-".contains(byte))
        && !host.is_empty()
        && host.split(|byte| *byte == b'.').all(|label| {
            !label.is_empty()
                && label.len() <= 63
                && label.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
                && label[0] != b'-'
                && label[label.len() - 1] != b'-'
        })
}

/// The most bytes of a host. Names have 253 (RFC 1035); escapes of other scripts take more. It keeps the search for bare addresses linear.
const MAX_HOST: usize = 1_000;

/// Finds the first bare address in `range`: `http://…`, `https://…`, `ftp://…`, `www.…` or a mail address.
pub(super) fn bare(text: &[u8], range: Range<usize>) -> Option<Range<usize>> {
    let mut at = range.start;
    // Every address has one of these bytes at a known distance from its start.
    while let Some(step) = memchr::memchr3(b':', b'@', b'.', &text[at..range.end]) {
        at += step;
        let before = &text[range.start..at];
        let ends =
            |suffix: &[u8]| before.len() >= suffix.len() && before[before.len() - suffix.len()..].eq_ignore_ascii_case(suffix);
        let found = match text[at] {
            b'@' => mail(text, range.clone(), at),
            b'.' if ends(b"www") => web(text, range.clone(), at - 3, 0),
            b':' if text[at..range.end].starts_with(b"://") => [&b"https"[..], b"http", b"ftp"]
                .into_iter()
                .find(|scheme| ends(scheme))
                .and_then(|scheme| web(text, range.clone(), at - scheme.len(), scheme.len() + 3)),
            _ => None,
        };
        if found.is_some() {
            return found;
        }
        at += 1;
    }
    None
}

/// An address may follow the start of a line, a blank, or one of `*_~(`.
fn may_follow(text: &[u8], range: &Range<usize>, at: usize) -> bool {
    at == range.start && at == 0
        || at > 0 && matches!(text[at - 1], b' ' | b'\t' | b'\n' | b'*' | b'_' | b'~' | b'(')
        || at == range.start && at > 0 && !text[at - 1].is_ascii_alphanumeric()
}

/// The address at `at`, whose host starts `domain` bytes later.
fn web(text: &[u8], range: Range<usize>, at: usize, domain: usize) -> Option<Range<usize>> {
    let rest = &text[at..range.end];
    if domain == 0 && !may_follow(text, &range, at) || domain > 0 && at > 0 && text[at - 1].is_ascii_alphabetic() {
        return None;
    }
    let host = rest[domain..]
        .iter()
        .take(MAX_HOST + 1)
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.') || **byte >= 0x80)
        .count();
    if host == 0 || host > MAX_HOST {
        return None;
    }
    // No underscore in the last two parts of the host.
    let parts: Vec<&[u8]> = rest[domain..domain + host].split(|byte| *byte == b'.').collect();
    if parts.iter().rev().take(2).any(|part| part.contains(&b'_')) || domain == 0 && parts.len() < 2 {
        return None;
    }
    let length = rest.iter().take_while(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'<')).count();
    let end = trim(&rest[..length]);
    (end > domain).then_some(at..at + end)
}

/// Punctuation at the end of an address is no part of it, nor a closing bracket that nothing opens, nor a character reference.
fn trim(text: &[u8]) -> usize {
    let mut end = text.len();
    let opened = text.iter().filter(|byte| **byte == b'(').count();
    let mut closed = text.iter().filter(|byte| **byte == b')').count();
    loop {
        match text[..end].last() {
            Some(b'?' | b'!' | b'.' | b',' | b':' | b'*' | b'_' | b'~' | b'\'' | b'"') => end -= 1,
            Some(b')') if closed > opened => {
                closed -= 1;
                end -= 1;
            }
            Some(b';') => {
                let name = text[..end - 1].iter().rev().take_while(|byte| byte.is_ascii_alphanumeric()).count();
                if name > 0 && end >= name + 2 && text[end - name - 2] == b'&' {
                    end -= name + 2;
                } else {
                    end -= 1;
                }
            }
            _ => return end,
        }
    }
}

fn mail(text: &[u8], range: Range<usize>, at: usize) -> Option<Range<usize>> {
    let mut name = text[range.start..at]
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b'+'))
        .count();
    // A character after a backslash stands for itself.
    if name > 0 && at > name && text[at - name - 1] == b'\\' {
        name -= 1;
    }
    let host = text[at + 1..range.end]
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'))
        .count();
    let mut end = at + 1 + host;
    while end > at + 1 && text[end - 1] == b'.' {
        end -= 1;
    }
    let host = &text[at + 1..end];
    let good = name > 0 && host.contains(&b'.') && !matches!(host.last(), Some(b'-' | b'_'));
    good.then_some(at - name..end)
}
