//! Reading operation documents. Whatever is not of the language is an error that lists what is.

use deckle_doc::DocKey;
use serde_json::{Map, Value};

use super::operation::{
    BLOCK_OPERATORS, BlockOp, BlockOpKind, Create, Destination, Expect, Find, IfExists, Operation, Projection, Search, Side,
    Source, Step, Update,
};
use super::predicate::{Predicate, regex};
use crate::EditError;
use crate::filter::{self, Filter};
use crate::value::{a_type, scalar};

/// The operators that a step may be besides `update` and `delete`.
const DOCUMENT_STEPS: [&str; 4] = ["$create", "$rename", "$deleteDocument", "$restore"];

/// The most steps of one transaction.
const MAX_STEPS: usize = 100_000;

pub(super) fn operation(value: &Value) -> Result<Operation, EditError> {
    let map = mapping("an operation", value)?;
    if let Some(steps) = map.get("steps") {
        only(map, "an operation with `steps`", &["steps"])?;
        let bad = |what: &str| {
            EditError::syntax(what.to_owned(), "write `steps: [{ filter: …, update: … }, { $rename: { key: a, to: b } }]`")
        };
        return match steps {
            Value::Array(steps) if steps.is_empty() => Err(bad("`steps` is empty")),
            Value::Array(steps) if steps.len() > MAX_STEPS => {
                Err(bad(&format!("{} steps are too many; at most {MAX_STEPS}", steps.len())))
            }
            Value::Array(steps) => Ok(Operation::Change(steps.iter().map(step).collect::<Result<_, _>>()?)),
            other => Err(bad(&format!("`steps` takes a list of operations, not {}", a_type(other)))),
        };
    }
    let named = map.get("operation").and_then(Value::as_str);
    let writes = map.keys().any(|key| key == "update" || key == "delete" || key.starts_with('$'));
    match named {
        Some("update" | "delete") => Ok(Operation::Change(vec![step(value)?])),
        None if writes => Ok(Operation::Change(vec![step(value)?])),
        None | Some("find") => Ok(Operation::Find(find(map)?)),
        Some("count") => Ok(Operation::Count(count(map)?)),
        Some(other) => Err(EditError::syntax(format!("`{other}` is no operation"), "there are: find count update delete")),
    }
}

fn mapping<'v>(what: &str, value: &'v Value) -> Result<&'v Map<String, Value>, EditError> {
    value.as_object().ok_or_else(|| {
        EditError::syntax(format!("{what} is a mapping, not {}", a_type(value)), "write it as `{ filter: {…}, update: {…} }`")
    })
}

/// Refuses every key that is not in the list.
fn only(map: &Map<String, Value>, what: &str, allowed: &[&str]) -> Result<(), EditError> {
    match map.keys().find(|key| !allowed.contains(&key.as_str())) {
        Some(key) => Err(EditError::syntax(format!("{what} does not take `{key}`"), format!("it takes: {}", allowed.join(" ")))),
        None => Ok(()),
    }
}

fn text_of(what: &str, value: Option<&Value>) -> Result<String, EditError> {
    match value {
        None => Err(EditError::syntax(format!("`{what}` is missing"), format!("write `{what}: \"…\"`"))),
        Some(value) => scalar(value).ok_or_else(|| {
            EditError::syntax(
                format!("`{what}` takes a text, not {}", a_type(value)),
                format!("put it in quotes, so that it stays as it is written: `{what}: \"…\"`"),
            )
        }),
    }
}

fn flag(what: &str, value: Option<&Value>) -> Result<Option<bool>, EditError> {
    match value {
        None => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(other) => Err(EditError::syntax(
            format!("`{what}` takes true or false, not {}", a_type(other)),
            format!("write `{what}: true`"),
        )),
    }
}

fn key_of(what: &str, value: Option<&Value>) -> Result<DocKey, EditError> {
    let text = text_of(what, value)?;
    let hint = "a key is a path in the workspace without `.md`: `guides/quick-start`";
    if [".md", ".markdown", ".mdx"].iter().any(|ending| text.to_ascii_lowercase().ends_with(ending)) {
        return Err(EditError::syntax(format!("`{text}` is the name of a file"), hint));
    }
    DocKey::parse(&text).map_err(|error| EditError::syntax(error.to_string(), hint))
}

