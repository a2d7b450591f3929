//! One change of one key, as a splice, proven.

use saphyr_parser::ScalarStyle;
use serde_json::{Map, Value};

use super::shape::{self, Entry, Node, Shape};
use super::write::{self, Quotes};
use super::{FrontError, part, read, read_text};
use crate::{Format, Splice, Tree, apply};

/// What to do at a path.
pub(super) enum Change {
    Set(Value),
    Unset,
    Append(Value),
    Rename(String),
}

/// Makes the splice and proves it.
pub(super) fn run(tree: &Tree, path: &str, change: &Change) -> Result<Splice, FrontError> {
    let before = read(tree)?;
    let wanted = expected(&before, path, change)?;
    let end = line_end(tree.source());
    let Some((format, text, start)) = part(tree) else { return create(tree, path, change, end) };
    let splice = match format {
        Format::Yaml => yaml(text, path, change, end),
        Format::Toml => toml(text, path, change),
    }
    .map_err(|why| FrontError::Unprovable { path: path.to_owned(), why })?;
    let new = apply(text, std::slice::from_ref(&splice));
    if read_text(format, &new, 1).ok().as_ref() != Some(&wanted) {
        return Err(FrontError::Unprovable { path: path.to_owned(), why: "another value would change with it".into() });
    }
    let splice = Splice::new(splice.range.start + start..splice.range.end + start, splice.with);
    // The document must still have this front matter, and the same body.
    let whole = apply(tree.source(), std::slice::from_ref(&splice));
    let sound = Tree::parse(whole, tree.dialect())
        .is_ok_and(|after| read(&after).ok().as_ref() == Some(&wanted) && after.len() == tree.len());
    if sound {
        Ok(splice)
    } else {
        Err(FrontError::Unprovable { path: path.to_owned(), why: "the value would end the front matter".into() })
    }
}

/// The values as they must read afterwards.
fn expected(before: &Map<String, Value>, path: &str, change: &Change) -> Result<Map<String, Value>, FrontError> {
    let parts: Vec<&str> = path.split('.').collect();
    let (last, above) = parts.split_last().ok_or_else(|| FrontError::Missing { path: path.to_owned() })?;
    let mut after = before.clone();
    let mut map = &mut after;
    for (depth, name) in above.iter().enumerate() {
        let slot = map.entry((*name).to_owned()).or_insert_with(|| Value::Object(Map::new()));
        if slot.is_null() {
            *slot = Value::Object(Map::new());
        }
        let here = parts[..=depth].join(".");
        let next = parts.get(depth + 1).copied().unwrap_or_default().to_owned();
        map = slot.as_object_mut().ok_or(FrontError::NotInside { path: here, name: next })?;
    }
    match change {
        Change::Set(value) => {
            map.insert((*last).to_owned(), value.clone());
        }
        Change::Unset => {
            map.shift_remove(*last).ok_or_else(|| FrontError::Missing { path: path.to_owned() })?;
        }
        Change::Append(value) => match map.get_mut(*last) {
            Some(Value::Array(all)) => all.push(value.clone()),
            Some(_) => return Err(FrontError::NotList { path: path.to_owned() }),
            None => return Err(FrontError::Missing { path: path.to_owned() }),
        },
        Change::Rename(name) => {
            if map.contains_key(name) {
                return Err(FrontError::Taken { path: name.clone() });
            }
            let value = map.shift_remove(*last).ok_or_else(|| FrontError::Missing { path: path.to_owned() })?;
            map.insert(name.clone(), value);
        }
    }
    Ok(after)
}

/// Front matter for a document that has none.
fn create(tree: &Tree, path: &str, change: &Change, end: &str) -> Result<Splice, FrontError> {
    let Change::Set(value) = change else { return Err(FrontError::Missing { path: path.to_owned() }) };
    let lines = write::block(&nested(&path.split('.').collect::<Vec<_>>(), value), 0, end);
    let source = tree.source();
    let start = if source.starts_with('\u{feff}') { 3 } else { 0 };
    let gap = if source[start..].is_empty() || source[start..].starts_with(['\n', '\r']) { "" } else { end };
    let splice = Splice::insert(start, format!("---{end}{lines}{end}---{end}{gap}"));
    let after = Tree::parse(apply(source, std::slice::from_ref(&splice)), tree.dialect());
    let mut wanted = Map::new();
    if let Value::Object(map) = nested(&path.split('.').collect::<Vec<_>>(), value) {
        wanted = map;
    }
    if after.is_ok_and(|after| read(&after).ok() == Some(wanted) && after.len() == tree.len() + 1) {
        Ok(splice)
    } else {
        Err(FrontError::Unprovable { path: path.to_owned(), why: "the document would be read differently".into() })
    }
}

fn nested(parts: &[&str], value: &Value) -> Value {
    parts.iter().rev().fold(value.clone(), |inner, name| Value::Object(Map::from_iter([((*name).to_owned(), inner)])))
}

fn line_end(source: &str) -> &'static str {
    match source.find(['\n', '\r']) {
        Some(at) if source[at..].starts_with("\r\n") => "\r\n",
        Some(at) if source[at..].starts_with('\r') => "\r",
        _ => "\n",
    }
}

