//! Properties: attributes of directives, levels of headings, languages of code, check boxes.

use deckle_doc::{Block, Kind, Splice};
use serde_json::Value;

use super::{Context, Draft, wrong_type};
use crate::EditError;
use crate::value::scalar;

/// One attribute as it is written.
pub(crate) struct Attribute {
    pub name: String,
    pub value: String,
    /// Its bytes inside the braces.
    pub range: std::ops::Range<usize>,
}

/// Reads attributes: `name`, `name=value`, `name="value"`, `#id`, `.class`.
pub(crate) fn read(text: &str) -> Vec<Attribute> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at].is_ascii_whitespace() {
            at += 1;
            continue;
        }
        let start = at;
        let (name, value);
        if matches!(bytes[at], b'#' | b'.') {
            let end =
                text[at + 1..].find(|c: char| c.is_whitespace() || c == '#' || c == '.').map_or(text.len(), |end| at + 1 + end);
            name = if bytes[at] == b'#' { "id" } else { "class" }.to_owned();
            value = text[at + 1..end].to_owned();
            at = end.max(at + 1);
        } else {
            let end = text[at..].find(|c: char| c.is_whitespace() || c == '=').map_or(text.len(), |end| at + end);
            name = text[at..end].to_owned();
            at = end;
            if bytes.get(at) == Some(&b'=') {
                at += 1;
                match bytes.get(at) {
                    Some(quote @ (b'"' | b'\'')) => {
                        let stop = text[at + 1..].find(char::from(*quote)).map_or(text.len(), |stop| at + 1 + stop);
                        value = text.get(at + 1..stop).unwrap_or_default().to_owned();
                        at = (stop + 1).min(text.len());
                    }
                    _ => {
                        let stop = text[at..].find(char::is_whitespace).map_or(text.len(), |stop| at + stop);
                        value = text[at..stop].to_owned();
                        at = stop;
                    }
                }
            } else {
                value = "true".to_owned();
            }
        }
        if at == start {
            at += 1;
            continue;
        }
        found.push(Attribute { name, value, range: start..at });
    }
    found
}

fn written(name: &str, value: &str) -> String {
    if value == "true" {
        return name.to_owned();
    }
    if name == "id" && !value.contains(char::is_whitespace) && !value.is_empty() {
        return format!("#{value}");
    }
    let quote = if value.contains('"') { '\'' } else { '"' };
    format!("{name}={quote}{value}{quote}")
}

/// Sets attributes; null removes one.
pub(super) fn set(
    context: &Context<'_>,
    operator: &str,
    block: &Block<'_>,
    attributes: &[(String, Value)],
) -> Result<Draft, EditError> {
    let mut draft = Draft { touched: vec![block.content()], ..Draft::default() };
    draft.named.retyped.insert(block.index());
    match block.kind() {
        Kind::Heading { level, setext } => {
            let [(name, value)] = attributes else { return Err(one_of(context, operator, block, "level")) };
            let wanted = value
                .as_u64()
                .filter(|level| name == "level" && (1..=6).contains(level))
                .ok_or_else(|| one_of(context, operator, block, "level"))?;
            draft.splices.push(heading(block, level, setext, wanted as usize).ok_or_else(|| {
                wrong_type(
                    context,
                    operator,
                    block,
                    "an underlined heading has level 1 or 2",
                    "replace it: `$replace: { $id: …, content: \"### …\" }`",
                )
            })?);
        }
        Kind::Code { fence: Some(_), info } => {
            let [(name, value)] = attributes else { return Err(one_of(context, operator, block, "lang")) };
            let lang = scalar(value)
                .filter(|lang| name == "lang" && !lang.contains(['`', ' ', '\n']))
                .ok_or_else(|| one_of(context, operator, block, "lang"))?;
            let old = info.of(context.tree.source());
            let word = old.find([' ', '\t', '{']).unwrap_or(old.len());
            draft.splices.push(Splice::new(info.range().start..info.range().start + word, lang));
        }
        Kind::Container(directive) | Kind::Leaf(directive) => {
            for (name, value) in attributes {
                if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '.')) {
                    return Err(EditError::Payload {
                        why: format!("`{name}` is no name of an attribute"),
                        hint: "use letters, digits, `-` and `_`".into(),
                    });
                }
                let held = scalar(value).unwrap_or_default();
                if held.contains('\n') || held.contains('"') && held.contains('\'') {
                    return Err(EditError::Payload {
                        why: format!("the value of `{name}` holds a line end, or both kinds of quotes"),
                        hint: "an attribute is one line between quotes; put longer text into the container".into(),
                    });
                }
                if scalar(value).is_none() && !value.is_null() {
                    return Err(EditError::Payload {
                        why: format!("the value of `{name}` is not a text"),
                        hint: "give a text (a number with a point in quotes), true, or null to remove it".into(),
                    });
                }
            }
            let source = context.tree.source();
            let old = directive.attributes.map_or("", |span| span.of(source));
            let mut new = old.to_owned();
            for (name, value) in attributes {
                new = changed(&new, name, scalar(value).as_deref());
            }
            let splice = match directive.attributes {
                Some(span) if new.trim().is_empty() => Splice::remove(span.range().start - 1..span.range().end + 1),
                Some(span) => Splice::new(span.range(), new),
                None => {
                    let at = directive.label.map_or(directive.name.range().end, |label| label.range().end + 1);
                    Splice::insert(at, format!("{{{new}}}"))
                }
            };
            draft.splices.push(splice);
        }
        _ => {
            return Err(wrong_type(
                context,
                operator,
                block,
                "it has no attributes",
                "a header has `level`, code has `lang`, a directive has any",
            ));
        }
    }
    Ok(draft)
}

