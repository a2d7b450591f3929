//! The block tree beside other parsers on real documents, and a re-parse after one edit beside a full parse.
#![allow(clippy::unwrap_used, missing_docs)]

use std::hint::black_box;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use deckle_doc::{Dialect, Ids, Tree};

fn shared() -> PathBuf {
    let base = std::env::var_os("DECKLE_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    assert!(base.join("corpora").is_dir(), "{} has no corpora; run `make bench`, or set DECKLE_SHARED", base.display());
    base
}

/// Every real document, by path.
fn documents() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut open = vec![shared().join("corpora")];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|ending| ["md", "mdx", "markdown"].iter().any(|one| ending == *one)) {
                let text = std::fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    found.sort();
    found
}

/// remark in a process of Node that lives as long as the bench: it reads the documents once and says how long it parsed.
struct Remark {
    child: Child,
    ask: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Remark {
    fn start(paths: &[&Path]) -> Self {
        let cache = PathBuf::from(std::env::var_os("DECKLE_CACHE").expect("run `make bench`, which installs the parser"));
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/peers/remark.mjs");
        let mut child = Command::new("node")
            .arg(script)
            .arg(cache.join("oracle"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("node runs remark");
        let mut ask = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        for path in paths {
            writeln!(ask, "{}", path.canonicalize().unwrap().display()).unwrap();
        }
        writeln!(ask).unwrap();
        Self { child, ask, answers }
    }

    fn parse(&mut self, times: u64) -> Duration {
        writeln!(self.ask, "{times}").unwrap();
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        Duration::from_nanos(line.trim().parse().unwrap())
    }
}

impl Drop for Remark {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn parse(c: &mut Criterion) {
    let documents = documents();
    let texts: Vec<&str> = documents.iter().map(|(_, text)| text.as_str()).collect();
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    let mut group = c.benchmark_group("parse the corpora");
    group.throughput(Throughput::Bytes(bytes as u64)).sample_size(10);
    group.bench_function("deckle: block tree with tiling spans", |b| {
        b.iter(|| texts.iter().map(|text| Tree::parse(*text, Dialect::Generic).unwrap().len()).sum::<usize>());
    });
    group.bench_function("deckle: blocks and inlines", |b| {
        b.iter(|| {
            let count = |text: &&str| {
                let tree = Tree::parse(*text, Dialect::Generic).unwrap();
                tree.blocks().map(|block| block.inlines().len()).sum::<usize>()
            };
            texts.iter().map(count).sum::<usize>()
        });
    });
    group.bench_function("deckle: blocks, inlines and ids", |b| {
        b.iter(|| {
            for text in &texts {
                let tree = Tree::parse(*text, Dialect::Generic).unwrap();
                black_box(tree.blocks().map(|block| block.inlines().len()).sum::<usize>());
                black_box(Ids::derive(&tree));
            }
        });
    });
    group.bench_function("pulldown-cmark: events with offsets", |b| {
        use pulldown_cmark::{Options, Parser};
        let options = Options::ENABLE_TABLES
            | Options::ENABLE_FOOTNOTES
            | Options::ENABLE_STRIKETHROUGH
            | Options::ENABLE_TASKLISTS
            | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
        b.iter(|| texts.iter().map(|text| Parser::new_ext(text, options).into_offset_iter().count()).sum::<usize>());
    });
    group.bench_function("comrak: tree with positions", |b| {
        let mut options = comrak::Options::default();
        options.extension.table = true;
        options.extension.strikethrough = true;
        options.extension.tasklist = true;
        options.extension.footnotes = true;
        options.extension.autolink = true;
        options.extension.front_matter_delimiter = Some("---".to_owned());
        b.iter(|| {
            for text in &texts {
                let arena = comrak::Arena::new();
                black_box(comrak::parse_document(&arena, text, &options).descendants().count());
            }
        });
    });
    // What takes seconds a round is measured on every sixth document; the rate is what compares.
    let sixth: Vec<(&Path, &str)> = documents.iter().step_by(6).map(|(path, text)| (path.as_path(), text.as_str())).collect();
    let bytes: usize = sixth.iter().map(|(_, text)| text.len()).sum();
    group.throughput(Throughput::Bytes(bytes as u64));
    group.bench_function("deckle: block tree, a sixth of them", |b| {
        b.iter(|| sixth.iter().map(|(_, text)| Tree::parse(*text, Dialect::Generic).unwrap().len()).sum::<usize>());
    });
    group.bench_function("markdown-rs: mdast, a sixth of them", |b| {
        let mut options = markdown::ParseOptions::gfm();
        options.constructs.frontmatter = true;
        b.iter(|| {
            for (_, text) in &sixth {
                black_box(markdown::to_mdast(text, &options).is_ok());
            }
        });
    });
    let mut remark = Remark::start(&sixth.iter().map(|(path, _)| *path).collect::<Vec<_>>());
    group.bench_function("remark (Node): mdast, a sixth of them", |b| b.iter_custom(|times| remark.parse(times)));
    group.finish();
}

/// Real documents one after another, up to a size.
fn joined(size: usize) -> String {
    let mut text = String::new();
    for (_, one) in documents() {
        // Front matter is front matter at the start alone.
        let body = match one.strip_prefix("---") {
            Some(front) => front.find("\n---").map_or("", |at| &front[at + 4..]),
            None => &one,
        };
        text.push_str(body);
        text.push_str("\n\n");
        if text.len() >= size {
            break;
        }
    }
    let mut end = size.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text
}

fn splice(c: &mut Criterion) {
    let mut group = c.benchmark_group("parse again after one edit");
    for size in [10_000, 100_000, 1_000_000] {
        let tree = Tree::parse(joined(size), Dialect::Generic).unwrap();
        // The middle of a paragraph in the middle of the document.
        let half = tree.source().len() / 2;
        let place = tree.blocks().find(|block| block.content().start > half && block.kind() == deckle_doc::Kind::Paragraph);
        let at = place.unwrap().content().start;
        group.bench_with_input(BenchmarkId::new("splice", size), &size, |b, _| {
            b.iter_batched(|| (), |()| tree.splice(at..at, "word ").unwrap(), BatchSize::LargeInput);
        });
        group.bench_with_input(BenchmarkId::new("full parse", size), &size, |b, _| {
            b.iter_batched(
                || (),
                |()| Tree::parse([&tree.source()[..at], "word ", &tree.source()[at..]].concat(), Dialect::Generic).unwrap(),
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, parse, splice);
criterion_main!(benches);