fn find(map: &Map<String, Value>) -> Result<Find, EditError> {
    only(map, "`find`", &["operation", "filter", "search", "project", "addFields", "sort", "limit"])?;
    let mut find = Find { filter: map.get("filter").map(Filter::parse).transpose()?.unwrap_or_default(), ..Find::default() };
    if let Some(search) = map.get("search") {
        let search = mapping("`search`", search)?;
        only(search, "`search`", &["lexical", "fuzzy"])?;
        let one = |name: &str| search.get(name).map(|value| text_of(name, Some(value))).transpose();
        let parsed = Search { lexical: one("lexical")?, fuzzy: one("fuzzy")? };
        if parsed.lexical.is_none() && parsed.fuzzy.is_none() {
            return Err(EditError::syntax("`search` is empty", "give `lexical: \"words\"` or `fuzzy: \"letters\"`"));
        }
        find.search = Some(parsed);
    }
    match (map.get("project"), map.get("addFields")) {
        (Some(_), Some(_)) => return Err(EditError::syntax("`project` and `addFields` exclude one another", "use one of them")),
        (Some(project), None) => {
            find.replace = true;
            find.projection = projection(project, true)?;
        }
        (None, Some(fields)) => find.projection = projection(fields, false)?,
        (None, None) => {}
    }
    find.sort = sort(map)?;
    find.limit = limit(map)?;
    Ok(find)
}

fn count(map: &Map<String, Value>) -> Result<Find, EditError> {
    only(map, "`count`", &["operation", "filter", "sort", "limit"])?;
    Ok(Find {
        filter: map.get("filter").map(Filter::parse).transpose()?.unwrap_or_default(),
        sort: sort(map)?,
        limit: limit(map)?,
        ..Find::default()
    })
}

fn sort(map: &Map<String, Value>) -> Result<Option<(String, bool)>, EditError> {
    let Some(sort) = map.get("sort") else { return Ok(None) };
    let sort = mapping("`sort`", sort)?;
    let mut fields = sort.iter();
    let (Some((field, direction)), None) = (fields.next(), fields.next()) else {
        return Err(EditError::syntax("`sort` takes exactly one field", "write `sort: { title: 1 }`"));
    };
    if !["$key", "$title"].contains(&field.as_str()) {
        filter::path(field)?;
    }
    match direction.as_i64() {
        Some(1) => Ok(Some((field.clone(), true))),
        Some(-1) => Ok(Some((field.clone(), false))),
        _ => Err(EditError::syntax("a sort direction is the number 1 or -1", "write `sort: { title: 1 }`; -1 is downwards")),
    }
}

fn limit(map: &Map<String, Value>) -> Result<usize, EditError> {
    match map.get("limit") {
        None => Ok(0),
        Some(value) => value
            .as_u64()
            .and_then(|n| usize::try_from(n).ok())
            .ok_or_else(|| EditError::syntax("`limit` takes a number that is not negative", "write `limit: 20`; 0 is no limit")),
    }
}

/// Reads a projection; `alone` where a predicate may stand in its place.
fn projection(value: &Value, alone: bool) -> Result<Projection, EditError> {
    let map = mapping("a projection", value)?;
    let selectors = map.keys().filter(|key| key.starts_with('$')).count();
    if alone && selectors > 0 && selectors == map.len() {
        // A block predicate in place of the fields.
        let predicate = Predicate::parse(value)?;
        return Ok(vec![("key".into(), Source::Key), ("content".into(), Source::Content(predicate))]);
    }
    if selectors > 0 {
        return Err(EditError::syntax(
            "the name of an output field does not start with `$`",
            "write `body: { $content: {…} }`; `project` also takes a predicate alone",
        ));
    }
    map.iter()
        .map(|(name, value)| {
            if name.contains('.') {
                return Err(EditError::syntax(
                    format!("the output field `{name}` has a dot"),
                    format!("give it a name without: `{}: {name}`", name.replace('.', "_")),
                ));
            }
            Ok((name.clone(), source(name, value)?))
        })
        .collect()
}

