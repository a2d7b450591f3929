//! The edit language on a corpus: its filters read the index, its rename is the proven one.

use deckle_corpus::Corpus;
use deckle_edit::filter::Filter;
use deckle_edit::{Policy, plan};
use serde_json::json;

use crate::support::corpus;

fn select(corpus: &Corpus, filter: serde_json::Value) -> String {
    let filter = Filter::parse(&filter).unwrap();
    filter.select(corpus).iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

#[test]
fn filters_follow_the_links() {
    let corpus = corpus("//- a\n[[b]]\n\nSee [c](c.md).\n//- b\n![[d]]\n//- c\n[ref]\n\n[ref]: a.md\n//- d\n# D\n");
    let all = [
        select(&corpus, json!({"$includes": "b"})),
        select(&corpus, json!({"$includedBy": "a"})),
        select(&corpus, json!({"$includedBy": {"match": {"$key": "a"}, "maxDepth": 2}})),
        select(&corpus, json!({"$references": "c"})),
        select(&corpus, json!({"$referencedBy": "c"})),
    ];
    insta::assert_snapshot!(all.join("\n"), @r"
    a
    b
    b d
    a
    a
    ");
}

#[test]
fn a_rename_step_sees_the_steps_before_it() {
    let corpus = corpus("//- a\n# A\n\nSee [b](./b.md 'B').\n//- b\n# B\n//- x/c\n[[b]]\n");
    let operation = deckle_edit::Operation::parse(&json!({"steps": [
        {"$create": {"key": "x/b", "content": "# Other\n\n[b](../b.md)\n"}},
        {"$rename": {"key": "b", "to": "y/b"}},
    ]}))
    .unwrap();
    let plan = plan(&corpus, &operation, &Policy::person()).unwrap();
    let shown = |change: &deckle_edit::DocumentChange| {
        let key = change.after.as_ref().map(ToString::to_string).unwrap_or_default();
        format!("//- {key}\n{}", change.new.as_ref().map_or("(gone)", |(tree, _)| tree.source()))
    };
    let after: Vec<String> = plan.changes().iter().map(shown).collect();
    insta::assert_snapshot!(after.join("\n"), @r"
    //- a
    # A

    See [b](./y/b.md 'B').

    //- x/b
    # Other

    [b](../y/b.md)

    //- x/c
    [[y/b]]

    //- y/b
    # B
    ");
}
