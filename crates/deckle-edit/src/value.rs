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
    serde_saphyr::from_str::<Value>(text).map_err(|error| {
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

/// A scalar as the text that a person would type for it.
pub(crate) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}
