//! The proof: after an edit, everything that it does not name is what it was.
//!
//! Bytes: outside the splices the copy holds the same bytes, compared piece by piece. Blocks: the copy is parsed again, and every block outside
//! the edit must be there with the same type, in the same parent, over the same bytes. Labels: a reference outside the edit must mean the same
//! definition.

use std::collections::{HashMap, HashSet};

use deckle_doc::{Block, BlockIndex, DocKey, InlineKind, Kind, Splice, Tree};

use crate::EditError;
use crate::blocks::place;
use crate::value::article;

/// What an edit may change besides its splices' bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Named {
    /// Blocks that go or are replaced, each with everything inside.
    pub removed: HashSet<BlockIndex>,
    /// Blocks whose own properties may change: a check box, a level, attributes. What is inside stays.
    pub retyped: HashSet<BlockIndex>,
    /// Blocks whose text changes while they stay what they are.
    pub edited: HashSet<BlockIndex>,
    /// Blocks that go while what is inside them stays, one level up.
    pub dissolved: HashSet<BlockIndex>,
    /// Blocks that get a new parent around them.
    pub wrapped: HashSet<BlockIndex>,
}

impl Named {
    pub fn merge(&mut self, other: Self) {
        self.removed.extend(other.removed);
        self.retyped.extend(other.retyped);
        self.edited.extend(other.edited);
        self.dissolved.extend(other.dissolved);
        self.wrapped.extend(other.wrapped);
    }
}

/// Where a byte of the old text is in the new one. Splices are sorted and do not overlap.
struct Map<'s> {
    splices: &'s [Splice],
}

impl Map<'_> {
    /// The new place of a byte that starts something: after what is inserted there.
    fn start(&self, at: usize) -> usize {
        self.shifted(at, |splice| splice.range.end <= at)
    }

    /// The new place after a byte that ends something: before what is inserted there.
    fn end(&self, at: usize) -> usize {
        self.shifted(at, |splice| splice.range.end < at || splice.range.end == at && !splice.range.is_empty())
    }

    fn shifted(&self, at: usize, before: impl Fn(&Splice) -> bool) -> usize {
        let (mut added, mut removed) = (0, 0);
        for splice in self.splices {
            if !before(splice) {
                break;
            }
            added += splice.with.len();
            removed += splice.range.len();
        }
        at + added - removed
    }

    /// Whether a splice changes bytes inside the range, or inserts strictly inside it.
    fn touches(&self, start: usize, end: usize) -> bool {
        self.splices.iter().any(|splice| {
            if splice.range.is_empty() {
                splice.range.start > start && splice.range.start < end
            } else {
                splice.range.start < end && splice.range.end > start
            }
        })
    }
}

/// Checks the copy against the original.
///
/// # Errors
/// When something that the edit does not name would change; the error names the block.
pub(crate) fn prove(key: &DocKey, old: &Tree, splices: &[Splice], named: &Named, new: &Tree) -> Result<(), EditError> {
    let mut sorted = splices.to_vec();
    sorted.sort_by_key(|splice| (splice.range.start, splice.range.end));
    bytes(key, old, &sorted, new)?;
    if cfg!(sabotage = "skip_block_proof") {
        return Ok(());
    }
    let map = Map { splices: &sorted };
    blocks(key, old, &map, named, new)?;
    labels(key, old, &map, named, new)
}

fn bytes(key: &DocKey, old: &Tree, splices: &[Splice], new: &Tree) -> Result<(), EditError> {
    let (mut from, mut to) = (0, 0);
    let wrong = |at: usize| neighbour(key, &old.block_at(at), format!("bytes at {at} would change"), CLOSE);
    let same = |from: usize, until: usize, to: usize| {
        let kept = old.source().get(from..until);
        kept.is_some() && kept == new.source().get(to..to + (until - from))
    };
    for splice in splices {
        if splice.range.start < from || !same(from, splice.range.start, to) {
            return Err(wrong(splice.range.start));
        }
        to += splice.range.start - from + splice.with.len();
        from = splice.range.end;
    }
    if same(from, old.source().len(), to) && to + (old.source().len() - from) == new.source().len() {
        Ok(())
    } else {
        Err(wrong(from))
    }
}

