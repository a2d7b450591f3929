//! What the loop costs beside the tools that it calls: fifty iterations of a scripted model, and the same fifty calls without it.
#![allow(clippy::unwrap_used, missing_docs)]

use std::fmt::Write as _;
use std::sync::Mutex;

use async_trait::async_trait;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use deckle_agent::chat::{ChatMessage, ToolCall};
use deckle_agent::drive::{Journal, drive};
use deckle_agent::models::script::Script;
use deckle_agent::run::Run;
use deckle_agent::tools::{self, Budget, Seen, Spent, ToolContext};
use deckle_doc::Dialect;
use deckle_doc::types::Rules;
use deckle_store::{Actor, BranchId, InitOptions, RunId, StoreError, Workspace};
use deckle_wire::Event;
use serde_json::json;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// One call each; the last answer is the end.
const ITERATIONS: usize = 49;

/// Keeps nothing, so that the loop alone is measured.
struct Nowhere;

#[async_trait]
impl Journal for Nowhere {
    async fn checkpoint(&self, _place: usize, _messages: &[ChatMessage]) -> Result<(), StoreError> {
        Ok(())
    }

    async fn emit(&self, _event: Event) -> Result<(), StoreError> {
        Ok(())
    }
}

fn driver(c: &mut Criterion) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let dir = TempDir::new().unwrap();
    std::fs::write(dir.path().join("page.md"), format!("# Page\n\n{}\n", "Some words of text. ".repeat(60))).unwrap();
    let context = runtime.block_on(async {
        let workspace = Workspace::init(dir.path(), InitOptions::default()).await.unwrap();
        let branch = workspace.create_branch(&BranchId::parse("work").unwrap(), &Actor::local(), "").await.unwrap();
        ToolContext {
            branch,
            run: RunId::parse("measured").unwrap(),
            actor: Actor::local().agent("Agent"),
            lease: None,
            dialect: Dialect::Generic,
            rules: Rules::default(),
            budget: Budget::default(),
            spent: Mutex::new(Spent::default()),
            config: deckle_edit::Config::default(),
            seen: Seen::default(),
        }
    });
    let mut script = String::from("steps:\n");
    for _ in 0..ITERATIONS {
        let _ = writeln!(
            script,
            "  - calls:\n      - tool: report_progress\n        arguments: {{ message: working, done: 1, total: 2 }}"
        );
    }
    script.push_str("  - text: Done.\n");
    let model = Script::parse("measured.yaml", &script).unwrap();
    let mut group = c.benchmark_group("iterations of a run");
    group.sample_size(20).throughput(Throughput::Elements(ITERATIONS as u64));
    group.bench_function("the loop with a scripted model", |b| {
        b.iter(|| {
            runtime.block_on(async {
                let mut run = Run::start(Vec::new(), "Measure.");
                drive(&mut run, "", &model, &context, &Nowhere, &CancellationToken::new()).await.unwrap()
            })
        });
    });
    group.bench_function("the same tool calls alone", |b| {
        b.iter(|| {
            runtime.block_on(async {
                for number in 0..ITERATIONS {
                    let arguments = json!({"message": "working", "done": 1, "total": 2});
                    let call = ToolCall { id: format!("call-{number}"), name: "report_progress".into(), arguments, broken: None };
                    tools::call(&context, &call).await.unwrap();
                }
            });
        });
    });
    group.finish();
}

criterion_group!(benches, driver);
criterion_main!(benches);
