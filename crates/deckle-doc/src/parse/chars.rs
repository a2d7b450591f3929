//! Classes of characters.

/// Whether the byte is a space or a tab.
pub(crate) fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// Whether the byte ends a line.
pub(crate) fn is_line_end(byte: u8) -> bool {
    byte == b'\n' || byte == b'\r'
}

/// Returns the character that starts at `at`; `None` at the end, or inside a character.
pub(crate) fn char_at(text: &[u8], at: usize) -> Option<char> {
    match *text.get(at)? {
        byte if byte < 0x80 => Some(byte as char),
        _ => {
            let rest = &text[at..text.len().min(at + 4)];
            let valid = match std::str::from_utf8(rest) {
                Ok(valid) => valid,
                Err(error) => std::str::from_utf8(&rest[..error.valid_up_to()]).ok()?,
            };
            valid.chars().next()
        }
    }
}
