//! The graph of links: what stands around a document, and how one leads to another.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use deckle_doc::DocKey;

use crate::corpus::{Corpus, Reference};

/// Which way links are followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// From a document to what it links to.
    Out,
    /// From a document to what links to it.
    In,
    /// Both.
    #[default]
    Both,
}

/// A document near another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// The document.
    pub key: DocKey,
    /// How many links away.
    pub distance: usize,
    /// The documents one step nearer that link to it, or that it links to.
    pub via: BTreeSet<DocKey>,
}

/// One link of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The document that holds the link.
    pub from: DocKey,
    /// The document that it means.
    pub to: DocKey,
    /// The link as written.
    pub written: String,
    /// Whether the chain follows the link, and not against it.
    pub forward: bool,
}

impl Corpus {
    /// Returns the documents at most `depth` links away, nearest first and then by key.
    #[must_use]
    pub fn document_links(&self, key: &DocKey, depth: usize, direction: Direction) -> Vec<Neighbour> {
        let mut found: BTreeMap<DocKey, Neighbour> = BTreeMap::new();
        let mut layer = vec![key.clone()];
        for distance in 1..=depth {
            let mut next = Vec::new();
            for at in &layer {
                for near in self.beside(at, direction) {
                    if near == key {
                        continue;
                    }
                    let neighbour = found.entry(near.clone()).or_insert_with(|| {
                        next.push(near.clone());
                        Neighbour { key: near.clone(), distance, via: BTreeSet::new() }
                    });
                    if neighbour.distance == distance {
                        neighbour.via.insert(at.clone());
                    }
                }
            }
            if next.is_empty() {
                break;
            }
            layer = next;
        }
        let mut all: Vec<Neighbour> = found.into_values().collect();
        all.sort_by(|a, b| (a.distance, &a.key).cmp(&(b.distance, &b.key)));
        all
    }

    /// Returns a shortest chain of links from one document to another, with the links that make it; nothing when there is none.
    /// Of several the one whose documents come first by key.
    #[must_use]
    pub fn document_path(&self, from: &DocKey, to: &DocKey, direction: Direction) -> Option<Vec<Hop>> {
        if !self.contains(from) || !self.contains(to) {
            return None;
        }
        let mut before: BTreeMap<&DocKey, &DocKey> = BTreeMap::new();
        let mut queue = VecDeque::from([from]);
        while let Some(at) = queue.pop_front() {
            if at == to {
                break;
            }
            for near in self.beside(at, direction) {
                if near != from && !before.contains_key(near) {
                    before.insert(near, at);
                    queue.push_back(near);
                }
            }
        }
        let mut hops = Vec::new();
        let mut at = to;
        while at != from {
            let earlier = *before.get(at)?;
            hops.push(self.hop(earlier, at, direction)?);
            at = earlier;
        }
        hops.reverse();
        Some(hops)
    }

    fn hop(&self, a: &DocKey, b: &DocKey, direction: Direction) -> Option<Hop> {
        let find = |from: &DocKey, to: &DocKey| -> Option<String> {
            let links = |reference: &Reference<'_>| reference.link.kind.is_edge() && reference.target.document() == Some(to);
            let reference = self.outgoing(from).into_iter().find(links)?;
            Some(reference.link.written(self.get(from)?.text()).to_owned())
        };
        let forward = if direction == Direction::In { None } else { find(a, b) };
        match forward {
            Some(written) => Some(Hop { from: a.clone(), to: b.clone(), written, forward: true }),
            None => find(b, a).map(|written| Hop { from: b.clone(), to: a.clone(), written, forward: false }),
        }
    }

    fn beside(&self, key: &DocKey, direction: Direction) -> BTreeSet<&DocKey> {
        let mut all = BTreeSet::new();
        if direction != Direction::In {
            all.extend(self.references(key));
        }
        if direction != Direction::Out {
            all.extend(self.referenced_by(key));
        }
        all
    }
}
