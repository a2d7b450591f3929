//! List items and the lists that hold them.

use super::cursor::Ahead;
use super::raw::Kind;
use super::{OpenKind, Parser, Reading};
use crate::limits::LimitError;

/// The marker of an item.
struct Marker {
    ordered: Option<u32>,
    /// The bullet, or the byte after the number.
    byte: u8,
    /// Its length in bytes.
    length: usize,
}

impl Parser<'_> {
    /// Opens an item, and a list unless one of its kind is open.
    pub(super) fn open_item(&mut self, line: &mut Reading<'_>, ahead: Ahead, interrupts: bool) -> Result<bool, LimitError> {
        let Some(marker) = read_marker(&self.bytes[ahead.pos..line.cursor.end]) else { return Ok(false) };
        let mut cursor = line.cursor;
        cursor.jump(ahead);
        cursor.skip_bytes(marker.length);
        let after = cursor.ahead();
        if interrupts && (after.is_blank() || marker.ordered.is_some_and(|number| number != 1)) {
            return Ok(false);
        }
        self.make_room(line, true);
        let fits = self
            .open
            .last()
            .is_some_and(|open| open.kind == OpenKind::List { marker: marker.byte, ordered: marker.ordered.is_some() });
        if !fits {
            self.make_room(line, false);
            let list = Kind::List { ordered: marker.ordered, marker: marker.byte, tight: true };
            let node = self.push(list, line.block_start(), ahead.pos);
            self.enter(node, OpenKind::List { marker: marker.byte, ordered: marker.ordered.is_some() })?;
        }
        let node = self.push(Kind::Item { task: None }, line.block_start(), ahead.pos);
        self.extend(node, ahead.pos + marker.length);
        // One to four columns of blanks belong to the marker; five or more are one and an indented block.
        let blanks = if after.is_blank() || after.indent > 4 { 1 } else { after.indent };
        let width = ahead.indent + marker.length + blanks;
        self.enter(node, OpenKind::Item { width })?;
        cursor.skip_columns(blanks);
        line.cursor = cursor;
        line.matched = self.open.len();
        line.opened_at = Some(line.cursor.pos);
        Ok(true)
    }
}

fn read_marker(text: &[u8]) -> Option<Marker> {
    let marker = match text.first()? {
        byte @ (b'*' | b'-' | b'+') => Marker { ordered: None, byte: *byte, length: 1 },
        _ => {
            let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
            let byte = *text.get(digits)?;
            if digits == 0 || digits > 9 || !matches!(byte, b'.' | b')') {
                return None;
            }
            let number = text[..digits].iter().fold(0_u32, |n, digit| n * 10 + u32::from(digit - b'0'));
            Marker { ordered: Some(number), byte, length: digits + 1 }
        }
    };
    matches!(text.get(marker.length), None | Some(b' ' | b'\t')).then_some(marker)
}
