//! The canonical text of typed blocks. Only new blocks are written; nothing here prints a tree back.

use serde_json::Value;

use super::table::Form;
use super::validate::check_nesting;
use super::{Rules, TABLE, Violation};
use crate::Dialect;

/// Why a typed block cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// It has no type, or an unknown one.
    #[error("`{0}` is no block type; there are: {known}", known = names())]
    Type(String),
    /// A field is missing or of another form.
    #[error("`{of}` needs `{field}`: {about}")]
    Field {
        /// The type.
        of: String,
        /// The field.
        field: String,
        /// What it is.
        about: String,
    },
    /// A field is not known.
    #[error("`{of}` has no `{field}`; it has: {known}")]
    Unknown {
        /// The type.
        of: String,
        /// The field.
        field: String,
        /// Its fields.
        known: String,
    },
    /// The nesting is illegal.
    #[error(transparent)]
    Nesting(#[from] Violation),
}

fn names() -> String {
    TABLE.iter().map(|one| one.name).collect::<Vec<_>>().join(" ")
}

/// Writes a typed block, `{ "type": …, fields…, "children": […] }`, in a dialect. `above` are the containers it will stand in, the nearest first.
///
/// # Errors
/// When a field is missing or unknown, or the nesting is illegal.
///
/// ```
/// use deckle_doc::{Dialect, types::{Rules, write}};
/// let block = serde_json::json!({ "type": "callout", "kind": "warning", "title": "Mind", "children": [{ "type": "paragraph", "text": "Text." }] });
/// assert_eq!(write(&block, Dialect::Generic, &[], &Rules::default())?, ":::warning[Mind]\nText.\n:::");
/// # Ok::<(), deckle_doc::types::WriteError>(())
/// ```
pub fn write(block: &Value, dialect: Dialect, above: &[&str], rules: &Rules) -> Result<String, WriteError> {
    let (text, _) = one(block, dialect, above, rules)?;
    Ok(text)
}

