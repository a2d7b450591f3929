//! Moving, copying, wrapping and unwrapping: by reference, so that text that does not change is never sent again.

use deckle_doc::{AdmonitionForm, Block, Dialect, Kind, Splice};

use super::{Context, Draft, insert, remove, wrong_type};
use crate::EditError;
use crate::blocks::place;
use crate::fit::{self, Payload};
use crate::language::operation::{Destination, Side};
use crate::select::{Selected, extent, roots};

/// Moves or copies the targets to a place in the same document.
pub(super) fn relocate(
    context: &Context<'_>,
    operator: &str,
    targets: &[Selected],
    to: &Destination,
    moves: bool,
) -> Result<Draft, EditError> {
    if let Some(other) = to.document.as_ref().filter(|other| **other != *context.key) {
        return Err(EditError::syntax(
            format!("`{operator}` works inside one document, and `{other}` is another"),
            "copy the text with `$insertAfter` into the other document and `$delete` it here, as two steps of one transaction",
        ));
    }
    let found = roots(context.tree, context.ids, context.key, &to.predicate);
    let [goal] = found.as_slice() else {
        return Err(EditError::ExpectMismatch {
            operator: format!("the destination of `{operator}`"),
            want: "1 block".into(),
            got: found.len(),
            places: found.iter().map(|one| place(context.key, &context.tree.block(one.block))).collect(),
        });
    };
    let goal_block = context.tree.block(goal.block);
    let mut texts = Vec::new();
    let mut draft = Draft::default();
    for target in targets {
        let block = context.tree.block(target.block);
        let among_rows = match goal_block.kind() {
            Kind::Row { .. } => true,
            Kind::Table { .. } => matches!(to.side, Side::Start | Side::End),
            _ => false,
        };
        if matches!(block.kind(), Kind::Row { .. }) != among_rows {
            let hint = "a row goes `before` or `after` another row, or `into` a table; other text is written with `$insertAfter`";
            return Err(wrong_type(context, operator, &block, "rows, and nothing else, stand in a table", hint));
        }
        if matches!(block.kind(), Kind::Cell) {
            let hint = "write its text there with `$replaceText`";
            return Err(wrong_type(context, operator, &block, "a cell stays in its row", hint));
        }
        let range = extent(&block, target.tree);
        if moves && range.contains(&goal_block.content().start) {
            return Err(EditError::Overlap {
                first: operator.to_owned(),
                second: "its destination".into(),
                place: place(context.key, &goal_block),
            });
        }
        texts.push(text_of(context, &block, target.tree));
    }
    if moves {
        draft = remove::all(context, operator, targets, true)?;
    }
    let as_items = targets.iter().all(|target| matches!(context.tree.block(target.block).kind(), Kind::Item { .. }));
    let payload = Payload::parse(&texts.join(if as_items { "\n" } else { "\n\n" }), context.tree.dialect())?;
    let placed = match to.side {
        Side::Before => insert::before(context, operator, &goal_block, goal.tree, &payload),
        Side::After => insert::after(context, operator, &goal_block, goal.tree, &payload),
        Side::Start => insert::prepend(context, operator, &goal_block, &payload),
        Side::End => insert::append(context, operator, &goal_block, &payload),
    }?;
    draft.take(placed);
    Ok(draft)
}

/// A block's text without the prefixes of what holds it.
pub(super) fn text_of(context: &Context<'_>, block: &Block<'_>, whole: bool) -> String {
    let source = context.tree.source();
    if let (Kind::Code { fence: None, .. }, Some(code)) = (block.kind(), block.code()) {
        // Its indent is part of its place; in the new one it has four blanks.
        let lines = code
            .trim_end_matches('\n')
            .split('\n')
            .map(|line| if line.is_empty() { String::new() } else { format!("    {line}") });
        return lines.collect::<Vec<_>>().join("\n");
    }
    let end = if whole && block.heading_level().is_some() {
        block.section().last().map_or(block.content().end, |last| last.content().end)
    } else {
        block.content().end
    };
    let text = source.get(block.content().start..end).unwrap_or_default().replace("\r\n", "\n").replace('\r', "\n");
    let prefix = fit::prefix_of(block);
    let mut out = String::with_capacity(text.len());
    for (number, line) in text.split('\n').enumerate() {
        if number > 0 {
            out.push('\n');
            out.push_str(
                line.strip_prefix(prefix.as_str())
                    .or_else(|| line.strip_prefix(prefix.trim_end()))
                    .unwrap_or_else(|| line.trim_start()),
            );
            continue;
        }
        out.push_str(line);
    }
    out
}

