//! From a woven document to its bytes, and the proof that they read as they should.

use std::ops::Range;

use deckle_doc::{Ids, Tree};

use super::weave::{Event, Woven};
use super::{BASE, Choice, Merged, OURS, Sides, THEIRS};
use crate::diff::Version;
use crate::diff::outline::{Outline, Role, Sort, line_end};

/// An atom of the result.
#[derive(Debug)]
struct Token {
    text: String,
    /// What it is; none when a person wrote it.
    is: Option<(Sort, Role, usize)>,
    /// Its first and last atoms in the three versions.
    first: [Option<usize>; 3],
    last: [Option<usize>; 3],
}

/// A block of the result, in preorder.
#[derive(Debug)]
struct Placed {
    side: usize,
    node: usize,
    depth: usize,
    /// How many tokens stand before it.
    token: usize,
    /// The block of the base at the top around it, when there is one.
    top: Option<usize>,
}

/// Where the text reads otherwise than it should.
#[derive(Debug)]
pub(super) struct Misfit {
    /// The block of the base at the top in which it is.
    pub(super) top: Option<usize>,
    /// The same as positions of the base's top row, with what was put beside.
    pub(super) seam: Range<usize>,
}

/// The result as a row of tokens.
pub(super) struct Flat<'s, 'a> {
    sides: &'s Sides<'a>,
    tokens: Vec<Token>,
    placed: Vec<Placed>,
    /// Whether a person wrote a part.
    written: bool,
}

impl<'s, 'a> Flat<'s, 'a> {
    /// Lays out a woven document with a choice for each conflict.
    pub(super) fn new(sides: &'s Sides<'a>, woven: &Woven, choices: &[Choice]) -> Self {
        let mut flat = Flat { sides, tokens: Vec::new(), placed: Vec::new(), written: false };
        let mut open: Vec<Option<usize>> = Vec::new();
        for event in &woven.events {
            let Event::Conflict(at) = event else {
                flat.take(event, &mut open);
                continue;
            };
            let site = &woven.sites[*at];
            let side = match &choices[*at] {
                Choice::Ours => OURS,
                Choice::Theirs => THEIRS,
                Choice::Base => BASE,
                Choice::Write(text) => {
                    flat.write(text, &site.sides);
                    continue;
                }
            };
            site.sides[side].iter().flatten().for_each(|event| flat.take(event, &mut open));
        }
        flat
    }

    fn take(&mut self, event: &Event, open: &mut Vec<Option<usize>>) {
        match event {
            Event::Enter { side, node } => {
                let base = self.sides.origin(*side, *node);
                let top = if open.len() == 1 { base } else { open.last().copied().flatten() };
                self.placed.push(Placed { side: *side, node: *node, depth: open.len(), token: self.tokens.len(), top });
                open.push(top);
            }
            Event::Leave => {
                open.pop();
                // A list without items is none.
                let is_bare = |placed: &Placed| {
                    let sort = self.sides.outlines[placed.side].nodes[placed.node].sort;
                    placed.token == self.tokens.len() && placed.depth == open.len() && sort != Sort::FrontMatter
                };
                if self.placed.last().is_some_and(is_bare) {
                    self.placed.pop();
                }
            }
            Event::Atom { side, atom, places } => {
                let outline = &self.sides.outlines[*side];
                let (node, role) = (outline.atoms[*atom].node, outline.atoms[*atom].role);
                let is = Some((outline.nodes[node].sort, role, open.len().saturating_sub(1)));
                let text = outline.atom_text(*atom).to_owned();
                self.tokens.push(Token { text, is, first: *places, last: *places });
            }
            Event::All { side } => {
                let outline = &self.sides.outlines[*side];
                for atom in 0..outline.atoms.len() {
                    let mut places = [None; 3];
                    places[*side] = Some(atom);
                    let node = &outline.nodes[outline.atoms[atom].node];
                    let is = Some((node.sort, outline.atoms[atom].role, node.depth));
                    self.tokens.push(Token { text: outline.atom_text(atom).to_owned(), is, first: places, last: places });
                }
                self.placed.extend((0..outline.nodes.len()).map(|node| {
                    let (depth, token) = (outline.nodes[node].depth, outline.nodes[node].atoms.start);
                    Placed { side: *side, node, depth, token, top: None }
                }));
            }
            Event::Conflict(_) => {}
        }
    }

    fn write(&mut self, text: &str, sides: &[Option<Vec<Event>>; 3]) {
        self.written = true;
        let text = text.trim_end_matches(['\n', '\r']);
        let places = |side: usize, last: bool| {
            let atoms = sides[side].iter().flatten().filter_map(|event| match event {
                Event::Atom { atom, .. } => Some(*atom),
                Event::All { side } if last => self.sides.outlines[*side].atoms.len().checked_sub(1),
                Event::All { .. } => Some(0),
                _ => None,
            });
            if last { atoms.max() } else { atoms.min() }
        };
        let [first, last] = [false, true].map(|last| [BASE, OURS, THEIRS].map(|side| places(side, last)));
        if !text.is_empty() {
            self.tokens.push(Token { text: text.to_owned(), is: None, first, last });
        }
    }

