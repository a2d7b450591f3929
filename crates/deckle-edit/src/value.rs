//! Operation documents and front matter as values.

use serde_json::Value;

use crate::EditError;

/// Reads JSON or YAML. JSON is YAML, so there is one reader.
///
/// # Errors
/// When the text is neither.
pub fn read_value(text: &str) -> Result<Value, EditError> {
    if let Ok(value) = serde_json::from_str(text) {
        return Ok(value);
    }
    deckle_doc::front::yaml(text).map_err(|error| {
        // What the reader could be told to do instead is nothing to whoever wrote the operation.
        let error = error.to_string();
        let error = error.split(", set ").next().unwrap_or_default().trim_start_matches("error: ");
        EditError::syntax(format!("the operation is not YAML: {error}"), "write it as YAML or JSON: `$replaceText: {…}`")
    })
}

/// A short name of a value's type.
pub(crate) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The type with its article: `an object`.
pub(crate) fn a_type(value: &Value) -> String {
    if value.is_null() {
        return "null".into();
    }
    article(type_of(value))
}

/// A noun with its article; `html` and `hr` are spelled out.
pub(crate) fn article(noun: &str) -> String {
    if noun == "frontMatter" {
        return "front matter".into();
    }
    let an = noun.starts_with(['a', 'e', 'i', 'o', 'u']) || matches!(noun, "html" | "hr");
    format!("{} {noun}", if an { "an" } else { "a" })
}

/// A scalar as the text that a person would type for it. A number with a point is none: `1.10` would come back as `1.1`.
pub(crate) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) if number.is_f64() => None,
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}
