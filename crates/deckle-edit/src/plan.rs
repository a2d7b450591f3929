//! From an operation to a proven plan: parse, select, guard, splice, prove, gate.

use std::collections::{BTreeMap, HashMap};
use std::mem::Discriminant;
use std::ops::Range;

use deckle_doc::Ids;
use deckle_doc::types::{self, Rules};
use deckle_doc::{Diag, Dialect, DocKey, Kind, Splice, Tree, apply, front};
use sha2::{Digest, Sha256};

use crate::blocks::place;
use crate::documents::{Documents, Overlay};
use crate::filter::Filter;
use crate::identity;
use crate::language::Clause;
use crate::language::operation::{BlockOp, BlockOpKind, Create, Expect, IfExists, Step, Update};
use crate::ops::{self, Context, Draft};
use crate::proof;
use crate::receipt::{DocumentReceipt, Receipt};
use crate::schema::Schema;
use crate::{Config, EditError, Operation, Place, gates, own_text, rename, stale};

/// How strict the surface is that an operation came through.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Whether every mutation must carry its guards.
    pub strict: bool,
    /// Whether elisions and unannounced losses are refused.
    pub gates: bool,
    /// The dialect of new documents.
    pub dialect: Dialect,
    /// What may stand in what.
    pub rules: Rules,
    /// Named templates of keys: `person` is `people/{{slug}}`.
    pub keys: std::collections::BTreeMap<String, String>,
    /// What documents must be: enforced where every mutation carries its guards, else noted.
    pub schemas: Vec<Schema>,
    /// The date that `{{today}}` in a template stands for: `2026-03-16`.
    pub today: Option<String>,
}

impl Policy {
    /// The policy of a person at a terminal.
    #[must_use]
    pub fn person() -> Self {
        Self {
            strict: false,
            gates: false,
            dialect: Dialect::Generic,
            rules: Rules::default(),
            keys: BTreeMap::new(),
            schemas: Vec::new(),
            today: None,
        }
    }

    /// The policy of an agent.
    #[must_use]
    pub fn agent() -> Self {
        Self { strict: true, gates: true, ..Self::person() }
    }

    /// The same policy in a workspace that says so: its key templates and schemas, and its dialect where it names one.
    #[must_use]
    pub fn configured(self, config: &Config) -> Self {
        Self {
            dialect: config.dialect.unwrap_or(self.dialect),
            keys: config.keys.clone(),
            schemas: config.schemas.clone(),
            ..self
        }
    }

    /// The same policy in a dialect.
    #[must_use]
    pub fn in_dialect(self, dialect: Dialect) -> Self {
        Self { dialect, ..self }
    }
}

/// What becomes of one document.
#[derive(Clone, Debug)]
pub struct DocumentChange {
    /// The key before; nothing for a new document.
    pub before: Option<DocKey>,
    /// The key after; nothing for a deleted document.
    pub after: Option<DocKey>,
    /// The text before.
    pub old: Option<Tree>,
    /// The text after, with the ids of its blocks.
    pub new: Option<(Tree, Ids)>,
}

/// A transaction that was proven and not yet written.
#[derive(Clone, Debug)]
#[must_use = "a plan changes nothing until its changes are written"]
pub struct Plan {
    changes: Vec<DocumentChange>,
    receipt: Receipt,
}

impl Plan {
    /// Returns what becomes of each document, by key.
    #[must_use]
    pub fn changes(&self) -> &[DocumentChange] {
        &self.changes
    }

    /// Returns what will be true after the write.
    #[must_use]
    pub fn receipt(&self) -> &Receipt {
        &self.receipt
    }

