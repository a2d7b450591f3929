//! Which block of a new version is which block of the old one.
//!
//! A match of two ordered trees in the manner of GumTree (Falleri et al., *Fine-grained and Accurate Source Code Differencing*, ASE 2014):
//! first what is equal, in order and then wherever it moved; then containers by what they hold; then leaves by their words; last, what
//! stands alone at the same place. Each block has at most one partner, of the same kind.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::mem::{Discriminant, discriminant};

use crate::{Block, Kind, Tree};

/// The share of words, from 0 to 1, that two leaves between the same neighbours have in common to be one.
const NEAR: f64 = 0.3;
/// The same for leaves anywhere in the document.
const FAR: f64 = 0.5;
/// The share of matched leaves that two containers have in common to be one.
const HOLDS: f64 = 0.3;
/// About so many old leaves are compared with a new one, so that the time stays near linear in the document.
const CANDIDATES: usize = 64;
/// Between two anchors, blocks are compared in order when no more pairs than this are possible.
const MOST_COMPARED: usize = 250_000;

/// Returns for each block of `new`, in preorder, the place of its partner in `old`.
pub(super) fn partners(old: &Tree, new: &Tree) -> Vec<Option<usize>> {
    let (old, new) = (Side::of(old), Side::of(new));
    let mut pairs = Pairs { to_old: vec![None; new.blocks.len()], to_new: vec![None; old.blocks.len()] };
    equal_in_order(&old, &new, &mut pairs);
    equal_anywhere(&old, &new, &mut pairs);
    by_leaves(&old, &new, &mut pairs);
    by_words(&old, &new, &mut pairs);
    // A container whose leaves were matched by their words is known by them.
    by_leaves(&old, &new, &mut pairs);
    alone_in_place(&old, &new, &mut pairs);
    pairs.to_old
}

/// One version: its blocks in preorder, and what is compared of each.
struct Side<'t> {
    blocks: Vec<Block<'t>>,
    kinds: Vec<Discriminant<Kind>>,
    /// Of kind and text.
    digests: Vec<u64>,
    /// The place of the block that holds it.
    parents: Vec<Option<usize>>,
    leaf: Vec<bool>,
}

impl<'t> Side<'t> {
    fn of(tree: &'t Tree) -> Self {
        let blocks: Vec<Block<'t>> = tree.blocks().collect();
        let kinds: Vec<_> = blocks.iter().map(|block| discriminant(&block.kind())).collect();
        let digests = blocks.iter().zip(&kinds).map(|(block, kind)| digest(kind, block.text())).collect();
        let parents =
            blocks.iter().map(|block| block.parent().and_then(|parent| (parent.index().0 as usize).checked_sub(1))).collect();
        let leaf = blocks.iter().map(|block| block.first_child().is_none()).collect();
        Self { blocks, kinds, digests, parents, leaf }
    }

    /// The containers of a block, the innermost first.
    fn above(&self, at: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.parents[at], |at| self.parents[*at])
    }

    /// How many leaves each block holds.
    fn leaves(&self) -> Vec<usize> {
        let mut counts = vec![0; self.blocks.len()];
        for at in (0..self.blocks.len()).filter(|at| self.leaf[*at]) {
            self.above(at).for_each(|above| counts[above] += 1);
        }
        counts
    }
}

fn digest(kind: &Discriminant<Kind>, text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    kind.hash(&mut hasher);
    text.trim_end().hash(&mut hasher);
    hasher.finish()
}

struct Pairs {
    to_old: Vec<Option<usize>>,
    to_new: Vec<Option<usize>>,
}

impl Pairs {
    fn are_free(&self, old: usize, new: usize) -> bool {
        self.to_new.get(old) == Some(&None) && self.to_old.get(new) == Some(&None)
    }

    fn join(&mut self, old: usize, new: usize) {
        if self.are_free(old, new) {
            self.to_new[old] = Some(new);
            self.to_old[new] = Some(old);
        }
    }
}

