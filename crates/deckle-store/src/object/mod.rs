//! Git's object model: blobs, trees and commits with git's own ids and git's own encoding, so a branch can be handed to
//! git, or taken from it, without a byte of difference.

mod commit;
pub(crate) mod delta;
pub(crate) mod tree;

use std::fmt;
use std::str::FromStr;

use sha1::{Digest, Sha1};

pub use commit::{CommitObject, Signature};
pub use tree::{EntryMode, TreeEntry, TreeObject};

use crate::error::StoreError;

/// The id of an object: the SHA-1 of its kind, length and bytes, as git computes it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId([u8; 20]);

impl ObjectId {
    /// Git's id of the tree without entries.
    pub const EMPTY_TREE: Self = Self([
        0x4b, 0x82, 0x5d, 0xc6, 0x42, 0xcb, 0x6e, 0xb9, 0xa0, 0x60, 0xe5, 0x4b, 0xf8, 0xd6, 0x92, 0x88, 0xfb, 0xee, 0x49, 0x04,
    ]);

    /// Returns the id with these twenty bytes.
    pub fn from_bytes(bytes: [u8; 20]) -> Self {
        Self(bytes)
    }

    /// Returns the twenty bytes.
    pub fn as_bytes(&self) -> &[u8; 20] {
        &self.0
    }

    /// Returns the id of the object with this kind and these bytes.
    pub fn of(kind: ObjectKind, data: &[u8]) -> Self {
        let mut hasher = Hasher::new(kind, data.len() as u64);
        hasher.update(data);
        hasher.finish()
    }

    /// Returns the first eight hex digits, for people.
    pub fn short(&self) -> String {
        let mut text = self.to_string();
        text.truncate(8);
        text
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectId({self})")
    }
}

impl FromStr for ObjectId {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        let wrong = || StoreError::Name { what: "object id", name: text.into(), rule: "40 hexadecimal digits" };
        if text.len() != 40 || !text.is_ascii() {
            return Err(wrong());
        }
        let mut bytes = [0_u8; 20];
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[at * 2..at * 2 + 2], 16).map_err(|_| wrong())?;
        }
        Ok(Self(bytes))
    }
}

/// Computes an id from bytes that come in pieces, so a large file is never held whole.
pub struct Hasher(Sha1);

impl Hasher {
    /// Begins an object of a known kind and length.
    pub fn new(kind: ObjectKind, length: u64) -> Self {
        let mut sha = Sha1::new();
        sha.update(format!("{} {length}\0", kind.as_str()).as_bytes());
        Self(sha)
    }

    /// Takes the next piece.
    pub fn update(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    /// Returns the id.
    pub fn finish(self) -> ObjectId {
        ObjectId(self.0.finalize().into())
    }
}

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObjectKind {
    /// The bytes of a file.
    Blob,
    /// A folder.
    Tree,
    /// A state of the whole workspace, with what came before it.
    Commit,
}

impl ObjectKind {
    /// Returns git's word for the kind.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Blob => "blob",
            Self::Tree => "tree",
            Self::Commit => "commit",
        }
    }

    /// Reads git's word.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Blob, Self::Tree, Self::Commit].into_iter().find(|kind| kind.as_str() == text)
    }
}

/// An object that is ready to be stored: its bytes and the id they have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawObject {
    id: ObjectId,
    kind: ObjectKind,
    data: Vec<u8>,
}

impl RawObject {
    /// Computes the id of these bytes.
    pub fn new(kind: ObjectKind, data: Vec<u8>) -> Self {
        Self { id: ObjectId::of(kind, &data), kind, data }
    }

    /// Returns the id.
    pub fn id(&self) -> ObjectId {
        self.id
    }

    /// Returns the kind.
    pub fn kind(&self) -> ObjectKind {
        self.kind
    }

    /// Returns the bytes, without git's header.
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// Returns the bytes for keeps.
    pub fn into_data(self) -> Vec<u8> {
        self.data
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_gits() {
        assert_eq!(ObjectId::of(ObjectKind::Blob, b"").to_string(), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        assert_eq!(ObjectId::of(ObjectKind::Blob, b"hello\n").to_string(), "ce013625030ba8dba906f756967f9e9ca394464a");
        assert_eq!(ObjectId::of(ObjectKind::Tree, b""), ObjectId::EMPTY_TREE);
    }

    #[test]
    fn an_id_reads_back() {
        let id = ObjectId::of(ObjectKind::Blob, b"x");
        assert_eq!(id.to_string().parse::<ObjectId>().unwrap(), id);
        for wrong in ["", "abc", "zz013625030ba8dba906f756967f9e9ca394464a", "ée013625030ba8dba906f756967f9e9ca394464"] {
            assert!(wrong.parse::<ObjectId>().is_err(), "{wrong}");
        }
    }
}
