//! The account of a merge: whatever a side wrote must be in the result or in a conflict, once.

use super::weave::{Event, Woven};
use super::{BASE, OURS, Sides, THEIRS};

/// Whether nothing is lost and nothing is written twice.
pub(super) fn is_complete(sides: &Sides<'_>, woven: &Woven) -> bool {
    let mut seen: [Vec<bool>; 3] = [0, 1, 2].map(|side| vec![false; sides.outlines[side].atoms.len()]);
    for event in &woven.events {
        let Event::Atom { places, .. } = event else { continue };
        for (side, place) in places.iter().enumerate() {
            if place.is_some_and(|place| std::mem::replace(&mut seen[side][place], true)) {
                return false;
            }
        }
    }
    let in_conflicts = woven.sites.iter().flat_map(|site| &site.sides).flatten().flatten();
    for event in in_conflicts {
        match event {
            Event::Atom { side, atom, .. } => seen[*side][*atom] = true,
            Event::All { side } => seen[*side].fill(true),
            _ => {}
        }
    }
    [OURS, THEIRS].into_iter().all(|side| {
        let (outline, other) = (&sides.outlines[side], OURS + THEIRS - side);
        outline.atoms.iter().enumerate().all(|(at, atom)| {
            if seen[side][at] {
                return true;
            }
            // What is not written was there before, as it is, and the other side removed it.
            let Some(base) = sides.origin(side, atom.node) else { return false };
            let before = sides.base().own(base, atom.role);
            let same = before.is_some_and(|before| sides.base().atom_text(before) == outline.atom_text(at));
            let gone = sides.there(other, base).is_none_or(|there| sides.outlines[other].own(there, atom.role).is_none());
            same && gone && before.is_none_or(|before| !seen[BASE][before])
        })
    })
}
