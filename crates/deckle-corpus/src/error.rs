//! Why a plan is refused.

use deckle_doc::{Diag, DocKey, KeyError, LimitError};

/// Why a plan is refused; nothing has changed.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// There is no such document.
    #[error("there is no document `{key}`")]
    NotFound {
        /// The key.
        key: DocKey,
        /// Keys that are like it.
        near: Vec<DocKey>,
    },
    /// A document has the new key already.
    #[error("`{key}` exists")]
    Exists {
        /// The key.
        key: DocKey,
    },
    /// The two keys are one.
    #[error("`{key}` has that key already")]
    Same {
        /// The key.
        key: DocKey,
    },
    /// No way of writing a link keeps what it means.
    #[error("`{written}` in `{key}` can't be written so that it still means {meant}")]
    Unwritable {
        /// The document that holds the link.
        key: DocKey,
        /// The link as written.
        written: String,
        /// What it means.
        meant: String,
    },
    /// The plan would change what links mean; it is not handed out.
    #[error("{} link(s) would no longer mean what they meant", .links.len())]
    Retargets {
        /// Each link: document, text, before, after.
        links: Vec<String>,
    },
    /// The document is past a limit.
    #[error("`{key}` can't be read: {limit}")]
    Limit {
        /// The document.
        key: DocKey,
        /// The limit.
        limit: LimitError,
    },
    /// No section of that name, or several.
    #[error("`{key}` has {} section(s) named `{section}`", .found.len())]
    Section {
        /// The document.
        key: DocKey,
        /// What was asked for.
        section: String,
        /// What has that name.
        found: Vec<String>,
        /// The sections there are.
        all: Vec<String>,
    },
    /// No block of the document is a link to the other alone.
    #[error("`{host}` has no block that is only a link to `{key}`")]
    NoPlace {
        /// The document that was to take the text.
        host: DocKey,
        /// The document to take in.
        key: DocKey,
    },
    /// A heading can't get the level that its new place asks for.
    #[error("the heading `{heading}` of `{key}` can't have level {level}")]
    Level {
        /// The document.
        key: DocKey,
        /// The heading.
        heading: String,
        /// The level.
        level: usize,
    },
    /// The text can't stand at its new place without changing what is beside it.
    #[error("the text of `{key}` can't stand in `{host}` and keep its blocks")]
    Blocks {
        /// Where the text is from.
        key: DocKey,
        /// Where it would stand.
        host: DocKey,
    },
    /// A key that is none.
    #[error(transparent)]
    Key(#[from] KeyError),
}

impl From<&PlanError> for Diag {
    fn from(error: &PlanError) -> Diag {
        let message = error.to_string();
        match error {
            PlanError::NotFound { near, .. } => {
                let diag = near.iter().fold(Diag::new("no-document", message), |diag, key| diag.at(key.as_str()));
                diag.hint(if near.is_empty() {
                    "list the documents with `find`"
                } else {
                    "use one of the keys above, or list the documents with `find`"
                })
            }
            PlanError::Exists { .. } => Diag::new("document-exists", message)
                .hint("choose another key; to change that document use `update`, to remove it `delete`"),
            PlanError::Same { .. } => Diag::new("same-key", message).hint("name another key, or leave the document as it is"),
            PlanError::Unwritable { .. } => Diag::new("unwritable-link", message)
                .hint("choose a key without `[`, `]`, `|`, `#` and `\"`, or change that link first"),
            PlanError::Retargets { links } => links
                .iter()
                .fold(Diag::new("retargets", message), |diag, link| diag.at(link.as_str()))
                .hint("change the links above so that they name their document by its whole key, then try again"),
            PlanError::Limit { .. } => {
                Diag::new("limit", message).hint("split the document, or edit it with a tool that has no such limit")
            }
            PlanError::Section { found, all, .. } => {
                let (places, hint) = if found.is_empty() {
                    (all, "name one of the sections above")
                } else {
                    (found, "name the section by its whole path, as above")
                };
                places.iter().fold(Diag::new("section", message), |diag, place| diag.at(place.as_str())).hint(hint)
            }
            PlanError::NoPlace { .. } => Diag::new("no-place", message)
                .hint("put a paragraph that is only `[[key]]` where the text is to go, then try again"),
            PlanError::Level { .. } => Diag::new("heading-level", message)
                .hint("write it as `# …` on one line, or put the link under a heading of a higher level"),
            PlanError::Blocks { .. } => Diag::new("neighbour", message)
                .hint("put a heading or a paragraph between the text and what is beside it, then try again"),
            PlanError::Key(error) => Diag::from(error),
        }
    }
}
