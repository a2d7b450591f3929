//! Why changes were made, and which of them go together.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use deckle_doc::DocKey;
use serde::Serialize;

use crate::diff::{self, Change, ChangeId, ChangeKind, Pair};

/// One write on a branch, in the order in which they were made: its reason, and what it did to documents.
#[derive(Clone, Debug)]
pub struct Step {
    /// Why, in words.
    pub intent: String,
    /// The documents before and after it; renamed ones with the key before.
    pub documents: BTreeMap<DocKey, Pair>,
}

/// Changes that were made for one reason, in the order of the reasons.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Group {
    /// The reason.
    pub intent: String,
    /// The changes.
    pub changes: Vec<ChangeId>,
}

/// Gives each change the reason of the last write that made it what it is. What no write made keeps the reason it has.
pub fn attribute(changes: &mut [Change], steps: &[Step]) {
    let mut last: HashMap<(String, String), &str> = HashMap::new();
    let mut whole: HashMap<String, &str> = HashMap::new();
    for step in steps {
        for (key, pair) in &step.documents {
            // A document that was renamed later is found under the key that it has in the end.
            let now = now(steps, step, key);
            for change in diff::of_document(key, pair) {
                match change.kind {
                    ChangeKind::DocumentCreated | ChangeKind::DocumentDeleted | ChangeKind::DocumentRenamed => {
                        whole.insert(now.clone(), &step.intent);
                    }
                    _ => {}
                }
                for block in &change.blocks {
                    last.insert((now.clone(), block.clone()), &step.intent);
                }
            }
        }
    }
    for change in changes {
        let reason = match change.kind {
            ChangeKind::DocumentCreated | ChangeKind::DocumentDeleted | ChangeKind::DocumentRenamed => whole.get(&change.key),
            _ => change.blocks.iter().find_map(|block| last.get(&(change.key.clone(), block.clone()))),
        };
        if let Some(reason) = reason {
            (*reason).clone_into(&mut change.intent);
        }
    }
}

/// The key that a document of a step has after the last step.
fn now(steps: &[Step], step: &Step, key: &DocKey) -> String {
    let later = steps.iter().skip_while(|one| !std::ptr::eq(*one, step)).skip(1);
    let mut now = key.clone();
    for one in later {
        if let Some((to, _)) = one.documents.iter().find(|(_, pair)| pair.from.as_ref() == Some(&now)) {
            now = to.clone();
        }
    }
    now.to_string()
}

/// Groups changes by their reasons, in the order in which the reasons are first met. A rename stands before what it caused,
/// and each change that was made with it needs it.
#[must_use]
pub fn groups(changes: &[Change]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut place: HashMap<&str, usize> = HashMap::new();
    let renames = changes.iter().filter(|change| change.kind == ChangeKind::DocumentRenamed);
    let others = changes.iter().filter(|change| change.kind != ChangeKind::DocumentRenamed);
    for change in renames.chain(others) {
        let at = *place.entry(&change.intent).or_insert_with(|| {
            groups.push(Group { intent: change.intent.clone(), changes: Vec::new() });
            groups.len() - 1
        });
        groups[at].changes.push(change.id.clone());
    }
    let order: HashMap<&ChangeId, usize> = changes.iter().enumerate().map(|(at, change)| (&change.id, at)).collect();
    groups.sort_by_key(|group| group.changes.iter().filter_map(|id| order.get(id)).min().copied());
    groups
}

/// Adds to a selection all that its changes need.
#[must_use]
pub fn closure(changes: &[Change], selected: &BTreeSet<ChangeId>) -> BTreeSet<ChangeId> {
    let by_id: HashMap<&ChangeId, &Change> = changes.iter().map(|change| (&change.id, change)).collect();
    let mut all = BTreeSet::new();
    let mut open: Vec<ChangeId> = selected.iter().cloned().collect();
    while let Some(id) = open.pop() {
        if let (Some(change), true) = (by_id.get(&id), all.insert(id.clone())) {
            open.extend(change.needs.iter().cloned());
        }
    }
    all
}