fn yaml(text: &str, path: &str, change: &Change, end: &str) -> Result<Splice, String> {
    let parts: Vec<&str> = path.split('.').collect();
    let root = shape::read(text);
    let Some(root) = root.filter(|root| matches!(root.shape, Shape::Mapping { .. })) else {
        // Nothing but comments.
        let Change::Set(value) = change else { return Err("there is nothing to change".into()) };
        let gap = if text.is_empty() || text.ends_with(['\n', '\r']) { "" } else { end };
        return Ok(Splice::insert(text.len(), format!("{gap}{}{end}", write::block(&nested(&parts, value), 0, end))));
    };
    let mut node = &root;
    for (depth, name) in parts.iter().enumerate() {
        let Shape::Mapping { flow, entries } = &node.shape else {
            return Err("the path leads through a value that is written as an alias".into());
        };
        let mut matching = entries.iter().filter(|entry| entry.name.as_deref() == Some(name));
        let (entry, second) = (matching.next(), matching.next());
        if second.is_some() {
            return Err(format!("`{name}` is there twice"));
        }
        match entry {
            None => {
                let Change::Set(value) = change else { return Err("there is no such key".into()) };
                return Ok(add(text, node, *flow, entries, &nested(&parts[depth..], value), end));
            }
            Some(entry) if depth + 1 == parts.len() => return entry_change(text, node, entry, change, end),
            Some(entry) => {
                // A key without a value yet can take a mapping.
                if entry.value.range.is_empty()
                    && let Change::Set(value) = change
                {
                    let colon = colon_after(text, entry.key.end).ok_or("the key has no colon")?;
                    let indent = column(text, entry.key.start);
                    return Ok(Splice::insert(colon, write::after_colon(&nested(&parts[depth + 1..], value), indent, end)));
                }
                node = &entry.value;
            }
        }
    }
    Err("the path is empty".into())
}

/// Adds an entry at the end of a mapping.
fn add(text: &str, mapping: &Node, flow: bool, entries: &[Entry], entry: &Value, end: &str) -> Splice {
    if flow {
        let inner = write::flow(entry);
        let inner = inner.trim_start_matches("{ ").trim_end_matches(" }").to_owned();
        let close = mapping.range.end - 1;
        let at = text[..close].trim_end().len();
        return match entries.last() {
            Some(_) => Splice::insert(at, format!(", {inner}")),
            None => Splice::new(mapping.range.start + 1..close, format!(" {inner} ")),
        };
    }
    let indent = entries.first().map_or(0, |first| column(text, first.key.start));
    let lines = write::block(entry, indent, end);
    // After the last line of the last entry, and its comment.
    let at = line_stop(text, mapping.range.end);
    Splice::insert(at, format!("{end}{lines}"))
}

fn entry_change(text: &str, mapping: &Node, entry: &Entry, change: &Change, end: &str) -> Result<Splice, String> {
    match change {
        Change::Set(value) => set_value(text, entry, value, end),
        Change::Rename(name) => Ok(Splice::new(entry.key.clone(), write::key(name))),
        Change::Append(value) => match &entry.value.shape {
            Shape::List { flow: true, items } => {
                let close = entry.value.range.end - 1;
                let at = text[..close].trim_end().len();
                Ok(match items.last() {
                    Some(_) => Splice::insert(at, format!(", {}", write::flow(value))),
                    None => Splice::new(entry.value.range.start + 1..close, write::flow(value)),
                })
            }
            Shape::List { flow: false, items } => {
                let last = items.last().ok_or("the list is empty")?;
                let dash = text[..last.range.start].rfind('-').ok_or("the list has no dashes")?;
                let indent = column(text, dash);
                let line = write::block(&Value::Array(vec![value.clone()]), indent, end);
                Ok(Splice::insert(line_stop(text, last.range.end), format!("{end}{line}")))
            }
            _ => Err("the value is not a list".into()),
        },
        Change::Unset => {
            let Shape::Mapping { flow, entries } = &mapping.shape else { return Err("not a mapping".into()) };
            let place = entries.iter().position(|one| one.key == entry.key).unwrap_or(0);
            let value_end = entry.value.range.end.max(colon_after(text, entry.key.end).unwrap_or(entry.key.end));
            if *flow {
                return Ok(match (entries.get(place + 1), place.checked_sub(1).and_then(|before| entries.get(before))) {
                    (Some(next), _) => Splice::remove(entry.key.start..next.key.start),
                    (None, Some(before)) => Splice::remove(before.value.range.end.max(before.key.end)..value_end),
                    (None, None) => Splice::remove(entry.key.start..value_end),
                });
            }
            let start = line_start(text, entry.key.start);
            if !text[start..entry.key.start].trim_start_matches([' ', '\t']).is_empty() {
                // The first entry of a mapping inside a list stands behind its dash.
                let next = entries.get(place + 1).ok_or("it is the only entry behind a dash")?;
                return Ok(Splice::remove(entry.key.start..next.key.start));
            }
            Ok(Splice::remove(start..next_line(text, value_end)))
        }
    }
}

