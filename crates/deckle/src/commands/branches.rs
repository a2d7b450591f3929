//! Branches: list, create, discard, diff, review, merge, log, undo.

use std::collections::BTreeMap;
use std::io::{BufRead as _, IsTerminal as _, Write as _};

use deckle_doc::Diag;
use deckle_store::diff::{Change, ChangeId};
use deckle_store::review::Fate;
use deckle_store::{
    Actor, BranchId, DamageGate, Gate, LogFilter, MergeOptions, Meta, Resolution, Review, RunId, Selection, StoreError, Workspace,
};
use serde_json::json;

use crate::arguments::Arguments;
use crate::context;
use crate::failure::Failure;
use crate::show::{self, Paint};

async fn open(arguments: &Arguments) -> Result<Workspace, Failure> {
    context::open(arguments).await
}

pub async fn list(arguments: &Arguments, paint: &Paint) -> Result<(), Failure> {
    let branches = open(arguments).await?.branches().await?;
    if arguments.json {
        let all: Vec<_> = branches
            .iter()
            .map(|branch| json!({ "name": branch.id.as_str(), "state": branch.state.as_str(), "intent": branch.intent }))
            .collect();
        say!("{}", json!(all));
        return Ok(());
    }
    if branches.is_empty() {
        say!("no branches; `deckle agent \"…\"` or `deckle branch create NAME` makes one");
    }
    let width = branches.iter().map(|branch| branch.id.as_str().len()).max().unwrap_or(0);
    for branch in branches {
        say!("{}  {:9}  {}", paint.bold(&format!("{:width$}", branch.id.as_str())), branch.state.as_str(), branch.intent);
    }
    Ok(())
}

pub async fn create(arguments: &Arguments, name: &str) -> Result<(), Failure> {
    let workspace = open(arguments).await?;
    workspace.snapshot().await?;
    workspace.create_branch(&BranchId::parse(name)?, &Actor::local(), "").await?;
    say!("created branch {name}");
    Ok(())
}

pub async fn discard(arguments: &Arguments, name: &str) -> Result<(), Failure> {
    open(arguments).await?.discard(&BranchId::parse(name)?, &Actor::local()).await?;
    say!("discarded {name}; its history stays in the log");
    Ok(())
}

fn decision(review: &Review, change: &Change) -> Option<&'static str> {
    review.decisions.get(&change.id).map(|decision| match decision.fate {
        Fate::Accept => "accepted",
        Fate::Reject => "rejected",
        Fate::Edit(_) => "edited",
    })
}

pub async fn diff(arguments: &Arguments, name: &str, stat: bool, paint: &Paint) -> Result<(), Failure> {
    let review = open(arguments).await?.review(&BranchId::parse(name)?).await?;
    if arguments.json {
        let changes: Vec<_> = review
            .changes
            .iter()
            .map(|change| {
                let mut value = serde_json::to_value(change).unwrap_or_default();
                value["decision"] = json!(decision(&review, change));
                value
            })
            .collect();
        say!("{}", json!(changes));
        return Ok(());
    }
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    write_diff(&mut out, &review, stat, paint)?;
    out.flush()?;
    Ok(())
}

/// Writes the changes of a branch by document, then the counts.
pub fn write_diff(out: &mut impl std::io::Write, review: &Review, stat: bool, paint: &Paint) -> Result<(), Failure> {
    let mut by_document: BTreeMap<&str, Vec<&Change>> = BTreeMap::new();
    for change in &review.changes {
        by_document.entry(&change.key).or_default().push(change);
    }
    for (key, changes) in &by_document {
        if stat {
            writeln!(out, "{key}  {}", show::count(changes.len(), "change"))?;
            continue;
        }
        writeln!(out, "{}", paint.bold(key))?;
        for change in changes {
            for line in show::change(change, paint, decision(review, change)).lines() {
                writeln!(out, "  {line}")?;
            }
        }
        writeln!(out)?;
    }
    let open = review.undecided().count();
    writeln!(
        out,
        "{} in {}, {open} undecided",
        show::count(review.changes.len(), "change"),
        show::count(by_document.len(), "document")
    )?;
    Ok(())
}

fn chosen(review: &Review, names: &[String]) -> Result<Vec<ChangeId>, Failure> {
    if names.iter().any(|name| name == "all") {
        return Ok(review.undecided().map(|change| change.id.clone()).collect());
    }
    names
        .iter()
        .map(|name| {
            let matching: Vec<&Change> =
                review.changes.iter().filter(|change| change.id.as_str().starts_with(name.as_str())).collect();
            match matching.as_slice() {
                [one] => Ok(one.id.clone()),
                [] => Err(Diag::new("no-change", format!("there is no change `{name}` on the branch"))
                    .hint("`deckle diff BRANCH` shows the ids")
                    .into()),
                many => Err(Diag::new("usage", format!("`{name}` is the start of {} ids", many.len()))
                    .hint("write more of it")
                    .into()),
            }
        })
        .collect()
}

