//! Character classes that the specification names.

use std::sync::LazyLock;

use regex::Regex;

static PUNCTUATION: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^[\p{P}\p{S}]$").ok());

/// Returns whether a character is Unicode punctuation, as CommonMark 0.31 says: general category P or S.
pub(crate) fn is_punctuation(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_punctuation();
    }
    if c.is_alphanumeric() {
        return false;
    }
    let mut buffer = [0; 4];
    PUNCTUATION.as_ref().is_some_and(|class| class.is_match(c.encode_utf8(&mut buffer)))
}

/// Returns whether a character is Unicode white space, as CommonMark 0.31 says: category Zs, tab, line feed, form feed, carriage return.
pub(crate) fn is_whitespace(c: char) -> bool {
    matches!(
        c,
        '\t' | '\n' | '\u{c}' | '\r' | ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'
            ..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
    )
}
