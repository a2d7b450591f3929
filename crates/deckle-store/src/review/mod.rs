//! A document with some of its changes: what was rejected is put back as it was, what was accepted stays.

use std::collections::{BTreeMap, HashMap, HashSet};

use deckle_doc::{Dialect, DocKey, Ids, Tree};

use crate::diff::pieces::{self, Piece, Version};
use crate::diff::{self, Change, ChangeId, ChangeKind, Pair, Rows};

/// What becomes of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It happens.
    Accept,
    /// It does not.
    Reject,
    /// It happens with this text.
    Edit(String),
}

/// A document after the decisions: the key under which it stands, and its text; none when it is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// The key.
    pub key: DocKey,
    /// The text, or none.
    pub text: Option<String>,
}

/// Applies decisions to one document. A change without one is rejected.
///
/// # Errors
/// When the text that the decisions give does not read as its blocks do: the changes depend on one another.
pub fn apply(key: &DocKey, pair: &Pair, fates: &BTreeMap<ChangeId, Fate>) -> Result<Decided, String> {
    let changes = diff::of_document(key, pair);
    let fate = |change: &Change| fates.get(&change.id).cloned().unwrap_or(Fate::Reject);
    let old_key = pair.from.clone().unwrap_or_else(|| key.clone());
    let source = |side: &Option<(Tree, Ids)>| side.as_ref().map(|(tree, _)| tree.source().to_owned());
    let (Some(before), Some(after)) = (&pair.before, &pair.after) else {
        // The whole document is one change.
        let text = match changes.first().map(fate) {
            Some(Fate::Accept) => source(&pair.after),
            Some(Fate::Edit(text)) => Some(text),
            Some(Fate::Reject) | None => source(&pair.before),
        };
        return Ok(Decided { key: key.clone(), text });
    };
    let renamed = changes.iter().find(|change| change.kind == ChangeKind::DocumentRenamed);
    let key = match renamed.map(fate) {
        Some(Fate::Reject) => old_key,
        _ => key.clone(),
    };
    let inside: Vec<&Change> = changes.iter().filter(|change| change.kind != ChangeKind::DocumentRenamed).collect();
    let text = if inside.iter().all(|change| fate(change) == Fate::Accept) {
        after.0.source().to_owned()
    } else if inside.iter().all(|change| fate(change) == Fate::Reject) {
        before.0.source().to_owned()
    } else {
        mixed(before, after, &inside, &fate)?
    };
    Ok(Decided { key, text: Some(text) })
}