/// Puts a container around targets that stand next to one another.
pub(super) fn wrap(
    context: &Context<'_>,
    operator: &str,
    targets: &[Selected],
    name: &str,
    label: Option<&str>,
) -> Result<Draft, EditError> {
    let good_name =
        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_')) && !name.ends_with(['-', '_']);
    if !good_name {
        return Err(EditError::Payload {
            why: format!("`{name}` is no name of a container"),
            hint: "use letters, digits, `-` and `_`: `note`, `warning`".into(),
        });
    }
    let source = context.tree.source();
    let end = fit::line_end(source);
    let mut draft = Draft::default();
    let (Some(first), Some(last)) = (targets.first(), targets.last()) else { return Ok(draft) };
    let first_block = context.tree.block(first.block);
    let last_block = {
        let block = context.tree.block(last.block);
        if last.tree && block.heading_level().is_some() { block.section().last().unwrap_or(block) } else { block }
    };
    if matches!(first_block.kind(), Kind::Item { .. } | Kind::Row { .. } | Kind::Cell | Kind::Document) {
        return Err(wrong_type(context, operator, &first_block, "it is part of another block", "wrap the list or the table"));
    }
    let mut longest = 2;
    let mut at = Some(first_block);
    let mut reached = false;
    while let Some(block) = at {
        draft.named.wrapped.insert(block.index());
        for inside in std::iter::once(block).chain(block.descendants()) {
            match inside.kind() {
                Kind::Container(directive) => longest = longest.max(directive.colons as usize),
                Kind::Admonition { form: AdmonitionForm::Colons, fence, .. } => longest = longest.max(fence as usize),
                _ => {}
            }
        }
        if block == last_block {
            reached = true;
            break;
        }
        at = block.next();
    }
    let stray = targets.iter().map(|target| context.tree.block(target.block)).find(|block| {
        let range = first_block.content().start..last_block.content().end;
        !range.contains(&block.content().start)
            || block.parent().map(|parent| parent.index()) != first_block.parent().map(|parent| parent.index())
    });
    if !reached || stray.is_some() {
        return Err(wrong_type(
            context,
            operator,
            &stray.unwrap_or(last_block),
            "the selected blocks do not stand next to one another",
            "wrap them one run at a time",
        ));
    }
    let label = label.filter(|label| !label.trim().is_empty());
    if label.is_some_and(|label| label.contains(['\n', '\r'])) {
        return Err(EditError::Payload { why: "a label is one line".into(), hint: "put the rest into the container".into() });
    }
    let prefix = fit::prefix_of(&first_block);
    let start = first_block.content().start;
    let line = fit::line_start(source, start);
    let on_marker_line = first_block.previous().is_none() && first_block.span().start > line;
    let stop = fit::line_stop(source, last_block.content().end);
    if let Some(marks) = Marks::of(context.tree.dialect(), name, label) {
        if on_marker_line {
            let hint = "insert the callout behind the marker with `$replace`";
            return Err(wrong_type(context, operator, &first_block, "it stands on the line of a marker", hint));
        }
        draft.splices.push(Splice::insert(line, format!("{prefix}{}{end}", marks.opening(&prefix, end))));
        let mut at = line;
        while at <= stop {
            // What stands in front of each line goes behind the prefixes of what holds it.
            let text = &source[at..fit::line_stop(source, at)];
            let lead = if text.starts_with(prefix.as_str()) { prefix.len() } else { prefix.trim_end().len().min(text.len()) };
            let mark = if text[lead..].trim().is_empty() { marks.each.trim_end() } else { marks.each };
            if !mark.is_empty() {
                draft.splices.push(Splice::insert(at + lead, mark));
            }
            let next = fit::next_line(source, at);
            if next == at {
                break;
            }
            at = next;
        }
        draft.added = marks.added;
        draft.touched.push(start..last_block.content().end);
        return Ok(draft);
    }
    let colons = ":".repeat(longest + 1);
    let opening = match (context.tree.dialect(), label) {
        (Dialect::VitePress, Some(label)) => format!("{colons} {name} {label}"),
        (Dialect::VitePress, None) => format!("{colons} {name}"),
        (Dialect::Myst, Some(label)) => format!("{colons}{{{name}}} {label}"),
        (Dialect::Myst, None) => format!("{colons}{{{name}}}"),
        (_, Some(label)) => format!("{colons}{name}[{label}]"),
        (_, None) => format!("{colons}{name}"),
    };
    draft.splices.push(if on_marker_line {
        Splice::insert(start, format!("{opening}{end}{prefix}"))
    } else {
        Splice::insert(line, format!("{prefix}{opening}{end}"))
    });
    draft.splices.push(Splice::insert(stop, format!("{end}{prefix}{colons}")));
    let holders: Vec<Block<'_>> = first_block.ancestors().collect();
    insert::lengthen(context, &holders, longest + 1, &mut draft);
    draft.added = 1;
    draft.touched.push(start..last_block.content().end);
    Ok(draft)
}

