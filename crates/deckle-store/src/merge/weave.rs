//! The order and the content of a merged document: the children of each container that stands on all sides are merged as a
//! row, what one side did to the row beside what the other did; a block that moved takes the changes of the other side along.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::{BASE, BlockConflict, OURS, Reason, Sides, THEIRS};
use crate::diff::outline::{Outline, Role, Sort};

/// A step of writing the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Enter {
        side: usize,
        node: usize,
    },
    Leave,
    /// An atom, with its places in all three versions.
    Atom {
        side: usize,
        atom: usize,
        places: [Option<usize>; 3],
    },
    Conflict(usize),
    /// All of one side.
    All {
        side: usize,
    },
}

/// A conflict: what each side would write. None where the block is not there.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub(crate) sides: [Option<Vec<Event>>; 3],
    pub(crate) reason: Reason,
    /// A node by which to name the place.
    pub(crate) at: (usize, usize),
}

/// The result before it is text.
#[derive(Clone, Debug)]
pub(crate) struct Woven {
    pub(crate) events: Vec<Event>,
    pub(crate) sites: Vec<Site>,
    /// Nodes of the base that moved into or out of a conflict.
    pub(crate) contested: BTreeSet<usize>,
}

/// What earlier attempts found out.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Nodes of the base that moved into or out of a conflict: they are not taken as moved.
    pub(crate) contested: BTreeSet<usize>,
    /// Nodes of the base whose parts do not fit together: they are merged as one text.
    pub(crate) whole: BTreeSet<usize>,
    /// Stretches of the base's top row where blocks do not fit together: what was done there is a conflict.
    pub(crate) seams: Vec<Range<usize>>,
}

pub(crate) struct Weave<'s, 'a> {
    sides: &'s Sides<'a>,
    known: &'s Known,
    /// Nodes that both sides added alike, from ours to theirs.
    twins: BTreeMap<usize, usize>,
    out: Woven,
}

/// What one side did to a stretch of a row.
#[derive(Clone, Debug)]
struct Hunk {
    side: usize,
    /// The children of the base that left their place.
    base: Range<usize>,
    /// The children of the side that took their place.
    own: Range<usize>,
}

/// Hunks that concern one another.
#[derive(Clone, Debug)]
struct Cluster {
    base: Range<usize>,
    hunks: Vec<Hunk>,
    /// Whether what they do does not fit together.
    unreadable: bool,
}

type Said<'o> = (Sort, &'o str, Vec<Option<usize>>);

/// Makes one cluster of all that touch a stretch, and of the stretch itself.
fn join_at(clusters: &mut Vec<Cluster>, seam: &Range<usize>) {
    let touches = |cluster: &Cluster| cluster.base.start <= seam.end && cluster.base.end >= seam.start;
    let Some(first) = clusters.iter().position(touches) else { return };
    let count = clusters[first..].iter().take_while(|cluster| touches(cluster)).count();
    let joined: Vec<Cluster> = clusters.drain(first..first + count).collect();
    let start = joined.iter().map(|cluster| cluster.base.start).fold(seam.start, usize::min);
    let end = joined.iter().map(|cluster| cluster.base.end).fold(seam.end, usize::max);
    let hunks = joined.into_iter().flat_map(|cluster| cluster.hunks).collect();
    clusters.insert(first, Cluster { base: start..end, hunks, unreadable: true });
}

/// A row of children on all sides.
struct Row {
    /// The children of base, ours, theirs.
    nodes: [Vec<usize>; 3],
    /// Of each child of the base: its position in ours and theirs when it stayed in order.
    stayed: [Vec<Option<usize>>; 2],
}

impl<'s, 'a> Weave<'s, 'a> {
    pub(crate) fn new(sides: &'s Sides<'a>, known: &'s Known) -> Self {
        let out = Woven { events: Vec::new(), sites: Vec::new(), contested: BTreeSet::new() };
        Weave { sides, known, twins: BTreeMap::new(), out }
    }

    pub(crate) fn run(mut self) -> Woven {
        self.merge_node(0, 0, 0);
        self.out
    }

    fn outline(&self, side: usize) -> &'s Outline<'a> {
        &self.sides.outlines[side]
    }

