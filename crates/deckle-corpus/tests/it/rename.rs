//! Rename: every link still finds its document.

use std::collections::BTreeMap;

use deckle_corpus::{Corpus, Plan, PlanError, Target};
use deckle_doc::{Diag, DocKey};

use crate::support::{corpus, key, real, shown};

/// What every link means, by document, kind and place.
fn meanings(corpus: &Corpus, name: impl Fn(&DocKey) -> DocKey) -> BTreeMap<DocKey, Vec<Target>> {
    corpus
        .keys()
        .map(|key| {
            let targets = corpus.outgoing(key).into_iter().map(|reference| match reference.target {
                Target::Document(key) => Target::Document(name(key)),
                Target::Missing(_) => Target::Missing(String::new()),
                other => other.clone(),
            });
            (name(key), targets.collect())
        })
        .collect()
}

/// Applies a plan's splices to the texts before: nothing of the plan's own state is trusted.
fn applied(before: &Corpus, plan: &Plan) -> Corpus {
    let mut after = before.clone();
    for key in plan.moves.keys().chain(&plan.removed) {
        after.remove(key);
    }
    for (key, document) in before.documents() {
        let to = plan.moves.get(key).unwrap_or(key);
        if let Some(splices) = plan.edits.get(key) {
            after.insert(to.clone(), deckle_doc::apply(document.text(), splices));
        } else if to != key {
            after.insert(to.clone(), document.text().clone());
        }
    }
    for (key, text) in &plan.created {
        after.insert(key.clone(), text.clone());
    }
    after
}

