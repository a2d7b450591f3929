//! Operation documents as values: find, count, update, delete, and steps in one transaction.

use deckle_doc::DocKey;
use serde_json::Value;

use super::predicate::Predicate;
use crate::filter::Filter;
use crate::{EditError, read_value};

/// What an operation document asks for.
#[derive(Clone, Debug)]
pub enum Operation {
    /// Read documents.
    Find(Find),
    /// Count documents.
    Count(Find),
    /// Change, in one transaction; each step sees what the one before did.
    Change(Vec<Step>),
}

/// A reading operation.
#[derive(Clone, Debug, Default)]
pub struct Find {
    /// Which documents.
    pub filter: Filter,
    /// Words to search for; the documents come in the order of relevance then.
    pub search: Option<Search>,
    /// What to show of each; nothing is key and title.
    pub projection: Vec<(String, Source)>,
    /// Whether the projection replaces key and title.
    pub replace: bool,
    /// A field to sort by, and whether upwards.
    pub sort: Option<(String, bool)>,
    /// At most so many; 0 is no limit.
    pub limit: usize,
}

/// What to search for.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// Words, ranked.
    pub lexical: Option<String>,
    /// Letters of title and key, in order.
    pub fuzzy: Option<String>,
}

/// The projection of a find.
pub type Projection = Vec<(String, Source)>;

/// Where a projected field comes from.
#[derive(Clone, Debug)]
pub enum Source {
    /// A field of the front matter.
    Field(String),
    /// `$key`
    Key,
    /// `$title`
    Title,
    /// `$titleSlug`
    TitleSlug,
    /// `$frontmatter`
    FrontMatter,
    /// `$content`, narrowed to the selected blocks.
    Content(Predicate),
    /// `$blocks`
    Blocks(Predicate),
    /// `$matches`: a pattern and a scope.
    Matches(regex::Regex, Predicate),
    /// `$includes`, `$includedBy`, `$references`, `$referencedBy`.
    Relation(&'static str),
}

/// A guard on a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expect {
    /// At least.
    pub min: usize,
    /// At most.
    pub max: usize,
}

/// One step of a transaction.
#[derive(Clone, Debug)]
pub enum Step {
    /// Change documents in place.
    Update(Box<Update>),
    /// Create a document.
    Create(Create),
    /// Rename a document; every link to it is rewritten.
    Rename {
        /// The old key.
        from: DocKey,
        /// The new key.
        to: DocKey,
    },
    /// Delete documents.
    Delete {
        /// Which.
        filter: Filter,
        /// The guard on how many.
        expect: Option<Expect>,
        /// A field to sort by, and whether upwards; it decides which a limit takes.
        sort: Option<(String, bool)>,
        /// A bound on how many.
        limit: usize,
    },
    /// Bring a deleted document back, with its ids.
    Restore {
        /// Its key.
        key: DocKey,
        /// The key it comes back under; nothing is its old one.
        to: Option<DocKey>,
    },
}

/// A document to create.
#[derive(Clone, Debug)]
pub struct Create {
    /// Its key, or the template of one: `people/{{slug}}`.
    pub key: String,
    /// What a template is filled with: `title` and whatever else it names.
    pub values: Vec<(String, String)>,
    /// Its text.
    pub content: String,
    /// When there is one already.
    pub if_exists: IfExists,
    /// Replacing a document with less must say so.
    pub removed: bool,
}

/// What creating does at a key that is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IfExists {
    /// Refuse.
    #[default]
    Fail,
    /// Do nothing.
    Skip,
    /// Take the next free key: `key-2`.
    Suffix,
    /// Replace the document.
    Override,
}

/// Changes to the documents that a filter matches.
#[derive(Clone, Debug)]
pub struct Update {
    /// Which documents.
    pub filter: Filter,
    /// The guard on how many.
    pub expect: Option<Expect>,
    /// A field to sort by, and whether upwards; it decides which a limit takes.
    pub sort: Option<(String, bool)>,
    /// A bound on how many.
    pub limit: usize,
    /// `$set`: paths and values.
    pub set: Vec<(String, Value)>,
    /// `$unset`: paths.
    pub unset: Vec<String>,
    /// The block operators, in the order in which they are written.
    pub blocks: Vec<BlockOp>,
    /// A change that removes much must say so: `removed: true`, or what goes, in words.
    pub removed: bool,
    /// The revision that the caller looked at: blocks that changed since are stale.
    pub base: Option<String>,
}

/// A block operator with its selection.
#[derive(Clone, Debug)]
pub struct BlockOp {
    /// What it does.
    pub kind: BlockOpKind,
    /// What it selects.
    pub predicate: Predicate,
    /// The guard on how many.
    pub expect: Option<Expect>,
    /// Texts that the caller last read, by block id: a block that reads otherwise now is stale.
    pub base: Vec<(String, String)>,
}