    /// Merges a block that stands on all sides.
    fn merge_node(&mut self, base: usize, ours: usize, theirs: usize) {
        let nodes = [base, ours, theirs];
        let leaves = (0..3).all(|side| self.outline(side).is_leaf(nodes[side]));
        let columns = |side: usize| self.outline(side).nodes[nodes[side]].columns;
        let reshaped = columns(BASE) != columns(OURS) || columns(BASE) != columns(THEIRS);
        if base != 0 && (leaves || reshaped || self.known.whole.contains(&base)) {
            return self.merge_whole(nodes);
        }
        self.out.events.push(Event::Enter { side: OURS, node: ours });
        self.merge_own(nodes, Role::Open);
        self.merge_own(nodes, Role::Mark);
        self.merge_row(nodes);
        self.merge_own(nodes, Role::Close);
        self.out.events.push(Event::Leave);
    }

    /// Merges a block as one text.
    fn merge_whole(&mut self, nodes: [usize; 3]) {
        let text = |side: usize| self.outline(side).text(nodes[side]);
        if text(OURS) == text(THEIRS) || text(BASE) == text(THEIRS) {
            self.raw(OURS, nodes[OURS]);
        } else if text(BASE) == text(OURS) {
            self.raw(THEIRS, nodes[THEIRS]);
        } else {
            self.conflict(Reason::BothChanged, nodes.map(|node| vec![node]));
        }
    }

    /// Merges what opens or closes a container.
    fn merge_own(&mut self, nodes: [usize; 3], role: Role) {
        // A container that lost all its children is one text; its opening is that text.
        let own = |side: usize| {
            let outline = self.outline(side);
            let bare = || (role == Role::Open && outline.is_leaf(nodes[side])).then(|| outline.own(nodes[side], Role::Text));
            outline.own(nodes[side], role).or_else(|| bare().flatten())
        };
        let atoms = [own(BASE), own(OURS), own(THEIRS)];
        let text = |side: usize| atoms[side].map(|atom| self.outline(side).atom_text(atom));
        let (base, ours, theirs) = (text(BASE), text(OURS), text(THEIRS));
        let side = if ours == theirs || base == theirs {
            OURS
        } else if base == ours {
            THEIRS
        } else if self.outline(BASE).nodes[nodes[BASE]].sort == Sort::Item && role == Role::Open {
            // Both numbered a list anew: only the first number of a list counts, so the higher one does no harm.
            if (ours.map(str::len), ours) >= (theirs.map(str::len), theirs) { OURS } else { THEIRS }
        } else {
            let events = |side: usize| atoms[side].map(|atom| vec![Event::Atom { side, atom, places: atoms }]);
            let sides = [events(BASE), events(OURS), events(THEIRS)];
            return self.site(Site { sides, reason: Reason::BothChanged, at: (BASE, nodes[BASE]) });
        };
        if let Some(atom) = atoms[side] {
            self.out.events.push(Event::Atom { side, atom, places: atoms });
        }
    }

    fn site(&mut self, site: Site) {
        self.out.events.push(Event::Conflict(self.out.sites.len()));
        self.out.sites.push(site);
    }

    /// Returns the places of an atom in all versions.
    fn places(&self, side: usize, atom: usize) -> [Option<usize>; 3] {
        let outline = self.outline(side);
        let (node, role) = (outline.atoms[atom].node, outline.atoms[atom].role);
        let mut places = [None; 3];
        places[side] = Some(atom);
        if let Some(base) = self.sides.origin(side, node) {
            for other in (0..3).filter(|other| *other != side) {
                places[other] = self.sides.there(other, base).and_then(|there| self.outline(other).own(there, role));
            }
        } else if let (OURS, Some(twin)) = (side, self.twins.get(&node)) {
            places[THEIRS] = self.outline(THEIRS).own(*twin, role);
        }
        places
    }

    /// Writes a block as it stands on a side.
    fn raw(&mut self, side: usize, node: usize) {
        let events = self.raw_events(side, node);
        self.out.events.extend(events);
    }

