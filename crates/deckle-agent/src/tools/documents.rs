//! Tools on whole documents.

use std::fmt::Write as _;

use deckle_doc::{BlockIndex, Diag, DocKey, Ids, Tree};
use deckle_edit::filter::Filter;
use deckle_edit::language::Predicate;
use deckle_edit::{Documents, Operation, gates, links as edit_links, read as reading, sections};
use serde_json::{Value, json};

use super::{Arguments, Done, ToolContext, ToolError, blocks};
use crate::chat::ToolCall;
use crate::view::View;

/// How many characters one reading call returns at most; about eight thousand tokens.
const READ_BUDGET: usize = 32_000;
/// How many documents one list shows.
const LIST_PAGE: usize = 200;
/// How many hits a search shows unless asked for more.
const HITS: u64 = 40;

pub(super) async fn list(context: &ToolContext, arguments: &Arguments) -> Result<Done, ToolError> {
    let head = context.branch.head().await?;
    let view = View::all(&head, context.dialect).await?;
    let folder = arguments.text("folder").map(|folder| format!("{}/", folder.trim_matches('/')));
    let keys = match arguments.get("filter") {
        Some(filter) => Filter::parse(filter)?.select(&view),
        None => view.keys(),
    };
    let keys: Vec<DocKey> =
        keys.into_iter().filter(|key| folder.as_ref().is_none_or(|folder| key.as_str().starts_with(folder.as_str()))).collect();
    let offset = usize::try_from(arguments.number("offset").unwrap_or(0)).unwrap_or(usize::MAX).min(keys.len());
    let page = &keys[offset..keys.len().min(offset + LIST_PAGE)];
    let mut out = format!("{} document{}\n", keys.len(), if keys.len() == 1 { "" } else { "s" });
    for key in page {
        match view.tree(key) {
            Some(tree) => {
                let title = reading::title(&tree).map(|title| format!(" — {title}")).unwrap_or_default();
                let _ = writeln!(out, "{key}{title} ({} words)", gates::count_words(gates::body(&tree)));
            }
            None => {
                let _ = writeln!(out, "{key} (kept as it is: past a limit)");
            }
        }
    }
    if offset + page.len() < keys.len() {
        let _ = writeln!(out, "… the rest with offset: {}", offset + page.len());
    }
    Ok(Done { documents: page.len(), ..Done::says(out) })
}

pub(super) async fn read(context: &ToolContext, arguments: &Arguments) -> Result<Done, ToolError> {
    let key = arguments.key("key")?;
    // Remembered from before it is loaded: what is written in between is stale rather than unseen.
    let before = context.branch.head().await?;
    let (view, tree) = load(context, &key).await?;
    context.seen.read(&key, &before);
    let ids = view.ids(&key, &tree);
    let content = if arguments.flag("outline") {
        reading::outline(&tree, &ids)
    } else {
        let scope = match (arguments.text("section"), arguments.text("block")) {
            (Some(section), _) => {
                let heading = sections::find(&key, &tree, &ids, &section)?;
                Predicate::parse(&json!({ "$section": { "$id": ids.id(heading.index()).unwrap_or_default() } }))?
            }
            (None, Some(block)) => {
                let mut wanted = Vec::new();
                let mut at = Some(tree.block(find_block(&key, &ids, &block)?));
                while let Some(block) = at {
                    wanted.push(Value::String(ids.id(block.index()).unwrap_or_default().to_owned()));
                    at = block.next();
                }
                Predicate::parse(&json!({ "$id": wanted }))?
            }
            (None, None) => Predicate::default(),
        };
        let from = arguments.text("from");
        if let Some(from) = &from {
            find_block(&key, &ids, from)?;
        }
        let raw = arguments.flag("raw");
        let call = |id: &str| {
            let mut call = json!({ "key": key.as_str(), "from": id });
            if let Some(section) = arguments.text("section") {
                call["section"] = json!(section);
            }
            if raw {
                call["raw"] = json!(true);
            }
            format!("read_document {call}")
        };
        let part = reading::Part { scope: &scope, from: from.as_deref(), budget: READ_BUDGET, call: &call };
        if raw { reading::raw(&key, &tree, &ids, &part) } else { reading::lens(&key, &tree, &ids, &part) }
    };
    Ok(Done { documents: 1, ..Done::says(content) })
}

