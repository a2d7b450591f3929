//! The name of a document inside its workspace.

use std::fmt;

use crate::Diag;

/// The longest key, in bytes.
const MAX_KEY_BYTES: usize = 512;
/// The longest segment, in bytes: with `.md` it still is a file name that every file system takes.
const MAX_SEGMENT_BYTES: usize = 250;

/// The key of a document inside one workspace, such as `guides/quick-start`.
///
/// Invariant: 1 to 512 bytes; segments divided by `/`, none empty, `.` or `..`, none over 250 bytes, none that a file system
/// could take for `.git` or `.deckle` (also by case folding, short names, streams or invisible characters); no control
/// character, no `\`, no `:`; no segment that starts or ends with a blank or ends with a dot. Everything past the edge takes a
/// `DocKey`, so a path traversal is a parse error and nothing deeper has to check again.
///
/// ```
/// use deckle_doc::DocKey;
/// let key = DocKey::parse("guides/quick-start")?;
/// assert_eq!(key.as_str(), "guides/quick-start");
/// assert!(DocKey::parse("../secrets").is_err());
/// # Ok::<(), deckle_doc::KeyError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocKey(Box<str>);

/// Why a text is not a document key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a document key: {reason}", shown(.key))]
pub struct KeyError {
    /// The text.
    pub key: String,
    /// What is wrong with it.
    pub reason: KeyFault,
}

/// What can be wrong with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyFault {
    /// There is no text.
    #[error("it is empty")]
    Empty,
    /// More than 512 bytes, or a segment of more than 250.
    #[error("it is too long; a key has at most 512 bytes and each segment at most 250")]
    Long,
    /// A segment has no text: `a//b`, a leading or a trailing `/`.
    #[error("a segment is empty; write `a/b` without a leading, doubled or trailing `/`")]
    EmptySegment,
    /// A segment is `.` or `..`.
    #[error("`.` and `..` are not segments; name the document from the root of the workspace")]
    Traversal,
    /// A character that keys don't hold.
    #[error("the character {0:?} is not allowed in a key")]
    Character(char),
    /// A segment starts or ends with a blank, or ends with a dot.
    #[error("a segment may not start or end with a blank, nor end with a dot")]
    Edge,
    /// A segment that is, or that a file system takes for, `.git` or `.deckle`.
    #[error("`.git` and `.deckle` hold the store's own files")]
    Reserved,
}

impl DocKey {
    /// Returns the key that `text` is.
    ///
    /// # Errors
    /// When `text` breaks the invariant above; the error says how.
    pub fn parse(text: &str) -> Result<DocKey, KeyError> {
        match fault(text) {
            None => Ok(DocKey(text.into())),
            Some(reason) => Err(KeyError { key: text.to_owned(), reason }),
        }
    }

    /// Returns the key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the last segment: `quick-start` of `guides/quick-start`.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// Returns the segments before the last: `guides` of `guides/quick-start`, and nothing for a document at the root.
    pub fn folder(&self) -> Option<&str> {
        self.0.rsplit_once('/').map(|(folder, _)| folder)
    }
}

