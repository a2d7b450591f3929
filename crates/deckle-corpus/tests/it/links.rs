//! Links as they are written, and what they mean.

use std::fmt::Write;

use deckle_corpus::{Corpus, Target};

use crate::support::{corpus, key, real};

/// Every link of a document, with its path, its fragment and its meaning.
fn links(corpus: &Corpus, name: &str) -> String {
    let document = corpus.get(&key(name)).unwrap();
    let text = document.text();
    let mut out = String::new();
    for reference in corpus.outgoing(&key(name)) {
        let link = reference.link;
        let fragment = link.fragment_text(text).map(|fragment| format!("#{fragment}")).unwrap_or_default();
        let meaning = match reference.target {
            Target::Document(key) => key.to_string(),
            other => format!("{other:?}"),
        };
        writeln!(out, "{} {:?}{fragment} = {meaning}", link.kind.name(), link.path_text(text)).unwrap();
    }
    out
}

#[test]
fn every_form_is_found_where_it_stands() {
    let corpus = corpus(concat!(
        "//- docs/a\n---\nup: \"[[Home#Top|home]]\"\nrows: [[docs, b]]\n---\n",
        "[x](b.md#two 'T') [y](<sub/c d.md>) [z](sub/c%20d#s) ![i](img/p.png) [r][ref] [ref]\n\n",
        "![[b]] [[docs/b|B]] [[#Own]] <https://x.y> [p](b.html) [q](/docs/b?v=1#z) [f](sub/) [o](../../out.md)\n\n",
        "| a | b |\n|---|---|\n| [[b\\|shown]] | [t](b) |\n\n",
        "[ref]: ./b.md \"R\"\n\n<a href=\"b.md#h\">h</a>\n\n`[no](b.md)` \\[no](b.md) [mail](mailto:a@b) [gone](gone.md)\n\n```md\n[[b]]\n```\n",
        "//- docs/b\n# B\n//- docs/sub/c d\n# CD\n//- docs/sub/index\n# Sub\n//- home\n# Home\n",
    ));
    insta::assert_snapshot!(links(&corpus, "docs/a"), @r##"
    front matter link "Home"#Top = home
    link "b.md"#two = docs/b
    link "sub/c d.md" = docs/sub/c d
    link "sub/c%20d"#s = docs/sub/c d
    image "img/p.png" = File("docs/img/p.png")
    reference "./b.md" = docs/b
    reference "./b.md" = docs/b
    embed "b" = docs/b
    wikilink "docs/b" = docs/b
    wikilink ""#Own = docs/a
    address "https://x.y" = External
    link "b.html" = docs/b
    link "/docs/b"#z = docs/b
    link "sub/" = docs/sub/index
    link "../../out.md" = Outside("../out.md")
    wikilink "b" = docs/b
    link "b" = docs/b
    definition "./b.md" = docs/b
    HTML link "b.md"#h = docs/b
    link "mailto:a@b" = External
    link "gone.md" = Missing("docs/gone.md")
    "##);
}

#[test]
fn names_find_documents_by_key_then_folder_then_ending_then_title() {
    let corpus = corpus(concat!(
        "//- a/one\n[[two]] [[TWO]] [[b/two]] [[three]] [[Number Three]] [[drei]] [[x/../two]] [[./two]] [[../b/two]] [[/b/two]] [[four]] [[b/two.md]] [[pic.png]] [[none]]\n",
        "//- a/two\n//- b/two\n//- b/deep/three\n---\ntitle: Number three\naliases: [Drei]\n---\n//- c/four\n//- d/four\n",
    ));
    insta::assert_snapshot!(links(&corpus, "a/one"), @r#"
    wikilink "two" = a/two
    wikilink "TWO" = a/two
    wikilink "b/two" = b/two
    wikilink "three" = b/deep/three
    wikilink "Number Three" = b/deep/three
    wikilink "drei" = b/deep/three
    wikilink "x/../two" = a/two
    wikilink "./two" = a/two
    wikilink "../b/two" = b/two
    wikilink "/b/two" = b/two
    wikilink "four" = Ambiguous([DocKey("c/four"), DocKey("d/four")])
    wikilink "b/two.md" = b/two
    wikilink "pic.png" = File("pic.png")
    wikilink "none" = Missing("none")
    "#);
}

#[test]
fn an_update_changes_what_it_touches() {
    let mut corpus = corpus("//- a\n[[b]] [[c]]\n//- b\n[a](a.md)\n");
    assert_eq!(corpus.incoming(&key("b")).len(), 1);
    corpus.insert(key("a"), "[[b]] [[b]]\n");
    assert_eq!(corpus.incoming(&key("b")).len(), 2);
    corpus.insert(key("c"), "# C\n[[a]]\n");
    assert_eq!(corpus.references(&key("c")).len(), 1);
    corpus.remove(&key("b"));
    assert_eq!(corpus.incoming(&key("a")).len(), 1);
    assert_eq!(corpus.outgoing(&key("a"))[0].target, &Target::Missing("b".into()));
}

#[test]
fn real_corpora_resolve() {
    let mut out = String::new();
    for name in ["vitepress", "foam", "hugoDocs", "EIPs", "madr", "runbooks", "site-policy", "Prompt-Engineering-Guide"] {
        let corpus = real(name);
        let mut counts = [0; 6];
        for key in corpus.keys() {
            for reference in corpus.outgoing(key) {
                counts[match reference.target {
                    Target::Document(_) => 0,
                    Target::Ambiguous(_) => 1,
                    Target::File(_) => 2,
                    Target::Missing(_) => 3,
                    Target::Outside(_) => 4,
                    Target::External => 5,
                }] += 1;
            }
        }
        writeln!(out, "{name}: {counts:?}").unwrap();
    }
    insta::assert_snapshot!(out, @r"
    vitepress: [122, 0, 2, 234, 0, 253]
    foam: [264, 0, 54, 74, 0, 1192]
    hugoDocs: [69, 0, 13, 545, 0, 215]
    EIPs: [64, 0, 26, 448, 1, 280]
    madr: [24, 0, 4, 0, 0, 116]
    runbooks: [6, 0, 2, 12, 0, 103]
    site-policy: [27, 0, 2, 70, 0, 190]
    Prompt-Engineering-Guide: [64, 0, 25, 0, 0, 672]
    ");
}
