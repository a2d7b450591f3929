//! What a change did to a corpus.

use std::collections::{BTreeMap, BTreeSet};

use deckle_doc::DocKey;

use super::measure::{Leaves, Measure, Section, measure};
use super::{AuditDelta, Damage, Finding};
use crate::corpus::{Corpus, Document};
use crate::link::Target;
use crate::path::is_index;

/// Fewer words than this are an edit, not a loss.
const FEW_WORDS: usize = 12;

impl Corpus {
    /// Compares this state with a later one. `moves` names the documents that got another key between them; a document that is
    /// not named there and whose text stands under another key is seen as moved all the same.
    #[must_use]
    pub fn damage(&self, after: &Corpus, moves: &BTreeMap<DocKey, DocKey>) -> AuditDelta {
        Comparison::new(self, after, moves).findings()
    }
}

struct Comparison<'c> {
    before: &'c Corpus,
    after: &'c Corpus,
    moves: BTreeMap<DocKey, DocKey>,
    /// The text of every document that is new or differs.
    leaves: Leaves,
    measures: BTreeMap<DocKey, Measure>,
    out: Vec<Finding>,
}

fn same(before: &Document, after: &Document) -> bool {
    before.text() == after.text()
}

impl<'c> Comparison<'c> {
    fn new(before: &'c Corpus, after: &'c Corpus, moves: &BTreeMap<DocKey, DocKey>) -> Comparison<'c> {
        let mut moves = moves.clone();
        moves.retain(|_, to| after.contains(to));
        let mut new: BTreeMap<&str, &DocKey> = BTreeMap::new();
        for (key, document) in after.documents() {
            if !before.contains(key) {
                new.insert(document.text(), key);
            }
        }
        for (key, document) in before.documents() {
            if !after.contains(key) && !moves.contains_key(key) && !document.text().is_empty() {
                let there: &str = document.text();
                moves.extend(new.get(there).map(|to| (key.clone(), (*to).clone())));
            }
        }
        let mut comparison =
            Comparison { before, after, moves, leaves: Leaves::default(), measures: BTreeMap::new(), out: Vec::new() };
        for (key, document) in after.documents() {
            let unchanged = before.get(key).is_some_and(|before| same(before, document));
            if let (false, Ok(tree)) = (unchanged, document.tree()) {
                let measure = measure(tree);
                comparison.leaves.add(&measure);
                comparison.measures.insert(key.clone(), measure);
            }
        }
        comparison
    }

    fn moved<'k>(&'k self, key: &'k DocKey) -> &'k DocKey {
        self.moves.get(key).unwrap_or(key)
    }

    fn report(&mut self, key: &DocKey, what: Damage) {
        self.out.push(Finding { key: key.clone(), what });
    }

    fn findings(mut self) -> AuditDelta {
        for (key, before) in self.before.documents() {
            let to = self.moved(key).clone();
            match self.after.get(&to) {
                None => self.gone(key, before),
                Some(after) => {
                    if !same(before, after) {
                        self.text(&to, before, after);
                    }
                    self.links(key, &to, before, after);
                    self.orphaned(key, &to);
                }
            }
        }
        self.out.sort();
        self.out.dedup();
        AuditDelta { findings: self.out }
    }

    fn gone(&mut self, key: &DocKey, before: &Document) {
        let kept = before.tree().is_ok_and(|tree| {
            let measure = measure(tree);
            let kept: usize = measure.sections.values().map(|section| self.leaves.kept(section)).sum();
            let words: usize = measure.sections.values().map(|section| section.words).sum();
            words > 0 && kept * 2 >= words
        });
        let name = key.as_str();
        // Links that still mean it are in documents afterwards that wrote its key.
        let linked_from = self
            .before
            .referenced_by(key)
            .filter(|from| {
                let from = self.moved(from);
                let still =
                    |target: &Target| matches!(target, Target::Missing(path) if name.ends_with(path.trim_start_matches('/')));
                self.after.outgoing(from).iter().any(|reference| still(reference.target))
            })
            .count();
        if !kept || linked_from > 0 {
            self.report(key, Damage::DocumentGone { linked_from });
        }
    }

    fn text(&mut self, key: &DocKey, before: &Document, after: &Document) {
        let fields: BTreeSet<&String> = after.facts().fields.iter().map(|(field, _)| field).collect();
        for (field, _) in &before.facts().fields {
            if !fields.contains(field) {
                self.report(key, Damage::FieldLost { field: field.clone() });
            }
        }
        let (Ok(tree), true) = (before.tree(), self.measures.contains_key(key)) else { return };
        let old = measure(tree);
        let mut found = Vec::new();
        if let Some(new) = self.measures.get(key) {
            let kept: usize = old.sections.values().map(|section| self.leaves.kept(section)).sum();
            if old.words >= FEW_WORDS && new.words * 2 < old.words && kept * 2 < old.words {
                found.push(Damage::DocumentShrunk { before: old.words, after: new.words });
            }
            for (path, section) in &old.sections {
                found.extend(self.section(path, section, new));
            }
            for (head, rows) in &old.tables {
                let now = new.tables.get(head).copied().unwrap_or_default();
                // A table whose head changed may be there with all its rows.
                let elsewhere =
                    now == 0 && new.tables.values().any(|other| other >= rows) && new.tables.len() >= old.tables.len();
                if now < *rows && !elsewhere {
                    found.push(Damage::RowsLost { table: head.clone(), before: *rows, after: now });
                }
            }
        }
        for what in found {
            self.report(key, what);
        }
    }

    fn section(&self, path: &str, old: &Section, new: &Measure) -> Option<Damage> {
        let kept = self.leaves.kept(old);
        let section = if path.is_empty() { "the text before the first heading".to_owned() } else { path.to_owned() };
        match new.sections.get(path) {
            None if kept * 2 < old.words || old.words == 0 && !path.is_empty() && new.sections.is_empty() => {
                Some(Damage::SectionGone { section, before: old.words })
            }
            Some(now) if old.words >= FEW_WORDS && now.words * 2 < old.words && kept * 2 < old.words => {
                Some(Damage::SectionShrunk { section, before: old.words, after: now.words })
            }
            _ => None,
        }
    }

    fn links(&mut self, key: &DocKey, to: &DocKey, before: &Document, after: &Document) {
        let (before_corpus, after_corpus) = (self.before, self.after);
        let text = before.text();
        // What each way of writing meant: a document writes a path twice and means one thing.
        let mut meant: BTreeMap<(bool, &str), (&Target, bool)> = BTreeMap::new();
        for reference in before_corpus.outgoing(key) {
            let fragment = reference.link.fragment_text(text).filter(|fragment| !fragment.is_empty());
            let heading = fragment.is_none_or(|fragment| has_heading(before_corpus, reference.target, fragment));
            meant.insert((reference.link.kind.is_wiki(), whole(reference.link, text)), (reference.target, heading));
        }
        let text = after.text();
        for reference in after_corpus.outgoing(to) {
            let Some((was, had_heading)) = meant.get(&(reference.link.kind.is_wiki(), whole(reference.link, text))) else {
                continue;
            };
            let Some(was) = was.document() else { continue };
            let written = reference.link.written(text).to_owned();
            let expected = self.moved(was).clone();
            match reference.target {
                Target::Document(now) if *now == expected => {
                    let fragment = reference.link.fragment_text(text).filter(|fragment| !fragment.is_empty());
                    let lost = fragment.is_some_and(|fragment| !has_heading(after_corpus, reference.target, fragment));
                    if *had_heading && lost {
                        self.report(to, Damage::FragmentBroken { written });
                    }
                }
                // The document itself moved and its own key is written nowhere: its links to itself follow it.
                Target::Document(now) => {
                    let now = now.to_string();
                    self.report(to, Damage::LinkRetargeted { written, was: was.to_string(), now });
                }
                _ => self.report(to, Damage::LinkBroken { written, was: was.to_string() }),
            }
        }
    }

    fn orphaned(&mut self, key: &DocKey, to: &DocKey) {
        let had = self.before.referenced_by(key).next().is_some();
        if had && self.after.referenced_by(to).next().is_none() && !is_index(to) {
            self.report(to, Damage::Orphaned);
        }
    }
}

/// The destination with its fragment, as written.
fn whole<'t>(link: &crate::Link, text: &'t str) -> &'t str {
    let end = link.fragment.as_ref().map_or(link.path.end, |fragment| fragment.end);
    text.get(link.path.start..end).unwrap_or_default()
}

/// Whether a fragment names a heading, or is none that could be checked: of a block (`^id`), of a line, of another kind of file.
pub(super) fn has_heading(corpus: &Corpus, target: &Target, fragment: &str) -> bool {
    let Some(document) = target.document().and_then(|key| corpus.get(key)) else { return true };
    fragment.is_empty()
        || fragment.starts_with('^')
        || fragment.contains('=')
        || document.facts().heading(fragment).is_some()
        || {
            // An anchor that the document sets itself.
            let quoted = [format!("id=\"{fragment}\""), format!("name=\"{fragment}\""), format!("{{#{fragment}")];
            quoted.iter().any(|anchor| document.text().contains(anchor.as_str()))
        }
}
