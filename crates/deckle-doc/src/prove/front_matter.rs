//! Edits of front matter, each compared with a reading of the whole by a YAML or TOML parser.

use serde_json::{Map, Value, json};

use crate::front::{self, FrontError};
use crate::{Format, Kind, Splice, Tree, apply};

/// Sets and unsets every key of a document's front matter, and sets a new one: every other byte stays, and every other value reads as before.
/// Returns how many edits were made. A document without front matter gets some; what cannot be read is left alone.
///
/// # Errors
/// With the key whose edit changed something else.
pub fn front_matter(tree: &Tree) -> Result<u64, String> {
    let Some(before) = values(tree) else { return Ok(0) };
    let mut edits = 0;
    for (key, value) in before.iter().map(|(key, value)| (key.as_str(), value)).chain([("a new key", &Value::Null)]) {
        if key.contains('.') {
            continue;
        }
        for new in [json!("text: with # marks"), json!(42), json!(["a", "b: c"]), json!(true), json!("")] {
            if new == *value {
                continue;
            }
            let mut expected = before.clone();
            expected.insert(key.to_owned(), new.clone());
            edits += edited(tree, key, front::set(tree, key, &new).map(Some), &expected)?;
        }
        let mut expected = before.clone();
        expected.shift_remove(key);
        edits += edited(tree, key, front::unset(tree, key), &expected)?;
    }
    Ok(edits)
}

/// Checks one edit; 0 when it was refused with a reason, or there was nothing to do.
fn edited(
    tree: &Tree,
    key: &str,
    splice: Result<Option<Splice>, FrontError>,
    expected: &Map<String, Value>,
) -> Result<u64, String> {
    let splice = match splice {
        Ok(Some(splice)) => splice,
        Ok(None) | Err(FrontError::Unprovable { .. }) => return Ok(0),
        Err(error) => return Err(format!("`{key}`: {error}")),
    };
    let source = tree.source();
    // Every byte outside the splice stands, and the splice lies in the front matter.
    let bounds = front_block(tree).map_or(0..0, |block| block.span());
    if splice.range.start < bounds.start.min(splice.range.end) || splice.range.end > bounds.end.max(3) {
        return Err(format!("`{key}`: the splice {:?} leaves the front matter {bounds:?}", splice.range));
    }
    let after = Tree::parse(apply(source, &[splice]), tree.dialect()).map_err(|error| format!("`{key}`: {error}"))?;
    let body = |tree: &Tree| front_block(tree).map_or(0, |block| block.span().end);
    if source[body(tree)..].trim_start() != after.source()[body(&after)..].trim_start() {
        return Err(format!("`{key}`: the body changed"));
    }
    match values(&after) {
        Some(values) if values == *expected => Ok(1),
        values => Err(format!("`{key}`: read {values:?}, expected {expected:?}")),
    }
}

fn front_block(tree: &Tree) -> Option<crate::Block<'_>> {
    tree.root().first_child().filter(|block| matches!(block.kind(), Kind::FrontMatter { .. }))
}

/// The values as a parser reads them that knows nothing of spans; nothing when it cannot.
fn values(tree: &Tree) -> Option<Map<String, Value>> {
    let Some(block) = front_block(tree) else { return Some(Map::new()) };
    let text = &tree.source()[block.inner()];
    let value = match block.kind() {
        Kind::FrontMatter { format: Format::Toml } => serde_json::to_value(toml::from_str::<toml::Table>(text).ok()?).ok()?,
        // Nothing but comments is nothing.
        _ if text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) => return Some(Map::new()),
        _ => serde_saphyr::from_str::<Value>(text).ok()?,
    };
    match value {
        Value::Object(map) => Some(map),
        // A tag or an anchor with nothing behind it is nothing as well.
        Value::Null => Some(Map::new()),
        _ => None,
    }
}
