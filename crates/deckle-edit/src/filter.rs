//! Filters: which documents an operation is about.

mod relation;
mod test;

use deckle_doc::DocKey;
use serde_json::{Map, Value};

use crate::documents::{Documents, front_value};
use crate::language::Predicate;
use crate::value::{a_type, type_of};
use crate::{EditError, select};
use relation::{RELATIONS, Relating};
use test::{Test, tests};
pub(crate) use test::{is_date, order};

/// A conjunction of clauses over one document.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    clauses: Vec<Clause>,
}

#[derive(Clone, Debug)]
enum Clause {
    Field(Vec<String>, Vec<Test>),
    Key(Vec<Test>),
    Content(Predicate),
    Relation(Box<Relating>),
    And(Vec<Filter>),
    Or(Vec<Filter>),
    Nor(Vec<Filter>),
}

impl Filter {
    /// Reads a filter.
    ///
    /// # Errors
    /// When an operator is unknown, or its argument is not of its form.
    pub fn parse(value: &Value) -> Result<Self, EditError> {
        let Value::Object(map) = value else {
            return Err(EditError::syntax(
                format!("a filter is a mapping, not {}", a_type(value)),
                "write it as `{ status: draft }` or `{ $key: notes/a }`",
            ));
        };
        let mut clauses = Vec::new();
        for (key, value) in map {
            clause(key, value, &mut clauses)?;
        }
        Ok(Self { clauses })
    }

    /// Returns a filter that matches these documents.
    #[must_use]
    pub fn keys(keys: &[DocKey]) -> Self {
        let keys = keys.iter().map(|key| Value::String(key.to_string())).collect();
        Self { clauses: vec![Clause::Key(vec![Test::In(keys)])] }
    }

    /// The keys that a filter names outright, so that an edit by key reads those documents only.
    pub(crate) fn named_keys(&self) -> Option<Vec<DocKey>> {
        self.clauses.iter().find_map(|clause| match clause {
            Clause::Key(tests) => tests.iter().find_map(|test| match test {
                Test::Equal(value) => Some(vec![DocKey::parse(value.as_str()?).ok()?]),
                Test::In(values) => values.iter().map(|value| DocKey::parse(value.as_str()?).ok()).collect(),
                _ => None,
            }),
            _ => None,
        })
    }

    /// Whether a strict surface takes it without a guard on the number of documents: it names one document.
    pub(crate) fn names_one(&self) -> bool {
        self.named_keys().is_some_and(|keys| keys.len() == 1)
    }

    /// Returns the documents that match, sorted by key.
    #[must_use]
    pub fn select(&self, documents: &dyn Documents) -> Vec<DocKey> {
        let mut keys = self.named_keys().unwrap_or_else(|| documents.keys());
        keys.sort();
        keys.dedup();
        keys.retain(|key| documents.contains(key) && self.matches(documents, key));
        keys
    }

    /// Returns whether a document matches.
    #[must_use]
    pub fn matches(&self, documents: &dyn Documents, key: &DocKey) -> bool {
        self.clauses.iter().all(|clause| clause.matches(documents, key))
    }
}

fn clause(key: &str, value: &Value, clauses: &mut Vec<Clause>) -> Result<(), EditError> {
    if let Some((_, relation)) = RELATIONS.iter().find(|(name, _)| *name == key) {
        clauses.push(Clause::Relation(Box::new(Relating::parse(key, *relation, value)?)));
        return Ok(());
    }
    let all = |value: &Value| -> Result<Vec<Filter>, EditError> {
        let what = match value {
            Value::Array(all) if !all.is_empty() => return all.iter().map(Filter::parse).collect(),
            Value::Array(_) => "an empty list",
            other => type_of(other),
        };
        let hint = format!("write `{key}: [{{…}}, {{…}}]`");
        Err(EditError::syntax(format!("`{key}` takes a list of filters, not {what}"), hint))
    };
    clauses.push(match key {
        "$key" => Clause::Key(test::of_key(value)?),
        "$content" => Clause::Content(Predicate::parse(value)?),
        "$and" => Clause::And(all(value)?),
        "$or" => Clause::Or(all(value)?),
        "$nor" => Clause::Nor(all(value)?),
        "$not" => {
            return Err(EditError::syntax("`$not` negates the test of one field", "to negate a whole filter write `$nor: [{…}]`"));
        }
        _ if key.starts_with('$') => {
            return Err(EditError::syntax(
                format!("`{key}` is no operator of a filter"),
                "there are: $and $content $includedBy $includes $key $nor $or $referencedBy $references; a bare name is a field of the front matter",
            ));
        }
        _ => return field(&mut Vec::new(), key, value, clauses),
    });
    Ok(())
}

