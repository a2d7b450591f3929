//! Deletions.

use std::ops::Range;

use deckle_doc::{Block, Kind, Splice};

use super::{Context, Draft, wrong_type};
use crate::select::Selected;
use crate::{EditError, fit};

/// Removes blocks as selected: a heading alone or its section; neighbours go as one run.
pub(super) fn all(context: &Context<'_>, operator: &str, targets: &[Selected], nested: bool) -> Result<Draft, EditError> {
    let mut draft = Draft::default();
    let mut open: Option<(Block<'_>, Block<'_>)> = None;
    for target in targets {
        let block = context.tree.block(target.block);
        let (first, last) = removal(context, operator, &block, target.tree, nested)?;
        open = match open {
            Some((start, end)) if end.next() == Some(first) => Some((start, last)),
            Some((start, end)) => {
                draft.take(run(context, &start, &end));
                Some((first, last))
            }
            None => Some((first, last)),
        };
    }
    if let Some((mut first, mut last)) = open {
        // All the items take their list along.
        if let Some(list) = first.parent().filter(|_| matches!(first.kind(), Kind::Item { .. }))
            && first.previous().is_none()
            && last.next().is_none()
        {
            (first, last) = (list, list);
        }
        draft.take(run(context, &first, &last));
    }
    Ok(draft)
}

/// The first and the last of the siblings that go with a block.
fn removal<'t>(
    context: &Context<'_>,
    operator: &str,
    block: &Block<'t>,
    whole: bool,
    nested: bool,
) -> Result<(Block<'t>, Block<'t>), EditError> {
    match block.kind() {
        Kind::Document => {
            return Err(wrong_type(
                context,
                operator,
                block,
                "it is the document",
                "delete the document itself: `delete_documents`, or a `$deleteDocument` step",
            ));
        }
        Kind::Cell => {
            return Err(wrong_type(
                context,
                operator,
                block,
                "a row keeps its cells",
                "empty it: `$replaceText: { $cell: …, to: \"\" }`",
            ));
        }
        Kind::Row { head: true } => {
            return Err(wrong_type(
                context,
                operator,
                block,
                "it is the head of the table",
                "delete the table, or replace the head's text",
            ));
        }
        Kind::Item { .. } if !nested && !whole => {
            let inside = block.children().count();
            let own = usize::from(block.first_child().is_some_and(|child| child.kind() == Kind::Paragraph));
            if inside > own {
                return Err(wrong_type(
                    context,
                    operator,
                    block,
                    &format!("it has {} nested block(s)", inside - own),
                    "to delete them with it, say `nested: true`; to keep them, `$move` them out first",
                ));
            }
        }
        _ => {}
    }
    let (first, last) = if whole && block.heading_level().is_some() {
        (*block, block.section().last().unwrap_or(*block))
    } else {
        (*block, *block)
    };
    Ok((first, last))
}

/// Removes a run of siblings.
fn run(context: &Context<'_>, first: &Block<'_>, last: &Block<'_>) -> Draft {
    let source = context.tree.source();
    let range = if matches!(first.kind(), Kind::Row { .. }) { rows(source, first, last) } else { run_range(source, first, last) };
    let mut draft = Draft::default();
    draft.touched.push(first.content().start..last.content().end);
    let mut at = Some(*first);
    while let Some(block) = at {
        draft.named.removed.insert(block.index());
        if block == *last {
            break;
        }
        at = block.next();
    }
    draft.splices.push(Splice::remove(range));
    draft
}

/// The bytes that go with a run of siblings: its lines and the blank lines on one side of it.
fn run_range(source: &str, first: &Block<'_>, last: &Block<'_>) -> Range<usize> {
    let line = fit::line_start(source, first.content().start);
    let on_marker_line = first.previous().is_none() && first.span().start > line;
    match (first.previous(), last.next()) {
        // What follows moves up to the marker.
        (None, Some(next)) if on_marker_line => first.content().start..next.content().start,
        (_, Some(_)) => first.span().start..last.span().end,
        (Some(previous), None) => {
            fit::line_stop(source, previous.content().end.max(line_before(source, first)))
                ..fit::line_stop(source, last.content().end)
        }
        (None, None) if on_marker_line => first.content().start..last.content().end,
        (None, None) => first.span().start..last.span().end,
    }
}

/// The end of the last line with content before a block.
fn line_before(source: &str, block: &Block<'_>) -> usize {
    block.previous().map_or(0, |previous| {
        // A table's content ends with its last row; its line of dashes may come after the head.
        previous.content().end.min(source.len())
    })
}

/// The lines of rows.
fn rows(source: &str, first: &Block<'_>, last: &Block<'_>) -> Range<usize> {
    let start = fit::line_start(source, first.content().start);
    let stop = fit::line_stop(source, last.content().end);
    let next = fit::next_line(source, last.content().end);
    // At the end of a file without a final line end, the line end before the row goes.
    if next == stop && start > 0 {
        let before = if source[..start].ends_with("\r\n") { start - 2 } else { start - 1 };
        before..stop
    } else {
        start..next
    }
}
