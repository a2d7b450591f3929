//! Tools on blocks and sections.

use deckle_doc::types::{self, WriteError};
use deckle_doc::{Diag, Kind};
use deckle_edit::sections::{self, SectionEdit};
use deckle_edit::{Documents, Operation, Plan, Policy, gates, plan};
use deckle_store::{Changes, Snapshot};
use deckle_wire::Event;
use serde_json::{Map, Value, json};

use super::documents::load;
use super::{Arguments, Done, Spent, ToolContext, ToolError};
use crate::chat::ToolCall;
use crate::view::View;

pub(super) async fn update(context: &ToolContext, call: &ToolCall, arguments: &Arguments) -> Result<Done, ToolError> {
    let operation = operation_of(arguments)?;
    let head = context.branch.head().await?;
    let view = match arguments.key("key") {
        Ok(key) if arguments.get("key").is_some() => {
            let mut view = View::some(&head, std::slice::from_ref(&key), context.dialect).await?;
            if view.tree(&key).is_none() {
                load(context, &key).await?;
            }
            view.remember(context).await?;
            view
        }
        _ => {
            let mut view = View::all(&head, context.dialect).await?;
            view.remember(context).await?;
            view
        }
    };
    apply(context, call, &head, &view, &operation, &intent_of(&operation), arguments.flag("dry_run")).await
}

/// The operation document that the arguments are.
fn operation_of(arguments: &Arguments) -> Result<Operation, ToolError> {
    let given = |name: &str| arguments.get(name).is_some();
    let mut document = Map::new();
    if let Some(steps) = arguments.get("steps") {
        if given("update") || given("filter") || given("key") {
            return Err(Diag::new("bad-arguments", "`steps` stands alone")
                .hint("put the filter and the update into a step")
                .into());
        }
        document.insert("steps".into(), steps.clone());
        return Ok(Operation::parse(&Value::Object(document))?);
    }
    let filter = match (arguments.get("key"), arguments.get("filter")) {
        (Some(_), Some(_)) => {
            return Err(Diag::new("bad-arguments", "`key` and `filter` exclude one another").hint("give one of them").into());
        }
        (Some(_), None) => json!({ "$key": arguments.key("key")?.as_str() }),
        (None, Some(filter)) => filter.clone(),
        (None, None) => {
            return Err(Diag::new("bad-arguments", "`key` is missing")
                .hint("give `key`, or `filter` with `expect`, or `steps`")
                .into());
        }
    };
    document.insert("filter".into(), filter);
    for name in ["update", "expect", "removed"] {
        if let Some(value) = arguments.get(name) {
            document.insert(name.into(), value.clone());
        }
    }
    Ok(Operation::parse(&Value::Object(document))?)
}

fn intent_of(operation: &Operation) -> String {
    let Operation::Change(steps) = operation else { return "read".into() };
    let mut names = Vec::new();
    for step in steps {
        if let deckle_edit::language::Step::Update(update) = step {
            names.extend(update.blocks.iter().map(|op| op.kind.name().to_owned()));
            if !update.set.is_empty() || !update.unset.is_empty() {
                names.push("front matter".into());
            }
        } else {
            names.push("documents".into());
        }
    }
    names.dedup();
    names.join(", ")
}

pub(super) async fn section(context: &ToolContext, call: &ToolCall, arguments: &Arguments) -> Result<Done, ToolError> {
    let key = arguments.key("key")?;
    let (_, tree) = load(context, &key).await?;
    let head = context.branch.head().await?;
    let mut view = View::some(&head, std::slice::from_ref(&key), context.dialect).await?;
    view.remember(context).await?;
    let ids = view.ids(&key, &tree);
    let name = arguments.text("section").unwrap_or_default();
    let content = || {
        arguments
            .text("content")
            .ok_or_else(|| ToolError::from(Diag::new("bad-arguments", "`content` is missing").hint("give the Markdown")))
    };
    let edit = match arguments.text("do").as_deref() {
        Some("append") => SectionEdit::Append { content: content()? },
        Some("insert") => SectionEdit::Insert { content: content()? },
        Some("update") => SectionEdit::Update { content: content()? },
        Some("delete") => SectionEdit::Delete,
        Some("move") => SectionEdit::Move {
            to: arguments
                .text("to")
                .ok_or_else(|| ToolError::from(Diag::new("bad-arguments", "`to` is missing").hint("name the other section")))?,
            before: arguments.flag("before"),
        },
        _ => {
            return Err(Diag::new("bad-arguments", "`do` is not known")
                .hint("there are: append insert move update delete")
                .into());
        }
    };
    let mut operation = sections::operation(&key, &tree, &ids, &name, &edit)?;
    if arguments.flag("removed")
        && let Operation::Change(steps) = &mut operation
    {
        for step in steps {
            if let deckle_edit::language::Step::Update(update) = step {
                update.removed = true;
            }
        }
    }
    apply(context, call, &head, &view, &operation, &format!("section {name} of {key}"), false).await
}

