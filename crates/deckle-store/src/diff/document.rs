//! The changes of one document that stands on both sides.

use std::collections::BTreeMap;
use std::ops::Range;

use deckle_doc::DocKey;

use super::matching::Matching;
use super::outline::{Outline, Role, Sort, Version};
use super::splices::{Part, Run, Sides, Stretch, spliced};
use super::{Change, ChangeKind, Pair, blank, id_of, words};

/// The changes of a document and the splices that they are made of.
#[derive(Debug)]
pub(crate) struct DocumentDiff {
    pub(crate) changes: Vec<Change>,
    /// In the order of the text before. The owner is the position of the change.
    pub(crate) parts: Vec<Part>,
}

/// Which nodes a change is made of.
#[derive(Debug, Default)]
struct Member {
    /// Blocks that left their place.
    old: Vec<usize>,
    /// Blocks that took a place.
    new: Vec<usize>,
    /// Blocks that stayed and say something else, by their old node.
    stayed: Vec<usize>,
    at: usize,
}

struct Differ<'a> {
    old: Outline<'a>,
    new: Outline<'a>,
    pairs: Matching,
    /// Of each old node: whether it and all around it stayed in place.
    stayed: Vec<bool>,
    /// Of each node that did not stay: the outermost block around it that did not.
    old_unit: Vec<Option<usize>>,
    new_unit: Vec<Option<usize>>,
    /// Union of the elements that are one change: old nodes, then new nodes, then the spacing.
    union: Vec<usize>,
}

impl DocumentDiff {
    pub(crate) fn new(key: &DocKey, pair: &Pair, before: Version<'_>, after: Version<'_>) -> Self {
        let mut differ = Differ::new(before, after);
        let found = differ.find();
        let mut diff = differ.assemble(key, pair, &found);
        // The parts are what is written: when they do not make the text after, the document is one change.
        let all: Vec<&Part> = diff.parts.iter().collect();
        if spliced(before.tree.source(), &all).as_deref() != Some(after.tree.source()) {
            diff = differ.as_one(key, pair);
        }
        diff
    }
}

impl<'a> Differ<'a> {
    fn new(before: Version<'a>, after: Version<'a>) -> Self {
        let (old, new) = (Outline::new(before), Outline::new(after));
        let pairs = Matching::new(&old, &new);
        let mut stayed = vec![false; old.nodes.len()];
        let mut old_unit = vec![None; old.nodes.len()];
        for at in 0..old.nodes.len() {
            let parent = old.nodes[at].parent;
            stayed[at] = pairs.in_order[at] && (at == 0 || stayed[parent]);
            old_unit[at] = if stayed[at] { None } else { old_unit[parent].or(Some(at)) };
        }
        let mut new_unit = vec![None; new.nodes.len()];
        for at in 0..new.nodes.len() {
            let here = pairs.to_old[at].is_some_and(|old| stayed[old]);
            new_unit[at] = if here { None } else { new_unit[new.nodes[at].parent].or(Some(at)) };
        }
        let union = (0..=old.nodes.len() + new.nodes.len()).collect();
        Differ { old, new, pairs, stayed, old_unit, new_unit, union }
    }

    fn root(&mut self, mut at: usize) -> usize {
        while self.union[at] != at {
            self.union[at] = self.union[self.union[at]];
            at = self.union[at];
        }
        at
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.union[a.max(b)] = a.min(b);
    }

    fn spacing(&self) -> usize {
        self.old.nodes.len() + self.new.nodes.len()
    }

    fn old_element(&self, atom: usize) -> usize {
        let node = self.old.atoms[atom].node;
        self.old_unit[node].unwrap_or(node)
    }

    fn new_element(&self, atom: usize) -> usize {
        let node = self.new.atoms[atom].node;
        match (self.new_unit[node], self.pairs.to_old[node]) {
            (Some(unit), _) => self.old.nodes.len() + unit,
            (None, Some(old)) => old,
            (None, None) => self.old.nodes.len() + node,
        }
    }

