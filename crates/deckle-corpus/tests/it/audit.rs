//! Audits and damage.

use std::collections::BTreeMap;

use deckle_corpus::Corpus;

use crate::support::{corpus, key, real};

fn damage(before: &Corpus, after: &Corpus) -> String {
    before.damage(after, &BTreeMap::new()).to_string()
}

const BEFORE: &str = concat!(
    "//- a\n---\ntitle: A\nowner: jo\n---\n# A\n\nIntro words.\n\n## One\n\nA paragraph with quite a few words in it, twelve at the least and more.\n\n",
    "## Two\n\nShort. [b](b.md#x) [[c]]\n\n| n | v |\n|---|---|\n| 1 | a |\n| 2 | b |\n",
    "//- b\n# B\n\n## X\n\ntext\n//- c\n# C\n\nThe text of the third document, which has words enough to be seen.\n//- d\n[[a]]\n",
);

#[test]
fn each_kind_of_damage_is_named() {
    let before = corpus(BEFORE);
    let mut after = before.clone();
    after.insert(
        key("a"),
        "---\ntitle: A\n---\n# A\n\nIntro words.\n\n## Two\n\nShort. [b](b.md#x) [[c]]\n\n| n | v |\n|---|---|\n| 1 | a |\n",
    );
    after.insert(key("b"), "# B\n\n## Y\n\ntext\n");
    after.remove(&key("c"));
    after.insert(key("d"), "nothing\n");
    insta::assert_snapshot!(damage(&before, &after), @r"
    a: 29 words became 11 [document-shrunk]
    a: the front matter lost `owner` [field-lost]
    a: the section `A › One` of 15 words is gone [section-gone]
    a: the table `n | v` of 3 rows has 2 [rows-lost]
    a: `[[c]]` meant `c` and finds nothing [link-broken]
    a: the heading that `[b](b.md#x)` names is gone [fragment-broken]
    a: no document links to it any more [orphaned]
    c: the document is gone, and 1 document(s) link to it [document-gone]
    ");
}

#[test]
fn what_moves_is_not_lost() {
    let before = corpus(BEFORE);
    let plan = before.rename(&key("c"), &key("deep/c2")).unwrap();
    assert_eq!(before.damage(plan.after(), &plan.moves).to_string(), "");
    // Without being told of it, too: the text stands under another key.
    assert_eq!(damage(&before, plan.after()), "");
    let mut after = before.clone();
    let text = before.get(&key("a")).unwrap().text().replace("## One", "## First");
    after.insert(key("a"), text);
    assert_eq!(damage(&before, &after), "");
    let mut emptied = before.clone();
    emptied.insert(key("c"), "# C\n\nThe text.\n");
    insta::assert_snapshot!(damage(&before, &emptied), @r"
    c: 14 words became 3 [document-shrunk]
    c: the section `C` of 13 words has 2 [section-shrunk]
    ");
}

#[test]
fn a_link_that_comes_to_mean_another_is_named() {
    let before = corpus("//- x/a\n[[b]]\n//- y/b\n");
    let mut after = before.clone();
    after.insert(key("x/b"), "# New\n");
    insta::assert_snapshot!(damage(&before, &after), @r"
    x/a: `[[b]]` meant `y/b` and now means `x/b` [link-retargeted]
    y/b: no document links to it any more [orphaned]
    ");
}

#[test]
fn a_corpus_is_checked() {
    let corpus = corpus(concat!(
        "//- index\n[a](a.md) [no](no.md) [h](a.md#none) [[n]] [x](a.md#anchor)\n",
        "//- a\n# A\n## B\n## B\n<a id=\"anchor\"></a>\n//- x/n\n# A\n//- y/n\n# N\n[i](../index.md)\n",
    ));
    let found: Vec<String> =
        corpus.check().iter().map(|finding| format!("{}: {} [{}]", finding.key, finding.what, finding.what.code())).collect();
    insta::assert_snapshot!(found.join("\n"), @r"
    a: 2 headings are `A › B` [duplicate-heading]
    a: the title `A` is also that of `x/n` [duplicate-title]
    index: `[no](no.md)` finds nothing [link-to-nowhere]
    index: `[[n]]` may mean `x/n`, `y/n` [link-ambiguous]
    index: `[h](a.md#none)` names a heading that is not there [no-such-heading]
    x/n: the title `A` is also that of `a` [duplicate-title]
    x/n: no document links to it [orphan]
    y/n: no document links to it [orphan]
    ");
}

#[test]
fn real_corpora_are_undamaged_by_nothing_and_by_renames() {
    for name in ["vitepress", "madr", "site-policy"] {
        let corpus = real(name);
        assert_eq!(damage(&corpus, &corpus.clone()), "");
        let mut all = Corpus::default();
        corpus.documents().for_each(|(key, document)| all.insert(key.clone(), document.text().clone()));
        assert_eq!(damage(&corpus, &all), "");
        let first = corpus.keys().nth(corpus.len() / 2).unwrap().clone();
        let plan = corpus.rename(&first, &key("elsewhere/page")).unwrap();
        let found = corpus.damage(plan.after(), &plan.moves);
        assert!(found.is_clean(), "{name}: {first}: {found}");
    }
}