#[test]
fn links_are_written_as_their_author_wrote_them() {
    let before = corpus(concat!(
        "//- docs/a\n[x](b.md#two 'T') [y](<./b.md>) [z](b) [h](./b.html?v=1) [[b]] [[docs/b|B]] ![[b#H]] [abs](/docs/b) [r]\n\n[r]: ./b.md \"R\"\n",
        "//- docs/b\n# B\n[self](b.md#b) [own](#b) [a](./a.md) ![i](img/p%20q.png) [[a]] [out](../../LICENSE.md) [gone](nope)\n",
        "//- home\n[b](docs/b.md) [enc](docs/%62.md) [[b]]\n",
    ));
    let plan = before.rename(&key("docs/b"), &key("guides/deep/new name")).unwrap();
    insta::assert_snapshot!(shown(plan.after()), @r#"
    //- docs/a
    [x](../guides/deep/new%20name.md#two 'T') [y](<../guides/deep/new name.md>) [z](../guides/deep/new%20name) [h](../guides/deep/new%20name.html?v=1) [[new name]] [[guides/deep/new name|B]] ![[new name#H]] [abs](/guides/deep/new%20name) [r]

    [r]: ../guides/deep/new%20name.md "R"
    //- guides/deep/new name
    # B
    [self](new%20name.md#b) [own](#b) [a](../../docs/a.md) ![i](../../docs/img/p%20q.png) [[a]] [out](../../../LICENSE.md) [gone](nope)
    //- home
    [b](guides/deep/new%20name.md) [enc](guides/deep/new%20name.md) [[new name]]
    "#);
    assert_eq!(shown(&applied(&before, &plan)), shown(plan.after()));
}

#[test]
fn a_short_name_grows_only_when_it_must() {
    let before = corpus("//- a/x\n[[y]]\n//- b/y\n# B Y\n[[x]]\n//- c/z\n[[y]] [[b/y]]\n");
    // `y` becomes the name of two documents: the links that meant one of them say which.
    let plan = before.rename(&key("c/z"), &key("c/y")).unwrap();
    insta::assert_snapshot!(shown(plan.after()), @r"
    //- a/x
    [[b/y]]
    //- b/y
    # B Y
    [[x]]
    //- c/y
    [[b/y]] [[b/y]]
    ");
}

#[test]
fn folders_and_swaps() {
    let before = corpus("//- a/x\n[y](y.md) [z](../z.md)\n//- a/y\n[[x]]\n//- z\n[x](a/x.md) [y](./a/y.md)\n");
    let plan = before.rename_folder("a", "b/c").unwrap();
    insta::assert_snapshot!(shown(plan.after()), @r"
    //- b/c/x
    [y](y.md) [z](../../z.md)
    //- b/c/y
    [[x]]
    //- z
    [x](b/c/x.md) [y](./b/c/y.md)
    ");
    let swap = BTreeMap::from([(key("a/x"), key("a/y")), (key("a/y"), key("a/x"))]);
    insta::assert_snapshot!(shown(before.rename_all(&swap).unwrap().after()), @r"
    //- a/x
    [[y]]
    //- a/y
    [y](x.md) [z](../z.md)
    //- z
    [x](a/y.md) [y](./a/x.md)
    ");
}

#[test]
fn refusals_are_instructions() {
    let corpus = corpus("//- docs/a\n[[b]]\n//- docs/b\n//- notes/B2\n");
    let refused = |from: &str, to: &str| {
        let error = corpus.rename(&key(from), &key(to)).unwrap_err();
        Diag::from(&error).to_string()
    };
    let all = [refused("docs/a", "notes/b2"), refused("a", "x"), refused("docs/a", "docs/a"), refused("docs/b", "docs/[b]")]
        .join("\n---\n");
    insta::assert_snapshot!(all, @r#"
    error[document-exists]: `notes/b2` exists
    hint: choose another key; to change that document use `update`, to remove it `delete`
    ---
    error[no-document]: there is no document `a`
      docs/a
    hint: use one of the keys above, or list the documents with `find`
    ---
    error[same-key]: `docs/a` has that key already
    hint: name another key, or leave the document as it is
    ---
    error[unwritable-link]: `[[b]]` in `docs/a` can't be written so that it still means `docs/[b]`
    hint: choose a key without `[`, `]`, `|`, `#` and `"`, or change that link first
    "#);
    assert!(matches!(corpus.rename(&key("docs/a"), &key("docs/b")), Err(PlanError::Exists { .. })));
}

/// Renames every document to another folder and back.
fn there_and_back(name: &str) -> (usize, usize, Vec<String>) {
    let corpus = real(name);
    let before = meanings(&corpus, DocKey::clone);
    let mut exact = 0;
    let mut differs = Vec::new();
    for from in corpus.keys() {
        let to = key(&format!("moved here/{}", from.name()));
        let there = corpus.rename(from, &to).unwrap_or_else(|error| panic!("{name}: {from}: {}", Diag::from(&error)));
        let moved = applied(&corpus, &there);
        let back_name = |key: &DocKey| if *key == to { from.clone() } else { key.clone() };
        if there.notes.is_empty() {
            assert_eq!(meanings(&moved, back_name), before, "{name}: {from}");
        }
        let back = moved.rename(&to, from).unwrap_or_else(|error| panic!("{name}: {from} back: {}", Diag::from(&error)));
        let home = applied(&moved, &back);
        if there.notes.is_empty() && back.notes.is_empty() {
            assert_eq!(meanings(&home, DocKey::clone), before, "{name}: {from} and back");
        }
        let changed: Vec<String> = corpus
            .documents()
            .filter(|(key, document)| home.get(key).unwrap().text() != document.text())
            .flat_map(|(key, document)| {
                let after = home.get(key).unwrap().text().clone();
                let lines: Vec<String> = document
                    .text()
                    .lines()
                    .zip(after.lines())
                    .filter(|(a, b)| a != b)
                    .map(|(a, b)| format!("{from}: {key}: {a} => {b}"))
                    .collect();
                lines
            })
            .collect();
        exact += usize::from(changed.is_empty());
        differs.extend(changed);
    }
    (corpus.len(), exact, differs)
}

/// What a link may lose on the way: `./` where the document writes both, a detour through the document's own folder.
fn without_detours(line: &str) -> String {
    line.replace("../features/", "").replace("./", "")
}

#[track_caller]
fn check(name: &str, want: (usize, usize)) {
    let (all, exact, differs) = there_and_back(name);
    for line in &differs {
        let (before, after) = line.split_once(" => ").unwrap();
        let before = before.splitn(3, ": ").nth(2).unwrap();
        assert_eq!(without_detours(before), without_detours(after), "{name}: {line}");
    }
    assert_eq!((all, exact), want, "{differs:#?}");
}

#[test]
fn every_document_of_vitepress_there_and_back() {
    check("vitepress", (89, 89));
}

#[test]
fn every_document_of_foam_there_and_back() {
    check("foam", (80, 75));
}

#[test]
fn every_document_of_hugo_there_and_back() {
    check("hugoDocs", (110, 110));
}
