//! Runs of `*`, `_` and `~`, and what they enclose.

use super::InlineKind;
use super::scan::{Found, run};
use crate::unicode;

/// A run of delimiters that may still open or close something.
struct Delimiter {
    byte: u8,
    /// Where what is left of it starts.
    at: usize,
    left: usize,
    /// How long it was at first; the rule of three looks at this.
    length: usize,
    opens: bool,
    closes: bool,
    previous: Option<usize>,
    next: Option<usize>,
}

/// The delimiter stack: a list linked in both directions.
#[derive(Default)]
pub(super) struct Delimiters {
    all: Vec<Delimiter>,
    last: Option<usize>,
}

impl Delimiters {
    pub fn last(&self) -> Option<usize> {
        self.last
    }

    /// Adds the run at `at`; returns where it ends.
    pub fn push_run(&mut self, text: &[u8], at: usize) -> usize {
        let (byte, length) = (text[at], run(text, at));
        let end = at + length;
        if byte == b'~' && length > 2 {
            return end;
        }
        let (before, after) = (char_before(text, at), char_after(text, end));
        let blank = |c: Option<char>| c.is_none_or(unicode::is_whitespace);
        let punctuation = |c: Option<char>| c.is_some_and(unicode::is_punctuation);
        let left = !blank(after) && (!punctuation(after) || blank(before) || punctuation(before));
        let right = !blank(before) && (!punctuation(before) || blank(after) || punctuation(after));
        let (opens, closes) = if byte == b'_' {
            (left && (!right || punctuation(before)), right && (!left || punctuation(after)))
        } else {
            (left, right)
        };
        if opens || closes {
            let index = self.all.len();
            self.all.push(Delimiter { byte, at, left: length, length, opens, closes, previous: self.last, next: None });
            if let Some(last) = self.last {
                self.all[last].next = Some(index);
            }
            self.last = Some(index);
        }
        end
    }

    /// Matches closers with openers above `bottom`, and takes all of them off the stack.
    pub fn process(&mut self, bottom: Option<usize>, found: &mut Vec<Found>) {
        // For each kind of closer: openers at or below this are known not to match.
        let mut floors: [Option<usize>; 14] = [bottom; 14];
        let mut closer = match bottom {
            Some(bottom) => self.all[bottom].next,
            None => self.first(),
        };
        while let Some(index) = closer {
            if !self.all[index].closes {
                closer = self.all[index].next;
                continue;
            }
            let kind = self.floor_of(index);
            let floor = floors[kind];
            let mut opener = self.all[index].previous;
            let mut matching = None;
            while let Some(candidate) = opener {
                if opener == floor || opener == bottom || floor.is_some_and(|floor| candidate <= floor) {
                    break;
                }
                if self.matches(candidate, index) {
                    matching = Some(candidate);
                    break;
                }
                opener = self.all[candidate].previous;
            }
            match matching {
                Some(opener) => {
                    let used = if self.all[index].byte == b'~' {
                        self.all[index].left
                    } else if self.all[opener].left >= 2 && self.all[index].left >= 2 {
                        2
                    } else {
                        1
                    };
                    self.enclose(opener, index, used, found);
                    // What stands between them can match nothing any more.
                    self.all[opener].next = Some(index);
                    self.all[index].previous = Some(opener);
                    if self.all[opener].left == 0 {
                        self.unlink(opener);
                    }
                    if self.all[index].left == 0 {
                        closer = self.all[index].next;
                        self.unlink(index);
                    }
                }
                None => {
                    floors[kind] = self.all[index].previous;
                    let next = self.all[index].next;
                    if !self.all[index].opens {
                        self.unlink(index);
                    }
                    closer = next;
                }
            }
        }
        // Everything above the bottom goes.
        self.last = bottom;
        if let Some(bottom) = bottom {
            self.all[bottom].next = None;
        }
    }

    fn first(&self) -> Option<usize> {
        let mut at = self.last?;
        while let Some(previous) = self.all[at].previous {
            at = previous;
        }
        Some(at)
    }

    /// Closers that fail for the same reasons share a floor.
    fn floor_of(&self, closer: usize) -> usize {
        let delimiter = &self.all[closer];
        match delimiter.byte {
            b'~' => 12 + usize::from(delimiter.length == 2),
            byte => usize::from(byte == b'_') * 6 + usize::from(delimiter.opens) * 3 + delimiter.length % 3,
        }
    }

    fn matches(&self, opener: usize, closer: usize) -> bool {
        let (opener, closer) = (&self.all[opener], &self.all[closer]);
        if opener.byte != closer.byte || !opener.opens {
            return false;
        }
        if opener.byte == b'~' {
            return opener.left == closer.left;
        }
        let both = opener.closes || closer.opens;
        !(both && (opener.length + closer.length) % 3 == 0 && !(opener.length % 3 == 0 && closer.length % 3 == 0))
    }

    fn enclose(&mut self, opener: usize, closer: usize, used: usize, found: &mut Vec<Found>) {
        let inside = self.all[opener].at + self.all[opener].left;
        self.all[opener].left -= used;
        let outside = self.all[closer].at;
        self.all[closer].at += used;
        self.all[closer].left -= used;
        let kind = match (self.all[closer].byte, used) {
            (b'~', _) => InlineKind::Strikethrough,
            (_, 2) => InlineKind::Strong,
            _ => InlineKind::Emphasis,
        };
        found.push(Found { kind, span: inside - used..outside + used, content: inside..outside });
    }

    fn unlink(&mut self, index: usize) {
        let (previous, next) = (self.all[index].previous, self.all[index].next);
        if let Some(previous) = previous {
            self.all[previous].next = next;
        }
        match next {
            Some(next) => self.all[next].previous = previous,
            None => self.last = previous,
        }
    }
}

fn char_before(text: &[u8], at: usize) -> Option<char> {
    let start = (at.saturating_sub(4)..at).rev().find(|start| text[*start] & 0xc0 != 0x80)?;
    std::str::from_utf8(&text[start..at]).ok()?.chars().next()
}

fn char_after(text: &[u8], at: usize) -> Option<char> {
    let rest = &text[at..text.len().min(at + 4)];
    let valid = match std::str::from_utf8(rest) {
        Ok(valid) => valid,
        Err(error) => std::str::from_utf8(&rest[..error.valid_up_to()]).ok()?,
    };
    valid.chars().next()
}