fn blocks(key: &DocKey, old: &Tree, map: &Map<'_>, named: &Named, new: &Tree) -> Result<(), EditError> {
    // The blocks of the copy, by where their content starts. A container and its first child may start at one byte.
    let mut by_start: HashMap<usize, Vec<BlockIndex>> = HashMap::with_capacity(new.len());
    for block in new.blocks() {
        by_start.entry(block.content().start).or_default().push(block.index());
    }
    let mut gone: Option<u32> = None;
    let mut counterpart: Vec<Option<BlockIndex>> = vec![None; old.len() + 1];
    if let Some(root) = counterpart.first_mut() {
        *root = Some(new.root().index());
    }
    for block in old.blocks() {
        let index = block.index();
        if gone.is_some_and(|until| index.0 < until) {
            continue;
        }
        if named.removed.contains(&index) {
            gone = Some(index.0 + 1 + block.descendants().len() as u32);
            continue;
        }
        if named.dissolved.contains(&index) {
            continue;
        }
        let range = block.content();
        let edited = map.touches(range.start, range.end) || named.edited.contains(&index) || named.retyped.contains(&index);
        // An insertion at the very start of a block that is edited replaces its first bytes; else it stands before the block.
        let starts: [usize; 2] = [map.start(range.start), map.end(range.start)];
        let wanted_end = map.end(range.end);
        let found = starts.iter().flat_map(|start| by_start.get(start).into_iter().flatten()).copied().find(|candidate| {
            let other = new.block(*candidate);
            let retyped =
                named.retyped.contains(&index) && std::mem::discriminant(&block.kind()) == std::mem::discriminant(&other.kind());
            let same_kind = retyped || alike(&block, &other, edited);
            same_kind && (edited || other.content().end == wanted_end)
        });
        let Some(found) = found else { return Err(lost(key, &block, &starts, &by_start, new)) };
        if let Some(slot) = counterpart.get_mut(index.0 as usize) {
            *slot = Some(found);
        }
        // Its parent must be the counterpart of its parent; a dissolved parent hands its children up, a wrapped block has a new one.
        let above = block.ancestors().find(|above| !named.dissolved.contains(&above.index()));
        let wanted = above.and_then(|above| counterpart.get(above.index().0 as usize).copied().flatten());
        let mut actual = new.block(found).parent();
        if named.wrapped.contains(&index) {
            actual = actual.and_then(|parent| parent.parent());
        }
        let dissolved_above = block.ancestors().any(|above| named.dissolved.contains(&above.index()));
        if wanted.is_some() && actual.map(|parent| parent.index()) != wanted && !dissolved_above {
            return Err(neighbour(key, &block, "it would stand inside another block".into(), CLOSE));
        }
    }
    Ok(())
}

/// Whether two blocks are of one kind, spans aside. The kind of a block that holds an edit may differ in what the edit changes inside it.
fn alike(old: &Block<'_>, new: &Block<'_>, edited: bool) -> bool {
    match (old.kind(), new.kind()) {
        (Kind::List { ordered: a, delimiter: b, tight: c }, Kind::List { ordered: d, delimiter: e, tight: f }) => {
            a == d && b == e && (c == f || edited)
        }
        // A quote is a callout by its first line.
        (Kind::Quote, Kind::Quote) => {
            let name = |block: &Block<'_>| block.callout().map(|callout| callout.name.of(block.tree().source()).to_owned());
            name(old) == name(new)
        }
        (Kind::Code { fence: a, .. }, Kind::Code { fence: b, .. }) => a == b,
        (Kind::Table { columns: a }, Kind::Table { columns: b }) => a == b,
        (Kind::FootnoteDefinition { .. }, Kind::FootnoteDefinition { .. })
        | (Kind::LinkDefinition { .. }, Kind::LinkDefinition { .. }) => true,
        (Kind::Container(a), Kind::Container(b)) | (Kind::Leaf(a), Kind::Leaf(b)) => {
            a.name.of(old.tree().source()) == b.name.of(new.tree().source()) && (edited || a.colons == b.colons)
        }
        (Kind::Admonition { form: a, name: b, .. }, Kind::Admonition { form: c, name: d, .. }) => {
            a == c && b.of(old.tree().source()) == d.of(new.tree().source())
        }
        (a, b) => a == b,
    }
}

/// Says what would become of a block.
fn lost(
    key: &DocKey,
    block: &Block<'_>,
    starts: &[usize; 2],
    by_start: &HashMap<usize, Vec<BlockIndex>>,
    new: &Tree,
) -> EditError {
    let there = starts.iter().flat_map(|start| by_start.get(start).into_iter().flatten()).next().map(|index| new.block(*index));
    let was = article(crate::type_name(block));
    let task = |block: &Block<'_>| matches!(block.kind(), Kind::Item { task: Some(_) });
    let what = match there {
        Some(other) if crate::type_name(&other) != crate::type_name(block) => {
            format!("{was} would become {}", article(crate::type_name(&other)))
        }
        Some(other) if task(&other) != task(block) => {
            let change = if task(&other) { "get" } else { "lose" };
            return neighbour(key, block, format!("{was} would {change} a check box"), "use `$toggle`, or `$replace` the item");
        }
        Some(other) if other.content().len() > block.content().len() => {
            let hint = if matches!(block.kind(), Kind::List { .. }) { JOIN } else { CLOSE };
            return neighbour(key, block, format!("{was} would take in what follows"), hint);
        }
        Some(_) => format!("{was} would lose a part"),
        None => {
            let holder = starts.first().map(|start| new.block_at(*start));
            match holder {
                Some(holder) if holder.kind() != Kind::Document => {
                    let hint = if matches!(holder.kind(), Kind::Item { .. } | Kind::List { .. }) { JOIN } else { CLOSE };
                    let what = format!("{was} would become part of {}", article(crate::type_name(&holder)));
                    return neighbour(key, block, what, hint);
                }
                _ => format!("{was} would be lost"),
            }
        }
    };
    neighbour(key, block, what, CLOSE)
}

