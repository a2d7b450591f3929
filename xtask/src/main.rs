//! Checks, proofs and generated files of the Deckle workspace. `cargo xtask --help` is the manual.

mod bench;
mod deps;
mod fixture;
mod fuzz;
mod prove;
mod sabotage;
mod spec;
mod tidy;
mod workspace;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Checks, proofs and generated files of the Deckle workspace.
#[derive(Parser)]
#[command(name = "xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Check the rules of the house: crate order, pure crates, module docs, forbidden words, file sizes, links.
    Tidy,
    /// Check dependencies: licences, sources, bans, and dependencies that nothing uses.
    Deps,
    /// Write the store that today's schema version leaves behind, for later versions to open.
    Fixture,
    /// Write docs/benchmarks.md from what criterion measured last.
    Bench,
    /// Build each sabotage and demand that its harness fails.
    Sabotage {
        /// Only this one.
        #[arg(long)]
        only: Option<String>,
    },
    /// Run every case of `spec/` on an implementation: a command that reads one operation a line and writes one answer a line, both JSON.
    Spec {
        /// The command, run by `sh -c`.
        #[arg(long, required_unless_present = "answer", conflicts_with = "answer")]
        against: Option<String>,
        /// Be such a command: answer as the reference does.
        #[arg(long)]
        answer: bool,
    },
    /// Try a property on real documents: many times, from a seed.
    Prove {
        #[command(subcommand)]
        what: Prove,
    },
    /// Run the fuzz targets: first every saved case, then new inputs for SECONDS each.
    Fuzz {
        /// Seconds of new inputs for each target.
        #[arg(long, default_value_t = 30)]
        seconds: u64,
        /// Only this target.
        #[arg(long)]
        only: Option<String>,
    },
}

/// What to prove.
#[derive(Subcommand)]
enum Prove {
    /// Block ids over the history of a git repository: how many blocks keep theirs.
    Ids {
        /// The repository.
        #[arg(long)]
        repository: PathBuf,
        /// How many commits.
        #[arg(long, default_value_t = 500)]
        commits: usize,
    },
    /// Documents: every byte has its place, blocks agree with the reference parser, front matter edits change one key.
    Docs {
        /// The folder with Markdown files.
        #[arg(long)]
        corpus: PathBuf,
        /// The seed; the same seed tries the same mutations.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// How many mutations.
        #[arg(long, default_value_t = 100_000)]
        mutations: u64,
    },
    /// Random operations, valid and hostile: nothing that an operation does not name may change.
    Edits {
        /// The folder with Markdown files.
        #[arg(long)]
        corpus: PathBuf,
        /// The seed; the same seed tries the same operations.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// How many operations.
        #[arg(long, default_value_t = 50_000)]
        edits: u64,
    },
}

fn main() -> ExitCode {
    let root = workspace::root();
    let outcome = match Arguments::parse().task {
        Task::Tidy => tidy::run(&root),
        Task::Deps => deps::run(&root),
        Task::Fixture => fixture::run(&root),
        Task::Bench => bench::run(&root),
        Task::Sabotage { only } => sabotage::run(&root, only.as_deref()),
        Task::Prove { what: Prove::Docs { corpus, seed, mutations } } => prove::docs::run(&corpus, seed, mutations),
        Task::Prove { what: Prove::Ids { repository, commits } } => prove::ids::run(&repository, commits),
        Task::Prove { what: Prove::Edits { corpus, seed, edits } } => prove::edits::run(&corpus, seed, edits),
        Task::Spec { against: Some(command), .. } => spec::against(&root, &command),
        Task::Spec { .. } => spec::answer(),
        Task::Fuzz { seconds, only } => fuzz::run(&root, seconds, only.as_deref()),
    };
    match outcome {
        Ok(summary) => {
            println!("{summary}");
            ExitCode::SUCCESS
        }
        Err(problems) => {
            for problem in &problems.0 {
                eprintln!("error: {problem}");
            }
            eprintln!("{} problem(s)", problems.0.len());
            ExitCode::FAILURE
        }
    }
}

/// What a task found wrong, one line each.
pub struct Problems(Vec<String>);

impl Problems {
    fn one(text: impl Into<String>) -> Self {
        Self(vec![text.into()])
    }

    /// `Ok(summary)` when nothing was found.
    fn or(list: Vec<String>, summary: impl Into<String>) -> Result<String, Self> {
        if list.is_empty() { Ok(summary.into()) } else { Err(Self(list)) }
    }
}

/// A path shown relative to the workspace.
fn relative(root: &std::path::Path, path: &std::path::Path) -> String {
    path.strip_prefix(root).map_or_else(|_| path.display().to_string(), |p: &std::path::Path| p.display().to_string())
}

/// Where builds that must not disturb the ordinary one go.
fn side_target(name: &str) -> PathBuf {
    let base = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace::root().join("target"), PathBuf::from);
    base.join(name)
}
