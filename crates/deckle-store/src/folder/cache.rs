//! What is remembered between two scans: each file's stat and id. Losing it costs time and nothing else, so it is not
//! synced; a digest at its end tells a torn one.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use super::stat::Stat;
use crate::object::{ObjectId, ObjectKind};

/// Begins the file, and names its version.
const MAGIC: &[u8; 8] = b"deckle1\n";

/// What a file held when it was last read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) stat: Stat,
    pub(crate) id: ObjectId,
    /// It is no document: not Markdown, not UTF-8 or too large.
    pub(crate) opaque: bool,
}

/// The files that were known at the last scan.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct StatCache(pub(crate) HashMap<Box<str>, Known>);

impl StatCache {
    /// Loads it; whatever is wrong with the file, the answer is an empty cache.
    pub(crate) fn load(path: &Path) -> Self {
        fs::read(path).ok().and_then(|bytes| Self::decode(&bytes)).unwrap_or_default()
    }

    /// Saves it.
    pub(crate) fn save(&self, path: &Path) -> std::io::Result<()> {
        let next = path.with_extension(format!("{}.tmp", std::process::id()));
        fs::write(&next, self.encode())?;
        fs::rename(&next, path)
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        for (path, known) in &self.0 {
            let Ok(length) = u16::try_from(path.len()) else { continue };
            out.extend(length.to_le_bytes());
            out.extend(path.as_bytes());
            out.extend(known.stat.size.to_le_bytes());
            out.extend(known.stat.modified.to_le_bytes());
            out.extend(known.stat.changed.to_le_bytes());
            out.extend(known.stat.inode.to_le_bytes());
            out.push(u8::from(known.stat.executable) | u8::from(known.opaque) << 1);
            out.extend(known.id.as_bytes());
        }
        let digest = ObjectId::of(ObjectKind::Blob, &out);
        out.extend(digest.as_bytes());
        out
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (body, digest) = bytes.split_last_chunk::<20>()?;
        if ObjectId::of(ObjectKind::Blob, body).as_bytes() != digest {
            return None;
        }
        let mut rest = body.strip_prefix(MAGIC)?;
        let mut files = HashMap::with_capacity(rest.len() / 96);
        while !rest.is_empty() {
            let length = usize::from(u16::from_le_bytes(take(&mut rest)?));
            let (path, tail) = rest.split_at_checked(length)?;
            rest = tail;
            let size = u64::from_le_bytes(take(&mut rest)?);
            let modified = i64::from_le_bytes(take(&mut rest)?);
            let changed = i64::from_le_bytes(take(&mut rest)?);
            let inode = u64::from_le_bytes(take(&mut rest)?);
            let [flags] = take(&mut rest)?;
            let id = ObjectId::from_bytes(take(&mut rest)?);
            let stat = Stat { size, modified, changed, inode, executable: flags & 1 != 0 };
            files.insert(std::str::from_utf8(path).ok()?.into(), Known { stat, id, opaque: flags & 2 != 0 });
        }
        Some(Self(files))
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = rest.split_first_chunk::<N>()?;
    *rest = tail;
    Some(*head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_back_and_damage_is_emptiness() {
        let stat = Stat { size: 3, modified: -1, changed: 9, inode: 7, executable: true };
        let known = Known { stat, id: ObjectId::EMPTY_TREE, opaque: true };
        let cache = StatCache(HashMap::from([("a/ü.md".into(), known), ("b.md".into(), Known { opaque: false, ..known })]));
        let bytes = cache.encode();
        assert_eq!(StatCache::decode(&bytes).unwrap(), cache);
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert_eq!(StatCache::decode(&damaged), None);
            assert_eq!(StatCache::decode(&bytes[..at]), None);
        }
    }
}
