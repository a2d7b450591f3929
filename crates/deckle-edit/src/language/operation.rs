//! Operation documents: find, count, update, delete, and steps in one transaction.

use deckle_doc::DocKey;
use serde_json::{Map, Value};

use super::predicate::{Predicate, regex};
use crate::filter::{Filter, reserved};
use crate::value::{scalar, type_of};
use crate::{EditError, read_value};

/// What an operation document asks for.
#[derive(Clone, Debug)]
pub enum Operation {
    /// Read documents.
    Find(Find),
    /// Count documents.
    Count(Find),
    /// Change, in one transaction; each step sees what the one before did.
    Change(Vec<Step>),
}

/// A reading operation.
#[derive(Clone, Debug, Default)]
pub struct Find {
    /// Which documents.
    pub filter: Filter,
    /// Words to search for; the documents come in the order of relevance then.
    pub search: Option<Search>,
    /// What to show of each; nothing is key and title.
    pub projection: Vec<(String, Source)>,
    /// Whether the projection replaces key and title.
    pub replace: bool,
    /// A field to sort by, and whether upwards.
    pub sort: Option<(String, bool)>,
    /// At most so many; 0 is no limit.
    pub limit: usize,
}

/// What to search for.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// Words, ranked.
    pub lexical: Option<String>,
    /// Letters of title and key, in order.
    pub fuzzy: Option<String>,
}

/// The projection of a find.
pub type Projection = Vec<(String, Source)>;

/// Where a projected field comes from.
#[derive(Clone, Debug)]
pub enum Source {
    /// A field of the front matter.
    Field(String),
    /// `$key`
    Key,
    /// `$title`
    Title,
    /// `$titleSlug`
    TitleSlug,
    /// `$frontmatter`
    FrontMatter,
    /// `$content`, narrowed to the selected blocks.
    Content(Predicate),
    /// `$blocks`
    Blocks(Predicate),
    /// `$matches`: a pattern and a scope.
    Matches(regex::Regex, Predicate),
    /// `$includes`, `$includedBy`, `$references`, `$referencedBy`.
    Relation(&'static str),
}

/// A guard on a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expect {
    /// At least.
    pub min: usize,
    /// At most.
    pub max: usize,
}

/// One step of a transaction.
#[derive(Clone, Debug)]
pub enum Step {
    /// Change documents in place.
    Update(Box<Update>),
    /// Create a document.
    Create {
        /// Its key.
        key: DocKey,
        /// Its text.
        content: String,
        /// When there is one already.
        if_exists: IfExists,
    },
    /// Rename a document; every link to it is rewritten.
    Rename {
        /// The old key.
        from: DocKey,
        /// The new key.
        to: DocKey,
    },
    /// Delete documents.
    Delete {
        /// Which.
        filter: Filter,
        /// The guard on how many.
        expect: Option<Expect>,
    },
}

/// What creating does at a key that is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IfExists {
    /// Refuse.
    #[default]
    Fail,
    /// Do nothing.
    Skip,
    /// Take the next free key: `key-2`.
    Suffix,
    /// Replace the document.
    Override,
}

/// Changes to the documents that a filter matches.
#[derive(Clone, Debug)]
pub struct Update {
    /// Which documents.
    pub filter: Filter,
    /// The guard on how many.
    pub expect: Option<Expect>,
    /// A bound on how many.
    pub limit: usize,
    /// `$set`: paths and values.
    pub set: Vec<(String, Value)>,
    /// `$unset`: paths.
    pub unset: Vec<String>,
    /// The block operators, in the order in which they are written.
    pub blocks: Vec<BlockOp>,
    /// A change that removes much must say so: `removed: true`, or the words that go.
    pub removed: bool,
}

/// A block operator with its selection.
#[derive(Clone, Debug)]
pub struct BlockOp {
    /// What it does.
    pub kind: BlockOpKind,
    /// What it selects.
    pub predicate: Predicate,
    /// The guard on how many.
    pub expect: Option<Expect>,
    /// Texts that the caller last read, by block id: a block that reads otherwise now is stale.
    pub base: Vec<(String, String)>,
}

