//! The configuration of a workspace, `deckle.toml`: key templates and schemas.

use std::collections::BTreeMap;

use deckle_doc::Dialect;
use serde_json::{Map, Value};

use crate::EditError;
use crate::schema::Schema;
use crate::value::a_type;

/// What a workspace says about itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// The dialect, where it is not to be detected.
    pub dialect: Option<Dialect>,
    /// Templates of keys by name: `person` is `people/{{slug}}`.
    pub keys: BTreeMap<String, String>,
    /// What documents must be.
    pub schemas: Vec<Schema>,
}

impl Config {
    /// Reads `deckle.toml`.
    ///
    /// # Errors
    /// When it is not TOML, or says something that is not known; the error names it and what is.
    ///
    /// ```
    /// use deckle_edit::Config;
    /// let config = Config::parse("[keys]\nperson = \"people/{{slug}}\"\n[schemas.person]\nfolder = \"people\"\n")?;
    /// assert_eq!(config.schemas.len(), 1);
    /// # Ok::<(), deckle_edit::EditError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, EditError> {
        let table: toml::Table = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| text.get(..span.start).unwrap_or_default().matches('\n').count() + 1);
            EditError::syntax(format!("`deckle.toml`, line {line}: {}", error.message()), "write it as TOML: `name = \"value\"`")
        })?;
        let value = serde_json::to_value(table).unwrap_or(Value::Null);
        let map = mapping("`deckle.toml`", &value)?;
        only(map, "`deckle.toml`", &["dialect", "keys", "schemas"])?;
        let mut config = Self::default();
        if let Some(name) = map.get("dialect") {
            let dialect = name.as_str().and_then(Dialect::named).ok_or_else(|| {
                EditError::syntax(format!("{name} is no dialect"), "there are: generic vitepress docusaurus mkdocs obsidian myst")
            })?;
            config.dialect = Some(dialect);
        }
        if let Some(keys) = map.get("keys") {
            for (name, template) in mapping("`keys`", keys)? {
                let template = template.as_str().ok_or_else(|| {
                    EditError::syntax(
                        format!("the key template `{name}` is {}", a_type(template)),
                        "write `person = \"people/{{slug}}\"`",
                    )
                })?;
                config.keys.insert(name.clone(), template.to_owned());
            }
        }
        if let Some(schemas) = map.get("schemas") {
            for (name, schema) in mapping("`schemas`", schemas)? {
                config.schemas.push(Schema::parse(name, schema)?);
            }
        }
        Ok(config)
    }
}

pub(crate) fn mapping<'v>(what: &str, value: &'v Value) -> Result<&'v Map<String, Value>, EditError> {
    value
        .as_object()
        .ok_or_else(|| EditError::syntax(format!("{what} is a table, not {}", a_type(value)), "write it as a table: `[name]`"))
}

pub(crate) fn only(map: &Map<String, Value>, what: &str, allowed: &[&str]) -> Result<(), EditError> {
    match map.keys().find(|key| !allowed.contains(&key.as_str())) {
        Some(key) => Err(EditError::syntax(format!("{what} does not take `{key}`"), format!("it takes: {}", allowed.join(" ")))),
        None => Ok(()),
    }
}
