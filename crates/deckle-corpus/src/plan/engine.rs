//! Turns a recipe into a plan in which every link means what it meant.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::mem::{Discriminant, discriminant};
use std::ops::Range;
use std::sync::Arc;

use deckle_doc::{Block, DocKey, Kind, LimitError, Splice, Tree};

use super::Plan;
use super::recipe::{Home, Laid, Piece, Recipe, assemble, placed};
use crate::corpus::{Corpus, Document};
use crate::error::PlanError;
use crate::facts::Facts;
use crate::link::{Habit, Link, Resolver, Target, Wanted, is_path, is_shortest, render};
use crate::names::Names;

/// What a link is to mean afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Want {
    target: Target,
    /// The heading of the target, by its place among the headings afterwards; nothing when the fragment stays as it is.
    heading: Option<usize>,
}

struct Engine<'c> {
    corpus: &'c Corpus,
    recipe: &'c Recipe,
    /// The documents that give bytes to the recipe.
    sources: BTreeSet<&'c DocKey>,
    /// The facts of the recipe's documents afterwards, before links are written anew.
    facts: BTreeMap<&'c DocKey, Arc<Document>>,
    /// Where a heading of a source is afterwards.
    headings: HashMap<(DocKey, usize), (DocKey, usize)>,
    names: Names,
    /// How the corpus writes its paths.
    common: OnceCell<Habit>,
    notes: Vec<String>,
    rewritten: usize,
}

/// Makes the plan of a recipe and proves it.
pub(crate) fn plan(corpus: &Corpus, recipe: &Recipe) -> Result<Plan, PlanError> {
    let mut engine = Engine::new(corpus, recipe)?;
    let mut texts: BTreeMap<DocKey, String> = BTreeMap::new();
    let mut expected: BTreeMap<DocKey, Vec<(String, Want)>> = BTreeMap::new();
    let mut literals: BTreeMap<DocKey, Vec<Range<usize>>> = BTreeMap::new();
    let mut edits: BTreeMap<DocKey, Vec<Splice>> = BTreeMap::new();
    for (key, pieces) in &recipe.documents {
        let mut laid = Vec::with_capacity(pieces.len());
        for piece in pieces {
            let mut splices = Vec::new();
            if let Piece::Source { key: source, range, shape } = piece {
                splices.extend(shape.iter().cloned());
                let wants = engine.links(source, range, key, &mut splices)?;
                expected.entry(key.clone()).or_default().extend(wants);
            }
            splices.sort_by_key(|splice| (splice.range.start, splice.range.end));
            laid.push(Laid { piece, splices });
        }
        if let [Laid { piece: Piece::Source { key: source, range, .. }, splices }] = laid.as_slice() {
            let whole = corpus.get(source).is_some_and(|document| *range == (0..document.text().len()));
            if whole && !splices.is_empty() {
                edits.insert(source.clone(), splices.clone());
            }
        }
        let (text, places) = assemble(corpus, &laid);
        if laid.len() > 1 {
            prove_blocks(corpus, key, &laid, &text, &places)?;
        }
        let written = laid.iter().zip(places).filter(|(laid, _)| matches!(laid.piece, Piece::Text(_)));
        literals.insert(key.clone(), written.map(|(_, place)| place).collect());
        texts.insert(key.clone(), text);
    }
    for (key, document) in corpus.documents() {
        if recipe.removed.contains(key) || recipe.documents.contains_key(key) || document.facts().links.is_empty() {
            continue;
        }
        let mut splices = Vec::new();
        let wants = engine.links(key, &(0..document.text().len()), key, &mut splices)?;
        expected.insert(key.clone(), wants);
        if !splices.is_empty() {
            splices.sort_by_key(|splice| (splice.range.start, splice.range.end));
            texts.insert(key.clone(), deckle_doc::apply(document.text(), &splices));
            edits.insert(key.clone(), splices);
        }
    }
    let after = engine.after(&texts);
    let mut plan = Plan {
        moves: BTreeMap::new(),
        created: BTreeMap::new(),
        removed: Vec::new(),
        edits,
        rewritten: engine.rewritten,
        notes: engine.notes,
        after,
    };
    prove(&plan.after, &expected, &literals)?;
    plan.describe(corpus, recipe);
    Ok(plan)
}

