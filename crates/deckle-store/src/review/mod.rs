//! A document with some of its changes: the splices of what was accepted, applied to the text before.

mod intents;
mod proof;
mod summary;

use std::collections::{BTreeMap, BTreeSet};

use deckle_doc::{DocKey, Ids, Tree};

use crate::diff::splices::Part;
use crate::diff::{self, Change, ChangeId, ChangeKind, DocumentDiff, Pair};

pub use intents::{Group, Step, attribute, closure, groups};
pub use summary::{Summary, Warning, summarize};

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

/// Applies decisions to one document. A change without one is rejected. Every byte outside of the accepted changes is the byte
/// of the text before.
///
/// # Errors
/// When the text that the decisions give does not read as its blocks do: the changes depend on one another.
pub fn apply(key: &DocKey, pair: &Pair, fates: &BTreeMap<ChangeId, Fate>) -> Result<Decided, String> {
    let fate = |change: &Change| fates.get(&change.id).cloned().unwrap_or(Fate::Reject);
    let source = |side: &Option<(Tree, Ids)>| side.as_ref().map(|(tree, _)| tree.source().to_owned());
    let changes = diff::of_document(key, pair);
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
    let key_now = match (renamed.map(fate), &pair.from) {
        (Some(Fate::Reject), Some(from)) => from.clone(),
        _ => key.clone(),
    };
    let inside: Vec<&Change> = changes.iter().filter(|change| change.kind != ChangeKind::DocumentRenamed).collect();
    let text = if inside.iter().all(|change| fate(change) == Fate::Accept) {
        after.0.source().to_owned()
    } else if inside.iter().all(|change| fate(change) == Fate::Reject) {
        before.0.source().to_owned()
    } else {
        let diff = DocumentDiff::new(key, pair, diff::version(before), diff::version(after));
        let decided: Vec<(&Change, Fate)> = inside.iter().map(|change| (*change, fate(change))).collect();
        mixed(&diff, &decided, before, after)?
    };
    Ok(Decided { key: key_now, text: Some(text) })
}

fn mixed(diff: &DocumentDiff, decided: &[(&Change, Fate)], before: &(Tree, Ids), after: &(Tree, Ids)) -> Result<String, String> {
    assert!(diff.changes.len() == decided.len(), "BUG: a document's changes differ from one look to the next");
    let mut parts: Vec<Part> = Vec::new();
    let mut written: Vec<usize> = Vec::new();
    for (at, (_, fate)) in decided.iter().enumerate() {
        let own = diff.parts.iter().filter(|part| part.owner == at);
        match fate {
            Fate::Reject => {}
            Fate::Accept => parts.extend(own.cloned()),
            Fate::Edit(text) => {
                let from = parts.len();
                edited(own, text, &mut parts);
                written.extend(from..parts.len());
            }
        }
    }
    let chosen: Vec<&Part> = parts.iter().collect();
    let text = diff::splices::spliced(before.0.source(), &chosen)
        .filter(|text| proof::reads_as_its_parts(text, &parts, &written, diff::version(before), diff::version(after)));
    if let Some(text) = text {
        return Ok(text);
    }
    let names: BTreeSet<&str> =
        decided.iter().filter(|(_, fate)| *fate != Fate::Reject).map(|(change, _)| change.id.as_str()).collect();
    let names = names.into_iter().take(10).collect::<Vec<_>>().join("`, `");
    Err(format!(
        "without the rest of the changes around them, `{names}` would change how their neighbours read; accept the changes \
         next to them too, or write the text yourself"
    ))
}

/// Puts a person's text in the place of what a change brings; of a change that only removes, in the place of what goes.
fn edited<'p>(own: impl Iterator<Item = &'p Part>, text: &str, out: &mut Vec<Part>) {
    let own: Vec<&Part> = own.collect();
    let text = text.trim_end_matches(['\n', '\r']);
    let Some(first) = own.iter().position(|part| part.body.is_some()) else {
        let Some((range, part)) = own.iter().find_map(|part| Some((part.gone.clone()?, part))) else { return };
        let body = Some(0..text.len());
        out.push(Part { range, with: text.to_owned(), body, new: 0..0, ..(*part).clone() });
        return;
    };
    for (at, part) in own.into_iter().enumerate() {
        let mut part = part.clone();
        if let (true, Some(body)) = (at == first, part.body.clone()) {
            part.with.replace_range(body.clone(), text);
            part.body = Some(body.start..body.start + text.len());
        }
        out.push(part);
    }
}
