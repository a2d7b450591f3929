//! Reading: titles, outlines, located blocks, grep lines, the XML lens, projections.

use std::fmt::Write as _;

use deckle_doc::Ids;
use deckle_doc::{Block, DocKey, Kind, Tree};
use serde_json::{Map, Value, json};

use crate::blocks::{own_text, section_path, shown_block, shown_section, shown_text, type_name};
use crate::documents::Documents;
use crate::language::Predicate;
use crate::language::operation::{Find, Source};
use crate::{links, select};

/// Returns a document's title: `title` of the front matter, or its first heading.
#[must_use]
pub fn title(tree: &Tree) -> Option<String> {
    if let Some(Value::String(title)) = crate::filter::field_of(tree, "title") {
        return Some(title);
    }
    tree.root().children().find(|block| block.heading_level().is_some()).map(|block| block.plain_text())
}

/// Returns the headings as lines, each with its id, indented by level.
#[must_use]
pub fn outline(tree: &Tree, ids: &Ids) -> String {
    let mut out = String::new();
    for block in tree.blocks() {
        let Some(level) = block.heading_level() else { continue };
        let blocks = block.section().count() - 1;
        let id = ids.id(block.index()).unwrap_or_default();
        let _ = writeln!(
            out,
            "{}{} {} [{id}] ({blocks} block{})",
            "  ".repeat(usize::from(level) - 1),
            "#".repeat(level.into()),
            block.plain_text(),
            if blocks == 1 { "" } else { "s" }
        );
    }
    out
}

/// Returns a block as data: id, type, section path, own text.
#[must_use]
pub fn block_entry(block: &Block<'_>, ids: &Ids) -> Value {
    let mut entry = json!({
        "id": ids.id(block.index()).unwrap_or_default(),
        "type": type_name(block),
        "path": section_path(block),
        "text": shown_text(block),
    });
    if let Some(link) = links::block_links(block).find(|link| link.inclusion) {
        entry["target"] = Value::String(link.text);
    }
    entry
}

/// Returns `key › section path › text` for each line that matches.
#[must_use]
pub fn matching_lines(key: &DocKey, tree: &Tree, ids: &Ids, pattern: &regex::Regex, scope: &Predicate) -> Vec<Value> {
    let mut found = Vec::new();
    for selected in select::select(tree, ids, key, scope) {
        let block = tree.block(selected.block);
        if matches!(block.kind(), Kind::Table { .. }) {
            // Its rows speak for it.
            continue;
        }
        for line in own_text(&block).lines().filter(|line| pattern.is_match(line)) {
            found.push(json!({ "id": ids.id(block.index()).unwrap_or_default(), "path": section_path(&block), "text": line }));
        }
    }
    found
}

/// Returns a find entry's line for a person.
#[must_use]
pub fn entry_line(key: &DocKey, entry: &Value) -> String {
    let path: Vec<&str> = entry["path"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut parts = vec![key.as_str()];
    parts.extend(path);
    let text = entry["text"].as_str().unwrap_or_default().lines().next().unwrap_or_default();
    parts.push(text);
    parts.join(" › ")
}

/// A token of English text is about so many bytes; budgets are stated in tokens and kept in bytes.
pub const TOKEN_BYTES: usize = 4;

/// What of a document a read shows.
pub struct Part<'p> {
    /// Which blocks; all without a clause.
    pub scope: &'p Predicate,
    /// The block to go on from, by its id; what stands before it was read already.
    pub from: Option<&'p str>,
    /// At most so many bytes, cut between blocks; the first block is shown whole.
    pub budget: usize,
    /// The call that reads on from a block, in the words of the surface.
    pub call: &'p dyn Fn(&str) -> String,
}

impl<'p> Part<'p> {
    /// Everything that a predicate selects.
    #[must_use]
    pub fn all(scope: &'p Predicate) -> Self {
        Self { scope, from: None, budget: usize::MAX, call: &|id| format!("block {id}") }
    }
}

/// Returns the document, or a part of it, as XML-like text with ids: what an agent reads to edit by id. Past the budget the rest is counted,
/// with the call that reads it.
#[must_use]
pub fn lens(key: &DocKey, tree: &Tree, ids: &Ids, part: &Part<'_>) -> String {
    let mut out = format!("<document key=\"{key}\">\n");
    let (shown, rest) = within(chosen(key, tree, ids, part), part, |block| {
        let mut text = String::new();
        lens_block(&mut text, block, ids, 1);
        text
    });
    out.push_str(&shown);
    if let Some((next, count)) = rest {
        let call = (part.call)(ids.id(next.index()).unwrap_or_default());
        let _ = writeln!(out, "  <more blocks=\"{count}\" read=\"{}\"/>", escape(&call));
    }
    out.push_str("</document>\n");
    out
}

