//! Link reference definitions at the front of a paragraph.

use super::Line;
use super::raw::Kind;
use crate::kind::Span;

/// A definition, and how many lines of the paragraph are used once it is read.
pub(super) struct Used {
    pub kind: Kind,
    pub content: Span,
    pub lines: usize,
}

/// Reads as many definitions as there are, each on lines of its own.
pub(super) fn read(source: &str, lines: &[Line]) -> Vec<Used> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(used) = definition(source.as_bytes(), lines, at) {
        at = used.lines;
        found.push(used);
    }
    found
}

/// A position in the lines of a paragraph; line ends count as one blank.
#[derive(Clone, Copy)]
struct Reader<'s> {
    bytes: &'s [u8],
    lines: &'s [Line],
    line: usize,
    pos: usize,
}

impl Reader<'_> {
    /// The byte here: a line feed at the end of a line, nothing after the last one.
    fn peek(&self) -> Option<u8> {
        let line = self.lines.get(self.line)?;
        if self.pos < line.text.end as usize { Some(self.bytes[self.pos]) } else { Some(b'\n') }
    }

    fn bump(&mut self) {
        let Some(line) = self.lines.get(self.line) else { return };
        if self.pos < line.text.end as usize {
            self.pos += 1;
        } else {
            self.line += 1;
            self.pos = self.lines.get(self.line).map_or(self.pos, |line| line.text.start as usize);
        }
    }

    /// Skips blanks and at most one line end; returns whether anything was skipped.
    fn skip_blanks(&mut self) -> bool {
        let mut line_ends = 0;
        let mut any = false;
        while let Some(byte @ (b' ' | b'\t' | b'\n')) = self.peek() {
            if byte == b'\n' {
                line_ends += 1;
                if line_ends > 1 {
                    break;
                }
            }
            self.bump();
            any = true;
        }
        any
    }

    /// Skips blanks on this line; returns whether the line ends then.
    fn at_line_end(&mut self) -> bool {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.bump();
        }
        matches!(self.peek(), None | Some(b'\n'))
    }

    /// How many lines are used when this is the end.
    fn lines_used(&self) -> usize {
        self.line + 1
    }
}

fn definition(bytes: &[u8], lines: &[Line], first: usize) -> Option<Used> {
    let line = lines.get(first)?;
    let mut reader = Reader { bytes, lines, line: first, pos: line.text.start as usize };
    let start = reader.pos;
    if reader.peek() != Some(b'[') {
        return None;
    }
    reader.bump();
    let label = label(&mut reader)?;
    if reader.peek() != Some(b':') {
        return None;
    }
    reader.bump();
    reader.skip_blanks();
    let destination = destination(&mut reader)?;
    let mut content_end = reader.pos;
    let mut after = reader;
    let mut title_span = Span::NONE;
    let mut used = None;
    if after.at_line_end() {
        used = Some(after.lines_used());
    }
    let mut with_title = reader;
    if with_title.skip_blanks()
        && let Some(span) = title(&mut with_title)
    {
        let title_end = with_title.pos;
        if with_title.at_line_end() {
            title_span = span;
            content_end = title_end;
            used = Some(with_title.lines_used());
        }
    }
    let lines_used = used?.min(lines.len());
    Some(Used {
        kind: Kind::LinkDefinition { label, destination, title: title_span },
        content: Span::new(start, content_end),
        lines: lines_used,
    })
}

/// The label up to `]`: not empty, no bracket unless escaped, at most 999 characters.
fn label(reader: &mut Reader<'_>) -> Option<Span> {
    let start = reader.pos;
    let mut count = 0;
    let mut blank = true;
    loop {
        match reader.peek()? {
            b']' => {
                let end = reader.pos;
                reader.bump();
                return (!blank).then(|| Span::new(start, end));
            }
            b'[' => return None,
            b'\\' => {
                reader.bump();
                blank = false;
                if matches!(reader.peek(), Some(b'[' | b']' | b'\\')) {
                    reader.bump();
                }
            }
            byte => {
                blank &= matches!(byte, b' ' | b'\t' | b'\n');
                reader.bump();
            }
        }
        count += 1;
        if count > 999 {
            return None;
        }
    }
}

fn destination(reader: &mut Reader<'_>) -> Option<Span> {
    if reader.peek()? == b'<' {
        reader.bump();
        let start = reader.pos;
        loop {
            match reader.peek()? {
                b'>' => {
                    let end = reader.pos;
                    reader.bump();
                    return Some(Span::new(start, end));
                }
                b'<' | b'\n' => return None,
                b'\\' => {
                    reader.bump();
                    if reader.peek().is_some_and(|b| b.is_ascii_punctuation()) {
                        reader.bump();
                    }
                }
                _ => reader.bump(),
            }
        }
    }
    let start = reader.pos;
    let mut depth = 0_u32;
    while let Some(byte) = reader.peek() {
        match byte {
            b' ' | b'\t' | b'\n' => break,
            0..=0x1f | 0x7f => return None,
            b'(' => {
                depth += 1;
                if depth > 32 {
                    return None;
                }
            }
            b')' => {
                if depth == 0 {
                    break;
                }
                depth -= 1;
            }
            b'\\' => {
                reader.bump();
                if reader.peek().is_some_and(|b| b.is_ascii_punctuation()) {
                    reader.bump();
                }
                continue;
            }
            _ => {}
        }
        reader.bump();
    }
    (depth == 0 && reader.pos > start).then(|| Span::new(start, reader.pos))
}

fn title(reader: &mut Reader<'_>) -> Option<Span> {
    let close = match reader.peek()? {
        b'"' => b'"',
        b'\'' => b'\'',
        b'(' => b')',
        _ => return None,
    };
    reader.bump();
    let start = reader.pos;
    loop {
        let byte = reader.peek()?;
        match byte {
            b if b == close => {
                let end = reader.pos;
                reader.bump();
                return Some(Span::new(start, end));
            }
            b'(' if close == b')' => return None,
            b'\\' => {
                reader.bump();
                if reader.peek().is_some_and(|b| b.is_ascii_punctuation()) {
                    reader.bump();
                }
            }
            _ => reader.bump(),
        }
    }
}