    fn raw_events(&self, side: usize, node: usize) -> Vec<Event> {
        let outline = self.outline(side);
        let mut events = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        let (mut atom, atoms) = (outline.nodes[node].atoms.start, outline.nodes[node].atoms.clone());
        let take = |events: &mut Vec<Event>, to: usize, atom: &mut usize| {
            while *atom < to {
                events.push(Event::Atom { side, atom: *atom, places: self.places(side, *atom) });
                *atom += 1;
            }
        };
        for at in std::iter::once(node).chain(outline.descendants(node)) {
            while let Some(top) = open.last().copied().filter(|top| outline.nodes[*top].last <= at) {
                take(&mut events, outline.nodes[top].atoms.end, &mut atom);
                events.push(Event::Leave);
                open.pop();
            }
            take(&mut events, outline.nodes[at].atoms.start, &mut atom);
            events.push(Event::Enter { side, node: at });
            open.push(at);
        }
        while let Some(top) = open.pop() {
            take(&mut events, outline.nodes[top].atoms.end.min(atoms.end), &mut atom);
            events.push(Event::Leave);
        }
        events
    }

    /// Writes a block that a side put here: what stands in it and came from elsewhere is merged with the other side.
    fn put(&mut self, side: usize, node: usize) {
        if let Some(base) = self.sides.origin(side, node) {
            return self.put_moved(side, node, base);
        }
        let outline = self.outline(side);
        if outline.is_leaf(node) || outline.descendants(node).all(|inner| self.sides.origin(side, inner).is_none()) {
            return self.raw(side, node);
        }
        self.out.events.push(Event::Enter { side, node });
        for role in [Role::Open, Role::Mark] {
            self.put_own(side, node, role);
        }
        for child in outline.children(node) {
            self.put(side, child);
        }
        self.put_own(side, node, Role::Close);
        self.out.events.push(Event::Leave);
    }

    fn put_own(&mut self, side: usize, node: usize, role: Role) {
        if let Some(atom) = self.outline(side).own(node, role) {
            let places = self.places(side, atom);
            self.out.events.push(Event::Atom { side, atom, places });
        }
    }

    /// Writes a block that a side moved here.
    fn put_moved(&mut self, side: usize, node: usize, base: usize) {
        let other = OURS + THEIRS - side;
        let there = self.sides.there(other, base);
        let paired =
            there.filter(|there| if side == OURS { self.twin(node) == Some(*there) } else { self.twin(*there) == Some(node) });
        let stays = there.filter(|_| self.sides.of(other).in_order[base]);
        // What both moved to one place is not contested.
        let contested = self.known.contested.contains(&base) && paired.is_none();
        match (contested, paired.or(stays)) {
            (false, Some(there)) if side == OURS => self.merge_node(base, node, there),
            (false, Some(there)) => self.merge_node(base, there, node),
            (contested, _) => {
                if !contested && there.is_some() {
                    self.out.contested.insert(base);
                }
                let mut nodes = [Vec::new(), Vec::new(), Vec::new()];
                nodes[side].push(node);
                if there.is_none() {
                    nodes[BASE].push(base);
                }
                self.conflict(Reason::Moved, nodes);
            }
        }
    }

    fn twin(&self, ours: usize) -> Option<usize> {
        self.twins.get(&ours).copied()
    }