fn source(name: &str, value: &Value) -> Result<Source, EditError> {
    let unknown = |word: &str| {
        EditError::syntax(
            format!("`{word}` is no source of a field"),
            "there are: $key $title $titleSlug $content $frontmatter $blocks $matches $includes $includedBy $references $referencedBy, and names of fields",
        )
    };
    let field = |word: &str| -> Result<Source, EditError> {
        filter::path(word)?;
        Ok(Source::Field(word.to_owned()))
    };
    match value {
        Value::Null | Value::Bool(true) => field(name),
        Value::Number(number) if number.as_i64() == Some(1) => field(name),
        Value::String(word) => match word.as_str() {
            "$key" => Ok(Source::Key),
            "$title" => Ok(Source::Title),
            "$titleSlug" => Ok(Source::TitleSlug),
            "$frontmatter" => Ok(Source::FrontMatter),
            "$content" => Ok(Source::Content(Predicate::default())),
            "$blocks" => Ok(Source::Blocks(Predicate::default())),
            "$includes" => Ok(Source::Relation("includes")),
            "$includedBy" => Ok(Source::Relation("includedBy")),
            "$references" => Ok(Source::Relation("references")),
            "$referencedBy" => Ok(Source::Relation("referencedBy")),
            word if word.starts_with('$') => Err(unknown(word)),
            "1" | "true" | "null" => Err(EditError::syntax(
                format!("the field `{name}` has the text \"{word}\" as its source"),
                "write the number `1`, or the name of a field",
            )),
            word => field(word),
        },
        Value::Object(map) if map.len() == 1 => {
            let (word, argument) = map.iter().next().ok_or_else(|| unknown(name))?;
            match word.as_str() {
                "$content" => Ok(Source::Content(Predicate::parse(argument)?)),
                "$blocks" => Ok(Source::Blocks(Predicate::parse(argument)?)),
                "$matches" => match argument {
                    Value::Object(map) => {
                        let (predicate, bare) = Predicate::of_map(map, true)?;
                        only(&bare, "`$matches`", &["pattern"])?;
                        Ok(Source::Matches(regex(&text_of("pattern", bare.get("pattern"))?)?, predicate))
                    }
                    other => Ok(Source::Matches(regex(&text_of("$matches", Some(other))?)?, Predicate::default())),
                },
                word => Err(unknown(word)),
            }
        }
        other => Err(EditError::syntax(
            format!("the field `{name}` has {} as its source", a_type(other)),
            "write `1`, a field's name or a `$`-source",
        )),
    }
}

fn step(value: &Value) -> Result<Step, EditError> {
    let map = mapping("a step", value)?;
    if let Some(name) = DOCUMENT_STEPS.iter().find(|name| map.contains_key(**name)) {
        only(map, &format!("a `{name}` step"), &[name])?;
        let argument = mapping(&format!("`{name}`"), map.get(*name).unwrap_or(&Value::Null))?;
        return document_step(name, argument);
    }
    if map.get("operation").and_then(Value::as_str) == Some("delete") || map.contains_key("delete") {
        // `delete: { filter: … }` says the same as `operation: delete`.
        let body = match map.get("delete") {
            Some(Value::Object(inner)) if map.len() == 1 => inner,
            _ => map,
        };
        only(body, "`delete`", &["operation", "delete", "filter", "expect", "sort", "limit"])?;
        let filter = body.get("filter").ok_or_else(|| {
            EditError::syntax("`delete` needs a filter", "write `filter: { $key: … }`; `{}` on purpose is every document")
        })?;
        return Ok(Step::Delete {
            filter: Filter::parse(filter)?,
            expect: expect(body)?,
            sort: sort(body)?,
            limit: limit(body)?,
        });
    }
    update(map).map(|update| Step::Update(Box::new(update)))
}

fn expect(map: &Map<String, Value>) -> Result<Option<Expect>, EditError> {
    map.get("expect").map(Expect::parse).transpose()
}

fn document_step(name: &str, map: &Map<String, Value>) -> Result<Step, EditError> {
    match name {
        "$create" => create(map),
        "$rename" => {
            only(map, "`$rename`", &["key", "to"])?;
            Ok(Step::Rename { from: key_of("key", map.get("key"))?, to: key_of("to", map.get("to"))? })
        }
        "$restore" => {
            only(map, "`$restore`", &["key", "to"])?;
            let to = map.get("to").map(|to| key_of("to", Some(to))).transpose()?;
            Ok(Step::Restore { key: key_of("key", map.get("key"))?, to })
        }
        _ => {
            only(map, "`$deleteDocument`", &["key", "expect"])?;
            let filter = Filter::keys(&[key_of("key", map.get("key"))?]);
            let expect = expect(map)?.or(Some(Expect { min: 1, max: 1 }));
            Ok(Step::Delete { filter, expect, sort: None, limit: 0 })
        }
    }
}

