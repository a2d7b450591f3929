//! The table.

use serde_json::{Value, json};

/// One block type.
#[derive(Debug)]
pub struct BlockType {
    /// Its name.
    pub name: &'static str,
    /// The names of directives that mean it; the first is the one that is written.
    pub names: &'static [&'static str],
    /// What may stand in it; empty when it holds no blocks.
    pub holds: &'static [&'static str],
    /// The type that it is a part of; only there can it stand.
    pub part_of: Option<&'static str>,
    /// The least and most parts of a wrapper.
    pub parts: Option<(usize, usize)>,
    /// What it is made of, besides what it holds.
    pub fields: &'static [Field],
    /// What it is for.
    pub about: &'static str,
}

/// A field of a block type.
#[derive(Debug)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Its form.
    pub form: Form,
    /// Whether it must be given.
    pub required: bool,
    /// What it is.
    pub about: &'static str,
}

/// The form of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A line of inline Markdown.
    Line,
    /// Lines of text.
    Text,
    /// A whole number.
    Number,
    /// A list of lines of inline Markdown.
    Lines,
    /// Rows of cells.
    Rows,
    /// Tasks: text and whether it is done.
    Tasks,
}

const fn field(name: &'static str, form: Form, required: bool, about: &'static str) -> Field {
    Field { name, form, required, about }
}

const SIMPLE: [&str; 11] =
    ["paragraph", "bullet_list", "ordered_list", "task_list", "code", "table", "divider", "image", "math", "diagram", "file"];

/// What a callout holds: no heading, no other directive that lays out.
const IN_CALLOUT: &[&str] = &[
    SIMPLE[0],
    SIMPLE[1],
    SIMPLE[2],
    SIMPLE[3],
    SIMPLE[4],
    SIMPLE[5],
    SIMPLE[6],
    SIMPLE[7],
    SIMPLE[8],
    SIMPLE[9],
    SIMPLE[10],
    "quote",
    "code_group",
    "accordion",
    "steps",
    "embed",
];
const IN_CARD: &[&str] = &[
    SIMPLE[0],
    SIMPLE[1],
    SIMPLE[2],
    SIMPLE[3],
    SIMPLE[4],
    SIMPLE[5],
    SIMPLE[6],
    SIMPLE[7],
    SIMPLE[8],
    SIMPLE[9],
    SIMPLE[10],
    "quote",
    "callout",
    "code_group",
    "embed",
];
const IN_QUOTE: &[&str] = &[
    SIMPLE[0], SIMPLE[1], SIMPLE[2], SIMPLE[3], SIMPLE[4], SIMPLE[5], SIMPLE[6], SIMPLE[7], SIMPLE[8], SIMPLE[9], SIMPLE[10],
    "quote", "callout", "heading",
];
const IN_TAB: &[&str] = &[
    "heading",
    SIMPLE[0],
    SIMPLE[1],
    SIMPLE[2],
    SIMPLE[3],
    SIMPLE[4],
    SIMPLE[5],
    SIMPLE[6],
    SIMPLE[7],
    SIMPLE[8],
    SIMPLE[9],
    SIMPLE[10],
    "quote",
    "callout",
    "columns",
    "accordion",
    "steps",
    "cards",
    "code_group",
    "api",
    "embed",
];
const IN_COLUMN: &[&str] = &[
    "heading",
    SIMPLE[0],
    SIMPLE[1],
    SIMPLE[2],
    SIMPLE[3],
    SIMPLE[4],
    SIMPLE[5],
    SIMPLE[6],
    SIMPLE[7],
    SIMPLE[8],
    SIMPLE[9],
    SIMPLE[10],
    "quote",
    "callout",
    "tabs",
    "accordion",
    "steps",
    "cards",
    "code_group",
    "api",
    "embed",
];
const IN_ACCORDION: &[&str] = &[
    "heading",
    SIMPLE[0],
    SIMPLE[1],
    SIMPLE[2],
    SIMPLE[3],
    SIMPLE[4],
    SIMPLE[5],
    SIMPLE[6],
    SIMPLE[7],
    SIMPLE[8],
    SIMPLE[9],
    SIMPLE[10],
    "quote",
    "callout",
    "tabs",
    "columns",
    "steps",
    "cards",
    "code_group",
    "api",
    "embed",
];
const IN_STEP: &[&str] = &[
    "heading",
    SIMPLE[0],
    SIMPLE[1],
    SIMPLE[2],
    SIMPLE[3],
    SIMPLE[4],
    SIMPLE[5],
    SIMPLE[6],
    SIMPLE[7],
    SIMPLE[8],
    SIMPLE[9],
    SIMPLE[10],
    "quote",
    "callout",
    "tabs",
    "columns",
    "accordion",
    "cards",
    "code_group",
    "api",
    "embed",
];

