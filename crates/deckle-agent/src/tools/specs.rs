//! What each tool is, written for a model: what it does, what it destroys, and which tool is safer.

use serde_json::{Value, json};

/// A tool.
#[derive(Debug)]
pub struct ToolSpec {
    /// Its name.
    pub name: &'static str,
    /// A title for people.
    pub title: &'static str,
    /// What it does.
    pub description: &'static str,
    /// The JSON schema of its arguments.
    pub schema: fn() -> Value,
    /// Whether it writes nothing.
    pub read_only: bool,
    /// Whether it can remove what was there.
    pub destructive: bool,
    /// Whether calling it twice is calling it once.
    pub idempotent: bool,
}

fn object(required: &[&str], properties: Value) -> Value {
    json!({ "type": "object", "required": required, "additionalProperties": false, "properties": properties })
}

fn key() -> Value {
    json!({ "type": "string", "description": "the key of a document, such as guides/quick-start" })
}

/// Every tool, in the order in which models and documents list them.
pub static SPECS: &[ToolSpec] = &[
    ToolSpec {
        name: "list_documents",
        title: "List documents",
        description: "Lists the documents of the workspace: key, title, number of words. Reads only. `folder` narrows it to keys below a folder; long lists are cut and name the call for the rest.",
        schema: || {
            object(
                &[],
                json!({
                    "folder": { "type": "string", "description": "only keys below this folder" },
                    "filter": { "type": "object", "description": "a filter of the edit language, such as { \"status\": \"draft\" }" },
                    "offset": { "type": "integer", "description": "skip so many" }
                }),
            )
        },
        read_only: true,
        destructive: false,
        idempotent: true,
    },
    ToolSpec {
        name: "read_document",
        title: "Read a document",
        description: "Reads a document as blocks with ids. The ids and texts are what edits select by. Reads only. Give `outline: true` for the headings of a long document first, then `section` or `block` for the part you need.",
        schema: || {
            object(
                &["key"],
                json!({
                    "key": key(),
                    "outline": { "type": "boolean", "description": "only the headings" },
                    "section": { "type": "string", "description": "only this section: its heading, or a path `Parent › Child`" },
                    "block": { "type": "string", "description": "only this block, and what follows it, by id" },
                    "from": { "type": "string", "description": "go on from this block, by id, where a long read was cut" },
                    "raw": { "type": "boolean", "description": "the bytes as they are, without ids" }
                }),
            )
        },
        read_only: true,
        destructive: false,
        idempotent: true,
    },
    ToolSpec {
        name: "search",
        title: "Search",
        description: "Finds text in all documents: one line a hit, with key, section and block id. Reads only. Upper and lower case are the same; `pattern: true` reads the query as a regular expression.",
        schema: || {
            object(
                &["query"],
                json!({
                    "query": { "type": "string", "description": "the words, as they stand in the text" },
                    "pattern": { "type": "boolean", "description": "the query is a regular expression" },
                    "folder": { "type": "string", "description": "only below this folder" },
                    "limit": { "type": "integer", "description": "at most so many hits, 40 unless given" }
                }),
            )
        },
        read_only: true,
        destructive: false,
        idempotent: true,
    },
    ToolSpec {
        name: "document_links",
        title: "Links of a document",
        description: "Lists the documents that a document links to and those that link to it. Reads only. Use it before a rename or a deletion.",
        schema: || object(&["key"], json!({ "key": key() })),
        read_only: true,
        destructive: false,
        idempotent: true,
    },
    ToolSpec {
        name: "create_document",
        title: "Create a document",
        description: "Creates a document with its whole text. It never replaces one: when the key is taken it refuses and names the tools for changing a document. `if_exists` may be `skip` or `suffix`.",
        schema: || {
            object(
                &["key", "content"],
                json!({
                    "key": key(),
                    "content": { "type": "string", "description": "the whole Markdown, front matter first" },
                    "if_exists": { "type": "string", "enum": ["fail", "skip", "suffix"] }
                }),
            )
        },
        read_only: false,
        destructive: false,
        idempotent: false,
    },
    ToolSpec {
        name: "update_blocks",
        title: "Change blocks",
        description: "Changes parts of documents with the edit language; everything that it does not name stays as it is, byte for byte, and that is proven. \
`update` holds operators, each with a selection (`$`-keys), a payload and `expect`, the number of blocks: \
`$replaceText {…, from, to}` changes words inside a block and destroys nothing else: prefer it. `$insertBefore`, `$insertAfter`, `$append`, `$prepend {…, content}` add. `$setAttr {…, attributes}`, `$toggle {…, checked}` change properties. \
`$replace {…, content}` destroys the selected block; `$delete {…}` removes it; with `$section` they take the whole section. `$move {…, after: {…}}` moves without resending text. `$wrap {…, name, label}`, `$unwrap {…}`. `$set`, `$unset` change front matter keys. \
Selections: `$id`, `$text`, `$header`, `$section`, `$within`, `$paragraph`, `$item`, `$code`, `$table`, `$row`, `$cell`, `$callout`, `$matches`, `$contains`, and more. \
Example: {\"key\": \"guides/a\", \"update\": {\"$replaceText\": {\"$id\": \"3f2a91bc\", \"from\": \"v1\", \"to\": \"v2\", \"expect\": 1}}}. \
For many documents give `filter` and `expect` (the number of documents) in place of `key`; for several steps in one transaction give `steps`. When a count differs nothing is written. A change that removes more than half of a block or document needs `removed: true`. `dry_run: true` shows the receipt and writes nothing.",
        schema: || {
            object(
                &[],
                json!({
                    "key": key(),
                    "filter": { "type": "object", "description": "which documents, in place of key" },
                    "expect": { "description": "how many documents the filter matches" },
                    "update": { "type": "object", "description": "the operators" },
                    "steps": { "type": "array", "items": { "type": "object" }, "description": "several operations in one transaction, each with filter and update, or $create, $rename, $deleteDocument" },
                    "removed": { "type": "boolean", "description": "the change removes much, on purpose" },
                    "dry_run": { "type": "boolean", "description": "write nothing, show the receipt" }
                }),
            )
        },
        read_only: false,
        destructive: true,
        idempotent: false,
    },
    ToolSpec {
        name: "edit_section",
        title: "Change a section",
        description: "Changes one section by its heading. `do` is `append` (adds at its end, destroys nothing), `insert` (adds a section after it), `move` (after the section `to`), `update` (replaces all that is below the heading: send the whole section, what you leave out is gone) or `delete`. For a few words use update_blocks with `$replaceText`, which is safer.",
        schema: || {
            object(
                &["key", "section", "do"],
                json!({
                    "key": key(),
                    "section": { "type": "string", "description": "its heading, a path `Parent › Child`, or the heading's id" },
                    "do": { "type": "string", "enum": ["append", "insert", "move", "update", "delete"] },
                    "content": { "type": "string", "description": "the Markdown" },
                    "to": { "type": "string", "description": "for move: the other section" },
                    "before": { "type": "boolean", "description": "for move: in front of it" },
                    "removed": { "type": "boolean", "description": "the change removes much, on purpose" }
                }),
            )
        },
        read_only: false,
        destructive: true,
        idempotent: false,
    },
    ToolSpec {
        name: "generate_block",
        title: "Write a typed block",
        description: "Returns the Markdown of a typed block (callout, tabs, table, steps, …) in the workspace's dialect, and writes nothing. Give `inside`, the containers it will stand in, nearest first: an illegal nesting is refused with what is allowed. Put the result into update_blocks as `content`.",
        schema: || {
            object(
                &["block"],
                json!({
                    "block": deckle_doc::types::schema(),
                    "inside": { "type": "array", "items": { "type": "string" }, "description": "block types of the containers it will stand in, nearest first" }
                }),
            )
        },
        read_only: true,
        destructive: false,
        idempotent: true,
    },
    ToolSpec {
        name: "rename_document",
        title: "Rename a document",
        description: "Gives a document another key; every link to it is rewritten as its author wrote it. Destroys nothing. Refuses a key that is taken.",
        schema: || object(&["key", "to"], json!({ "key": key(), "to": { "type": "string", "description": "the new key" } })),
        read_only: false,
        destructive: false,
        idempotent: false,
    },
    ToolSpec {
        name: "delete_documents",
        title: "Delete documents",
        description: "Deletes documents from the branch. `expect` is how many; when it differs nothing is deleted. They can be brought back with restore_document. To empty or shorten a document use update_blocks.",
        schema: || {
            object(
                &["keys", "expect"],
                json!({
                    "keys": { "type": "array", "items": { "type": "string" }, "description": "the keys" },
                    "expect": { "type": "integer", "description": "how many documents" }
                }),
            )
        },
        read_only: false,
        destructive: true,
        idempotent: false,
    },
    ToolSpec {
        name: "restore_document",
        title: "Restore a document",
        description: "Brings a document back that was deleted on this branch, with the ids that its blocks had.",
        schema: || object(&["key"], json!({ "key": key() })),
        read_only: false,
        destructive: false,
        idempotent: true,
    },
    ToolSpec {
        name: "report_progress",
        title: "Report progress",
        description: "Tells the person how far you are. Use it in long work, once every few documents.",
        schema: || {
            object(
                &["message"],
                json!({
                    "message": { "type": "string" },
                    "done": { "type": "integer" },
                    "total": { "type": "integer" }
                }),
            )
        },
        read_only: true,
        destructive: false,
        idempotent: true,
    },
    ToolSpec {
        name: "navigate",
        title: "Show a place",
        description: "Shows the person a document, or a block of it.",
        schema: || object(&["key"], json!({ "key": key(), "block": { "type": "string", "description": "the id of a block" } })),
        read_only: true,
        destructive: false,
        idempotent: true,
    },
];

