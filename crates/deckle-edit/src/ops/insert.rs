//! Insertions: before, after, at the end of, at the start of a block.

use deckle_doc::types;
use deckle_doc::{Block, Kind, Splice};

use super::{Context, Draft, items, wrong_type};
use crate::EditError;
use crate::fit::{self, Payload};

/// Inserts in front of a block.
pub(super) fn before(
    context: &Context<'_>,
    operator: &str,
    block: &Block<'_>,
    _whole: bool,
    payload: &Payload,
) -> Result<Draft, EditError> {
    match block.kind() {
        Kind::Document | Kind::Cell => {
            Err(wrong_type(context, operator, block, "nothing can stand before it", "use `$prepend` to add at the start"))
        }
        Kind::Item { .. } => items::beside(context, block, payload, true),
        Kind::Row { head } => {
            if head {
                return Err(wrong_type(
                    context,
                    operator,
                    block,
                    "it is the head of the table",
                    "insert after the head, or before a later row",
                ));
            }
            row_beside(context, block, payload, true)
        }
        _ => place_before(context, block, payload, &leveled(block, payload, false)),
    }
}

/// Inserts behind a block; behind a heading alone that is the first place of its section.
pub(super) fn after(
    context: &Context<'_>,
    operator: &str,
    block: &Block<'_>,
    whole: bool,
    payload: &Payload,
) -> Result<Draft, EditError> {
    match block.kind() {
        Kind::Document | Kind::Cell => {
            Err(wrong_type(context, operator, block, "nothing can stand after it", "use `$append` to add at the end"))
        }
        Kind::Item { .. } => items::beside(context, block, payload, false),
        Kind::Row { .. } => row_beside(context, block, payload, false),
        Kind::Heading { .. } if whole => {
            let last = block.section().last().unwrap_or(*block);
            place_after(context, &last, payload, &leveled(block, payload, false), false)
        }
        Kind::Heading { .. } => place_after(context, block, payload, &leveled(block, payload, true), false),
        _ => place_after(context, block, payload, &leveled(block, payload, false), false),
    }
}

/// Adds at the end of what a block holds.
pub(super) fn append(context: &Context<'_>, operator: &str, block: &Block<'_>, payload: &Payload) -> Result<Draft, EditError> {
    match block.kind() {
        Kind::Heading { .. } => {
            let last = block.section().last().unwrap_or(*block);
            place_after(context, &last, payload, &leveled(block, payload, true), false)
        }
        Kind::List { .. } => match block.last_child() {
            Some(item) => items::beside(context, &item, payload, false),
            None => Err(wrong_type(context, operator, block, "it has no items", "replace the list")),
        },
        Kind::Table { .. } => match block.last_child() {
            Some(row) => row_beside(context, &row, payload, false),
            None => Err(wrong_type(context, operator, block, "it has no rows", "replace the table")),
        },
        _ if holds_blocks(block) => match block.last_child() {
            // Items go on with the list that an item ends with.
            Some(list) if matches!(block.kind(), Kind::Item { .. }) && is_list(&list) && only_list(payload) => {
                match list.last_child() {
                    Some(item) => items::beside(context, &item, payload, false),
                    None => place_after(context, &list, payload, &payload.text, nests_tight(block, payload)),
                }
            }
            Some(last) => place_after(context, &last, payload, &payload.text, nests_tight(block, payload)),
            None => first_inside(context, block, payload),
        },
        _ => Err(cannot_hold(context, operator, block)),
    }
}

