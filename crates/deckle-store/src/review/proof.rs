//! The proof of a selection: the text is parsed again, and must hold the blocks that were put together, and no others.

use deckle_doc::{Ids, Tree};

use crate::diff::Version;
use crate::diff::outline::{Outline, Sort};
use crate::diff::splices::Part;

/// What an atom must read as; without a depth, it may stand at any.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    sort: Sort,
    text: String,
    depth: Option<usize>,
}

/// Whether a text with parts applied reads as the blocks that stayed and those that came. `written` are the parts that a
/// person wrote; of those only the blocks count, not how deep they stand.
pub(super) fn reads_as_its_parts(text: &str, parts: &[Part], written: &[usize], before: Version<'_>, after: Version<'_>) -> bool {
    let (old, new) = (Outline::new(before), Outline::new(after));
    let Ok(tree) = Tree::parse(text, before.tree.dialect()) else { return false };
    let ids = Ids::derive(&tree);
    let found = Outline::new(Version { tree: &tree, ids: &ids });
    let mut wanted: Vec<Wanted> = Vec::new();
    let mut order: Vec<(usize, &Part)> = parts.iter().enumerate().collect();
    order.sort_by_key(|(_, part)| (part.range.start, part.range.end));
    let mut done = 0;
    let take = |outline: &Outline<'_>, at: usize, wanted: &mut Vec<Wanted>| {
        let (atom, node) = (&outline.atoms[at], &outline.nodes[outline.atoms[at].node]);
        if atom.node != 0 {
            wanted.push(Wanted { sort: node.sort, text: outline.atom_text(at).to_owned(), depth: Some(node.depth) });
        }
    };
    for (at, part) in order {
        while done < old.atoms.len() {
            let stays = if part.old.is_empty() { old.atoms[done].range.start < part.range.start } else { done < part.old.start };
            if !stays {
                break;
            }
            take(&old, done, &mut wanted);
            done += 1;
        }
        if !part.old.is_empty() {
            done = done.max(part.old.end);
        }
        if written.contains(&at) && part.body.is_some() {
            let body = part.body.clone().unwrap_or_default();
            let Ok(tree) = Tree::parse(&part.with[body], before.tree.dialect()) else { return false };
            let ids = Ids::derive(&tree);
            let own = Outline::new(Version { tree: &tree, ids: &ids });
            for (at, _) in own.atoms.iter().enumerate().filter(|(_, atom)| atom.node != 0) {
                let sort = own.nodes[own.atoms[at].node].sort;
                wanted.push(Wanted { sort, text: own.atom_text(at).to_owned(), depth: None });
            }
        } else {
            part.new.clone().for_each(|at| take(&new, at, &mut wanted));
        }
    }
    (done..old.atoms.len()).for_each(|at| take(&old, at, &mut wanted));
    let mut seen = (0..found.atoms.len()).filter(|at| found.atoms[*at].node != 0);
    let all = wanted.iter().all(|wanted| {
        seen.next().is_some_and(|at| {
            let node = &found.nodes[found.atoms[at].node];
            // A front matter entry, a row or an item that a person wrote is none outside of its container.
            let free = wanted.depth.is_none();
            (free || node.sort == wanted.sort)
                && found.atom_text(at) == wanted.text
                && wanted.depth.is_none_or(|depth| depth == node.depth)
        })
    });
    all && seen.next().is_none()
}