pub async fn review(
    arguments: &Arguments,
    name: &str,
    accept: &[String],
    reject: &[String],
    undo: bool,
    paint: &Paint,
) -> Result<(), Failure> {
    let workspace = open(arguments).await?;
    let id = BranchId::parse(name)?;
    let review = workspace.review(&id).await?;
    if undo {
        match workspace.undo_decision(&id).await? {
            Some(change) => say!("undecided again: {change}"),
            None => say!("no decision to take back"),
        }
        return Ok(());
    }
    let mut decided: Vec<(ChangeId, Fate)> = chosen(&review, accept)?.into_iter().map(|id| (id, Fate::Accept)).collect();
    decided.extend(chosen(&review, reject)?.into_iter().map(|id| (id, Fate::Reject)));
    if !decided.is_empty() || !accept.is_empty() || !reject.is_empty() {
        let count = decided.len();
        workspace.decide(&id, &decided, "", &Actor::local()).await?;
        say!("{} decided; next: deckle merge {name}", show::count(count, "change"));
        return Ok(());
    }
    if !std::io::stdin().is_terminal() {
        return diff(arguments, name, false, paint).await;
    }
    walk(&workspace, &id, &review, paint).await
}

/// Walks the open changes one by one.
async fn walk(workspace: &Workspace, id: &BranchId, review: &Review, paint: &Paint) -> Result<(), Failure> {
    let open: Vec<&Change> = review.undecided().collect();
    let mut at = 0;
    let mut lines = std::io::stdin().lock().lines();
    while let Some(change) = open.get(at) {
        say!("\n{} ({} of {})", paint.bold(&change.key), at + 1, open.len());
        say_part!("{}", show::change(change, paint, None));
        say_part!("accept, reject, skip, undo, quit? [a/r/s/u/q] ");
        std::io::stdout().flush()?;
        let Some(answer) = lines.next().transpose()? else { break };
        match answer.trim() {
            "a" | "accept" => workspace.decide(id, &[(change.id.clone(), Fate::Accept)], "", &Actor::local()).await?,
            "r" | "reject" => workspace.decide(id, &[(change.id.clone(), Fate::Reject)], "", &Actor::local()).await?,
            "s" | "skip" | "" => {}
            "u" | "undo" => {
                workspace.undo_decision(id).await?;
                at = at.saturating_sub(1);
                continue;
            }
            "q" | "quit" => break,
            other => {
                say!("`{other}` is none of a r s u q");
                continue;
            }
        }
        at += 1;
    }
    let left = workspace.review(id).await?.undecided().count();
    say!("\ndecisions are kept; {left} undecided; next: deckle merge {id}");
    Ok(())
}

/// How a merge was asked for.
pub struct Merging<'a> {
    pub all: bool,
    pub only: &'a [String],
    pub ours: &'a [String],
    pub theirs: &'a [String],
    pub dry_run: bool,
    pub allow_damage: bool,
}