fn find_block(key: &DocKey, ids: &Ids, id: &str) -> Result<BlockIndex, ToolError> {
    ids.find(id).ok_or_else(|| {
        Diag::new("no-block", format!("there is no block `{id}` in `{key}`"))
            .hint("read the document again; ids are in the `id` of each block")
            .into()
    })
}

/// One document, or the error that names keys near it.
pub(super) async fn load(context: &ToolContext, key: &DocKey) -> Result<(View, Tree), ToolError> {
    let head = context.branch.head().await?;
    let view = View::some(&head, std::slice::from_ref(key), context.dialect).await?;
    match view.tree(key) {
        Some(tree) => Ok((view, tree)),
        None if view.contains(key) => {
            Err(Diag::new("not-editable", format!("`{key}` is past a limit; it is kept and listed, and no tool touches it"))
                .hint("a person has to split it or repair it first")
                .into())
        }
        None => {
            let name = key.name().to_lowercase();
            let near: Vec<String> = view
                .keys()
                .iter()
                .filter(|other| other.as_str().to_lowercase().contains(&name))
                .take(5)
                .map(|key| format!("near: {key}"))
                .collect();
            Err(Diag::new("no-document", format!("there is no document `{key}`"))
                .at_all(near)
                .hint("list_documents shows the keys")
                .into())
        }
    }
}

pub(super) async fn search(context: &ToolContext, arguments: &Arguments) -> Result<Done, ToolError> {
    let query = arguments.text("query").unwrap_or_default();
    if query.trim().is_empty() {
        return Err(Diag::new("bad-arguments", "`query` is empty").hint("give the words that you look for").into());
    }
    let scope = if arguments.flag("pattern") { json!({ "$matches": query }) } else { json!({ "$text": query }) };
    let predicate = Predicate::parse(&scope)?;
    let head = context.branch.head().await?;
    let view = View::all(&head, context.dialect).await?;
    let folder = arguments.text("folder").map(|folder| format!("{}/", folder.trim_matches('/')));
    let limit = usize::try_from(arguments.number("limit").unwrap_or(HITS)).unwrap_or(40);
    let lower = query.to_lowercase();
    let (mut hits, mut shown, mut documents) = (0_usize, String::new(), 0);
    for (key, tree) in
        view.iter().filter(|(key, _)| folder.as_ref().is_none_or(|folder| key.as_str().starts_with(folder.as_str())))
    {
        let ids = view.ids(key, tree);
        let before = hits;
        for selected in deckle_edit::select(tree, &ids, key, &predicate) {
            let block = tree.block(selected.block);
            // A table's rows and cells say the same again.
            if matches!(block.kind(), deckle_doc::Kind::Table { .. } | deckle_doc::Kind::Row { .. }) {
                continue;
            }
            hits += 1;
            if hits > limit {
                continue;
            }
            let text = deckle_edit::own_text(&block);
            let line = text
                .lines()
                .find(|line| arguments.flag("pattern") || line.to_lowercase().contains(&lower))
                .or_else(|| text.lines().next())
                .unwrap_or_default();
            let cut: String = line.chars().take(200).collect();
            let mut path = vec![key.to_string()];
            path.extend(deckle_edit::section_path(&block));
            let _ = writeln!(shown, "{} › {cut} [{}]", path.join(" › "), ids.id(block.index()).unwrap_or_default());
        }
        documents += usize::from(hits > before);
    }
    let mut out = format!(
        "{hits} hit{} in {documents} document{}\n{shown}",
        if hits == 1 { "" } else { "s" },
        if documents == 1 { "" } else { "s" }
    );
    if hits > limit {
        let _ = writeln!(out, "… {} more; narrow the query, give a folder, or a larger limit", hits - limit);
    }
    Ok(Done { documents, ..Done::says(out) })
}

