//! What a reviewer sees.

use deckle_store::diff::{self, Change, Mark};
use insta::assert_snapshot;

use crate::support::{carried, changes, derived, pair};

fn drawn(before: &str, after: &str) -> String {
    let before = derived(before);
    changes(&pair(&before, &carried(&before, after))).iter().map(one).collect()
}

fn one(change: &Change) -> String {
    let words: String = change
        .words
        .iter()
        .map(|segment| match segment.mark {
            Mark::Same => segment.text.clone(),
            Mark::Removed => format!("[-{}-]", segment.text),
            Mark::Added => format!("{{+{}+}}", segment.text),
        })
        .collect();
    let text = match (&change.before, &change.after) {
        (Some(before), None) => format!("- {before:?}"),
        (None, Some(after)) => format!("+ {after:?}"),
        (Some(before), Some(_)) if words.is_empty() => format!("= {before:?}"),
        _ => format!("~ {words:?}"),
    };
    format!("{} {} in {:?}\n  {text}\n", change.kind.as_str(), change.block, change.place)
}

#[test]
fn words_are_marked_inside_blocks() {
    assert_snapshot!(drawn("# A\n\n## B\n\nRun the old tool now.\n", "# A\n\n## B\n\nRun the new tool now.\n\nThen stop.\n"), @r#"
    changed paragraph in "A › B"
      ~ "Run the [-old-]{+new+} tool now."
    added paragraph in "A › B"
      + "Then stop."
    "#);
}

#[test]
fn front_matter_by_key() {
    assert_snapshot!(drawn("---\ntitle: A\nold: 1\n---\n\nText.\n", "---\ntitle: B\nnew: 2\n---\n\nText.\n"), @r#"
    front-matter front matter key in ""
      ~ "title: [-A-]{+B+}"
    front-matter front matter key in ""
      + "new: 2"
    front-matter front matter key in ""
      - "old: 1"
    "#);
    assert_snapshot!(drawn("Text.\n", "---\ntitle: B\nnew: 2\n---\n\nText.\n"), @r#"
    front-matter front matter key in ""
      ~ "{+---\ntitle: B\nnew: 2+}"
    "#);
}

#[test]
fn moved_and_renested() {
    assert_snapshot!(drawn("One is here.\n\nTwo is here.\n\nThree is here.\n", "Two is here.\n\nThree is here.\n\nOne is here.\n"), @r#"
    moved paragraph in ""
      = "One is here."
    "#);
    assert_snapshot!(drawn("One is here.\n\nTwo.\n", ":::note\nOne is here.\n:::\n\nTwo.\n"), @r#"
    renested container in ""
      ~ "{+:::note\n+}One is here.{+\n:::+}"
    "#);
    assert_snapshot!(drawn("- one item\n- two items\n", "- one item\n  - two items\n"), @r#"
    renested list in ""
      = "- two items"
    "#);
}

#[test]
fn attributes_alone() {
    assert_snapshot!(drawn("## A\n\n- [ ] do it\n\n```js\ncode();\n```\n\n:::note[T]\nx\n:::\n", "### A\n\n- [x] do it\n\n```ts\ncode();\n```\n\n:::note[U]\nx\n:::\n"), @r###"
    attributes heading in ""
      ~ "##{+#+} A"
    attributes item in "A"
      ~ "- [[- -]{+x+}] do it"
    attributes code in "A"
      ~ "```[-js-]{+ts+}\ncode();\n```"
    attributes container in "A"
      ~ ":::note[[-T-]{+U+}]"
    "###);
}

#[test]
fn rows_and_items() {
    let before = "| k | v |\n|---|---|\n| a | 1 |\n| b | 2 |\n\nText.\n\n- one\n- two\n";
    let after = "| k | v |\n|---|---|\n| a | 9 |\n| b | 2 |\n| c | 3 |\n\nText.\n\n- two\n";
    assert_snapshot!(drawn(before, after), @r#"
    changed row in ""
      ~ "| a | [-1-]{+9+} |"
    added row in ""
      + "| c | 3 |"
    removed item in ""
      - "- one"
    "#);
}

#[test]
fn spacing_alone() {
    assert_snapshot!(drawn("One.\n\nTwo.\n", "One.\n\n\nTwo.\n"), @r#"
    spacing spacing in ""
      ~ ""
    "#);
}

#[test]
fn equal_changes_have_ids_of_their_own() {
    let before = derived("x\n\nx\n\nx\n");
    let all = changes(&pair(&before, &carried(&before, "y\n\ny\n\ny\n")));
    let mut ids: Vec<&str> = all.iter().map(|change| change.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all.len());
    assert!(diff::segments("a", "a").len() == 1);
}
