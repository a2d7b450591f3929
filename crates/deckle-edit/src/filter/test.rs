//! Tests of one value: equality, order, membership, type, size.

use std::cmp::Ordering;

use serde_json::Value;

use crate::EditError;
use crate::value::{a_type, type_of};

#[derive(Clone, Debug)]
pub(super) enum Test {
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

const TYPES: [&str; 8] = ["string", "number", "boolean", "null", "array", "object", "date", "datetime"];

/// The tests that a value asks for: those of its operators, or equality.
pub(super) fn tests(value: &Value) -> Result<Vec<Test>, EditError> {
    match value {
        Value::Object(map) if map.keys().any(|key| key.starts_with('$')) => {
            map.iter().map(|(name, value)| test(name, value)).collect()
        }
        other => Ok(vec![Test::Equal(other.clone())]),
    }
}

/// The tests of `$key`: keys are names, so they are equal or not.
pub(super) fn of_key(value: &Value) -> Result<Vec<Test>, EditError> {
    let bad = |what: String| EditError::syntax(what, "write `$key: notes/a`, or one of `$eq`, `$ne`, `$in`, `$nin` with keys");
    let text = |value: &Value| match value {
        Value::String(_) => Ok(()),
        other => Err(bad(format!("a key is a text, not {}", a_type(other)))),
    };
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (name, value) in map {
                match (name.as_str(), value) {
                    ("$eq" | "$ne", value) => text(value)?,
                    ("$in" | "$nin", Value::Array(all)) => all.iter().try_for_each(text)?,
                    ("$in" | "$nin", _) => {}
                    _ => return Err(bad(format!("`{name}` is no operator of `$key`"))),
                }
            }
        }
        value => text(value)?,
    }
    tests(value)
}

/// The tests of a count: a number, or comparisons with numbers.
pub(super) fn of_count(name: &str, value: &Value) -> Result<Vec<Test>, EditError> {
    let bad = || {
        EditError::syntax(
            format!("`{name}` takes a count or comparisons with counts"),
            format!("write `{name}: 0` or `{name}: {{ $gte: 3 }}` ($eq $ne $gt $gte $lt $lte)"),
        )
    };
    let operators = ["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"];
    let good = match value {
        Value::Object(map) => {
            !map.is_empty() && map.iter().all(|(name, value)| operators.contains(&name.as_str()) && value.is_u64())
        }
        other => other.is_u64(),
    };
    if good { tests(value) } else { Err(bad()) }
}

fn test(name: &str, value: &Value) -> Result<Test, EditError> {
    let list = || match value {
        Value::Array(all) if all.is_empty() => {
            Err(EditError::syntax(format!("`{name}` has an empty list"), format!("write `{name}: [a, b]`")))
        }
        Value::Array(all) => Ok(all.clone()),
        other => {
            Err(EditError::syntax(format!("`{name}` takes a list, not {}", a_type(other)), format!("write `{name}: [a, b]`")))
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
        "$size" => Test::Size(of_count(name, value)?),
        "$not" => match value {
            Value::Object(map) if !map.is_empty() && map.keys().all(|key| key.starts_with('$')) => Test::Not(tests(value)?),
            _ => return Err(EditError::syntax("`$not` takes operators", "write `$not: { $gt: 5 }`")),
        },
        "$type" => {
            let names = match value {
                Value::String(one) => vec![one.clone()],
                _ => list()?.iter().map(|one| one.as_str().unwrap_or(type_of(one)).to_owned()).collect(),
            };
            if let Some(unknown) = names.iter().find(|name| !TYPES.contains(&name.as_str())) {
                return Err(EditError::syntax(format!("`{unknown}` is no type"), format!("there are: {}", TYPES.join(" "))));
            }
            Test::Type(names)
        }
        other => {
            return Err(EditError::syntax(
                format!("`{other}` is no operator on a field"),
                "there are: $all $eq $exists $gt $gte $in $lt $lte $ne $nin $not $size $type",
            ));
        }
    })
}

impl Test {
    pub(super) fn holds(&self, found: Option<&Value>) -> bool {
        // One value of a list is enough where a single value is asked for.
        let any = |test: &dyn Fn(&Value) -> bool| match found {
            Some(Value::Array(all)) => all.iter().any(test),
            Some(value) => test(value),
            None => false,
        };
        let equal = |want: &Value| match (found, want) {
            (Some(Value::Array(all)), Value::Array(_)) => same(&Value::Array(all.clone()), want),
            _ => any(&|value| same(value, want)),
        };
        match self {
            Self::Equal(want) => equal(want),
            Self::NotEqual(want) => !equal(want),
            Self::Order(wanted, want) => any(&|value| order(value, want).is_some_and(|order| wanted.contains(&order))),
            Self::In(all) => all.iter().any(equal),
            Self::NotIn(all) => !all.iter().any(equal),
            Self::Exists(wanted) => found.is_some() == *wanted,
            Self::Type(types) => found.is_some_and(|value| types.iter().any(|name| is_type(value, name))),
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

fn is_type(value: &Value, name: &str) -> bool {
    let text = value.as_str().unwrap_or_default();
    match name {
        "number" => value.is_number(),
        "date" => is_date(text),
        "datetime" => {
            text.len() > 10 && text.get(..10).is_some_and(is_date) && text.get(10..11).is_some_and(|t| "Tt ".contains(t))
        }
        "string" => value.is_string(),
        name => name == type_of(value),
    }
}

/// Whether a text is `2026-04-26`.
pub(crate) fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let number = |range: std::ops::Range<usize>| text.get(range).and_then(|part| part.parse::<u32>().ok());
    bytes.len() == 10
        && bytes.iter().enumerate().all(|(at, byte)| if at == 4 || at == 7 { *byte == b'-' } else { byte.is_ascii_digit() })
        && number(5..7).is_some_and(|month| (1..=12).contains(&month))
        && number(8..10).is_some_and(|day| (1..=31).contains(&day))
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
