//! The store beside what it stands on: an acknowledged transaction beside a bare insert and commit, an unchanged folder
//! beside a walk of it, and branches at growing numbers of documents.
#![allow(clippy::unwrap_used, missing_docs)]

use std::hint::black_box;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use deckle_doc::DocKey;
use deckle_store::{Actor, BranchId, Changes, InitOptions, Meta, Workspace};
use sqlx::ConnectOptions;
use tempfile::TempDir;

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
    std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_name() != ".deckle")
        .map(
            |entry| {
                if entry.file_type().unwrap().is_dir() { walk(&entry.path()) } else { entry.metadata().unwrap().len() as usize }
            },
        )
        .sum()
}

fn store(c: &mut Criterion) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let next = AtomicU64::new(0);
    let mut group = c.benchmark_group("durable write");
    group.sample_size(30);
    let dir = folder(100);
    let workspace = runtime.block_on(Workspace::init(dir.path(), InitOptions::default())).unwrap();
    let branch = runtime.block_on(workspace.create_branch(&BranchId::parse("work").unwrap(), &Actor::local(), "")).unwrap();
    group.bench_function("commit of one document on a branch", |b| {
        b.iter(|| {
            runtime.block_on(async {
                let n = next.fetch_add(1, Ordering::SeqCst);
                let base = branch.head().await.unwrap();
                let changes = Changes::new().write(DocKey::parse("d0/n1").unwrap(), format!("# {n}\n\nText.\n"));
                branch.commit(&base, &changes, &Meta::new(Actor::local(), "edit")).await.unwrap()
            })
        });
    });
    let plain = TempDir::new().unwrap();
    let options = sqlx::sqlite::SqliteConnectOptions::new()
        .filename(plain.path().join("p.db"))
        .create_if_missing(true)
        .journal_mode(sqlx::sqlite::SqliteJournalMode::Wal)
        .synchronous(sqlx::sqlite::SqliteSynchronous::Full);
    let mut connection = runtime.block_on(options.connect()).unwrap();
    runtime.block_on(sqlx::raw_sql("CREATE TABLE t (n INTEGER PRIMARY KEY, x TEXT)").execute(&mut connection)).unwrap();
    group.bench_function("bare SQLite insert and commit", |b| {
        b.iter(|| runtime.block_on(sqlx::query("INSERT INTO t (x) VALUES ('text')").execute(&mut connection)).unwrap());
    });
    group.finish();

    for count in [1_000, 10_000] {
        let dir = folder(count);
        let workspace = runtime.block_on(Workspace::init(dir.path(), InitOptions::default())).unwrap();
        // A stat proves something only once the files are older than the coarsest clock.
        std::thread::sleep(std::time::Duration::from_millis(2_100));
        runtime.block_on(workspace.snapshot()).unwrap();
        let mut group = c.benchmark_group("unchanged folder");
        group.sample_size(20);
        group.bench_with_input(BenchmarkId::new("snapshot", count), &count, |b, _| {
            b.iter(|| runtime.block_on(workspace.snapshot()).unwrap().commit());
        });
        group.bench_with_input(BenchmarkId::new("walk with stat", count), &count, |b, _| b.iter(|| black_box(walk(dir.path()))));
        group.finish();
        let mut group = c.benchmark_group("branch");
        group.sample_size(20);
        let base = runtime.block_on(workspace.snapshot()).unwrap();
        group.bench_with_input(BenchmarkId::new("create", count), &count, |b, _| {
            b.iter(|| {
                let n = next.fetch_add(1, Ordering::SeqCst);
                let id = BranchId::parse(&format!("b{n}")).unwrap();
                runtime.block_on(workspace.create_branch_at(&id, &base, &Actor::local(), "")).unwrap()
            });
        });
        let id = BranchId::parse("ten").unwrap();
        runtime.block_on(async {
            let branch = workspace.create_branch_at(&id, &base, &Actor::local(), "").await.unwrap();
            let changes = (0..10).fold(Changes::new(), |changes, n| {
                changes.write(DocKey::parse(&format!("d{n}/n{}", n * 100)).unwrap(), "# Changed\n\nText.\n")
            });
            branch.commit(&base, &changes, &Meta::new(Actor::local(), "ten")).await.unwrap();
        });
        group.bench_with_input(BenchmarkId::new("review of ten changes", count), &count, |b, _| {
            b.iter(|| runtime.block_on(workspace.review(&id)).unwrap().changes.len());
        });
        group.finish();
    }
}

criterion_group!(benches, store);
criterion_main!(benches);