pub(super) async fn links(context: &ToolContext, arguments: &Arguments) -> Result<Done, ToolError> {
    let key = arguments.key("key")?;
    let head = context.branch.head().await?;
    let view = View::all(&head, context.dialect).await?;
    if view.tree(&key).is_none() {
        load(context, &key).await?;
    }
    let mut out = String::from("links to:\n");
    for link in edit_links::document_links(&view, &key) {
        let target = link.resolved.as_ref().map_or_else(|| "nothing".to_owned(), ToString::to_string);
        let _ = writeln!(out, "  {target} (written `{}`)", link.link.text);
    }
    out.push_str("linked from:\n");
    for other in view.may_link_to(&key) {
        let count = edit_links::document_links(&view, &other).iter().filter(|link| link.resolved.as_ref() == Some(&key)).count();
        if count > 0 && other != key {
            let _ = writeln!(out, "  {other} ({count} link{})", if count == 1 { "" } else { "s" });
        }
    }
    Ok(Done { documents: 1, ..Done::says(out) })
}

pub(super) async fn create(context: &ToolContext, call: &ToolCall, arguments: &Arguments) -> Result<Done, ToolError> {
    let key = arguments.key("key")?;
    let content = arguments.text("content").unwrap_or_default();
    let if_exists = arguments.text("if_exists").unwrap_or_else(|| "fail".into());
    let head = context.branch.head().await?;
    let view = View::some(&head, std::slice::from_ref(&key), context.dialect).await?;
    if view.contains(&key) && if_exists == "fail" {
        return Err(Diag::new("document-exists", format!("there is a document `{key}` already; create_document never replaces one"))
            .hint("to change it use update_blocks or edit_section; to see it use read_document; for a new one choose another key, or `if_exists: suffix`")
            .into());
    }
    let operation = Operation::parse(
        &json!({ "steps": [{ "$create": { "key": key.as_str(), "content": content, "if_exists": if_exists } }] }),
    )?;
    blocks::apply(context, call, &head, &view, &operation, &format!("create {key}"), false).await
}

pub(super) async fn rename(context: &ToolContext, call: &ToolCall, arguments: &Arguments) -> Result<Done, ToolError> {
    let (from, to) = (arguments.key("key")?, arguments.key("to")?);
    let head = context.branch.head().await?;
    let view = View::all(&head, context.dialect).await?;
    let operation = Operation::parse(&json!({ "steps": [{ "$rename": { "key": from.as_str(), "to": to.as_str() } }] }))?;
    blocks::apply(context, call, &head, &view, &operation, &format!("rename {from} to {to}"), false).await
}

pub(super) async fn delete(context: &ToolContext, call: &ToolCall, arguments: &Arguments) -> Result<Done, ToolError> {
    let keys = arguments.keys("keys")?;
    let head = context.branch.head().await?;
    let view = View::some(&head, &keys, context.dialect).await?;
    if let Some(missing) = keys.iter().find(|key| !view.contains(key)) {
        load(context, missing).await?;
    }
    let names: Vec<&str> = keys.iter().map(DocKey::as_str).collect();
    let expect = arguments.get("expect").cloned().unwrap_or(Value::Null);
    let operation =
        Operation::parse(&json!({ "operation": "delete", "filter": { "$key": { "$in": names } }, "expect": expect }))?;
    blocks::apply(context, call, &head, &view, &operation, &format!("delete {}", names.join(", ")), false).await
}

pub(super) async fn restore(context: &ToolContext, call: &ToolCall, arguments: &Arguments) -> Result<Done, ToolError> {
    let key = arguments.key("key")?;
    let head = context.branch.head().await?;
    let meta = context.meta(call, &format!("restore {key}"))?;
    context.branch.restore(&head, std::slice::from_ref(&key), &meta).await?;
    let receipt = format!("restored `{key}`");
    Ok(Done {
        documents: 1,
        receipt: Some(receipt.clone()),
        events: vec![blocks::complete(context, key.as_str(), "created")],
        ..Done::says(receipt)
    })
}
