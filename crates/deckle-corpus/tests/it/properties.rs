//! Properties of renames over made-up corpora: many ways to write links, few keys, so that names collide often.

use std::collections::BTreeMap;

use deckle_corpus::{Corpus, PlanError, Target};
use deckle_doc::DocKey;
use proptest::prelude::*;

const KEYS: [&str; 10] = ["a", "b", "x/a", "x/b", "x/index", "x/y/a", "x y/c", "z/a", "z/README", "c(1)"];
const NEW: [&str; 8] = ["n", "x/n", "x/y/b", "w/a", "w/index", "x y/z z", "z/b", "A1"];

/// One link, to one of the keys or to nowhere, in one of the ways people write them.
fn link() -> impl Strategy<Value = (usize, usize)> {
    (0..KEYS.len() + 1, 0..14_usize)
}

fn written(from: &str, to: usize, way: usize) -> String {
    let key = KEYS.get(to).copied().unwrap_or("no/where");
    let depth = from.matches('/').count();
    let up = "../".repeat(depth);
    let raw = format!("{up}{key}");
    let encoded = raw.replace(' ', "%20").replace('(', "%28").replace(')', "%29");
    let name = key.rsplit('/').next().unwrap();
    match way {
        0 => format!("[t]({encoded}.md)"),
        1 => format!("[t]({encoded})"),
        2 => format!("[t](<{raw}.md> 'title')"),
        3 => format!("[t](./{encoded}.html?q=1#f)"),
        4 => format!("[t](/{}.md#x)", key.replace(' ', "%20").replace('(', "\\(").replace(')', "\\)")),
        5 => format!("[[{key}]]"),
        6 => format!("[[{name}|shown]]"),
        7 => format!("![[{name}#Head]]"),
        8 => format!("![i]({encoded}.png)"),
        9 => format!("<a href=\"{encoded}.md\">h</a>"),
        10 => format!("[[{raw}.md]]"),
        11 => format!("[t]({up}{}/)", key.split('/').next().unwrap().replace(' ', "%20").replace('(', "%28").replace(')', "%29")),
        12 => format!("[t][r]\n\n[r]: {encoded}.md\n\n"),
        _ => "[own](#top)".to_owned(),
    }
}

fn build(documents: &[(usize, Vec<(usize, usize)>)]) -> Corpus {
    let mut corpus = Corpus::default();
    for (at, links) in documents {
        let key = KEYS[*at];
        let text: String = links.iter().map(|(to, way)| format!("{}\n\n", written(key, *to, *way))).collect();
        corpus.insert(DocKey::parse(key).unwrap(), format!("# Title {at}\n\n{text}"));
    }
    corpus
}

fn meanings(corpus: &Corpus, name: impl Fn(&DocKey) -> DocKey) -> BTreeMap<DocKey, Vec<Target>> {
    let plain = |target: &Target| match target {
        Target::Document(key) => Target::Document(name(key)),
        Target::Missing(_) => Target::Missing(String::new()),
        Target::Ambiguous(_) => Target::Ambiguous(Vec::new()),
        other => other.clone(),
    };
    let all = |key: &DocKey| corpus.outgoing(key).into_iter().map(|reference| plain(reference.target)).collect();
    corpus.keys().map(|key| (name(key), all(key))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_rename_keeps_every_meaning(
        documents in proptest::collection::vec((0..KEYS.len(), proptest::collection::vec(link(), 0..6)), 1..8),
        from in 0..8_usize,
        to in 0..NEW.len(),
    ) {
        let corpus = build(&documents);
        let from = corpus.keys().nth(from % corpus.len()).unwrap().clone();
        let to = DocKey::parse(NEW[to]).unwrap();
        let plan = match corpus.rename(&from, &to) {
            Ok(plan) => plan,
            Err(PlanError::Exists { .. }) => return Ok(()),
            Err(error) => return Err(TestCaseError::fail(format!("{from} -> {to}: {error}"))),
        };
        // The state is built again from the splices alone.
        let mut after = Corpus::default();
        for (key, document) in corpus.documents() {
            let text = plan.edits.get(key).map_or(document.text().to_string(), |splices| deckle_doc::apply(document.text(), splices));
            after.insert(plan.moves.get(key).unwrap_or(key).clone(), text);
        }
        let before = meanings(&corpus, |key| if *key == from { to.clone() } else { key.clone() });
        let now = meanings(&after, DocKey::clone);
        for (key, targets) in &before {
            for (was, is) in targets.iter().zip(&now[key]) {
                // What led nowhere, or to several, may find the document that is there now; the plan says so.
                let settled = matches!(was, Target::Missing(_) | Target::Ambiguous(_)) && !plan.notes.is_empty();
                prop_assert!(was == is || settled, "{} in {:?}: {:?} became {:?}\n{:?}", key, from, was, is, plan.edits);
            }
            prop_assert_eq!(targets.len(), now[key].len());
        }
        // An index that was kept up to date is the index that is built anew.
        let mut kept = corpus.clone();
        let _ = (kept.check(), kept.search("title", deckle_corpus::Bounds::default()));
        kept.remove(&from);
        for (key, document) in after.documents() {
            kept.insert(key.clone(), document.text().clone());
        }
        prop_assert_eq!(kept.check(), after.check());
        let bounds = deckle_corpus::Bounds::default();
        prop_assert_eq!(kept.search("title", bounds), after.search("title", bounds));
    }
}
