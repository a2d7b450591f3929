//! Which files are documents, and what each of the others is instead.

use std::collections::{BTreeMap, BTreeSet};

use deckle_doc::DocKey;

use crate::object::{EntryMode, ObjectId};
use crate::tree_edit::FileEntry;

/// The largest document; past it a file is kept and listed, and never touched.
pub(crate) const MAX_DOCUMENT_BYTES: usize = deckle_doc::limits::MAX_DOCUMENT_BYTES;

/// Endings of documents, the preferred first: of two files with one key the first is the document.
const ENDINGS: [&str; 3] = [".md", ".markdown", ".mdx"];

/// Whether the name is one of a Markdown file.
pub(crate) fn is_markdown(path: &str) -> bool {
    ENDINGS.iter().any(|ending| path.len() > ending.len() && path.ends_with(ending))
}

/// The paths at which a document may stand, the preferred first.
pub(crate) fn paths(key: &DocKey) -> impl Iterator<Item = String> + '_ {
    ENDINGS.iter().map(move |ending| format!("{key}{ending}"))
}

/// Returns the key of a path, when it can be a document's.
pub(crate) fn key_of(path: &str) -> Option<DocKey> {
    let stem = ENDINGS.iter().find_map(|ending| path.strip_suffix(ending))?;
    DocKey::parse(stem).ok()
}

/// Why a file is no document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NotDocument {
    /// Its name does not end in `.md`, `.markdown` or `.mdx`.
    NotMarkdown,
    /// It is a link; what it points to inside the folder is a document of its own.
    Link,
    /// It is not UTF-8, or larger than a document may be.
    Opaque,
    /// Its name cannot be a key.
    Name,
    /// Another file has its key.
    Shadowed,
}

impl NotDocument {
    /// Says it to a person.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotMarkdown => "not Markdown",
            Self::Link => "a link",
            Self::Opaque => "not UTF-8 text, or over 8 MiB",
            Self::Name => "its name cannot be a key",
            Self::Shadowed => "another file has its key",
        }
    }
}

/// A file that is kept and listed, and never touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherFile {
    /// Its path.
    pub path: Box<str>,
    /// Why it is no document.
    pub why: NotDocument,
}

/// Every file of a state, sorted into documents and others.
#[derive(Debug, Default)]
pub(crate) struct Manifest {
    pub(crate) documents: BTreeMap<DocKey, FileEntry>,
    pub(crate) others: Vec<OtherFile>,
}

impl Manifest {
    pub(crate) fn new(files: Vec<FileEntry>, opaque: &BTreeSet<ObjectId>) -> Self {
        let mut manifest = Self::default();
        for file in files {
            let why = if !is_markdown(&file.path) {
                Some(NotDocument::NotMarkdown)
            } else if !matches!(file.mode, EntryMode::File | EntryMode::Executable) {
                Some(NotDocument::Link)
            } else if opaque.contains(&file.id) {
                Some(NotDocument::Opaque)
            } else {
                None
            };
            if let Some(why) = why {
                manifest.others.push(OtherFile { path: file.path, why });
                continue;
            }
            let Some(key) = key_of(&file.path) else {
                manifest.others.push(OtherFile { path: file.path, why: NotDocument::Name });
                continue;
            };
            let rank = |path: &str| ENDINGS.iter().position(|ending| path.ends_with(ending));
            let loser = match manifest.documents.get(&key) {
                Some(there) if rank(&there.path) <= rank(&file.path) => Some(file),
                _ => manifest.documents.insert(key, file),
            };
            manifest.others.extend(loser.map(|file| OtherFile { path: file.path, why: NotDocument::Shadowed }));
        }
        manifest.others.sort_by(|a, b| a.path.cmp(&b.path));
        manifest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::ObjectKind;

    #[test]
    fn each_file_is_a_document_or_has_a_reason() {
        let id = |text: &str| ObjectId::of(ObjectKind::Blob, text.as_bytes());
        let file = |path: &str, mode| FileEntry { path: path.into(), mode, id: id(path) };
        let files = vec![
            file("a.markdown", EntryMode::File),
            file("a.md", EntryMode::File),
            file("b.mdx", EntryMode::Executable),
            file("c.md", EntryMode::Link),
            file("d.md", EntryMode::File),
            file("e.png", EntryMode::File),
            file(".md", EntryMode::File),
        ];
        let manifest = Manifest::new(files, &BTreeSet::from([id("d.md")]));
        let keys: Vec<String> = manifest.documents.iter().map(|(key, file)| format!("{key} {}", file.path)).collect();
        assert_eq!(keys, ["a a.md", "b b.mdx"]);
        let others: Vec<String> = manifest.others.iter().map(|other| format!("{} {:?}", other.path, other.why)).collect();
        assert_eq!(others, [".md NotMarkdown", "a.markdown Shadowed", "c.md Link", "d.md Opaque", "e.png NotMarkdown"]);
    }
}
