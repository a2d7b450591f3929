//! Which node of one version is which node of another: by id, then by content, then by likeness among what is left.

use std::collections::HashMap;

use super::outline::{Outline, Sort};

/// How alike two blocks must be to be one block that changed.
const LIKENESS: f64 = 0.5;

/// How alike the texts of one id must be when it stands inside of another block than before.
const FAR: f64 = 0.25;

/// How many blocks are compared with one to find the most alike.
const WINDOW: usize = 12;

/// Texts past this many bytes are compared by lines, not words.
const LONG: usize = 16 * 1024;

/// Where a text stands once, before and after.
type Places = (Option<usize>, Option<usize>);

/// The pairs of two versions.
#[derive(Debug)]
pub(crate) struct Matching {
    pub(crate) to_new: Vec<Option<usize>>,
    pub(crate) to_old: Vec<Option<usize>>,
    /// Of each old node: whether it stands in matching parents, in the order of its siblings.
    pub(crate) in_order: Vec<bool>,
}

impl Matching {
    pub(crate) fn new(old: &Outline<'_>, new: &Outline<'_>) -> Self {
        let mut pairs = Matching {
            to_new: vec![None; old.nodes.len()],
            to_old: vec![None; new.nodes.len()],
            in_order: vec![false; old.nodes.len()],
        };
        // The document, and the place of its front matter.
        pairs.pair(0, 0);
        pairs.pair(1, 1);
        pairs.by_id(old, new, false);
        pairs.by_place(old, new, false);
        pairs.by_content(old, new);
        pairs.by_place(old, new, true);
        // What was written anew at its place is what was there, unless another block is more like it.
        pairs.by_id(old, new, true);
        pairs.by_place(old, new, false);
        pairs.by_place(old, new, true);
        pairs.order(old, new);
        pairs
    }

    fn pair(&mut self, old: usize, new: usize) {
        if self.to_new[old].is_none() && self.to_old[new].is_none() {
            self.to_new[old] = Some(new);
            self.to_old[new] = Some(old);
        }
    }

    /// Pairs what has one id; with `anew`, also what stands at its place in other words.
    fn by_id(&mut self, old: &Outline<'_>, new: &Outline<'_>, anew: bool) {
        let named = |node: &super::outline::Node| node.block.is_some() && !node.id.is_empty();
        let mut places: HashMap<&str, usize> = HashMap::with_capacity(old.nodes.len());
        for (at, node) in old.nodes.iter().enumerate().filter(|(_, node)| named(node)) {
            places.insert(&node.id, at);
        }
        for (at, node) in new.nodes.iter().enumerate().filter(|(_, node)| named(node)) {
            let Some(there) = places.get(node.id.as_str()).copied().filter(|there| old.nodes[*there].sort == node.sort) else {
                continue;
            };
            if self.to_new[there].is_some() || self.to_old[at].is_some() {
                continue;
            }
            // An id that stands elsewhere in other words is no help: what was there would go unseen.
            let near = anew && self.to_new[old.nodes[there].parent] == Some(node.parent);
            if near || old.text(there) == new.text(at) || likeness(old.text(there), new.text(at)) >= FAR {
                self.pair(there, at);
            }
        }
    }

