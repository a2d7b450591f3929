//! The examples of CommonMark 0.31 and of GFM's extensions: our tree, rendered, is the HTML that they show.

use deckle_doc::{Dialect, Tree};

use crate::common::cache;
use crate::html::render;

struct Example {
    number: usize,
    /// What the specification says of it: `table`, `autolink`.
    about: String,
    markdown: String,
    html: String,
}

/// Reads the examples out of a specification, installed beside the reference parser.
fn examples(file: &str) -> Vec<Example> {
    let path = cache().join("spec").join(file);
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; run `make setup-oracle`, which installs the specification", path.display()));
    let fence = "`".repeat(32);
    let opening = format!("\n{fence} example");
    let mut examples = Vec::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find(&opening) {
        let (about, body) = rest[at + opening.len()..].split_once('\n').unwrap();
        let end = body.find(&format!("\n{fence}\n")).map(|end| end + 1).unwrap();
        let (markdown, html) = match body[..end].strip_prefix(".\n") {
            Some(html) => ("", html),
            None => {
                let middle = body[..end].find("\n.\n").unwrap();
                (&body[..middle + 1], &body[middle + 3..end])
            }
        };
        examples.push(Example {
            number: examples.len() + 1,
            about: about.trim().to_owned(),
            markdown: markdown.replace('→', "\t"),
            html: html.replace('→', "\t"),
        });
        rest = &body[end - 1..];
    }
    examples
}

/// Renders each example; returns those that differ.
fn differing(examples: &[Example], gfm: bool) -> Vec<String> {
    let mut failed = Vec::new();
    for example in examples {
        // Front matter is no part of the specification: two `---` at the very start are breaks there.
        let markdown =
            if example.markdown.starts_with("---\n") { format!("\n{}", example.markdown) } else { example.markdown.clone() };
        let tree = Tree::parse(markdown.as_str(), Dialect::Generic).unwrap();
        assert_eq!(tree.emit(), markdown);
        let got = render(&tree, gfm);
        if got != example.html {
            failed.push(format!(
                "example {}\n{:?}\nexpected {:?}\ngot      {got:?}",
                example.number, example.markdown, example.html
            ));
        }
    }
    failed
}

#[test]
fn every_example_of_commonmark_is_read_as_it_says() {
    let examples = examples("node_modules/commonmark-spec/spec.txt");
    assert_eq!(examples.len(), 652);
    let failed = differing(&examples, false);
    assert!(failed.is_empty(), "{} of 652 examples differ:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn every_example_of_a_gfm_extension_is_read_as_it_says() {
    // The filter of tags is about what is printed, and no structure.
    let extensions = ["table", "disabled", "strikethrough", "autolink"];
    let examples: Vec<Example> =
        examples("gfm.txt").into_iter().filter(|example| extensions.contains(&example.about.as_str())).collect();
    assert_eq!(examples.len(), 23);
    let failed = differing(&examples, true);
    assert!(failed.is_empty(), "{} of 23 examples differ:\n{}", failed.len(), failed.join("\n"));
}