pub async fn merge(arguments: &Arguments, name: &str, asked: &Merging<'_>, paint: &Paint) -> Result<(), Failure> {
    let workspace = open(arguments).await?;
    let id = BranchId::parse(name)?;
    let dry_run = asked.dry_run;
    let selection = if asked.only.is_empty() {
        asked.all.then_some(Selection::All)
    } else {
        Some(Selection::Only(chosen(&workspace.review(&id).await?, asked.only)?.into_iter().collect()))
    };
    let mut resolutions = BTreeMap::new();
    for (keys, side) in [(asked.ours, Resolution::Ours), (asked.theirs, Resolution::Theirs)] {
        for key in keys {
            resolutions.insert(super::read::key(key)?, side.clone());
        }
    }
    let damage = match asked.allow_damage {
        true => None,
        false => Some(DamageGate::new(&workspace.snapshot().await?).await?),
    };
    let refuse = damage.as_ref().map(|damage| |documents: &_| damage.findings(documents));
    let gate = refuse.as_ref().map(|refuse| refuse as Gate<'_>);
    let options = MergeOptions { selection, resolutions, dry_run, gate };
    let report = match workspace.merge(&id, &options, &Meta::new(Actor::local(), &format!("merge {name}"))).await {
        Ok(report) => report,
        Err(StoreError::Conflicts(conflicts)) => {
            if !arguments.json {
                for conflict in &conflicts {
                    eprint!("{}", show::conflict(conflict, paint));
                }
            }
            let diag = Diag::from(&StoreError::Conflicts(conflicts));
            let keep = format!("`deckle merge {name} --ours KEY` keeps the folder's side, `--theirs KEY` takes the branch's");
            return Err(diag.hint(keep).into());
        }
        Err(error @ StoreError::Unsound { .. }) if !asked.allow_damage => {
            let take = format!("`deckle merge {name} --allow-damage` takes it all the same; nothing was written");
            return Err(Diag::from(&error).hint(take).into());
        }
        Err(error) => return Err(error.into()),
    };
    if report.merged.is_empty() && !report.left.is_empty() {
        let diag = Diag::new("nothing-accepted", format!("nothing of `{name}` was accepted, and nothing was written"));
        let diag = diag.hint(format!("decide with `deckle review {name}`, or take everything with `deckle merge {name} --all`"));
        return Err(diag.into());
    }
    if arguments.json {
        let files: Vec<&str> = report.written.iter().map(|(_, file)| file.as_str()).collect();
        let removed: Vec<&str> = report.removed.iter().map(|(_, file)| file.as_str()).collect();
        say!(
            "{}",
            json!({ "merged": report.merged.len(), "left": report.left.len(), "written": files, "removed": removed, "state": report.state.as_str() })
        );
        return Ok(());
    }
    if report.merged.is_empty() {
        say!("nothing is left to merge; the folder is as it was");
        return Ok(());
    }
    let verb = if dry_run { "would write" } else { "wrote" };
    say!(
        "{verb} {} to {}:",
        show::count(report.merged.len(), "change"),
        show::count(report.written.len() + report.removed.len(), "file")
    );
    for (_, file) in &report.written {
        say!("  {} {file}", paint.green("M"));
    }
    for (_, file) in &report.removed {
        say!("  {} {file}", paint.red("D"));
    }
    if !report.left.is_empty() {
        say!("{} stay on the branch", show::count(report.left.len(), "change"));
    }
    Ok(())
}

pub async fn log(arguments: &Arguments, branch: Option<&str>, limit: u32, paint: &Paint) -> Result<(), Failure> {
    let workspace = open(arguments).await?;
    let filter = LogFilter { branch: branch.map(BranchId::parse).transpose()?, limit: Some(limit), ..LogFilter::default() };
    for op in workspace.log(&filter).await? {
        let place = op.branch.as_ref().map_or_else(|| "main".to_owned(), ToString::to_string);
        let run = op.run.as_ref().map(|run| format!(" {run}")).unwrap_or_default();
        if arguments.json {
            say!(
                "{}",
                json!({ "op": op.seq, "at": op.at.0, "branch": place, "kind": op.kind.as_str(), "actor": op.actor.to_string(), "run": op.run.as_ref().map(RunId::as_str), "intent": op.intent, "receipt": op.receipt })
            );
            continue;
        }
        let at =
            jiff::Timestamp::from_millisecond(op.at.0).map(|at| at.strftime("%Y-%m-%d %H:%M:%S").to_string()).unwrap_or_default();
        say!(
            "{} {at} {:8} {} {}: {}{}",
            paint.cyan(&format!("{:>4}", op.seq)),
            op.kind.as_str(),
            paint.bold(&place),
            op.actor,
            op.intent,
            paint.dim(&run)
        );
    }
    Ok(())
}

pub async fn undo(arguments: &Arguments, name: &str) -> Result<(), Failure> {
    let workspace = open(arguments).await?;
    let meta = Meta::new(Actor::local(), &format!("undo {name}"));
    let run = match name.parse::<i64>() {
        Ok(number) => {
            let all = workspace.log(&LogFilter { limit: Some(10_000), ..LogFilter::default() }).await?;
            let op = all.into_iter().find(|op| op.seq == number);
            let Some(op) = op else {
                return Err(Diag::new("no-operation", format!("there is no operation {number}"))
                    .hint("`deckle log` shows the numbers")
                    .into());
            };
            match op.run {
                Some(run) => run,
                None => {
                    return Err(Diag::new("usage", format!("operation {number} belongs to no run"))
                        .hint("undo takes a run: `deckle log` shows them")
                        .into());
                }
            }
        }
        Err(_) => RunId::parse(name)?,
    };
    let report = workspace.undo(&run, &BTreeMap::new(), &meta).await?;
    let place = report.branch.as_ref().map_or_else(|| "the folder".to_owned(), |branch| format!("branch {branch}"));
    let keys: Vec<&str> = report.keys.iter().map(deckle_doc::DocKey::as_str).collect();
    say!("took {run} back on {place}: {}", if keys.is_empty() { "nothing was left of it".to_owned() } else { keys.join(", ") });
    Ok(())
}