    /// Returns whether nothing changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}

/// Plans a change. Nothing is written here.
///
/// # Errors
/// When a guard does not agree, a block cannot take what the operation asks, or the proof fails. Nothing is written then, anywhere.
pub fn plan(documents: &dyn Documents, operation: &Operation, policy: &Policy) -> Result<Plan, EditError> {
    let Operation::Change(steps) = operation else {
        return Err(EditError::syntax("this operation reads", "write `update`, `delete` or `steps`; to read use `find`"));
    };
    if policy.strict && !cfg!(sabotage = "ignore_guard") {
        guarded(steps)?;
    }
    let mut planner = Planner {
        overlay: Overlay::new(documents),
        base: documents,
        log: BTreeMap::new(),
        done: Vec::new(),
        notes: Vec::new(),
        policy,
    };
    for step in steps {
        planner.step(step)?;
    }
    planner.finish()
}

/// Every mutation on a strict surface states its size.
fn guarded(steps: &[Step]) -> Result<(), EditError> {
    let mut missing = Vec::new();
    for step in steps {
        match step {
            Step::Update(update) => {
                if update.expect.is_none() && !update.filter.names_one() {
                    missing.push("`expect` beside `filter` (the number of documents)".to_owned());
                }
                for op in &update.blocks {
                    if op.expect.is_none() {
                        missing.push(format!("`expect` in `{}` (the number of blocks)", op.kind.name()));
                    }
                }
            }
            Step::Delete { expect: None, .. } => missing.push("`expect` beside `delete` (the number of documents)".to_owned()),
            Step::Delete { .. } | Step::Create(_) | Step::Rename { .. } | Step::Restore { .. } => {}
        }
    }
    if missing.is_empty() { Ok(()) } else { Err(EditError::Unguarded { missing }) }
}

/// A document with what an operator selected in it.
pub(crate) type Found = (DocKey, Tree, Ids, Vec<crate::select::Selected>);

/// What happened to a document so far.
#[derive(Default)]
struct Record {
    before: Option<DocKey>,
    splices: usize,
    bytes_removed: usize,
    bytes_added: usize,
    links: usize,
    untouched: String,
}

struct Planner<'d> {
    overlay: Overlay<'d>,
    base: &'d dyn Documents,
    /// By the key that a document has now; deleted ones by the key that they had.
    log: BTreeMap<DocKey, Record>,
    /// The same, checked.
    done: Vec<(DocKey, Record)>,
    notes: Vec<String>,
    policy: &'d Policy,
}

