//! The words inside a changed block: what stayed, what went and what came.

use serde::Serialize;

/// Past this many words on a side whole lines are compared.
const MAX_WORDS: usize = 4_000;

/// Whether a piece of text stands on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// It stands on both.
    Same,
    /// It goes.
    Removed,
    /// It comes.
    Added,
}

/// A piece of text with its mark. Those that are not added are together the text before, those that are not removed the text
/// after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Segment {
    /// Its mark.
    pub mark: Mark,
    /// The text.
    pub text: String,
}

/// Compares two texts word by word.
#[must_use]
pub fn segments(before: &str, after: &str) -> Vec<Segment> {
    let (mut old, mut new) = (words(before), words(after));
    if old.len().max(new.len()) > MAX_WORDS {
        (old, new) = (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
    }
    let mut out: Vec<Segment> = Vec::new();
    for op in similar::capture_diff_slices(similar::Algorithm::Myers, &old, &new) {
        let (gone, come) = (&old[op.old_range()], &new[op.new_range()]);
        if matches!(op, similar::DiffOp::Equal { .. }) {
            push(&mut out, Mark::Same, gone.concat());
        } else {
            push(&mut out, Mark::Removed, gone.concat());
            push(&mut out, Mark::Added, come.concat());
        }
    }
    readable(out)
}

/// Letters and digits are a word, blanks are one, every other character stands alone.
fn words(text: &str) -> Vec<&str> {
    let class = |c: char| {
        if c.is_alphanumeric() || c == '_' {
            0
        } else if c.is_whitespace() {
            1
        } else {
            2
        }
    };
    let mut out = Vec::new();
    let mut start = 0;
    let mut last: Option<i32> = None;
    for (at, c) in text.char_indices() {
        let this = class(c);
        if last.is_some_and(|last| last != this || this == 2) {
            out.push(&text[start..at]);
            start = at;
        }
        last = Some(this);
    }
    if start < text.len() {
        out.push(&text[start..]);
    }
    out
}

fn push(out: &mut Vec<Segment>, mark: Mark, text: String) {
    if text.is_empty() {
        return;
    }
    match out.last_mut() {
        Some(last) if last.mark == mark => last.text.push_str(&text),
        _ => out.push(Segment { mark, text }),
    }
}

/// Joins changes that only blanks divide: a phrase that was rewritten reads as one.
fn readable(segments: Vec<Segment>) -> Vec<Segment> {
    let mut out: Vec<Segment> = Vec::new();
    let mut at = 0;
    while at < segments.len() {
        if segments[at].mark == Mark::Same {
            out.push(segments[at].clone());
            at += 1;
            continue;
        }
        let (mut gone, mut come) = (String::new(), String::new());
        while let Some(segment) = segments.get(at) {
            let bridge = segment.mark == Mark::Same
                && segment.text.trim().is_empty()
                && segments.get(at + 1).is_some_and(|next| next.mark != Mark::Same);
            match segment.mark {
                Mark::Same if !bridge => break,
                Mark::Same => {
                    gone.push_str(&segment.text);
                    come.push_str(&segment.text);
                }
                Mark::Removed => gone.push_str(&segment.text),
                Mark::Added => come.push_str(&segment.text),
            }
            at += 1;
        }
        push(&mut out, Mark::Removed, gone);
        push(&mut out, Mark::Added, come);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(before: &str, after: &str) -> String {
        segments(before, after)
            .iter()
            .map(|one| match one.mark {
                Mark::Same => one.text.clone(),
                Mark::Removed => format!("[-{}-]", one.text),
                Mark::Added => format!("{{+{}+}}", one.text),
            })
            .collect()
    }

    #[test]
    fn words_are_marked() {
        assert_eq!(drawn("Run the old tool now.", "Run the new tool now."), "Run the [-old-]{+new+} tool now.");
        assert_eq!(drawn("a b c d", "a x y d"), "a [-b c-]{+x y+} d");
        assert_eq!(drawn("", "new"), "{+new+}");
        assert_eq!(drawn("same", "same"), "same");
    }
}
