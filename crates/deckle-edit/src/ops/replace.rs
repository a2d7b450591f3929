//! Replacing: text inside a block, or the block.

use deckle_doc::{Block, Kind, Splice};

use super::{Context, Draft, insert, items, wrong_type};
use crate::blocks::{own_range, place};
use crate::fit::{self, Payload};
use crate::{EditError, gates};

/// Replaces `from` in a block's own text, or all of it.
pub(super) fn text(context: &Context<'_>, block: &Block<'_>, from: Option<&str>, to: &str) -> Result<Draft, EditError> {
    const OPERATOR: &str = "$replaceText";
    let source = context.tree.source();
    if matches!(block.kind(), Kind::Table { .. } | Kind::Row { .. }) {
        return Err(wrong_type(
            context,
            OPERATOR,
            block,
            "its text is that of its cells",
            "select the cell: `$cell: { $col: Name }`, or the `$row` to replace",
        ));
    }
    let Some(own) = own_range(block) else {
        return Err(wrong_type(
            context,
            OPERATOR,
            block,
            "it has no text of its own",
            "select the block inside that holds the text",
        ));
    };
    let text = source.get(own.clone()).unwrap_or_default();
    let range = match from {
        None => own.clone(),
        Some(from) => {
            let end = fit::line_end(source);
            let from =
                if end != "\n" && from.contains('\n') && !from.contains(end) { from.replace('\n', end) } else { from.to_owned() };
            let mut found = text.match_indices(&from);
            let (Some((at, _)), None) = (found.next().filter(|_| !from.is_empty()), found.next()) else {
                return Err(EditError::Anchor {
                    count: text.matches(&from).count(),
                    place: place(context.key, block),
                    text: text.to_owned(),
                });
            };
            own.start + at..own.start + at + from.len()
        }
    };
    gates::elision(to)?;
    let one_line =
        matches!(block.kind(), Kind::Heading { .. } | Kind::Cell | Kind::Container(_) | Kind::Leaf(_) | Kind::Admonition { .. });
    let to = to.replace("\r\n", "\n");
    if one_line && to.contains('\n') {
        return Err(EditError::Payload {
            why: format!("a {} is one line", crate::type_name(block)),
            hint: "write the text on one line".into(),
        });
    }
    let whole = range == own;
    let mut with = match block.kind() {
        Kind::Cell => escape_bars(&to),
        Kind::Code { .. } => {
            let kept =
                if whole && text.ends_with('\n') && !to.ends_with('\n') && !to.is_empty() { format!("{to}\n") } else { to };
            fit::lines(&kept, &code_prefix(block), fit::line_end(source))
        }
        Kind::Item { .. } => {
            let own_block = block.first_child().unwrap_or(*block);
            fit::lines(&to, &fit::prefix_of(&own_block), fit::line_end(source))
        }
        _ => fit::lines(&to, &fit::prefix_of(block), fit::line_end(source)),
    };
    if whole && with.trim().is_empty() && !matches!(block.kind(), Kind::Cell | Kind::Code { .. } | Kind::Heading { .. }) {
        return Err(EditError::Payload {
            why: "it would leave nothing of the block".into(),
            hint: "to remove the block, use `$delete`".into(),
        });
    }
    if matches!(block.kind(), Kind::Cell) && own.is_empty() {
        with = format!(" {with} ");
    }
    let mut draft = Draft { splices: vec![Splice::new(range, with)], touched: vec![own], ..Draft::default() };
    draft.named.edited.insert(block.index());
    if matches!(block.kind(), Kind::Item { .. })
        && let Some(child) = block.first_child()
    {
        draft.named.edited.insert(child.index());
    }
    Ok(draft)
}

/// What stands in front of each line of a code block.
fn code_prefix(block: &Block<'_>) -> String {
    let prefix = fit::prefix_of(block);
    match block.kind() {
        Kind::Code { fence: None, .. } => prefix + "    ",
        _ => prefix,
    }
}

/// Puts a backslash in front of bars that have none.
fn escape_bars(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut escaped = false;
    for c in text.chars() {
        if c == '|' && !escaped {
            out.push('\\');
        }
        escaped = c == '\\' && !escaped;
        out.push(c);
    }
    out
}

