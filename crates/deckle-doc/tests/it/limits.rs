//! Hostile input: time stays linear, the stack small, and bombs are refused with an instruction.

use std::time::{Duration, Instant};

use crate::hostile::generators;
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
