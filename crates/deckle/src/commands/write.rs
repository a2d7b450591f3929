//! Writing: update, create, rename, delete; on the folder, or on a branch.

use std::io::Read as _;

use deckle_doc::{Diag, DocKey, Tree};
use deckle_edit::sections::{self, SectionEdit};
use deckle_edit::{EditError, Operation, Policy, plan, read_value};
use deckle_store::{Actor, BranchId, Changes, Meta};
use serde_json::{Map, Value, json};

use super::read::{filter_of, key};
use crate::arguments::{Arguments, Command, SectionCommand, Write};
use crate::context;
use crate::failure::Failure;

/// Runs a writing command.
pub async fn run(arguments: &Arguments) -> Result<(), Failure> {
    let (document, write, intent) = operation(&arguments.command)?;
    let operation = Operation::parse(&document)?;
    apply(arguments, &operation, named_keys(&document), write, &intent).await
}

/// Plans and proves an operation, then writes what it changes. `named` are the documents that it names, when it needs no others.
async fn apply(
    arguments: &Arguments,
    operation: &Operation,
    named: Option<Vec<DocKey>>,
    write: &Write,
    intent: &str,
) -> Result<(), Failure> {
    let workspace = context::open(arguments).await?;
    let branch = match &write.branch {
        Some(name) => Some(workspace.branch(&BranchId::parse(name)?).await?),
        None => None,
    };
    let snapshot = match (&branch, &named) {
        (Some(branch), _) => branch.head().await?,
        (None, Some(keys)) => workspace.snapshot_of(keys).await?,
        (None, None) => workspace.snapshot().await?,
    };
    let dialect = snapshot.dialect();
    let view = context::view(&snapshot, named.as_deref(), dialect).await?;
    let config = context::config(&workspace)?;
    let today = Some(jiff::Timestamp::now().strftime("%Y-%m-%d").to_string());
    let policy = Policy { strict: write.strict, today, ..Policy::person().configured(&config).in_dialect(dialect) };
    // A dry run is how the counts are learned, so it needs no guards.
    let policy = if write.dry_run { Policy { strict: false, ..policy } } else { policy };
    let planned = match plan(&view, operation, &policy) {
        Err(error @ EditError::NoDocument { .. }) => {
            for key in named.iter().flatten() {
                if let Some(kept) = super::read::kept(key, &snapshot).await? {
                    return Err(kept);
                }
            }
            return Err(error.into());
        }
        planned => planned?,
    };
    let receipt = serde_json::to_value(planned.receipt()).unwrap_or(Value::Null);
    if !write.dry_run && !planned.is_empty() {
        let mut changes = Changes::new();
        for change in planned.changes() {
            changes = match (&change.before, &change.after, &change.new) {
                (Some(before), Some(after), Some((tree, _))) if before != after => {
                    changes.rename(before.clone(), after.clone(), tree.shared().clone())
                }
                (_, Some(after), Some((tree, _))) => changes.write(after.clone(), tree.shared().clone()),
                (Some(before), None, _) => changes.delete(before.clone()),
                _ => changes,
            };
        }
        let meta = Meta::new(Actor::local(), intent).receipt(receipt.clone());
        match &branch {
            Some(branch) => branch.commit(&snapshot, &changes, &meta).await?,
            None => workspace.write(&snapshot, &changes, &meta).await?,
        };
    }
    if arguments.json {
        say!("{receipt}");
    } else {
        if write.dry_run {
            say!("dry run, nothing was written");
        }
        let summary = planned.receipt().summary();
        say!("{}", if summary.is_empty() { "nothing changed" } else { &summary });
    }
    Ok(())
}

/// The keys that the operation names outright, when it names all it needs.
fn named_keys(document: &Value) -> Option<Vec<DocKey>> {
    let keys = match &document["filter"]["$key"] {
        Value::String(one) => vec![one.clone()],
        Value::Object(map) => map.get("$in")?.as_array()?.iter().filter_map(|one| one.as_str().map(str::to_owned)).collect(),
        _ => return None,
    };
    keys.iter().map(|key| DocKey::parse(key).ok()).collect()
}

