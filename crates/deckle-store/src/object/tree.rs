//! Trees: the entries of one folder, in git's order and encoding.

use super::{ObjectId, ObjectKind, RawObject};
use crate::error::StoreError;

/// What an entry of a tree is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntryMode {
    /// A file.
    File,
    /// A file that may be run.
    Executable,
    /// A symbolic link; its blob is the target.
    Link,
    /// A folder.
    Folder,
    /// A git submodule: a commit of another repository.
    Module,
}

impl EntryMode {
    /// Returns git's octal digits.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::File => "100644",
            Self::Executable => "100755",
            Self::Link => "120000",
            Self::Folder => "40000",
            Self::Module => "160000",
        }
    }

    fn parse(digits: &[u8]) -> Option<Self> {
        match digits {
            // Git itself once wrote group-writable files; it reads them as plain ones.
            b"100644" | b"100664" => Some(Self::File),
            b"100755" => Some(Self::Executable),
            b"120000" => Some(Self::Link),
            b"40000" => Some(Self::Folder),
            b"160000" => Some(Self::Module),
            _ => None,
        }
    }
}

/// One name in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeEntry {
    /// The name, without a slash.
    pub name: Box<str>,
    /// What stands there.
    pub mode: EntryMode,
    /// Its object.
    pub id: ObjectId,
}

impl TreeEntry {
    /// Git sorts a folder as if its name ended in a slash.
    fn sort_key(&self) -> impl Iterator<Item = u8> + '_ {
        let slash = (self.mode == EntryMode::Folder).then_some(b'/');
        self.name.bytes().chain(slash)
    }
}

/// The entries of one folder, always in git's order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeObject {
    entries: Vec<TreeEntry>,
}

impl TreeObject {
    /// Sorts the entries; of two with one name the last stays.
    pub fn new(entries: Vec<TreeEntry>) -> Self {
        let mut tree = Self::default();
        let mut entries = entries;
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        for entry in entries {
            match tree.entries.last_mut() {
                Some(last) if last.name == entry.name => *last = entry,
                _ => tree.entries.push(entry),
            }
        }
        tree.entries.sort_by(|a, b| a.sort_key().cmp(b.sort_key()));
        tree
    }

    /// Returns the entries in git's order.
    pub fn entries(&self) -> &[TreeEntry] {
        &self.entries
    }

    /// Returns the entry with this name.
    pub fn entry(&self, name: &str) -> Option<&TreeEntry> {
        self.entries.iter().find(|entry| &*entry.name == name)
    }

    /// Encodes the tree.
    pub fn to_raw(&self) -> RawObject {
        let mut data = Vec::with_capacity(self.entries.len() * 48);
        for entry in &self.entries {
            data.extend_from_slice(entry.mode.as_str().as_bytes());
            data.push(b' ');
            data.extend_from_slice(entry.name.as_bytes());
            data.push(0);
            data.extend_from_slice(entry.id.as_bytes());
        }
        RawObject::new(ObjectKind::Tree, data)
    }

    /// Decodes a tree.
    ///
    /// # Errors
    /// When the bytes are not a tree, or a name in it is one that git's own checks refuse (`..`, `.git`, a slash).
    pub fn parse(id: ObjectId, data: &[u8]) -> Result<Self, StoreError> {
        let corrupt = |why: &str| StoreError::Corrupt { what: format!("tree {id}"), finding: why.to_owned() };
        let mut entries: Vec<TreeEntry> = Vec::new();
        let mut rest = data;
        while !rest.is_empty() {
            let space = rest.iter().position(|byte| *byte == b' ').ok_or_else(|| corrupt("an entry has no mode"))?;
            let (digits, tail) = rest.split_at(space);
            let mode = EntryMode::parse(digits).ok_or_else(|| corrupt("an entry has an unknown mode"))?;
            let tail = tail.get(1..).unwrap_or_default();
            let nul = tail.iter().position(|byte| *byte == 0).ok_or_else(|| corrupt("an entry has no end"))?;
            let (name, tail) = tail.split_at(nul);
            let name = std::str::from_utf8(name).map_err(|_| corrupt("a name is not UTF-8"))?;
            if !is_safe_name(name) {
                return Err(corrupt("a name would leave the folder or hide in it"));
            }
            let bytes: [u8; 20] =
                tail.get(1..21).and_then(|bytes| bytes.try_into().ok()).ok_or_else(|| corrupt("an entry has no id"))?;
            let entry = TreeEntry { name: name.into(), mode, id: ObjectId::from_bytes(bytes) };
            if entries.last().is_some_and(|last| last.sort_key().cmp(entry.sort_key()).is_ge()) {
                return Err(corrupt("its names are not in order"));
            }
            entries.push(entry);
            rest = tail.get(21..).unwrap_or_default();
        }
        Ok(Self { entries })
    }
}

/// Whether git's own checks would let a name stand in a tree.
pub(crate) fn is_safe_name(name: &str) -> bool {
    !name.is_empty() && name != "." && name != ".." && !name.eq_ignore_ascii_case(".git") && !name.contains(['/', '\\', '\0'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, mode: EntryMode) -> TreeEntry {
        TreeEntry { name: name.into(), mode, id: ObjectId::of(ObjectKind::Blob, name.as_bytes()) }
    }

    #[test]
    fn folders_sort_as_if_they_ended_in_a_slash() {
        let tree = TreeObject::new(vec![
            entry("a", EntryMode::Folder),
            entry("a.md", EntryMode::File),
            entry("a-b", EntryMode::File),
            entry("a0", EntryMode::Executable),
        ]);
        let names: Vec<&str> = tree.entries().iter().map(|entry| &*entry.name).collect();
        assert_eq!(names, ["a-b", "a.md", "a", "a0"]);
        let raw = tree.to_raw();
        assert_eq!(TreeObject::parse(raw.id(), raw.data()).unwrap(), tree);
    }

    #[test]
    fn hostile_names_are_corruption() {
        for name in ["..", ".", ".git", ".GIT", "a/b", "a\\b", ""] {
            let mut data = b"100644 ".to_vec();
            data.extend_from_slice(name.as_bytes());
            data.push(0);
            data.extend_from_slice(&[7; 20]);
            assert!(TreeObject::parse(ObjectId::EMPTY_TREE, &data).is_err(), "{name:?}");
        }
    }

    #[test]
    fn damage_is_an_error_and_no_panic() {
        let raw = TreeObject::new(vec![entry("a.md", EntryMode::File), entry("b", EntryMode::Folder)]).to_raw();
        for cut in 1..raw.data().len() {
            let cut = &raw.data()[..cut];
            if let Ok(tree) = TreeObject::parse(raw.id(), cut) {
                assert_eq!(tree.to_raw().data(), cut);
            }
        }
    }
}