    /// Writes a conflict over blocks of each side.
    fn conflict(&mut self, reason: Reason, nodes: [Vec<usize>; 3]) {
        let within = |outline: &Outline<'_>, list: &[usize], node: usize| {
            list.iter().any(|one| *one == node || outline.descendants(*one).contains(&node))
        };
        for side in [OURS, THEIRS] {
            let outline = self.outline(side);
            for inner in nodes[side].iter().flat_map(|node| *node..outline.nodes[*node].last) {
                if let Some(base) = self.sides.origin(side, inner).filter(|base| !within(self.outline(BASE), &nodes[BASE], *base))
                {
                    self.out.contested.insert(base);
                }
            }
            let base = self.outline(BASE);
            for inner in nodes[BASE].iter().flat_map(|node| *node..base.nodes[*node].last) {
                if self.sides.there(side, inner).is_some_and(|there| !within(outline, &nodes[side], there)) {
                    self.out.contested.insert(inner);
                }
            }
        }
        let events = |side: usize| {
            let list = &nodes[side];
            (!list.is_empty()).then(|| list.iter().flat_map(|node| self.raw_events(side, *node)).collect())
        };
        let at = (0..3).find_map(|side| Some((side, *nodes[side].first()?))).unwrap_or((BASE, 0));
        let sides = [events(BASE), events(OURS), events(THEIRS)];
        self.site(Site { sides, reason, at });
    }

    fn merge_row(&mut self, nodes: [usize; 3]) {
        let list = |side: usize| self.outline(side).children(nodes[side]).collect::<Vec<_>>();
        let lists = [list(BASE), list(OURS), list(THEIRS)];
        let stayed = [OURS, THEIRS].map(|side| {
            let place: BTreeMap<usize, usize> = lists[side].iter().enumerate().map(|(at, node)| (*node, at)).collect();
            let of = self.sides.of(side);
            let there =
                |node: &usize| of.to_new[*node].filter(|_| of.in_order[*node]).and_then(|there| place.get(&there).copied());
            lists[BASE].iter().map(there).collect::<Vec<_>>()
        });
        let row = Row { nodes: lists, stayed };
        let mut clusters = self.clusters(&row);
        if nodes[BASE] == 0 {
            self.known.seams.iter().for_each(|seam| join_at(&mut clusters, seam));
        }
        if cfg!(sabotage = "unsorted_merge") {
            // What theirs did is done first, wherever it belongs.
            clusters.sort_by_key(|cluster| cluster.hunks.iter().all(|hunk| hunk.side == OURS));
        }
        let mut done = 0;
        for cluster in clusters {
            self.merge_steady(&row, done..cluster.base.start);
            done = done.max(cluster.base.end);
            match cluster.unreadable {
                true => self.conflict_row(&row, cluster.base, &cluster.hunks, Reason::Unreadable),
                false => self.merge_cluster(&row, cluster.base, &cluster.hunks),
            }
        }
        self.merge_steady(&row, done..row.nodes[BASE].len());
    }

    /// Merges children that stayed in their place on both sides.
    fn merge_steady(&mut self, row: &Row, range: Range<usize>) {
        for at in range {
            if let (Some(ours), Some(theirs)) = (row.stayed[0][at], row.stayed[1][at]) {
                self.merge_node(row.nodes[BASE][at], row.nodes[OURS][ours], row.nodes[THEIRS][theirs]);
            }
        }
    }

    /// Groups what both sides did to a row: hunks that concern the same children are one cluster.
    fn clusters(&self, row: &Row) -> Vec<Cluster> {
        let mut hunks: Vec<Hunk> = [OURS, THEIRS].into_iter().flat_map(|side| row.hunks(side)).collect();
        hunks.sort_by_key(|hunk| (hunk.base.start, hunk.base.end, hunk.side));
        let mut clusters: Vec<Cluster> = Vec::new();
        for hunk in hunks {
            let joins = clusters.last().is_some_and(|cluster| {
                let one = &cluster.hunks[0];
                let tie = cluster.hunks.len() == 1 && one.base == hunk.base && hunk.base.is_empty();
                let alike = cluster.hunks.len() == 1 && self.adds_alike(row, one, &hunk);
                let lost = |one| self.lost_context(row, one, &hunk);
                hunk.base.start < cluster.base.end || tie || alike || cluster.hunks.iter().any(lost)
            });
            match clusters.last_mut() {
                Some(cluster) if joins => {
                    cluster.base.end = cluster.base.end.max(hunk.base.end);
                    cluster.hunks.push(hunk);
                }
                _ => clusters.push(Cluster { base: hunk.base.clone(), hunks: vec![hunk], unreadable: false }),
            }
        }
        clusters
    }

    /// Whether one side put a block beside others that the other side replaced, and the other side put the same block there.
    fn adds_alike(&self, row: &Row, a: &Hunk, b: &Hunk) -> bool {
        let beside = a.side != b.side && a.base.end == b.base.start && a.base.is_empty() != b.base.is_empty();
        let said = |hunk: &Hunk| row.nodes[hunk.side][hunk.own.clone()].iter().map(|node| self.said(hunk.side, *node)).collect();
        let (left, right): (Vec<Said<'_>>, Vec<Said<'_>>) = if beside { (said(a), said(b)) } else { return false };
        left.iter().any(|one| right.contains(one))
    }

    /// What a node says, and which nodes of the base are in it.
    fn said(&self, side: usize, node: usize) -> Said<'s> {
        let outline = self.outline(side);
        let origins = (node..outline.nodes[node].last).map(|inner| self.sides.origin(side, inner)).collect();
        (outline.nodes[node].sort, outline.text(node), origins)
    }

    /// Whether `next` adds blocks to a section whose heading and end went with `hunk`.
    fn lost_context(&self, row: &Row, hunk: &Hunk, next: &Hunk) -> bool {
        let touches = hunk.side != next.side && hunk.base.end == next.base.start && !hunk.base.is_empty();
        if !touches || next.own.is_empty() {
            return false;
        }
        let outline = self.outline(next.side);
        let is_heading = |node: usize| outline.nodes[node].sort == Sort::Heading;
        if row.nodes[next.side].get(next.own.start).is_some_and(|node| is_heading(*node)) {
            return false;
        }
        let heading = row.nodes[next.side][..next.own.start].iter().rev().copied().find(|node| is_heading(*node));
        let base = heading.and_then(|node| self.sides.origin(next.side, node));
        base.and_then(|base| row.nodes[BASE].iter().position(|node| *node == base)).is_some_and(|at| hunk.base.contains(&at))
    }

    fn merge_cluster(&mut self, row: &Row, base: Range<usize>, cluster: &[Hunk]) {
        let list = |hunk: &Hunk| row.nodes[hunk.side][hunk.own.clone()].to_vec();
        match cluster {
            [hunk] => {
                if self.is_lossy(row, hunk, base.clone()) {
                    self.conflict_row(row, base, cluster, Reason::RemovedAndChanged);
                } else {
                    list(hunk).into_iter().for_each(|node| self.put(hunk.side, node));
                }
            }
            [a, b] if a.side != b.side && a.base == b.base && (a.base.is_empty() || self.is_same(a, b, &list(a), &list(b))) => {
                let (ours, theirs) = if a.side == OURS { (a, b) } else { (b, a) };
                if !self.merge_added(&list(ours), &list(theirs), None) {
                    self.conflict_row(row, base, cluster, Reason::BothAdded);
                }
            }
            [a, b] if self.adds_alike(row, a, b) => {
                if cluster.iter().any(|hunk| self.is_lossy(row, hunk, base.clone())) {
                    return self.conflict_row(row, base, cluster, Reason::RemovedAndChanged);
                }
                let (ours, theirs) = if a.side == OURS { (a, b) } else { (b, a) };
                self.merge_added(&list(ours), &list(theirs), Some(a.side));
            }
            _ if cluster.iter().all(|hunk| hunk.own.is_empty()) => {
                if cluster.iter().any(|hunk| self.is_lossy(row, hunk, base.clone())) {
                    self.conflict_row(row, base, cluster, Reason::RemovedAndChanged);
                }
            }
            _ => self.conflict_row(row, base, cluster, Reason::BothChanged),
        }
    }

    /// Whether a hunk removes a child that the other side changed, or took along one that is contested.
    fn is_lossy(&self, row: &Row, hunk: &Hunk, base: Range<usize>) -> bool {
        let other = OURS + THEIRS - hunk.side;
        base.filter(|at| hunk.base.contains(at)).any(|at| {
            let node = row.nodes[BASE][at];
            let stays = row.stayed[other - 1][at].is_some();
            match self.sides.there(hunk.side, node) {
                Some(_) => stays && self.known.contested.contains(&node),
                None => stays && self.is_touched(other, node, hunk.side),
            }
        })
    }

    /// Whether a side changed a block of the base that another side removed. What that side kept elsewhere is left out.
    fn is_touched(&self, side: usize, base: usize, remover: usize) -> bool {
        let Some(there) = self.sides.there(side, base) else { return false };
        let (old, new) = (self.outline(BASE), self.outline(side));
        if old.text(base) == new.text(there) && !old.descendants(base).any(|inner| self.known.contested.contains(&inner)) {
            return false;
        }
        if old.is_leaf(base) || new.is_leaf(there) {
            return true;
        }
        let own = |outline: &Outline<'_>, node: usize| {
            [Role::Open, Role::Mark, Role::Close]
                .map(|role| outline.own(node, role).map(|atom| outline.atom_text(atom).to_owned()))
        };
        let children = |child: usize| {
            let kept = self.sides.there(remover, child).is_some();
            let here = self.sides.there(side, child).is_some_and(|node| new.nodes[node].parent == there);
            if kept { here && self.known.contested.contains(&child) } else { here && self.is_touched(side, child, remover) }
        };
        own(old, base) != own(new, there)
            || old.children(base).any(children)
            || new
                .children(there)
                .any(|child| self.sides.origin(side, child).is_none_or(|origin| old.nodes[origin].parent != base))
    }

    /// Whether two hunks put the same blocks at the same place.
    fn is_same(&self, a: &Hunk, b: &Hunk, left: &[usize], right: &[usize]) -> bool {
        left.len() == right.len() && left.iter().zip(right).all(|(x, y)| self.said(a.side, *x) == self.said(b.side, *y))
    }

    /// Writes what both sides added at one place: what both added alike once, the rest in an order that keeps each block under
    /// its own heading; `first` is the side whose place is before the other's. Returns whether there is an order; if not,
    /// nothing was written.
    fn merge_added(&mut self, ours: &[usize], theirs: &[usize], first: Option<usize>) -> bool {
        let said = |side: usize, list: &[usize]| list.iter().map(|node| self.said(side, *node)).collect::<Vec<_>>();
        let (left, right) = (said(OURS, ours), said(THEIRS, theirs));
        // Compared in one direction, whichever side is which.
        let turned = left > right;
        let (a, b) = if turned { (&right, &left) } else { (&left, &right) };
        let mut steps: Vec<(bool, Range<usize>, Range<usize>)> = Vec::new();
        for op in similar::capture_diff_slices(similar::Algorithm::Myers, a, b) {
            let equal = matches!(op, similar::DiffOp::Equal { .. });
            let (old, new) = if turned { (op.new_range(), op.old_range()) } else { (op.old_range(), op.new_range()) };
            match steps.last_mut() {
                Some((false, a, b)) if !equal => (a.end, b.end) = (old.end, new.end),
                _ => steps.push((equal, old, new)),
            }
        }
        let mut orders = Vec::new();
        for (equal, a, b) in &steps {
            if *equal {
                continue;
            }
            match first.or_else(|| self.order_added(&ours[a.clone()], &theirs[b.clone()])) {
                Some(first) => orders.push(first),
                None => return false,
            }
        }
        let mut orders = orders.into_iter();
        for (equal, a, b) in steps {
            if equal {
                for (ours, theirs) in a.map(|at| ours[at]).zip(b.map(|at| theirs[at])) {
                    self.pair_twins(ours, theirs);
                    self.put(OURS, ours);
                }
                continue;
            }
            let first = orders.next().unwrap_or(OURS);
            for side in [first, OURS + THEIRS - first] {
                let list = if side == OURS { &ours[a.clone()] } else { &theirs[b.clone()] };
                list.iter().for_each(|node| self.put(side, *node));
            }
        }
        true
    }

    fn pair_twins(&mut self, ours: usize, theirs: usize) {
        let (a, b) = (self.outline(OURS), self.outline(THEIRS));
        let (inside_a, inside_b) = (ours..a.nodes[ours].last, theirs..b.nodes[theirs].last);
        if inside_a.len() == inside_b.len() {
            self.twins.extend(inside_a.zip(inside_b));
        }
    }

    /// Returns the side whose blocks come first, whichever side is which.
    fn order_added(&self, ours: &[usize], theirs: &[usize]) -> Option<usize> {
        if ours.is_empty() || theirs.is_empty() {
            return Some(OURS);
        }
        let named = |side: usize, node: usize| {
            let node = &self.outline(side).nodes[node];
            (!node.id.is_empty()).then_some((node.sort, node.id.clone()))
        };
        let new = |side: usize, node: &usize| self.sides.origin(side, *node).is_none();
        let names: BTreeSet<_> = ours.iter().filter(|node| new(OURS, node)).filter_map(|node| named(OURS, *node)).collect();
        if theirs
            .iter()
            .filter(|node| new(THEIRS, node))
            .filter_map(|node| named(THEIRS, *node))
            .any(|name| names.contains(&name))
        {
            return None;
        }
        let levels = |side: usize, list: &[usize]| -> Vec<Option<u8>> {
            let outline = self.outline(side);
            let level = |node: &usize| outline.nodes[*node].block.and_then(|at| outline.version.tree.block(at).heading_level());
            list.iter().map(level).collect()
        };
        let (a, b) = (levels(OURS, ours), levels(THEIRS, theirs));
        // Blocks may follow others when those have no heading, or when they begin with one that is not below any of them.
        let follows = |first: &[Option<u8>], second: &[Option<u8>]| {
            let highest = first.iter().flatten().min();
            highest.is_none_or(|highest| second.first().copied().flatten().is_some_and(|level| level <= *highest))
        };
        let text = |side: usize, list: &[usize]| list.iter().map(|node| self.outline(side).text(*node)).collect::<Vec<_>>();
        match (follows(&a, &b), follows(&b, &a)) {
            (true, false) => Some(OURS),
            (false, true) => Some(THEIRS),
            (true, true) => Some(if text(OURS, ours) <= text(THEIRS, theirs) { OURS } else { THEIRS }),
            (false, false) => None,
        }
    }

    fn conflict_row(&mut self, row: &Row, base: Range<usize>, cluster: &[Hunk], reason: Reason) {
        let own = |side: usize| -> Vec<usize> {
            let mut own = cluster.iter().filter(|hunk| hunk.side == side);
            let range = match (own.next(), own.next_back()) {
                (Some(first), last) => {
                    let last = last.unwrap_or(first);
                    first.own.start - (first.base.start - base.start)..last.own.end + (base.end - last.base.end)
                }
                // It did nothing here, so all of it stayed.
                (None, _) => {
                    let at = |at: usize| row.stayed[side - 1].get(at).copied().flatten();
                    match (at(base.start), base.end.checked_sub(1).and_then(at)) {
                        (Some(first), Some(last)) if !base.is_empty() => first..last + 1,
                        _ => 0..0,
                    }
                }
            };
            row.nodes[side].get(range).map(<[usize]>::to_vec).unwrap_or_default()
        };
        let nodes = [row.nodes[BASE][base.clone()].to_vec(), own(OURS), own(THEIRS)];
        self.conflict(reason, nodes);
    }
}