/// What a block operator does.
#[derive(Clone, Debug)]
pub enum BlockOpKind {
    /// Replace each target.
    Replace {
        /// The new Markdown.
        content: String,
    },
    /// Replace text inside each selected block.
    ReplaceText {
        /// What; nothing is the whole own text.
        from: Option<String>,
        /// By what.
        to: String,
    },
    /// Insert before each target.
    InsertBefore {
        /// The new Markdown.
        content: String,
    },
    /// Insert after each target.
    InsertAfter {
        /// The new Markdown.
        content: String,
    },
    /// Add at the end of each target.
    Append {
        /// The new Markdown.
        content: String,
    },
    /// Add at the start of each target.
    Prepend {
        /// The new Markdown.
        content: String,
    },
    /// Remove each target.
    Delete {
        /// Whether what is nested in an item goes with it.
        nested: bool,
    },
    /// Move the targets to a place.
    Move {
        /// Where.
        to: Destination,
    },
    /// Copy the targets to a place.
    Copy {
        /// Where.
        to: Destination,
    },
    /// Put a container around the targets.
    Wrap {
        /// The directive's name.
        name: String,
        /// Its label.
        label: Option<String>,
    },
    /// Take the container away and keep what is inside.
    Unwrap,
    /// Set attributes, the level of a heading, or the language of code; null removes.
    SetAttr {
        /// Names and values.
        attributes: Vec<(String, Value)>,
    },
    /// Check or uncheck a task.
    Toggle {
        /// The new state; nothing turns it round.
        checked: Option<bool>,
    },
}

/// Where moved and copied blocks go.
#[derive(Clone, Debug)]
pub struct Destination {
    /// Before, after, at the start of or at the end of …
    pub side: Side,
    /// … the one block that this selects.
    pub predicate: Predicate,
}

/// A side of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// In front of it.
    Before,
    /// Behind it.
    After,
    /// Inside, first.
    Start,
    /// Inside, last.
    End,
}

/// The block operators, for errors.
pub(crate) const BLOCK_OPERATORS: [&str; 13] = [
    "$append",
    "$copy",
    "$delete",
    "$insertAfter",
    "$insertBefore",
    "$move",
    "$prepend",
    "$replace",
    "$replaceText",
    "$setAttr",
    "$toggle",
    "$unwrap",
    "$wrap",
];

impl BlockOpKind {
    /// Returns the operator's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Replace { .. } => "$replace",
            Self::ReplaceText { .. } => "$replaceText",
            Self::InsertBefore { .. } => "$insertBefore",
            Self::InsertAfter { .. } => "$insertAfter",
            Self::Append { .. } => "$append",
            Self::Prepend { .. } => "$prepend",
            Self::Delete { .. } => "$delete",
            Self::Move { .. } => "$move",
            Self::Copy { .. } => "$copy",
            Self::Wrap { .. } => "$wrap",
            Self::Unwrap => "$unwrap",
            Self::SetAttr { .. } => "$setAttr",
            Self::Toggle { .. } => "$toggle",
        }
    }
}

impl Expect {
    /// Reads `N` or `{ min: M, max: N }`.
    ///
    /// # Errors
    /// When it is neither.
    pub fn parse(value: &Value) -> Result<Self, EditError> {
        let number = |value: &Value| value.as_u64().and_then(|n| usize::try_from(n).ok());
        let bad = || {
            EditError::syntax(
                format!("`expect` takes a number or a range, not a {}", type_of(value)),
                "write `expect: 1` or `expect: { min: 1, max: 20 }`",
            )
        };
        match value {
            Value::Object(map) if !map.is_empty() => {
                let mut expect = Self { min: 0, max: usize::MAX };
                for (key, value) in map {
                    match key.as_str() {
                        "min" => expect.min = number(value).ok_or_else(bad)?,
                        "max" => expect.max = number(value).ok_or_else(bad)?,
                        _ => return Err(bad()),
                    }
                }
                Ok(expect)
            }
            other => number(other).map(|n| Self { min: n, max: n }).ok_or_else(bad),
        }
    }

    /// Returns whether a count agrees.
    #[must_use]
    pub fn holds(self, count: usize) -> bool {
        (self.min..=self.max).contains(&count)
    }