/// Adds at the start of what a block holds.
pub(super) fn prepend(context: &Context<'_>, operator: &str, block: &Block<'_>, payload: &Payload) -> Result<Draft, EditError> {
    match block.kind() {
        Kind::Heading { .. } => place_after(context, block, payload, &leveled(block, payload, true), false),
        Kind::List { .. } => match block.first_child() {
            Some(item) => items::beside(context, &item, payload, true),
            None => Err(wrong_type(context, operator, block, "it has no items", "replace the list")),
        },
        Kind::Table { .. } => match block.first_child() {
            Some(head) => row_beside(context, &head, payload, false),
            None => Err(wrong_type(context, operator, block, "it has no rows", "replace the table")),
        },
        Kind::Item { .. } => match block.first_child() {
            // The first paragraph is the item's own text.
            Some(own) => place_after(context, &own, payload, &payload.text, nests_tight(block, payload)),
            None => first_inside(context, block, payload),
        },
        Kind::Document => match block.first_child() {
            Some(front) if matches!(front.kind(), Kind::FrontMatter { .. }) => {
                place_after(context, &front, payload, &payload.text, false)
            }
            Some(first) => place_before(context, &first, payload, &payload.text),
            None => first_inside(context, block, payload),
        },
        _ if holds_blocks(block) => match block.first_child() {
            Some(first) => place_before(context, &first, payload, &payload.text),
            None => first_inside(context, block, payload),
        },
        _ => Err(cannot_hold(context, operator, block)),
    }
}

pub(super) fn holds_blocks(block: &Block<'_>) -> bool {
    matches!(
        block.kind(),
        Kind::Document
            | Kind::Quote
            | Kind::Item { .. }
            | Kind::Container(_)
            | Kind::Admonition { .. }
            | Kind::FootnoteDefinition { .. }
    )
}

fn cannot_hold(context: &Context<'_>, operator: &str, block: &Block<'_>) -> EditError {
    wrong_type(
        context,
        operator,
        block,
        "it holds no blocks",
        "blocks can be added to a header, an item, a list, a table, a quote or a container; beside any other use `$insertBefore` or `$insertAfter`",
    )
}

/// A list in a tight item stays tight.
fn nests_tight(block: &Block<'_>, payload: &Payload) -> bool {
    let tight = block.parent().is_some_and(|list| matches!(list.kind(), Kind::List { tight: true, .. }));
    matches!(block.kind(), Kind::Item { .. }) && tight && only_list(payload)
}

fn is_list(block: &Block<'_>) -> bool {
    matches!(block.kind(), Kind::List { .. })
}

fn only_list(payload: &Payload) -> bool {
    payload.blocks().count() == 1 && payload.blocks().all(|one| is_list(&one))
}

/// The payload with its headings one below the heading that it goes under, or on the level of the section that it goes beside.
pub(super) fn leveled(block: &Block<'_>, payload: &Payload, below: bool) -> String {
    let own = block.heading_level();
    let level = match (own, below) {
        (Some(level), true) => level + 1,
        (Some(level), false) => level,
        (None, _) => crate::blocks::enclosing_headings(block).first().and_then(Block::heading_level).map_or(0, |level| level + 1),
    };
    if level == 0 { payload.text.clone() } else { payload.relevel(level.min(6)) }
}

/// Puts text in front of a block: on a line of its own, a blank line between.
pub(super) fn place_before(context: &Context<'_>, block: &Block<'_>, payload: &Payload, text: &str) -> Result<Draft, EditError> {
    let source = context.tree.source();
    let end = fit::line_end(source);
    let prefix = fit::prefix_of(block);
    let start = block.content().start;
    let line = fit::line_start(source, start);
    let on_marker_line = block.span().start > line && block.previous().is_none();
    let blank = format!("{}{end}", prefix.trim_end());
    let fitted = fit::lines(text, &prefix, end);
    let splice = if on_marker_line {
        Splice::insert(start, format!("{fitted}{end}{blank}{prefix}"))
    } else {
        let crowded = block.previous().is_some_and(|previous| !blank_between(source, previous.content().end, start));
        let lead = if crowded { blank.as_str() } else { "" };
        Splice::insert(line, format!("{lead}{prefix}{fitted}{end}{blank}"))
    };
    inserted(context, splice, payload, block, false)
}

