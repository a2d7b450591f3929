//! The commands, one function each.

pub mod agent;
pub mod branches;
mod mcp;
mod read;
mod schema;
mod write;

use std::io::Write as _;

use clap::CommandFactory as _;
use deckle_doc::Diag;
use deckle_store::{InitOptions, NotDocument, OtherFile, Tenant, Workspace};
use serde_json::json;

use crate::arguments::{Arguments, BranchCommand, Command};
use crate::failure::Failure;
use crate::{context, demo, show};

/// Runs the command.
pub async fn run(arguments: &Arguments) -> Result<(), Failure> {
    let paint = show::Paint(show::colour(arguments.color));
    match &arguments.command {
        Command::Init { allow_empty } => init(arguments, *allow_empty).await,
        Command::Get { key, section, block, lines, lens, tokens, from, at } => {
            let part = read::Wished {
                section: section.as_deref(),
                block: block.as_deref(),
                lines: lines.as_deref(),
                lens: *lens,
                tokens: *tokens,
                from: from.as_deref(),
            };
            read::get(arguments, key, &part, at.branch.as_deref()).await
        }
        Command::Outline { key, at } => read::outline(arguments, key, at.branch.as_deref()).await,
        Command::Blocks { paths, dialect, directives, ids, inline } => read::blocks(paths, dialect, *directives, *ids, *inline),
        Command::Find { words, filter, key, blocks, matches, sort, limit, at } => {
            let wanted = read::Wanted {
                words: words.as_deref(),
                filter: filter.as_deref(),
                keys: key,
                blocks: blocks.as_deref(),
                matches: matches.as_deref(),
                sort: sort.as_deref(),
                limit: *limit,
            };
            read::find(arguments, &wanted, at.branch.as_deref()).await
        }
        Command::Count { filter, at } => read::count(arguments, filter.as_deref(), at.branch.as_deref()).await,
        Command::Update { .. } | Command::Create { .. } | Command::Rename { .. } | Command::Delete { .. } => {
            write::run(arguments).await
        }
        Command::Restore { keys, at } => write::restore(arguments, keys, at.branch.as_deref()).await,
        Command::Section(command) => write::section(arguments, command).await,
        Command::Schema(command) => schema::run(arguments, command).await,
        Command::Branch(BranchCommand::List) => branches::list(arguments, &paint).await,
        Command::Branch(BranchCommand::Create { name }) => branches::create(arguments, name).await,
        Command::Branch(BranchCommand::Delete { name }) | Command::Discard { branch: name } => {
            branches::discard(arguments, name).await
        }
        Command::Diff { branch, stat } => branches::diff(arguments, branch, *stat, &paint).await,
        Command::Review { branch, accept, reject, undo } => {
            branches::review(arguments, branch, accept, reject, *undo, &paint).await
        }
        Command::Merge { branch, all, only, ours, theirs, dry_run, allow_damage } => {
            let (all, dry_run, allow_damage) = (*all, *dry_run, *allow_damage);
            let asked = branches::Merging { all, only, ours, theirs, dry_run, allow_damage };
            branches::merge(arguments, branch, &asked, &paint).await
        }
        Command::Log { branch, limit } => branches::log(arguments, branch.as_deref(), *limit, &paint).await,
        Command::Undo { run } => branches::undo(arguments, run).await,
        Command::Agent { request, resume, branch, ndjson, .. } => {
            agent::run(arguments, request.as_deref(), resume.as_deref(), branch.as_deref(), *ndjson, &paint).await
        }
        Command::Mcp { http, branch, direct } => mcp::run(arguments, *http, branch.as_deref(), *direct).await,
        Command::Serve { port, redis, lease } => agent::serve(arguments, *port, redis.as_deref(), *lease).await,
        Command::Demo { yes, keep } => demo::run(*yes, keep.as_deref(), &paint).await,
        Command::Doctor => doctor(arguments, &paint).await,
        Command::Fsck => fsck(arguments).await,
        Command::Completions { shell } => {
            clap_complete::generate(*shell, &mut Arguments::command(), "deckle", &mut std::io::stdout());
            Ok(())
        }
        Command::Man => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Arguments::command()).render(&mut page)?;
            std::io::stdout().write_all(&page)?;
            Ok(())
        }
    }
}