fn operation(command: &Command) -> Result<(Value, &Write, String), Failure> {
    match command {
        Command::Create { key: name, content, if_exists, value, write } => {
            let content = match content {
                Some(text) => text.clone(),
                None => stdin()?,
            };
            // A template stays as it is; a key is read as people write file names.
            let key = if name.contains("{{") { name.clone() } else { key(name)?.to_string() };
            let mut values = Map::new();
            for pair in value {
                let (name, value) = pair.split_once('=').ok_or_else(|| {
                    Failure::from(Diag::new("usage", format!("`{pair}` is no value")).hint("write `--value name=value`"))
                })?;
                values.insert(name.trim().to_owned(), json!(value.trim()));
            }
            Ok((
                json!({ "steps": [{ "$create": { "key": key, "content": content, "if_exists": if_exists, "values": values } }] }),
                write,
                format!("create {key}"),
            ))
        }
        Command::Rename { key: name, to, write } => {
            let (from, to) = (key(name)?, key(to)?);
            Ok((
                json!({ "steps": [{ "$rename": { "key": from.as_str(), "to": to.as_str() } }] }),
                write,
                format!("rename {from} to {to}"),
            ))
        }
        Command::Delete { keys, write } => {
            let keys: Result<Vec<String>, Failure> = keys.iter().map(|text| key(text).map(|key| key.to_string())).collect();
            let keys = keys?;
            let filter = json!({ "$key": { "$in": keys } });
            Ok((
                json!({ "operation": "delete", "filter": filter, "expect": keys.len() }),
                write,
                format!("delete {}", keys.join(", ")),
            ))
        }
        Command::Update {
            key,
            filter,
            expect,
            operation,
            set,
            unset,
            replace_text,
            replace,
            insert_before,
            insert_after,
            append,
            prepend,
            delete,
            move_blocks,
            copy,
            wrap,
            unwrap,
            set_attr,
            toggle,
            write,
        } => {
            if let Some(text) = operation {
                let text = if text == "-" { stdin()? } else { text.clone() };
                return Ok((read_value(&text)?, write, "update".into()));
            }
            let mut update = Map::new();
            let mut fields = Map::new();
            for pair in set {
                let (field, value) = pair.split_once('=').unwrap_or((pair, ""));
                fields.insert(field.to_owned(), read_value(value).unwrap_or_else(|_| json!(value)));
            }
            if !fields.is_empty() {
                update.insert("$set".into(), Value::Object(fields));
            }
            if !unset.is_empty() {
                update.insert("$unset".into(), Value::Object(unset.iter().map(|field| (field.clone(), json!(""))).collect()));
            }
            let operators = [
                ("$replaceText", replace_text),
                ("$replace", replace),
                ("$insertBefore", insert_before),
                ("$insertAfter", insert_after),
                ("$append", append),
                ("$prepend", prepend),
                ("$delete", delete),
                ("$move", move_blocks),
                ("$copy", copy),
                ("$wrap", wrap),
                ("$unwrap", unwrap),
                ("$setAttr", set_attr),
                ("$toggle", toggle),
            ];
            for (name, given) in operators {
                if !given.is_empty() {
                    let values: Result<Vec<Value>, _> = given.iter().map(|text| read_value(text)).collect();
                    update.insert(name.to_owned(), Value::Array(values?));
                }
            }
            let mut document = json!({ "filter": filter_of(filter.as_deref(), key)?, "update": update });
            if filter.is_none() && key.is_empty() {
                return Err(Diag::new("usage", "`update` needs to know which documents")
                    .hint("give `-k KEY`, or `--filter`; `--filter '{}'` on purpose is every document")
                    .into());
            }
            if let Some(expect) = expect {
                document["expect"] = read_value(expect)?;
            }
            Ok((document, write, "update".into()))
        }
        _ => Err(Failure::Silent(2)),
    }
}

/// Changes a section.
pub async fn section(arguments: &Arguments, command: &SectionCommand) -> Result<(), Failure> {
    let given = |content: &Option<String>| match content {
        Some(text) => Ok(text.clone()),
        None => stdin(),
    };
    let (which, edit, write) = match command {
        SectionCommand::Get { which, at } => {
            let wished = super::read::Wished { section: Some(&which.section), ..Default::default() };
            return super::read::get(arguments, &which.key, &wished, at.branch.as_deref()).await;
        }
        SectionCommand::Update { which, content, write } => (which, SectionEdit::Update { content: given(content)? }, write),
        SectionCommand::Insert { which, content, write } => (which, SectionEdit::Insert { content: given(content)? }, write),
        SectionCommand::Append { which, content, write } => (which, SectionEdit::Append { content: given(content)? }, write),
        SectionCommand::Delete { which, write } => (which, SectionEdit::Delete, write),
        SectionCommand::Move { which, to, before, write } => {
            (which, SectionEdit::Move { to: to.clone(), before: *before }, write)
        }
    };
    let key = key(&which.key)?;
    let workspace = context::open(arguments).await?;
    let snapshot = match &write.branch {
        Some(_) => context::snapshot(&workspace, write.branch.as_deref()).await?,
        None => workspace.snapshot_of(std::slice::from_ref(&key)).await?,
    };
    let Some(text) = snapshot.text(&key).await? else { return Err(super::read::missing(&key, &snapshot).await?) };
    let tree = Tree::parse(text, snapshot.dialect()).map_err(|error| Failure::from(Diag::from(&error)))?;
    let ids = snapshot.ids(&key, &tree).await?;
    let operation = sections::operation(&key, &tree, &ids, &which.section, &edit)?;
    let intent = format!("change section `{}` of {key}", which.section);
    apply(arguments, &operation, Some(vec![key]), write, &intent).await
}

/// Brings deleted documents back, or lists them.
pub async fn restore(arguments: &Arguments, names: &[String], branch: Option<&str>) -> Result<(), Failure> {
    let workspace = context::open(arguments).await?;
    let branch = match branch {
        Some(name) => Some(workspace.branch(&BranchId::parse(name)?).await?),
        None => None,
    };
    if names.is_empty() {
        workspace.snapshot().await?;
        let trash = match &branch {
            Some(branch) => branch.trash().await?,
            None => workspace.trash().await?,
        };
        let keys: Vec<&str> = trash.iter().map(|one| one.key.as_str()).collect();
        if arguments.json {
            say!("{}", json!({ "deleted": keys }));
        } else {
            say!("{}", if keys.is_empty() { "nothing was deleted here".to_owned() } else { keys.join("\n") });
        }
        return Ok(());
    }
    let keys = names.iter().map(|name| key(name)).collect::<Result<Vec<_>, _>>()?;
    let meta = Meta::new(Actor::local(), &format!("restore {}", names.join(", "))).receipt(json!({ "restored": names }));
    let commit = match &branch {
        Some(branch) => branch.restore(&branch.head().await?, &keys, &meta).await?,
        None => workspace.restore(&keys, &meta).await?,
    };
    if arguments.json {
        say!("{}", json!({ "restored": names, "commit": commit.id.to_string() }));
    } else {
        say!("restored {}", names.join(", "));
    }
    Ok(())
}

fn stdin() -> Result<String, Failure> {
    let mut text = String::new();
    std::io::stdin().lock().read_to_string(&mut text)?;
    Ok(text)
}