/// Puts text behind a block: on a line of its own, a blank line between unless it is tight.
pub(super) fn place_after(
    context: &Context<'_>,
    block: &Block<'_>,
    payload: &Payload,
    text: &str,
    tight: bool,
) -> Result<Draft, EditError> {
    let source = context.tree.source();
    let end = fit::line_end(source);
    let prefix = fit::prefix_of(block);
    let at = fit::line_stop(source, block.content().end);
    let blank = format!("{}{end}", prefix.trim_end());
    let lead = if tight { "" } else { blank.as_str() };
    let mut with = format!("{end}{lead}{prefix}{}", fit::lines(text, &prefix, end));
    let crowded = block.next().is_some_and(|next| !blank_between(source, block.content().end, next.content().start));
    if crowded {
        with.push_str(end);
        with.push_str(prefix.trim_end());
    }
    inserted(context, Splice::insert(at, with), payload, block, false)
}

/// Puts text into a container that holds nothing yet.
fn first_inside(context: &Context<'_>, block: &Block<'_>, payload: &Payload) -> Result<Draft, EditError> {
    let source = context.tree.source();
    let end = fit::line_end(source);
    let prefix = fit::child_prefix(block);
    let fitted = fit::lines(&payload.text, &prefix, end);
    let splice = match block.kind() {
        Kind::Document => {
            let gap = if source.is_empty() || source.ends_with(['\n', '\r', '\u{feff}']) { "" } else { end };
            Splice::insert(source.len(), format!("{gap}{fitted}{end}"))
        }
        Kind::Quote | Kind::Item { .. } | Kind::FootnoteDefinition { .. } => {
            let at = block.content().end;
            let gap = if source[..at].ends_with(' ') { "" } else { " " };
            Splice::insert(at, format!("{gap}{fitted}"))
        }
        _ => Splice::insert(fit::line_stop(source, block.content().start), format!("{end}{prefix}{fitted}")),
    };
    inserted(context, splice, payload, block, true)
}

fn inserted(
    context: &Context<'_>,
    splice: Splice,
    payload: &Payload,
    anchor: &Block<'_>,
    inside: bool,
) -> Result<Draft, EditError> {
    let at = splice.range.clone();
    let mut draft =
        Draft { splices: vec![splice], added: payload.tree.len(), came: payload.kinds(), touched: vec![at], ..Draft::default() };
    let holders: Vec<Block<'_>> =
        if inside { std::iter::once(*anchor).chain(anchor.ancestors()).collect() } else { anchor.ancestors().collect() };
    legal(context, &holders, payload)?;
    let inner = payload.tree.blocks().filter_map(|block| match block.kind() {
        Kind::Container(directive) => Some(directive.colons as usize),
        _ => None,
    });
    if let Some(longest) = inner.max() {
        lengthen(context, &holders, longest, &mut draft);
    }
    grown(&mut draft, anchor, inside);
    Ok(draft)
}

/// Checks the payload's blocks against the rules of what will hold them, the nearest holder first.
pub(super) fn legal(context: &Context<'_>, holders: &[Block<'_>], payload: &Payload) -> Result<(), EditError> {
    let kind = |block: &Block<'_>| types::type_of(block).filter(|name| context.rules.allowed(name).is_some());
    let outer: Vec<&str> = holders.iter().filter_map(kind).collect();
    for block in payload.tree.blocks() {
        let Some(child) = types::type_of(&block) else { continue };
        let mut above: Vec<&str> = block.ancestors().filter_map(|above| kind(&above)).collect();
        above.extend(&outer);
        types::check_nesting(&above, child, context.rules).map_err(|violation| EditError::from(&violation))?;
    }
    Ok(())
}

/// A fence inside needs a longer one around it.
pub(super) fn lengthen(context: &Context<'_>, holders: &[Block<'_>], mut longest: usize, draft: &mut Draft) {
    let source = context.tree.source();
    for holder in holders {
        let Kind::Container(directive) = holder.kind() else { continue };
        let colons = directive.colons as usize;
        if colons > longest {
            return;
        }
        let more = ":".repeat(longest + 1 - colons);
        let content = holder.content();
        draft.splices.push(Splice::insert(content.start, more.clone()));
        let last = source
            .get(content.clone())
            .unwrap_or_default()
            .rfind(['\n', '\r'])
            .map_or(content.start, |end| content.start + end + 1);
        let closing = source.get(last..content.end).unwrap_or_default();
        let lead = closing.len() - closing.trim_start_matches([' ', '\t', '>']).len();
        if last > content.start && closing[lead..].bytes().all(|byte| byte == b':') {
            draft.splices.push(Splice::insert(last + lead, more));
        }
        draft.named.retyped.insert(holder.index());
        draft.notes.push(format!(
            "the fence of `{}` is longer now, so that it holds the one inside",
            holder.text().lines().next().unwrap_or_default()
        ));
        longest += 1;
    }
}

