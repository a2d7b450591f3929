//! Deletions.

use std::ops::Range;

use deckle_doc::{Block, Kind, Splice};

use super::{Context, Draft, wrong_type};
use crate::EditError;
use crate::fit;

/// Removes a block as selected: a heading alone, or its section.
pub(super) fn block(
    context: &Context<'_>,
    operator: &str,
    block: &Block<'_>,
    whole: bool,
    nested: bool,
) -> Result<Draft, EditError> {
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
        Kind::Row { .. } => return Ok(row(context, block)),
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
    // The only item takes its list along.
    if matches!(block.kind(), Kind::Item { .. })
        && let Some(list) = block.parent()
        && list.children().count() == 1
    {
        return Ok(run(context, &list, &list));
    }
    Ok(run(context, &first, &last))
}

/// Removes a run of siblings.
pub(super) fn run(context: &Context<'_>, first: &Block<'_>, last: &Block<'_>) -> Draft {
    let range = run_range(context.tree.source(), first, last);
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
pub(super) fn run_range(source: &str, first: &Block<'_>, last: &Block<'_>) -> Range<usize> {
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

fn row(context: &Context<'_>, row: &Block<'_>) -> Draft {
    let source = context.tree.source();
    let start = fit::line_start(source, row.content().start);
    let stop = fit::line_stop(source, row.content().end);
    let next = fit::next_line(source, row.content().end);
    // At the end of a file without a final line end, the line end before the row goes.
    let range = if next == stop && start > 0 {
        let before = if source[..start].ends_with("\r\n") { start - 2 } else { start - 1 };
        before..stop
    } else {
        start..next
    };
    let mut draft = Draft { splices: vec![Splice::remove(range)], touched: vec![row.content()], ..Draft::default() };
    draft.named.removed.insert(row.index());
    draft
}