/// Plans, proves, checks the budget, commits. The write and its record under the call are one transaction.
pub(super) async fn apply(
    context: &ToolContext,
    call: &ToolCall,
    head: &Snapshot,
    view: &View,
    operation: &Operation,
    intent: &str,
    dry_run: bool,
) -> Result<Done, ToolError> {
    // A dry run is how the counts are learned, so it needs no guards.
    let policy = Policy { strict: !dry_run, ..context.policy() };
    let plan = plan(view, operation, &policy)?;
    let receipt = plan.receipt().clone();
    let data = serde_json::to_value(&receipt).unwrap_or(Value::Null);
    if plan.is_empty() || dry_run {
        let lead = if dry_run { "dry run, nothing was written\n" } else { "nothing changed\n" };
        return Ok(Done { data: Some(data), ..Done::says(format!("{lead}{}", receipt.summary())) });
    }
    let cost = cost(&plan);
    let spent = context.spent.lock().map_or(Spent::default(), |spent| *spent).plus(cost);
    if let Some(what) = spent.past(context.budget) {
        return Err(Diag::new("budget", format!("this would pass the run's budget: {what}"))
            .hint("stop here, and say in your answer what is left; the person can follow up to go on")
            .into());
    }
    let mut changes = Changes::new();
    let mut events = Vec::new();
    for change in plan.changes() {
        match (&change.before, &change.after, &change.new) {
            (Some(before), Some(after), Some((tree, _))) if before != after => {
                changes = changes.rename(before.clone(), after.clone(), tree.shared().clone());
                events.push(complete(context, after.as_str(), "renamed"));
            }
            (before, Some(after), Some((tree, _))) => {
                changes = changes.write(after.clone(), tree.shared().clone());
                events.push(complete(context, after.as_str(), if before.is_some() { "updated" } else { "created" }));
            }
            (Some(before), None, _) => {
                changes = changes.delete(before.clone());
                events.push(complete(context, before.as_str(), "deleted"));
            }
            _ => {}
        }
    }
    let meta = context.meta(call, intent)?.receipt(data.clone());
    context.branch.commit(head, &changes, &meta).await?;
    let now = context.branch.head().await?;
    for change in plan.changes() {
        // The run knows what it wrote, and not what others wrote since it read.
        if let Some(after) = &change.after
            && context.seen.knew(change.before.as_ref().unwrap_or(after), head).await?
        {
            context.seen.read(after, &now);
        }
    }
    if let Ok(mut all) = context.spent.lock() {
        *all = spent;
    }
    let summary = receipt.summary();
    Ok(Done {
        content: summary.clone(),
        data: Some(data),
        documents: receipt.changed_documents(),
        blocks: receipt.blocks(),
        receipt: Some(summary),
        events,
    })
}

pub(super) fn complete(context: &ToolContext, key: &str, change: &str) -> Event {
    Event::AgentDocComplete { key: key.to_owned(), change: change.to_owned(), branch: context.branch.name().to_string() }
}

/// What a plan spends.
fn cost(plan: &Plan) -> Spent {
    let mut spent = Spent { documents: plan.changes().len(), blocks: plan.receipt().blocks(), ..Spent::default() };
    for change in plan.changes() {
        let before = change.old.as_ref().map_or(0, |tree| gates::count_words(gates::body(tree)));
        let after = change.new.as_ref().map_or(0, |(tree, _)| gates::count_words(gates::body(tree)));
        spent.words_removed += before.saturating_sub(after);
        spent.deletes += usize::from(change.after.is_none());
    }
    spent
}

pub(super) fn generate(context: &ToolContext, arguments: &Arguments) -> Result<Done, ToolError> {
    let block = arguments.get("block").cloned().unwrap_or(Value::Null);
    let inside: Vec<String> = arguments
        .get("inside")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|one| one.as_str().map(str::to_owned))
        .collect();
    let above: Vec<&str> = inside.iter().map(String::as_str).collect();
    match types::write(&block, context.dialect, &above, &context.rules) {
        Ok(text) => {
            let tree = deckle_doc::Tree::parse(text.as_str(), context.dialect).ok();
            let blocks =
                tree.map_or(0, |tree| tree.root().children().filter(|block| !matches!(block.kind(), Kind::Document)).count());
            Ok(Done { data: Some(json!({ "content": text, "blocks": blocks })), ..Done::says(text) })
        }
        Err(WriteError::Nesting(violation)) => Err(Diag::new("nesting", violation.message.clone())
            .at(violation.path.join(" › "))
            .hint(format!("allowed in `{}`: {}", violation.container, violation.allowed.join(" ")))
            .hint(violation.advice)
            .into()),
        Err(error) => Err(Diag::new("bad-block", error.to_string())
            .hint("give the fields that the type has; docs/blocks.md lists them")
            .into()),
    }
}
