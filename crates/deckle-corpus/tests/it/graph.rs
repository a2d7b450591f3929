//! The graph of links.

use deckle_corpus::Direction;

use crate::support::{corpus, key};

#[test]
fn neighbours_and_chains() {
    let corpus = corpus(
        "//- a\n[[b]] [c](c.md)\n//- b\n[[d]]\n//- c\n[d](d.md#x) [self](c.md)\n//- d\n[[e]]\n//- e\n//- f\n[[a]]\n//- alone\n",
    );
    let near = |name: &str, depth, direction| {
        let all = corpus.document_links(&key(name), depth, direction);
        let shown = all.iter().map(|near| {
            let via: Vec<&str> = near.via.iter().map(|key| key.as_str()).collect();
            format!("{}@{} via {}", near.key, near.distance, via.join("+"))
        });
        shown.collect::<Vec<_>>().join(", ")
    };
    let path = |from: &str, to: &str, direction| {
        let hops = corpus.document_path(&key(from), &key(to), direction);
        hops.map(|hops| {
            let shown =
                hops.iter().map(|hop| format!("{} {} {} {}", hop.from, hop.written, if hop.forward { "→" } else { "←" }, hop.to));
            shown.collect::<Vec<_>>().join("; ")
        })
    };
    let all = [
        near("a", 2, Direction::Out),
        near("d", 2, Direction::In),
        near("a", 1, Direction::Both),
        near("alone", 3, Direction::Both),
        format!("{:?}", path("a", "e", Direction::Out)),
        format!("{:?}", path("e", "f", Direction::Both)),
        format!("{:?}", path("e", "a", Direction::Out)),
        format!("{:?}", path("a", "a", Direction::Out)),
        format!("{:?}", path("a", "alone", Direction::Both)),
    ];
    insta::assert_snapshot!(all.join("\n"), @r#"
    b@1 via a, c@1 via a, d@2 via b+c
    b@1 via d, c@1 via d, a@2 via b+c
    b@1 via a, c@1 via a, f@1 via a

    Some("a [[b]] → b; b [[d]] → d; d [[e]] → e")
    Some("d [[e]] ← e; b [[d]] ← d; a [[b]] ← b; f [[a]] ← a")
    None
    Some("")
    None
    "#);
}
