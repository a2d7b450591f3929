//! Three-way merge of one document, block by block: by id and content, items, rows and front matter keys included. Only two
//! different changes to one block conflict. A conflict is a value with all three sides; nothing is guessed, and nothing that a
//! side wrote is dropped. The result is parsed again, and what would read otherwise than its blocks do is a conflict too.
//!
//! Sabotage: `unsorted_merge` builds a merge that forgets the order in which changes stand; the properties in `tests/blocks/merge.rs`
//! must fail.

mod account;
mod text;
mod weave;

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

use deckle_doc::Ids;
use serde::Serialize;

use crate::diff::Version;
use crate::diff::matching::Matching;
use crate::diff::outline::Outline;
use text::Flat;
use weave::{Event, Known, Weave, Woven};

/// How often a merge is begun anew with what the last attempt found out.
const ATTEMPTS: usize = 8;

/// A merged document.
#[derive(Clone, Debug)]
pub struct Merged {
    /// Its text.
    pub text: String,
    /// Its blocks' ids.
    pub ids: Ids,
}

/// Why a merge cannot decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// Both sides changed it in different ways.
    BothChanged,
    /// One side removed what the other changed.
    RemovedAndChanged,
    /// One side moved what the other removed, or both moved it to different places.
    Moved,
    /// Both sides put something at one place, and the order matters.
    BothAdded,
    /// Side by side the blocks would read as something else.
    Unreadable,
}

impl Reason {
    /// Says it to a person.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BothChanged => "changed on both sides",
            Self::RemovedAndChanged => "removed on one side and changed on the other",
            Self::Moved => "moved on one side, and removed or moved elsewhere on the other",
            Self::BothAdded => "added on both sides at the same place",
            Self::Unreadable => "the blocks of both sides would read as something else side by side",
        }
    }
}

/// A block that both sides changed in different ways.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BlockConflict {
    /// Where it is, for people.
    pub place: String,
    /// The headings over it, the outermost first.
    pub path: Vec<String>,
    /// What kind of block it is.
    pub block: &'static str,
    /// Why it is one.
    pub reason: Reason,
    /// What both began with; none: nothing was there.
    pub base: Option<String>,
    /// What ours says; none: removed.
    pub ours: Option<String>,
    /// What theirs says; none: removed.
    pub theirs: Option<String>,
}

impl fmt::Display for BlockConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.reason.as_str())
    }
}

/// What a person says about one conflict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// What ours says.
    Ours,
    /// What theirs says.
    Theirs,
    /// What was there before both.
    Base,
    /// This text; empty: nothing.
    Write(String),
}

/// Merges what two sides made of one document.
///
/// # Errors
/// Every block that both changed, or the document when its blocks would not read as they should side by side.
pub fn merge(base: Version<'_>, ours: Version<'_>, theirs: Version<'_>) -> Result<Merged, Vec<BlockConflict>> {
    let (base_text, ours_text, theirs_text) = (base.tree.source(), ours.tree.source(), theirs.tree.source());
    if ours_text == theirs_text || base_text == theirs_text {
        return Ok(Merged { text: ours_text.to_owned(), ids: ours.ids.clone() });
    }
    if base_text == ours_text {
        return Ok(Merged { text: theirs_text.to_owned(), ids: theirs.ids.clone() });
    }
    Merge::new(base, ours, theirs).into_result()
}

/// A merge that is worked out: clean, or with conflicts to resolve.
#[must_use = "a merge is a text only after `into_result` or `resolve`"]
pub struct Merge<'a> {
    sides: Sides<'a>,
    woven: Woven,
    conflicts: Vec<BlockConflict>,
    /// The result, when no conflict is left.
    clean: Option<Merged>,
}

/// The three versions and their pairs.
pub(crate) struct Sides<'a> {
    /// Base, ours, theirs.
    pub(crate) outlines: [Outline<'a>; 3],
    /// From base to ours, and to theirs.
    pub(crate) pairs: [Matching; 2],
}

pub(crate) const BASE: usize = 0;
pub(crate) const OURS: usize = 1;
pub(crate) const THEIRS: usize = 2;