/// What a block operator does.
#[derive(Clone, Debug)]
pub enum BlockOpKind {
    /// Replace each target.
    Replace {
        /// The new Markdown.
        content: String,
    },
    /// Replace text inside each selected block.
    ReplaceText {
        /// What; nothing is the whole own text.
        from: Option<String>,
        /// By what.
        to: String,
    },
    /// Insert before each target.
    InsertBefore {
        /// The new Markdown.
        content: String,
    },
    /// Insert after each target.
    InsertAfter {
        /// The new Markdown.
        content: String,
    },
    /// Add at the end of each target.
    Append {
        /// The new Markdown.
        content: String,
    },
    /// Add at the start of each target.
    Prepend {
        /// The new Markdown.
        content: String,
    },
    /// Remove each target.
    Delete {
        /// Whether what is nested in an item goes with it.
        nested: bool,
    },
    /// Move the targets to a place.
    Move {
        /// Where.
        to: Destination,
    },
    /// Copy the targets to a place.
    Copy {
        /// Where.
        to: Destination,
    },
    /// Put a container around the targets.
    Wrap {
        /// The directive's name.
        name: String,
        /// Its label.
        label: Option<String>,
    },
    /// Take the container away and keep what is inside.
    Unwrap,
    /// Set attributes, the level of a heading, or the language of code; null removes.
    SetAttr {
        /// Names and values.
        attributes: Vec<(String, Value)>,
    },
    /// Check or uncheck a task.
    Toggle {
        /// The new state; nothing turns it round.
        checked: Option<bool>,
    },
}

/// Where moved and copied blocks go.
#[derive(Clone, Debug)]
pub struct Destination {
    /// The other document, where it is one.
    pub document: Option<DocKey>,
    /// Before, after, at the start of or at the end of …
    pub side: Side,
    /// … the one block that this selects.
    pub predicate: Predicate,
}

/// A side of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// In front of it.
    Before,
    /// Behind it.
    After,
    /// Inside, first.
    Start,
    /// Inside, last.
    End,
}

/// The block operators, for errors.
pub(crate) const BLOCK_OPERATORS: [&str; 13] = [
    "$append",
    "$copy",
    "$delete",
    "$insertAfter",
    "$insertBefore",
    "$move",
    "$prepend",
    "$replace",
    "$replaceText",
    "$setAttr",
    "$toggle",
    "$unwrap",
    "$wrap",
];

impl BlockOpKind {
    /// Returns the operator's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Replace { .. } => "$replace",
            Self::ReplaceText { .. } => "$replaceText",
            Self::InsertBefore { .. } => "$insertBefore",
            Self::InsertAfter { .. } => "$insertAfter",
            Self::Append { .. } => "$append",
            Self::Prepend { .. } => "$prepend",
            Self::Delete { .. } => "$delete",
            Self::Move { .. } => "$move",
            Self::Copy { .. } => "$copy",
            Self::Wrap { .. } => "$wrap",
            Self::Unwrap => "$unwrap",
            Self::SetAttr { .. } => "$setAttr",
            Self::Toggle { .. } => "$toggle",
        }
    }
}

impl Expect {
    /// Reads `N` or `{ min: M, max: N }`.
    ///
    /// # Errors
    /// When it is neither.
    pub fn parse(value: &Value) -> Result<Self, EditError> {
        let number = |value: &Value| value.as_u64().and_then(|n| usize::try_from(n).ok());
        let bad = || {
            EditError::syntax(
                format!("`expect` takes a count or a range of counts, not `{value}`"),
                "write `expect: 1` or `expect: { min: 1, max: 20 }`",
            )
        };
        match value {
            Value::Object(map) if !map.is_empty() => {
                let mut expect = Self { min: 0, max: usize::MAX };
                for (key, value) in map {
                    match key.as_str() {
                        "min" => expect.min = number(value).ok_or_else(bad)?,
                        "max" => expect.max = number(value).ok_or_else(bad)?,
                        _ => return Err(bad()),
                    }
                }
                Ok(expect)
            }
            other => number(other).map(|n| Self { min: n, max: n }).ok_or_else(bad),
        }
    }

    /// Returns whether a count agrees.
    #[must_use]
    pub fn holds(self, count: usize) -> bool {
        (self.min..=self.max).contains(&count)
    }

    /// Says it in words: `1 block`, `at most 20 blocks`.
    #[must_use]
    pub fn words(self, noun: &str) -> String {
        let count = |n: usize| format!("{n} {noun}{}", if n == 1 { "" } else { "s" });
        match (self.min, self.max) {
            (min, max) if min == max => count(min),
            (0, max) => format!("at most {}", count(max)),
            (min, usize::MAX) => format!("at least {}", count(min)),
            (min, max) => format!("{min} to {}", count(max)),
        }
    }
}

impl Operation {
    /// Reads an operation document: JSON or YAML.
    ///
    /// # Errors
    /// When it is not of the language; the error names the word, and what is allowed in its place.
    ///
    /// ```
    /// use deckle_edit::Operation;
    /// let operation = Operation::parse_text("filter: { $key: jon }\nupdate: { $replaceText: { $text: Plans, from: Plans, to: Aims, expect: 1 } }")?;
    /// assert!(matches!(operation, Operation::Change(steps) if steps.len() == 1));
    /// # Ok::<(), deckle_edit::EditError>(())
    /// ```
    pub fn parse_text(text: &str) -> Result<Self, EditError> {
        Self::parse(&read_value(text)?)
    }

    /// Reads an operation document.
    ///
    /// # Errors
    /// As [`Self::parse_text`].
    pub fn parse(value: &Value) -> Result<Self, EditError> {
        super::parse::operation(value)
    }
}
