//! Files and keys: which file is which document.
//!
//! A document's key is its path without the ending: `guides/start.md` is `guides/start`. The endings are `.md`, `.markdown` and
//! `.mdx`, in that order: where two files would be one document, the first is it and the other is reported.

use std::collections::BTreeMap;

use deckle_doc::{DocKey, KeyError};

/// The endings of documents, the preferred first.
pub const ENDINGS: [&str; 3] = [".md", ".markdown", ".mdx"];

/// The names of documents that stand for their folder, the preferred first; compared without case.
pub const INDEX_NAMES: [&str; 3] = ["index", "_index", "readme"];

/// Returns the ending of a document's path as it is written, `.MD` too; nothing when it is no document.
#[must_use]
pub fn ending(path: &str) -> Option<&str> {
    ENDINGS.iter().find_map(|ending| {
        let at = path.len().checked_sub(ending.len()).filter(|at| *at > 0)?;
        let tail = path.get(at..)?;
        let name_before = !path[..at].ends_with('/');
        (name_before && tail.eq_ignore_ascii_case(ending)).then_some(tail)
    })
}

/// Returns the key of a file; nothing when its ending is not one of a document.
///
/// # Errors
/// When the path is one of a document but no key: the error says why.
pub fn key_of(path: &str) -> Option<Result<DocKey, KeyError>> {
    let ending = ending(path)?;
    path.strip_suffix(ending).map(DocKey::parse)
}

/// Returns the path at which a document of this key is written first.
#[must_use]
pub fn path_of(key: &DocKey) -> String {
    format!("{key}{}", ENDINGS[0])
}

/// Whether the document stands for its folder, as `guides/index` does for `guides/`.
#[must_use]
pub fn is_index(key: &DocKey) -> bool {
    INDEX_NAMES.iter().any(|name| key.name().eq_ignore_ascii_case(name))
}

/// The documents that a list of files is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assignment {
    /// The file of each document.
    pub documents: BTreeMap<DocKey, String>,
    /// What needs a person's eye.
    pub collisions: Vec<Collision>,
    /// Files that end as documents do and can't be one.
    pub refused: Vec<KeyError>,
}

/// Two files or keys that get into each other's way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Collision {
    /// `a.md` and `a.mdx`: one key, and only the first file is the document.
    SameKey {
        /// The key.
        key: DocKey,
        /// The file that is the document.
        kept: String,
        /// The file that is not.
        shadowed: String,
    },
    /// `a.md` and `A.md`: two documents here, one on a file system that ignores case.
    SameButCase {
        /// One key.
        first: DocKey,
        /// The other.
        second: DocKey,
    },
}

/// Sorts files into documents and what stands in the way. Files with other endings are left out.
#[must_use]
pub fn assign<'p>(paths: impl IntoIterator<Item = &'p str>) -> Assignment {
    let mut out = Assignment::default();
    let mut paths: Vec<&str> = paths.into_iter().collect();
    paths.sort_unstable();
    for path in paths {
        let key = match key_of(path) {
            None => continue,
            Some(Err(error)) => {
                out.refused.push(error);
                continue;
            }
            Some(Ok(key)) => key,
        };
        let rank = |path: &str| ENDINGS.iter().position(|ending| path.to_ascii_lowercase().ends_with(ending));
        let shadowed = match out.documents.get(&key) {
            Some(kept) if rank(kept) <= rank(path) => Some(path.to_owned()),
            _ => out.documents.insert(key.clone(), path.to_owned()),
        };
        if let (Some(shadowed), Some(kept)) = (shadowed, out.documents.get(&key)) {
            out.collisions.push(Collision::SameKey { kept: kept.clone(), key, shadowed });
        }
    }
    let mut folded: BTreeMap<String, &DocKey> = BTreeMap::new();
    for key in out.documents.keys() {
        match folded.get(&key.as_str().to_lowercase()) {
            Some(first) => {
                out.collisions.push(Collision::SameButCase { first: (*first).clone(), second: key.clone() });
            }
            None => {
                folded.insert(key.as_str().to_lowercase(), key);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_become_keys() {
        let key = |path: &str| key_of(path).map(|key| key.map(|key| key.to_string()).map_err(|error| error.reason.to_string()));
        assert_eq!(key("guides/start.md"), Some(Ok("guides/start".into())));
        assert_eq!(key("A.MDX"), Some(Ok("A".into())));
        assert_eq!(key("v1.2.markdown"), Some(Ok("v1.2".into())));
        assert_eq!(key("a/.md"), None);
        assert_eq!(key(".md"), None);
        assert_eq!(key("a.png"), None);
        assert!(matches!(key("../a.md"), Some(Err(_))));
    }

    #[test]
    fn collisions_are_reported_whatever_the_order() {
        for paths in [["a.mdx", "a.md", "A.md", "b.md"], ["b.md", "A.md", "a.md", "a.mdx"]] {
            let found = assign(paths);
            let documents: Vec<&str> = found.documents.values().map(String::as_str).collect();
            assert_eq!(documents, ["A.md", "a.md", "b.md"]);
            let a = DocKey::parse("a").unwrap();
            assert_eq!(
                found.collisions,
                [
                    Collision::SameKey { key: a.clone(), kept: "a.md".into(), shadowed: "a.mdx".into() },
                    Collision::SameButCase { first: DocKey::parse("A").unwrap(), second: a },
                ]
            );
        }
    }
}