    /// Returns the text.
    fn text(&self) -> String {
        let mut out = String::new();
        for (at, token) in self.tokens.iter().enumerate() {
            out.push_str(&token.text);
            if let Some(next) = self.tokens.get(at + 1) {
                out.push_str(&self.gap(token, next));
            }
        }
        out
    }

    /// Returns what stands between two tokens: what a side that has them side by side has there.
    fn gap(&self, left: &Token, right: &Token) -> String {
        let side = |side: usize| {
            let (left, right) = (left.last[side]?, right.first[side]?);
            (left + 1 == right).then(|| self.sides.outlines[side].gap(left))
        };
        three_way(side(BASE), side(OURS), side(THEIRS)).map_or_else(|| self.new_gap(left, right), str::to_owned)
    }

    /// Makes a gap for two tokens that were never side by side.
    fn new_gap(&self, left: &Token, right: &Token) -> String {
        let after = |side: usize| Some(self.sides.outlines[side].gap(left.last[side]?));
        let before = |side: usize| Some(self.sides.outlines[side].gap(right.first[side]?.checked_sub(1)?));
        let after = three_way(after(BASE), after(OURS), after(THEIRS)).unwrap_or_default();
        let before = three_way(before(BASE), before(OURS), before(THEIRS)).unwrap_or_default();
        let is_end = right.is.is_some_and(|(sort, role, _)| sort == Sort::Document && role == Role::Close);
        if is_end {
            return before.to_owned();
        }
        if left.text.is_empty() && self.tokens.first().is_some_and(|first| std::ptr::eq(first, left)) {
            return after.to_owned();
        }
        let lined = |token: &Token| {
            token.is.is_some_and(|(sort, role, _)| {
                matches!(sort, Sort::Row | Sort::Delimiter | Sort::Entry | Sort::FrontMatter) || role != Role::Text
            })
        };
        let needed = match right.is {
            Some((Sort::Item, Role::Open, _)) => 1,
            _ if lined(left) || lined(right) => 1,
            _ => 2,
        };
        if lines(before) >= needed.max(lines(after)) {
            return before.to_owned();
        }
        let prefix = |gap: &str| gap[gap.rfind(['\n', '\r']).map_or(0, |at| at + 1)..].to_owned();
        if lines(after) >= needed && prefix(after) == prefix(before) {
            return after.to_owned();
        }
        let end = line_end(self.sides.outlines[OURS].source());
        let prefix = if lines(before) > 0 || before.is_empty() { prefix(before) } else { String::new() };
        let blank = prefix.trim_end();
        let mut out = String::from(end);
        for _ in 1..needed.max(lines(after)).min(3) {
            out.push_str(blank);
            out.push_str(end);
        }
        out + &prefix
    }

    /// Parses the text and takes it only when its blocks are those that were put together.
    ///
    /// # Errors
    /// Where it reads otherwise, when that can be said.
    pub(super) fn proven(&self) -> Result<Merged, Option<Misfit>> {
        let text = self.text();
        let ours = &self.sides.outlines[OURS];
        let tree = Tree::parse(text.as_str(), ours.version.tree.dialect()).map_err(|_| None)?;
        let derived = Ids::derive(&tree);
        let found = Outline::new(Version { tree: &tree, ids: &derived });
        if self.written {
            return if self.reads_as_written(&found) {
                let ids = Ids::carry(ours.version.tree, ours.version.ids, &tree);
                Ok(Merged { text, ids })
            } else {
                Err(None)
            };
        }
        let same_atoms = self.tokens.iter().zip(&found.atoms).take_while(|(token, atom)| {
            let node = &found.nodes[atom.node];
            token.is == Some((node.sort, atom.role, node.depth)) && token.text == found.source()[atom.range.clone()]
        });
        let same = same_atoms.count();
        if same < self.tokens.len() || same < found.atoms.len() {
            return Err(self.misfit(same));
        }
        let nodes = self.placed.iter().zip(&found.nodes);
        let all = self.placed.len() == found.nodes.len()
            && nodes.clone().all(|(placed, node)| {
                placed.depth == node.depth && self.sides.outlines[placed.side].nodes[placed.node].sort == node.sort
            });
        if !all {
            let wrong = nodes.clone().find(|(placed, node)| {
                placed.depth != node.depth || self.sides.outlines[placed.side].nodes[placed.node].sort != node.sort
            });
            return Err(wrong.and_then(|(placed, _)| self.misfit(placed.token)));
        }
        let names = self.names(&found);
        let ids = Ids::from_names(&tree, &names).unwrap_or_else(|| Ids::carry(ours.version.tree, ours.version.ids, &tree));
        Ok(Merged { text, ids })
    }