fn create(map: &Map<String, Value>) -> Result<Step, EditError> {
    only(map, "`$create`", &["key", "content", "if_exists", "values", "removed"])?;
    let words = "there are: fail skip suffix override";
    let if_exists = match map.get("if_exists") {
        None => IfExists::Fail,
        Some(Value::String(word)) => match word.as_str() {
            "fail" => IfExists::Fail,
            "skip" => IfExists::Skip,
            "suffix" => IfExists::Suffix,
            "override" => IfExists::Override,
            other => return Err(EditError::syntax(format!("`if_exists: {other}` is not known"), words)),
        },
        Some(other) => return Err(EditError::syntax(format!("`if_exists` takes a word, not {}", a_type(other)), words)),
    };
    let mut values = Vec::new();
    if let Some(given) = map.get("values") {
        for (name, value) in mapping("`values`", given)? {
            values.push((name.clone(), text_of(name, Some(value))?));
        }
    }
    let removed = map.get("removed").is_some_and(|value| value.as_bool() != Some(false));
    let key = text_of("key", map.get("key"))?;
    if !key.contains("{{") {
        key_of("key", map.get("key"))?;
    }
    Ok(Step::Create(Create { key, values, content: text_of("content", map.get("content"))?, if_exists, removed }))
}

fn update(map: &Map<String, Value>) -> Result<Update, EditError> {
    // Operators beside `filter` are as clear as operators inside `update`.
    let is_operator = |key: &str| matches!(key, "$set" | "$unset") || BLOCK_OPERATORS.contains(&key);
    let mut body = Map::new();
    let mut rest = Map::new();
    for (key, value) in map {
        if is_operator(key) && !map.contains_key("update") { &mut body } else { &mut rest }.insert(key.clone(), value.clone());
    }
    let map = &rest;
    only(map, "`update`", &["operation", "filter", "update", "expect", "sort", "limit", "removed", "base"])?;
    let filter = map.get("filter").ok_or_else(|| {
        EditError::syntax("`update` needs a filter", "write `filter: { $key: … }`; `{}` on purpose is every document")
    })?;
    if let Some(update) = map.get("update") {
        body = mapping("`update`", update)?.clone();
    }
    if body.is_empty() {
        return Err(EditError::syntax("`update` is empty", format!("it takes: $set $unset {}", BLOCK_OPERATORS.join(" "))));
    }
    let mut update = Update {
        filter: Filter::parse(filter)?,
        expect: expect(map)?,
        sort: sort(map)?,
        limit: limit(map)?,
        set: Vec::new(),
        unset: Vec::new(),
        blocks: Vec::new(),
        removed: map.get("removed").is_some_and(|value| value.as_bool() != Some(false)),
        base: map.get("base").map(|value| text_of("base", Some(value))).transpose()?,
    };
    for (name, argument) in &body {
        match name.as_str() {
            "$set" | "$unset" => fields(&mut update, name, argument)?,
            name => match argument {
                // Several applications of one operator, each with its own selection.
                Value::Array(all) if !all.is_empty() => {
                    for one in all {
                        update.blocks.push(block_op(name, one)?);
                    }
                }
                one => update.blocks.push(block_op(name, one)?),
            },
        }
    }
    disjoint(&update)?;
    Ok(update)
}

fn fields(update: &mut Update, name: &str, argument: &Value) -> Result<(), EditError> {
    let map = mapping(&format!("`{name}`"), argument)?;
    if map.is_empty() {
        return Err(EditError::syntax(format!("`{name}` is empty"), format!("write `{name}: {{ status: draft }}`")));
    }
    for (path, value) in map {
        filter::path(path)?;
        refuse_reserved(value)?;
        if name == "$set" { update.set.push((path.clone(), value.clone())) } else { update.unset.push(path.clone()) }
    }
    Ok(())
}

/// Names of the engine's own may not be set, however deep.
fn refuse_reserved(value: &Value) -> Result<(), EditError> {
    match value {
        Value::Object(map) => map.iter().try_for_each(|(name, value)| {
            if name.starts_with(['_', '$', '.', '#', '@']) {
                filter::path(name)?;
            }
            refuse_reserved(value)
        }),
        Value::Array(all) => all.iter().try_for_each(refuse_reserved),
        _ => Ok(()),
    }
}

/// Of two paths none may lead to the other, or their order would decide.
fn disjoint(update: &Update) -> Result<(), EditError> {
    let mut paths: Vec<String> =
        update.set.iter().map(|(path, _)| path).chain(&update.unset).map(|path| format!("{path}.")).collect();
    paths.sort();
    match paths.windows(2).find(|pair| matches!(pair, [one, other] if other.starts_with(one.as_str()))) {
        Some([one, other]) => Err(EditError::syntax(
            format!("`{}` and `{}` touch the same field", one.trim_end_matches('.'), other.trim_end_matches('.')),
            "set each field once; set the whole value or single fields inside it",
        )),
        _ => Ok(()),
    }
}

