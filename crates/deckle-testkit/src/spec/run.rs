//! The reference implementation: the edit language itself.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

use deckle_doc::{Diag, Dialect, DocKey, Ids, Tree};
use deckle_edit::language::Predicate;
use deckle_edit::sections::{self, SectionEdit};
use deckle_edit::{Config, Documents, EditError, Operation, Policy, Sources, plan, read, read_value, schema};
use serde_json::{Value, json};

use super::{Engine, Outcome, Step, Workspace};

/// The edit language, and beside it what a crate adds.
pub struct Reference<'e> {
    /// Answers operations that the edit language does not have; nothing where it does not either.
    pub also: &'e dyn Fn(&Workspace, &Value) -> Option<Outcome>,
    /// Ids carried through a case's operations, by key and text.
    carried: RefCell<Carried>,
    /// The documents before each operation.
    revisions: RefCell<Vec<BTreeMap<String, String>>>,
}

type Carried = HashMap<(DocKey, String), Ids>;

impl<'e> Reference<'e> {
    /// The edit language with what a crate adds.
    #[must_use]
    pub fn with(also: &'e dyn Fn(&Workspace, &Value) -> Option<Outcome>) -> Self {
        Self { also, carried: RefCell::default(), revisions: RefCell::default() }
    }
}

impl Default for Reference<'_> {
    fn default() -> Self {
        Self::with(&|_, _| None)
    }
}

/// Documents whose blocks keep their ids from one operation to the next, as on a branch.
struct Branch<'b> {
    sources: Sources,
    dialect: Dialect,
    carried: &'b Carried,
    revisions: &'b [BTreeMap<String, String>],
    /// The revision that the caller last read.
    read: Option<usize>,
}

impl Documents for Branch<'_> {
    fn keys(&self) -> Vec<DocKey> {
        self.sources.keys()
    }

    fn tree(&self, key: &DocKey) -> Option<Tree> {
        self.sources.tree(key)
    }

    fn known(&self, key: &DocKey, revision: Option<&str>) -> Option<(Tree, Ids)> {
        let at = revision.map_or(self.read, |revision| revision.parse().ok())?;
        let text = self.revisions.get(at)?.get(key.as_str())?;
        let tree = Tree::parse(text.as_str(), self.dialect).ok()?;
        let ids = self.ids(key, &tree);
        Some((tree, ids))
    }

    fn ids(&self, key: &DocKey, tree: &Tree) -> Ids {
        self.carried.get(&(key.clone(), tree.source().to_owned())).cloned().unwrap_or_else(|| Ids::derive(tree))
    }
}

impl Engine for Reference<'_> {
    fn begin(&self) {
        self.carried.borrow_mut().clear();
        self.revisions.borrow_mut().clear();
    }

    fn run(&self, workspace: &Workspace, step: &Step) -> Outcome {
        self.revisions.borrow_mut().push(workspace.documents.clone());
        let value = match read_value(&step.operation) {
            Ok(value) => value,
            Err(error) => return refused(&error),
        };
        if let Some(outcome) = (self.also)(workspace, &value) {
            return outcome;
        }
        self.answer(workspace, &value, step).unwrap_or_else(|error| refused(&error))
    }
}

fn refused(error: &EditError) -> Outcome {
    let diag = Diag::from(error);
    Outcome::Refused(diag.code.to_owned(), diag.to_string())
}

impl Reference<'_> {
    fn answer(&self, workspace: &Workspace, value: &Value, step: &Step) -> Result<Outcome, EditError> {
        let dialect = Dialect::named(&workspace.dialect)
            .ok_or_else(|| EditError::Payload { why: format!("`{}` is no dialect", workspace.dialect), hint: String::new() })?;
        let mut sources = Sources::new();
        for (key, text) in &workspace.documents {
            sources.insert(key_of(key)?, text, dialect);
        }
        let config = Config::parse(&workspace.config)?;
        let mut policy = if step.agent { Policy::agent() } else { Policy::person() }.in_dialect(dialect).configured(&config);
        policy.today = Some("2026-03-16".into());
        if let Some(key) = value.get("write_back").and_then(Value::as_str) {
            return write_back(workspace, &policy, &key_of(key)?, value);
        }
        if let Some(what) = value.get("schema") {
            return schemas(&sources, &config, what, value);
        }
        let (outcome, ids) = {
            let (carried, revisions) = (self.carried.borrow(), self.revisions.borrow());
            let branch = Branch { sources, dialect, carried: &carried, revisions: &revisions, read: step.read };
            match operation(&branch, value)? {
                Asked::Words(text) => (Outcome::Read(text), Vec::new()),
                Asked::Operation(operation) => perform(workspace, &branch, &operation, &policy)?,
            }
        };
        self.carried.borrow_mut().extend(ids);
        Ok(outcome)
    }
}