const TITLE: Field = field("title", Form::Line, false, "the title");
const URL: Field = field("url", Form::Line, true, "the address");

macro_rules! plain {
    ($name:literal, $fields:expr, $about:literal) => {
        BlockType { name: $name, names: &[], holds: &[], part_of: None, parts: None, fields: $fields, about: $about }
    };
}

macro_rules! container {
    ($name:literal, $names:expr, $holds:expr, $part_of:expr, $fields:expr, $about:literal) => {
        BlockType { name: $name, names: $names, holds: $holds, part_of: $part_of, parts: None, fields: $fields, about: $about }
    };
}

macro_rules! wrapper {
    ($name:literal, $names:expr, $part:literal, $parts:expr, $about:literal) => {
        BlockType { name: $name, names: $names, holds: &[$part], part_of: None, parts: Some($parts), fields: &[], about: $about }
    };
}

/// Every block type: the twenty-two, then the parts of wrappers.
pub const TABLE: &[BlockType] = &[
    plain!("paragraph", &[field("text", Form::Text, true, "inline Markdown")], "Running text."),
    plain!(
        "heading",
        &[field("text", Form::Line, true, "the words"), field("level", Form::Number, true, "1 to 6")],
        "A heading."
    ),
    plain!("bullet_list", &[field("items", Form::Lines, true, "one line an item")], "A list with bullets."),
    plain!(
        "ordered_list",
        &[field("items", Form::Lines, true, "one line an item"), field("start", Form::Number, false, "the first number")],
        "A numbered list."
    ),
    plain!("task_list", &[field("tasks", Form::Tasks, true, "each with `text` and `done`")], "A list with check boxes."),
    container!("quote", &[], IN_QUOTE, None, &[], "A quotation; quotes may nest."),
    plain!(
        "code",
        &[field("code", Form::Text, true, "the code, as it is"), field("language", Form::Line, false, "the language")],
        "Code."
    ),
    plain!(
        "table",
        &[field("head", Form::Lines, true, "one cell a column"), field("rows", Form::Rows, true, "a list of lists of cells")],
        "A table."
    ),
    plain!("divider", &[], "A line across."),
    plain!("image", &[URL, field("alt", Form::Line, true, "what it shows"), TITLE], "An image."),
    plain!("math", &[field("formula", Form::Text, true, "TeX")], "A formula on its own."),
    plain!(
        "diagram",
        &[field("code", Form::Text, true, "the source"), field("language", Form::Line, false, "`mermaid` unless given")],
        "A diagram from text."
    ),
    container!(
        "callout",
        &[
            "note",
            "callout",
            "info",
            "tip",
            "warning",
            "danger",
            "caution",
            "important",
            "hint",
            "error",
            "success",
            "abstract",
            "example",
            "question",
            "failure",
            "bug",
            "attention",
            "seealso",
            "todo",
            "admonition"
        ],
        IN_CALLOUT,
        None,
        &[field("kind", Form::Line, true, "`note`, `tip`, `info`, `warning` or `danger`"), TITLE],
        "A box that stands out: a note, a tip, a warning."
    ),
    wrapper!("tabs", &["tabs", "tab-set"], "tab", (1, 20), "Alternatives, one shown at a time."),
    wrapper!("columns", &["columns"], "column", (2, 4), "Two to four columns."),
    container!(
        "accordion",
        &["accordion", "details", "dropdown"],
        IN_ACCORDION,
        None,
        &[TITLE],
        "Content that can be folded away."
    ),
    wrapper!("steps", &["steps"], "step", (1, 50), "Steps in order."),
    wrapper!("cards", &["cards"], "card", (1, 50), "Cards side by side."),
    wrapper!("code_group", &["code-group", "code_group"], "code", (1, 20), "The same code in several languages."),
    plain_api(),
    BlockType {
        name: "embed",
        names: &["embed"],
        holds: &[],
        part_of: None,
        parts: None,
        fields: &[URL, TITLE],
        about: "Something from elsewhere; nothing is loaded until a person asks.",
    },
    BlockType {
        name: "file",
        names: &["file"],
        holds: &[],
        part_of: None,
        parts: None,
        fields: &[URL, TITLE],
        about: "A file to download.",
    },
    container!("tab", &["tab", "tab-item"], IN_TAB, Some("tabs"), &[TITLE], "One of the tabs."),
    container!("column", &["column"], IN_COLUMN, Some("columns"), &[], "One of the columns."),
    container!("step", &["step"], IN_STEP, Some("steps"), &[TITLE], "One of the steps."),
    container!("card", &["card"], IN_CARD, Some("cards"), &[TITLE], "One of the cards."),
];

