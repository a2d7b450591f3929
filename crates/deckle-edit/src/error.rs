//! Every way in which an operation is refused. Each is an instruction.

use deckle_doc::{Diag, DocKey, LimitError};

use crate::schema::Problem;

/// A block as an error names it: `key › section › "first line"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place(pub String);

/// Why an operation was refused. Nothing was written.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The operation document cannot be read.
    #[error("{message}")]
    Syntax {
        /// What is wrong, with the words that are.
        message: String,
        /// What is allowed there.
        hint: String,
    },
    /// A guard did not agree with what is there.
    #[error("{operator} expects {want}, selected {got}")]
    ExpectMismatch {
        /// Who expects, in words: an operator, its destination, the filter.
        operator: String,
        /// What the guard says: `1 block`, `at most 20 blocks`.
        want: String,
        /// How many there are.
        got: usize,
        /// Which.
        places: Vec<Place>,
    },
    /// A strict surface got an operation without its guards.
    #[error("this surface writes only with guards; missing: {}", .missing.join(", "))]
    Unguarded {
        /// The guards that are missing.
        missing: Vec<String>,
    },
    /// An operator selected nothing, and no guard said that this is expected.
    #[error("`{operator}` selects nothing")]
    Nothing {
        /// The operator.
        operator: String,
        /// The nearest candidates.
        candidates: Vec<Place>,
    },
    /// An operator cannot act on a block of this type.
    #[error("`{operator}` cannot act on this {type_name}: {why}")]
    Type {
        /// The operator.
        operator: String,
        /// The block's type.
        type_name: String,
        /// Why not.
        why: String,
        /// Which.
        places: Vec<Place>,
        /// What to do.
        hint: String,
    },
    /// `from` does not occur exactly once in a selected block.
    #[error("`from` occurs {count} times in a selected block; it must occur exactly once")]
    Anchor {
        /// How often.
        count: usize,
        /// Which block.
        place: Place,
        /// The block's text, to copy from.
        text: String,
    },
    /// Two operators touch the same bytes.
    #[error("`{first}` and `{second}` touch the same block")]
    Overlap {
        /// One operator.
        first: String,
        /// The other.
        second: String,
        /// Where.
        place: Place,
    },
    /// The payload cannot stand at its place.
    #[error("the content does not fit: {why}")]
    Payload {
        /// Why not.
        why: String,
        /// What to do.
        hint: String,
    },
    /// The edit would change the meaning of something it does not name.
    #[error("the edit would change a block that it does not name: {what}")]
    Neighbour {
        /// What would happen to it.
        what: String,
        /// The block.
        place: Place,
        /// What to do.
        hint: &'static str,
    },
    /// The edit would make an illegal nesting.
    #[error("{message}")]
    Nesting {
        /// What cannot stand where.
        message: String,
        /// What is allowed there, and how to restructure.
        hint: String,
    },
    /// Content that was meant as an elision, or a loss that was not announced.
    #[error("{message}")]
    Gate {
        /// What the gate found.
        message: String,
        /// What to do.
        hint: String,
    },
    /// A block changed since the caller read it.
    #[error("the block changed since it was read")]
    Stale {
        /// Which block.
        place: Place,
        /// Its text now.
        text: String,
    },
    /// No such revision of a document.
    #[error("there is no revision `{revision}` of `{key}` to compare with")]
    NoRevision {
        /// The document.
        key: DocKey,
        /// The revision asked for.
        revision: String,
    },
    /// No such document.
    #[error("there is no document `{key}`")]
    NoDocument {
        /// The key asked for.
        key: String,
        /// Keys that are near.
        near: Vec<DocKey>,
    },
    /// A document of that key exists.
    #[error("there is a document `{key}` already")]
    Exists {
        /// The key.
        key: DocKey,
    },
    /// A document can't get that key.
    #[error("{}", .diag.message)]
    Rename {
        /// Why not.
        diag: Box<Diag>,
    },
    /// There is no deleted document of that key.
    #[error("there is no deleted document `{key}`")]
    NotDeleted {
        /// The key.
        key: DocKey,
    },
    /// A section is missing or ambiguous.
    #[error("{message}")]
    Section {
        /// What is wrong.
        message: String,
        /// The sections there are, or those that match.
        candidates: Vec<Place>,
    },
    /// The front matter cannot be edited.
    #[error("{message}")]
    FrontMatter {
        /// What is wrong.
        message: String,
        /// What to do.
        hint: String,
    },
    /// A document would break the schema that it is bound to.
    #[error("`{key}` would break the schema `{schema}`: {}", .problems.first().map_or("", |problem| problem.what.as_str()))]
    Schema {
        /// The document.
        key: DocKey,
        /// The schema.
        schema: String,
        /// What is wrong.
        problems: Vec<Problem>,
    },
    /// The result is past a limit.
    #[error(transparent)]
    Limit(#[from] LimitError),
}