impl Row {
    /// Returns what a side did.
    fn hunks(&self, side: usize) -> Vec<Hunk> {
        let mut hunks = Vec::new();
        let (mut base, mut own) = (0, 0);
        let ends = std::iter::once((self.nodes[BASE].len(), self.nodes[side].len()));
        let steady = self.stayed[side - 1].iter().enumerate().filter_map(|(at, there)| Some((at, (*there)?)));
        for (at, there) in steady.chain(ends) {
            if base < at || own < there {
                hunks.push(Hunk { side, base: base..at, own: own..there });
            }
            (base, own) = (at + 1, there + 1);
        }
        hunks
    }
}

impl Site {
    /// Returns the conflict as it is shown.
    pub(crate) fn shown(&self, sides: &Sides<'_>) -> BlockConflict {
        let text = |side: usize| {
            let events = self.sides[side].as_ref()?;
            let outline = &sides.outlines[side];
            if events.contains(&Event::All { side }) {
                return Some(outline.source().to_owned());
            }
            let atoms = events.iter().filter_map(|event| if let Event::Atom { atom, .. } = event { Some(*atom) } else { None });
            let (first, last) = (atoms.clone().min()?, atoms.max()?);
            outline.source().get(outline.atoms[first].range.start..outline.atoms[last].range.end).map(str::to_owned)
        };
        let (side, node) = self.at;
        let outline = &sides.outlines[side];
        let block = outline.nodes[node].sort.name();
        let path = outline.section(node);
        let words: Vec<&str> = outline.text(node).split_whitespace().take(6).collect();
        let mut place = path.clone();
        place.push(if node == 0 { block.to_owned() } else { format!("{block} \"{}\"", words.join(" ")) });
        BlockConflict {
            place: place.join(" › "),
            path,
            block,
            reason: self.reason,
            base: text(BASE),
            ours: text(OURS),
            theirs: text(THEIRS),
        }
    }
}