/// What helps against a payload that takes its neighbours in.
const CLOSE: &str = "close every fence and list that the content opens; if the change is wanted, select that block as well";
/// What helps against lists that would join.
const JOIN: &str = "to add items to a list, `$append` to the `$list` or insert beside an `$item`; a list with another marker (`-`, `*`, `+`, `1.`, `1)`) stays a list of its own";

fn neighbour(key: &DocKey, block: &Block<'_>, what: String, hint: &'static str) -> EditError {
    EditError::Neighbour { what, place: place(key, block), hint }
}

/// What a label stands for in one document.
struct Meaning {
    /// Where the definition starts.
    start: usize,
    /// Its text.
    text: String,
    /// Where its destination starts; of a footnote nothing.
    destination: Option<usize>,
}

/// The definitions that hold, by label: of several with one label the first. Labels of footnotes start with `^`.
fn meanings(tree: &Tree) -> HashMap<String, Meaning> {
    let source = tree.source();
    let mut all = HashMap::new();
    for block in tree.blocks() {
        let (label, destination) = match block.kind() {
            Kind::LinkDefinition { label, destination, .. } => {
                (deckle_doc::inline::normalized_label(label.of(source)), Some(destination.range().start))
            }
            Kind::FootnoteDefinition { label } => (format!("^{}", deckle_doc::inline::normalized_label(label.of(source))), None),
            _ => continue,
        };
        let start = block.content().start;
        all.entry(label).or_insert_with(|| Meaning { start, text: block.text().to_owned(), destination });
    }
    all
}

/// References outside the edit must mean the definitions that they meant; a definition that the edit names may say something else.
fn labels(key: &DocKey, old: &Tree, map: &Map<'_>, named: &Named, new: &Tree) -> Result<(), EditError> {
    let (before, after) = (meanings(old), meanings(new));
    // By label: whether it is the same definition still, in its place or moved with its text.
    let same = |label: &str| match (before.get(label), after.get(label)) {
        (Some(one), Some(other)) => map.start(one.start) == other.start || one.text == other.text,
        (None, None) => true,
        _ => false,
    };
    let moved = |one: &Meaning, other: &Meaning| one.text != other.text || one.start != other.start;
    let changes =
        before.len() != after.len() || before.iter().any(|(label, one)| after.get(label).is_none_or(|other| moved(one, other)));
    if !changes {
        return Ok(());
    }
    // Destinations of definitions that stay are told apart by their labels, not by what they say.
    let by_destination = |all: &HashMap<String, Meaning>| -> HashMap<usize, String> {
        all.iter()
            .filter(|(label, _)| same(label))
            .filter_map(|(label, meaning)| Some((meaning.destination?, format!("[{label}]"))))
            .collect()
    };
    let (old_names, new_names) = (by_destination(&before), by_destination(&after));
    let starts: HashMap<usize, BlockIndex> =
        new.blocks().filter(|block| block.has_inlines()).map(|block| (block.content().start, block.index())).collect();
    let removed = |block: &Block<'_>| {
        named.removed.contains(&block.index()) || block.ancestors().any(|above| named.removed.contains(&above.index()))
    };
    for block in old.blocks().filter(|block| block.has_inlines() && block.text().contains('[')) {
        let range = block.content();
        if removed(&block) || map.touches(range.start, range.end) || named.edited.contains(&block.index()) {
            continue;
        }
        let Some(other) = starts.get(&map.start(range.start)).map(|index| new.block(*index)) else { continue };
        let spoken = |block: &Block<'_>, names: &HashMap<usize, String>| -> Vec<(String, String)> {
            let source = block.tree().source();
            block
                .inlines()
                .iter()
                .map(|inline| {
                    let words = source.get(inline.span.clone()).unwrap_or_default();
                    let target = match inline.kind {
                        InlineKind::Link(target) | InlineKind::Image(target) => {
                            let range = target.destination.range();
                            names.get(&range.start).cloned().unwrap_or_else(|| source.get(range).unwrap_or_default().to_owned())
                        }
                        _ => String::new(),
                    };
                    (words.to_owned(), target)
                })
                .collect()
        };
        // A footnote is looked up by its label when the document is shown.
        let footnotes = |block: &Block<'_>| {
            let source = block.tree().source();
            block.inlines().iter().any(|inline| {
                let words = source.get(inline.span.clone()).unwrap_or_default();
                let label = words.strip_prefix("[^").and_then(|rest| rest.strip_suffix(']'));
                label.is_some_and(|label| !same(&format!("^{}", deckle_doc::inline::normalized_label(label))))
            })
        };
        if spoken(&block, &old_names) != spoken(&other, &new_names) || footnotes(&block) {
            let what = "a reference in it would mean something else".to_owned();
            let hint = "give the definition another label, or change the reference as well";
            return Err(neighbour(key, &block, what, hint));
        }
    }
    Ok(())
}