impl EditError {
    /// Returns an error about the operation document itself.
    pub(crate) fn syntax(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Syntax { message: message.into(), hint: hint.into() }
    }

    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Syntax { .. } => "syntax",
            Self::ExpectMismatch { .. } => "expect-mismatch",
            Self::Unguarded { .. } => "unguarded",
            Self::Nothing { .. } => "nothing-selected",
            Self::Type { .. } => "wrong-type",
            Self::Anchor { .. } => "anchor",
            Self::Overlap { .. } => "overlap",
            Self::Payload { .. } => "payload",
            Self::Neighbour { .. } => "neighbour",
            Self::Nesting { .. } => "nesting",
            Self::Gate { .. } => "content-gate",
            Self::Stale { .. } => "stale",
            Self::NoRevision { .. } => "no-revision",
            Self::NoDocument { .. } => "no-document",
            Self::Exists { .. } => "document-exists",
            Self::NotDeleted { .. } => "not-deleted",
            Self::Section { .. } => "section",
            Self::FrontMatter { .. } => "front-matter",
            Self::Schema { .. } => "schema",
            Self::Limit(limit) => Diag::from(limit).code,
            Self::Rename { diag } => diag.code,
        }
    }
}

impl From<&deckle_doc::types::Violation> for EditError {
    fn from(violation: &deckle_doc::types::Violation) -> Self {
        let message = format!("{} (at {})", violation.message, violation.path.join(" › "));
        let hint = format!("allowed in `{}`: {}; {}", violation.container, violation.allowed.join(" "), violation.advice);
        Self::Nesting { message, hint }
    }
}

fn places(list: &[Place]) -> impl Iterator<Item = String> + '_ {
    list.iter().map(|place| place.0.clone())
}

impl From<&EditError> for Diag {
    fn from(error: &EditError) -> Self {
        let diag = Self::new(error.code(), error.to_string());
        match error {
            EditError::Rename { diag } => (**diag).clone(),
            EditError::Syntax { hint, .. }
            | EditError::Payload { hint, .. }
            | EditError::Nesting { hint, .. }
            | EditError::Gate { hint, .. }
            | EditError::FrontMatter { hint, .. } => diag.hint(hint.clone()),
            EditError::ExpectMismatch { places: list, got, .. } => {
                let diag = diag.at_all(places(list));
                if *got == 0 {
                    diag.hint("nothing matches: read the document again and copy the text from it")
                } else {
                    diag.hint("narrow the selection with `$within` or `$id`, or set `expect` to the count above")
                }
            }
            EditError::Unguarded { .. } => {
                diag.hint("make a dry run to see the counts, then add each `expect` with the count that you saw")
            }
            EditError::Nothing { operator, candidates } => {
                let diag = diag.at_all(places(candidates));
                if operator == "filter" {
                    diag.hint("`count` says how many documents a filter matches; say `expect: { min: 0 }` if none is fine too")
                } else if candidates.is_empty() {
                    diag.hint("read the document again and copy the text from it")
                } else {
                    diag.hint("choose one of the blocks above")
                }
            }
            EditError::Type { places: list, hint, .. } => diag.at_all(places(list)).hint(hint.clone()),
            EditError::Anchor { count, place, text } => {
                let hint = if *count == 0 {
                    "copy `from` from the text above, byte for byte"
                } else {
                    "make `from` longer, so that it occurs once"
                };
                diag.at(place.0.clone()).at(format!("its text: {text}")).hint(hint)
            }
            EditError::Overlap { place, .. } => {
                diag.at(place.0.clone()).hint("make two operations of it, or narrow one selection")
            }
            EditError::Neighbour { place, hint, .. } => diag.at(place.0.clone()).hint(*hint),
            EditError::Stale { place, text } => diag
                .at(place.0.clone())
                .at(format!("it now reads: {text}"))
                .hint("look at the text above, and send the edit again with it as the base"),
            EditError::NoRevision { .. } => diag
                .hint("read the document again, and give the revision that the read names; without `base` the last read counts"),
            EditError::NoDocument { near, .. } => {
                let diag = diag.at_all(near.iter().map(|key| format!("near: {key}")));
                diag.hint("list the documents to see the keys")
            }
            EditError::Exists { .. } => {
                diag.hint("change it with an update, or give `if_exists`: `skip`, `suffix` or `override`")
            }
            EditError::NotDeleted { .. } => diag.hint("list the documents to see whether it is there, or create it"),
            EditError::Section { candidates, .. } => diag
                .at_all(places(candidates))
                .hint("name one of the sections above, its path as `Parent › Child`, or its heading's `$id`"),
            EditError::Schema { problems, .. } => {
                let diag = diag.at_all(problems.iter().skip(1).map(|problem| format!("and {}", problem.what)));
                // The first thing to do; the next refusal names the next.
                diag.hint(problems.first().map(|problem| problem.hint.clone()).unwrap_or_default())
            }
            EditError::Limit(limit) => limit.into(),
        }
    }
}
