//! Filters: which documents an operation is about.

use std::cmp::Ordering;
use std::collections::{BTreeSet, VecDeque};

use deckle_doc::DocKey;
use serde_json::{Map, Value};

use crate::documents::{Documents, front_value};
use crate::language::Predicate;
use crate::links;
use crate::value::type_of;
use crate::{EditError, select};

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
    Relation { relation: Relation, anchor: Filter, min: usize, max: usize, size: Option<Vec<Test>> },
    And(Vec<Filter>),
    Or(Vec<Filter>),
    Nor(Vec<Filter>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Includes,
    IncludedBy,
    References,
    ReferencedBy,
}

#[derive(Clone, Debug)]
enum Test {
    Equal(Value),
    NotEqual(Value),
    Order(&'static [Ordering], Value),
    In(Vec<Value>),
    NotIn(Vec<Value>),
    Exists(bool),
    Type(Vec<String>),
    All(Vec<Value>),
    Size(Vec<Test>),
    Not(Vec<Test>),
}

const RELATIONS: [(&str, Relation); 4] = [
    ("$includes", Relation::Includes),
    ("$includedBy", Relation::IncludedBy),
    ("$references", Relation::References),
    ("$referencedBy", Relation::ReferencedBy),
];

impl Filter {
    /// Reads a filter.
    ///
    /// # Errors
    /// When an operator is unknown, or its argument is not of its form.
    pub fn parse(value: &Value) -> Result<Self, EditError> {
        let Value::Object(map) = value else {
            return Err(EditError::syntax(
                format!("a filter is a mapping, not a {}", type_of(value)),
                "write it as `{ status: draft }` or `{ $key: notes/a }`",
            ));
        };
        let mut clauses = Vec::new();
        for (key, value) in map {
            clauses.push(clause(key, value)?);
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

    /// Returns the documents that match, sorted by key.
    #[must_use]
    pub fn select(&self, documents: &dyn Documents) -> Vec<DocKey> {
        let mut keys = self.named_keys().unwrap_or_else(|| documents.keys());
        keys.sort();
        keys.dedup();
        keys.retain(|key| documents.contains(key) && self.matches(documents, key));
        keys
    }

    fn matches(&self, documents: &dyn Documents, key: &DocKey) -> bool {
        self.clauses.iter().all(|clause| clause.matches(documents, key))
    }
}

fn clause(key: &str, value: &Value) -> Result<Clause, EditError> {
    if let Some((_, relation)) = RELATIONS.iter().find(|(name, _)| *name == key) {
        return relation_clause(key, *relation, value);
    }
    let all = |value: &Value| -> Result<Vec<Filter>, EditError> {
        let Value::Array(all) = value else {
            return Err(EditError::syntax(
                format!("`{key}` takes a list of filters, not a {}", type_of(value)),
                format!("write `{key}: [{{…}}, {{…}}]`"),
            ));
        };
        all.iter().map(Filter::parse).collect()
    };
    match key {
        "$key" => Ok(Clause::Key(tests(value)?)),
        "$content" => Ok(Clause::Content(Predicate::parse(value)?)),
        "$and" => Ok(Clause::And(all(value)?)),
        "$or" => Ok(Clause::Or(all(value)?)),
        "$nor" => Ok(Clause::Nor(all(value)?)),
        _ if key.starts_with('$') => Err(EditError::syntax(
            format!("`{key}` is no operator of a filter"),
            "there are: $and $content $includedBy $includes $key $nor $or $referencedBy $references; a bare name is a field of the front matter",
        )),
        _ if reserved(key) => Err(EditError::syntax(
            format!("the field `{key}` is reserved"),
            "names that start with _ $ . # @ are not part of the language",
        )),
        _ => {
            let mut path: Vec<String> = key.split('.').map(str::to_owned).collect();
            let mut value = value;
            // A nested mapping without operators is a longer path.
            while let Value::Object(map) = value
                && map.len() == 1
                && let Some((inner, next)) = map.iter().next()
                && !inner.starts_with('$')
            {
                path.extend(inner.split('.').map(str::to_owned));
                value = next;
            }
            Ok(Clause::Field(path, tests(value)?))
        }
    }
}

/// Whether a field name belongs to the engine.
pub(crate) fn reserved(name: &str) -> bool {
    name.split('.').any(|part| part.is_empty() || part.starts_with(['_', '$', '.', '#', '@']))
}

fn relation_clause(name: &str, relation: Relation, value: &Value) -> Result<Clause, EditError> {
    let bad = |message: String| {
        EditError::syntax(message, format!("write `{name}: some/key`, or `{name}: {{ match: {{…}}, maxDepth: 2 }}`"))
    };
    let (min_name, max_name) = match relation {
        Relation::Includes | Relation::IncludedBy => ("minDepth", "maxDepth"),
        Relation::References | Relation::ReferencedBy => ("minDistance", "maxDistance"),
    };
    match value {
        Value::String(key) => {
            let anchor = Filter { clauses: vec![Clause::Key(vec![Test::Equal(Value::String(key.clone()))])] };
            Ok(Clause::Relation { relation, anchor, min: 1, max: 1, size: None })
        }
        Value::Object(map) if !map.is_empty() => {
            let (mut anchor, mut min, mut max, mut size) = (Filter::default(), 1, 1, None);
            for (key, value) in map {
                let number =
                    || value.as_u64().and_then(|n| usize::try_from(n).ok()).ok_or_else(|| bad(format!("`{key}` takes a number")));
                match key.as_str() {
                    "match" => anchor = Filter::parse(value)?,
                    "$size" => size = Some(tests(value)?),
                    key if key == min_name => min = number()?.max(1),
                    // 0 is no bound.
                    key if key == max_name => {
                        max = match number()? {
                            0 => usize::MAX,
                            n => n,
                        }
                    }
                    other => {
                        return Err(bad(format!(
                            "`{name}` takes `match`, `{min_name}`, `{max_name}` and `$size`, not `{other}`"
                        )));
                    }
                }
            }
            if min > max {
                return Err(bad(format!("`{min_name}` is larger than `{max_name}`")));
            }
            Ok(Clause::Relation { relation, anchor, min, max, size })
        }
        _ => Err(bad(format!("`{name}` takes a key or a mapping"))),
    }
}

fn tests(value: &Value) -> Result<Vec<Test>, EditError> {
    match value {
        Value::Object(map) if map.keys().any(|key| key.starts_with('$')) => {
            map.iter().map(|(name, value)| test(name, value)).collect()
        }
        other => Ok(vec![Test::Equal(other.clone())]),
    }
}

fn test(name: &str, value: &Value) -> Result<Test, EditError> {
    let list = || match value {
        Value::Array(all) => Ok(all.clone()),
        other => {
            Err(EditError::syntax(format!("`{name}` takes a list, not a {}", type_of(other)), format!("write `{name}: [a, b]`")))
        }
    };
    Ok(match name {
        "$eq" => Test::Equal(value.clone()),
        "$ne" => Test::NotEqual(value.clone()),
        "$gt" => Test::Order(&[Ordering::Greater], value.clone()),
        "$gte" => Test::Order(&[Ordering::Greater, Ordering::Equal], value.clone()),
        "$lt" => Test::Order(&[Ordering::Less], value.clone()),
        "$lte" => Test::Order(&[Ordering::Less, Ordering::Equal], value.clone()),
        "$in" => Test::In(list()?),
        "$nin" => Test::NotIn(list()?),
        "$all" => Test::All(list()?),
        "$exists" => Test::Exists(
            value.as_bool().ok_or_else(|| EditError::syntax("`$exists` takes true or false", "write `$exists: true`"))?,
        ),
        "$size" => Test::Size(tests(value)?),
        "$not" => Test::Not(tests(value)?),
        "$type" => Test::Type(match value {
            Value::String(one) => vec![one.clone()],
            _ => list()?.iter().filter_map(|one| one.as_str().map(str::to_owned)).collect(),
        }),
        other => {
            return Err(EditError::syntax(
                format!("`{other}` is no operator on a field"),
                "there are: $all $eq $exists $gt $gte $in $lt $lte $ne $nin $not $size $type",
            ));
        }
    })
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
            Self::Relation { relation, anchor, min, max, size } => {
                let count = related(documents, key, *relation, anchor, *min, *max, size.is_none());
                match size {
                    None => count > 0,
                    Some(tests) => {
                        let count = Value::from(count);
                        tests.iter().all(|test| test.holds(Some(&count)))
                    }
                }
            }
            Self::And(all) => all.iter().all(|filter| filter.matches(documents, key)),
            Self::Or(all) => all.iter().any(|filter| filter.matches(documents, key)),
            Self::Nor(all) => !all.iter().any(|filter| filter.matches(documents, key)),
        }
    }
}

/// How many documents within the bounds stand in the relation to `key`; one is enough when only existence matters.
fn related(
    documents: &dyn Documents,
    key: &DocKey,
    relation: Relation,
    anchor: &Filter,
    min: usize,
    max: usize,
    one: bool,
) -> usize {
    let mut seen: BTreeSet<DocKey> = BTreeSet::from([key.clone()]);
    let mut queue: VecDeque<(DocKey, usize)> = VecDeque::from([(key.clone(), 0)]);
    let mut count = 0;
    while let Some((at, depth)) = queue.pop_front() {
        if depth >= max {
            continue;
        }
        for next in step(documents, &at, relation) {
            if !seen.insert(next.clone()) {
                continue;
            }
            if depth + 1 >= min && documents.contains(&next) && anchor.matches(documents, &next) {
                count += 1;
                if one {
                    return count;
                }
            }
            queue.push_back((next, depth + 1));
        }
    }
    count
}

fn step(documents: &dyn Documents, key: &DocKey, relation: Relation) -> Vec<DocKey> {
    let wants = |link: &links::DocumentLink| match relation {
        Relation::Includes | Relation::IncludedBy => link.inclusion,
        Relation::References | Relation::ReferencedBy => !link.inclusion,
    };
    match relation {
        Relation::Includes | Relation::References => {
            links::document_links(documents, key).into_iter().filter(wants).filter_map(|link| link.resolved).collect()
        }
        Relation::IncludedBy | Relation::ReferencedBy => documents
            .may_link_to(key)
            .into_iter()
            .filter(|other| {
                other != key
                    && links::document_links(documents, other)
                        .iter()
                        .any(|link| wants(link) && link.resolved.as_ref() == Some(key))
            })
            .collect(),
    }
}

/// Follows a path of field names.
pub(crate) fn look_up<'v>(value: &'v Value, path: &[String]) -> Option<&'v Value> {
    path.iter().try_fold(value, |at, name| {
        if reserved(name) { None } else { at.as_object().and_then(|map: &Map<String, Value>| map.get(name)) }
    })
}