/// `schema: infer` prints the schema of all documents, `schema: check` what they are not.
fn schemas(sources: &Sources, config: &Config, what: &Value, value: &Value) -> Result<Outcome, EditError> {
    if what.as_str() == Some("infer") {
        let mut schema = schema::infer(value["name"].as_str().unwrap_or("doc"), sources.iter().map(|(_, tree)| tree));
        schema.folder = value["folder"].as_str().map(str::to_owned);
        return Ok(Outcome::Read(schema.to_toml()));
    }
    let mut out = String::new();
    for (key, tree) in sources.iter() {
        for schema in config.schemas.iter().filter(|schema| schema.is_for(key, tree)) {
            for problem in schema.problems(tree) {
                out.push_str(&format!("{key}: {} ({})\n", problem.what, problem.hint));
            }
        }
    }
    Ok(Outcome::Read(out))
}

type Performed = (Outcome, Vec<((DocKey, String), Ids)>);

fn perform(
    workspace: &Workspace,
    sources: &dyn Documents,
    operation: &Operation,
    policy: &Policy,
) -> Result<Performed, EditError> {
    match operation {
        Operation::Find(find) => {
            let lines = read::find(sources, find).into_iter().map(|entry| format!("{entry}\n"));
            Ok((Outcome::Read(lines.collect()), Vec::new()))
        }
        Operation::Count(find) => Ok((Outcome::Read(format!("{}\n", find.filter.select(sources).len())), Vec::new())),
        Operation::Change(_) => {
            let plan = plan(sources, operation, policy)?;
            let mut texts = workspace.documents.clone();
            let mut carried = Vec::new();
            for change in plan.changes() {
                if let Some(before) = &change.before {
                    texts.remove(before.as_str());
                }
                if let (Some(after), Some((tree, ids))) = (&change.after, &change.new) {
                    carried.push(((after.clone(), tree.source().to_owned()), ids.clone()));
                    texts.insert(after.to_string(), tree.source().to_owned());
                }
            }
            Ok((Outcome::Changed(texts, plan.receipt().summary()), carried))
        }
    }
}

enum Asked {
    Words(String),
    Operation(Operation),
}

fn key_of(key: &str) -> Result<DocKey, EditError> {
    DocKey::parse(key).map_err(|error| EditError::Payload { why: error.to_string(), hint: String::new() })
}

fn document(sources: &dyn Documents, value: &Value) -> Result<(DocKey, Tree, Ids), EditError> {
    let key = key_of(value.as_str().unwrap_or("doc"))?;
    let tree = sources.tree(&key).ok_or_else(|| EditError::NoDocument { key: key.to_string(), near: Vec::new() })?;
    let ids = sources.ids(&key, &tree);
    Ok((key, tree, ids))
}

/// Reads the operation of a case: an operation document, or a tool of its own: `section: …`, `outline: KEY`, `lens: KEY`.
fn operation(sources: &dyn Documents, value: &Value) -> Result<Asked, EditError> {
    if let Some(named) = value.get("outline") {
        let (_, tree, ids) = document(sources, named)?;
        return Ok(Asked::Words(read::outline(&tree, &ids)));
    }
    if let Some(named) = value.get("lens") {
        let (key, tree, ids) = document(sources, named)?;
        let scope = value.get("scope").map(Predicate::parse).transpose()?.unwrap_or_default();
        let budget = value["budget"].as_u64().and_then(|budget| usize::try_from(budget).ok()).unwrap_or(usize::MAX);
        let call = |id: &str| format!("{{ lens: {key}, from: {id} }}");
        let part = read::Part { scope: &scope, from: value["from"].as_str(), budget, call: &call };
        let show = if value["raw"].as_bool().unwrap_or(false) { read::raw } else { read::lens };
        return Ok(Asked::Words(show(&key, &tree, &ids, &part)));
    }
    if let Some(predicate) = value.get("blocks") {
        let (key, tree, ids) = document(sources, value.get("key").unwrap_or(&json!("doc")))?;
        let selected = deckle_edit::select(&tree, &ids, &key, &Predicate::parse(predicate)?);
        let line = |one: &deckle_edit::Selected| {
            let block = tree.block(one.block);
            let words = deckle_edit::own_text(&block).lines().next().unwrap_or_default();
            format!("{}{} {words}", deckle_edit::type_name(&block), if one.tree { "+" } else { "" }).trim_end().to_owned() + "\n"
        };
        return Ok(Asked::Words(selected.iter().map(line).collect()));
    }
    if let Some(section) = value.get("section").and_then(Value::as_str) {
        let (key, tree, ids) = document(sources, value.get("key").unwrap_or(&json!("doc")))?;
        let content = || value["content"].as_str().unwrap_or_default().to_owned();
        let edit = match value["do"].as_str().unwrap_or_default() {
            "get" => {
                let heading = sections::find(&key, &tree, &ids, section)?;
                return Ok(Asked::Words(format!("{}\n", read::section(&heading))));
            }
            "update" => SectionEdit::Update { content: content() },
            "insert" => SectionEdit::Insert { content: content() },
            "append" => SectionEdit::Append { content: content() },
            "delete" => SectionEdit::Delete,
            _ => SectionEdit::Move {
                to: value["to"].as_str().unwrap_or_default().to_owned(),
                before: value["before"].as_bool().unwrap_or(false),
            },
        };
        return sections::operation(&key, &tree, &ids, section, &edit).map(Asked::Operation);
    }
    Operation::parse(value).map(Asked::Operation)
}

