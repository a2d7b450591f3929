//! The examples of the CommonMark specification 0.31: our tree, rendered, is the HTML they show.

use deckle_doc::{Dialect, Tree};

use crate::common::cache;
use crate::html::render;

struct Example {
    number: usize,
    markdown: String,
    html: String,
}

/// Reads the examples out of the specification, installed beside the reference parser.
fn examples() -> Vec<Example> {
    let path = cache().join("spec/node_modules/commonmark-spec/spec.txt");
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; run `make setup-oracle`, which installs the specification", path.display()));
    let fence = "`".repeat(32);
    let mut examples = Vec::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find(&format!("\n{fence} example\n")) {
        let body = &rest[at + fence.len() + " example\n\n".len()..];
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
            markdown: markdown.replace('→', "\t"),
            html: html.replace('→', "\t"),
        });
        rest = &body[end - 1..];
    }
    examples
}

#[test]
fn every_example_of_the_specification_is_read_as_it_says() {
    let examples = examples();
    assert_eq!(examples.len(), 652);
    let mut failed = Vec::new();
    for example in &examples {
        // Front matter is no part of the specification: two `---` at the very start are breaks there.
        let markdown =
            if example.markdown.starts_with("---\n") { format!("\n{}", example.markdown) } else { example.markdown.clone() };
        let tree = Tree::parse(markdown.as_str(), Dialect::Generic).unwrap();
        assert_eq!(tree.emit(), markdown);
        let got = render(&tree, false);
        if got != example.html {
            failed.push(format!(
                "example {}\n{:?}\nexpected {:?}\ngot      {got:?}",
                example.number, example.markdown, example.html
            ));
        }
    }
    assert!(failed.is_empty(), "{} of 652 examples differ:\n{}", failed.len(), failed.join("\n"));
}