/// A container that marks each of its lines.
struct Marks {
    opening: String,
    /// What stands between the opening and the first block.
    gap: bool,
    /// What stands in front of each line.
    each: &'static str,
    /// How many blocks it is.
    added: usize,
}

impl Marks {
    fn of(dialect: Dialect, name: &str, label: Option<&str>) -> Option<Self> {
        // Other containers have no marks of their own there.
        if crate::blocks::container_type(name) != "callout" {
            return None;
        }
        match dialect {
            Dialect::MkDocs => {
                let label = label.map(|label| format!(" \"{}\"", label.replace('"', "'"))).unwrap_or_default();
                Some(Self { opening: format!("!!! {name}{label}"), gap: false, each: "    ", added: 1 })
            }
            // The title is a paragraph, which the first block would go on with.
            Dialect::Obsidian => {
                let label = label.map(|label| format!(" {label}")).unwrap_or_default();
                Some(Self { opening: format!("> [!{name}]{label}"), gap: true, each: "> ", added: 2 })
            }
            _ => None,
        }
    }

    fn opening(&self, prefix: &str, end: &str) -> String {
        if self.gap { format!("{}{end}{prefix}>", self.opening) } else { self.opening.clone() }
    }
}

/// Takes a directive away and keeps what is inside.
pub(super) fn unwrap(context: &Context<'_>, operator: &str, block: &Block<'_>) -> Result<Draft, EditError> {
    let source = context.tree.source();
    let has_fences = matches!(
        block.kind(),
        Kind::Container(_) | Kind::Admonition { form: AdmonitionForm::Colons | AdmonitionForm::Fence, .. }
    );
    if !has_fences {
        return Err(wrong_type(
            context,
            operator,
            block,
            "it has no fences that could be taken away",
            "write its content anew with `$replace`",
        ));
    }
    let open_line = fit::line_start(source, block.content().start);
    let on_marker_line = block.previous().is_none() && block.span().start > open_line;
    let open_start = if on_marker_line { block.content().start } else { open_line };
    let (open_end, close) = match (block.first_child(), block.last_child()) {
        (Some(first), Some(last)) => {
            let open_end = if on_marker_line { first.content().start } else { fit::next_line(source, block.content().start) };
            let closing = fit::line_start(source, block.content().end);
            let closed = closing > last.content().end;
            (open_end, closed.then(|| fit::line_stop(source, last.content().end)..fit::line_stop(source, block.content().end)))
        }
        _ => return Err(wrong_type(context, operator, block, "it holds nothing", "use `$delete`")),
    };
    let mut draft =
        Draft { splices: vec![Splice::remove(open_start..open_end)], touched: vec![block.content()], ..Draft::default() };
    draft.splices.extend(close.map(Splice::remove));
    draft.named.dissolved.insert(block.index());
    let label = crate::own_text(block);
    if !label.is_empty() {
        draft.notes.push(format!("the title `{label}` went with the container"));
    }
    Ok(draft)
}