fn block_op(name: &str, argument: &Value) -> Result<BlockOp, EditError> {
    if !BLOCK_OPERATORS.contains(&name) {
        return Err(EditError::syntax(
            format!("`{name}` is no operator of `update`"),
            format!("there are: $set $unset {}", BLOCK_OPERATORS.join(" ")),
        ));
    }
    let map = mapping(&format!("the argument of `{name}`"), argument)?;
    let (predicate, bare) = Predicate::of_map(map, true)?;
    let allowed: &[&str] = match name {
        "$replace" | "$insertBefore" | "$insertAfter" | "$append" | "$prepend" => &["content", "expect", "base"],
        "$replaceText" => &["from", "to", "expect", "base"],
        "$delete" => &["nested", "expect", "base"],
        "$move" | "$copy" => &["before", "after", "into", "start", "document", "expect", "base"],
        "$wrap" => &["name", "label", "expect", "base"],
        "$unwrap" => &["expect", "base"],
        "$setAttr" => &["attributes", "expect", "base"],
        _ => &["checked", "expect", "base"],
    };
    only(&bare, &format!("`{name}`"), allowed)?;
    let content = || text_of("content", bare.get("content"));
    let kind = match name {
        "$replace" => BlockOpKind::Replace { content: content()? },
        "$insertBefore" => BlockOpKind::InsertBefore { content: content()? },
        "$insertAfter" => BlockOpKind::InsertAfter { content: content()? },
        "$append" => BlockOpKind::Append { content: content()? },
        "$prepend" => BlockOpKind::Prepend { content: content()? },
        "$replaceText" => BlockOpKind::ReplaceText {
            from: bare.get("from").map(|value| text_of("from", Some(value))).transpose()?,
            to: text_of("to", bare.get("to"))?,
        },
        "$delete" => BlockOpKind::Delete { nested: flag("nested", bare.get("nested"))?.unwrap_or(false) },
        "$move" => BlockOpKind::Move { to: destination(name, &bare)? },
        "$copy" => BlockOpKind::Copy { to: destination(name, &bare)? },
        "$wrap" => BlockOpKind::Wrap {
            name: text_of("name", bare.get("name"))?,
            label: bare.get("label").map(|value| text_of("label", Some(value))).transpose()?,
        },
        "$unwrap" => BlockOpKind::Unwrap,
        "$setAttr" => {
            let attributes = mapping("`attributes`", bare.get("attributes").unwrap_or(&Value::Null))?;
            if attributes.is_empty() {
                return Err(EditError::syntax("`attributes` is empty", "write `attributes: { title: Hint }`; null removes one"));
            }
            BlockOpKind::SetAttr { attributes: attributes.iter().map(|(name, value)| (name.clone(), value.clone())).collect() }
        }
        _ => BlockOpKind::Toggle { checked: flag("checked", bare.get("checked"))? },
    };
    Ok(BlockOp { kind, predicate, expect: expect(&bare)?, base: base(&bare)? })
}

fn base(bare: &Map<String, Value>) -> Result<Vec<(String, String)>, EditError> {
    match bare.get("base") {
        None => Ok(Vec::new()),
        Some(Value::Object(map)) => map.iter().map(|(id, value)| Ok((id.clone(), text_of("base", Some(value))?))).collect(),
        Some(_) => Err(EditError::syntax(
            "`base` takes a mapping from block ids to the texts that were read",
            "write `base: { 3f2a91bc: \"the text\" }`",
        )),
    }
}

fn destination(name: &str, bare: &Map<String, Value>) -> Result<Destination, EditError> {
    let sides = [("before", Side::Before), ("after", Side::After), ("into", Side::End), ("start", Side::Start)];
    let mut given = sides.iter().filter_map(|(word, side)| bare.get(*word).map(|value| (*side, value)));
    match (given.next(), given.next()) {
        (Some((side, value)), None) => {
            let document = bare.get("document").map(|key| key_of("document", Some(key))).transpose()?;
            Ok(Destination { document, side, predicate: Predicate::parse(value)? })
        }
        _ => Err(EditError::syntax(
            format!("`{name}` takes one of `before`, `after`, `into`, `start`"),
            format!(
                "write `{name}: {{ $id: a1b2c3d4, after: {{ $header: Goals }} }}`; `into` adds at the end, `start` at the front"
            ),
        )),
    }
}
