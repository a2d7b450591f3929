//! Search.

use std::fmt::Write;

use deckle_corpus::{Bounds, Found};

use crate::support::{corpus, key, real};

fn list(found: &Found) -> String {
    let mut out = String::new();
    for hit in &found.hits {
        writeln!(out, "{} ({})", hit.key, hit.title.as_deref().unwrap_or("-")).unwrap();
        for passage in &hit.passages {
            writeln!(out, "  {} | {}", passage.section.join(" › "), passage.text).unwrap();
        }
    }
    writeln!(out, "{} more", found.more).unwrap();
    out
}

#[test]
fn words_are_ranked_and_shown_where_they_stand() {
    let mut corpus = corpus(concat!(
        "//- guides/deploy\n# Deploying\n\n## Netlify\n\nPush the *build* folder. Then wait.\n\n## Pages\n\nThe build runs in an action.\n",
        "//- guides/build\n---\ntitle: The build\n---\nIt compiles.\n",
        "//- notes/misc\n# Misc\n\nbuild once, and a long text about other things that go on and on and on.\n",
        "//- notes/none\n# None\n\nNothing here.\n",
    ));
    insta::assert_snapshot!(list(&corpus.search("Build", Bounds::default())), @r"
    guides/build (The build)
       | title: The build
    guides/deploy (Deploying)
      Deploying › Netlify | Push the build folder. Then wait.
      Deploying › Pages | The build runs in an action.
    notes/misc (Misc)
      Misc | build once, and a long text about other things that go on and on and on.
    0 more
    ");
    // A word that is nowhere finds the words that start with it.
    insta::assert_snapshot!(list(&corpus.search("netl", Bounds::default())), @r"
    guides/deploy (Deploying)
      Deploying | Netlify
    0 more
    ");
    corpus.insert(key("notes/none"), "# Build build\n\nbuild\n");
    corpus.remove(&key("guides/build"));
    let first = &corpus.search("build", Bounds::default()).hits[0];
    assert_eq!(first.key, key("notes/none"));
}

#[test]
fn text_is_found_as_it_stands_on_disk() {
    let corpus = corpus("//- a\n# Head\n\nA **bold** Move.\n\n- x\n- the BOLD** move\n//- b\nnothing\n");
    insta::assert_snapshot!(list(&corpus.find_text("bold** move", Bounds::default())), @r"
    a (Head)
      Head | A **bold** Move.
      Head | the BOLD** move
    0 more
    ");
}

#[test]
fn results_keep_within_their_tokens() {
    let corpus = real("EIPs");
    let bounds = Bounds { documents: 50, passages: 3, tokens: 300 };
    let found = corpus.search("transaction gas", bounds);
    let bytes: usize = found
        .hits
        .iter()
        .flat_map(|hit| {
            hit.passages
                .iter()
                .map(|p| p.text.len() + p.section.iter().map(String::len).sum::<usize>())
                .chain([hit.key.as_str().len()])
        })
        .sum();
    assert!(bytes <= 1200 && !found.hits.is_empty() && found.more > 10, "{bytes} {found:?}");
}

#[test]
fn titles_are_found_by_what_is_remembered() {
    let corpus = corpus(concat!(
        "//- guides/quick-start\n# Quick start\n//- guides/start\n# Start here\n//- api/restart\n# Restart\n",
        "//- people/jon\n---\naliases: [Jonathan]\n---\n# Jon\n//- misc\n# Something else\n",
    ));
    let find = |query: &str| {
        let hits = corpus.find_title(query, 5);
        hits.iter().map(|hit| format!("{} ({})", hit.key, hit.name)).collect::<Vec<_>>().join(", ")
    };
    let all = ["start", "quick strat", "qstart", "JONATHAN", "jonahtan", "zzz"].map(|query| format!("{query}: {}", find(query)));
    insta::assert_snapshot!(all.join("\n"), @r"
    start: guides/start (start), guides/quick-start (quick-start), api/restart (restart)
    quick strat: guides/quick-start (Quick start)
    qstart: guides/start (start), api/restart (restart), guides/quick-start (guides/quick-start)
    JONATHAN: people/jon (Jonathan)
    jonahtan: people/jon (Jonathan)
    zzz:
    ");
}

#[test]
fn tags_and_fields() {
    let corpus =
        corpus("//- a\n---\ntags: [x, y]\nstatus: open\n---\ntext #z/sub and #1 a#b\n//- b\n---\ntags: x\nstatus: open\n---\n");
    insta::assert_snapshot!(format!("{:?}\n{:?}", corpus.tags(), corpus.field("status")), @r#"
    {"x": [DocKey("a"), DocKey("b")], "y": [DocKey("a")], "z/sub": [DocKey("a")]}
    {"open": [DocKey("a"), DocKey("b")]}
    "#);
}
