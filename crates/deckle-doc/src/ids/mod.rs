//! Block ids: derived from a block's own bytes when a document is seen for the first time, carried from then on.

mod matching;

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
        let mut fresh = Fresh::default();
        let names = tree.blocks().map(|block| fresh.name(block)).collect();
        Ids { names }
    }

    /// Returns the ids of a new version of a document: a block that is still there keeps its id, also when it moved, changed some of its
    /// words, or is nested elsewhere.
    #[must_use]
    pub fn carry(old: &Tree, ids: &Ids, new: &Tree) -> Ids {
        let partners = matching::partners(old, new);
        let name_of = |partner: &Option<usize>| partner.and_then(|old| ids.names.get(old).cloned());
        let mut fresh = Fresh { taken: partners.iter().filter_map(name_of).collect(), ..Fresh::default() };
        let names =
            new.blocks().zip(&partners).map(|(block, partner)| name_of(partner).unwrap_or_else(|| fresh.name(block))).collect();
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

/// Names blocks that had no name: a digest of kind and text, and from the second equal block on a number.
#[derive(Default)]
struct Fresh {
    taken: HashSet<Box<str>>,
    /// The number that the next block with a digest tries first.
    next: HashMap<Box<str>, u32>,
}

impl Fresh {
    fn name(&mut self, block: Block<'_>) -> Box<str> {
        let base = digest(block);
        if !self.taken.contains(&base) {
            self.taken.insert(base.clone());
            return base;
        }
        let mut name = base.clone();
        while !self.taken.insert(name.clone()) {
            let ordinal = self.next.entry(base.clone()).or_insert(2);
            name = format!("{base}-{ordinal}").into();
            *ordinal += 1;
        }
        name
    }
}

fn digest(block: Block<'_>) -> Box<str> {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut sha = Sha256::new();
    sha.update(format!("{:?}", std::mem::discriminant(&block.kind())).as_bytes());
    sha.update(block.text().as_bytes());
    let mut name = String::with_capacity(DIGITS);
    for byte in sha.finalize().iter().take(DIGITS / 2) {
        name.push(char::from(HEX[usize::from(byte >> 4)]));
        name.push(char::from(HEX[usize::from(byte & 15)]));
    }
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dialect;

    fn tree(text: &str) -> Tree {
        Tree::parse(text, Dialect::Generic).unwrap()
    }

    /// For each block of the new text, the place of the old block whose id it has.
    fn carried(old: &str, new: &str) -> Vec<Option<usize>> {
        let (old, new) = (tree(old), tree(new));
        let ids = Ids::derive(&old);
        let before: Vec<&str> = ids.names().collect();
        let carried = Ids::carry(&old, &ids, &new);
        let distinct: HashSet<&str> = carried.names().collect();
        assert_eq!(distinct.len(), new.len());
        let places: HashMap<&str, usize> = before.iter().enumerate().map(|(at, name)| (*name, at)).collect();
        carried.names().map(|name| places.get(name).copied()).collect()
    }

    #[test]
    fn an_edit_keeps_the_ids_of_the_rest_and_of_itself() {
        assert_eq!(carried("# A\n\nOne.\n\nTwo.\n", "# A\n\nNew.\n\nOne!\n\nTwo.\n"), [Some(0), None, Some(1), Some(2)]);
    }

    #[test]
    fn a_block_that_moves_keeps_its_id() {
        assert_eq!(carried("# A\n\nOne.\n\n# B\n\nTwo.\n", "# B\n\nTwo.\n\n# A\n\nOne.\n"), [Some(2), Some(3), Some(0), Some(1)]);
        assert_eq!(
            carried("Some words of one.\n\n> quoted\n", "> Some words of one.\n>\n> quoted\n"),
            [Some(1), Some(0), Some(2)]
        );
    }

    #[test]
    fn the_larger_part_of_a_split_keeps_the_id() {
        assert_eq!(
            carried(
                "# A\n\nRed green blue yellow black. White grey.\n\nEnd.\n",
                "# A\n\nRed green blue yellow black.\n\nWhite grey.\n\nEnd.\n"
            ),
            [Some(0), Some(1), None, Some(2)]
        );
    }

    #[test]
    fn a_block_rewritten_in_place_keeps_its_id() {
        assert_eq!(
            carried("# A\n\nOld words.\n\n- x\n", "# A\n\nQuite different.\n\n- x\n"),
            [Some(0), Some(1), Some(2), Some(3), Some(4)]
        );
    }

    #[test]
    fn a_list_whose_items_change_is_the_same_list() {
        assert_eq!(
            carried("- red apple\n- green pear\n- plum\n", "- green pear\n- red apple pie\n- plum\n- cherry\n").first(),
            Some(&Some(0))
        );
    }

    #[test]
    fn an_item_that_moves_into_another_keeps_its_id_and_so_does_the_list() {
        // List, item, paragraph, item, paragraph; then list, item, paragraph, and in it list, item, paragraph.
        assert_eq!(
            carried("- one item\n- two items\n", "- one item\n  - two items\n"),
            [Some(0), Some(1), Some(2), None, Some(3), Some(4)]
        );
    }

    #[test]
    fn a_moved_and_edited_block_is_found_by_its_words() {
        let old = "# A\n\nThe pump must be primed before the first run of the day.\n\n# B\n\nOther text stands here.\n";
        let new = "# A\n\n# B\n\nOther text stands here.\n\nThe pump must always be primed before the first run of a day.\n";
        assert_eq!(carried(old, new), [Some(0), Some(2), Some(3), Some(1)]);
    }

    #[test]
    fn large_documents_are_matched_in_near_linear_time() {
        let text = |number: &dyn Fn(usize) -> usize| {
            (0..20_000).map(|at| format!("paragraph {} of words\n\n", number(at))).collect::<String>()
        };
        let straight = text(&|at| at);
        // Turned round, all new, and every second one changed.
        for other in
            [text(&|at| 20_000 - at), text(&|at| at + 50_000), text(&|at| at + at % 2 * 90_000), "same\n\n".repeat(20_000)]
        {
            assert_eq!(carried(&straight, &other).len(), 20_000);
        }
    }

    #[test]
    fn many_equal_blocks_are_named_in_linear_time() {
        let ids = Ids::derive(&tree(&"same\n\n".repeat(100_000)));
        let distinct: HashSet<&str> = ids.names().collect();
        assert_eq!(distinct.len(), 100_000);
    }
}
