//! Colour and words for people.

use std::io::IsTerminal as _;

use deckle_store::Conflict;
use deckle_store::diff::{Change, ChangeKind};
use similar::{ChangeTag, TextDiff};

use crate::arguments::Color;

/// Returns whether to use colour on standard output and error.
pub fn colour(choice: Color) -> bool {
    match choice {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
    }
}

/// Paints text, or leaves it.
pub struct Paint(pub bool);

impl Paint {
    fn with(&self, code: &str, text: &str) -> String {
        if self.0 && !text.is_empty() { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    pub fn bold(&self, text: &str) -> String {
        self.with("1", text)
    }

    pub fn dim(&self, text: &str) -> String {
        self.with("2", text)
    }

    pub fn green(&self, text: &str) -> String {
        self.with("32", text)
    }

    pub fn red(&self, text: &str) -> String {
        self.with("31", text)
    }

    pub fn cyan(&self, text: &str) -> String {
        self.with("36", text)
    }
}

/// One change in lines: its head, then what went and what came, with the words marked that differ.
pub fn change(change: &Change, paint: &Paint, decision: Option<&str>) -> String {
    let kind = match change.kind {
        ChangeKind::DocumentCreated => "new document",
        ChangeKind::DocumentDeleted => "document deleted",
        ChangeKind::DocumentRenamed => "document renamed",
        ChangeKind::Added => "added",
        ChangeKind::Removed => "removed",
        ChangeKind::Changed => "changed",
        ChangeKind::FrontMatter => "front matter",
        ChangeKind::Attributes => "attributes",
        ChangeKind::Moved => "moved",
        ChangeKind::Renested => "moved into another block",
        ChangeKind::Spacing => "spacing",
    };
    let mut head = format!("{} {kind} {}", paint.cyan(&format!("[{}]", change.id)), change.block);
    if !change.place.is_empty() {
        head.push_str(&paint.dim(&format!(" in {}", change.place)));
    }
    if let Some(from) = &change.from {
        head.push_str(&format!(" (was {from})"));
    }
    if let Some(decision) = decision {
        head.push_str(&format!(" — {}", paint.bold(decision)));
    }
    let mut out = format!("{head}\n");
    match (&change.before, &change.after) {
        (Some(before), Some(after)) if before != after => {
            let (old, new) = words(before, after, paint);
            side(&mut out, "-", &old, paint, true);
            side(&mut out, "+", &new, paint, false);
        }
        (Some(before), None) => side(&mut out, "-", &paint_lines(before, paint, true), paint, true),
        (None, Some(after)) => side(&mut out, "+", &paint_lines(after, paint, false), paint, false),
        _ => {}
    }
    out
}

/// A conflict in lines: where it is, and what each side did to what was there.
pub fn conflict(conflict: &Conflict, paint: &Paint) -> String {
    let mut out = format!("{}\n", paint.bold(&conflict.to_string()));
    let base = conflict.base.as_deref().unwrap_or_default();
    for (name, text) in [("the folder", &conflict.ours), ("the branch", &conflict.theirs)] {
        out.push_str(&format!("  in {name}:\n"));
        match text {
            None => out.push_str("    not there\n"),
            Some(text) => {
                let (old, new) = words(base, text, paint);
                side(&mut out, "-", &old, paint, true);
                side(&mut out, "+", &new, paint, false);
            }
        }
    }
    out
}

fn paint_lines(text: &str, paint: &Paint, old: bool) -> String {
    text.trim_end_matches('\n')
        .lines()
        .map(|line| if old { paint.red(line) } else { paint.green(line) })
        .collect::<Vec<_>>()
        .join("\n")
}

fn side(out: &mut String, mark: &str, text: &str, paint: &Paint, old: bool) {
    let mark = if old { paint.red(mark) } else { paint.green(mark) };
    for line in text.lines() {
        out.push_str(&format!("    {mark} {line}\n"));
    }
}

/// Both sides with the words that differ in `[-…-]` and `{+…+}`, or in colour.
fn words(before: &str, after: &str, paint: &Paint) -> (String, String) {
    let diff = TextDiff::from_words(before, after);
    let (mut old, mut new) = (String::new(), String::new());
    for change in diff.iter_all_changes() {
        let text = change.value().to_string();
        match change.tag() {
            ChangeTag::Equal => {
                old.push_str(&text);
                new.push_str(&text);
            }
            ChangeTag::Delete if text.trim().is_empty() => old.push_str(&text),
            ChangeTag::Insert if text.trim().is_empty() => new.push_str(&text),
            ChangeTag::Delete => old.push_str(&if paint.0 { paint.with("1;31", &text) } else { format!("[-{text}-]") }),
            ChangeTag::Insert => new.push_str(&if paint.0 { paint.with("1;32", &text) } else { format!("{{+{text}+}}") }),
        }
    }
    (old, new)
}

/// `1 document`, `2 documents`.
pub fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