const API: &[Field] = &[
    field("method", Form::Line, true, "`GET`, `POST`, …"),
    field("path", Form::Line, true, "`/v1/things/{id}`"),
    field("text", Form::Text, false, "what it does"),
];

const fn plain_api() -> BlockType {
    BlockType { name: "api", names: &["api"], holds: &[], part_of: None, parts: None, fields: API, about: "An endpoint." }
}

/// Returns the JSON schema of a typed block, as `generate_block` takes it.
#[must_use]
pub fn schema() -> Value {
    let names: Vec<&str> = TABLE.iter().map(|one| one.name).collect();
    let mut properties = serde_json::Map::new();
    properties.insert("type".into(), json!({ "type": "string", "enum": names, "description": "the block type" }));
    for one in TABLE {
        for field in one.fields {
            properties.entry(field.name.to_owned()).or_insert_with(|| form_schema(field));
        }
    }
    properties.insert(
        "children".into(),
        json!({ "type": "array", "items": { "type": "object" }, "description": "typed blocks inside a container or wrapper" }),
    );
    json!({ "type": "object", "required": ["type"], "properties": properties })
}

fn form_schema(field: &Field) -> Value {
    let mut schema = match field.form {
        Form::Line | Form::Text => json!({ "type": "string" }),
        Form::Number => json!({ "type": "integer" }),
        Form::Lines => json!({ "type": "array", "items": { "type": "string" } }),
        Form::Rows => json!({ "type": "array", "items": { "type": "array", "items": { "type": "string" } } }),
        Form::Tasks => {
            json!({ "type": "array", "items": { "type": "object", "properties": { "text": { "type": "string" }, "done": { "type": "boolean" } }, "required": ["text"] } })
        }
    };
    schema["description"] = Value::String(field.about.to_owned());
    schema
}

/// Returns `docs/blocks.md`.
#[must_use]
pub fn docs() -> String {
    let mut out = String::from(
        "# Block types\n\nGenerated from the table in `crates/deckle-doc/src/types/table.rs`; `UPDATE_DOCS=1 cargo test -p deckle-doc` renews it.\n\n\
         | type | fields | may hold | for |\n|---|---|---|---|\n",
    );
    for one in TABLE {
        let fields: Vec<String> =
            one.fields.iter().map(|field| format!("`{}`{}", field.name, if field.required { "" } else { "?" })).collect();
        let holds: Vec<String> = one.holds.iter().map(|name| format!("`{name}`")).collect();
        let mut about = one.about.to_owned();
        if let Some(whole) = one.part_of {
            about.push_str(&format!(" Stands only in `{whole}`."));
        }
        if let Some((least, most)) = one.parts {
            about.push_str(&format!(" {least} to {most} parts."));
        }
        out.push_str(&format!("| `{}` | {} | {} | {about} |\n", one.name, fields.join(" "), holds.join(" ")));
    }
    out.push_str(
        "\nNo directive container stands inside itself at any depth; quotes may nest. HTML, template shortcodes and unknown directives are kept as they are, \
         and may stand anywhere.\n",
    );
    out
}