impl Plan {
    fn describe(&mut self, corpus: &Corpus, recipe: &Recipe) {
        for (key, pieces) in &recipe.documents {
            if corpus.contains(key) && !recipe.removed.contains(key) {
                if let Some(document) = corpus.get(key).filter(|_| !self.edits.contains_key(key)) {
                    // A document made of several pieces is edited where they differ from what it was.
                    let text = self.after.get(key).map_or("", |after| after.text());
                    let splice = difference(document.text(), text);
                    self.edits.extend(splice.map(|splice| (key.clone(), vec![splice])));
                }
                continue;
            }
            match pieces.as_slice() {
                [Piece::Source { key: source, .. }] if recipe.removed.contains(source) => {
                    self.moves.insert(source.clone(), key.clone());
                }
                _ => {
                    let text = self.after.get(key).map(|document| document.text().clone());
                    self.created.extend(text.map(|text| (key.clone(), text)));
                }
            }
        }
        self.removed = recipe.removed.iter().filter(|key| !self.moves.contains_key(*key)).cloned().collect();
    }
}

/// Returns the one splice between two texts, on character boundaries.
fn difference(before: &str, after: &str) -> Option<Splice> {
    if before == after {
        return None;
    }
    let shared =
        |a: &mut dyn Iterator<Item = (char, char)>| a.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum::<usize>();
    let start = shared(&mut before.chars().zip(after.chars()));
    let end = shared(&mut before[start..].chars().rev().zip(after[start..].chars().rev()));
    Some(Splice::new(start..before.len() - end, &after[start..after.len() - end]))
}