impl fmt::Display for DocKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for DocKey {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl From<&KeyError> for Diag {
    fn from(error: &KeyError) -> Diag {
        let diag = Diag::new("bad-key", error.to_string());
        diag.hint("a key is the path from the root of the workspace without `.md`, such as `guides/quick-start`")
    }
}

/// Returns the key as an error may show it: without what would garble a terminal, and cut where it is long.
fn shown(key: &str) -> String {
    let mut text: String = key.chars().take(80).flat_map(char::escape_debug).collect();
    if key.chars().nth(80).is_some() {
        text.push('…');
    }
    text
}

fn fault(text: &str) -> Option<KeyFault> {
    if text.is_empty() {
        return Some(KeyFault::Empty);
    }
    if text.len() > MAX_KEY_BYTES {
        return Some(KeyFault::Long);
    }
    if let Some(bad) = text.chars().find(|&c| c.is_control() || matches!(c, '\\' | ':' | '\u{2028}' | '\u{2029}' | '\u{FEFF}')) {
        return Some(KeyFault::Character(bad));
    }
    if let Some(bad) = text.chars().find(|&c| is_direction(c)) {
        return Some(KeyFault::Character(bad));
    }
    text.split('/').find_map(segment_fault)
}

fn segment_fault(segment: &str) -> Option<KeyFault> {
    if segment.is_empty() {
        return Some(KeyFault::EmptySegment);
    }
    if segment == "." || segment == ".." {
        return Some(KeyFault::Traversal);
    }
    if segment.len() > MAX_SEGMENT_BYTES {
        return Some(KeyFault::Long);
    }
    if is_reserved(segment) {
        return Some(KeyFault::Reserved);
    }
    let blank = |c: Option<char>| c.is_some_and(char::is_whitespace);
    if blank(segment.chars().next()) || blank(segment.chars().next_back()) || segment.ends_with('.') {
        return Some(KeyFault::Edge);
    }
    None
}

/// Characters that turn the direction of the text around them, by which one key can be made to look like another.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// Whether some file system reads the segment as `.git` or `.deckle`: HFS+ drops invisible characters and folds case, NTFS drops
/// blanks and dots at the end and keeps short names such as `git~1`.
fn is_reserved(segment: &str) -> bool {
    let folded: String = segment.chars().filter(|&c| !is_invisible(c)).flat_map(char::to_lowercase).collect();
    let folded = folded.trim_end_matches([' ', '.']);
    let short = |name: &str| {
        folded.strip_prefix(name).is_some_and(|rest| rest.starts_with('~') && rest[1..].bytes().all(|b| b.is_ascii_digit()))
    };
    matches!(folded, ".git" | ".deckle") || short("git") || short("deckle")
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{00AD}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_keys_are_keys() {
        for key in
            ["a", "guides/quick-start", "Журнал/2026-12-01", "a b/c (d)", ".hidden/x", "v1.2", "git", "deckle", ".github/readme"]
        {
            assert_eq!(DocKey::parse(key).map(|key| key.to_string()), Ok(key.to_owned()));
        }
        let key = DocKey::parse("a/b/c").unwrap();
        assert_eq!((key.name(), key.folder()), ("c", Some("a/b")));
    }

    #[test]
    fn hostile_keys_are_refused() {
        use KeyFault::*;
        let long = "x".repeat(251);
        let cases = [
            ("", Empty),
            ("/a", EmptySegment),
            ("a//b", EmptySegment),
            ("a/", EmptySegment),
            ("..", Traversal),
            ("a/../b", Traversal),
            ("./a", Traversal),
            ("a\\b", Character('\\')),
            ("c:a", Character(':')),
            ("a\0b", Character('\0')),
            ("a\nb", Character('\n')),
            ("a\u{202E}b", Character('\u{202E}')),
            (".git/config", Reserved),
            (".GIT/hooks/x", Reserved),
            (".g\u{200C}it/x", Reserved),
            (".git. ./x", Reserved),
            ("git~1/x", Reserved),
            (".deckle/store", Reserved),
            ("a /b", Edge),
            (" a", Edge),
            ("a.", Edge),
            ("a/...", Edge),
            (&long, Long),
        ];
        for (key, reason) in cases {
            assert_eq!(DocKey::parse(key).map_err(|error| error.reason), Err(reason), "{key:?}");
        }
        assert_eq!(DocKey::parse(&"a/".repeat(300)).map_err(|error| error.reason), Err(Long));
    }

    #[test]
    fn an_error_never_garbles_the_terminal() {
        let error = DocKey::parse("\u{1b}[31mred").unwrap_err();
        assert!(!error.to_string().contains('\u{1b}'));
        assert!(Diag::from(&error).to_string().starts_with("error[bad-key]: "));
    }
}