/// What did not change, in order. Containers are equal when all in them is, so whole subtrees pair.
///
/// Blocks that stand once on both sides anchor the rest (patience diff, Bram Cohen), so that the time stays near linear however much
/// changed; only what lies between two anchors is compared in full.
fn equal_in_order(old: &Side<'_>, new: &Side<'_>, pairs: &mut Pairs) {
    let mut anchors = increasing(&unique(&old.digests, &new.digests));
    anchors.push((old.digests.len(), new.digests.len()));
    let (mut from, mut at) = (0, 0);
    for (old_anchor, new_anchor) in anchors {
        let (left, came) = (&old.digests[from..old_anchor], &new.digests[at..new_anchor]);
        if left.len().saturating_mul(came.len()) <= MOST_COMPARED {
            for op in similar::capture_diff_slices(similar::Algorithm::Myers, left, came) {
                if let similar::DiffOp::Equal { old_index, new_index, len } = op {
                    (0..len).for_each(|step| pairs.join(from + old_index + step, at + new_index + step));
                }
            }
        }
        pairs.join(old_anchor, new_anchor);
        (from, at) = (old_anchor + 1, new_anchor + 1);
    }
}

/// The places of digests that stand exactly once on both sides, in the order of the new one.
fn unique(old: &[u64], new: &[u64]) -> Vec<(usize, usize)> {
    let places = |digests: &[u64]| {
        let mut places: HashMap<u64, Option<usize>> = HashMap::new();
        for (at, digest) in digests.iter().enumerate() {
            places.entry(*digest).and_modify(|place| *place = None).or_insert(Some(at));
        }
        places
    };
    let (there, here) = (places(old), places(new));
    let once = |digest: &u64| Some((there.get(digest).copied()??, here.get(digest).copied()??));
    new.iter().filter_map(once).collect()
}

/// The longest part of the pairs whose old places increase too.
fn increasing(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For each length, the pair that ends the best sequence of it; and before each pair, the one it follows.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (at, (old, _)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].0 < *old);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        if length == ends.len() { ends.push(at) } else { ends[length] = at }
    }
    let mut found: Vec<(usize, usize)> =
        std::iter::successors(ends.last().copied(), |at| before[*at]).map(|at| pairs[at]).collect();
    found.reverse();
    found
}

/// What moved as it was: the first free block with the same text.
fn equal_anywhere(old: &Side<'_>, new: &Side<'_>, pairs: &mut Pairs) {
    let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
    for at in (0..old.blocks.len()).rev().filter(|at| pairs.to_new[*at].is_none()) {
        places.entry(old.digests[at]).or_default().push(at);
    }
    for at in 0..new.blocks.len() {
        if pairs.to_old[at].is_none()
            && let Some(place) = places.get_mut(&new.digests[at]).and_then(Vec::pop)
        {
            pairs.join(place, at);
        }
    }
}

/// Containers by the leaves that both hold, the closest pairs first: of a list and a list in it, each finds its own.
fn by_leaves(old: &Side<'_>, new: &Side<'_>, pairs: &mut Pairs) {
    let mut shared: HashMap<(usize, usize), usize> = HashMap::new();
    for at in (0..new.blocks.len()).filter(|at| new.leaf[*at]) {
        let Some(from) = pairs.to_old[at] else { continue };
        for here in new.above(at).filter(|here| pairs.to_old[*here].is_none()) {
            for there in old.above(from).filter(|there| pairs.to_new[*there].is_none() && old.kinds[*there] == new.kinds[here]) {
                *shared.entry((there, here)).or_default() += 1;
            }
        }
    }
    let (left, came) = (old.leaves(), new.leaves());
    let mut scored: Vec<(f64, usize, usize, usize)> = shared
        .into_iter()
        .map(|((there, here), count)| {
            let apart = old.blocks[there].depth().abs_diff(new.blocks[here].depth());
            (dice(count, left[there], came[here]), apart, there, here)
        })
        .filter(|(score, ..)| *score >= HOLDS)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.3, a.2).cmp(&(b.1, b.3, b.2))));
    for (_, _, there, here) in scored {
        pairs.join(there, here);
    }
}