    /// Names the place of a token that reads otherwise.
    fn misfit(&self, token: usize) -> Option<Misfit> {
        let row: Vec<usize> = self.sides.base().children(0).collect();
        let mut before: Option<usize> = None;
        let (mut last, mut this) = (0..0, 0..0);
        let mut top = None;
        for placed in self.placed.iter().filter(|placed| placed.depth == 1).take_while(|placed| placed.token <= token) {
            let base = self.sides.origin(placed.side, placed.node);
            let stays = |base: &usize| [OURS, THEIRS].into_iter().all(|side| self.sides.of(side).in_order[*base]);
            let at = base.filter(stays).and_then(|base| row.binary_search(&base).ok());
            let here = match at {
                Some(at) => at..at + 1,
                None => before.map_or(0..0, |before| before + 1..before + 1),
            };
            before = at.or(before);
            (last, this) = (this, here);
            top = placed.top;
        }
        let seam = last.start.min(this.start)..last.end.max(this.end);
        Some(Misfit { top: top.filter(|top| *top != 0), seam })
    }

    /// Gives each block the id that it had; of blocks that came with one id, the second gets another.
    fn names(&self, found: &Outline<'_>) -> Vec<String> {
        let tree = found.version.tree;
        let mut names: Vec<String> = found.version.ids.names().map(str::to_owned).collect();
        let mut known = vec![false; names.len()];
        let mut set = |index: usize, name: String| {
            if let (Some(slot), Some(known)) =
                (index.checked_sub(1).and_then(|at| names.get_mut(at)), known.get_mut(index.wrapping_sub(1)))
            {
                (*slot, *known) = (name, true);
            }
        };
        for (at, (placed, node)) in self.placed.iter().zip(&found.nodes).enumerate() {
            let Some(block) = node.block else { continue };
            let outline = &self.sides.outlines[placed.side];
            let base = self.sides.origin(placed.side, placed.node).map(|base| self.sides.base().nodes[base].id.clone());
            let own = outline.nodes[placed.node].id.clone();
            set(block.0 as usize, base.filter(|id| !id.is_empty()).unwrap_or(own));
            // What is inside a block without parts of its own, such as the cells of a row.
            if let (true, Some(from)) = (found.is_leaf(at), outline.nodes[placed.node].block) {
                let (to, from) = (tree.block(block), outline.version.tree.block(from));
                if to.descendants().len() == from.descendants().len() {
                    for (to, from) in to.descendants().zip(from.descendants()) {
                        if let Some(id) = outline.version.ids.id(from.index()) {
                            set(to.index().0 as usize, id.to_string());
                        }
                    }
                }
            }
        }
        let mut taken: std::collections::HashSet<String> = std::collections::HashSet::new();
        for (name, known) in names.iter_mut().zip(known) {
            let base = name.clone();
            let mut ordinal = if known { 2 } else { 3 };
            while !taken.insert(name.clone()) {
                *name = format!("{base}-{ordinal}");
                ordinal += 1;
            }
        }
        names
    }

    /// Whether the text holds the tokens, and in the place of what a person wrote its blocks.
    fn reads_as_written(&self, found: &Outline<'_>) -> bool {
        let mut seen = (0..found.atoms.len()).filter(|at| found.atoms[*at].node != 0);
        for token in &self.tokens {
            match token.is {
                Some((Sort::Document, ..)) => {}
                Some((sort, role, depth)) => {
                    let fits = seen.next().is_some_and(|at| {
                        let node = &found.nodes[found.atoms[at].node];
                        (node.sort, found.atoms[at].role, node.depth) == (sort, role, depth) && found.atom_text(at) == token.text
                    });
                    if !fits {
                        return false;
                    }
                }
                None => {
                    let Ok(tree) = Tree::parse(token.text.as_str(), found.version.tree.dialect()) else { return false };
                    let ids = Ids::derive(&tree);
                    let own = Outline::new(Version { tree: &tree, ids: &ids });
                    for at in (0..own.atoms.len()).filter(|at| own.atoms[*at].node != 0) {
                        if seen.next().is_none_or(|there| found.atom_text(there) != own.atom_text(at)) {
                            return false;
                        }
                    }
                }
            }
        }
        seen.next().is_none()
    }
}

fn lines(gap: &str) -> usize {
    gap.matches(['\n', '\r']).count() - gap.matches("\r\n").count()
}

/// Returns what one side made of a gap; when both did, the larger one, whichever side is which.
fn three_way<'g>(base: Option<&'g str>, ours: Option<&'g str>, theirs: Option<&'g str>) -> Option<&'g str> {
    match (base, ours, theirs) {
        (Some(base), Some(ours), Some(theirs)) if ours == base => Some(theirs),
        (Some(base), Some(ours), Some(theirs)) if theirs == base => Some(ours),
        (_, Some(ours), Some(theirs)) => {
            Some(if (lines(ours), ours.len(), ours) >= (lines(theirs), theirs.len(), theirs) { ours } else { theirs })
        }
        (_, Some(one), None) | (_, None, Some(one)) | (Some(one), None, None) => Some(one),
        (None, None, None) => None,
    }
}