/// What holds an insertion grows with it.
pub(super) fn grown(draft: &mut Draft, anchor: &Block<'_>, inside: bool) {
    draft.named.edited.extend(anchor.ancestors().map(|above| above.index()));
    if inside {
        draft.named.edited.insert(anchor.index());
    }
}

/// Whether a line without content stands between two bytes.
pub(super) fn blank_between(source: &str, from: usize, to: usize) -> bool {
    let gap = source.get(from..to).unwrap_or_default().replace("\r\n", "\n").replace('\r', "\n");
    gap.matches('\n').count() >= 2
}

/// Rows beside a row: the payload is lines of cells.
fn row_beside(context: &Context<'_>, row: &Block<'_>, payload: &Payload, in_front: bool) -> Result<Draft, EditError> {
    let source = context.tree.source();
    let end = fit::line_end(source);
    let rows = row_lines(row, &payload.text)?;
    let start = fit::line_start(source, row.content().start);
    let lead = &source[start..row.content().start];
    let prefix: String =
        if row.ordinal_is_first_line() { fit::prefix_of(&row.parent().unwrap_or(*row)) } else { lead.to_owned() };
    let text = rows.join(&format!("{end}{prefix}"));
    let splice = if in_front {
        Splice::insert(start, format!("{prefix}{text}{end}"))
    } else {
        // The head is followed by the line of dashes.
        let mut at = fit::line_stop(source, row.content().end);
        if matches!(row.kind(), Kind::Row { head: true }) {
            at = fit::line_stop(source, fit::next_line(source, at));
        }
        Splice::insert(at, format!("{end}{prefix}{text}"))
    };
    let cells: usize = rows.iter().map(|row| cells_of(row)).sum();
    let at = splice.range.clone();
    let mut draft = Draft { splices: vec![splice], added: rows.len() + cells, touched: vec![at], ..Draft::default() };
    grown(&mut draft, row, false);
    Ok(draft)
}

/// The payload as rows with as many cells as the table has columns.
pub(super) fn row_lines(row: &Block<'_>, text: &str) -> Result<Vec<String>, EditError> {
    let columns = match row.parent().map(|table| table.kind()) {
        Some(Kind::Table { columns }) => columns as usize,
        _ => 0,
    };
    let mut rows = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let cells = cells_of(line);
        if !line.trim_start().starts_with('|') && columns > 1 && !line.contains('|') || cells != columns {
            return Err(EditError::Payload {
                why: format!("`{}` has {cells} cell(s), the table has {columns} column(s)", line.trim()),
                hint: format!(
                    "write each row on one line with {columns} cell(s), and `\\|` for a bar inside a cell: `| a | b |`"
                ),
            });
        }
        rows.push(line.trim().to_owned());
    }
    Ok(rows)
}

/// How many cells a line has when it is read as a row.
pub(super) fn cells_of(line: &str) -> usize {
    let line = line.trim();
    let inner = line.strip_prefix('|').unwrap_or(line);
    let mut count = 0;
    let mut escaped = false;
    let mut open = !inner.is_empty();
    for c in inner.chars() {
        match c {
            '\\' if !escaped => {
                escaped = true;
                continue;
            }
            '|' if !escaped => {
                count += 1;
                open = false;
            }
            c if !c.is_whitespace() => open = true,
            _ => {}
        }
        escaped = false;
    }
    count + usize::from(open)
}

/// Where a row stands on its table's first line.
trait FirstLine {
    fn ordinal_is_first_line(&self) -> bool;
}

impl FirstLine for Block<'_> {
    fn ordinal_is_first_line(&self) -> bool {
        self.previous().is_none()
    }
}