/// Reads a document and writes back what was read: all of it, each section, each block, or each block's words.
fn write_back(workspace: &Workspace, policy: &Policy, key: &DocKey, value: &Value) -> Result<Outcome, EditError> {
    let mut now = workspace.clone();
    let mut writes = 0;
    for _ in 0..value["times"].as_u64().unwrap_or(1) {
        let parts = {
            let (tree, ids) = parsed(&now, key, policy)?;
            parts(&tree, &ids, value["by"].as_str().unwrap_or("document"))
        };
        for part in parts {
            let (tree, ids) = parsed(&now, key, policy)?;
            let operation = match &part {
                Part::Document => {
                    json!({ "steps": [{ "$create": { "key": key.as_str(), "content": tree.source(), "if_exists": "override" } }] })
                }
                Part::Section(id) => {
                    let heading = sections::find(key, &tree, &ids, id)?;
                    let edit = SectionEdit::Update { content: read::section(&heading).to_owned() };
                    let operation = sections::operation(key, &tree, &ids, id, &edit)?;
                    writes += 1;
                    now = after(&now, &operation, policy)?;
                    continue;
                }
                Part::Block(id, text) => update(key, "$replace", &json!({ "$id": id, "content": text, "expect": 1 })),
                Part::Words(id, text) => update(key, "$replaceText", &json!({ "$id": id, "to": text, "expect": 1 })),
            };
            writes += 1;
            now = after(&now, &Operation::parse(&operation)?, policy)?;
        }
    }
    Ok(if now == *workspace {
        Outcome::Read(format!("unchanged by {writes} writes\n"))
    } else {
        Outcome::Changed(now.documents, String::new())
    })
}

enum Part {
    Document,
    Section(String),
    Block(String, String),
    Words(String, String),
}

fn parts(tree: &Tree, ids: &Ids, by: &str) -> Vec<Part> {
    let id = |block: &deckle_doc::Block<'_>| ids.id(block.index()).unwrap_or_default().to_owned();
    let blocks = || tree.root().children().filter(|block| !matches!(block.kind(), deckle_doc::Kind::FrontMatter { .. }));
    match by {
        "section" => blocks().filter(|block| block.heading_level().is_some()).map(|block| Part::Section(id(&block))).collect(),
        "block" => tree
            .blocks()
            .filter(|block| !matches!(deckle_edit::type_name(block), "frontMatter" | "row" | "cell"))
            .filter(|block| !is_item_text(block))
            .map(|block| Part::Block(id(&block), deckle_edit::shown_block(&block)))
            .collect(),
        "words" => tree
            .blocks()
            .filter(|block| matches!(deckle_edit::type_name(block), "paragraph" | "item" | "header" | "code" | "cell" | "html"))
            .filter(|block| !is_item_text(block))
            .filter(|block| !deckle_edit::own_text(block).is_empty())
            .map(|block| Part::Words(id(&block), deckle_edit::shown_text(&block)))
            .collect(),
        _ => vec![Part::Document],
    }
}

/// The first paragraph of an item is the item's own text.
fn is_item_text(block: &deckle_doc::Block<'_>) -> bool {
    deckle_edit::type_name(block) == "item" && block.kind() == deckle_doc::Kind::Paragraph
}

fn update(key: &DocKey, operator: &str, argument: &Value) -> Value {
    json!({ "filter": { "$key": key.as_str() }, "update": { operator: argument } })
}

fn parsed(workspace: &Workspace, key: &DocKey, policy: &Policy) -> Result<(Tree, Ids), EditError> {
    let text = workspace.documents.get(key.as_str()).cloned().unwrap_or_default();
    let tree = Tree::parse(text, policy.dialect)?;
    let ids = Ids::derive(&tree);
    Ok((tree, ids))
}

fn after(workspace: &Workspace, operation: &Operation, policy: &Policy) -> Result<Workspace, EditError> {
    let mut sources = Sources::new();
    for (key, text) in &workspace.documents {
        sources.insert(key_of(key)?, text, policy.dialect);
    }
    match perform(workspace, &sources, operation, policy)?.0 {
        Outcome::Changed(documents, _) => Ok(Workspace { documents, ..workspace.clone() }),
        Outcome::Read(_) | Outcome::Refused(..) => Ok(workspace.clone()),
    }
}
