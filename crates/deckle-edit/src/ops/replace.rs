//! Replacing: text inside a block, or the block.

use deckle_doc::{Block, Kind, Splice};

use super::{Context, Draft, insert, items, wrong_type};
use crate::EditError;
use crate::blocks::{own_prefix, own_range, place, shown_block, shown_text};
use crate::fit::{self, Payload};

/// Replaces `from` in a block's own text, or all of it.
pub(super) fn text(
    context: &Context<'_>,
    block: &Block<'_>,
    whole: bool,
    from: Option<&str>,
    to: &str,
) -> Result<Draft, EditError> {
    const OPERATOR: &str = "$replaceText";
    let source = context.tree.source();
    if whole && from.is_none() && block.heading_level().is_some() {
        let hint = "to retitle it select the `$header`; to replace the section use `$replace`; to change words in it say `from`";
        return Err(wrong_type(context, OPERATOR, block, "a section has no text of its own", hint));
    }
    if from.is_some() && own_range(block).is_none_or(|_| matches!(block.kind(), Kind::Table { .. } | Kind::Row { .. })) {
        return Err(wrong_type(
            context,
            OPERATOR,
            block,
            "`from` is in none of its blocks",
            "read it again and copy `from` byte for byte",
        ));
    }
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
    let prefix = own_prefix(block);
    let range = match from {
        None if reads(block, text, to) => return Ok(unchanged(OPERATOR)),
        None => own.clone(),
        Some(from) => {
            let from = anchor(text, from, &prefix, fit::line_end(source));
            let mut found = text.match_indices(from.as_str());
            let (Some((at, _)), None) = (found.next().filter(|_| !from.is_empty()), found.next()) else {
                return Err(EditError::Anchor {
                    count: text.matches(from.as_str()).count(),
                    place: place(context.key, block),
                    text: shown_text(block),
                });
            };
            own.start + at..own.start + at + from.len()
        }
    };
    let one_line =
        matches!(block.kind(), Kind::Heading { .. } | Kind::Cell | Kind::Container(_) | Kind::Leaf(_) | Kind::Admonition { .. });
    let to = to.replace("\r\n", "\n");
    if one_line && to.contains('\n') {
        return Err(EditError::Payload {
            why: format!("{} is one line", crate::value::article(crate::type_name(block))),
            hint: "write the text on one line".into(),
        });
    }
    let whole = range == own;
    let mut with = match block.kind() {
        Kind::Cell => escape_bars(&to),
        // The text of fenced code starts and ends at the start of a line.
        Kind::Code { fence: Some(_), .. } if whole => {
            let body = to.strip_suffix('\n').unwrap_or(&to);
            let end = fit::line_end(source);
            let last = if text.is_empty() || text.ends_with(['\n', '\r']) { end } else { "" };
            if to.is_empty() { String::new() } else { format!("{prefix}{}{last}", fit::lines(body, &prefix, end)) }
        }
        _ => fit::lines(&to, &prefix, fit::line_end(source)),
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
    let mut draft = Draft { splices: vec![Splice::new(range, with)], touched: vec![own.clone()], ..Draft::default() };
    draft.named.edited.insert(block.index());
    lengthen(block, &own, &mut draft);
    if matches!(block.kind(), Kind::Item { .. })
        && let Some(child) = block.first_child()
    {
        draft.named.edited.insert(child.index());
    }
    Ok(draft)
}

/// Whether a block reads so already: as it is on disk, or as it is shown.
fn reads(block: &Block<'_>, text: &str, wanted: &str) -> bool {
    let plain = |text: &str| -> String {
        let text = text.replace("\r\n", "\n");
        if matches!(block.kind(), Kind::Code { .. }) { text.trim_end_matches('\n').to_owned() } else { text }
    };
    text == wanted || plain(&shown_text(block)) == plain(wanted)
}

/// A change that changes nothing.
fn unchanged(operator: &str) -> Draft {
    Draft { notes: vec![format!("`{operator}`: it reads so already")], ..Draft::default() }
}

/// `from` as it stands on disk: lines that were shown without the marks in front of them have them there.
pub(super) fn anchor(text: &str, from: &str, prefix: &str, end: &str) -> String {
    if !from.contains('\n') || text.contains(from) {
        return from.to_owned();
    }
    let from = from.replace("\r\n", "\n");
    let lines = fit::lines(&from, "", end);
    if text.contains(&lines) { lines } else { fit::lines(&from, prefix, end) }
}

/// Code that holds its own fence gets a longer one.
fn lengthen(block: &Block<'_>, own: &std::ops::Range<usize>, draft: &mut Draft) {
    let Kind::Code { fence: Some(fence), .. } = block.kind() else { return };
    let (mark, length) = (char::from(fence.character), fence.length as usize);
    let Some(splice) = draft.splices.first() else { return };
    let source = block.tree().source();
    let text = [&source[own.start..splice.range.start], &splice.with, &source[splice.range.end..own.end]].concat();
    let prefix = fit::prefix_of(block);
    let runs = text.lines().map(|line| {
        let line = line.strip_prefix(prefix.as_str()).unwrap_or(line);
        let run = line.trim_start_matches(' ').chars().take_while(|c| *c == mark).count();
        let closes = line.trim_start_matches(' ').trim_start_matches(mark).trim().is_empty();
        if closes { run } else { 0 }
    });
    let longest = runs.max().unwrap_or(0);
    let closing = block.content().end - (block.text().len() - block.text().trim_end_matches(mark).len());
    if longest < length || closing <= own.start {
        return;
    }
    let more = mark.to_string().repeat(longest + 1 - length);
    draft.splices.push(Splice::insert(block.content().start, more.clone()));
    draft.splices.push(Splice::insert(closing, more));
    draft.named.retyped.insert(block.index());
    draft.notes.push("the fence of the code is longer now, so that it holds the one inside".into());
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
    let as_read = payload.text == block.text() || payload.text == shown_block(block).replace("\r\n", "\n");
    if as_read && !(whole && block.heading_level().is_some()) {
        return Ok(unchanged(OPERATOR));
    }
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
        came: payload.kinds(),
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
            came: payload.kinds().split_off(1),
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