    /// Says it in words: `1 block`, `at most 20 blocks`.
    #[must_use]
    pub fn words(self, noun: &str) -> String {
        let count = |n: usize| format!("{n} {noun}{}", if n == 1 { "" } else { "s" });
        match (self.min, self.max) {
            (min, max) if min == max => count(min),
            (0, max) => format!("at most {}", count(max)),
            (min, usize::MAX) => format!("at least {}", count(min)),
            (min, max) => format!("{min} to {}", count(max)),
        }
    }
}

impl Operation {
    /// Reads an operation document: JSON or YAML.
    ///
    /// # Errors
    /// When it is not of the language; the error names the word, and what is allowed in its place.
    ///
    /// ```
    /// use deckle_edit::Operation;
    /// let operation = Operation::parse_text("filter: { $key: jon }\nupdate: { $replaceText: { $text: Plans, from: Plans, to: Aims, expect: 1 } }")?;
    /// assert!(matches!(operation, Operation::Change(steps) if steps.len() == 1));
    /// # Ok::<(), deckle_edit::EditError>(())
    /// ```
    pub fn parse_text(text: &str) -> Result<Self, EditError> {
        Self::parse(&read_value(text)?)
    }

    /// Reads an operation document.
    ///
    /// # Errors
    /// As [`Self::parse_text`].
    pub fn parse(value: &Value) -> Result<Self, EditError> {
        let map = mapping("an operation", value)?;
        if map.contains_key("steps") {
            only(map, "an operation with `steps`", &["steps"])?;
            let Value::Array(steps) = &map["steps"] else {
                return Err(EditError::syntax(
                    "`steps` takes a list of operations",
                    "write `steps: [{ filter: …, update: … }, { $rename: … }]`",
                ));
            };
            if steps.is_empty() {
                return Err(EditError::syntax("`steps` is empty", "give at least one step"));
            }
            return Ok(Self::Change(steps.iter().map(step).collect::<Result<_, _>>()?));
        }
        let operation = map.get("operation").and_then(Value::as_str);
        let writes = map.keys().any(|key| key == "update" || key == "delete" || key.starts_with('$'));
        match operation {
            Some("update" | "delete") => Ok(Self::Change(vec![step(value)?])),
            None if writes => Ok(Self::Change(vec![step(value)?])),
            None | Some("find") => Ok(Self::Find(find(map)?)),
            Some("count") => Ok(Self::Count(find(map)?)),
            Some(other) => Err(EditError::syntax(format!("`{other}` is no operation"), "there are: find count update delete")),
        }
    }
}

fn mapping<'v>(what: &str, value: &'v Value) -> Result<&'v Map<String, Value>, EditError> {
    value.as_object().ok_or_else(|| {
        EditError::syntax(format!("{what} is a mapping, not a {}", type_of(value)), "write it as `{ filter: {…}, update: {…} }`")
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
    value
        .and_then(scalar)
        .ok_or_else(|| EditError::syntax(format!("`{what}` is missing, or not a text"), format!("write `{what}: \"…\"`")))
}

fn key_of(what: &str, value: Option<&Value>) -> Result<DocKey, EditError> {
    DocKey::parse(&text_of(what, value)?).map_err(|error| {
        EditError::syntax(error.to_string(), "a key is a path in the workspace without `.md`: `guides/quick-start`")
    })
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
            find.projection = projection(project)?;
        }
        (None, Some(fields)) => find.projection = projection(fields)?,
        (None, None) => {}
    }
    if let Some(sort) = map.get("sort") {
        let sort = mapping("`sort`", sort)?;
        let mut fields = sort.iter();
        let (Some((field, direction)), None) = (fields.next(), fields.next()) else {
            return Err(EditError::syntax("`sort` takes exactly one field", "write `sort: { title: 1 }`"));
        };
        let up = match direction.as_i64() {
            Some(1) => true,
            Some(-1) => false,
            _ => return Err(EditError::syntax("a sort direction is 1 or -1", "write `sort: { title: 1 }`")),
        };
        find.sort = Some((field.clone(), up));
    }
    find.limit = limit(map)?;
    Ok(find)
}

fn limit(map: &Map<String, Value>) -> Result<usize, EditError> {
    match map.get("limit") {
        None => Ok(0),
        Some(value) => value
            .as_u64()
            .and_then(|n| usize::try_from(n).ok())
            .ok_or_else(|| EditError::syntax("`limit` takes a number", "write `limit: 20`; 0 is no limit")),
    }
}

