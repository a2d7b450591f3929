//! The block types: one table, from which the validator, the writer, the JSON schemas and `docs/blocks.md` are derived.
//!
//! Twenty-two types can be generated. Seven containers hold free content, each with a set of rules; five wrappers hold only their own part. The
//! rules are data: [`Rules::default`] is the shipped set, [`Rules::from_toml`] a workspace's own.

mod table;
mod validate;
mod write;

use std::collections::BTreeMap;

use crate::inline::InlineKind;
use crate::{Block, Kind};

pub use table::{BlockType, Field, TABLE, docs, schema};
pub use validate::{Violation, check_nesting, validate};
pub use write::{WriteError, write};

/// What may stand in each container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    allowed: BTreeMap<String, Vec<String>>,
}

impl Default for Rules {
    fn default() -> Self {
        let allowed = TABLE
            .iter()
            .filter(|one| !one.holds.is_empty())
            .map(|one| (one.name.to_owned(), one.holds.iter().map(|name| (*name).to_owned()).collect()))
            .collect();
        Self { allowed }
    }
}

/// Why a workspace's rules cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RulesError {
    /// The text is not TOML of the form.
    #[error("the rules do not parse: {0}")]
    Toml(String),
    /// A name is no block type.
    #[error("`{0}` is no block type")]
    Unknown(String),
}

impl Rules {
    /// Reads a workspace's rules: `[containers]` with a list of allowed types for each container. What is not named keeps the shipped rule.
    ///
    /// # Errors
    /// When the text is not of this form, or a name is unknown.
    pub fn from_toml(text: &str) -> Result<Self, RulesError> {
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct File {
            #[serde(default)]
            containers: BTreeMap<String, Vec<String>>,
        }
        let file: File = toml::from_str(text).map_err(|error| RulesError::Toml(error.message().to_owned()))?;
        let mut rules = Self::default();
        for (container, allowed) in file.containers {
            let unknown = std::iter::once(&container).chain(&allowed).find(|name| !TABLE.iter().any(|one| one.name == **name));
            if let Some(name) = unknown {
                return Err(RulesError::Unknown(name.clone()));
            }
            rules.allowed.insert(container, allowed);
        }
        Ok(rules)
    }

    /// Returns what may stand in a container; nothing when the type holds no blocks or is unknown.
    #[must_use]
    pub fn allowed(&self, container: &str) -> Option<&[String]> {
        self.allowed.get(container).map(Vec::as_slice)
    }
}

/// Returns the type of a block, whatever dialect it is written in; nothing for what is no block type: HTML, definitions, items, rows.
#[must_use]
pub fn type_of(block: &Block<'_>) -> Option<&'static str> {
    let source = block.tree().source();
    Some(match block.kind() {
        Kind::Heading { .. } => "heading",
        Kind::Paragraph if is_image(block) => "image",
        Kind::Paragraph if is_math(block) => "math",
        Kind::Paragraph => "paragraph",
        Kind::Math => "math",
        Kind::Quote if block.callout().is_some() => "callout",
        Kind::Quote => "quote",
        Kind::List { ordered: Some(_), .. } => "ordered_list",
        Kind::List { .. } if block.children().any(|item| matches!(item.kind(), Kind::Item { task: Some(_) })) => "task_list",
        Kind::List { .. } => "bullet_list",
        Kind::Code { info, .. } if matches!(info.of(source).split(' ').next(), Some("mermaid" | "plantuml" | "dot")) => "diagram",
        Kind::Code { .. } => "code",
        Kind::Table { .. } => "table",
        Kind::Break => "divider",
        Kind::Container(directive) | Kind::Leaf(directive) => named(directive.name.of(source))?,
        Kind::Admonition { name, .. } => named(name.of(source)).unwrap_or("callout"),
        _ => return None,
    })
}

/// The block type that a directive's name means.
#[must_use]
pub fn named(name: &str) -> Option<&'static str> {
    TABLE.iter().find(|one| one.names.contains(&name)).map(|one| one.name)
}

fn is_image(block: &Block<'_>) -> bool {
    block.text().starts_with("![") && !block.text().starts_with("![[") && {
        let inlines = block.inlines();
        inlines.first().is_some_and(|first| {
            matches!(first.kind, InlineKind::Image(_))
                && first.span == block.content()
                && inlines.len() == first.descendants as usize + 1
        })
    }
}

fn is_math(block: &Block<'_>) -> bool {
    let text = block.text();
    text.len() > 4 && text.starts_with("$$") && text.ends_with("$$")
}

#[cfg(test)]
mod tests;
