//! Schemas: the fields and sections that documents of a folder or a type must have; inferred from documents, enforced on strict surfaces.

mod infer;

use std::fmt::Write as _;

use deckle_doc::{DocKey, Kind, Tree};
use serde_json::Value;

use crate::config::{mapping, only};
use crate::documents::front_value;
use crate::value::{a_type, scalar};
use crate::{EditError, filter};

pub use infer::infer;

/// What documents must be.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema {
    /// Its name.
    pub name: String,
    /// The folder whose documents it is for.
    pub folder: Option<String>,
    /// The `type` in the front matter of the documents that it is for.
    pub of_type: Option<String>,
    /// Whether other fields than these are problems.
    pub closed: bool,
    /// The fields, by their paths.
    pub fields: Vec<(String, Field)>,
    /// Headings that must be there.
    pub sections: Vec<String>,
}

/// What a field must be.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Field {
    /// Its type; nothing is any.
    pub kind: Option<FieldType>,
    /// Of a list the type of its values.
    pub of: Option<FieldType>,
    /// Whether it must be there.
    pub required: bool,
    /// The values that it may have; none is any.
    pub values: Vec<Value>,
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldType {
    /// A text.
    String,
    /// A number.
    Number,
    /// A number without a point.
    Integer,
    /// True or false.
    Boolean,
    /// A text that reads as a date.
    Date,
    /// A list.
    List,
    /// A mapping.
    Mapping,
}

/// Something that a document is not, or has not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub hint: String,
}

impl FieldType {
    const ALL: [(&'static str, Self); 7] = [
        ("string", Self::String),
        ("number", Self::Number),
        ("integer", Self::Integer),
        ("boolean", Self::Boolean),
        ("date", Self::Date),
        ("list", Self::List),
        ("mapping", Self::Mapping),
    ];

    fn parse(field: &str, value: &Value) -> Result<Self, EditError> {
        let found = Self::ALL.iter().find(|(name, _)| Some(*name) == value.as_str()).map(|(_, kind)| *kind);
        found.ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|(name, _)| *name).collect();
            EditError::syntax(format!("the type of `{field}` is {value}"), format!("there are: {}", names.join(" ")))
        })
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }

    /// The narrowest type of a value.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Null => None,
            Value::Bool(_) => Some(Self::Boolean),
            Value::Number(number) if number.is_f64() => Some(Self::Number),
            Value::Number(_) => Some(Self::Integer),
            Value::String(text) if filter::is_date(text) => Some(Self::Date),
            Value::String(_) => Some(Self::String),
            Value::Array(_) => Some(Self::List),
            Value::Object(_) => Some(Self::Mapping),
        }
    }

    /// Whether a value of the narrowest type `actual` is of this one.
    fn takes(self, actual: Option<Self>) -> bool {
        actual == Some(self) || matches!((self, actual), (Self::String, Some(Self::Date)) | (Self::Number, Some(Self::Integer)))
    }

    fn example(self) -> &'static str {
        match self {
            Self::String => "write a text",
            Self::Number => "write a number: `1.5`",
            Self::Integer => "write a number without a point: `3`",
            Self::Boolean => "write `true` or `false`",
            Self::Date => "write the date as `2026-03-16`",
            Self::List => "write a list: `[a, b]`",
            Self::Mapping => "write a mapping: `{ name: value }`",
        }
    }
}

impl Schema {
    pub(crate) fn parse(name: &str, value: &Value) -> Result<Self, EditError> {
        let what = format!("the schema `{name}`");
        let map = mapping(&what, value)?;
        only(map, &what, &["folder", "type", "closed", "sections", "fields"])?;
        let text = |key: &str| -> Result<Option<String>, EditError> {
            map.get(key)
                .map(|value| {
                    value.as_str().map(str::to_owned).ok_or_else(|| {
                        EditError::syntax(format!("`{key}` of {what} is {}", a_type(value)), format!("write `{key} = \"…\"`"))
                    })
                })
                .transpose()
        };
        let mut schema = Self { name: name.to_owned(), folder: text("folder")?, of_type: text("type")?, ..Self::default() };
        if schema.folder.is_none() && schema.of_type.is_none() {
            return Err(EditError::syntax(
                format!("{what} is bound to nothing"),
                "bind it with `folder = \"people\"` or `type = \"person\"`",
            ));
        }
        schema.folder = schema.folder.map(|folder| folder.trim_matches('/').to_owned());
        schema.closed = flag(&what, "closed", map.get("closed"))?;
        for section in map.get("sections").and_then(Value::as_array).into_iter().flatten() {
            schema.sections.push(scalar(section).unwrap_or_default());
        }
        if let Some(fields) = map.get("fields") {
            for (field, value) in mapping("`fields`", fields)? {
                schema.fields.push((field.clone(), Field::parse(field, value)?));
            }
        }
        Ok(schema)
    }

    /// Returns whether it is for a document.
    #[must_use]
    pub fn is_for(&self, key: &DocKey, tree: &Tree) -> bool {
        let in_folder = self.folder.as_ref().is_none_or(|folder| {
            folder.is_empty() || key.as_str().strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/'))
        });
        let of_type =
            self.of_type.as_ref().is_none_or(|wanted| front_value(tree).get("type").and_then(Value::as_str) == Some(wanted));
        in_folder && of_type
    }

