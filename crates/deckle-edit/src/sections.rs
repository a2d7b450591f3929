//! Section tools: the same engine under the names that agents know.

use deckle_doc::Ids;
use deckle_doc::{Block, DocKey, Kind, Tree};
use serde_json::{Value, json};

use crate::blocks::{enclosing_headings, place};
use crate::fit::Payload;
use crate::{EditError, Operation};

/// What to do with a section.
#[derive(Clone, Debug)]
pub enum SectionEdit {
    /// Replace what is below the heading, down to the next heading of its level.
    Update {
        /// The new content, with or without the heading itself.
        content: String,
    },
    /// Add a section or blocks behind it.
    Insert {
        /// The new content.
        content: String,
    },
    /// Add at its end.
    Append {
        /// The new content.
        content: String,
    },
    /// Remove it with its heading.
    Delete,
    /// Move it behind another section, or in front of it.
    Move {
        /// The other section.
        to: String,
        /// Whether in front.
        before: bool,
    },
}

/// Finds the one section that a name means: a heading's text, a path `Parent › Child` (also with `/` or `>`), or a heading's id.
///
/// # Errors
/// When there is none, or more than one; the error lists the candidates.
pub fn find<'t>(key: &DocKey, tree: &'t Tree, ids: &Ids, name: &str) -> Result<Block<'t>, EditError> {
    let headings: Vec<Block<'t>> = tree.blocks().filter(|block| block.heading_level().is_some()).collect();
    if let Some(block) = ids.find(name).map(|index| tree.block(index)).filter(|block| block.heading_level().is_some()) {
        return Ok(block);
    }
    let exact: Vec<Block<'t>> = headings.iter().filter(|block| is_named(block, name)).copied().collect();
    let found = if exact.is_empty() {
        let parts: Vec<&str> = name.split(['›', '>']).map(str::trim).filter(|part| !part.is_empty()).collect();
        let parts = if parts.len() > 1 { parts } else { name.split(" / ").map(str::trim).collect() };
        if parts.len() > 1 { headings.iter().filter(|block| is_path(block, &parts)).copied().collect() } else { exact }
    } else {
        exact
    };
    let named = |blocks: &[Block<'t>]| {
        blocks
            .iter()
            .map(|block| {
                let id = ids.id(block.index()).unwrap_or_default();
                crate::Place(format!("{} ($id: {id})", place(key, block).0))
            })
            .collect()
    };
    match found.as_slice() {
        [one] => Ok(*one),
        [] => {
            Err(EditError::Section { message: format!("there is no section `{name}` in `{key}`"), candidates: named(&headings) })
        }
        many => Err(EditError::Section {
            message: format!("`{name}` names {} sections of `{key}`", many.len()),
            candidates: named(many),
        }),
    }
}

fn is_named(block: &Block<'_>, name: &str) -> bool {
    let name = name.trim_start_matches('#').trim();
    crate::own_text(block) == name || block.plain_text().eq_ignore_ascii_case(name)
}

fn is_path(block: &Block<'_>, parts: &[&str]) -> bool {
    let Some((last, above)) = parts.split_last() else { return false };
    if !is_named(block, last) {
        return false;
    }
    let enclosing = enclosing_headings(block);
    let mut at = enclosing.iter();
    above.iter().rev().all(|part| at.any(|heading| is_named(heading, part)))
}

/// Turns a section edit into an operation on one document.
///
/// # Errors
/// When the section is not there or ambiguous, or the content holds a sibling of the section that would be duplicated.
pub fn operation(key: &DocKey, tree: &Tree, ids: &Ids, section: &str, edit: &SectionEdit) -> Result<Operation, EditError> {
    let heading = find(key, tree, ids, section)?;
    let id = ids.id(heading.index()).unwrap_or_default();
    let level = heading.heading_level().unwrap_or(1);
    let select = json!({ "$section": { "$id": id } });
    let update = match edit {
        SectionEdit::Delete => json!({ "$delete": merge(&select, &json!({ "expect": 1 })) }),
        SectionEdit::Append { content } => {
            let content = without_heading(&heading, content, tree, level)?;
            json!({ "$append": { "$header": { "$id": id }, "content": content, "expect": 1 } })
        }
        SectionEdit::Insert { content } => json!({ "$insertAfter": merge(&select, &json!({ "content": content, "expect": 1 })) }),
        SectionEdit::Move { to, before } => {
            let goal = find(key, tree, ids, to)?;
            let goal = json!({ "$section": { "$id": ids.id(goal.index()).unwrap_or_default() } });
            let side = if *before { "before" } else { "after" };
            json!({ "$move": merge(&select, &json!({ side: goal, "expect": 1 })) })
        }
        SectionEdit::Update { content } => {
            let body = without_heading(&heading, content, tree, level)?;
            let source = tree.source();
            let start = heading.content().start;
            let title = source.get(start..heading.content().end).unwrap_or_default();
            let content = if body.trim().is_empty() { title.to_owned() } else { format!("{title}\n\n{body}") };
            json!({ "$replace": merge(&select, &json!({ "content": content, "expect": 1 })) })
        }
    };
    Operation::parse(&json!({ "filter": { "$key": key.as_str() }, "expect": 1, "update": update }))
}

fn merge(one: &Value, other: &Value) -> Value {
    let mut merged = one.clone();
    if let (Some(into), Some(from)) = (merged.as_object_mut(), other.as_object()) {
        into.extend(from.clone());
    }
    merged
}

/// The content without the section's own heading at its front; one with siblings of the section is refused.
fn without_heading(heading: &Block<'_>, content: &str, tree: &Tree, level: u8) -> Result<String, EditError> {
    if content.trim().is_empty() {
        return Ok(String::new());
    }
    let payload = Payload::parse(content, tree.dialect())?;
    let mut text = payload.text.clone();
    let mut own = None;
    if let Some(first) = payload.blocks().next()
        && first.heading_level().is_some()
        && first.plain_text().eq_ignore_ascii_case(&heading.plain_text())
    {
        own = Some(first.index());
        text = text.get(first.content().end - 1..).unwrap_or_default().trim_start_matches(['\n']).to_owned();
    }
    let sibling =
        payload.blocks().find(|block| Some(block.index()) != own && block.heading_level().is_some_and(|other| other <= level));
    if let Some(sibling) = sibling {
        return Err(EditError::Payload {
            why: format!(
                "`{}` is a heading beside or above the section, so it would stand twice or end it",
                sibling.text().lines().next().unwrap_or_default()
            ),
            hint: format!(
                "send only what belongs below `{}`, with headings of level {} or deeper",
                heading.text(),
                (level + 1).min(6)
            ),
        });
    }
    if matches!(payload.blocks().next().map(|block| block.kind()), Some(Kind::FrontMatter { .. })) {
        return Err(EditError::Payload { why: "it starts with front matter".into(), hint: "set keys with `$set`".into() });
    }
    Ok(text)
}