/// The text, and the longest run of colons in it.
fn one(block: &Value, dialect: Dialect, above: &[&str], rules: &Rules) -> Result<(String, usize), WriteError> {
    let name = block["type"].as_str().unwrap_or_default();
    let Some(own) = TABLE.iter().find(|one| one.name == name) else { return Err(WriteError::Type(name.to_owned())) };
    check_nesting(above, name, rules)?;
    for key in block.as_object().into_iter().flat_map(|map| map.keys()) {
        let known =
            key == "type" || key == "children" && !own.holds.is_empty() || own.fields.iter().any(|field| field.name == *key);
        if !known {
            let mut fields: Vec<&str> = own.fields.iter().map(|field| field.name).collect();
            if !own.holds.is_empty() {
                fields.push("children");
            }
            return Err(WriteError::Unknown { of: name.to_owned(), field: key.clone(), known: fields.join(" ") });
        }
    }
    for field in own.fields {
        let value = &block[field.name];
        let fits = match field.form {
            Form::Line | Form::Text => value.is_string(),
            Form::Number => value.is_u64(),
            Form::Lines | Form::Rows | Form::Tasks => {
                value.as_array().is_some_and(|all| !all.is_empty() || field.form == Form::Rows)
            }
        };
        if !fits && (field.required || !value.is_null()) {
            return Err(WriteError::Field { of: name.to_owned(), field: field.name.to_owned(), about: field.about.to_owned() });
        }
    }
    let text = |field: &str| block[field].as_str().unwrap_or_default();
    let line = |field: &str| text(field).split_whitespace().collect::<Vec<_>>().join(" ");
    let plain = |text: String| Ok((text, 0));
    match name {
        "paragraph" => plain(paragraph(text("text"))),
        "heading" => plain(format!("{} {}", "#".repeat(block["level"].as_u64().unwrap_or(1).clamp(1, 6) as usize), line("text"))),
        "bullet_list" => {
            plain(lines(&block["items"]).iter().map(|item| format!("- {}", indent(item, 2))).collect::<Vec<_>>().join("\n"))
        }
        "ordered_list" => {
            let start = block["start"].as_u64().unwrap_or(1);
            let items = lines(&block["items"]);
            let numbered = items.iter().enumerate().map(|(at, item)| {
                let marker = format!("{}. ", start + at as u64);
                format!("{marker}{}", indent(item, marker.len()))
            });
            plain(numbered.collect::<Vec<_>>().join("\n"))
        }
        "task_list" => {
            let tasks = block["tasks"].as_array().cloned().unwrap_or_default();
            let written = tasks.iter().map(|task| {
                let mark = if task["done"].as_bool().unwrap_or(false) { 'x' } else { ' ' };
                format!("- [{mark}] {}", indent(task["text"].as_str().unwrap_or_default(), 2))
            });
            plain(written.collect::<Vec<_>>().join("\n"))
        }
        "code" => plain(fenced(&line("language"), text("code"))),
        "diagram" => plain(fenced(if text("language").is_empty() { "mermaid" } else { text("language") }, text("code"))),
        "table" => table(block, name).map(|text| (text, 0)),
        "divider" => plain("---".into()),
        "image" => {
            let title =
                if text("title").is_empty() { String::new() } else { format!(" \"{}\"", line("title").replace('"', "\\\"")) };
            plain(format!("![{}]({}{title})", line("alt").replace(['[', ']'], ""), address(text("url"))))
        }
        "math" => plain(format!("$$\n{}\n$$", text("formula").trim())),
        "embed" | "file" => {
            plain(format!("::{name}[{}]{{url=\"{}\"}}", line("title").replace(['[', ']'], ""), text("url").replace('"', "%22")))
        }
        "api" => {
            let head = format!("::api[{} {}]", line("method"), line("path").replace(['[', ']'], ""));
            plain(if text("text").is_empty() { head } else { format!("{head}\n\n{}", paragraph(text("text"))) })
        }
        "quote" => {
            let (inner, colons) = children(block, dialect, above, rules, name)?;
            let quoted = inner.lines().map(|line| if line.is_empty() { ">".to_owned() } else { format!("> {line}") });
            Ok((quoted.collect::<Vec<_>>().join("\n"), colons))
        }
        _ => {
            let (inner, colons) = children(block, dialect, above, rules, name)?;
            Ok(container(block, own.names.first().copied().unwrap_or(name), name, dialect, &inner, colons))
        }
    }
}

fn children(block: &Value, dialect: Dialect, above: &[&str], rules: &Rules, name: &str) -> Result<(String, usize), WriteError> {
    let mut inside = vec![name];
    inside.extend(above);
    let (mut parts, mut longest) = (Vec::new(), 0);
    for child in block["children"].as_array().into_iter().flatten() {
        let (text, colons) = one(child, dialect, &inside, rules)?;
        longest = longest.max(colons);
        parts.push(text);
    }
    if parts.is_empty() {
        return Err(WriteError::Field {
            of: name.to_owned(),
            field: "children".into(),
            about: "the typed blocks inside it".into(),
        });
    }
    if let Some((least, most)) = TABLE.iter().find(|one| one.name == name).and_then(|one| one.parts)
        && !(least..=most).contains(&parts.len())
    {
        return Err(WriteError::Field {
            of: name.to_owned(),
            field: "children".into(),
            about: format!("{least} to {most} parts"),
        });
    }
    Ok((parts.join("\n\n"), longest))
}