fn one_of(context: &Context<'_>, operator: &str, block: &Block<'_>, name: &str) -> EditError {
    wrong_type(
        context,
        operator,
        block,
        &format!("its one attribute is `{name}`"),
        &format!("write `attributes: {{ {name}: … }}`"),
    )
}

fn changed(text: &str, name: &str, value: Option<&str>) -> String {
    let found = read(text).into_iter().find(|attribute| attribute.name == name);
    match (found, value) {
        (Some(old), Some(value)) => format!("{}{}{}", &text[..old.range.start], written(name, value), &text[old.range.end..]),
        (Some(old), None) => {
            let rest = text[old.range.end..].trim_start();
            format!("{}{rest}", &text[..old.range.start]).trim_end().to_owned()
        }
        (None, Some(value)) if text.trim().is_empty() => written(name, value),
        (None, Some(value)) => format!("{} {}", text.trim_end(), written(name, value)),
        (None, None) => text.to_owned(),
    }
}

fn heading(block: &Block<'_>, level: u8, setext: bool, wanted: usize) -> Option<Splice> {
    let start = block.content().start;
    if !setext {
        return Some(Splice::new(start..start + usize::from(level), "#".repeat(wanted)));
    }
    let text = block.text();
    let line = text.rfind(['\n', '\r'])? + 1;
    let underline = text[line..].trim_start_matches([' ', '\t', '>']);
    let at = start + text.len() - underline.len();
    let mark = match wanted {
        1 => "=",
        2 => "-",
        _ => return None,
    };
    Some(Splice::new(at..at + underline.trim_end().len(), mark.repeat(underline.trim_end().len().max(3))))
}

/// Checks or unchecks a task.
pub(super) fn toggle(
    context: &Context<'_>,
    operator: &str,
    block: &Block<'_>,
    checked: Option<bool>,
) -> Result<Draft, EditError> {
    let Kind::Item { task: Some(now) } = block.kind() else {
        return Err(wrong_type(
            context,
            operator,
            block,
            "it has no check box",
            "select an item with one: `$item: …`, `$checked: false`",
        ));
    };
    let wanted = checked.unwrap_or(!now);
    let mut draft = Draft { touched: vec![block.content()], ..Draft::default() };
    if wanted == now {
        draft.notes.push(format!("the task was {} already", if now { "checked" } else { "open" }));
        return Ok(draft);
    }
    let at = block.text().find('[').map_or(block.content().start, |at| block.content().start + at + 1);
    draft.splices.push(Splice::new(at..at + 1, if wanted { "x" } else { " " }));
    draft.named.retyped.insert(block.index());
    Ok(draft)
}