    /// Pairs the atoms that stayed.
    fn steady(&self) -> Vec<(usize, usize)> {
        let twin = |atom: usize| {
            let (node, role) = (self.old.atoms[atom].node, self.old.atoms[atom].role);
            self.stayed[node].then(|| self.new.own(self.pairs.to_new[node]?, role)).flatten()
        };
        let mut steady: Vec<(usize, usize)> = Vec::new();
        for (atom, there) in (0..self.old.atoms.len()).filter_map(|atom| Some((atom, twin(atom)?))) {
            if steady.last().is_none_or(|last| last.1 < there) {
                steady.push((atom, there));
            }
        }
        steady
    }

    fn runs(&self, atoms: Range<usize>, element: impl Fn(usize) -> usize) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        for atom in atoms {
            let owner = element(atom);
            match runs.last_mut() {
                Some(last) if last.owner == owner => last.atoms.end = atom + 1,
                _ => runs.push(Run { owner, atoms: atom..atom + 1 }),
            }
        }
        runs
    }

    /// Finds every splice.
    fn find(&mut self) -> Vec<Part> {
        for node in 0..self.new.nodes.len() {
            if let (Some(unit), Some(old)) = (self.new_unit[node], self.pairs.to_old[node])
                && let Some(old_unit) = self.old_unit[old]
            {
                self.join(old_unit, self.old.nodes.len() + unit);
            }
        }
        // Front matter that comes or goes as a whole is one change.
        if self.old.nodes[1].atoms.is_empty() != self.new.nodes[1].atoms.is_empty() {
            self.old.descendants(1).for_each(|entry| self.join(1, entry));
            self.new.descendants(1).for_each(|entry| self.join(1, self.old.nodes.len() + entry));
        }
        let steady = self.steady();
        let stretches: Vec<Stretch> = steady
            .windows(2)
            .map(|pair| Stretch {
                left: pair[0],
                gone: self.runs(pair[0].0 + 1..pair[1].0, |atom| self.old_element(atom)),
                come: self.runs(pair[0].1 + 1..pair[1].1, |atom| self.new_element(atom)),
            })
            .collect();
        for stretch in &stretches {
            let coupled = Sides { old: &self.old, new: &self.new }.is_coupled(stretch);
            let mut owners = stretch.gone.iter().chain(&stretch.come).map(|run| run.owner);
            if let (true, Some(first)) = (coupled, owners.next()) {
                owners.for_each(|owner| self.join(first, owner));
            }
        }
        let spacing = self.spacing();
        let mut parts = Vec::new();
        for (at, &(old, new)) in steady.iter().enumerate() {
            if self.old.atom_text(old) != self.new.atom_text(new) {
                let range = self.old.atoms[old].range.clone();
                let with = self.new.atom_text(new).to_owned();
                let (body, gone) = (Some(0..with.len()), Some(range.clone()));
                let owner = self.root(self.old.atoms[old].node);
                parts.push(Part { owner, range, with, body, gone, old: old..old + 1, new: new..new + 1 });
            }
            let Some(stretch) = stretches.get(at) else { continue };
            let from = parts.len();
            if !stretch.gone.is_empty() || !stretch.come.is_empty() {
                let mut stretch = stretch.clone();
                for run in stretch.gone.iter_mut().chain(&mut stretch.come) {
                    run.owner = self.root(run.owner);
                }
                Sides { old: &self.old, new: &self.new }.divide(&stretch, &mut parts);
            } else if self.old.gap(old) != self.new.gap(new) {
                let (range, with) = (self.old.gap_range(old), self.new.gap(new).to_owned());
                parts.push(Part { owner: spacing, range, with, body: None, gone: None, old: 0..0, new: 0..0 });
            }
            for part in &mut parts[from..] {
                part.owner = self.root(part.owner);
            }
        }
        parts
    }

    /// Makes the changes out of the splices.
    fn assemble(&mut self, key: &DocKey, pair: &Pair, found: &[Part]) -> DocumentDiff {
        let mut members: BTreeMap<usize, Member> = BTreeMap::new();
        for (at, part) in found.iter().enumerate() {
            let owner = self.root(part.owner);
            let member = members.entry(owner).or_insert_with(|| Member { at, ..Member::default() });
            for atom in part.old.clone() {
                let node = self.old.atoms[atom].node;
                match self.old_unit[node] {
                    Some(unit) => member.old.push(unit),
                    None => member.stayed.push(node),
                }
            }
            for atom in part.new.clone() {
                let node = self.new.atoms[atom].node;
                match (self.new_unit[node], self.pairs.to_old[node]) {
                    (Some(unit), _) => member.new.push(unit),
                    (None, Some(old)) => member.stayed.push(old),
                    (None, None) => {}
                }
            }
        }
        let mut order: Vec<(usize, Member)> = members.into_iter().collect();
        order.sort_by_key(|(_, member)| member.at);
        let (old_sections, new_sections) = (Sections::new(&self.old), Sections::new(&self.new));
        let mut position: BTreeMap<usize, usize> = BTreeMap::new();
        let mut changes = Vec::with_capacity(order.len());
        let mut heads: Vec<Option<usize>> = Vec::new();
        for (owner, mut member) in order {
            for nodes in [&mut member.old, &mut member.new, &mut member.stayed] {
                nodes.sort_unstable();
                nodes.dedup();
            }
            position.insert(owner, changes.len());
            heads.push(member.new.iter().copied().find(|node| self.new.nodes[*node].sort == Sort::Heading));
            let mut change = self.change(key, pair, &member);
            change.path = match (member.new.first(), member.stayed.first(), member.old.first()) {
                (Some(node), _, _) => new_sections.of(&self.new, *node),
                (None, Some(node), _) => self.pairs.to_new[*node].map_or_else(Vec::new, |node| new_sections.of(&self.new, node)),
                (None, None, Some(node)) => old_sections.of(&self.old, *node),
                _ => Vec::new(),
            };
            change.place = change.path.join(" › ");
            change.id = id_of(&change);
            changes.push(change);
        }
        self.needs(&mut changes, &heads, &position, found);
        let parts = found
            .iter()
            .map(|part| Part { owner: position.get(&self.root(part.owner)).copied().unwrap_or(0), ..part.clone() })
            .collect();
        DocumentDiff { changes, parts }
    }

    /// A block that comes under a heading that comes needs that heading.
    fn needs(&mut self, changes: &mut [Change], heads: &[Option<usize>], position: &BTreeMap<usize, usize>, found: &[Part]) {
        let mut heading: Option<usize> = None;
        let mut open: BTreeMap<usize, usize> = BTreeMap::new();
        for child in self.new.children(0) {
            if self.new.nodes[child].sort == Sort::Heading {
                heading = Some(child);
            }
            if let Some(heading) = heading {
                open.insert(child, heading);
            }
        }
        for part in found {
            let Some(first) = self.new.atoms.get(part.new.start).filter(|_| !part.new.is_empty()).map(|atom| atom.node) else {
                continue;
            };
            let owner = self.root(part.owner);
            let (Some(&me), Some(unit)) = (position.get(&owner), self.new_unit[first]) else { continue };
            let Some(heading) = open.get(&unit).copied().filter(|heading| *heading != unit) else { continue };
            let Some(there) = self.new_unit[heading] else { continue };
            let there = self.root(self.old.nodes.len() + there);
            if let Some(&other) = position.get(&there).filter(|other| **other != me && heads[**other].is_some()) {
                let id = changes[other].id.clone();
                if changes[other].kind == ChangeKind::Added && !changes[me].needs.contains(&id) {
                    changes[me].needs.push(id);
                }
            }
        }
    }

    fn change(&self, key: &DocKey, pair: &Pair, member: &Member) -> Change {
        let kind = self.kind(member);
        let mut change = blank(key, pair, kind);
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for &node in &member.stayed {
            before.push(self.shown(&self.old, node));
            if let Some(there) = self.pairs.to_new[node] {
                after.push(self.shown(&self.new, there));
            }
        }
        before.extend(member.old.iter().map(|node| self.old.range(*node)));
        after.extend(member.new.iter().map(|node| self.new.range(*node)));
        let old_sort = member.stayed.iter().chain(&member.old).map(|node| self.old.nodes[*node].sort).next();
        let new_sort = member.new.iter().map(|node| self.new.nodes[*node].sort).next();
        change.block = new_sort.or(old_sort).map_or("spacing", Sort::name);
        let old_ids = member.stayed.iter().chain(&member.old).map(|node| name(&self.old, *node));
        let new_ids = member.new.iter().filter(|node| {
            let twin = self.pairs.to_old[**node];
            twin.is_none_or(|twin| !member.old.contains(&twin))
        });
        change.blocks = old_ids.chain(new_ids.map(|node| name(&self.new, *node))).collect();
        change.old_span = span(&before);
        change.new_span = span(&after);
        change.before = joined(&self.old, &before);
        change.after = joined(&self.new, &after);
        if let (Some(before), Some(after)) = (&change.before, &change.after)
            && before != after
        {
            change.words = words::segments(before, after);
        }
        change
    }

    fn kind(&self, member: &Member) -> ChangeKind {
        let sort = |node: &usize| self.old.nodes[*node].sort;
        let entries = member.stayed.iter().chain(&member.old).all(|node| matches!(sort(node), Sort::Entry | Sort::FrontMatter))
            && member.new.iter().all(|node| self.new.nodes[*node].sort == Sort::Entry);
        let moved = member.new.iter().filter_map(|node| Some((self.pairs.to_old[*node]?, *node)));
        match (member.old.is_empty(), member.new.is_empty(), member.stayed.as_slice()) {
            (true, true, []) => ChangeKind::Spacing,
            _ if entries => ChangeKind::FrontMatter,
            (true, true, stayed) => {
                if stayed.iter().all(|node| self.is_attribute(*node)) {
                    ChangeKind::Attributes
                } else {
                    ChangeKind::Changed
                }
            }
            (true, false, []) => ChangeKind::Added,
            (false, true, []) => ChangeKind::Removed,
            _ => {
                let mut kind = ChangeKind::Changed;
                for (old, new) in moved {
                    let around = self.pairs.to_new[self.old.nodes[old].parent];
                    let same = around == Some(self.new.nodes[new].parent);
                    if same && kind == ChangeKind::Changed {
                        kind = ChangeKind::Moved;
                    } else if !same {
                        kind = ChangeKind::Renested;
                    }
                }
                let wraps = |node: &usize| self.new.descendants(*node).any(|inner| self.pairs.to_old[inner].is_some());
                let unwraps = |node: &usize| self.old.descendants(*node).any(|inner| self.pairs.to_new[inner].is_some());
                if kind == ChangeKind::Changed && (member.new.iter().any(wraps) || member.old.iter().any(unwraps)) {
                    kind = ChangeKind::Renested;
                }
                kind
            }
        }
    }

    /// Whether a block that stayed says the same and only is something else.
    fn is_attribute(&self, node: usize) -> bool {
        let Some(twin) = self.pairs.to_new[node] else { return false };
        let text =
            |outline: &Outline<'_>, node: usize| outline.own(node, Role::Text).map(|atom| outline.atom_text(atom).to_owned());
        let (Some(_), Some(_)) = (text(&self.old, node), text(&self.new, twin)) else { return true };
        let inner = |outline: &Outline<'_>, node: usize| {
            let block = outline.version.tree.block(outline.nodes[node].block?);
            let inside = matches!(outline.nodes[node].sort, Sort::Heading | Sort::Code | Sort::Math);
            inside.then(|| outline.source()[block.inner()].to_owned())
        };
        match (inner(&self.old, node), inner(&self.new, twin)) {
            (Some(old), Some(new)) => old == new,
            _ => false,
        }
    }

    /// What of a block that stayed is shown: all of a leaf, the lines that open and close a container.
    fn shown(&self, outline: &Outline<'_>, node: usize) -> Range<usize> {
        if outline.is_leaf(node) {
            return outline.range(node);
        }
        let first = outline.nodes[node].atoms.start;
        let end = match outline.nodes[node].sort {
            // An item is shown with its first block: a marker alone says nothing.
            Sort::Item => outline
                .atoms
                .get(first..outline.nodes[node].atoms.end)
                .and_then(|atoms| atoms.iter().find(|atom| atom.node != node).map(|atom| atom.range.end)),
            _ => None,
        };
        let atom = &outline.atoms[first];
        atom.range.start..end.unwrap_or(atom.range.end)
    }

    /// The whole document as one change: what is done when its blocks cannot be told apart.
    fn as_one(&self, key: &DocKey, pair: &Pair) -> DocumentDiff {
        let (before, after) = (self.old.source(), self.new.source());
        let mut change = blank(key, pair, ChangeKind::Changed);
        (change.before, change.after) = (Some(before.to_owned()), Some(after.to_owned()));
        (change.old_span, change.new_span) = (Some((0, before.len())), Some((0, after.len())));
        change.words = words::segments(before, after);
        change.id = id_of(&change);
        let part = Part {
            owner: 0,
            range: 0..before.len(),
            with: after.to_owned(),
            body: Some(0..after.len()),
            gone: Some(0..before.len()),
            old: 0..self.old.atoms.len(),
            new: 0..self.new.atoms.len(),
        };
        DocumentDiff { changes: vec![change], parts: vec![part] }
    }
}