fn set_value(text: &str, entry: &Entry, value: &Value, end: &str) -> Result<Splice, String> {
    let indent = column(text, entry.key.start);
    let range = entry.value.range.clone();
    let colon = colon_after(text, entry.key.end).ok_or("the key has no colon")?;
    let is_scalar =
        !matches!(value, Value::Array(all) if !all.is_empty()) && !matches!(value, Value::Object(map) if !map.is_empty());
    if range.is_empty() || range.start < colon {
        return Ok(Splice::insert(
            colon,
            if is_scalar { format!(" {}", write::flow(value)) } else { write::after_colon(value, indent, end) },
        ));
    }
    match &entry.value.shape {
        Shape::Scalar(style @ (ScalarStyle::Plain | ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted)) => {
            let quotes = match style {
                ScalarStyle::SingleQuoted => Quotes::Single,
                ScalarStyle::DoubleQuoted => Quotes::Double,
                _ => Quotes::None,
            };
            if is_scalar {
                return Ok(Splice::new(range, if value.is_string() { write::scalar(value, quotes) } else { write::flow(value) }));
            }
            // A comment behind the old value stays on the key's line.
            if text[range.end..line_stop(text, range.end)].trim().is_empty() {
                return Ok(Splice::new(colon..range.end, write::after_colon(value, indent, end)));
            }
            Ok(Splice::new(range, write::flow(value)))
        }
        Shape::List { flow: true, .. } | Shape::Mapping { flow: true, .. } => Ok(Splice::new(range, write::flow(value))),
        Shape::List { flow: false, items } if value.is_array() && !is_scalar => {
            let dash = items.first().and_then(|first| text[..first.range.start].rfind('-')).ok_or("the list has no dashes")?;
            let indent = column(text, dash);
            let start = line_start(text, dash);
            Ok(Splice::new(start..range.end, write::block(value, indent, end)))
        }
        // Whatever has lines of its own gives way to a value of the other kind.
        _ => Ok(Splice::new(
            colon..range.end,
            if is_scalar { format!(" {}", write::flow(value)) } else { write::after_colon(value, indent, end) },
        )),
    }
}

fn toml(text: &str, path: &str, change: &Change) -> Result<Splice, String> {
    let mut document: toml_edit::DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.message().to_owned())?;
    let parts: Vec<&str> = path.split('.').collect();
    let (last, above) = parts.split_last().ok_or("the path is empty")?;
    let mut table: &mut dyn toml_edit::TableLike = document.as_table_mut();
    for name in above {
        if !table.contains_key(name) {
            table.insert(name, toml_edit::Item::Table(toml_edit::Table::new()));
        }
        table = table.get_mut(name).and_then(toml_edit::Item::as_table_like_mut).ok_or("the path leads through a value")?;
    }
    match change {
        Change::Set(value) => {
            let new = toml_value(value).ok_or("TOML has no null")?;
            match table.get_mut(last).and_then(toml_edit::Item::as_value_mut) {
                Some(old) => {
                    let decor = old.decor().clone();
                    *old = new;
                    *old.decor_mut() = decor;
                }
                None => {
                    table.insert(last, toml_edit::Item::Value(new));
                }
            }
        }
        Change::Unset => {
            table.remove(last);
        }
        Change::Append(value) => {
            let list = table.get_mut(last).and_then(toml_edit::Item::as_array_mut).ok_or("the value is not a list")?;
            list.push(toml_value(value).ok_or("TOML has no null")?);
        }
        Change::Rename(name) => {
            let item = table.remove(last).ok_or("there is no such key")?;
            table.insert(name, item);
        }
    }
    Ok(difference(text, &document.to_string()))
}

fn toml_value(value: &Value) -> Option<toml_edit::Value> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => whole.into(),
            None => number.as_f64()?.into(),
        },
        Value::String(text) => text.as_str().into(),
        Value::Array(all) => toml_edit::Value::Array(all.iter().map(toml_value).collect::<Option<toml_edit::Array>>()?),
        Value::Object(map) => {
            let mut table = toml_edit::InlineTable::new();
            for (name, value) in map {
                table.insert(name, toml_value(value)?);
            }
            toml_edit::Value::InlineTable(table)
        }
    })
}

/// The smallest splice from one text to another.
fn difference(old: &str, new: &str) -> Splice {
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

/// The byte after the colon that follows a key.
fn colon_after(text: &str, key_end: usize) -> Option<usize> {
    let rest = text.get(key_end..)?;
    let at = rest.find(':')?;
    rest[..at].trim().is_empty().then_some(key_end + at + 1)
}

fn column(text: &str, at: usize) -> usize {
    at - line_start(text, at)
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind(['\n', '\r']).map_or(0, |end| end + 1)
}

fn line_stop(text: &str, at: usize) -> usize {
    text[at..].find(['\n', '\r']).map_or(text.len(), |end| at + end)
}

fn next_line(text: &str, at: usize) -> usize {
    let stop = line_stop(text, at);
    if text[stop..].starts_with("\r\n") { stop + 2 } else { (stop + 1).min(text.len()) }
}
