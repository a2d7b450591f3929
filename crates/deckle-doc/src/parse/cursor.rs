//! A position in a line, in bytes and in columns.

/// Reads a line from left to right. Tabs stop at every fourth column; one that is used in part leaves its rest as blanks.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'s> {
    bytes: &'s [u8],
    /// The next byte.
    pub pos: usize,
    /// The column of the next blank or byte.
    pub column: usize,
    /// The end of the line, without its line end.
    pub end: usize,
}

/// What stands ahead of a cursor.
#[derive(Clone, Copy)]
pub(super) struct Ahead {
    /// Columns of blanks before the first other byte.
    pub indent: usize,
    /// Where that byte is; the end of the line when there is none.
    pub pos: usize,
    /// That byte; a line feed when there is none.
    pub byte: u8,
}

impl Ahead {
    /// Whether the rest of the line is blank.
    pub fn is_blank(self) -> bool {
        self.byte == b'\n'
    }
}

impl<'s> Cursor<'s> {
    pub fn new(bytes: &'s [u8], start: usize, end: usize) -> Self {
        Self { bytes, pos: start, column: 0, end }
    }

    /// Looks past the blanks.
    #[inline]
    pub fn ahead(&self) -> Ahead {
        let (mut pos, mut column) = (self.pos, self.column);
        while pos < self.end {
            match self.bytes[pos] {
                b' ' => column += 1,
                b'\t' => column += 4 - column % 4,
                byte => return Ahead { indent: column - self.column, pos, byte },
            }
            pos += 1;
        }
        Ahead { indent: column - self.column, pos, byte: b'\n' }
    }

    /// Uses up to `columns` columns of blanks; returns how many there were.
    pub fn skip_columns(&mut self, columns: usize) -> usize {
        let mut used = 0;
        while used < columns && self.pos < self.end {
            match self.bytes[self.pos] {
                b' ' => {
                    self.pos += 1;
                    self.column += 1;
                    used += 1;
                }
                b'\t' => {
                    let width = 4 - self.column % 4;
                    let take = width.min(columns - used);
                    self.column += take;
                    used += take;
                    if take == width {
                        self.pos += 1;
                    }
                }
                _ => break,
            }
        }
        used
    }

    /// Moves to a byte that is ahead, past `ahead`'s blanks.
    pub fn jump(&mut self, ahead: Ahead) {
        self.column += ahead.indent;
        self.pos = ahead.pos;
    }

    /// Moves past `count` bytes, none of them a tab.
    pub fn skip_bytes(&mut self, count: usize) {
        self.pos += count;
        self.column += count;
    }
}

/// The end of `range` of `bytes` without blanks at the end.
pub(super) fn trim_end(bytes: &[u8], start: usize, mut end: usize) -> usize {
    while end > start && matches!(bytes[end - 1], b' ' | b'\t') {
        end -= 1;
    }
    end
}
