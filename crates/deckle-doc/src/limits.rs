//! The limits of a document. Past one of them parsing answers an error that says so; inside them it cannot fail.

use crate::Diag;

/// The largest document, in bytes: 8 MiB. The largest real document measured has 2 MB; positions fit 32 bits with room.
pub const MAX_DOCUMENT_BYTES: usize = 8 * 1024 * 1024;

/// The deepest nesting of blocks: 64. The deepest real document measured has 13; a walk of the tree stays shallow.
pub const MAX_DEPTH: usize = 64;

/// The largest front matter that is read as values, in bytes: 64 KiB. Larger front matter is kept, but not interpreted.
pub const MAX_FRONT_MATTER_BYTES: usize = 64 * 1024;

/// A document that is past a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LimitError {
    /// The document has more than [`MAX_DOCUMENT_BYTES`] bytes.
    #[error("the document has {bytes} bytes; the limit is {MAX_DOCUMENT_BYTES}")]
    Size {
        /// How many bytes it has.
        bytes: usize,
    },
    /// Blocks nest deeper than [`MAX_DEPTH`].
    #[error("blocks nest deeper than {MAX_DEPTH} at line {line}")]
    Depth {
        /// The line, counted from 1, on which the limit is passed.
        line: usize,
    },
}

/// Bytes that cannot be read as a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// The bytes are not UTF-8.
    #[error("the document is not UTF-8: byte {offset} starts no character")]
    NotUtf8 {
        /// The offset of the first byte that is not part of a character.
        offset: usize,
    },
    /// The document is past a limit.
    #[error(transparent)]
    Limit(#[from] LimitError),
}

impl From<&LimitError> for Diag {
    fn from(error: &LimitError) -> Diag {
        let (code, hint) = match error {
            LimitError::Size { .. } => ("document-too-large", "split the document into several, each under 8 MiB"),
            LimitError::Depth { .. } => {
                ("document-too-deep", "take out levels of quotes, lists or containers on that line until at most 64 are left")
            }
        };
        Diag::new(code, error.to_string()).hint(hint)
    }
}

impl From<&ParseError> for Diag {
    fn from(error: &ParseError) -> Diag {
        match error {
            ParseError::NotUtf8 { .. } => Diag::new("not-utf8", error.to_string())
                .hint("convert the file to UTF-8; until then it is kept as it is and not edited"),
            ParseError::Limit(limit) => limit.into(),
        }
    }
}