fn name(outline: &Outline<'_>, node: usize) -> String {
    let node = &outline.nodes[node];
    if node.id.is_empty() { node.sort.name().to_owned() } else { node.id.clone() }
}

fn span(ranges: &[Range<usize>]) -> Option<(usize, usize)> {
    let start = ranges.iter().map(|range| range.start).min()?;
    Some((start, ranges.iter().map(|range| range.end).max()?))
}

/// Puts the texts of blocks together: as they stand when they are neighbours, else a blank line apart.
fn joined(outline: &Outline<'_>, ranges: &[Range<usize>]) -> Option<String> {
    let source = outline.source();
    let mut out = String::new();
    let mut last: Option<usize> = None;
    for range in ranges {
        if let Some(last) = last {
            let between = source.get(last..range.start).filter(|gap| gap.trim().is_empty());
            out.push_str(between.unwrap_or("\n\n"));
        }
        out.push_str(&source[range.clone()]);
        last = Some(range.end);
    }
    last.map(|_| out)
}

/// The headings over each block at the top.
struct Sections {
    /// A node, and the headings over what follows it.
    steps: Vec<(usize, Vec<String>)>,
}

impl Sections {
    fn new(outline: &Outline<'_>) -> Self {
        let mut steps = Vec::new();
        let mut path = Vec::new();
        for child in outline.children(0) {
            let length = path.len();
            outline.step_section(child, &mut path);
            if outline.nodes[child].sort == Sort::Heading || path.len() != length {
                steps.push((child, path.iter().map(|(_, title): &(u8, String)| title.clone()).collect()));
            }
        }
        Sections { steps }
    }

    fn of(&self, outline: &Outline<'_>, node: usize) -> Vec<String> {
        let top = outline.parents(node).filter(|parent| *parent != 0).last().unwrap_or(node);
        let at = self.steps.partition_point(|(heading, _)| *heading < top);
        at.checked_sub(1).and_then(|at| self.steps.get(at)).map(|(_, path)| path.clone()).unwrap_or_default()
    }
}
