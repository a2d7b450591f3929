//! A schema from what documents have in common.

use serde_json::Value;

use super::{Field, FieldType, Schema};
use crate::documents::front_value;
use deckle_doc::Tree;

/// Fewer documents than this say nothing about which values are allowed.
const MIN_DOCUMENTS_FOR_VALUES: usize = 4;
/// More values than this are no choice.
const MAX_VALUES: usize = 8;

/// What is known of one field.
#[derive(Default)]
struct Seen {
    name: String,
    count: usize,
    kinds: Vec<FieldType>,
    of: Vec<FieldType>,
    values: Vec<Value>,
    repeated: bool,
}

/// Returns the schema that these documents keep: a field is required when all have it, has a type when all agree, and a choice of values when
/// few values recur; a section is required when all have it.
#[must_use]
pub fn infer<'t>(name: &str, trees: impl IntoIterator<Item = &'t Tree>) -> Schema {
    let mut schema = Schema { name: name.to_owned(), ..Schema::default() };
    let mut fields: Vec<Seen> = Vec::new();
    let mut sections: Option<Vec<String>> = None;
    let mut total = 0;
    for tree in trees {
        total += 1;
        if let Value::Object(map) = front_value(tree) {
            for (name, value) in map.iter().filter(|(name, value)| !crate::filter::reserved(name) && !value.is_null()) {
                let at = fields.iter().position(|seen| seen.name == *name).unwrap_or_else(|| {
                    fields.push(Seen { name: name.clone(), ..Seen::default() });
                    fields.len() - 1
                });
                if let Some(seen) = fields.get_mut(at) {
                    seen.add(value);
                }
            }
        }
        // The first heading is the title.
        let headings: Vec<String> =
            tree.blocks().filter(|block| block.heading_level().is_some()).skip(1).map(|block| block.plain_text()).collect();
        match &mut sections {
            None => sections = Some(headings),
            Some(common) => common.retain(|section| headings.contains(section)),
        }
    }
    schema.fields = fields.into_iter().map(|seen| seen.field(total)).collect();
    let mut sections = sections.unwrap_or_default();
    sections.dedup();
    schema.sections = sections;
    schema
}

impl Seen {
    fn add(&mut self, value: &Value) {
        self.count += 1;
        self.kinds.extend(FieldType::of(value));
        let each: Vec<&Value> = match value {
            Value::Array(all) => all.iter().collect(),
            one => vec![one],
        };
        for one in each {
            if value.is_array() {
                self.of.extend(FieldType::of(one));
            }
            if self.values.contains(one) {
                self.repeated = true;
            } else if self.values.len() <= MAX_VALUES {
                self.values.push(one.clone());
            }
        }
    }

    fn field(self, total: usize) -> (String, Field) {
        let kind = common(&self.kinds);
        let of = if kind == Some(FieldType::List) { common(&self.of) } else { None };
        let words = [kind, of].contains(&Some(FieldType::String));
        let choice = words
            && self.repeated
            && self.count >= MIN_DOCUMENTS_FOR_VALUES
            && self.values.len() <= MAX_VALUES
            && self.values.len() * 2 <= self.count;
        let values = if choice { self.values } else { Vec::new() };
        (self.name, Field { kind, of, required: self.count == total, values })
    }
}

/// The one type that all have; a date among texts is a text, a whole number among numbers a number.
fn common(kinds: &[FieldType]) -> Option<FieldType> {
    let first = *kinds.first()?;
    kinds.iter().try_fold(first, |one, other| match (one, *other) {
        (one, other) if one == other => Some(one),
        (FieldType::String | FieldType::Date, FieldType::String | FieldType::Date) => Some(FieldType::String),
        (FieldType::Number | FieldType::Integer, FieldType::Number | FieldType::Integer) => Some(FieldType::Number),
        _ => None,
    })
}
