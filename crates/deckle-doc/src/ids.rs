//! Block ids: derived from a block's own bytes when a document is seen for the first time, carried from then on.

use std::collections::{HashMap, HashSet};

use sha2::{Digest, Sha256};

use crate::{Block, BlockIndex, Tree};

/// The ids of all blocks of one tree, in preorder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ids {
    names: Vec<Box<str>>,
}

/// How many hex digits of the digest an id shows.
const DIGITS: usize = 8;

impl Ids {
    /// Returns the ids that the text itself gives: the same text, the same ids, in any process.
    #[must_use]
    pub fn derive(tree: &Tree) -> Ids {
        let mut taken = HashSet::new();
        let names = tree.blocks().map(|block| fresh(block, &mut taken)).collect();
        Ids { names }
    }

    /// Returns the ids of a new version of a document: a block that is still there keeps its id.
    #[must_use]
    pub fn carry(old: &Tree, ids: &Ids, new: &Tree) -> Ids {
        let before: Vec<Block<'_>> = old.blocks().collect();
        let after: Vec<Block<'_>> = new.blocks().collect();
        let mut from: Vec<Option<usize>> = vec![None; after.len()];
        let mut used = vec![false; before.len()];
        let mut pair = |from: &mut Vec<Option<usize>>, new: usize, old: usize| {
            if let (Some(slot @ None), Some(used @ false)) = (from.get_mut(new), used.get_mut(old)) {
                (*slot, *used) = (Some(old), true);
            }
        };
        // What did not change, in order.
        let keys = |blocks: &[Block<'_>]| blocks.iter().map(|block| digest(*block)).collect::<Vec<_>>();
        let (old_keys, new_keys) = (keys(&before), keys(&after));
        for op in similar::capture_diff_slices(similar::Algorithm::Myers, &old_keys, &new_keys) {
            if let similar::DiffOp::Equal { old_index, new_index, len } = op {
                (0..len).for_each(|at| pair(&mut from, new_index + at, old_index + at));
            }
        }
        // What moved as it was.
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, key) in old_keys.iter().enumerate().rev() {
            places.entry(key).or_default().push(at);
        }
        for (at, key) in new_keys.iter().enumerate() {
            if from.get(at) == Some(&None)
                && let Some(place) = places.get_mut(key.as_str()).and_then(Vec::pop)
            {
                pair(&mut from, at, place);
            }
        }
        // What changed its text: the next of its kind between two neighbours that are known.
        let mut next = 0;
        for at in 0..after.len() {
            if let Some(Some(old)) = from.get(at) {
                next = old + 1;
                continue;
            }
            let kind = after.get(at).map(|block| std::mem::discriminant(&block.kind()));
            let end = from.iter().skip(at).flatten().copied().find(|old| *old >= next).unwrap_or(before.len());
            let found = (next..end).find(|old| before.get(*old).map(|block| std::mem::discriminant(&block.kind())) == kind);
            if let Some(old) = found {
                pair(&mut from, at, old);
                next = old + 1;
            }
        }
        let mut taken: HashSet<Box<str>> = from.iter().flatten().filter_map(|old| ids.names.get(*old).cloned()).collect();
        let names = after
            .iter()
            .zip(&from)
            .map(|(block, from)| match from.and_then(|old| ids.names.get(old).cloned()) {
                Some(name) => name,
                None => fresh(*block, &mut taken),
            })
            .collect();
        Ids { names }
    }

    /// Gives a tree ids that were kept; nothing when their count differs or two are equal.
    #[must_use]
    pub fn from_names(tree: &Tree, names: &[String]) -> Option<Ids> {
        let distinct: HashSet<&String> = names.iter().collect();
        (names.len() == tree.blocks().len() && distinct.len() == names.len())
            .then(|| Ids { names: names.iter().map(|name| name.as_str().into()).collect() })
    }

    /// Returns the ids in preorder, without the root.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| &**name)
    }

    /// Returns the id of a block; nothing for the root.
    #[must_use]
    pub fn id(&self, index: BlockIndex) -> Option<&str> {
        (index.0 as usize).checked_sub(1).and_then(|at| self.names.get(at)).map(|name| &**name)
    }

    /// Returns the block with an id.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<BlockIndex> {
        let at = self.names.iter().position(|name| &**name == id)?;
        u32::try_from(at + 1).ok().map(BlockIndex)
    }
}

fn digest(block: Block<'_>) -> String {
    let mut sha = Sha256::new();
    sha.update(format!("{:?}", std::mem::discriminant(&block.kind())).as_bytes());
    sha.update(block.text().as_bytes());
    sha.finalize().iter().take(DIGITS / 2).map(|byte| format!("{byte:02x}")).collect()
}

fn fresh(block: Block<'_>, taken: &mut HashSet<Box<str>>) -> Box<str> {
    let base = digest(block);
    let mut name: Box<str> = base.as_str().into();
    let mut ordinal = 2;
    while !taken.insert(name.clone()) {
        name = format!("{base}-{ordinal}").into();
        ordinal += 1;
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dialect;

    fn tree(text: &str) -> Tree {
        Tree::parse(text, Dialect::Generic).unwrap()
    }

    #[test]
    fn an_edit_keeps_the_ids_of_the_rest_and_of_itself() {
        let old = tree("# A\n\nOne.\n\nTwo.\n");
        let ids = Ids::derive(&old);
        let new = tree("# A\n\nNew.\n\nOne!\n\nTwo.\n");
        let carried: Vec<String> = Ids::carry(&old, &ids, &new).names().map(str::to_owned).collect();
        let before: Vec<&str> = ids.names().collect();
        assert_eq!(carried.len(), 4);
        assert_eq!((carried[0].as_str(), carried[3].as_str()), (before[0], before[2]));
        assert!(carried[1] == before[1] || carried[2] == before[1]);
    }
}
