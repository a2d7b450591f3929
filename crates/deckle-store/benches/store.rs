//! The store beside what it stands on: acknowledged transactions beside a bare insert and commit, a snapshot beside a walk, and
//! branch, diff and merge of ten changes beside git's own on the same tree.
//!
//! `DECKLE_BENCH_LARGE=1` adds 100,000 documents; `DECKLE_TEST_POSTGRES` adds the second engine.
#![allow(clippy::unwrap_used, missing_docs)]

use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use deckle_doc::DocKey;
use deckle_store::{
    Actor, Branch, BranchId, Changes, InitOptions, MergeOptions, Meta, Selection, Store, StoreError, Tenant, Workspace,
    WorkspaceId,
};
use sqlx::ConnectOptions;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// How many transactions one measurement of writers makes.
const TRANSACTIONS: u64 = 256;

fn folder(count: usize) -> TempDir {
    let dir = TempDir::new().unwrap();
    for n in 0..count {
        let sub = dir.path().join(format!("d{}", n / 100));
        std::fs::create_dir_all(&sub).unwrap();
        std::fs::write(sub.join(format!("n{n}.md")), format!("# Note {n}\n\n{}\n", "Some words of text. ".repeat(60))).unwrap();
    }
    dir
}

fn walk(dir: &Path) -> usize {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap());
    let seen = entries.filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'));
    seen.map(
        |entry| if entry.file_type().unwrap().is_dir() { walk(&entry.path()) } else { entry.metadata().unwrap().len() as usize },
    )
    .sum()
}