/// Reads a projection.
///
/// # Errors
/// When a source is unknown.
pub(crate) fn projection(value: &Value) -> Result<Projection, EditError> {
    let map = mapping("a projection", value)?;
    let selectors = map.keys().filter(|key| key.starts_with('$')).count();
    if selectors > 0 && selectors == map.len() {
        // A block predicate in place of the fields.
        let predicate = Predicate::parse(value)?;
        return Ok(vec![("key".into(), Source::Key), ("content".into(), Source::Content(predicate))]);
    }
    if selectors > 0 {
        return Err(EditError::syntax(
            "a projection mixes fields and `$`-keys",
            "write fields, `body: { $content: {…} }`, or a predicate alone",
        ));
    }
    map.iter().map(|(name, value)| Ok((name.clone(), source(name, value)?))).collect()
}

fn source(name: &str, value: &Value) -> Result<Source, EditError> {
    let unknown = |word: &str| {
        EditError::syntax(
            format!("`{word}` is no source of a field"),
            "there are: $key $title $titleSlug $content $frontmatter $blocks $matches $includes $includedBy $references $referencedBy, and names of fields",
        )
    };
    match value {
        Value::Null | Value::Bool(true) => Ok(Source::Field(name.to_owned())),
        Value::Number(number) if number.as_i64() == Some(1) => Ok(Source::Field(name.to_owned())),
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
            field => Ok(Source::Field(field.to_owned())),
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
            format!("the field `{name}` has a {} as its source", type_of(other)),
            "write `1`, a field's name or a `$`-source",
        )),
    }
}

fn step(value: &Value) -> Result<Step, EditError> {
    let map = mapping("a step", value)?;
    if let Some(argument) = map.get("$create") {
        only(map, "a `$create` step", &["$create"])?;
        let map = mapping("`$create`", argument)?;
        only(map, "`$create`", &["key", "content", "if_exists"])?;
        let if_exists = match map.get("if_exists").and_then(Value::as_str) {
            None if map.contains_key("if_exists") => {
                return Err(EditError::syntax("`if_exists` takes a word", "there are: fail skip suffix override"));
            }
            None | Some("fail") => IfExists::Fail,
            Some("skip") => IfExists::Skip,
            Some("suffix") => IfExists::Suffix,
            Some("override") => IfExists::Override,
            Some(other) => {
                return Err(EditError::syntax(
                    format!("`if_exists: {other}` is not known"),
                    "there are: fail skip suffix override",
                ));
            }
        };
        return Ok(Step::Create {
            key: key_of("key", map.get("key"))?,
            content: text_of("content", map.get("content"))?,
            if_exists,
        });
    }
    if let Some(argument) = map.get("$rename") {
        only(map, "a `$rename` step", &["$rename"])?;
        let map = mapping("`$rename`", argument)?;
        only(map, "`$rename`", &["key", "to"])?;
        return Ok(Step::Rename { from: key_of("key", map.get("key"))?, to: key_of("to", map.get("to"))? });
    }
    if let Some(argument) = map.get("$deleteDocument") {
        only(map, "a `$deleteDocument` step", &["$deleteDocument"])?;
        let map = mapping("`$deleteDocument`", argument)?;
        only(map, "`$deleteDocument`", &["key", "expect"])?;
        let filter = Filter::keys(&[key_of("key", map.get("key"))?]);
        let expect = map.get("expect").map(Expect::parse).transpose()?;
        return Ok(Step::Delete { filter, expect: expect.or(Some(Expect { min: 1, max: 1 })) });
    }
    if map.get("operation").and_then(Value::as_str) == Some("delete") || map.contains_key("delete") {
        only(map, "`delete`", &["operation", "delete", "filter", "expect"])?;
        let filter = map.get("filter").ok_or_else(|| {
            EditError::syntax("`delete` needs a filter", "write `filter: { $key: … }`; `{}` on purpose is every document")
        })?;
        return Ok(Step::Delete { filter: Filter::parse(filter)?, expect: map.get("expect").map(Expect::parse).transpose()? });
    }
    update(map).map(|update| Step::Update(Box::new(update)))
}