/// Leaves by the words that they share: between the same neighbours first, then anywhere.
fn by_words(old: &Side<'_>, new: &Side<'_>, pairs: &mut Pairs) {
    let free = |side: &Side<'_>, known: &[Option<usize>]| -> Vec<usize> {
        (0..known.len()).filter(|at| known[*at].is_none() && side.leaf[*at]).collect()
    };
    let (left, came) = (free(old, &pairs.to_new), free(new, &pairs.to_old));
    if left.is_empty() || came.is_empty() {
        return;
    }
    let words: HashMap<usize, Vec<u64>> = left.iter().map(|at| (*at, words(old.blocks[*at].text()))).collect();
    let mut index: HashMap<u64, Vec<usize>> = HashMap::new();
    for at in &left {
        for word in &words[at] {
            index.entry(*word).or_default().push(*at);
        }
    }
    let gaps = gaps(&pairs.to_old, old.blocks.len());
    let mut scored: Vec<(f64, bool, usize, usize)> = Vec::new();
    for at in came {
        let mine = self::words(new.blocks[at].text());
        let gap = &gaps[at];
        // Those around the same place between the neighbours, and those that share a word which few others have.
        let around = left.partition_point(|from| *from < gap.low + gap.step).saturating_sub(CANDIDATES / 2);
        let mut candidates: Vec<usize> =
            left[around..].iter().take(CANDIDATES).copied().filter(|from| (gap.low..gap.high).contains(from)).collect();
        let rare = mine.iter().filter_map(|word| index.get(word)).filter(|posts| posts.len() <= CANDIDATES);
        candidates.extend(rare.flatten().take(CANDIDATES * 4));
        candidates.sort_unstable();
        candidates.dedup();
        for from in candidates.into_iter().filter(|from| old.kinds[*from] == new.kinds[at]) {
            let theirs = &words[&from];
            let near = (gap.low..gap.high).contains(&from);
            let score = dice(common(&mine, theirs), mine.len(), theirs.len());
            if score >= if near { NEAR } else { FAR } {
                scored.push((score, near, from, at));
            }
        }
    }
    scored.sort_by(|a, b| {
        (b.1, b.0).partial_cmp(&(a.1, a.0)).unwrap_or(std::cmp::Ordering::Equal).then((a.3, a.2).cmp(&(b.3, b.2)))
    });
    for (_, _, from, at) in scored {
        pairs.join(from, at);
    }
}

/// What has no word in common with anything, and is the only one of its kind between the same neighbours: rewritten in place.
fn alone_in_place(old: &Side<'_>, new: &Side<'_>, pairs: &mut Pairs) {
    let gaps = gaps(&pairs.to_old, old.blocks.len());
    let mut at = 0;
    while at < new.blocks.len() {
        if pairs.to_old[at].is_some() {
            at += 1;
            continue;
        }
        let end = (at..new.blocks.len()).find(|next| pairs.to_old[*next].is_some()).unwrap_or(new.blocks.len());
        // Of each kind: the blocks that came, and those that were left, between these neighbours.
        let mut kinds: HashMap<Discriminant<Kind>, (Vec<usize>, Vec<usize>)> = HashMap::new();
        (at..end).for_each(|came| kinds.entry(new.kinds[came]).or_default().0.push(came));
        for from in (gaps[at].low..gaps[at].high).filter(|from| pairs.to_new[*from].is_none()) {
            kinds.entry(old.kinds[from]).or_default().1.push(from);
        }
        for (came, left) in kinds.values() {
            if let ([came], [from]) = (came.as_slice(), left.as_slice()) {
                pairs.join(*from, *came);
            }
        }
        at = end;
    }
}

/// The old places between the partners of a block's nearest matched neighbours; none where those crossed.
#[derive(Clone, Copy)]
struct Gap {
    low: usize,
    high: usize,
    /// How many blocks after the matched neighbour before it the block stands.
    step: usize,
}

/// The gap of each new block.
fn gaps(to_old: &[Option<usize>], count: usize) -> Vec<Gap> {
    let mut gaps = vec![Gap { low: 0, high: count, step: 0 }; to_old.len()];
    let (mut low, mut step) = (0, 0);
    for (gap, partner) in gaps.iter_mut().zip(to_old) {
        (gap.low, gap.step) = (low, step);
        (low, step) = partner.map_or((low, step + 1), |partner| (partner + 1, 0));
    }
    let mut high = count;
    for (gap, partner) in gaps.iter_mut().zip(to_old).rev() {
        high = partner.unwrap_or(high);
        gap.high = high.max(gap.low);
    }
    gaps
}

/// How many members two sorted lists have in common.
fn common(one: &[u64], other: &[u64]) -> usize {
    let (mut at, mut count) = (0, 0);
    for word in one {
        at += other[at..].partition_point(|other| other < word);
        count += usize::from(other.get(at) == Some(word));
    }
    count
}

/// Dice's coefficient of two sets with so many members in common.
fn dice(shared: usize, one: usize, other: usize) -> f64 {
    if one + other == 0 { 0.0 } else { 2.0 * shared as f64 / (one + other) as f64 }
}

/// The distinct words of a text, as numbers.
fn words(text: &str) -> Vec<u64> {
    let mut found: Vec<u64> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(|word| {
            let mut hasher = DefaultHasher::new();
            word.hash(&mut hasher);
            hasher.finish()
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}