    /// Pairs what is left inside of parents that are pairs, the same texts first; with `alike`, also texts that are similar.
    fn by_place(&mut self, old: &Outline<'_>, new: &Outline<'_>, alike: bool) {
        for parent in 0..old.nodes.len() {
            let Some(twin) = self.to_new[parent] else { continue };
            let a: Vec<usize> = old.children(parent).filter(|node| self.to_new[*node].is_none()).collect();
            let b: Vec<usize> = new.children(twin).filter(|node| self.to_old[*node].is_none()).collect();
            if a.is_empty() || b.is_empty() {
                continue;
            }
            if alike {
                self.alike(old, new, &a, &b);
                continue;
            }
            let texts = |outline: &Outline<'_>, nodes: &[usize]| -> Vec<(Sort, String)> {
                nodes.iter().map(|node| (outline.nodes[*node].sort, outline.text(*node).to_owned())).collect()
            };
            let (x, y) = (texts(old, &a), texts(new, &b));
            for op in similar::capture_diff_slices(similar::Algorithm::Myers, &x, &y) {
                if let similar::DiffOp::Equal { old_index, new_index, len } = op {
                    (0..len).for_each(|at| self.pair_whole(old, new, a[old_index + at], b[new_index + at]));
                }
            }
        }
    }

    /// Pairs two nodes of the same text, and all inside them.
    fn pair_whole(&mut self, old: &Outline<'_>, new: &Outline<'_>, a: usize, b: usize) {
        self.pair(a, b);
        let (inside_a, inside_b) = (old.descendants(a), new.descendants(b));
        if inside_a.len() == inside_b.len() {
            for (a, b) in inside_a.zip(inside_b) {
                if old.nodes[a].sort == new.nodes[b].sort {
                    self.pair(a, b);
                }
            }
        }
    }

    /// Pairs texts that stand once on each side, wherever they are.
    fn by_content(&mut self, old: &Outline<'_>, new: &Outline<'_>) {
        let left_old: Vec<usize> = (1..old.nodes.len()).filter(|node| self.to_new[*node].is_none()).collect();
        let left_new: Vec<usize> = (1..new.nodes.len()).filter(|node| self.to_old[*node].is_none()).collect();
        if left_old.is_empty() || left_new.is_empty() {
            return;
        }
        let mut places: HashMap<(Sort, &str), Places> = HashMap::new();
        for node in left_old {
            let slot = places.entry((old.nodes[node].sort, old.text(node))).or_insert((Some(node), None));
            if slot.0 != Some(node) {
                *slot = (None, None);
            }
        }
        let mut seen: HashMap<(Sort, &str), usize> = HashMap::new();
        for node in left_new {
            let key = (new.nodes[node].sort, new.text(node));
            *seen.entry(key).or_insert(0) += 1;
            if let Some(slot) = places.get_mut(&key) {
                slot.1 = Some(node);
            }
        }
        let mut found: Vec<(usize, usize)> = places
            .into_iter()
            .filter(|(key, _)| seen.get(key) == Some(&1) && key.1.len() >= 8)
            .filter_map(|(_, (a, b))| Some((a?, b?)))
            .collect();
        found.sort_unstable();
        for (a, b) in found {
            self.pair_whole(old, new, a, b);
        }
    }

    fn alike(&mut self, old: &Outline<'_>, new: &Outline<'_>, a: &[usize], b: &[usize]) {
        let mut from: usize = 0;
        for &node in b {
            let sort = new.nodes[node].sort;
            if sort == Sort::Entry {
                let same = a.iter().find(|one| old.nodes[**one].id == new.nodes[node].id && self.to_new[**one].is_none());
                if let Some(&one) = same {
                    self.pair(one, node);
                }
                continue;
            }
            let candidates =
                a.iter().enumerate().skip(from.saturating_sub(WINDOW)).filter(|(_, one)| old.nodes[**one].sort == sort);
            let free = candidates.filter(|(_, one)| self.to_new[**one].is_none()).take(WINDOW);
            let best = free
                .map(|(at, one)| (at, *one, if sort == Sort::Delimiter { 1.0 } else { likeness(old.text(*one), new.text(node)) }))
                .filter(|(_, _, score)| *score >= LIKENESS)
                .reduce(|best, one| if one.2 > best.2 { one } else { best });
            if let Some((at, one, _)) = best {
                self.pair(one, node);
                from = from.max(at + 1);
            }
        }
    }

    fn order(&mut self, old: &Outline<'_>, new: &Outline<'_>) {
        self.in_order[0] = true;
        for parent in 0..old.nodes.len() {
            let Some(twin) = self.to_new[parent] else { continue };
            let pairs: Vec<(usize, usize)> = old
                .children(parent)
                .filter_map(|node| Some((node, self.to_new[node]?)))
                .filter(|(_, there)| new.nodes[*there].parent == twin && *there != 0)
                .collect();
            for at in longest_increasing(&pairs.iter().map(|(_, there)| *there).collect::<Vec<_>>()) {
                self.in_order[pairs[at].0] = true;
            }
        }
    }
}

/// Returns the positions of a longest increasing subsequence.
fn longest_increasing(values: &[usize]) -> Vec<usize> {
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = vec![None; values.len()];
    for (at, value) in values.iter().enumerate() {
        let place = ends.partition_point(|end| values[*end] < *value);
        before[at] = place.checked_sub(1).map(|place| ends[place]);
        if place == ends.len() {
            ends.push(at);
        } else {
            ends[place] = at;
        }
    }
    let mut out: Vec<usize> = std::iter::successors(ends.last().copied(), |at| before[*at]).collect();
    out.reverse();
    out
}

/// Returns how many of the words of two texts are common to both, from 0 to 1.
pub(crate) fn likeness(a: &str, b: &str) -> f64 {
    if a == b {
        return 1.0;
    }
    let mut count: HashMap<&str, (usize, usize)> = HashMap::new();
    let long = a.len().max(b.len()) > LONG;
    let parts = |text| -> Box<dyn Iterator<Item = &str>> {
        if long {
            Box::new(str::lines(text))
        } else {
            Box::new(text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()))
        }
    };
    let (mut total, mut common) = (0usize, 0usize);
    for word in parts(a) {
        count.entry(word).or_default().0 += 1;
        total += 1;
    }
    for word in parts(b) {
        count.entry(word).or_default().1 += 1;
        total += 1;
    }
    for (a, b) in count.values() {
        common += a.min(b);
    }
    if total == 0 { 0.0 } else { 2.0 * common as f64 / total as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_row_in_order_stays() {
        assert_eq!(longest_increasing(&[3, 1, 2, 5, 4]).len(), 3);
        assert_eq!(longest_increasing(&[]), Vec::<usize>::new());
        assert_eq!(longest_increasing(&[1, 2, 3]), [0, 1, 2]);
    }

    #[test]
    fn likeness_counts_common_words() {
        assert!(likeness("the quick fox", "the slow fox") > 0.6);
        assert_eq!(likeness("a", "b"), 0.0);
        assert_eq!(likeness("", ""), 1.0);
    }
}