/// The front matter of a tree, for projections.
pub(crate) fn field(tree: &deckle_doc::Tree, path: &str) -> Option<Value> {
    let path: Vec<String> = path.split('.').map(str::to_owned).collect();
    look_up(&front_value(tree), &path).cloned()
}

impl Test {
    fn holds(&self, found: Option<&Value>) -> bool {
        let equal = |want: &Value| match (found, want) {
            (None, Value::Null) => true,
            (None, _) => false,
            (Some(Value::Array(all)), want) if !want.is_array() => all.iter().any(|one| same(one, want)),
            (Some(value), want) => same(value, want),
        };
        match self {
            Self::Equal(want) => equal(want),
            Self::NotEqual(want) => !equal(want),
            Self::Order(wanted, want) => found.and_then(|value| order(value, want)).is_some_and(|order| wanted.contains(&order)),
            Self::In(all) => all.iter().any(equal),
            Self::NotIn(all) => !all.iter().any(equal),
            Self::Exists(wanted) => found.is_some() == *wanted,
            Self::Type(types) => found.is_some_and(|value| {
                types.iter().any(|name| {
                    name == type_of(value) || name == "number" && value.is_number() || name == "bool" && value.is_boolean()
                })
            }),
            Self::All(all) => {
                found.and_then(Value::as_array).is_some_and(|have| all.iter().all(|want| have.iter().any(|one| same(one, want))))
            }
            Self::Size(tests) => found.and_then(Value::as_array).is_some_and(|have| {
                let count = Value::from(have.len());
                tests.iter().all(|test| test.holds(Some(&count)))
            }),
            Self::Not(tests) => !tests.iter().all(|test| test.holds(found)),
        }
    }
}

fn same(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => (one - other).abs() == 0.0,
        _ => one == other,
    }
}

/// Orders values of one type; others have no order.
pub(crate) fn order(one: &Value, other: &Value) -> Option<Ordering> {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64()?.partial_cmp(&other.as_f64()?),
        (Value::String(one), Value::String(other)) => Some(one.cmp(other)),
        (Value::Bool(one), Value::Bool(other)) => Some(one.cmp(other)),
        _ => None,
    }
}
