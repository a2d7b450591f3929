//! Relations between documents: inclusion and reference, within a number of steps.

use std::collections::{BTreeSet, VecDeque};

use deckle_doc::DocKey;
use serde_json::Value;

use super::test::{Test, of_count};
use super::{Clause, Filter};
use crate::documents::Documents;
use crate::{EditError, links};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Includes,
    IncludedBy,
    References,
    ReferencedBy,
}

pub(super) const RELATIONS: [(&str, Relation); 4] = [
    ("$includes", Relation::Includes),
    ("$includedBy", Relation::IncludedBy),
    ("$references", Relation::References),
    ("$referencedBy", Relation::ReferencedBy),
];

/// A relation that a document must have.
#[derive(Clone, Debug)]
pub(super) struct Relating {
    relation: Relation,
    anchor: Filter,
    min: usize,
    max: usize,
    size: Option<Vec<Test>>,
}

impl Relating {
    pub(super) fn parse(name: &str, relation: Relation, value: &Value) -> Result<Self, EditError> {
        let bad = |message: String| {
            EditError::syntax(message, format!("write `{name}: some/key`, or `{name}: {{ match: {{…}}, maxDepth: 2 }}`"))
        };
        let (min_name, max_name) = match relation {
            Relation::Includes | Relation::IncludedBy => ("minDepth", "maxDepth"),
            Relation::References | Relation::ReferencedBy => ("minDistance", "maxDistance"),
        };
        let mut found = Self { relation, anchor: Filter::default(), min: 1, max: 1, size: None };
        match value {
            Value::String(key) => {
                found.anchor = Filter { clauses: vec![Clause::Key(vec![Test::Equal(Value::String(key.clone()))])] };
                return Ok(found);
            }
            Value::Object(map) if !map.is_empty() => {
                for (key, value) in map {
                    let number = || {
                        value
                            .as_u64()
                            .and_then(|n| usize::try_from(n).ok())
                            .ok_or_else(|| bad(format!("`{key}` takes a whole number that is not negative")))
                    };
                    match key.as_str() {
                        "match" => found.anchor = Filter::parse(value)?,
                        "$size" => found.size = Some(of_count("$size", value)?),
                        key if key == min_name => {
                            found.min = number()?;
                            if found.min == 0 {
                                return Err(bad(format!("`{min_name}` starts at 1")));
                            }
                        }
                        // 0 is no bound.
                        key if key == max_name => found.max = Some(number()?).filter(|n| *n > 0).unwrap_or(usize::MAX),
                        other => {
                            return Err(bad(format!(
                                "`{name}` takes `match`, `{min_name}`, `{max_name}` and `$size`, not `{other}`"
                            )));
                        }
                    }
                }
            }
            _ => return Err(bad(format!("`{name}` takes a key or a mapping"))),
        }
        if found.min > found.max {
            return Err(bad(format!("`{min_name}` is larger than `{max_name}`; `{max_name}: 0` is no bound")));
        }
        Ok(found)
    }

    pub(super) fn holds(&self, documents: &dyn Documents, key: &DocKey) -> bool {
        match &self.size {
            // An anchor is never its own relation.
            None => !self.anchor.matches(documents, key) && self.count(documents, key, true) > 0,
            Some(tests) => {
                let count = Value::from(self.count(documents, key, false));
                tests.iter().all(|test| test.holds(Some(&count)))
            }
        }
    }

    /// How many documents within the bounds stand in the relation to `key`; one is enough when only existence matters.
    fn count(&self, documents: &dyn Documents, key: &DocKey, one: bool) -> usize {
        let mut seen: BTreeSet<DocKey> = BTreeSet::from([key.clone()]);
        let mut queue: VecDeque<(DocKey, usize)> = VecDeque::from([(key.clone(), 0)]);
        let mut count = 0;
        while let Some((at, depth)) = queue.pop_front() {
            if depth >= self.max {
                continue;
            }
            for next in step(documents, &at, self.relation) {
                if !seen.insert(next.clone()) {
                    continue;
                }
                if depth + 1 >= self.min && documents.contains(&next) && self.anchor.matches(documents, &next) {
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
}

/// The documents one step away.
fn step(documents: &dyn Documents, key: &DocKey, relation: Relation) -> Vec<DocKey> {
    let inclusion = matches!(relation, Relation::Includes | Relation::IncludedBy);
    let outward = matches!(relation, Relation::Includes | Relation::References);
    links::related(documents, key, inclusion, outward).into_iter().map(|(other, _)| other).collect()
}
