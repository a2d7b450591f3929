//! Each dialect's own forms, read as the block that they mean; and read as text where another dialect is spoken.

use deckle_doc::types::type_of;
use deckle_doc::{Dialect, Tree};

/// The types of the blocks of a text, with depth: `callout` and, inside it, `.paragraph`.
fn types(text: &str, dialect: Dialect) -> Vec<String> {
    let tree = Tree::parse(text, dialect).unwrap();
    assert_eq!(tree.emit(), text);
    tree.blocks().map(|block| format!("{}{}", ".".repeat(block.depth() - 1), type_of(&block).unwrap_or("-"))).collect()
}

#[test]
fn callouts_of_every_dialect() {
    const CALLOUT: &[&str] = &["callout", ".paragraph"];
    for (dialect, text) in [
        (Dialect::Generic, ":::note\ntext\n:::\n"),
        (Dialect::Generic, ":::note[Title]{.x}\ntext\n:::\n"),
        (Dialect::Generic, "::::::warning\ntext\n::::::\n"),
        (Dialect::Generic, "> [!NOTE]\n> text\n"),
        (Dialect::VitePress, "::: warning Title here\ntext\n:::\n"),
        (Dialect::VitePress, "::: danger STOP\ntext\n:::\n"),
        (Dialect::VitePress, ":::tip\ntext\n:::\n"),
        (Dialect::Docusaurus, ":::note[Title]\ntext\n:::\n"),
        (Dialect::Docusaurus, ":::tip Title here\ntext\n:::\n"),
        (Dialect::MkDocs, "!!! note \"Title\"\n    text\n"),
        (Dialect::MkDocs, "??? warning\n    text\n"),
        (Dialect::MkDocs, "???+ tip \"Open\"\n    text\n"),
        (Dialect::Obsidian, "> [!faq]- Title\n> text\n"),
        (Dialect::Obsidian, "> [!tip]+\n> text\n"),
        (Dialect::Myst, "```{note}\ntext\n```\n"),
        (Dialect::Myst, ":::{warning} Title\ntext\n:::\n"),
    ] {
        assert_eq!(types(text, dialect), CALLOUT, "{dialect:?} {text:?}");
    }
}

#[test]
fn callouts_nest_and_stand_in_lists_and_quotes() {
    assert_eq!(types("::::note\n:::tip\nx\n:::\n::::\n", Dialect::Generic), ["callout", ".callout", "..paragraph"]);
    assert_eq!(types("- :::note\n  x\n  :::\n", Dialect::Generic), ["bullet_list", ".-", "..callout", "...paragraph"]);
    assert_eq!(types("> :::note\n> x\n> :::\n", Dialect::Generic), ["quote", ".callout", "..paragraph"]);
    assert_eq!(
        types("!!! note\n    !!! tip\n        x\n\n    y\n", Dialect::MkDocs),
        ["callout", ".callout", "..paragraph", ".paragraph"]
    );
    assert_eq!(types("````{note}\n```{tip}\nx\n```\n````\n", Dialect::Myst), ["callout", ".callout", "..paragraph"]);
    // The line of the marker is a paragraph of the quote, as it is where nobody knows callouts.
    assert_eq!(types("> [!note]\n> > [!tip]\n> > x\n", Dialect::Obsidian), ["callout", ".paragraph", ".callout", "..paragraph"]);
}

#[test]
fn another_dialect_reads_them_as_what_they_are_there() {
    for (dialect, text, expected) in [
        (Dialect::Generic, "::: warning Title here\ntext\n:::\n", &["paragraph"][..]),
        (Dialect::Generic, "!!! note \"Title\"\n    text\n", &["paragraph"]),
        (Dialect::Obsidian, "!!! note\n\n    text\n", &["paragraph", "code"]),
        (Dialect::Generic, "```{note}\ntext\n```\n", &["code"]),
        (Dialect::VitePress, "```{note}\ntext\n```\n", &["code"]),
        (Dialect::Generic, "import x from 'y'\n", &["paragraph"]),
    ] {
        assert_eq!(types(text, dialect), expected, "{dialect:?} {text:?}");
    }
}

#[test]
fn components_and_modules_are_kept_whole() {
    let text = "import { Tabs } from '@theme/Tabs'\n\n<Tabs>\n  <Tab label=\"a\">\n\n**x**\n\n  </Tab>\n</Tabs>\n\n{value}\n";
    let tree = Tree::parse(text, Dialect::Docusaurus).unwrap();
    assert_eq!(tree.emit(), text);
    // A component is one also where a paragraph is open before it.
    let after = Tree::parse("text\n<Tabs>\n", Dialect::Docusaurus).unwrap();
    assert_eq!(after.len(), 2);
}
