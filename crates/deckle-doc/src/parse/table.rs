//! Tables: the delimiter row, and where a row's cells are.

use crate::kind::Alignment;
use crate::parse::chars::is_blank;

/// How many cells a row keeps beyond the columns of its head. Past it the last cell holds the rest: a row of nothing but pipes
/// stays small in memory.
pub(crate) const MAX_EXCESS_CELLS: usize = 128;

/// Reads a delimiter row, such as `| --- | :-: |`, into `out`; `false` when the line is none.
pub(crate) fn delimiter_row(line: &[u8], out: &mut Vec<Alignment>) -> bool {
    let mut at = 0;
    let mut marked = false;
    let blanks = |mut at: usize| {
        while at < line.len() && is_blank(line[at]) {
            at += 1;
        }
        at
    };
    if line.first() == Some(&b'|') {
        marked = true;
        at = blanks(1);
    }
    while at < line.len() {
        let left = line[at] == b':';
        at += usize::from(left);
        let dashes = line[at..].iter().take_while(|&&byte| byte == b'-').count();
        if dashes == 0 {
            return false;
        }
        at += dashes;
        let right = line.get(at) == Some(&b':');
        at = blanks(at + usize::from(right));
        marked |= left || right;
        out.push(match (left, right) {
            (false, false) => Alignment::None,
            (true, false) => Alignment::Left,
            (false, true) => Alignment::Right,
            (true, true) => Alignment::Center,
        });
        match line.get(at) {
            None => break,
            Some(b'|') => {
                marked = true;
                at = blanks(at + 1);
            }
            Some(_) => return false,
        }
    }
    marked && !out.is_empty()
}

/// Where the cells of a row are.
pub(crate) struct Cells<'l> {
    line: &'l [u8],
    at: usize,
    left: usize,
    done: bool,
}

/// One cell: the bytes up to its pipe, and whether a pipe follows.
pub(crate) struct Cell {
    pub start: usize,
    pub end: usize,
    pub piped: bool,
}

/// Returns the cells of `line`, which starts with its first byte that is not blank and ends with the last. At most `limit`.
pub(crate) fn cells(line: &[u8], limit: usize) -> Cells<'_> {
    let at = usize::from(line.first() == Some(&b'|'));
    Cells { line, at, left: limit, done: false }
}

impl Iterator for Cells<'_> {
    type Item = Cell;

    fn next(&mut self) -> Option<Cell> {
        if self.done {
            return None;
        }
        let start = self.at;
        let mut place = start;
        self.left = self.left.saturating_sub(1);
        while self.left > 0 {
            match memchr::memchr2(b'|', b'\\', &self.line[place..]) {
                None => break,
                Some(found) => {
                    place += found;
                    if self.line[place] == b'|' {
                        self.at = place + 1;
                        // What follows the last pipe is a cell only when it holds something.
                        self.done = self.line[self.at..].iter().all(|&byte| is_blank(byte));
                        return Some(Cell { start, end: place, piped: true });
                    }
                    place += 1 + usize::from(matches!(self.line.get(place + 1), Some(b'|' | b'\\')));
                }
            }
        }
        self.done = true;
        Some(Cell { start, end: self.line.len(), piped: false })
    }
}
