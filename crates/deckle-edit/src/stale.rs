//! Staleness: a block that changed since the caller read it is not written over. Other blocks are, so that both changes survive.

use std::collections::HashMap;

use deckle_doc::{Block, Ids, Tree};

use crate::blocks::{place, shown_text};
use crate::documents::Documents;
use crate::language::{BlockOp, BlockOpKind};
use crate::plan::Found;
use crate::{EditError, Place, ops};

/// Refuses when a block that an operator selects is not what the caller knows: it changed, it came since, or it is no longer selected.
///
/// # Errors
/// The first such block, with its text as it is now.
pub(crate) fn check(documents: &dyn Documents, found: &Found, op: &BlockOp, revision: Option<&str>) -> Result<(), EditError> {
    let (key, tree, ids, targets) = found;
    let Some((known, known_ids)) = documents.known(key, revision) else {
        return match revision {
            Some(revision) => Err(EditError::NoRevision { key: key.clone(), revision: revision.to_owned() }),
            None => Ok(()),
        };
    };
    // What this transaction did itself is no surprise: the comparison is with the documents before it.
    let Some(base) = documents.tree(key) else { return Ok(()) };
    if base == known {
        return Ok(());
    }
    let base_ids = documents.ids(key, &base);
    let (then, now) = (texts(&known, &known_ids), texts(&base, &base_ids));
    let stale = |block: &Block<'_>| {
        let id = ids.id(block.index()).unwrap_or_default();
        now.get(id).is_some_and(|now| then.get(id) != Some(now))
    };
    for target in targets {
        let block = tree.block(target.block);
        if block.kind() == deckle_doc::Kind::Document {
            continue;
        }
        let mut named = vec![block];
        if takes_all(&op.kind) {
            let section = target.tree && block.heading_level().is_some();
            named.extend(if section { block.section().skip(1).collect() } else { Vec::new() });
            let inside: Vec<Block<'_>> = named.iter().flat_map(Block::descendants).collect();
            named.extend(inside);
        }
        if let Some(block) = named.iter().find(|block| stale(block)) {
            return Err(EditError::Stale { place: place(key, block), text: shown_text(block) });
        }
    }
    if !targets.is_empty() {
        return Ok(());
    }
    // What the caller would have hit, had nothing changed.
    let rules = deckle_doc::types::Rules::default();
    let context = ops::Context { key, tree: &known, ids: &known_ids, separated: false, rules: &rules };
    let Some(missed) = ops::targets(&context, op).into_iter().next() else { return Ok(()) };
    let id = known_ids.id(missed.block).unwrap_or_default();
    Err(match ids.find(id).map(|index| tree.block(index)) {
        Some(block) => EditError::Stale { place: place(key, &block), text: shown_text(&block) },
        None => {
            let Place(was) = place(key, &known.block(missed.block));
            EditError::Stale { place: Place(format!("{was}, which is gone")), text: String::new() }
        }
    })
}

/// Whether an operator takes what is inside its targets along.
fn takes_all(kind: &BlockOpKind) -> bool {
    matches!(kind, BlockOpKind::Replace { .. } | BlockOpKind::Delete { .. } | BlockOpKind::Move { .. } | BlockOpKind::Copy { .. })
}

/// Each block's own text by its id.
fn texts(tree: &Tree, ids: &Ids) -> HashMap<String, String> {
    tree.blocks().filter_map(|block| Some((ids.id(block.index())?.to_owned(), shown_text(&block)))).collect()
}