/// Returns the document, or a part of it, as it is on disk; past the budget a last line counts the rest and names the call that reads it.
#[must_use]
pub fn raw(key: &DocKey, tree: &Tree, ids: &Ids, part: &Part<'_>) -> String {
    let blocks = chosen(key, tree, ids, part);
    let (mut out, rest) = within(blocks, part, |block| block.raw().to_owned());
    if let Some((next, count)) = rest {
        let call = (part.call)(ids.id(next.index()).unwrap_or_default());
        let _ = writeln!(out, "… {count} more block{}; read on: {call}", if count == 1 { "" } else { "s" });
    }
    out
}

/// The blocks that a part is made of, from the one to go on from.
fn chosen<'t>(key: &DocKey, tree: &'t Tree, ids: &Ids, part: &Part<'_>) -> Vec<Block<'t>> {
    let mut blocks: Vec<Block<'t>> = if part.scope.clauses.is_empty() {
        tree.root().children().collect()
    } else {
        let mut until = 0;
        let mut blocks = Vec::new();
        for selected in select::select(tree, ids, key, part.scope) {
            let block = tree.block(selected.block);
            let extent = select::extent(&block, selected.tree);
            if block.span().start < until {
                continue;
            }
            until = extent.end;
            if selected.tree && block.heading_level().is_some() { blocks.extend(block.section()) } else { blocks.push(block) }
        }
        blocks
    };
    if let Some(at) = part.from.and_then(|from| blocks.iter().position(|block| ids.id(block.index()) == Some(from))) {
        blocks.drain(..at);
    }
    blocks
}