impl<'c> Engine<'c> {
    fn new(corpus: &'c Corpus, recipe: &'c Recipe) -> Result<Engine<'c>, PlanError> {
        let mut sources = BTreeSet::new();
        let mut facts: BTreeMap<&DocKey, Arc<Document>> = BTreeMap::new();
        let mut headings = HashMap::new();
        for (key, pieces) in &recipe.documents {
            let laid: Vec<Laid<'_>> = pieces.iter().map(shaped).collect();
            let whole = match pieces.as_slice() {
                [Piece::Source { key, range, shape }] if shape.is_empty() => {
                    corpus.get(key).filter(|document| *range == (0..document.text().len()))
                }
                _ => None,
            };
            let (text, places) = if whole.is_some() { (String::new(), vec![Range::default()]) } else { assemble(corpus, &laid) };
            let document = whole.cloned().unwrap_or_else(|| Arc::new(Document::new(text.into(), corpus.options().dialect)));
            document.tree().map_err(|limit| PlanError::Limit { key: key.clone(), limit: *limit })?;
            let after = &document.facts().headings;
            for (laid, place) in laid.iter().zip(&places) {
                let Piece::Source { key: source, range, .. } = laid.piece else { continue };
                // A document that stays as it is keeps its headings; its text is copied.
                if !recipe.removed.contains(source) && !recipe.documents.contains_key(source) {
                    continue;
                }
                sources.insert(source);
                let Some(before) = corpus.get(source) else { continue };
                for (at, heading) in before.facts().headings.iter().enumerate() {
                    if range.contains(&heading.section.start) {
                        let start = placed(heading.section.start, range, place.start, &laid.splices);
                        if let Ok(found) = after.binary_search_by_key(&start, |heading| heading.section.start) {
                            headings.insert((source.clone(), at), (key.clone(), found));
                        }
                    }
                }
            }
            facts.insert(key, document);
        }
        let mut names = corpus.names().clone();
        let gone = recipe.removed.iter().chain(recipe.documents.keys());
        for (key, document) in gone.filter_map(|key| corpus.get(key).map(|document| (key, document))) {
            names.remove(key, document.facts());
        }
        for (key, document) in &facts {
            names.insert(key, document.facts());
        }
        Ok(Engine { corpus, recipe, sources, facts, headings, names, common: OnceCell::new(), notes: Vec::new(), rewritten: 0 })
    }

    fn resolver(&self) -> Resolver<'_> {
        Resolver { names: &self.names, roots: &self.corpus.options().roots }
    }

    /// The facts that a document has afterwards, but for its links.
    fn facts_after(&self, key: &DocKey) -> Option<&Facts> {
        self.facts.get(key).or_else(|| self.corpus.get(key)).map(|document| document.facts())
    }

    fn home(&self, key: &DocKey) -> Home {
        self.recipe.home.get(key).cloned().unwrap_or_else(|| Home { key: key.clone(), heading: None })
    }

    fn want(&self, before: &Target, fragment: Option<&str>) -> Want {
        match before {
            Target::Document(key) => {
                let fragment = fragment.filter(|fragment| !fragment.is_empty());
                let touched = self.sources.contains(key) || self.recipe.removed.contains(key);
                if let Some(fragment) = fragment.filter(|_| touched) {
                    let at = self.corpus.get(key).and_then(|document| document.facts().heading_index(fragment));
                    if let Some((document, heading)) = at.and_then(|at| self.headings.get(&(key.clone(), at))) {
                        return Want { target: Target::Document(document.clone()), heading: Some(*heading) };
                    }
                }
                let home = self.home(key);
                let heading = home.heading.filter(|_| fragment.is_none());
                let heading = heading.and_then(|at| self.headings.get(&(key.clone(), at)).map(|(_, at)| *at));
                Want { target: Target::Document(home.key), heading }
            }
            Target::Ambiguous(keys) => {
                let mut keys: Vec<DocKey> = keys.iter().map(|key| self.home(key).key).collect();
                keys.sort();
                keys.dedup();
                Want { target: Target::Ambiguous(keys), heading: None }
            }
            other => Want { target: other.clone(), heading: None },
        }
    }

    /// Adds the splices for the links of a source's range that will stand in `to`; returns what each is to mean.
    fn links(
        &mut self,
        source: &DocKey,
        range: &Range<usize>,
        to: &DocKey,
        splices: &mut Vec<Splice>,
    ) -> Result<Vec<(String, Want)>, PlanError> {
        let corpus = self.corpus;
        let Some(document) = corpus.get(source) else { return Ok(Vec::new()) };
        let Some(targets) = corpus.edges().out.get(source) else { return Ok(Vec::new()) };
        let text = document.text();
        let facts = document.facts();
        let mut habit: Option<Habit> = None;
        let mut wants = Vec::new();
        for (link, before) in facts.links.iter().zip(targets.iter()) {
            if link.span.start < range.start || link.span.end > range.end {
                continue;
            }
            let fragment = link.fragment_text(text);
            let mut want = self.want(before, fragment);
            let now =
                self.resolver().meaning(to, link.kind, link.path_text(text), link.fragment.is_some() || want.heading.is_some());
            let written = || format!("{source}: {}", link.written(text));
            match (before, &now) {
                // A bare word that led nowhere may lead to another nowhere; a path goes on to where it went. What led nowhere
                // may also find the document that comes to stand there.
                (Target::Missing(_), Target::Missing(_)) if link.kind.is_wiki() || !is_path(link.path_text(text)) => {
                    want.target = now.clone();
                }
                (Target::Missing(_), Target::Document(key)) if source == to || link.kind.is_wiki() => {
                    self.notes.push(format!("{} led nowhere and now leads to `{key}`", written()));
                    want.target = now.clone();
                }
                (Target::Ambiguous(_), _) if now != want.target => {
                    self.notes.push(format!("{} had several meanings and has others now", written()));
                    want.target = now.clone();
                }
                _ => {}
            }
            wants.push((written(), want.clone()));
            if !link.kind.owns_destination() {
                continue;
            }
            let right_fragment = match (want.heading, want.target.document()) {
                (Some(heading), Some(key)) => {
                    let after = self.facts_after(key);
                    fragment.and_then(|fragment| after.and_then(|facts| facts.heading_index(fragment))) == Some(heading)
                }
                _ => true,
            };
            let raw = link.path_text(text);
            let right_path = now == want.target && {
                let is_relative = !link.kind.is_wiki() && !raw.is_empty() && !raw.starts_with('/');
                if link.kind.is_wiki() {
                    // A title may change at any time: what was found by its key stays found by it.
                    !matches!(now, Target::Document(_))
                        || !self.resolver().by_title(to, raw)
                        || corpus.resolver().by_title(source, raw)
                } else {
                    // A path without a detour stays one.
                    source == to || !is_relative || is_shortest(raw, to, &now) || !is_shortest(raw, source, before)
                }
            };
            if right_path && right_fragment {
                continue;
            }
            self.rewritten += 1;
            let unwritable = || PlanError::Unwritable {
                key: source.clone(),
                written: link.written(text).to_owned(),
                meant: meant(&want.target),
            };
            if !right_path {
                let habit = habit.get_or_insert_with(|| self.habit(facts, targets, text));
                let wanted = Wanted {
                    from: to,
                    target: &want.target,
                    fragment: link.fragment.is_some() || want.heading.is_some(),
                    before: before.document(),
                    was_own: before.document() == Some(source),
                    habit,
                };
                let path = render(self.resolver(), link, text, &wanted).ok_or_else(unwritable)?;
                splices.push(Splice::new(link.path.clone(), path));
            }
            if !right_fragment {
                let splice = self.fragment(link, text, &want).ok_or_else(unwritable)?;
                splices.push(splice);
            }
        }
        Ok(wants)
    }

    /// How a document writes its paths; what it does not show, as the corpus does.
    fn habit(&self, facts: &Facts, targets: &[Target], text: &str) -> Habit {
        let mut habit = Habit::default();
        observe(&mut habit, facts, targets, text);
        if habit.knows_start() && habit.knows_ending() {
            return habit;
        }
        habit.or(self.common.get_or_init(|| {
            let mut common = Habit::default();
            for (key, document) in self.corpus.documents() {
                if let Some(targets) = self.corpus.edges().out.get(key) {
                    observe(&mut common, document.facts(), targets, document.text());
                }
            }
            common
        }))
    }

    /// Returns the splice that makes a link name the heading that it is to mean.
    fn fragment(&self, link: &Link, text: &str, want: &Want) -> Option<Splice> {
        let facts = self.facts_after(want.target.document()?)?;
        let at = want.heading?;
        let heading = facts.headings.get(at)?;
        let plain = |text: &str| !text.is_empty() && !text.contains(['#', '|', '[', ']', '^', '"', '\\', '\n']);
        let by_words = link.kind.is_wiki() && plain(&heading.text) && facts.heading_index(&heading.text) == Some(at);
        let name = if by_words { &heading.text } else { &heading.slug };
        if let Some(range) = link.fragment.clone() {
            return Some(Splice::new(range, name.clone()));
        }
        let queried = text[link.path.end..].starts_with('?');
        (!queried).then(|| Splice::insert(link.path.end, format!("#{name}")))
    }

    /// The corpus with the new texts.
    fn after(&self, texts: &BTreeMap<DocKey, String>) -> Corpus {
        let mut after = self.corpus.fresh();
        for key in &self.recipe.removed {
            after.remove(key);
        }
        for (key, text) in texts {
            match self.facts.get(key).or_else(|| self.corpus.get(key)).filter(|document| **document.text() == **text) {
                Some(document) => after.put(key.clone(), document.clone()),
                None => after.insert(key.clone(), text.as_str()),
            }
        }
        after
    }
}