fn git(dir: &Path, arguments: &[&str]) -> String {
    let done = Command::new("git")
        .arg("-C")
        .arg(dir)
        .args(["-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "gc.auto=0"])
        .args(arguments)
        .output()
        .expect("git is installed");
    assert!(done.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

fn key(text: &str) -> DocKey {
    DocKey::parse(text).unwrap()
}

fn branch_id(text: &str) -> BranchId {
    BranchId::parse(text).unwrap()
}

/// A name that nobody had.
fn next() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::SeqCst)
}

async fn commit(branch: &Branch, n: u64) {
    loop {
        let base = branch.head().await.unwrap();
        let changes = Changes::new().write(key("count"), format!("# {n}\n\nText.\n"));
        match branch.commit(&base, &changes, &Meta::new(Actor::local(), "edit")).await {
            Ok(_) => return,
            Err(StoreError::Moved { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

/// Acknowledged transactions with 1, 8 and 64 writers, each on a branch of its own, beside the engine's own limit.
fn writers(c: &mut Criterion) {
    let runtime = Runtime::new().unwrap();
    let dir = TempDir::new().unwrap();
    let mut engines = vec![("SQLite", format!("sqlite:{}", dir.path().join("s.db").display()))];
    engines.extend(std::env::var("DECKLE_TEST_POSTGRES").ok().map(|url| ("Postgres", url)));
    for (engine, url) in engines {
        let tenant = Tenant::parse(&format!("bench-{}-{}", std::process::id(), next())).unwrap();
        let store = runtime.block_on(Store::open(&url)).unwrap();
        let id = WorkspaceId::parse("docs").unwrap();
        let workspace = runtime.block_on(store.create_workspace(&tenant, &id, &Actor::local())).unwrap();
        let mut group = c.benchmark_group(format!("acknowledged transactions, {engine}"));
        group.sample_size(10).measurement_time(Duration::from_secs(10)).throughput(Throughput::Elements(1));
        for count in [1_u64, 8, 64] {
            let branches: Vec<Branch> = (0..count)
                .map(|_| {
                    let id = branch_id(&format!("w{}", next()));
                    runtime.block_on(workspace.create_branch(&id, &Actor::local(), "")).unwrap()
                })
                .collect();
            group.bench_with_input(BenchmarkId::new("commit of one document", count), &count, |b, _| {
                b.iter_custom(|times| {
                    let each = TRANSACTIONS.min(times.max(count)).div_ceil(count);
                    let begun = Instant::now();
                    runtime.block_on(async {
                        let work = branches.iter().map(|branch| {
                            let branch = branch.clone();
                            tokio::spawn(async move {
                                for n in 0..each {
                                    commit(&branch, n).await;
                                }
                            })
                        });
                        for done in work.collect::<Vec<_>>() {
                            done.await.unwrap();
                        }
                    });
                    begun.elapsed().mul_f64(times as f64 / (each * count) as f64)
                });
            });
            bare(&runtime, &mut group, engine, &url, count);
        }
        group.finish();
    }
}

/// A bare insert and commit by so many connections.
fn bare(
    runtime: &Runtime,
    group: &mut criterion::BenchmarkGroup<'_, criterion::measurement::WallTime>,
    engine: &str,
    url: &str,
    count: u64,
) {
    let table = format!("bare_{}_{}", std::process::id(), next());
    let create = format!("CREATE TABLE {table} (n BIGINT, x TEXT)");
    let insert = format!("INSERT INTO {table} VALUES (1, 'text')");
    macro_rules! measure {
        ($connections:expr) => {{
            let mut connections = $connections;
            runtime.block_on(sqlx::raw_sql(sqlx::AssertSqlSafe(create)).execute(&mut connections[0])).unwrap();
            group.bench_with_input(BenchmarkId::new("bare insert and commit", count), &count, |b, _| {
                b.iter_custom(|times| {
                    let each = TRANSACTIONS.min(times.max(count)).div_ceil(count);
                    let begun = Instant::now();
                    runtime.block_on(futures::future::join_all(connections.iter_mut().map(|connection| {
                        let insert = &insert;
                        async move {
                            for _ in 0..each {
                                sqlx::raw_sql(sqlx::AssertSqlSafe(insert.clone())).execute(&mut *connection).await.unwrap();
                            }
                        }
                    })));
                    begun.elapsed().mul_f64(times as f64 / (each * count) as f64)
                });
            });
        }};
    }
    if engine == "SQLite" {
        let plain = TempDir::new().unwrap();
        let options = sqlx::sqlite::SqliteConnectOptions::new()
            .filename(plain.path().join("p.db"))
            .create_if_missing(true)
            .journal_mode(sqlx::sqlite::SqliteJournalMode::Wal)
            .synchronous(sqlx::sqlite::SqliteSynchronous::Full)
            .busy_timeout(Duration::from_secs(20));
        let connections: Vec<_> = (0..count).map(|_| runtime.block_on(options.clone().connect()).unwrap()).collect();
        measure!(connections);
    } else {
        let options: sqlx::postgres::PgConnectOptions = url.parse().unwrap();
        let connections: Vec<_> = (0..count).map(|_| runtime.block_on(options.clone().connect()).unwrap()).collect();
        measure!(connections);
    }
}

/// Snapshots of a folder, cold and unchanged.
fn snapshots(c: &mut Criterion) {
    let runtime = Runtime::new().unwrap();
    let count = 20_000;
    let dir = folder(count);
    let mut group = c.benchmark_group("snapshot of a folder");
    group.sample_size(10).measurement_time(Duration::from_secs(20));
    group.bench_with_input(BenchmarkId::new("cold", count), &count, |b, _| {
        b.iter_batched(
            || drop(std::fs::remove_dir_all(dir.path().join(".deckle"))),
            |()| runtime.block_on(Workspace::init(dir.path(), InitOptions::default())).unwrap(),
            BatchSize::PerIteration,
        );
    });
    group.bench_with_input(BenchmarkId::new("cold, git add and commit", count), &count, |b, _| {
        b.iter_batched(
            || {
                drop(std::fs::remove_dir_all(dir.path().join(".git")));
                git(dir.path(), &["init", "-q", "-b", "main"]);
            },
            |()| {
                git(dir.path(), &["add", "-A"]);
                git(dir.path(), &["commit", "-q", "-m", "all"]);
            },
            BatchSize::PerIteration,
        );
    });
    drop(std::fs::remove_dir_all(dir.path().join(".deckle")));
    let workspace = runtime.block_on(Workspace::init(dir.path(), InitOptions::default())).unwrap();
    // A stat proves something only once the files are older than the coarsest clock.
    std::thread::sleep(Duration::from_millis(2_100));
    runtime.block_on(workspace.snapshot()).unwrap();
    group.bench_with_input(BenchmarkId::new("unchanged", count), &count, |b, _| {
        b.iter(|| runtime.block_on(workspace.snapshot()).unwrap().commit());
    });
    group.bench_with_input(BenchmarkId::new("unchanged, git status", count), &count, |b, _| {
        b.iter(|| git(dir.path(), &["status", "-s"]))
    });
    group.bench_with_input(BenchmarkId::new("a walk with stat", count), &count, |b, _| b.iter(|| black_box(walk(dir.path()))));
    group.finish();
}

/// Branch, diff and merge of ten changes at growing numbers of documents.
fn ten_changes(c: &mut Criterion) {
    let runtime = Runtime::new().unwrap();
    let large = std::env::var_os("DECKLE_BENCH_LARGE").map(|_| 100_000);
    for count in [1_000, 10_000].into_iter().chain(large) {
        let dir = folder(count);
        git(dir.path(), &["init", "-q", "-b", "main"]);
        git(dir.path(), &["add", "-A"]);
        git(dir.path(), &["commit", "-q", "-m", "all"]);
        // Main is a line of history here, as git's is: a folder's scan is measured above.
        let file = TempDir::new().unwrap();
        let workspace = runtime.block_on(async {
            let store = Store::open(&format!("sqlite:{}", file.path().join("s.db").display())).await.unwrap();
            let workspace =
                store.create_workspace(&Tenant::local(), &WorkspaceId::parse("docs").unwrap(), &Actor::local()).await.unwrap();
            workspace.import_git(dir.path(), "main", &Meta::new(Actor::local(), "import")).await.unwrap();
            workspace
        });
        let changed: Vec<String> = (0..10).map(|n| format!("d{n}/n{}", n * 100)).collect();
        let base = runtime.block_on(workspace.snapshot()).unwrap();
        let make = |tag: &str| {
            let id = branch_id(&format!("{tag}{}", next()));
            runtime.block_on(async {
                let base = workspace.snapshot().await.unwrap();
                let branch = workspace.create_branch_at(&id, &base, &Actor::local(), "").await.unwrap();
                let text = format!("# Changed\n\nText {}.\n", next());
                let changes = changed.iter().fold(Changes::new(), |changes, name| changes.write(key(name), text.clone()));
                branch.commit(&base, &changes, &Meta::new(Actor::local(), "ten")).await.unwrap();
            });
            id
        };
        git(dir.path(), &["checkout", "-q", "-b", "ten"]);
        for name in &changed {
            std::fs::write(dir.path().join(format!("{name}.md")), "# Changed\n\nText.\n").unwrap();
        }
        git(dir.path(), &["commit", "-q", "-a", "-m", "ten"]);
        git(dir.path(), &["checkout", "-q", "main"]);

        let mut group = c.benchmark_group("branch");
        group.sample_size(10);
        group.bench_with_input(BenchmarkId::new("deckle branch", count), &count, |b, _| {
            b.iter(|| {
                let id = branch_id(&format!("b{}", next()));
                runtime.block_on(workspace.create_branch_at(&id, &base, &Actor::local(), "")).unwrap()
            });
        });
        group.bench_with_input(BenchmarkId::new("git branch", count), &count, |b, _| {
            b.iter(|| git(dir.path(), &["branch", &format!("b{}", next()), "main"]));
        });
        group.finish();
        let mut group = c.benchmark_group("diff of ten changes");
        group.sample_size(10);
        let id = make("diff");
        group.bench_with_input(BenchmarkId::new("deckle review, by block", count), &count, |b, _| {
            b.iter(|| runtime.block_on(workspace.review(&id)).unwrap().changes.len());
        });
        group.bench_with_input(BenchmarkId::new("git diff, by line", count), &count, |b, _| {
            b.iter(|| git(dir.path(), &["diff", "main", "ten"]).len());
        });
        group.finish();
        let mut group = c.benchmark_group("merge of ten changes");
        group.sample_size(10);
        group.bench_with_input(BenchmarkId::new("deckle merge", count), &count, |b, _| {
            b.iter_batched(
                || make("merge"),
                |id| {
                    let options = MergeOptions { selection: Some(Selection::All), ..MergeOptions::default() };
                    runtime.block_on(workspace.merge(&id, &options, &Meta::new(Actor::local(), "merge"))).unwrap()
                },
                BatchSize::PerIteration,
            );
        });
        group.bench_with_input(BenchmarkId::new("git merge", count), &count, |b, _| {
            b.iter_batched(
                || drop(git(dir.path(), &["reset", "-q", "--hard", "main@{0}"])),
                |()| {
                    git(dir.path(), &["merge", "-q", "--no-ff", "-m", "merge", "ten"]);
                    git(dir.path(), &["reset", "-q", "--hard", "HEAD^"]);
                },
                BatchSize::PerIteration,
            );
        });
        group.finish();
    }
}

/// Writes a figure that is no time where `cargo xtask bench` finds it.
fn figure(name: &str, value: f64, unit: &str) {
    let base = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target"), Into::into);
    let folder = base.join("criterion/figures");
    std::fs::create_dir_all(&folder).unwrap();
    let file: String = name.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
    let text = serde_json::json!({ "what": name, "value": value, "unit": unit }).to_string();
    std::fs::write(folder.join(format!("{file}.json")), text).unwrap();
}

/// How many bytes a small edit of a large document adds to the database.
fn stored(_: &mut Criterion) {
    let runtime = Runtime::new().unwrap();
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("s.db");
    let edits = 200_u64;
    let added = runtime.block_on(async {
        let store = Store::open(&format!("sqlite:{}", file.display())).await.unwrap();
        let id = WorkspaceId::parse("docs").unwrap();
        let workspace = store.create_workspace(&Tenant::local(), &id, &Actor::local()).await.unwrap();
        let branch = workspace.create_branch(&branch_id("work"), &Actor::local(), "").await.unwrap();
        let text: String = (0..1_000).map(|n| format!("Paragraph {n}: {}\n\n", "some words of text ".repeat(5))).collect();
        assert!(text.len() > 100_000);
        let size = |edit: u64| {
            let text = text.replace("Paragraph 500:", &format!("Paragraph 500, edit {edit}:"));
            let branch = branch.clone();
            async move {
                let base = branch.head().await.unwrap();
                branch
                    .commit(&base, &Changes::new().write(key("large"), text), &Meta::new(Actor::local(), "edit"))
                    .await
                    .unwrap();
            }
        };
        size(0).await;
        let used = || async {
            let raw = sqlx::SqlitePool::connect(&format!("sqlite:{}", file.display())).await.unwrap();
            // All that the file holds, indexes and log included.
            sqlx::raw_sql("PRAGMA wal_checkpoint(TRUNCATE)").execute(&raw).await.unwrap();
            let sql = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()";
            let (bytes,): (i64,) = sqlx::query_as(sql).fetch_one(&raw).await.unwrap();
            raw.close().await;
            bytes
        };
        let before = used().await;
        for edit in 1..=edits {
            size(edit).await;
        }
        used().await - before
    });
    figure("bytes stored for a small edit of a document of 100 KB", added as f64 / edits as f64, "bytes");
}

criterion_group!(benches, writers, snapshots, ten_changes, stored);
criterion_main!(benches);