    /// Returns what a document is not, or has not.
    #[must_use]
    pub fn problems(&self, tree: &Tree) -> Vec<Problem> {
        let mut found = Vec::new();
        if let Err(error) = deckle_doc::front::read(tree) {
            let diag = deckle_doc::Diag::from(&error);
            let hint = diag.hints.first().map(ToString::to_string).unwrap_or_default();
            return vec![Problem { what: diag.message, hint }];
        }
        let front = front_value(tree);
        for (path, field) in &self.fields {
            let parts: Vec<String> = path.split('.').map(str::to_owned).collect();
            match filter::look_up(&front, &parts).filter(|value| !value.is_null()) {
                None if field.required => {
                    let example = field.values.first().and_then(scalar).unwrap_or_else(|| "…".into());
                    found.push(Problem {
                        what: format!("the field `{path}` is missing"),
                        hint: format!("set it: `$set: {{ {path}: {example} }}`{}", field.choice()),
                    });
                }
                None => {}
                Some(value) => field.check(path, value, &mut found),
            }
        }
        if self.closed {
            for name in front.as_object().into_iter().flat_map(serde_json::Map::keys) {
                let known = self.fields.iter().any(|(path, _)| path.split('.').next() == Some(name))
                    || self.of_type.is_some() && name == "type";
                if !known {
                    let names: Vec<&str> = self.fields.iter().map(|(path, _)| path.as_str()).collect();
                    found.push(Problem {
                        what: format!("`{name}` is no field of the schema `{}`", self.name),
                        hint: format!("there are: {}", names.join(" ")),
                    });
                }
            }
        }
        for section in &self.sections {
            let there = tree
                .blocks()
                .any(|block| matches!(block.kind(), Kind::Heading { .. }) && block.plain_text().eq_ignore_ascii_case(section));
            if !there {
                found.push(Problem {
                    what: format!("the section `{section}` is missing"),
                    hint: format!("keep or add the heading `{section}`"),
                });
            }
        }
        found
    }

    /// Returns the schema as it stands in `deckle.toml`.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
        let bare = |name: &str| {
            let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
            if plain { name.to_owned() } else { quoted(name) }
        };
        let mut out = format!("[schemas.{}]\n", bare(&self.name));
        for (key, value) in [("folder", &self.folder), ("type", &self.of_type)] {
            if let Some(value) = value {
                let _ = writeln!(out, "{key} = {}", quoted(value));
            }
        }
        if self.closed {
            out.push_str("closed = true\n");
        }
        if !self.sections.is_empty() {
            let sections: Vec<String> = self.sections.iter().map(|section| quoted(section)).collect();
            let _ = writeln!(out, "sections = [{}]", sections.join(", "));
        }
        if !self.fields.is_empty() {
            let _ = writeln!(out, "\n[schemas.{}.fields]", bare(&self.name));
        }
        for (path, field) in &self.fields {
            let mut parts = Vec::new();
            if let Some(kind) = field.kind {
                parts.push(format!("type = \"{}\"", kind.name()));
            }
            if let Some(of) = field.of {
                parts.push(format!("of = \"{}\"", of.name()));
            }
            if field.required {
                parts.push("required = true".into());
            }
            if !field.values.is_empty() {
                let values: Vec<String> =
                    field.values.iter().map(|value| value.as_str().map_or_else(|| value.to_string(), quoted)).collect();
                parts.push(format!("enum = [{}]", values.join(", ")));
            }
            let _ = writeln!(out, "{} = {{ {} }}", bare(path), parts.join(", "));
        }
        out
    }
}

impl Field {
    fn parse(name: &str, value: &Value) -> Result<Self, EditError> {
        let what = format!("the field `{name}`");
        let map = mapping(&what, value)?;
        only(map, &what, &["type", "of", "required", "enum"])?;
        let kind = |key: &str| map.get(key).map(|value| FieldType::parse(name, value)).transpose();
        let values = match map.get("enum") {
            None => Vec::new(),
            Some(Value::Array(values)) if !values.is_empty() => values.clone(),
            Some(_) => {
                return Err(EditError::syntax(format!("`enum` of {what} is no list of values"), "write `enum = [\"a\", \"b\"]`"));
            }
        };
        Ok(Self { kind: kind("type")?, of: kind("of")?, required: flag(&what, "required", map.get("required"))?, values })
    }

    fn choice(&self) -> String {
        if self.values.is_empty() {
            return String::new();
        }
        let values: Vec<String> = self.values.iter().map(|value| scalar(value).unwrap_or_else(|| value.to_string())).collect();
        format!("; it is one of: {}", values.join(" "))
    }

    fn check(&self, path: &str, value: &Value, found: &mut Vec<Problem>) {
        let shown = scalar(value).unwrap_or_else(|| value.to_string());
        if let Some(kind) = self.kind.filter(|kind| !kind.takes(FieldType::of(value))) {
            found.push(Problem {
                what: format!("`{path}` is `{shown}`, which is no {}", kind.name()),
                hint: kind.example().to_owned(),
            });
            return;
        }
        let each: Vec<&Value> = match value {
            Value::Array(all) => all.iter().collect(),
            one => vec![one],
        };
        if let Some(of) = self.of
            && let Some(bad) = each.iter().find(|value| !of.takes(FieldType::of(value)))
        {
            found.push(Problem {
                what: format!("`{path}` holds {bad}, which is no {}", of.name()),
                hint: of.example().to_owned(),
            });
        }
        if !self.values.is_empty()
            && let Some(bad) = each.iter().find(|value| !self.values.contains(value))
        {
            found.push(Problem {
                what: format!("`{path}` is `{}`, which is none of its values", scalar(bad).unwrap_or_else(|| bad.to_string())),
                hint: self.choice().trim_start_matches("; ").to_owned(),
            });
        }
    }
}

fn flag(what: &str, name: &str, value: Option<&Value>) -> Result<bool, EditError> {
    match value {
        None => Ok(false),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(other) => {
            Err(EditError::syntax(format!("`{name}` of {what} is {}", a_type(other)), format!("write `{name} = true`")))
        }
    }
}
