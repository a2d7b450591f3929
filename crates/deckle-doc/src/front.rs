//! Front matter: typed reading, and edits that change one key's bytes and nothing else.
//!
//! An edit is a [`Splice`] made on the spans of the YAML parser's events (TOML: by `toml_edit`, which keeps what it does not change), and is proven
//! before it is returned: the new text is read again and must be the old values with that one change. What cannot be proven is refused.

mod edit;
mod shape;
mod write;

use serde_json::{Map, Value};

use crate::limits::MAX_FRONT_MATTER_BYTES;
use crate::{Diag, Format, Kind, Splice, Tree};

/// Why front matter cannot be read or edited.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrontError {
    /// It does not parse. It is kept byte for byte.
    #[error("the front matter does not parse, line {line}: {message}")]
    Unparseable {
        /// The line in the document, counted from 1.
        line: usize,
        /// What the parser says.
        message: String,
    },
    /// It is not a mapping.
    #[error("the front matter is not a mapping of names to values")]
    NotMapping,
    /// It is past a limit.
    #[error("the front matter has {bytes} bytes; at most {MAX_FRONT_MATTER_BYTES} are read")]
    TooLarge {
        /// Its size.
        bytes: usize,
    },
    /// A path leads through something that is not a mapping.
    #[error("`{path}` is not a mapping, so it has no `{name}`")]
    NotInside {
        /// The part of the path that is no mapping.
        path: String,
        /// The name below it.
        name: String,
    },
    /// The value is not a list.
    #[error("`{path}` is not a list")]
    NotList {
        /// The path.
        path: String,
    },
    /// A key of that name is there.
    #[error("`{path}` is there already")]
    Taken {
        /// The path.
        path: String,
    },
    /// There is no such key.
    #[error("there is no `{path}`")]
    Missing {
        /// The path.
        path: String,
    },
    /// The edit would change something else as well.
    #[error("setting `{path}` alone is not possible: {why}")]
    Unprovable {
        /// The path.
        path: String,
        /// Why.
        why: String,
    },
}

impl From<&FrontError> for Diag {
    fn from(error: &FrontError) -> Self {
        let (code, hint) = match error {
            FrontError::Unparseable { .. } => (
                "frontmatter-unparseable",
                "repair that line by hand; until then the front matter is kept as it is and not edited",
            ),
            FrontError::NotMapping => ("frontmatter-not-mapping", "make it lines of `name: value`"),
            FrontError::TooLarge { .. } => ("frontmatter-too-large", "move the data into the body or into a file of its own"),
            FrontError::NotInside { .. } => ("frontmatter-path", "set the whole value at the shorter path"),
            FrontError::NotList { .. } => ("frontmatter-not-list", "set the value to a list"),
            FrontError::Taken { .. } => ("frontmatter-taken", "unset that key first, or choose another name"),
            FrontError::Missing { .. } => ("frontmatter-missing", "read the front matter to see its keys"),
            FrontError::Unprovable { .. } => {
                ("frontmatter-unprovable", "an anchor, an alias or a complex key stands there; edit that part by hand")
            }
        };
        Self::new(code, error.to_string()).hint(hint)
    }
}

/// Returns the values of a document's front matter; an empty mapping when it has none.
///
/// # Errors
/// When it does not parse, is no mapping, or is too large.
pub fn read(tree: &Tree) -> Result<Map<String, Value>, FrontError> {
    let Some((format, text, start)) = part(tree) else { return Ok(Map::new()) };
    read_text(format, text, tree.source()[..start].matches('\n').count() + 1)
}

/// The format, the text between the fences, and where it starts.
fn part(tree: &Tree) -> Option<(Format, &str, usize)> {
    let block = tree.root().first_child()?;
    let Kind::FrontMatter { format } = block.kind() else { return None };
    let inner = block.inner();
    Some((format, tree.source().get(inner.clone())?, inner.start))
}

fn read_text(format: Format, text: &str, first_line: usize) -> Result<Map<String, Value>, FrontError> {
    if text.len() > MAX_FRONT_MATTER_BYTES {
        return Err(FrontError::TooLarge { bytes: text.len() });
    }
    let value = match format {
        Format::Yaml => read_yaml(text, first_line)?,
        Format::Toml => {
            let table: toml::Table = toml::from_str(text).map_err(|error| FrontError::Unparseable {
                line: first_line + error.span().map_or(0, |span| text[..span.start.min(text.len())].matches('\n').count()),
                message: error.message().lines().next().unwrap_or_default().to_owned(),
            })?;
            serde_json::to_value(table).unwrap_or(Value::Null)
        }
    };
    match value {
        Value::Object(map) => Ok(map),
        Value::Null => Ok(Map::new()),
        _ => Err(FrontError::NotMapping),
    }
}

fn read_yaml(text: &str, first_line: usize) -> Result<Value, FrontError> {
    if text.trim().is_empty() || text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
        return Ok(Value::Null);
    }
    yaml(text).map_err(|error| {
        let line = error.location().map_or(0, |location| location.line().saturating_sub(1) as usize);
        let message = error.to_string();
        FrontError::Unparseable { line: first_line + line, message: plain(&message) }
    })
}

/// What a reader says, without its own count of lines and without what only its caller could do.
fn plain(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    let line = line.strip_prefix("error: ").unwrap_or(line);
    let line = if line.starts_with("line ") { line.split_once(": ").map_or(line, |(_, rest)| rest) } else { line };
    line.split(", set ").next().unwrap_or_default().to_owned()
}

/// Reads YAML 1.2, in which only `true` and `false` are booleans: `off`, `no` and `y` are the words that they look like.
///
/// # Errors
/// When the text is not YAML.
pub fn yaml(text: &str) -> Result<Value, serde_saphyr::Error> {
    let options = serde_saphyr::options! { strict_booleans: true };
    serde_saphyr::from_str_with_options(text, options)
}

/// Returns the value at a path such as `author.name`.
#[must_use]
pub fn get<'v>(front: &'v Map<String, Value>, path: &str) -> Option<&'v Value> {
    let mut parts = path.split('.');
    let first = front.get(parts.next()?)?;
    parts.try_fold(first, |at, name| at.as_object()?.get(name))
}

/// Returns the splice that sets a key. A document without front matter gets some.
///
/// # Errors
/// When the front matter does not parse, or the change cannot be proven to change that key alone.
pub fn set(tree: &Tree, path: &str, value: &Value) -> Result<Splice, FrontError> {
    edit::run(tree, path, &edit::Change::Set(value.clone()))
}

/// Returns the splice that removes a key; nothing when it is not there.
///
/// # Errors
/// As [`set`].
pub fn unset(tree: &Tree, path: &str) -> Result<Option<Splice>, FrontError> {
    if get(&read(tree)?, path).is_none() {
        return Ok(None);
    }
    edit::run(tree, path, &edit::Change::Unset).map(Some)
}

/// Returns the splice that adds a value at the end of a list.
///
/// # Errors
/// As [`set`], and when the value there is not a list.
pub fn append(tree: &Tree, path: &str, value: &Value) -> Result<Splice, FrontError> {
    edit::run(tree, path, &edit::Change::Append(value.clone()))
}

/// Returns the splice that gives a key another name, in its place.
///
/// # Errors
/// As [`set`], and when the name is taken or the key is not there.
pub fn rename_key(tree: &Tree, path: &str, name: &str) -> Result<Splice, FrontError> {
    edit::run(tree, path, &edit::Change::Rename(name.to_owned()))
}

#[cfg(test)]
mod tests;
