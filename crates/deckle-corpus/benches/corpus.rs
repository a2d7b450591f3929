//! A corpus of 20,000 documents and 25 MB in memory: cold index, one change, one rename, one search.

#![allow(clippy::unwrap_used, missing_docs)]

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use deckle_corpus::{Bounds, Corpus};
use deckle_doc::DocKey;

/// Documents that look like notes: headings, words, five links each, a list, now and then a table.
fn documents(count: usize) -> Vec<(DocKey, Arc<str>)> {
    const WORDS: [&str; 16] = [
        "system", "block", "quiet", "river", "paper", "engine", "window", "garden", "number", "letter", "stone", "branch",
        "signal", "winter", "market", "bridge",
    ];
    let mut seed = 7_u64;
    let mut next = move |bound: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % bound
    };
    let key = |at: usize| format!("area-{}/topic-{}/note-{at}", at % 20, at % 400);
    let mut out = Vec::with_capacity(count);
    for at in 0..count {
        let mut text = format!("---\ntitle: Note {at}\ntags: [t{}, t{}]\n---\n\n# Note {at}\n\n", at % 50, at % 7);
        for section in 0..3 {
            text.push_str(&format!("## Part {section}\n\n"));
            for _ in 0..40 {
                text.push_str(WORDS[next(WORDS.len())]);
                text.push(' ');
            }
            let to = next(count);
            text.push_str(&format!("see [[note-{to}]] and [other](../../{}.md#part-1).\n\n- *one*\n- two\n\n", key(next(count))));
        }
        out.push((DocKey::parse(&key(at)).unwrap(), text.into()));
    }
    out
}

fn corpus(documents: &[(DocKey, Arc<str>)]) -> Corpus {
    let mut corpus = Corpus::default();
    documents.iter().for_each(|(key, text)| corpus.insert(key.clone(), text.clone()));
    corpus
}

fn benches(c: &mut Criterion) {
    let mut group = c.benchmark_group("corpus");
    group.sample_size(10);
    for count in [5_000, 10_000, 20_000] {
        let documents = documents(count);
        let bytes: usize = documents.iter().map(|(_, text)| text.len()).sum();
        group.throughput(Throughput::Bytes(bytes as u64));
        group.bench_function(format!("cold index, {count} documents"), |b| {
            b.iter(|| {
                let corpus = corpus(&documents);
                black_box(corpus.incoming(&documents[0].0).len());
            });
        });
    }
    let documents = documents(20_000);
    let warm = corpus(&documents);
    let first = documents[0].0.clone();
    black_box((warm.incoming(&first).len(), warm.search("winter", Bounds::default())));
    group.throughput(Throughput::Elements(1));
    group.bench_function("one change, 20000 documents", |b| {
        let mut warm = warm.clone();
        let mut turn = 0;
        b.iter(|| {
            turn += 1;
            warm.insert(first.clone(), format!("---\ntitle: Note 0\n---\n\n# Note 0\n\nturn {turn} [[note-1]]\n"));
            black_box(warm.incoming(&documents[1].0).len());
        });
    });
    group.bench_function("rename, 20000 documents", |b| {
        let to = DocKey::parse("elsewhere/name").unwrap();
        b.iter_batched(|| (), |()| black_box(warm.rename(&first, &to).unwrap().rewritten), BatchSize::PerIteration);
    });
    group.bench_function("search, 20000 documents", |b| {
        b.iter(|| black_box(warm.search("winter bridge", Bounds::default()).hits.len()));
    });
    group.finish();
}

criterion_group!(all, benches);
criterion_main!(all);
