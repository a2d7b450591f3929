//! What every test here uses.

use std::collections::BTreeMap;

use deckle_doc::{Dialect, DocKey, Ids, Tree};
use deckle_store::diff::{self, Change, Pair, Version};
use deckle_store::merge::{BlockConflict, Merge, Merged};
use proptest::prelude::ProptestConfig;

/// How many cases of a property run: `count` in every run, `DECKLE_PROVE_SCALE` times as many for a release.
pub fn cases(count: u32) -> ProptestConfig {
    let scale: u32 = std::env::var("DECKLE_PROVE_SCALE").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    ProptestConfig { cases: count * scale, failure_persistence: None, max_shrink_iters: 20_000, ..ProptestConfig::default() }
}

pub type Side = (Tree, Ids);

pub fn key() -> DocKey {
    DocKey::parse("a").unwrap()
}

/// A version whose ids come from its own bytes.
pub fn derived(text: &str) -> Side {
    let tree = Tree::parse(text, Dialect::Generic).unwrap();
    let ids = Ids::derive(&tree);
    (tree, ids)
}

/// A version whose blocks kept the ids that they had in `base`.
pub fn carried(base: &Side, text: &str) -> Side {
    let tree = Tree::parse(text, Dialect::Generic).unwrap();
    let ids = Ids::carry(&base.0, &base.1, &tree);
    (tree, ids)
}

pub fn version(side: &Side) -> Version<'_> {
    Version { tree: &side.0, ids: &side.1 }
}

pub fn pair(before: &Side, after: &Side) -> Pair {
    Pair { from: None, before: Some(before.clone()), after: Some(after.clone()), intent: String::new() }
}

pub fn changes(pair: &Pair) -> Vec<Change> {
    diff::changes(&BTreeMap::from([(key(), pair.clone())]))
}

/// Three versions of a document.
pub struct Triple {
    pub base: Side,
    pub ours: Side,
    pub theirs: Side,
}

impl Triple {
    pub fn carried(base: &str, ours: &str, theirs: &str) -> Self {
        let base = derived(base);
        let (ours, theirs) = (carried(&base, ours), carried(&base, theirs));
        Triple { base, ours, theirs }
    }

    pub fn derived(base: &str, ours: &str, theirs: &str) -> Self {
        Triple { base: derived(base), ours: derived(ours), theirs: derived(theirs) }
    }

    /// Works the merge out without the shortcuts for sides that did nothing.
    pub fn worked_out(&self) -> Merge<'_> {
        Merge::new(version(&self.base), version(&self.ours), version(&self.theirs))
    }

    pub fn merged(&self) -> Result<Merged, Vec<BlockConflict>> {
        self.worked_out().into_result()
    }
}

/// Merges texts; a conflict is drawn as its three sides.
#[track_caller]
pub fn merged(base: &str, ours: &str, theirs: &str) -> String {
    let triple = Triple::carried(base, ours, theirs);
    match triple.merged() {
        Ok(merged) => {
            assert_eq!(merged.ids.names().count(), Tree::parse(merged.text.as_str(), Dialect::Generic).unwrap().len());
            merged.text
        }
        Err(conflicts) => drawn(&conflicts),
    }
}

pub fn drawn(conflicts: &[BlockConflict]) -> String {
    let side = |name: &str, text: &Option<String>| {
        format!("  {name}: {}\n", text.as_ref().map_or("-".into(), |text| format!("{text:?}")))
    };
    conflicts
        .iter()
        .map(|one| format!("{one}\n{}{}{}", side("base", &one.base), side("ours", &one.ours), side("theirs", &one.theirs)))
        .collect()
}
