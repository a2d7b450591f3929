//! Hostile input: time stays linear, the stack small, and bombs are refused with an instruction.

use std::time::{Duration, Instant};

use deckle_doc::limits::{MAX_DEPTH, MAX_DOCUMENT_BYTES};
use deckle_doc::{Diag, Dialect, LimitError, ParseError, Tree};

/// How long one input of a mebibyte may take: the goal in an optimised build, with room for a busy machine in another.
fn allowed() -> Duration {
    if cfg!(debug_assertions) { Duration::from_secs(20) } else { Duration::from_millis(500) }
}

/// Runs in a thread with a stack of one mebibyte.
fn small_stack(run: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(1024 * 1024).spawn(run).unwrap().join().unwrap();
}

fn repeat(unit: &str, bytes: usize) -> String {
    unit.repeat(bytes / unit.len())
}

/// The generators: each makes about `bytes` bytes that some parser has been slow, deep or large on.
fn generators(bytes: usize) -> Vec<(&'static str, String)> {
    let half = bytes / 2;
    let mut links = String::new();
    let mut ticks = String::new();
    let mut definitions = String::new();
    let mut number = 0;
    while links.len() < bytes {
        links.push_str(&format!("[a{number}]: u{number}\n"));
        number += 1;
    }
    let mut length = 1;
    while ticks.len() < bytes {
        ticks.push_str(&"`".repeat(length));
        ticks.push('e');
        length += 1;
    }
    while definitions.len() < bytes {
        definitions.push_str("[a]: u\n'\n");
    }
    let table = format!("|a|\n|-|\n{}", repeat("|", bytes));
    let wide = format!("{}\n{}\n", repeat("|a", bytes / 4), repeat("|-", bytes / 4));
    vec![
        ("quotes", format!("{}a", "> ".repeat(31))),
        ("quote lines", repeat("> > > > > > > > > > > > a\n", bytes)),
        ("list lines", repeat("- - - - - - - - - - - - a\n", bytes)),
        ("alternating lists", repeat("-\n+\n", bytes)),
        ("deep indents", format!("- a\n{}", repeat("  - b\n", bytes))),
        ("definitions", links),
        ("unclosed titles", definitions),
        ("backticks of all lengths", ticks),
        ("open brackets", repeat("[", bytes)),
        ("open images", repeat("![", bytes)),
        ("closed brackets", format!("{}{}", repeat("[", half), repeat("]", half))),
        ("open links", repeat("[a](", bytes)),
        ("open angle links", repeat("[a](<b", bytes)),
        ("wikilinks", repeat("[[", bytes)),
        ("emphasis openers", repeat("*a ", bytes)),
        ("emphasis closers", repeat("a* ", bytes)),
        ("mixed emphasis", repeat("*a_ ", bytes)),
        ("long emphasis", format!("{}a{}", repeat("*", half), repeat("*", half))),
        ("strong in strong", repeat("a**b", bytes) + &repeat("c* ", bytes / 8)),
        ("tildes", repeat("~a~~ ", bytes)),
        ("colons", repeat(":::a\n", 60 * 5) + &repeat("::::\n", bytes)),
        ("directive labels", repeat(":a[", bytes)),
        ("directive attributes", repeat(":a{b=\"", bytes)),
        ("pipes", table),
        ("columns", wide),
        ("rows", format!("|a|b|\n|-|-|\n{}", repeat("|\n", bytes))),
        ("html openers", repeat("<a ", bytes)),
        ("comments", repeat("a <!-- ", bytes)),
        ("declarations", repeat("a <?", bytes)),
        ("entities", repeat("&#", bytes)),
        ("dollars", repeat("$a ", bytes)),
        ("headings", repeat("#\n", bytes)),
        ("addresses", repeat("a@b.", bytes)),
        ("web addresses", repeat("www.a_", bytes)),
        ("closing round brackets", format!("http://a.b/{}", repeat(")", bytes))),
        ("escapes", repeat("\\", bytes)),
        ("footnote labels", repeat("[^a", bytes)),
        ("tabs", repeat("\t", bytes)),
        ("carriage returns", repeat("\r", bytes)),
        ("shortcodes", repeat("{{< ", bytes)),
        ("one word", repeat("a", bytes)),
        ("a paragraph of lines", repeat("a\n", bytes)),
        ("a quoted paragraph", format!("> {}", repeat("a\n", bytes))),
        ("setext candidates", repeat("a\n-\n", bytes)),
    ]
}

fn work(text: &str) -> usize {
    let tree = Tree::parse(text, Dialect::Generic).unwrap();
    assert_eq!(tree.emit(), text);
    tree.blocks().map(|block| block.inlines().len()).sum::<usize>() + tree.len()
}

#[test]
fn hostile_input_takes_linear_time_on_a_small_stack() {
    small_stack(|| {
        for (name, text) in generators(1 << 20) {
            let start = Instant::now();
            let nodes = work(&text);
            let taken = start.elapsed();
            assert!(taken <= allowed(), "{name}: {taken:?} for {} bytes", text.len());
            assert!(nodes <= 2 * text.len() + 64, "{name}: {nodes} nodes for {} bytes", text.len());
        }
    });
}

#[test]
fn depth_bombs_are_refused_with_an_instruction() {
    small_stack(|| {
        for bomb in
            ["> ".repeat(250_000), ">".repeat(500_000), "- ".repeat(250_000) + "a", "1. ".repeat(200_000), "* > ".repeat(100_000)]
        {
            let error = Tree::parse(bomb, Dialect::Generic).unwrap_err();
            assert_eq!(error, LimitError::Depth { line: 1 });
            let text = Diag::from(&error).to_string();
            assert!(text.starts_with("error[document-too-deep]: ") && text.contains("hint: "), "{text}");
        }
        let colons: String = (0..200).map(|level| format!("{}a\n", ":".repeat(203 - level))).collect();
        assert!(matches!(Tree::parse(colons, Dialect::Generic), Err(LimitError::Depth { line: 65 })));
        let nested = "> ".repeat(MAX_DEPTH - 1) + "a";
        let tree = Tree::parse(nested.clone(), Dialect::Generic).unwrap();
        assert_eq!(tree.blocks().map(|block| block.depth()).max(), Some(MAX_DEPTH));
        assert!(Tree::parse("> ".to_owned() + &nested, Dialect::Generic).is_err());
    });
}

#[test]
fn a_document_past_the_size_is_refused_and_one_at_it_is_read() {
    let text = "a\n\n".repeat(MAX_DOCUMENT_BYTES / 3 + 1);
    let error = Tree::parse(text.as_str(), Dialect::Generic).unwrap_err();
    assert_eq!(error, LimitError::Size { bytes: text.len() });
    assert!(Diag::from(&error).to_string().contains("split the document"));
    let tree = Tree::parse(&text[..MAX_DOCUMENT_BYTES], Dialect::Generic).unwrap();
    assert_eq!(tree.splice(0..0, "x"), Err(LimitError::Size { bytes: MAX_DOCUMENT_BYTES + 1 }));
}

#[test]
fn bytes_that_are_not_utf8_are_refused_with_their_place() {
    assert_eq!(Tree::parse_bytes(b"ab\xFFc", Dialect::Generic), Err(ParseError::NotUtf8 { offset: 2 }));
    assert!(Tree::parse_bytes("é\0".as_bytes(), Dialect::Generic).is_ok());
}
