//! A change of bytes: what a plan is made of.

use std::ops::Range;

/// One replacement: the bytes of `range` give way to `with`. An empty range inserts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a splice changes nothing until it is applied"]
pub struct Splice {
    /// The bytes that go, as offsets into the text before any splice of the same list.
    pub range: Range<usize>,
    /// The text that comes.
    pub with: String,
}

impl Splice {
    /// Returns the splice that replaces `range` by `with`.
    pub fn new(range: Range<usize>, with: impl Into<String>) -> Splice {
        Splice { range, with: with.into() }
    }

    /// Returns the splice that inserts `with` at `offset`.
    pub fn insert(offset: usize, with: impl Into<String>) -> Splice {
        Splice::new(offset..offset, with)
    }

    /// Returns the splice that removes `range`.
    pub fn remove(range: Range<usize>) -> Splice {
        Splice::new(range, "")
    }
}

/// Returns `text` with the splices applied. Every range is an offset into `text` as given; insertions at one offset keep the
/// order of the list.
///
/// # Panics
/// When two ranges overlap, or a range is out of bounds or cuts a character: the plan that made it is wrong.
pub fn apply(text: &str, splices: &[Splice]) -> String {
    let mut order: Vec<&Splice> = splices.iter().collect();
    order.sort_by_key(|splice| (splice.range.start, splice.range.end));
    let grown: usize = splices.iter().map(|splice| splice.with.len()).sum();
    let mut out = String::with_capacity(text.len() + grown);
    let mut done = 0;
    for splice in order {
        assert!(splice.range.start >= done && splice.range.start <= splice.range.end, "BUG: splices overlap at byte {done}");
        out.push_str(&text[done..splice.range.start]);
        out.push_str(&splice.with);
        done = splice.range.end;
    }
    out.push_str(&text[done..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splices_apply_in_order_of_place() {
        let splices = [Splice::insert(5, "!"), Splice::new(0..1, "J"), Splice::remove(1..2), Splice::insert(5, "?")];
        assert_eq!(apply("hello", &splices), "Jllo!?");
    }

    #[test]
    fn no_splice_is_the_text() {
        assert_eq!(apply("a\r\nb", &[]), "a\r\nb");
    }
}
