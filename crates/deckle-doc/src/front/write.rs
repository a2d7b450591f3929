//! Values as YAML text.

use serde_json::Value;

/// How a scalar was written that a new one takes the place of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quotes {
    None,
    Single,
    Double,
}

/// Writes a scalar, in the quotes of the one before it where that says the same.
pub(super) fn scalar(value: &Value, quotes: Quotes) -> String {
    match value {
        Value::String(text) => string(text, quotes),
        Value::Null => "null".into(),
        other => other.to_string(),
    }
}

fn string(text: &str, quotes: Quotes) -> String {
    let simple = !text.chars().any(char::is_control);
    match quotes {
        Quotes::Single if simple => format!("'{}'", text.replace('\'', "''")),
        Quotes::Double => double(text),
        _ if simple && is_plain(text) => text.to_owned(),
        _ => double(text),
    }
}

/// JSON's strings are YAML's double-quoted ones.
fn double(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

/// Whether a text without quotes reads as itself, in block and in flow style.
fn is_plain(text: &str) -> bool {
    if text.is_empty()
        || text != text.trim()
        || text.contains([',', '[', ']', '{', '}', '\n'])
        || text.contains(": ")
        || text.contains(" #")
    {
        return false;
    }
    // Words that other readers take for booleans, nulls or numbers.
    let word = text.to_ascii_lowercase();
    if matches!(
        word.as_str(),
        "y" | "n" | "yes" | "no" | "on" | "off" | "true" | "false" | "null" | "~" | "nan" | ".nan" | ".inf" | "-.inf"
    ) {
        return false;
    }
    if text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.')) && text.parse::<f64>().is_ok() {
        return false;
    }
    matches!(serde_saphyr::from_str::<Value>(&format!("k: {text}")), Ok(Value::Object(map)) if map.get("k") == Some(&Value::String(text.to_owned())))
}

/// Writes a value in flow style.
pub(super) fn flow(value: &Value) -> String {
    match value {
        Value::Array(all) => format!("[{}]", all.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Value::Object(map) if map.is_empty() => "{}".into(),
        Value::Object(map) => {
            let entries: Vec<String> = map.iter().map(|(name, value)| format!("{}: {}", key(name), flow(value))).collect();
            format!("{{ {} }}", entries.join(", "))
        }
        one => scalar(one, Quotes::None),
    }
}

/// Writes what stands after `name:`: on the same line for scalars and flow, on the next lines for the rest.
pub(super) fn after_colon(value: &Value, indent: usize, end: &str) -> String {
    match value {
        Value::Array(all) if !all.is_empty() => format!("{end}{}", block(value, indent, end)),
        Value::Object(map) if !map.is_empty() => format!("{end}{}", block(value, indent + 2, end)),
        one => format!(" {}", flow(one)),
    }
}

/// Writes a list or mapping as lines at an indent, without a line end at the end.
pub(super) fn block(value: &Value, indent: usize, end: &str) -> String {
    let pad = " ".repeat(indent);
    match value {
        Value::Array(all) => all.iter().map(|one| format!("{pad}- {}", item(one, indent, end))).collect::<Vec<_>>().join(end),
        Value::Object(map) => map
            .iter()
            .map(|(name, value)| format!("{pad}{}:{}", key(name), after_colon(value, indent, end)))
            .collect::<Vec<_>>()
            .join(end),
        one => format!("{pad}{}", flow(one)),
    }
}

fn item(value: &Value, indent: usize, end: &str) -> String {
    match value {
        Value::Object(map) if !map.is_empty() => block(value, indent + 2, end).trim_start().to_owned(),
        one => flow(one),
    }
}

pub(super) fn key(name: &str) -> String {
    scalar(&Value::String(name.to_owned()), Quotes::None)
}
