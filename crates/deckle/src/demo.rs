//! The main job on a sample workspace: ask, watch, review, merge, and see that every other byte is the same.

mod sample;

use std::collections::BTreeMap;
use std::io::{BufRead as _, Write as _};
use std::path::Path;
use std::sync::Arc;

use deckle_agent::Model;
use deckle_agent::models::script::Script;
use deckle_store::review::Fate;
use deckle_store::{Actor, InitOptions, MergeOptions, Meta};
use deckle_wire::{Outcome, TurnRequest};
use sha2::{Digest as _, Sha256};

use crate::commands::agent;
use crate::commands::branches;
use crate::context;
use crate::failure::Failure;
use crate::show::{self, Paint};

/// What the person asks for.
const REQUEST: &str =
    "API v1 ends in June: warn on every page that uses it, raise the read limit to 600, and rename the targeting guide to rules";

/// Runs the demonstration in a folder that goes away afterwards, or in one that is kept.
pub async fn run(yes: bool, keep: Option<&Path>, paint: &Paint) -> Result<(), Failure> {
    let yes = yes || std::env::var_os("DEMO_YES").is_some_and(|value| value == "1");
    let temporary;
    let folder = match keep {
        Some(folder) => folder,
        None => {
            temporary = tempfile::tempdir()?;
            temporary.path()
        }
    };
    for (path, text) in sample::DOCUMENTS {
        let file = folder.join(path);
        if let Some(parent) = file.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(file, text)?;
    }
    let before = hashes(folder)?;
    say!("{}", paint.bold("A sample workspace: the documentation of a small product"));
    say!("{} in `{}`\n", show::count(before.len(), "document"), folder.display());
    let workspace = context::make(folder, InitOptions::default()).await?;
    let model: Arc<dyn Model> = match context::model() {
        Ok(model) => model,
        Err(_) => Arc::new(Script::parse("demo.yaml", sample::SCRIPT)?),
    };
    say!("{} {}", paint.bold("The request"), paint.dim(&format!("({})", model.name())));
    say!("  {REQUEST}\n");
    let turns = context::turns(&workspace, Some(model)).await?;
    let started = turns.start(None, &TurnRequest { message: REQUEST.into(), branch: None }).await?;
    let outcome = agent::follow(&turns, &started, false, paint).await?;
    if outcome != Some(Outcome::Done) {
        return Err(Failure::Silent(1));
    }
    let untouched = hashes(folder)? == before;
    say!("\n{}", paint.bold("The folder so far"));
    say!(
        "  {}",
        if untouched { "every file is as it was: the changes are on the branch" } else { "files changed, which must not be" }
    );
    if !untouched {
        return Err(Failure::Silent(1));
    }
    say!("\n{}", paint.bold("What the branch changes"));
    let review = workspace.review(&started.branch).await?;
    let mut out = std::io::stdout();
    branches::write_diff(&mut out, &review, false, paint)?;
    if !yes {
        say_part!("\nmerge it? [y/n] ");
        std::io::stdout().flush()?;
        let answer = std::io::stdin().lock().lines().next().transpose()?.unwrap_or_default();
        if !answer.trim().eq_ignore_ascii_case("y") && !answer.trim().eq_ignore_ascii_case("yes") {
            say!("not merged; the folder is as it was");
            return Ok(());
        }
    }
    let all: Vec<_> = review.changes.iter().map(|change| (change.id.clone(), Fate::Accept)).collect();
    workspace.decide(&started.branch, &all, "", &Actor::local()).await?;
    let report = workspace.merge(&started.branch, &MergeOptions::default(), &Meta::new(Actor::local(), "merge")).await?;
    let after = hashes(folder)?;
    say!("\n{}", paint.bold("Merged"));
    let named: Vec<&str> = report.written.iter().chain(&report.removed).map(|(_, file)| file.as_str()).collect();
    for file in &named {
        say!("  {} {file}", if after.contains_key(*file) { paint.green("M") } else { paint.red("D") });
    }
    let stray: Vec<&String> = before
        .keys()
        .chain(after.keys())
        .filter(|file| before.get(*file) != after.get(*file) && !named.contains(&file.as_str()))
        .collect();
    let same = before.iter().filter(|(file, hash)| after.get(*file) == Some(*hash)).count();
    if !stray.is_empty() {
        say!("{} other file(s) changed: {stray:?}", stray.len());
        return Err(Failure::Silent(1));
    }
    say!(
        "\n{} named by the merge; the other {} have the SHA-256 that they had.",
        show::count(named.len(), "file"),
        show::count(same, "file")
    );
    say!("In the changed files, every byte outside the changes above is the same: each write was proven before it was made.");
    if keep.is_some() {
        say!("\nnext: deckle -C {} log", folder.display());
    }
    Ok(())
}

/// The SHA-256 of every file, by its path.
fn hashes(folder: &Path) -> Result<BTreeMap<String, String>, Failure> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(one) = open.pop() {
        for entry in std::fs::read_dir(&one)? {
            let path = entry?.path();
            if path.file_name().is_some_and(|name| name == ".deckle") {
                continue;
            }
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let digest = Sha256::digest(std::fs::read(&path)?);
            let name = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned();
            found.insert(name, digest.iter().map(|byte| format!("{byte:02x}")).collect());
        }
    }
    Ok(found)
}
