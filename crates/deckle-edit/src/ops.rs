//! Operators: from selected blocks to splices of bytes.

pub(crate) mod attributes;
mod insert;
mod items;
mod remove;
mod replace;
mod restructure;

use std::mem::Discriminant;
use std::ops::Range;

use deckle_doc::Ids;
use deckle_doc::types::Rules;
use deckle_doc::{Block, DocKey, Kind, Splice, Tree};

use crate::blocks::{place, type_name};
use crate::fit::Payload;
use crate::language::{BlockOp, BlockOpKind};
use crate::proof::Named;
use crate::select::{Selected, addressable, extent, roots, select};
use crate::{EditError, Place};

/// What an operator works on.
pub(crate) struct Context<'t> {
    pub key: &'t DocKey,
    pub tree: &'t Tree,
    pub ids: &'t Ids,
    /// Whether content gets blank lines around it even where it might do without.
    pub separated: bool,
    /// What may stand in what.
    pub rules: &'t Rules,
}

/// What an operator wants to do to one document.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub splices: Vec<Splice>,
    pub named: Named,
    /// How many blocks come.
    pub added: usize,
    /// Of what kinds they are, where it is known of all.
    pub came: Vec<Discriminant<Kind>>,
    pub notes: Vec<String>,
    /// The bytes that it touches, for the check that operators are disjoint.
    pub touched: Vec<Range<usize>>,
}

impl Draft {
    pub fn take(&mut self, other: Self) {
        self.splices.extend(other.splices);
        self.named.merge(other.named);
        self.added += other.added;
        self.came.extend(other.came);
        self.notes.extend(other.notes);
        self.touched.extend(other.touched);
    }
}

/// The targets of an operator in one document: those that it applies to once each.
pub(crate) fn targets(context: &Context<'_>, op: &BlockOp) -> Vec<Selected> {
    let all = || select(context.tree, context.ids, context.key, &op.predicate);
    match &op.kind {
        // Properties are those of the blocks that are named, not of what is inside them.
        BlockOpKind::SetAttr { .. }
        | BlockOpKind::Toggle { .. }
        | BlockOpKind::Unwrap
        | BlockOpKind::ReplaceText { from: None, .. } => roots(context.tree, context.ids, context.key, &op.predicate),
        BlockOpKind::ReplaceText { from: Some(from), .. } => holding(context, all(), from),
        _ => coalesced(context, all()),
    }
}

/// A target inside another's extent is absorbed by it.
fn coalesced(context: &Context<'_>, selected: Vec<Selected>) -> Vec<Selected> {
    let mut kept: Vec<Selected> = Vec::new();
    let mut until = 0;
    for one in selected {
        let block = context.tree.block(one.block);
        let range = extent(&block, one.tree || block.heading_level().is_none());
        if range.start < until && block.kind() != Kind::Document {
            continue;
        }
        if one.tree || block.heading_level().is_none() {
            until = until.max(range.end);
        }
        kept.push(one);
    }
    kept
}

/// Of whole trees and tables the blocks whose words hold `from`: a part of a section is edited without naming the block that it is in.
fn holding(context: &Context<'_>, selected: Vec<Selected>, from: &str) -> Vec<Selected> {
    let end = crate::fit::line_end(context.tree.source());
    let grid = |block: &Block<'_>| matches!(block.kind(), Kind::Table { .. } | Kind::Row { .. });
    let holds = |block: &Block<'_>| {
        let text = crate::own_text(block);
        !grid(block) && text.contains(replace::anchor(text, from, &crate::blocks::own_prefix(block), end).as_str())
    };
    let mut found: Vec<Selected> = Vec::new();
    let add = |found: &mut Vec<Selected>, block: &Block<'_>| {
        if found.last().is_none_or(|last| last.block < block.index()) {
            found.push(Selected { block: block.index(), tree: false });
        }
    };
    for one in &selected {
        let block = context.tree.block(one.block);
        if block.kind() == Kind::Document {
            context.tree.blocks().filter(|block| addressable(block) && holds(block)).for_each(|block| add(&mut found, &block));
        } else if grid(&block) {
            block.descendants().filter(|cell| holds(cell)).for_each(|cell| add(&mut found, &cell));
        } else if !one.tree || holds(&block) {
            add(&mut found, &block);
        }
    }
    if found.is_empty() { selected } else { found }
}