impl Planner<'_> {
    fn step(&mut self, step: &Step) -> Result<(), EditError> {
        match step {
            Step::Update(update) => self.update(update),
            Step::Create(create) => self.create(create),
            Step::Rename { from, to } => self.rename(from, to),
            Step::Delete { filter, expect, sort, limit } => self.delete(filter, *expect, sort.as_ref(), *limit),
            Step::Restore { key, to } => self.restore(key, to.as_ref()),
        }
    }

    fn update(&mut self, update: &Update) -> Result<(), EditError> {
        let mut keys = update.filter.select(&self.overlay);
        if keys.is_empty()
            && let Some(named) = update.filter.named_keys()
        {
            return Err(missing(&self.overlay, named.first().map_or("", DocKey::as_str)));
        }
        bounded(&self.overlay, &mut keys, update.sort.as_ref(), update.limit);
        expect_documents(&self.overlay, update.expect, &keys)?;
        found_any(update.expect, &keys)?;
        // Every selection is resolved before any edit applies.
        let mut counts: Vec<Vec<Found>> = vec![Vec::new(); update.blocks.len()];
        for key in &keys {
            let Some(tree) = self.overlay.tree(key) else { continue };
            let ids = self.overlay.ids(key, &tree);
            for (op, found) in update.blocks.iter().zip(&mut counts) {
                let context = Context { key, tree: &tree, ids: &ids, separated: false, rules: &self.policy.rules };
                let targets = ops::targets(&context, op);
                found.push((key.clone(), tree.clone(), ids.clone(), targets));
            }
        }
        for (op, found) in update.blocks.iter().zip(&counts) {
            for one in found {
                stale::check(self.base, one, op, update.base.as_deref())?;
            }
            expect_blocks(op, found)?;
        }
        for key in keys {
            self.update_document(&key, update)?;
        }
        Ok(())
    }

    fn update_document(&mut self, key: &DocKey, update: &Update) -> Result<(), EditError> {
        let Some(tree) = self.overlay.tree(key) else { return Ok(()) };
        let ids = self.overlay.ids(key, &tree);
        let front = front_splices(&tree, update)?;
        // Without blank lines of its own first; with them where the proof asks for it.
        let mut outcome = self.attempt(key, &tree, &ids, update, &front, false);
        if matches!(outcome, Err(EditError::Neighbour { .. } | EditError::Payload { .. })) {
            let separated = self.attempt(key, &tree, &ids, update, &front, true);
            if separated.is_ok() {
                self.notes.push(format!("`{key}`: blank lines were added so that the neighbours stay what they are"));
                outcome = separated;
            }
        }
        let (new, draft) = outcome?;
        self.gate(key, &tree, &new, update, &draft)?;
        self.notes.extend(draft.notes.iter().cloned());
        self.put(key, &tree, &ids, new, &draft.splices, 0);
        Ok(())
    }

    /// Drafts, applies to a copy and proves.
    fn attempt(
        &self,
        key: &DocKey,
        tree: &Tree,
        ids: &Ids,
        update: &Update,
        front: &[Splice],
        separated: bool,
    ) -> Result<(Tree, Draft), EditError> {
        let context = Context { key, tree, ids, separated, rules: &self.policy.rules };
        let mut whole = Draft::default();
        let mut touched: Vec<(&'static str, Range<usize>)> = Vec::new();
        for op in &update.blocks {
            let targets = ops::targets(&context, op);
            let draft = ops::draft(&context, op, &targets)?;
            for range in &draft.touched {
                let clash = touched.iter().find(|(_, other)| overlaps(range, other));
                if let Some((first, _)) = clash.filter(|(first, _)| *first != op.kind.name() || !range.is_empty()) {
                    return Err(EditError::Overlap {
                        first: (*first).to_owned(),
                        second: op.kind.name().to_owned(),
                        place: place(key, &tree.block_at(range.start)),
                    });
                }
            }
            touched.extend(draft.touched.iter().map(|range| (op.kind.name(), range.clone())));
            whole.take(draft);
        }
        if !front.is_empty() {
            let block = tree.root().first_child().filter(|first| matches!(first.kind(), Kind::FrontMatter { .. }));
            match block {
                Some(block) => {
                    whole.named.edited.insert(block.index());
                }
                None => whole.added += 1,
            }
            whole.splices.extend_from_slice(front);
        }
        if cfg!(sabotage = "widen_splice")
            && let Some(splice) = whole
                .splices
                .iter_mut()
                .find(|splice| splice.range.end < tree.source().len() && tree.source().is_char_boundary(splice.range.end + 1))
        {
            splice.range.end += 1;
        }
        whole.splices.sort_by_key(|splice| (splice.range.start, splice.range.end));
        if let Some(pair) = whole.splices.windows(2).find(|pair| pair[0].range.end > pair[1].range.start) {
            return Err(EditError::Overlap {
                first: "one change".into(),
                second: "another".into(),
                place: place(key, &tree.block_at(pair[1].range.start)),
            });
        }
        let text = apply(tree.source(), &whole.splices);
        let new = Tree::parse(text, tree.dialect())?;
        proof::prove(key, tree, &whole.splices, &whole.named, &new)?;
        counted(tree, &whole, &new)?;
        nested(tree, &new, &self.policy.rules)?;
        Ok((new, whole))
    }

    fn gate(&self, key: &DocKey, old: &Tree, new: &Tree, update: &Update, draft: &Draft) -> Result<(), EditError> {
        if !self.policy.gates {
            return Ok(());
        }
        for op in &update.blocks {
            if let BlockOpKind::ReplaceText { to, .. } = &op.kind {
                gates::elision(to, old.source())?;
            }
            match &op.kind {
                BlockOpKind::Replace { content } => {
                    gates::elision(content, old.source())?;
                    if !update.removed {
                        let before: String =
                            draft.named.removed.iter().map(|index| old.block(*index).text()).collect::<Vec<_>>().join("\n");
                        let count = draft.named.removed.len().max(1);
                        gates::loss("what you replace", &before, &vec![content.as_str(); count].join("\n"))?;
                    }
                }
                BlockOpKind::InsertBefore { content }
                | BlockOpKind::InsertAfter { content }
                | BlockOpKind::Append { content }
                | BlockOpKind::Prepend { content } => {
                    gates::elision(content, old.source())?;
                }
                BlockOpKind::ReplaceText { from: None, to } if !update.removed => {
                    let before: String =
                        draft.named.edited.iter().map(|index| own_text(&old.block(*index))).collect::<Vec<_>>().join("\n");
                    let count = draft.named.edited.len().max(1);
                    gates::loss("what you replace", &before, &vec![to.as_str(); count].join("\n"))?;
                }
                _ => {}
            }
        }
        if !update.removed {
            gates::loss(&format!("`{key}`"), gates::body(old), gates::body(new))?;
            // What a new text leaves out; a deletion names what goes.
            let rewrites = |op: &BlockOp| matches!(op.kind, BlockOpKind::Replace { .. } | BlockOpKind::ReplaceText { .. });
            if update.blocks.iter().any(rewrites) {
                gates::links(&format!("`{key}`"), &gates::destinations(old), &gates::destinations(new))?;
            }
        }
        Ok(())
    }

    fn create(&mut self, create: &Create) -> Result<(), EditError> {
        let Create { content, if_exists, .. } = create;
        let if_exists = *if_exists;
        let mut key = identity::key(&create.key, &create.values, content, self.policy)?;
        let existing = self.overlay.tree(&key);
        match (existing.is_some(), if_exists) {
            (true, IfExists::Fail) => return Err(EditError::Exists { key }),
            (true, IfExists::Skip) => {
                self.notes.push(format!("`{key}` is there already; it was left as it is"));
                return Ok(());
            }
            (true, IfExists::Suffix) => {
                let base = key.clone();
                let free = (2..10_000)
                    .find_map(|number| DocKey::parse(&format!("{base}-{number}")).ok().filter(|key| !self.overlay.contains(key)));
                key = free.ok_or(EditError::Exists { key: base })?;
            }
            (true, IfExists::Override) | (false, _) => {}
        }
        if self.policy.gates {
            gates::elision(content, existing.as_ref().map_or("", Tree::source))?;
            if let Some(old) = &existing
                && if_exists == IfExists::Override
                && !create.removed
            {
                let new = Tree::parse(content.as_str(), self.policy.dialect)?;
                let what = format!("`{key}`");
                gates::loss(&what, gates::body(old), gates::body(&new))?;
                gates::front_matter(&what, old, &new)?;
                gates::links(&what, &gates::destinations(old), &gates::destinations(&new))?;
            }
        }
        let mut text = content.to_owned();
        // What was read of a document without a line end at its end is written back as it was.
        let without_end = replaces_open_end(existing.as_ref(), if_exists);
        if !text.is_empty() && !text.ends_with('\n') && !without_end {
            text.push('\n');
        }
        let new = Tree::parse(text, self.policy.dialect)?;
        let ids = match (&existing, if_exists) {
            (Some(old), IfExists::Override) => Ids::carry(old, &self.overlay.ids(&key, old), &new),
            _ => Ids::derive(&new),
        };
        let replaced = existing.is_some() && if_exists == IfExists::Override;
        let record = self.log.entry(key.clone()).or_default();
        if replaced && record.before.is_none() {
            record.before = Some(key.clone());
        }
        record.bytes_added += new.source().len();
        self.overlay.put(key, Some((new, ids)));
        Ok(())
    }

    fn rename(&mut self, from: &DocKey, to: &DocKey) -> Result<(), EditError> {
        if !self.overlay.contains(from) {
            return Err(missing(&self.overlay, from.as_str()));
        }
        if self.overlay.contains(to) {
            return Err(EditError::Exists { key: to.clone() });
        }
        let fixes = match self.overlay.rename_fixes(&[], from, to) {
            Some(fixes) => fixes.map_err(|diag| EditError::Rename { diag: Box::new(diag) })?,
            None => rename::fixes(&self.overlay, from, to),
        };
        for (key, splices) in fixes {
            let Some(tree) = self.overlay.tree(&key) else { continue };
            let ids = self.overlay.ids(&key, &tree);
            let new = Tree::parse(apply(tree.source(), &splices), tree.dialect())?;
            let mut named = proof::Named::default();
            for splice in &splices {
                let block = tree.block_at(splice.range.start);
                named.edited.insert(block.index());
            }
            proof::prove(&key, &tree, &splices, &named, &new)?;
            let count = splices.len();
            self.put(&key, &tree, &ids, new, &splices, count);
        }
        let Some(tree) = self.overlay.tree(from) else { return Ok(()) };
        let ids = self.overlay.ids(from, &tree);
        let mut record = self.log.remove(from).unwrap_or_default();
        if record.before.is_none() && self.base.contains(from) {
            record.before = Some(from.clone());
        }
        self.log.insert(to.clone(), record);
        self.overlay.put(from.clone(), None);
        self.overlay.put(to.clone(), Some((tree, ids)));
        Ok(())
    }

    /// Brings a deleted document back, as it was and with its ids.
    fn restore(&mut self, key: &DocKey, to: Option<&DocKey>) -> Result<(), EditError> {
        let to = to.unwrap_or(key);
        if self.overlay.contains(to) {
            return Err(EditError::Exists { key: to.clone() });
        }
        let earlier = self.log.get(key).and_then(|record| record.before.clone());
        let found = match earlier {
            // Deleted by an earlier step of this transaction.
            Some(before) => {
                self.base.tree(&before).map(|tree| (self.base.ids(&before, &tree), tree)).map(|(ids, tree)| (tree, ids))
            }
            None => self.base.deleted(key),
        };
        let Some((tree, ids)) = found else {
            return Err(EditError::NotDeleted { key: key.clone() });
        };
        let record = self.log.remove(key).unwrap_or_default();
        self.log.insert(to.clone(), record);
        self.overlay.put(to.clone(), Some((tree, ids)));
        Ok(())
    }

    fn delete(
        &mut self,
        filter: &Filter,
        expect: Option<Expect>,
        sort: Option<&(String, bool)>,
        limit: usize,
    ) -> Result<(), EditError> {
        let mut keys = filter.select(&self.overlay);
        bounded(&self.overlay, &mut keys, sort, limit);
        if keys.is_empty()
            && let Some(named) = filter.named_keys()
        {
            return Err(missing(&self.overlay, named.first().map_or("", DocKey::as_str)));
        }
        expect_documents(&self.overlay, expect, &keys)?;
        found_any(expect, &keys)?;
        for key in keys {
            let record = self.log.entry(key.clone()).or_default();
            if record.before.is_none() && self.base.contains(&key) {
                record.before = Some(key.clone());
            }
            self.overlay.put(key, None);
        }
        Ok(())
    }

    /// Lays a new text over a document.
    fn put(&mut self, key: &DocKey, old: &Tree, ids: &Ids, new: Tree, splices: &[Splice], links: usize) {
        let ids = Ids::carry(old, ids, &new);
        let in_base = self.base.contains(key);
        let record = self.log.entry(key.clone()).or_default();
        if record.before.is_none() && in_base {
            record.before = Some(key.clone());
        }
        record.splices += splices.len();
        record.bytes_removed += splices.iter().map(|splice| splice.range.len()).sum::<usize>();
        record.bytes_added += splices.iter().map(|splice| splice.with.len()).sum::<usize>();
        record.links += links;
        record.untouched = untouched(old.source(), splices);
        self.overlay.put(key.clone(), Some((new, ids)));
    }

    /// An edit may leave a document as it was against its schema, and may not make it so.
    fn conforms(&mut self, key: &DocKey, before: Option<(&DocKey, &Tree)>, new: &Tree) -> Result<(), EditError> {
        for schema in self.policy.schemas.iter().filter(|schema| schema.is_for(key, new)) {
            let known =
                before.filter(|(key, old)| schema.is_for(key, old)).map(|(_, old)| schema.problems(old)).unwrap_or_default();
            let problems: Vec<_> = schema.problems(new).into_iter().filter(|problem| !known.contains(problem)).collect();
            if problems.is_empty() {
                continue;
            }
            if self.policy.strict {
                return Err(EditError::Schema { key: key.clone(), schema: schema.name.clone(), problems });
            }
            let name = &schema.name;
            self.notes
                .extend(problems.into_iter().map(|problem| format!("`{key}` against the schema `{name}`: {}", problem.what)));
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Plan, EditError> {
        for (key, record) in std::mem::take(&mut self.log) {
            if let Some(new) = self.overlay.tree(&key).filter(|_| !self.policy.schemas.is_empty()) {
                let old = record.before.as_ref().and_then(|before| self.base.tree(before));
                self.conforms(&key, record.before.as_ref().zip(old.as_ref()), &new)?;
            }
            self.done.push((key, record));
        }
        let mut changes = Vec::new();
        let mut receipt = Receipt { notes: self.notes, ..Receipt::default() };
        for (key, record) in self.done {
            let old =
                record.before.as_ref().and_then(|before| self.base.tree(before).map(|tree| (self.base.ids(before, &tree), tree)));
            let new = self.overlay.tree(&key).map(|tree| (self.overlay.ids(&key, &tree), tree));
            let renamed_from = record.before.as_ref().filter(|before| **before != key).map(ToString::to_string);
            let same = match (&old, &new) {
                (Some((_, old)), Some((_, new))) => old.source() == new.source() && renamed_from.is_none(),
                (None, None) => true,
                _ => false,
            };
            let change = match (&old, &new, &renamed_from) {
                _ if same => "unchanged",
                (None, _, _) => "created",
                (_, None, _) => "deleted",
                (_, _, Some(_)) => "renamed",
                _ => "updated",
            };
            let (added, changed, removed) = compare(old.as_ref(), new.as_ref());
            receipt.documents.push(DocumentReceipt {
                key: key.to_string(),
                change,
                renamed_from,
                added: if change == "created" { Vec::new() } else { added },
                changed,
                removed: if change == "deleted" { Vec::new() } else { removed },
                splices: record.splices,
                bytes_removed: record.bytes_removed,
                bytes_added: record.bytes_added,
                links: record.links,
                untouched: record.untouched,
            });
            if !same {
                changes.push(DocumentChange {
                    before: record.before,
                    after: new.is_some().then(|| key.clone()),
                    old: old.map(|(_, tree)| tree),
                    new: new.map(|(ids, tree)| (tree, ids)),
                });
            }
        }
        Ok(Plan { changes, receipt })
    }
}

/// Whether a document is replaced that has no line end at its end.
fn replaces_open_end(existing: Option<&Tree>, if_exists: IfExists) -> bool {
    if_exists == IfExists::Override && existing.is_some_and(|old| !old.is_empty() && !old.source().ends_with('\n'))
}

fn overlaps(one: &Range<usize>, other: &Range<usize>) -> bool {
    if one.is_empty() && other.is_empty() {
        return false;
    }
    // Two insertions at the edge of a range hug their anchors.
    if one.is_empty() {
        other.start < one.start && one.start < other.end
    } else if other.is_empty() {
        one.start < other.start && other.start < one.end
    } else {
        one.start < other.end && other.start < one.end
    }
}

/// Sorts the matched documents and takes the first of them.
fn bounded(documents: &dyn Documents, keys: &mut Vec<DocKey>, sort: Option<&(String, bool)>, limit: usize) {
    if let Some((field, up)) = sort {
        crate::read::sort_keys(documents, keys, field, *up);
    }
    if limit > 0 {
        keys.truncate(limit);
    }
}

fn missing(documents: &dyn Documents, key: &str) -> EditError {
    let wanted = key.to_lowercase();
    let name = wanted.rsplit('/').next().unwrap_or_default().to_owned();
    let near = documents.keys().into_iter().filter(|key| {
        let key = key.as_str().to_lowercase();
        !name.is_empty() && (key.contains(&name) || key.rsplit('/').next().is_some_and(|last| name.contains(last)))
    });
    EditError::NoDocument { key: key.to_owned(), near: near.take(5).collect() }
}

/// A filter that matches nothing, and nobody said that this is expected.
fn found_any(expect: Option<Expect>, keys: &[DocKey]) -> Result<(), EditError> {
    if expect.is_some() || !keys.is_empty() {
        return Ok(());
    }
    Err(EditError::Nothing { operator: "filter".into(), candidates: Vec::new() })
}

fn expect_documents(documents: &dyn Documents, expect: Option<Expect>, keys: &[DocKey]) -> Result<(), EditError> {
    let Some(expect) = expect.filter(|expect| !expect.holds(keys.len()) && !cfg!(sabotage = "ignore_guard")) else {
        return Ok(());
    };
    let named = |key: &DocKey| {
        let title = documents.tree(key).and_then(|tree| crate::read::title(&tree));
        Place(title.map_or_else(|| key.to_string(), |title| format!("{key} › {title}")))
    };
    Err(EditError::ExpectMismatch {
        operator: "`filter`".into(),
        want: expect.words("document"),
        got: keys.len(),
        places: keys.iter().map(named).collect(),
    })
}

fn expect_blocks(op: &BlockOp, found: &[Found]) -> Result<(), EditError> {
    let count: usize = found.iter().map(|(_, _, _, targets)| targets.len()).sum();
    let name = op.kind.name().to_owned();
    let places = || {
        let each = |(key, tree, _, targets): &Found| -> Vec<Place> {
            targets.iter().map(|target| place(key, &tree.block(target.block))).collect()
        };
        found.iter().flat_map(each).collect()
    };
    match op.expect {
        Some(expect) if !expect.holds(count) && !cfg!(sabotage = "ignore_guard") => Err(EditError::ExpectMismatch {
            operator: format!("`{name}`"),
            want: expect.words("block"),
            got: count,
            places: places(),
        }),
        None if count == 0 => Err(EditError::Nothing { operator: name, candidates: candidates(op, found) }),
        _ => Ok(()),
    }
}

/// What may have been meant: the headings, when a section was asked for that is not there; else the blocks that share the most words.
fn candidates(op: &BlockOp, found: &[Found]) -> Vec<Place> {
    let asks_for_heading = op
        .predicate
        .clauses
        .iter()
        .any(|clause| matches!(clause, Clause::Section(_) | Clause::Within(_) | Clause::Type("header", _)));
    if asks_for_heading {
        let headings = |(key, tree, _, _): &Found| -> Vec<Place> {
            tree.blocks().filter(|block| block.heading_level().is_some()).map(|block| place(key, &block)).collect()
        };
        return found.iter().flat_map(headings).take(MAX_CANDIDATES).collect();
    }
    let mut wanted = Vec::new();
    op.predicate.words(&mut wanted);
    let mut scored: Vec<(usize, Place)> = Vec::new();
    for (key, tree, _, _) in found {
        for block in tree.blocks().filter(|block| crate::select::addressable(block) && !own_text(block).is_empty()) {
            let own = own_text(&block).to_lowercase();
            let shared = wanted.iter().filter(|word| own.contains(word.as_str())).count();
            if shared > 0 && !matches!(block.kind(), Kind::Table { .. } | Kind::Row { .. }) {
                scored.push((shared, place(key, &block)));
            }
        }
    }
    // Of equals the first in the document.
    scored.sort_by_key(|(shared, _)| std::cmp::Reverse(*shared));
    scored.into_iter().take(MAX_CANDIDATES).map(|(_, place)| place).collect()
}

/// At most so many places are named as what may have been meant.
const MAX_CANDIDATES: usize = 10;

/// An edit may leave an illegal nesting as it was, and may not make one.
fn nested(old: &Tree, new: &Tree, rules: &Rules) -> Result<(), EditError> {
    let mut before = types::validate(old, rules);
    for violation in types::validate(new, rules) {
        let known = before.iter().position(|one| one.path == violation.path && one.message == violation.message);
        match known {
            Some(at) => {
                before.swap_remove(at);
            }
            None => return Err(EditError::from(&violation)),
        }
    }
    Ok(())
}

/// Whether the blocks are of the kinds that stayed and came.
fn same_kinds(old: &Tree, draft: &Draft, new: &Tree) -> bool {
    let mut counts: HashMap<Discriminant<Kind>, i64> = HashMap::new();
    let mut count = |kind: Discriminant<Kind>, by: i64| *counts.entry(kind).or_default() += by;
    let mut gone = 0;
    for block in old.blocks() {
        let index = block.index();
        if index.0 < gone {
            continue;
        }
        if draft.named.removed.contains(&index) {
            gone = index.0 + 1 + block.descendants().len() as u32;
        } else if !draft.named.dissolved.contains(&index) {
            count(std::mem::discriminant(&block.kind()), 1);
        }
    }
    draft.came.iter().for_each(|kind| count(*kind, 1));
    new.blocks().for_each(|block| count(std::mem::discriminant(&block.kind()), -1));
    counts.values().all(|count| *count == 0)
}

/// There must be as many blocks as the edit says: what came must be read at its place as it was read alone.
fn counted(old: &Tree, draft: &Draft, new: &Tree) -> Result<(), EditError> {
    let mut gone = 0;
    for index in &draft.named.removed {
        let block = old.block(*index);
        if !block.ancestors().any(|above| draft.named.removed.contains(&above.index())) {
            gone += 1 + block.descendants().len();
        }
    }
    let wanted = (old.len() + draft.added).checked_sub(gone + draft.named.dissolved.len());
    if wanted == Some(new.len()) && (draft.came.len() != draft.added || same_kinds(old, draft, new)) {
        return Ok(());
    }
    Err(EditError::Payload {
        why: format!("at its place it would be read as other blocks ({} instead of {})", new.len(), wanted.unwrap_or(0)),
        hint: "write each block on lines of its own with a blank line between, and close every fence; `\\` in front of a mark keeps it text".into(),
    })
}

fn front_splices(tree: &Tree, update: &Update) -> Result<Vec<Splice>, EditError> {
    if update.set.is_empty() && update.unset.is_empty() {
        return Ok(Vec::new());
    }
    let fail = |error: front::FrontError| {
        let diag = Diag::from(&error);
        EditError::FrontMatter { message: diag.message, hint: diag.hints.into_iter().next().unwrap_or_default().into_owned() }
    };
    // Each change sees the one before; together they are one splice of the front matter.
    let mut now = tree.clone();
    let step = |now: &mut Tree, splice: Splice| -> Result<(), EditError> {
        *now = Tree::parse(apply(now.source(), &[splice]), tree.dialect())?;
        Ok(())
    };
    let before = front::read(tree).map_err(fail)?;
    for (path, value) in &update.set {
        if front::get(&before, path) == Some(value) {
            continue;
        }
        let splice = front::set(&now, path, value).map_err(fail)?;
        step(&mut now, splice)?;
    }
    for path in &update.unset {
        if let Some(splice) = front::unset(&now, path).map_err(fail)? {
            step(&mut now, splice)?;
        }
    }
    let (old_end, new_end) = (front_end(tree), front_end(&now));
    let (old, new) = (&tree.source()[..old_end], &now.source()[..new_end]);
    if old == new {
        return Ok(Vec::new());
    }
    if cfg!(sabotage = "drop_front_matter") {
        return Ok(vec![Splice::remove(0..old_end)]);
    }
    Ok(vec![smallest(old, new)])
}

/// Where the front matter's extent ends; without any, behind the byte order mark.
fn front_end(tree: &Tree) -> usize {
    let mark = if tree.source().starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    tree.root()
        .first_child()
        .filter(|first| matches!(first.kind(), Kind::FrontMatter { .. }))
        .map_or(mark, |first| first.span().end)
}

/// The smallest splice from one text to another.
pub(crate) fn smallest(old: &str, new: &str) -> Splice {
    let mut start = old.bytes().zip(new.bytes()).take_while(|(one, other)| one == other).count();
    while !old.is_char_boundary(start) || !new.is_char_boundary(start) {
        start -= 1;
    }
    let limit = old.len().min(new.len()) - start;
    let mut tail = old.bytes().rev().zip(new.bytes().rev()).take(limit).take_while(|(one, other)| one == other).count();
    while !old.is_char_boundary(old.len() - tail) || !new.is_char_boundary(new.len() - tail) {
        tail -= 1;
    }
    Splice::new(start..old.len() - tail, &new[start..new.len() - tail])
}

/// The SHA-256 of every byte outside the splices.
fn untouched(text: &str, splices: &[Splice]) -> String {
    let mut hash = Sha256::new();
    let mut at = 0;
    for splice in splices {
        hash.update(&text.as_bytes()[at..splice.range.start]);
        at = splice.range.end;
    }
    hash.update(&text.as_bytes()[at..]);
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The ids of blocks that came, whose text changed, that went. Only blocks that hold no others count.
fn compare(old: Option<&(Ids, Tree)>, new: Option<&(Ids, Tree)>) -> (Vec<String>, Vec<String>, Vec<String>) {
    let leaves = |side: Option<&(Ids, Tree)>| -> BTreeMap<String, String> {
        let Some((ids, tree)) = side else { return BTreeMap::new() };
        tree.blocks()
            .filter(|block| block.first_child().is_none())
            .filter_map(|block| Some((ids.id(block.index())?.to_owned(), block.text().to_owned())))
            .collect()
    };
    let (old, new) = (leaves(old), leaves(new));
    let added = new.keys().filter(|id| !old.contains_key(*id)).cloned().collect();
    let changed =
        new.iter().filter(|(id, text)| old.get(*id).is_some_and(|before| before != *text)).map(|(id, _)| id.clone()).collect();
    let removed = old.keys().filter(|id| !new.contains_key(*id)).cloned().collect();
    (added, changed, removed)
}