/// Takes in how the links of a document are written.
fn observe(habit: &mut Habit, facts: &Facts, targets: &[Target], text: &str) {
    for (link, target) in facts.links.iter().zip(targets) {
        let plain = !link.kind.is_wiki() && link.kind.owns_destination() && !link.path.is_empty();
        if plain && matches!(target, Target::Document(_) | Target::File(_)) {
            habit.add(link.path_text(text), target.document().is_some());
        }
    }
}

fn meant(target: &Target) -> String {
    match target {
        Target::Document(key) => format!("`{key}`"),
        Target::Ambiguous(keys) => format!("one of {} documents", keys.len()),
        Target::File(path) | Target::Missing(path) | Target::Outside(path) => format!("`{path}`"),
        Target::External => "what it meant".to_owned(),
    }
}

/// Resolves every link of the state afterwards and compares it with what it is to mean.
fn prove(
    after: &Corpus,
    expected: &BTreeMap<DocKey, Vec<(String, Want)>>,
    literals: &BTreeMap<DocKey, Vec<Range<usize>>>,
) -> Result<(), PlanError> {
    let mut wrong = Vec::new();
    for (key, document) in after.documents() {
        let ours = literals.get(key).map_or(&[][..], Vec::as_slice);
        let is_ours = |at: usize| ours.iter().any(|range| range.contains(&at));
        let found: Vec<_> = after.outgoing(key).into_iter().filter(|reference| !is_ours(reference.link.span.start)).collect();
        let wants = expected.get(key).map_or(&[][..], Vec::as_slice);
        if found.len() != wants.len() {
            wrong.push(format!("{key}: {} links before, {} after", wants.len(), found.len()));
            continue;
        }
        for (reference, (written, want)) in found.iter().zip(wants) {
            let fragment = reference.link.fragment_text(document.text());
            let heading = || {
                let facts = reference.target.document().and_then(|key| after.get(key))?.facts();
                facts.heading_index(fragment?)
            };
            if *reference.target != want.target || want.heading.is_some_and(|want| heading() != Some(want)) {
                wrong.push(format!("{written} meant {}, would mean {}", meant(&want.target), meant(reference.target)));
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(PlanError::Retargets { links: wrong }) }
}

/// Compares the blocks of each piece before and after: same kinds, same nesting, same count.
fn prove_blocks(
    corpus: &Corpus,
    key: &DocKey,
    pieces: &[Laid<'_>],
    text: &str,
    places: &[Range<usize>],
) -> Result<(), PlanError> {
    let limit = |limit: &LimitError| PlanError::Limit { key: key.clone(), limit: *limit };
    let tree = Tree::parse(text, corpus.options().dialect).map_err(|error| limit(&error))?;
    for (laid, place) in pieces.iter().zip(places) {
        let Piece::Source { key: source, range, .. } = laid.piece else { continue };
        let Some(document) = corpus.get(source) else { continue };
        if outline(document.tree().map_err(limit)?, range) != outline(&tree, place) {
            return Err(PlanError::Blocks { key: source.clone(), host: key.clone() });
        }
    }
    Ok(())
}

/// The kinds and depths of the blocks in a range.
fn outline(tree: &Tree, range: &Range<usize>) -> Vec<(Discriminant<Kind>, usize)> {
    let within = |block: &Block<'_>| {
        let content = block.content();
        range.start <= content.start && content.end <= range.end
    };
    tree.blocks().filter(within).map(|block| (discriminant(&block.kind()), block.depth())).collect()
}

fn shaped(piece: &Piece) -> Laid<'_> {
    let splices = match piece {
        Piece::Source { shape, .. } => shape.clone(),
        Piece::Text(_) => Vec::new(),
    };
    Laid { piece, splices }
}