impl<'a> Sides<'a> {
    fn new(base: Version<'a>, ours: Version<'a>, theirs: Version<'a>) -> Self {
        let outlines = [Outline::new(base), Outline::new(ours), Outline::new(theirs)];
        let pairs = [Matching::new(&outlines[BASE], &outlines[OURS]), Matching::new(&outlines[BASE], &outlines[THEIRS])];
        Sides { outlines, pairs }
    }

    pub(crate) fn base(&self) -> &Outline<'a> {
        &self.outlines[BASE]
    }

    /// Returns the pairs of the base with a side.
    pub(crate) fn of(&self, side: usize) -> &Matching {
        &self.pairs[side - 1]
    }

    /// Returns the node of the base that a node of any side came from.
    pub(crate) fn origin(&self, side: usize, node: usize) -> Option<usize> {
        if side == BASE { Some(node) } else { self.of(side).to_old[node] }
    }

    /// Returns where a node of the base stands on a side.
    pub(crate) fn there(&self, side: usize, base: usize) -> Option<usize> {
        if side == BASE { Some(base) } else { self.of(side).to_new[base] }
    }
}

impl<'a> Merge<'a> {
    /// Works out a merge.
    pub fn new(base: Version<'a>, ours: Version<'a>, theirs: Version<'a>) -> Self {
        let sides = Sides::new(base, ours, theirs);
        let mut known = Known::default();
        for _ in 0..ATTEMPTS {
            let woven = Weave::new(&sides, &known).run();
            if !woven.contested.is_subset(&known.contested) {
                known.contested.extend(woven.contested);
                continue;
            }
            if !account::is_complete(&sides, &woven) {
                break;
            }
            let conflicts = woven.sites.iter().map(|site| site.shown(&sides)).collect();
            if !woven.sites.is_empty() {
                return Merge { sides, woven, conflicts, clean: None };
            }
            match Flat::new(&sides, &woven, &[]).proven() {
                Ok(merged) => return Merge { sides, woven, conflicts, clean: Some(merged) },
                Err(Some(misfit)) => {
                    let again = misfit.top.is_none_or(|top| !known.whole.insert(top));
                    if again {
                        let within = |seam: &Range<usize>| seam.start <= misfit.seam.start && seam.end >= misfit.seam.end;
                        if known.seams.iter().any(within) {
                            break;
                        }
                        known.seams.push(misfit.seam);
                    }
                }
                Err(None) => break,
            }
        }
        let woven = Woven::of_document();
        let conflicts = woven.sites.iter().map(|site| site.shown(&sides)).collect();
        Merge { sides, woven, conflicts, clean: None }
    }

    /// Returns the conflicts, in the order of the text.
    pub fn conflicts(&self) -> &[BlockConflict] {
        &self.conflicts
    }

    /// Returns the result.
    ///
    /// # Errors
    /// When there are conflicts.
    pub fn into_result(self) -> Result<Merged, Vec<BlockConflict>> {
        self.clean.ok_or(self.conflicts)
    }

    /// Returns the result with a choice for each conflict, in their order.
    ///
    /// # Errors
    /// The conflicts without a choice; or all of them, when what was chosen would not read as its blocks do.
    pub fn resolve(&self, choices: &[Choice]) -> Result<Merged, Vec<BlockConflict>> {
        if choices.len() < self.conflicts.len() {
            return Err(self.conflicts[choices.len()..].to_vec());
        }
        if let Some(clean) = &self.clean {
            return Ok(clean.clone());
        }
        let unreadable = |_: Option<text::Misfit>| {
            let conflicts = self.conflicts.iter().cloned();
            conflicts.map(|conflict| BlockConflict { reason: Reason::Unreadable, ..conflict }).collect()
        };
        Flat::new(&self.sides, &self.woven, choices).proven().map_err(unreadable)
    }
}

impl Woven {
    /// The whole document as one conflict.
    fn of_document() -> Self {
        let all = |side: usize| vec![Event::All { side }];
        let site = weave::Site {
            sides: [Some(all(BASE)), Some(all(OURS)), Some(all(THEIRS))],
            reason: Reason::Unreadable,
            at: (BASE, 0),
        };
        Woven { events: vec![Event::Conflict(0)], sites: vec![site], contested: BTreeSet::new() }
    }
}