async fn init(arguments: &Arguments, allow_empty: bool) -> Result<(), Failure> {
    let options = InitOptions { allow_empty, ..InitOptions::default() };
    let workspace = match arguments.database {
        Some(_) => context::open(arguments).await?,
        None => context::make(&arguments.directory, options).await?,
    };
    let snapshot = workspace.snapshot().await?;
    let (documents, others) = (snapshot.keys().await?.len(), snapshot.others().await?);
    if arguments.json {
        say!("{}", json!({ "documents": documents, "others": others.len(), "commit": snapshot.commit().to_string() }));
        return Ok(());
    }
    match workspace.folder() {
        Some(_) => say!("{} in `{}`", show::count(documents, "document"), arguments.directory.display()),
        None => say!("{} in the workspace `{}`", show::count(documents, "document"), arguments.workspace),
    }
    for other in documents_that_are_none(&others) {
        say!("  kept as it is: {other}");
    }
    say!("next: deckle find WORDS, or deckle agent \"…\"");
    Ok(())
}

/// Markdown files that are kept and not read, and why: ten of them, and how many more.
fn documents_that_are_none(others: &[OtherFile]) -> Vec<String> {
    let named: Vec<&OtherFile> = others.iter().filter(|other| other.why != NotDocument::NotMarkdown).collect();
    let mut lines: Vec<String> = named.iter().take(10).map(|other| format!("{} ({})", other.path, other.why.as_str())).collect();
    if named.len() > lines.len() {
        lines.push(format!("and {} more", named.len() - lines.len()));
    }
    lines
}

async fn doctor(arguments: &Arguments, paint: &show::Paint) -> Result<(), Failure> {
    let mut bad = 0;
    let mut line = |good: bool, what: &str, detail: &str| -> Result<(), Failure> {
        bad += usize::from(!good);
        say!("{} {what}: {detail}", if good { paint.green("ok ") } else { paint.red("bad") });
        Ok(())
    };
    match existing(arguments).await {
        Ok(workspace) => {
            let snapshot = workspace.snapshot().await?;
            line(true, "workspace", &show::count(snapshot.keys().await?.len(), "document"))?;
            line(true, "dialect", snapshot.dialect().name())?;
            let kept = documents_that_are_none(&snapshot.others().await?);
            line(true, "kept as they are", &if kept.is_empty() { "no file".to_owned() } else { kept.join(", ") })?;
            let running = workspace.sessions().running_turns().await?.len();
            line(true, "turns", &format!("{running} running"))?;
        }
        Err(Failure::Diag(diag)) => line(false, "workspace", &diag.to_string().replace('\n', "; "))?,
        Err(other) => return Err(other),
    }
    match context::model() {
        Ok(model) => line(true, "model", &model.name())?,
        Err(error) => line(false, "model", &Diag::from(&error).to_string().replace('\n', "; "))?,
    }
    let git = std::process::Command::new("git").arg("--version").output();
    line(
        git.is_ok_and(|output| output.status.success()),
        "git",
        "branches are also shown as refs/heads/deckle/… inside a git repository",
    )?;
    if bad > 0 { Err(Failure::Silent(1)) } else { Ok(()) }
}

/// Opens the workspace without making one of a folder: whoever checks must not write.
async fn existing(arguments: &Arguments) -> Result<Workspace, Failure> {
    match arguments.database {
        Some(_) => context::open(arguments).await,
        None => Ok(Workspace::open(&arguments.directory).await?),
    }
}

async fn fsck(arguments: &Arguments) -> Result<(), Failure> {
    let workspace = existing(arguments).await?;
    let report = workspace.store().fsck(&Tenant::local()).await?;
    if arguments.json {
        let findings: Vec<_> = report
            .findings
            .iter()
            .map(|finding| json!({ "kind": finding.kind.as_str(), "at": finding.at, "detail": finding.detail }))
            .collect();
        say!("{}", json!({ "objects": report.objects, "refs": report.refs, "ops": report.ops, "findings": findings }));
    } else {
        for finding in &report.findings {
            say!("{} {}: {}", finding.kind.as_str(), finding.at, finding.detail);
        }
        say!(
            "{}, {}, {} checked; {}",
            show::count(report.objects, "object"),
            show::count(report.refs, "ref"),
            show::count(report.ops, "log entry"),
            show::count(report.findings.len(), "finding")
        );
    }
    if report.findings.is_empty() { Ok(()) } else { Err(Failure::Silent(1)) }
}