fn update(map: &Map<String, Value>) -> Result<Update, EditError> {
    only(map, "`update`", &["operation", "filter", "update", "expect", "limit", "removed"])?;
    let filter = map.get("filter").ok_or_else(|| {
        EditError::syntax("`update` needs a filter", "write `filter: { $key: … }`; `{}` on purpose is every document")
    })?;
    let body = mapping("`update`", map.get("update").unwrap_or(&Value::Null))?;
    if body.is_empty() {
        return Err(EditError::syntax("`update` is empty", format!("it takes: $set $unset {}", BLOCK_OPERATORS.join(" "))));
    }
    let mut update = Update {
        filter: Filter::parse(filter)?,
        expect: map.get("expect").map(Expect::parse).transpose()?,
        limit: limit(map)?,
        set: Vec::new(),
        unset: Vec::new(),
        blocks: Vec::new(),
        removed: map.get("removed").is_some_and(|value| value.as_bool() != Some(false)),
    };
    for (name, argument) in body {
        match name.as_str() {
            "$set" => {
                for (path, value) in mapping("`$set`", argument)? {
                    refuse_reserved(path, value)?;
                    update.set.push((path.clone(), value.clone()));
                }
            }
            "$unset" => {
                for path in mapping("`$unset`", argument)?.keys() {
                    refuse_reserved(path, &Value::Null)?;
                    update.unset.push(path.clone());
                }
            }
            name => match argument {
                // Several applications of one operator, each with its own selection.
                Value::Array(all) => {
                    for one in all {
                        update.blocks.push(block_op(name, one)?);
                    }
                }
                one => update.blocks.push(block_op(name, one)?),
            },
        }
    }
    Ok(update)
}

fn refuse_reserved(path: &str, value: &Value) -> Result<(), EditError> {
    let inner = value.as_object().and_then(|map| map.keys().find(|key| reserved(key)).cloned());
    match if reserved(path) { Some(path.to_owned()) } else { inner } {
        Some(name) => Err(EditError::syntax(
            format!("the field `{name}` is reserved"),
            "names that start with _ $ . # @ are not part of the language",
        )),
        None => Ok(()),
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
        "$move" | "$copy" => &["before", "after", "into", "start", "expect", "base"],
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
        "$delete" => BlockOpKind::Delete { nested: bare.get("nested").and_then(Value::as_bool).unwrap_or(false) },
        "$move" => BlockOpKind::Move { to: destination(name, &bare)? },
        "$copy" => BlockOpKind::Copy { to: destination(name, &bare)? },
        "$wrap" => BlockOpKind::Wrap {
            name: text_of("name", bare.get("name"))?,
            label: bare.get("label").map(|value| text_of("label", Some(value))).transpose()?,
        },
        "$unwrap" => BlockOpKind::Unwrap,
        "$setAttr" => {
            let attributes = mapping("`attributes`", bare.get("attributes").unwrap_or(&Value::Null))?;
            BlockOpKind::SetAttr { attributes: attributes.iter().map(|(name, value)| (name.clone(), value.clone())).collect() }
        }
        _ => BlockOpKind::Toggle { checked: bare.get("checked").and_then(Value::as_bool) },
    };
    let base = match bare.get("base") {
        None => Vec::new(),
        Some(Value::Object(map)) => {
            map.iter().map(|(id, value)| Ok((id.clone(), text_of("base", Some(value))?))).collect::<Result<_, EditError>>()?
        }
        Some(_) => {
            return Err(EditError::syntax(
                "`base` takes a mapping from block ids to the texts that were read",
                "write `base: { 3f2a91bc: \"the text\" }`",
            ));
        }
    };
    Ok(BlockOp { kind, predicate, expect: bare.get("expect").map(Expect::parse).transpose()?, base })
}

fn destination(name: &str, bare: &Map<String, Value>) -> Result<Destination, EditError> {
    let sides = [("before", Side::Before), ("after", Side::After), ("into", Side::End), ("start", Side::Start)];
    let mut given = sides.iter().filter_map(|(word, side)| bare.get(*word).map(|value| (*side, value)));
    match (given.next(), given.next()) {
        (Some((side, value)), None) => Ok(Destination { side, predicate: Predicate::parse(value)? }),
        _ => Err(EditError::syntax(
            format!("`{name}` takes one of `before`, `after`, `into`, `start`"),
            format!(
                "write `{name}: {{ $id: a1b2c3d4, after: {{ $header: Goals }} }}`; `into` adds at the end, `start` at the front"
            ),
        )),
    }
}