fn mixed(
    before: &(Tree, Ids),
    after: &(Tree, Ids),
    changes: &[&Change],
    fate: &dyn Fn(&Change) -> Fate,
) -> Result<String, String> {
    let rows = Rows::new(before, after);
    let old = pieces::by_id(&rows.before);
    let mut row: Vec<Piece> = rows.after.clone();
    // Blocks that the decisions wrote anew: their text may be several blocks.
    let mut written: HashMap<String, String> = HashMap::new();
    let mut put_back: HashSet<&str> = HashSet::new();
    for change in changes {
        let ids: HashSet<&str> = change.blocks.iter().map(String::as_str).collect();
        match (fate(change), change.kind) {
            (Fate::Accept, _) => {}
            (Fate::Edit(text), ChangeKind::Removed) => {
                // Written instead of removed: it stands where the first block stood.
                put_back.extend(change.blocks.first().map(String::as_str));
                written.extend(change.blocks.first().map(|id| (id.clone(), text)));
            }
            (Fate::Edit(text), _) => {
                let first = change.blocks.first().cloned().unwrap_or_default();
                row.retain(|piece| piece.id == first || !ids.contains(piece.id.as_str()));
                written.insert(first, text);
            }
            (Fate::Reject, ChangeKind::Added) => row.retain(|piece| !ids.contains(piece.id.as_str())),
            (Fate::Reject, ChangeKind::Changed) => {
                for piece in row.iter_mut().filter(|piece| ids.contains(piece.id.as_str())) {
                    if let Some(was) = old.get(piece.id.as_str()) {
                        (piece.text, piece.kind) = (was.text.clone(), was.kind);
                    }
                }
            }
            (Fate::Reject, ChangeKind::Moved) => {
                row.retain(|piece| !ids.contains(piece.id.as_str()));
                put_back.extend(change.blocks.iter().map(String::as_str));
            }
            (Fate::Reject, _) => put_back.extend(change.blocks.iter().map(String::as_str)),
        }
    }
    // Each block that comes back stands after the nearest one that stood before it.
    for (at, piece) in rows.before.iter().enumerate().filter(|(_, piece)| put_back.contains(piece.id.as_str())) {
        let earlier = rows.before.iter().take(at).rev().find_map(|one| row.iter().position(|there| there.id == one.id));
        row.insert(earlier.map_or(0, |earlier| earlier + 1), piece.clone());
    }
    let mut wanted: Vec<(&'static str, String)> = Vec::new();
    for piece in &mut row {
        match written.get(&piece.id) {
            Some(text) => {
                piece.text = text.trim_end().to_owned();
                if piece.gap.is_empty() {
                    piece.gap.push_str(pieces::end_of_line(before.0.source()));
                }
                wanted.extend(cut(&piece.text)?);
            }
            None => wanted.push((piece.kind, piece.text.clone())),
        }
    }
    row.retain(|piece| !piece.text.is_empty());
    wanted.retain(|(_, text)| !text.is_empty());
    let mut gaps = pieces::gaps(&rows.before);
    gaps.extend(pieces::gaps(&rows.after));
    let text = pieces::join(&row, &gaps, pieces::end_of_line(before.0.source()));
    if cut(&text)? == wanted { Ok(text) } else { Err("these changes depend on one another".into()) }
}

/// Parses a text and names its blocks.
fn cut(text: &str) -> Result<Vec<(&'static str, String)>, String> {
    let tree = Tree::parse(text, Dialect::Generic).map_err(|error| error.to_string())?;
    let ids = Ids::derive(&tree);
    Ok(pieces::top(Version { tree: &tree, ids: &ids }).into_iter().map(|piece| (piece.kind, piece.text)).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pair(before: &str, after: &str) -> Pair {
        let side = |text: &str| {
            let tree = Tree::parse(text, Dialect::Generic).unwrap();
            let ids = Ids::derive(&tree);
            Some((tree, ids))
        };
        Pair { from: None, before: side(before), after: side(after), intent: String::new() }
    }

    fn key() -> DocKey {
        DocKey::parse("a").unwrap()
    }

    fn with(before: &str, after: &str, fates: &[Fate]) -> Result<String, String> {
        let pair = pair(before, after);
        let changes = diff::of_document(&key(), &pair);
        assert_eq!(changes.len(), fates.len(), "{changes:#?}");
        let fates = changes.iter().map(|change| change.id.clone()).zip(fates.iter().cloned()).collect();
        apply(&key(), &pair, &fates).map(|decided| decided.text.unwrap())
    }

    #[test]
    fn each_change_is_decided_alone() {
        let (before, after) = ("# A\n\nOne.\n\nTwo.\n\nThree.\n", "# A\n\nOne!\n\nTwo.\n\nNew.\n");
        // removed Three, changed One, added New: the removed comes first, then the order of the text.
        let pair = pair(before, after);
        let kinds: Vec<ChangeKind> = diff::of_document(&key(), &pair).iter().map(|change| change.kind).collect();
        assert_eq!(kinds, [ChangeKind::Changed, ChangeKind::Changed]);
        use Fate::{Accept, Edit, Reject};
        assert_eq!(with(before, after, &[Accept, Reject]).unwrap(), "# A\n\nOne!\n\nTwo.\n\nThree.\n");
        assert_eq!(with(before, after, &[Reject, Accept]).unwrap(), "# A\n\nOne.\n\nTwo.\n\nNew.\n");
        let edited = with(before, after, &[Reject, Edit("## Two blocks\n\nof it.\n".into())]).unwrap();
        assert_eq!(edited, "# A\n\nOne.\n\nTwo.\n\n## Two blocks\n\nof it.\n");
    }

    #[test]
    fn blocks_come_and_go() {
        use Fate::{Accept, Reject};
        let (before, after) = ("One.\n\nTwo.\n\nThree.\n", "One.\n\nThree.\n\n- new\n- list\n");
        assert_eq!(with(before, after, &[Reject, Accept]).unwrap(), "One.\n\nTwo.\n\nThree.\n\n- new\n- list\n");
        assert_eq!(with(before, after, &[Accept, Reject]).unwrap(), "One.\n\nThree.\n");
    }

    #[test]
    fn a_whole_document_is_one_decision() {
        let pair = Pair { before: None, ..pair("x\n", "new\n") };
        let changes = diff::of_document(&key(), &pair);
        assert_eq!(changes[0].kind, ChangeKind::DocumentCreated);
        assert_eq!(apply(&key(), &pair, &BTreeMap::new()).unwrap().text, None);
        let accepted = BTreeMap::from([(changes[0].id.clone(), Fate::Accept)]);
        assert_eq!(apply(&key(), &pair, &accepted).unwrap().text.as_deref(), Some("new\n"));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// All accepted is the text after, all rejected the text before, and any mix holds no line of neither.
        #[test]
        fn any_mix_is_made_of_both(
            before in prop::collection::vec("[a-e]{1,2}", 0..6),
            after in prop::collection::vec("[a-g]{1,2}", 0..6),
            mask in any::<u16>(),
        ) {
            let text = |blocks: &[String]| blocks.iter().map(|block| format!("{block}\n")).collect::<Vec<_>>().join("\n");
            let (before, after) = (text(&before), text(&after));
            let pair = pair(&before, &after);
            let changes = diff::of_document(&key(), &pair);
            let all = |fate: Fate| changes.iter().map(|change| (change.id.clone(), fate.clone())).collect::<BTreeMap<_, _>>();
            prop_assert_eq!(apply(&key(), &pair, &all(Fate::Accept)).unwrap().text.unwrap(), after.clone());
            prop_assert_eq!(apply(&key(), &pair, &all(Fate::Reject)).unwrap().text.unwrap(), before.clone());
            let fates = changes.iter().enumerate().map(|(at, change)| {
                (change.id.clone(), if mask >> (at % 16) & 1 == 1 { Fate::Accept } else { Fate::Reject })
            }).collect();
            if let Ok(decided) = apply(&key(), &pair, &fates) {
                for line in decided.text.unwrap().lines().filter(|line| !line.is_empty()) {
                    prop_assert!(before.lines().chain(after.lines()).any(|one| one == line));
                }
            }
        }
    }
}