/// Replaces a block as selected.
pub(super) fn block(context: &Context<'_>, block: &Block<'_>, whole: bool, payload: &Payload) -> Result<Draft, EditError> {
    const OPERATOR: &str = "$replace";
    let source = context.tree.source();
    let end = fit::line_end(source);
    gates::elision(&payload.text)?;
    match block.kind() {
        Kind::Document => {
            return Err(wrong_type(
                context,
                OPERATOR,
                block,
                "it is the whole document",
                "replace a section: `$replace: { $section: …, content: … }`",
            ));
        }
        Kind::Cell => {
            return Err(wrong_type(
                context,
                OPERATOR,
                block,
                "a cell holds one line of text",
                "use `$replaceText: { $cell: …, to: … }`",
            ));
        }
        Kind::Row { head } => {
            let rows = insert::row_lines(block, &payload.text)?;
            let [row] = rows.as_slice() else {
                return Err(EditError::Payload {
                    why: "a row is replaced by one row".into(),
                    hint: "add further rows with `$insertAfter`".into(),
                });
            };
            let mut draft = Draft {
                splices: vec![Splice::new(block.content(), row.clone())],
                touched: vec![block.content()],
                ..Draft::default()
            };
            draft.named.removed.insert(block.index());
            draft.added = 1 + insert::cells_of(row);
            if head && let Some(table) = block.parent() {
                draft.named.edited.insert(table.index());
            }
            return Ok(draft);
        }
        Kind::Item { .. } => return item(context, block, payload),
        _ => {}
    }
    let (first, last) = if whole && block.heading_level().is_some() {
        (*block, block.section().last().unwrap_or(*block))
    } else {
        (*block, *block)
    };
    let text = match (block.heading_level(), payload.blocks().next().and_then(|first| first.heading_level())) {
        (Some(level), Some(_)) => payload.relevel(level),
        _ => payload.text.clone(),
    };
    let holders: Vec<Block<'_>> = first.ancestors().collect();
    insert::legal(context, &holders, payload)?;
    let prefix = fit::prefix_of(&first);
    let mut with = fit::lines(&text, &prefix, end);
    if context.separated {
        let blank = prefix.trim_end();
        let line = fit::line_start(source, first.content().start);
        if first.previous().is_some_and(|previous| !insert::blank_between(source, previous.content().end, first.content().start))
            && first.span().start <= line
        {
            with = format!("{blank}{end}{prefix}{with}");
        }
        if last.next().is_some_and(|next| !insert::blank_between(source, last.content().end, next.content().start)) {
            with = format!("{with}{end}{blank}");
        }
    }
    // An indented block's first blanks belong to it.
    let start = match first.kind() {
        Kind::Code { fence: None, .. }
            if first.previous().is_some() || first.span().start == fit::line_start(source, first.content().start) =>
        {
            let line = fit::line_start(source, first.content().start);
            with = format!("{prefix}{with}");
            line
        }
        _ => first.content().start,
    };
    let range = start..last.content().end;
    let mut draft = Draft {
        splices: vec![Splice::new(range.clone(), with)],
        added: payload.tree.len(),
        touched: vec![range],
        ..Draft::default()
    };
    let mut at = Some(first);
    while let Some(one) = at {
        draft.named.removed.insert(one.index());
        if one == last {
            break;
        }
        at = one.next();
    }
    Ok(draft)
}

/// Replaces an item by items; what is nested in it stays when the item alone was selected and the payload is one item.
fn item(context: &Context<'_>, block: &Block<'_>, payload: &Payload) -> Result<Draft, EditError> {
    let source = context.tree.source();
    let end = fit::line_end(source);
    let texts = items::items(block, payload, 0)?;
    let start = block.content().start;
    let line = fit::line_start(source, start);
    let lead: String = source[line..start].chars().map(|c| if matches!(c, '>' | '\t') { c } else { ' ' }).collect();
    let nested: Vec<Block<'_>> = block.children().skip(1).collect();
    if nested.is_empty() {
        let tight = block.parent().is_some_and(|list| matches!(list.kind(), Kind::List { tight: true, .. }));
        let gap = if tight { String::new() } else { format!("{}{end}", lead.trim_end()) };
        let joined = texts.iter().map(|text| fit::lines(text, &lead, end)).collect::<Vec<_>>().join(&format!("{end}{gap}{lead}"));
        let mut draft = Draft {
            splices: vec![Splice::new(block.content(), joined)],
            added: payload.tree.len() - 1,
            touched: vec![block.content()],
            ..Draft::default()
        };
        draft.named.removed.insert(block.index());
        return Ok(draft);
    }
    let (Some(own), [text]) = (block.first_child(), texts.as_slice()) else {
        return Err(EditError::Payload {
            why: "the item has nested blocks, and the content is more than one item".into(),
            hint: "replace its own text with one item, and add the others with `$insertAfter`".into(),
        });
    };
    let words = text.get(fit::marker_length(text)..).unwrap_or_default().trim_start();
    let mut draft = Draft {
        splices: vec![Splice::new(own.content(), fit::lines(words, &fit::prefix_of(&own), end))],
        touched: vec![own.content()],
        ..Draft::default()
    };
    draft.named.edited.extend([block.index(), own.index()]);
    Ok(draft)
}
