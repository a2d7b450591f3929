//! One guarded edit, planned and proven, beside one parse of the document; and many steps in one transaction.
#![allow(clippy::unwrap_used, missing_docs)]

use std::path::{Path, PathBuf};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use deckle_doc::{Dialect, DocKey, Tree};
use deckle_edit::{Operation, Policy, Sources, plan};
use serde_json::json;

/// Real documents one after another, up to a size, with one paragraph in the middle that the edit is about.
fn joined(size: usize) -> String {
    let base = std::env::var_os("DECKLE_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from)
        .join("corpora/vitepress");
    assert!(base.is_dir(), "{} is not there; run `make bench`, or set DECKLE_SHARED", base.display());
    let mut paths = Vec::new();
    let mut open = vec![base];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path)
            } else if path.extension().is_some_and(|ending| ending == "md") {
                paths.push(path)
            }
        }
    }
    paths.sort();
    let mut text = String::from("---\ntitle: Measured\n---\n\n");
    let mut marked = false;
    for path in paths.iter().cycle() {
        if text.len() >= size / 2 && !marked {
            text.push_str("## The measured section\n\nOld words stand here.\n\n");
            marked = true;
        }
        let one = std::fs::read_to_string(path).unwrap();
        let body = match one.strip_prefix("---") {
            Some(front) => front.find("\n---").map_or("", |at| &front[at + 4..]),
            None => &one,
        };
        // Whole blocks only, so that no document's end swallows the next.
        let body = body.trim_end();
        let length = body.len().min(size - text.len());
        let end = if length == body.len() { length } else { body.get(..length).and_then(|part| part.rfind("\n\n")).unwrap_or(0) };
        text.push_str(&body[..end]);
        text.push_str("\n\n");
        if text.len() + 400 >= size || (end < body.len() && marked) {
            break;
        }
    }
    text
}

fn one_edit(c: &mut Criterion) {
    let mut group = c.benchmark_group("plan and prove one edit");
    for size in [10_000, 100_000, 1_000_000] {
        let text = joined(size);
        let mut documents = Sources::new();
        documents.insert(DocKey::parse("measured").unwrap(), &text, Dialect::VitePress);
        let operation = Operation::parse(&json!({
            "filter": {"$key": "measured"}, "expect": 1,
            "update": {"$replaceText": {"$text": "Old words", "to": "New words", "expect": 1}}
        }))
        .unwrap();
        let policy = Policy::agent().in_dialect(Dialect::VitePress);
        group.bench_with_input(BenchmarkId::new("plan and prove", size), &size, |b, _| {
            b.iter(|| plan(&documents, &operation, &policy).unwrap());
        });
        group.bench_with_input(BenchmarkId::new("parse once", size), &size, |b, _| {
            b.iter(|| Tree::parse(text.as_str(), Dialect::VitePress).unwrap());
        });
    }
    group.finish();
}

fn many_steps(c: &mut Criterion) {
    let mut group = c.benchmark_group("steps in one transaction");
    group.sample_size(10);
    for count in [100, 1_000, 10_000] {
        let mut documents = Sources::new();
        for number in 0..count {
            let text = format!("---\ntitle: Note {number}\n---\n\n# Note {number}\n\nOld words.\n\n- one\n- two\n");
            documents.insert(DocKey::parse(&format!("n{number}")).unwrap(), &text, Dialect::Generic);
        }
        let steps: Vec<_> = (0..count)
            .map(|number| {
                json!({"filter": {"$key": format!("n{number}")}, "expect": 1,
                       "update": {"$replaceText": {"$text": "Old", "to": "New", "expect": 1}}})
            })
            .collect();
        let operation = Operation::parse(&json!({ "steps": steps })).unwrap();
        group.throughput(Throughput::Elements(count));
        group.bench_with_input(BenchmarkId::new("an edit a document", count), &count, |b, _| {
            b.iter(|| plan(&documents, &operation, &Policy::agent()).unwrap());
        });
    }
    group.finish();
}

criterion_group!(benches, one_edit, many_steps);
criterion_main!(benches);
