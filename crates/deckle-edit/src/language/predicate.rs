//! Block predicates.

use regex::Regex;
use serde_json::{Map, Value};

use crate::EditError;
use crate::value::{a_type, scalar};

/// A conjunction of clauses; without any it matches every block.
#[derive(Clone, Debug, Default)]
pub struct Predicate {
    /// Every one must hold.
    pub clauses: Vec<Clause>,
}

/// A test of a block's own text.
#[derive(Clone, Debug)]
pub enum TextTest {
    /// Contains the text, whatever its case.
    Contains(String),
    /// Is the text, whatever its case.
    Is(String),
}

/// One clause of a predicate.
#[derive(Clone, Debug)]
pub enum Clause {
    /// `$text`
    Text(TextTest),
    /// `$matches`
    Matches(Regex),
    /// `$header`, `$paragraph`, `$callout`, …: one type of block, and what must hold of it.
    Type(&'static str, Predicate),
    /// `$section`: a heading and all below it.
    Section(Predicate),
    /// `$quote`, `$list` and the containers: the block and all inside.
    Tree(&'static str, Predicate),
    /// `$within`: inside what the predicate selects.
    Within(Predicate),
    /// `$contains`: has a block inside for which it holds.
    Contains(Predicate),
    /// `$references`: links to a document.
    References(String),
    /// `$id`: one of these ids.
    Id(Vec<String>),
    /// `$checked`: a task item with this state.
    Checked(bool),
    /// `$attr`: a directive with these attributes.
    Attr(Vec<(String, String)>),
    /// `$name`: a directive or callout of this name.
    Name(String),
    /// `$lang`: a code block in this language.
    Lang(String),
    /// `$level`: a heading of this level.
    Level(u64),
    /// `$col`: a cell in the column with this head, or of this number from 1.
    Column(String),
    /// `$and`
    And(Vec<Predicate>),
    /// `$or`
    Or(Vec<Predicate>),
    /// `$nor`
    Nor(Vec<Predicate>),
}

/// Types that select the block alone.
const NODES: [&str; 17] = [
    "header",
    "paragraph",
    "item",
    "code",
    "table",
    "row",
    "cell",
    "ref",
    "hr",
    "html",
    "image",
    "math",
    "footnote",
    "definition",
    "embed",
    "file",
    "diagram",
];
/// Types that select the block with everything inside.
const TREES: [&str; 14] = [
    "quote",
    "list",
    "callout",
    "tabs",
    "tab",
    "columns",
    "column",
    "accordion",
    "steps",
    "step",
    "cards",
    "card",
    "code_group",
    "api",
];
/// Types that select the block alone and yet hold others.
const HOLDERS: [&str; 5] = ["document", "item", "table", "row", "footnote"];
/// Types whose blocks have no text of their own, so that a bare text cannot mean any.
const TEXTLESS: [&str; 14] = [
    "quote",
    "list",
    "hr",
    "footnote",
    "document",
    "tabs",
    "columns",
    "column",
    "steps",
    "cards",
    "code_group",
    "embed",
    "file",
    "image",
];

/// Every operator of a predicate, for errors.
pub(crate) fn operators() -> String {
    let mut names: Vec<String> = NODES.iter().chain(&TREES).map(|name| format!("${name}")).collect();
    names.extend(
        [
            "text",
            "matches",
            "section",
            "within",
            "contains",
            "references",
            "id",
            "checked",
            "attr",
            "name",
            "lang",
            "level",
            "col",
            "directive",
            "document",
            "and",
            "or",
            "nor",
        ]
        .map(|name| format!("${name}")),
    );
    names.sort();
    names.join(" ")
}

impl Predicate {
    /// Reads a predicate.
    ///
    /// # Errors
    /// When an operator is unknown, or its argument is not of its form.
    pub fn parse(value: &Value) -> Result<Self, EditError> {
        let Value::Object(map) = value else {
            return Err(EditError::syntax(
                format!("a predicate is a mapping, not {}", a_type(value)),
                "write it as `{ $header: Goals }` or `{ $text: \"words\" }`",
            ));
        };
        Self::of_map(map, false).map(|(predicate, _)| predicate)
    }

    /// Reads the `$`-keys of a mapping. With `bare`, the other keys are handed back; without it they are errors.
    pub(crate) fn of_map(map: &Map<String, Value>, bare: bool) -> Result<(Self, Map<String, Value>), EditError> {
        let mut clauses = Vec::new();
        let mut rest = Map::new();
        for (key, value) in map {
            match key.strip_prefix('$') {
                Some(name) => clauses.push(Clause::parse(name, value)?),
                None if bare => {
                    rest.insert(key.clone(), value.clone());
                }
                None => {
                    return Err(EditError::syntax(
                        format!("`{key}` is no operator of a predicate"),
                        format!("`$`-keys select: {}", operators()),
                    ));
                }
            }
        }
        Ok((Self { clauses }, rest))
    }

    /// Whether it names blocks that hold others, so that something can be within them.
    #[must_use]
    pub fn selects_content(&self) -> bool {
        self.clauses.iter().any(|clause| match clause {
            Clause::Section(_) | Clause::Tree(..) | Clause::Id(_) => true,
            Clause::Type(name, _) => HOLDERS.contains(name),
            Clause::And(all) => all.iter().any(Self::selects_content),
            Clause::Or(all) => all.iter().all(Self::selects_content),
            _ => false,
        })
    }

    /// Collects the words that it looks for, in lower case.
    pub(crate) fn words(&self, found: &mut Vec<String>) {
        for clause in &self.clauses {
            match clause {
                Clause::Text(TextTest::Contains(text) | TextTest::Is(text)) => {
                    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() > 2);
                    found.extend(words.map(str::to_lowercase));
                }
                Clause::Type(_, inner) | Clause::Tree(_, inner) => inner.words(found),
                Clause::And(all) | Clause::Or(all) => all.iter().for_each(|one| one.words(found)),
                _ => {}
            }
        }
    }

    /// Whether it names blocks by their words, so that a text that is not there may be an old reading.
    #[must_use]
    pub fn looks_at_text(&self) -> bool {
        self.clauses.iter().any(|clause| match clause {
            Clause::Text(_) | Clause::Matches(_) => true,
            Clause::Type(_, inner) | Clause::Section(inner) | Clause::Tree(_, inner) | Clause::Within(inner) => {
                inner.looks_at_text()
            }
            Clause::And(all) | Clause::Or(all) => all.iter().any(Self::looks_at_text),
            _ => false,
        })
    }
}

impl Clause {
    fn parse(name: &str, value: &Value) -> Result<Self, EditError> {
        if let Some(known) = NODES.iter().find(|known| **known == name) {
            return Ok(Self::Type(known, typed(name, value)?));
        }
        if let Some(known) = TREES.iter().find(|known| **known == name) {
            return Ok(Self::Tree(known, typed(name, value)?));
        }
        Ok(match name {
            "text" => Self::Text(match value {
                Value::Object(map) if map.len() == 1 && map.contains_key("$eq") => TextTest::Is(text(name, &map["$eq"])?),
                other => TextTest::Contains(text(name, other)?),
            }),
            "matches" => Self::Matches(regex(&text(name, value)?)?),
            "section" => Self::Section(typed(name, value)?),
            "directive" => Self::Tree("directive", typed_named(value)?),
            "document" => Self::Type("document", typed(name, value)?),
            "within" => Self::Within(within(value)?),
            "contains" => Self::Contains(Predicate::parse(value)?),
            "references" => Self::References(text(name, value)?),
            "id" => Self::Id(match value {
                Value::Array(all) if all.is_empty() => return Err(wrong(name, "at least one id", value)),
                Value::Array(all) => all.iter().map(|one| text(name, one)).collect::<Result<_, _>>()?,
                other => vec![text(name, other)?],
            }),
            "checked" => Self::Checked(value.as_bool().ok_or_else(|| wrong(name, "true or false", value))?),
            "attr" => Self::Attr(match value {
                Value::Object(map) => {
                    map.iter().map(|(key, value)| Ok((key.clone(), text(name, value)?))).collect::<Result<_, EditError>>()?
                }
                other => return Err(wrong(name, "a mapping of names to values", other)),
            }),
            "name" => Self::Name(text(name, value)?),
            "lang" => Self::Lang(text(name, value)?),
            "level" => {
                Self::Level(value.as_u64().filter(|level| (1..=6).contains(level)).ok_or_else(|| wrong(name, "1 to 6", value))?)
            }
            "col" => Self::Column(text(name, value)?),
            "and" => Self::And(list(name, value)?),
            "or" => Self::Or(list(name, value)?),
            "nor" => Self::Nor(list(name, value)?),
            _ => {
                return Err(EditError::syntax(
                    format!("`${name}` is no operator of a predicate"),
                    format!("there are: {}", operators()),
                ));
            }
        })
    }
}

fn wrong(name: &str, want: &str, value: &Value) -> EditError {
    let quotes = if value.is_f64() { ", in quotes" } else { "" };
    EditError::syntax(format!("`${name}` takes {want}, not {}", a_type(value)), format!("write `${name}: …` with {want}{quotes}"))
}

fn text(name: &str, value: &Value) -> Result<String, EditError> {
    scalar(value).ok_or_else(|| wrong(name, "a text", value))
}

/// The longest pattern's compiled size, in bytes; past it the pattern is refused, so that no pattern can use up memory.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// Compiles a pattern within bounds.
pub(crate) fn regex(pattern: &str) -> Result<Regex, EditError> {
    regex::RegexBuilder::new(pattern).multi_line(true).size_limit(MAX_PATTERN_BYTES).build().map_err(|error| {
        let message = error.to_string();
        let message = message.lines().last().unwrap_or_default();
        EditError::syntax(
            format!("`{pattern}` is not a pattern: {}", message.strip_prefix("error: ").unwrap_or(message)),
            "patterns are Rust regular expressions: no backreferences, no look-around",
        )
    })
}

fn list(name: &str, value: &Value) -> Result<Vec<Predicate>, EditError> {
    let Value::Array(all) = value else { return Err(wrong(name, "a list of predicates", value)) };
    if all.is_empty() {
        return Err(EditError::syntax(format!("`${name}` is empty"), format!("write `${name}: [{{…}}, {{…}}]`")));
    }
    all.iter().map(Predicate::parse).collect()
}

/// The argument of a type operator: a predicate, or a text that is the whole own text.
fn typed(name: &str, value: &Value) -> Result<Predicate, EditError> {
    match value {
        Value::Object(_) => {
            let predicate = Predicate::parse(value)?;
            let tests_text = predicate.clauses.iter().any(|clause| matches!(clause, Clause::Text(_) | Clause::Matches(_)));
            if tests_text && ["quote", "list", "hr"].contains(&name) {
                return Err(EditError::syntax(
                    format!("`${name}` has no text of its own"),
                    format!("select by what is inside: `${name}: {{ $contains: {{ $text: … }} }}`"),
                ));
            }
            Ok(predicate)
        }
        Value::Null => Ok(Predicate::default()),
        other => {
            let exact = text(name, other)?;
            if name == "ref" {
                return Err(EditError::syntax(
                    format!("`$ref` selects by what it points to, not by the words `{exact}`"),
                    format!("write `$ref: {{ $references: {exact} }}`"),
                ));
            }
            if TEXTLESS.contains(&name) {
                return Err(EditError::syntax(
                    format!("`${name}` has no text of its own, so `${name}: {exact}` selects nothing"),
                    format!("write `${name}: {{}}`, or scope it with `$contains` or `$within`"),
                ));
            }
            Ok(Predicate { clauses: vec![Clause::Text(TextTest::Is(exact))] })
        }
    }
}

/// The argument of `$directive`: a predicate, or the directive's name.
fn typed_named(value: &Value) -> Result<Predicate, EditError> {
    match value {
        Value::Object(_) | Value::Null => typed("directive", value),
        other => Ok(Predicate { clauses: vec![Clause::Name(text("directive", other)?)] }),
    }
}

fn within(value: &Value) -> Result<Predicate, EditError> {
    match value {
        Value::Object(map) if map.is_empty() => Ok(Predicate::default()),
        Value::Object(_) => {
            let predicate = Predicate::parse(value)?;
            if !predicate.selects_content() {
                return Err(EditError::syntax(
                    "`$within` takes something that holds blocks",
                    "name a section or a container: `$within: Goals`, `$within: { $quote: {} }`, `$within: { $callout: {} }`",
                ));
            }
            Ok(predicate)
        }
        other => {
            let section = Predicate { clauses: vec![Clause::Text(TextTest::Is(text("within", other)?))] };
            Ok(Predicate { clauses: vec![Clause::Section(section)] })
        }
    }
}