/// Returns `docs/tools.md`.
#[must_use]
pub fn docs() -> String {
    let mut out = String::from(
        "# Tools for agents\n\nGenerated from `crates/deckle-agent/src/tools/specs.rs`; `UPDATE_DOCS=1 cargo test -p deckle-agent` renews it. The same registry feeds the \
         agent loop and `deckle mcp`.\n",
    );
    for spec in SPECS {
        let mut marks = Vec::new();
        if spec.read_only {
            marks.push("reads only");
        }
        if spec.destructive {
            marks.push("can remove");
        }
        let marks = if marks.is_empty() { "writes, removes nothing".to_owned() } else { marks.join(", ") };
        out.push_str(&format!("\n## `{}`\n\n*{}.* {}\n\n| argument | |\n|---|---|\n", spec.name, marks, spec.description));
        let schema = (spec.schema)();
        let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let about = property["description"].as_str().unwrap_or(match property["type"].as_str() {
                Some("object") => "a typed block, see blocks.md",
                _ => "",
            });
            let needed = if required.contains(&name.as_str()) { "" } else { "?" };
            out.push_str(&format!("| `{name}`{needed} | {about} |\n"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_page_of_tools_is_current() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tools.md");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(path, super::docs()).unwrap();
        }
        assert_eq!(
            std::fs::read_to_string(path).unwrap_or_default(),
            super::docs(),
            "run `UPDATE_DOCS=1 cargo test -p deckle-agent`"
        );
    }
}