/// Turns one operator into splices.
pub(crate) fn draft(context: &Context<'_>, op: &BlockOp, targets: &[Selected]) -> Result<Draft, EditError> {
    stale(context, op)?;
    let name = op.kind.name();
    let dialect = context.tree.dialect();
    let payload = |content: &str| Payload::parse(content, dialect);
    let mut draft = Draft::default();
    let each = |draft: &mut Draft, act: &dyn Fn(&Block<'_>, &Selected) -> Result<Draft, EditError>| -> Result<(), EditError> {
        for target in targets {
            draft.take(act(&context.tree.block(target.block), target)?);
        }
        Ok(())
    };
    match &op.kind {
        BlockOpKind::ReplaceText { from, to } => {
            each(&mut draft, &|block, target| replace::text(context, block, target.tree, from.as_deref(), to))?
        }
        BlockOpKind::Replace { content } => {
            let payload = payload(content)?;
            each(&mut draft, &|block, target| replace::block(context, block, target.tree, &payload))?;
        }
        BlockOpKind::InsertBefore { content } => {
            let payload = payload(content)?;
            each(&mut draft, &|block, target| insert::before(context, name, block, target.tree, &payload))?;
        }
        BlockOpKind::InsertAfter { content } => {
            let payload = payload(content)?;
            each(&mut draft, &|block, target| insert::after(context, name, block, target.tree, &payload))?;
        }
        BlockOpKind::Append { content } => {
            let payload = payload(content)?;
            each(&mut draft, &|block, _| insert::append(context, name, block, &payload))?;
        }
        BlockOpKind::Prepend { content } => {
            let payload = payload(content)?;
            each(&mut draft, &|block, _| insert::prepend(context, name, block, &payload))?;
        }
        BlockOpKind::Delete { nested } => draft = remove::all(context, name, targets, *nested)?,
        BlockOpKind::Move { to } => draft = restructure::relocate(context, name, targets, to, true)?,
        BlockOpKind::Copy { to } => draft = restructure::relocate(context, name, targets, to, false)?,
        BlockOpKind::Wrap { name: container, label } => {
            draft = restructure::wrap(context, name, targets, container, label.as_deref())?
        }
        BlockOpKind::Unwrap => each(&mut draft, &|block, _| restructure::unwrap(context, name, block))?,
        BlockOpKind::SetAttr { attributes } => each(&mut draft, &|block, _| attributes::set(context, name, block, attributes))?,
        BlockOpKind::Toggle { checked } => each(&mut draft, &|block, _| attributes::toggle(context, name, block, *checked))?,
    }
    Ok(draft)
}

/// Refuses when a block reads otherwise than the caller last saw it.
fn stale(context: &Context<'_>, op: &BlockOp) -> Result<(), EditError> {
    for (id, text) in &op.base {
        let found = context.ids.find(id).map(|index| context.tree.block(index));
        let now = found.map_or("", |block| crate::own_text(&block));
        if now != text {
            let place = found.map_or_else(
                || Place(format!("{} › the block `{id}`, which is gone", context.key)),
                |block| place(context.key, &block),
            );
            return Err(EditError::Stale { place, text: now.to_owned() });
        }
    }
    Ok(())
}

/// An operator that cannot act on a block.
fn wrong_type(context: &Context<'_>, operator: &str, block: &Block<'_>, why: &str, hint: &str) -> EditError {
    EditError::Type {
        operator: operator.to_owned(),
        type_name: type_name(block).to_owned(),
        why: why.to_owned(),
        places: vec![place(context.key, block)],
        hint: hint.to_owned(),
    }
}