/// A directive, or a callout as the dialect writes it. The fence is longer than any inside.
fn container(block: &Value, directive: &str, name: &str, dialect: Dialect, inner: &str, colons: usize) -> (String, usize) {
    let title = block["title"].as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    let kind = if name == "callout" { block["kind"].as_str().unwrap_or(directive) } else { directive };
    let mark = colons.max(2) + 1;
    if name == "callout" {
        match dialect {
            Dialect::Obsidian => {
                let head = if title.is_empty() { format!("> [!{kind}]") } else { format!("> [!{kind}] {title}") };
                // What is not running text stands apart, or it would be read as part of the first line.
                let apart = block["children"][0]["type"] != "paragraph";
                let body = inner.lines().map(|line| if line.is_empty() { ">".to_owned() } else { format!("> {line}") });
                return (
                    std::iter::once(head).chain(apart.then(|| ">".to_owned())).chain(body).collect::<Vec<_>>().join("\n"),
                    colons,
                );
            }
            Dialect::MkDocs => {
                let head =
                    if title.is_empty() { format!("!!! {kind}") } else { format!("!!! {kind} \"{}\"", title.replace('"', "'")) };
                let body = inner.lines().map(|line| if line.is_empty() { String::new() } else { format!("    {line}") });
                return (std::iter::once(head).chain(body).collect::<Vec<_>>().join("\n"), colons);
            }
            Dialect::Myst => {
                let fence = "`".repeat(longest_run(inner, '`').max(2) + 1);
                let head = if title.is_empty() { format!("{fence}{{{kind}}}") } else { format!("{fence}{{{kind}}} {title}") };
                return (format!("{head}\n{inner}\n{fence}"), colons);
            }
            Dialect::VitePress => {
                let fence = ":".repeat(mark);
                let head = if title.is_empty() { format!("{fence} {kind}") } else { format!("{fence} {kind} {title}") };
                return (format!("{head}\n{inner}\n{fence}"), mark);
            }
            Dialect::Generic | Dialect::Docusaurus => {}
        }
    }
    let fence = ":".repeat(mark);
    let head =
        if title.is_empty() { format!("{fence}{kind}") } else { format!("{fence}{kind}[{}]", title.replace(['[', ']'], "")) };
    (format!("{head}\n{inner}\n{fence}"), mark)
}

fn paragraph(text: &str) -> String {
    text.trim().lines().map(str::trim_end).filter(|line| !line.trim().is_empty()).collect::<Vec<_>>().join("\n")
}

fn lines(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(|item| item.as_str().unwrap_or_default().to_owned()).collect()
}

fn indent(text: &str, width: usize) -> String {
    let pad = " ".repeat(width);
    text.trim()
        .lines()
        .enumerate()
        .map(|(at, line)| if at == 0 || line.is_empty() { line.to_owned() } else { format!("{pad}{line}") })
        .collect::<Vec<_>>()
        .join("\n")
}

fn longest_run(text: &str, of: char) -> usize {
    let (mut longest, mut run) = (0, 0);
    for c in text.chars() {
        run = if c == of { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

fn fenced(info: &str, code: &str) -> String {
    let fence = "`".repeat(longest_run(code, '`').max(2) + 1);
    format!("{fence}{}\n{}\n{fence}", info.replace('`', ""), code.trim_end_matches('\n'))
}

fn address(url: &str) -> String {
    if url.contains([' ', '(', ')', '<', '>']) { format!("<{}>", url.replace(['<', '>', '\n'], "")) } else { url.to_owned() }
}

fn cell(text: &str) -> String {
    let mut out = String::new();
    let mut escaped = false;
    for c in text.split_whitespace().collect::<Vec<_>>().join(" ").chars() {
        if c == '|' && !escaped {
            out.push('\\');
        }
        escaped = c == '\\' && !escaped;
        out.push(c);
    }
    out
}

fn table(block: &Value, name: &str) -> Result<String, WriteError> {
    let head = lines(&block["head"]);
    let row = |cells: &[String]| format!("| {} |", cells.iter().map(|text| cell(text)).collect::<Vec<_>>().join(" | "));
    let mut out = vec![row(&head), format!("|{}", " --- |".repeat(head.len()))];
    for cells in block["rows"].as_array().into_iter().flatten() {
        let cells = lines(cells);
        if cells.len() != head.len() {
            return Err(WriteError::Field {
                of: name.to_owned(),
                field: "rows".into(),
                about: format!("each row has {} cell(s), as the head; one has {}", head.len(), cells.len()),
            });
        }
        out.push(row(&cells));
    }
    Ok(out.join("\n"))
}
