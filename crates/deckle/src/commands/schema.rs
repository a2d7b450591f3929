//! Schemas: infer, check.

use deckle_doc::Diag;
use deckle_edit::Documents;
use deckle_edit::schema::{self, Schema};
use serde_json::{Value, json};

use super::read::{key, missing};
use crate::arguments::{Arguments, SchemaCommand};
use crate::context;
use crate::failure::Failure;
use crate::show;

/// Runs a command about schemas.
pub async fn run(arguments: &Arguments, command: &SchemaCommand) -> Result<(), Failure> {
    match command {
        SchemaCommand::Infer { name, folder, of_type, at } => {
            infer(arguments, name, folder.as_deref(), of_type.as_deref(), at.branch.as_deref()).await
        }
        SchemaCommand::Check { keys, at } => check(arguments, keys, at.branch.as_deref()).await,
    }
}

async fn infer(
    arguments: &Arguments,
    name: &str,
    folder: Option<&str>,
    of_type: Option<&str>,
    branch: Option<&str>,
) -> Result<(), Failure> {
    let workspace = context::open(arguments).await?;
    let snapshot = context::snapshot(&workspace, branch).await?;
    let view = context::view(&snapshot, None, snapshot.dialect()).await?;
    let bound = Schema {
        name: name.to_owned(),
        folder: folder.map(|folder| folder.trim_matches('/').to_owned()),
        of_type: of_type.map(str::to_owned),
        ..Schema::default()
    };
    let found: Vec<_> = view.iter().filter(|(key, tree)| bound.is_for(key, tree)).map(|(_, tree)| tree).collect();
    if found.is_empty() {
        return Err(Diag::new("no-document", "there is no document to infer a schema from")
            .hint("name a folder or a type that has documents; `deckle find` lists the keys")
            .into());
    }
    let inferred = schema::infer(name, found.iter().copied());
    let schema = Schema { folder: bound.folder, of_type: bound.of_type, ..inferred };
    if !arguments.json {
        say!("# from {}", show::count(found.len(), "document"));
    }
    say!("{}", schema.to_toml().trim_end());
    Ok(())
}

async fn check(arguments: &Arguments, keys: &[String], branch: Option<&str>) -> Result<(), Failure> {
    let workspace = context::open(arguments).await?;
    let config = context::config(&workspace)?;
    if config.schemas.is_empty() {
        return Err(Diag::new("no-schema", "the workspace has no schema")
            .hint("put one into `deckle.toml`; `deckle schema infer NAME --folder DIR` writes it")
            .into());
    }
    let snapshot = context::snapshot(&workspace, branch).await?;
    let view = context::view(&snapshot, None, snapshot.dialect()).await?;
    let asked = keys.iter().map(|name| key(name)).collect::<Result<Vec<_>, _>>()?;
    if let Some(unknown) = asked.iter().find(|key| !view.contains(key)) {
        return Err(missing(unknown, &snapshot).await?);
    }
    let (mut checked, mut broken) = (0, 0);
    for (key, tree) in view.iter().filter(|(key, _)| asked.is_empty() || asked.contains(key)) {
        for schema in config.schemas.iter().filter(|schema| schema.is_for(key, tree)) {
            checked += 1;
            let problems = schema.problems(tree);
            broken += usize::from(!problems.is_empty());
            for problem in problems {
                if arguments.json {
                    let line: Value =
                        json!({ "key": key.as_str(), "schema": schema.name, "problem": problem.what, "hint": problem.hint });
                    say!("{line}");
                } else {
                    say!("{key}: {} (schema `{}`; {})", problem.what, schema.name, problem.hint);
                }
            }
        }
    }
    if !arguments.json {
        say!("{} checked, {broken} broken", show::count(checked, "document"));
    }
    if broken == 0 { Ok(()) } else { Err(Failure::Silent(1)) }
}
