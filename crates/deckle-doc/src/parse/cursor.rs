//! A place in a line, in bytes and in columns: a tab may be used up in parts.

use crate::parse::chars::is_blank;

/// One line, and how far its containers' prefixes have been read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'s> {
    pub src: &'s [u8],
    /// Where the line starts.
    pub start: usize,
    /// Where it ends, without its line ending.
    pub end: usize,
    /// Where the next line starts.
    pub next: usize,
    /// The next byte to read.
    pub at: usize,
    /// The column of that byte, or the column inside its tab.
    pub column: usize,
    /// Whether a part of the tab at `at` is used.
    pub partly: bool,
}

impl<'s> Cursor<'s> {
    /// Returns the cursor of the line that starts at `start`.
    pub(crate) fn line(src: &'s [u8], start: usize) -> Cursor<'s> {
        let rest = &src[start..];
        let (end, next) = match memchr::memchr2(b'\n', b'\r', rest) {
            None => (src.len(), src.len()),
            Some(at) if rest[at] == b'\r' && rest.get(at + 1) == Some(&b'\n') => (start + at, start + at + 2),
            Some(at) => (start + at, start + at + 1),
        };
        Cursor { src, start, end, next, at: start, column: 0, partly: false }
    }

    /// Returns how many columns of blanks come next, and the first byte that is none.
    pub(crate) fn indent(&self) -> (usize, usize) {
        let (mut at, mut column) = (self.at, self.column);
        while at < self.end {
            match self.src[at] {
                b' ' => column += 1,
                b'\t' => column += 4 - column % 4,
                _ => break,
            }
            at += 1;
        }
        (column - self.column, at)
    }

    /// Moves over up to `columns` columns of blanks; returns how many there were.
    pub(crate) fn skip_columns(&mut self, columns: usize) -> usize {
        let goal = self.column + columns;
        let from = self.column;
        while self.column < goal && self.at < self.end {
            match self.src[self.at] {
                b' ' => {
                    self.column += 1;
                    self.at += 1;
                }
                b'\t' => {
                    self.partly = false;
                    let stop = self.column + 4 - self.column % 4;
                    if stop > goal {
                        self.column = goal;
                        self.partly = true;
                    } else {
                        self.column = stop;
                        self.at += 1;
                    }
                }
                _ => break,
            }
        }
        self.column - from
    }

    /// Moves to `at`, over bytes that are one column each after the blanks up to them.
    pub(crate) fn move_over(&mut self, at: usize) {
        while self.at < at {
            self.partly = false;
            self.column = if self.src[self.at] == b'\t' { self.column + 4 - self.column % 4 } else { self.column + 1 };
            self.at += 1;
        }
    }

    /// Returns the end of the line without trailing blanks, not before `from`.
    pub(crate) fn trimmed_end(&self, from: usize) -> usize {
        let mut end = self.end;
        while end > from && is_blank(self.src[end - 1]) {
            end -= 1;
        }
        end
    }
}