/// As many blocks as the budget takes, and the first that is left with the count of those.
fn within<'t>(
    blocks: Vec<Block<'t>>,
    part: &Part<'_>,
    text: impl Fn(&Block<'t>) -> String,
) -> (String, Option<(Block<'t>, usize)>) {
    let mut out = String::new();
    for (at, block) in blocks.iter().enumerate() {
        let text = text(block);
        if at > 0 && out.len().saturating_add(text.len()) > part.budget {
            return (out, Some((*block, blocks.len() - at)));
        }
        out.push_str(&text);
    }
    (out, None)
}

fn lens_block(out: &mut String, block: &Block<'_>, ids: &Ids, depth: usize) {
    let pad = "  ".repeat(depth);
    let id = ids.id(block.index()).unwrap_or_default();
    let name = type_name(block);
    let mut attributes = String::new();
    match block.kind() {
        Kind::Heading { level, .. } => {
            let _ = write!(attributes, " level=\"{level}\"");
        }
        Kind::Item { task: Some(checked) } => {
            let _ = write!(attributes, " checked=\"{checked}\"");
        }
        Kind::Code { info, .. } => {
            let info = info.of(block.tree().source());
            if !info.is_empty() {
                let _ = write!(attributes, " lang=\"{}\"", escape(info));
            }
        }
        _ => {}
    }
    if let Some(kind) = select::name(block) {
        let _ = write!(attributes, " name=\"{}\"", escape(kind));
    }
    let inside: Vec<Block<'_>> = block.children().filter(|child| !crate::blocks::folds_into_item(child)).collect();
    let own = shown_text(block);
    if inside.is_empty() || matches!(block.kind(), Kind::Table { .. }) {
        let text = if own.is_empty() && crate::blocks::own_range(block).is_none() { shown_block(block) } else { own };
        if matches!(block.kind(), Kind::Table { .. }) {
            let _ = writeln!(out, "{pad}<{name} id=\"{id}\"{attributes}>");
            for row in block.children() {
                let _ =
                    writeln!(out, "{pad}  <row id=\"{}\">{}</row>", ids.id(row.index()).unwrap_or_default(), escape(row.text()));
            }
            let _ = writeln!(out, "{pad}</{name}>");
        } else {
            let _ = writeln!(out, "{pad}<{name} id=\"{id}\"{attributes}>{}</{name}>", escape(&text));
        }
        return;
    }
    let _ = write!(out, "{pad}<{name} id=\"{id}\"{attributes}>");
    if !own.is_empty() {
        let _ = write!(out, "{}", escape(&own));
    }
    out.push('\n');
    for child in inside {
        lens_block(out, &child, ids, depth + 1);
    }
    let _ = writeln!(out, "{pad}</{name}>");
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

/// Runs a find without search: the documents that match, in order, each as an object of its projected fields.
#[must_use]
pub fn find(documents: &dyn Documents, find: &Find) -> Vec<Value> {
    let keys = find.filter.select(documents);
    shape(documents, find, keys)
}

/// Sorts, limits and projects documents that were selected.
#[must_use]
pub fn shape(documents: &dyn Documents, find: &Find, mut keys: Vec<DocKey>) -> Vec<Value> {
    if let Some((field, up)) = &find.sort {
        sort_keys(documents, &mut keys, field, *up);
    }
    if find.limit > 0 {
        keys.truncate(find.limit);
    }
    keys.iter().filter_map(|key| entry(documents, find, key)).collect()
}

/// Sorts keys by a field of their documents, then by key.
pub(crate) fn sort_keys(documents: &dyn Documents, keys: &mut Vec<DocKey>, field: &str, up: bool) {
    let value =
        |key: &DocKey| documents.tree(key).and_then(|tree| sort_value(&tree, key, field)).filter(|value| !value.is_null());
    let mut with: Vec<(Option<Value>, DocKey)> = std::mem::take(keys).into_iter().map(|key| (value(&key), key)).collect();
    with.sort_by(|(one, a), (other, b)| {
        // What has no value comes first upwards and last downwards.
        let order = match (one, other) {
            (Some(one), Some(other)) => crate::filter::order(one, other).unwrap_or(std::cmp::Ordering::Equal),
            (one, other) => one.is_some().cmp(&other.is_some()),
        };
        (if up { order } else { order.reverse() }).then_with(|| a.cmp(b))
    });
    *keys = with.into_iter().map(|(_, key)| key).collect();
}

fn sort_value(tree: &Tree, key: &DocKey, field: &str) -> Option<Value> {
    match field {
        "$key" | "key" => Some(Value::String(key.to_string())),
        "$title" | "title" => title(tree).map(Value::String),
        field => crate::filter::field_of(tree, field),
    }
}

fn entry(documents: &dyn Documents, find: &Find, key: &DocKey) -> Option<Value> {
    let tree = documents.tree(key)?;
    let ids = documents.ids(key, &tree);
    let mut fields = Map::new();
    if !find.replace {
        fields.insert("key".into(), json!(key.as_str()));
        fields.insert("title".into(), json!(title(&tree)));
    }
    for (name, source) in &find.projection {
        fields.insert(name.clone(), project(documents, key, &tree, &ids, source));
    }
    Some(Value::Object(fields))
}

fn project(documents: &dyn Documents, key: &DocKey, tree: &Tree, ids: &Ids, source: &Source) -> Value {
    match source {
        Source::Field(path) => crate::filter::field_of(tree, path).unwrap_or(Value::Null),
        Source::Key => json!(key.as_str()),
        Source::Title => json!(title(tree)),
        Source::TitleSlug => json!(title(tree).map(|title| slug(&title))),
        Source::FrontMatter => crate::filter::without_reserved(documents.front(key)),
        Source::Content(predicate) => json!(narrowed(tree, ids, key, predicate)),
        Source::Blocks(predicate) => select::select(tree, ids, key, predicate)
            .into_iter()
            .map(|selected| block_entry(&tree.block(selected.block), ids))
            .collect(),
        Source::Matches(pattern, scope) => Value::Array(matching_lines(key, tree, ids, pattern, scope)),
        Source::Relation(relation) => relation_entries(documents, key, relation),
    }
}

fn relation_entries(documents: &dyn Documents, key: &DocKey, relation: &str) -> Value {
    let outward = matches!(relation, "includes" | "references");
    let inclusion = matches!(relation, "includes" | "includedBy");
    let entry = |(other, span): (DocKey, std::ops::Range<usize>)| {
        let holder = if outward { key } else { &other };
        let path = documents.tree(holder).map(|tree| section_path(&tree.block_at(span.start))).unwrap_or_default();
        json!({ "key": other.as_str(), "title": documents.tree(&other).and_then(|tree| title(&tree)), "sectionPath": path })
    };
    links::related(documents, key, inclusion, outward).into_iter().map(entry).collect()
}

/// The selected blocks' own text, in order, a blank line between; of a block inside others without the marks in front of its lines.
#[must_use]
pub fn narrowed(tree: &Tree, ids: &Ids, key: &DocKey, predicate: &Predicate) -> String {
    if predicate.clauses.is_empty() {
        return crate::gates::body(tree).to_owned();
    }
    let mut out = String::new();
    let mut until = 0;
    for selected in select::select(tree, ids, key, predicate) {
        let block = tree.block(selected.block);
        if block.span().start < until {
            continue;
        }
        let extent = select::extent(&block, selected.tree);
        if selected.tree || block.heading_level().is_none() {
            until = extent.end;
        }
        if !out.is_empty() {
            out.push_str("\n\n");
        }
        let section = selected.tree && block.heading_level().is_some();
        if section && block.parent().is_some_and(|parent| parent.kind() == Kind::Document) {
            out.push_str(self::section(&block));
        } else if section {
            out.push_str(&shown_section(&block));
        } else {
            out.push_str(&shown_block(&block));
        }
    }
    out
}

/// Returns a section's own bytes: its heading and all below it, without the blank lines behind.
#[must_use]
pub fn section<'t>(heading: &Block<'t>) -> &'t str {
    let end = heading.section().last().map_or(heading.content().end, |last| last.content().end);
    heading.tree().source().get(heading.content().start..end).unwrap_or_default()
}

/// A title as a part of a key: lower case, words joined by `-`.
#[must_use]
pub fn slug(title: &str) -> String {
    let mut out = String::new();
    for c in title.to_lowercase().chars() {
        if c.is_alphanumeric() {
            out.push(c);
        } else if !out.ends_with('-') && !out.is_empty() {
            out.push('-');
        }
    }
    out.trim_end_matches('-').to_owned()
}