/// A field's tests; a nested mapping without operators is a test of each field in it.
fn field(above: &mut Vec<String>, key: &str, value: &Value, clauses: &mut Vec<Clause>) -> Result<(), EditError> {
    let parts = path(key)?;
    let count = parts.len();
    above.extend(parts);
    match value {
        Value::Object(map) if !map.is_empty() => {
            let operators = map.keys().filter(|key| key.starts_with('$')).count();
            if operators == 0 {
                for (key, value) in map {
                    field(above, key, value, clauses)?;
                }
            } else if operators == map.len() {
                clauses.push(Clause::Field(above.clone(), tests(value)?));
            } else {
                return Err(EditError::syntax(
                    format!("`{}` mixes operators and fields", above.join(".")),
                    "write either `{ $gt: 3 }` or `{ name: value }`; join two filters with `$and`",
                ));
            }
        }
        _ => clauses.push(Clause::Field(above.clone(), tests(value)?)),
    }
    above.truncate(above.len() - count);
    Ok(())
}

/// The parts of a dotted path of field names.
pub(crate) fn path(key: &str) -> Result<Vec<String>, EditError> {
    let parts: Vec<String> = key.split('.').map(str::to_owned).collect();
    if let Some(bad) = parts.iter().find(|part| part.is_empty() || part.contains(|c: char| c.is_whitespace() || c.is_control())) {
        return Err(EditError::syntax(
            if bad.is_empty() {
                format!("`{key}` has an empty name")
            } else {
                format!("`{bad}` in `{key}` is no name of a field")
            },
            "names hold no blanks; `a.b` is the field `b` inside `a`",
        ));
    }
    if reserved(key) {
        return Err(EditError::syntax(
            format!("the field `{key}` is reserved"),
            "names that start with _ $ . # @ are not part of the language",
        ));
    }
    Ok(parts)
}

/// Whether a field name belongs to the engine.
pub(crate) fn reserved(name: &str) -> bool {
    name.split('.').any(|part| part.is_empty() || part.starts_with(['_', '$', '.', '#', '@']))
}

impl Clause {
    fn matches(&self, documents: &dyn Documents, key: &DocKey) -> bool {
        match self {
            Self::Field(path, tests) => {
                let front = documents.front(key);
                let found = look_up(&front, path);
                tests.iter().all(|test| test.holds(found))
            }
            Self::Key(tests) => {
                let value = Value::String(key.to_string());
                tests.iter().all(|test| test.holds(Some(&value)))
            }
            Self::Content(predicate) => documents.tree(key).is_some_and(|tree| {
                let ids = documents.ids(key, &tree);
                !select::select(&tree, &ids, key, predicate).is_empty()
            }),
            Self::Relation(relating) => relating.holds(documents, key),
            Self::And(all) => all.iter().all(|filter| filter.matches(documents, key)),
            Self::Or(all) => all.iter().any(|filter| filter.matches(documents, key)),
            Self::Nor(all) => !all.iter().any(|filter| filter.matches(documents, key)),
        }
    }
}

/// Follows a path of field names.
pub(crate) fn look_up<'v>(value: &'v Value, path: &[String]) -> Option<&'v Value> {
    path.iter().try_fold(value, |at, name| {
        if reserved(name) { None } else { at.as_object().and_then(|map: &Map<String, Value>| map.get(name)) }
    })
}

/// The front matter of a tree, for projections.
pub(crate) fn field_of(tree: &deckle_doc::Tree, path: &str) -> Option<Value> {
    let path: Vec<String> = path.split('.').map(str::to_owned).collect();
    look_up(&front_value(tree), &path).cloned()
}

/// A value without the fields that belong to the engine.
pub(crate) fn without_reserved(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.into_iter().filter(|(name, _)| !name.starts_with(['_', '$', '.', '#', '@']));
            Value::Object(kept.map(|(name, value)| (name, without_reserved(value))).collect())
        }
        other => other,
    }
}
