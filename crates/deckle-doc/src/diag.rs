//! The one rendering of an error for its reader: a person at a terminal, a model, a client of the protocol.

use std::borrow::Cow;
use std::fmt;

/// How many places a [`Diag`] shows before it only counts.
const SHOWN_PLACES: usize = 10;

/// An error as an instruction: what was wrong, where, and what to do next.
///
/// ```
/// use deckle_doc::Diag;
/// let diag = Diag::new("expect-mismatch", "`$delete` expects 1 block, selected 2").at("jon › Plans").hint("narrow the selection");
/// assert_eq!(diag.to_string(), "error[expect-mismatch]: `$delete` expects 1 block, selected 2\n  jon › Plans\nhint: narrow the selection");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diag {
    /// The stable name of the error, for programs.
    pub code: &'static str,
    /// What was wrong, in one sentence.
    pub message: String,
    /// The places it was wrong at; ten are shown.
    pub at: Vec<String>,
    /// What is allowed, and what to do next.
    pub hints: Vec<Cow<'static, str>>,
}

impl Diag {
    /// Returns an error without places or hints.
    pub fn new(code: &'static str, message: impl Into<String>) -> Diag {
        Diag { code, message: message.into(), at: Vec::new(), hints: Vec::new() }
    }

    /// Returns the error with one more place.
    #[must_use]
    pub fn at(mut self, place: impl Into<String>) -> Diag {
        self.at.push(place.into());
        self
    }

    /// Returns the error with more places.
    #[must_use]
    pub fn at_all(mut self, places: impl IntoIterator<Item = String>) -> Diag {
        self.at.extend(places);
        self
    }

    /// Returns the error with one more hint; a hint that is already there is not repeated.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<Cow<'static, str>>) -> Diag {
        let hint = hint.into();
        if !self.hints.contains(&hint) {
            self.hints.push(hint);
        }
        self
    }
}

impl fmt::Display for Diag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error[{}]: {}", self.code, self.message)?;
        for place in self.at.iter().take(SHOWN_PLACES) {
            write!(f, "\n  {place}")?;
        }
        if self.at.len() > SHOWN_PLACES {
            write!(f, "\n  … and {} more", self.at.len() - SHOWN_PLACES)?;
        }
        for hint in &self.hints {
            write!(f, "\nhint: {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diag {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_places_are_shown_and_the_rest_counted() {
        let diag = (1..=12).fold(Diag::new("code", "message"), |diag, place| diag.at(format!("place {place}")));
        let text = diag.hint("one").hint("one").to_string();
        assert!(text.contains("\n  place 10\n  … and 2 more\nhint: one"), "{text}");
        assert_eq!(text.matches("hint:").count(), 1);
    }
}
