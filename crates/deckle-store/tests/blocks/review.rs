//! Any selection of changes is the text before with those changes and nothing else.

use std::collections::{BTreeMap, BTreeSet};

use deckle_store::diff::{ChangeId, ChangeKind, Pair};
use deckle_store::review::{self, Fate, Step};
use insta::assert_snapshot;
use proptest::prelude::*;

use crate::merge::words;
use crate::model;
use crate::support::{Side, carried, cases, changes, derived, key, pair};

fn text_with(pair: &Pair, fates: &BTreeMap<ChangeId, Fate>) -> Result<String, String> {
    review::apply(&key(), pair, fates).map(|decided| decided.text.unwrap())
}

/// Checks a selection; returns whether it was possible.
pub fn check(before: &Side, after: &Side, mask: u64) -> Result<bool, TestCaseError> {
    let (old, new) = (before.0.source(), after.0.source());
    let pair = pair(before, after);
    let all = changes(&pair);
    let ids: BTreeSet<&ChangeId> = all.iter().map(|change| &change.id).collect();
    prop_assert_eq!(ids.len(), all.len(), "every change has its own id");
    prop_assert_eq!(&all, &changes(&pair), "the same changes every time");
    prop_assert_eq!(all.is_empty(), old == new);
    let chosen = |at: usize| mask >> (at % 64) & 1 == 1;
    let fates = |test: &dyn Fn(usize) -> bool| {
        let fate = |at: usize| if test(at) { Fate::Accept } else { Fate::Reject };
        all.iter().enumerate().map(|(at, change)| (change.id.clone(), fate(at))).collect::<BTreeMap<_, _>>()
    };
    prop_assert_eq!(text_with(&pair, &fates(&|_| true)).unwrap(), new);
    prop_assert_eq!(text_with(&pair, &fates(&|_| false)).unwrap(), old);
    for (at, change) in all.iter().enumerate() {
        // A block that stayed is changed in its own bytes alone.
        let simple = matches!(change.kind, ChangeKind::Changed) && change.blocks.len() == 1;
        let (Some((start, end)), Some(after), true) = (change.old_span, &change.after, simple) else { continue };
        if let Ok(text) = text_with(&pair, &fates(&|one| one == at)) {
            let wanted = [&old[..start], after, &old[end..]].concat();
            let alone = change.before.as_deref() == old.get(start..end);
            prop_assert!(
                !alone || text == wanted || change.block == "item" || text.len() >= old.len(),
                "{change:#?}\n{old:?}\n{text:?}"
            );
        }
    }
    let selected: BTreeSet<ChangeId> =
        all.iter().enumerate().filter(|(at, _)| chosen(*at)).map(|(_, change)| change.id.clone()).collect();
    let closed = review::closure(&all, &selected);
    let Ok(text) = text_with(&pair, &fates(&|at| closed.contains(&all[at].id))) else { return Ok(false) };
    let known: BTreeSet<&str> = words(old).chain(words(new)).collect();
    for word in words(&text) {
        prop_assert!(known.contains(word), "`{word}` comes from nowhere");
    }
    // What was accepted is there, what was rejected is not.
    let (in_old, in_text): (BTreeSet<&str>, BTreeSet<&str>) = (words(old).collect(), words(&text).collect());
    let said = |accepted: bool| -> BTreeSet<&str> {
        let some = all.iter().filter(|change| closed.contains(&change.id) == accepted && change.kind != ChangeKind::Spacing);
        some.filter_map(|change| change.after.as_deref()).flat_map(words).collect()
    };
    let (accepted, rejected) = (said(true), said(false));
    for word in accepted.iter().filter(|word| !in_text.contains(*word)) {
        prop_assert!(rejected.contains(word), "`{word}` was accepted and is not there\n{old:?}\n{new:?}\n{text:?}");
    }
    for word in rejected.iter().filter(|word| !accepted.contains(*word) && !in_old.contains(*word)) {
        prop_assert!(!in_text.contains(word), "`{word}` was rejected and is there\n{old:?}\n{new:?}\n{text:?}");
    }
    Ok(true)
}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn any_selection_is_exact(base in model::doc(), edits in model::edits(), mask in any::<u64>(), carry in any::<bool>()) {
        let before = derived(&base.text());
        let after = model::edited(&base, &edits, &[], "o", true).text();
        let after = if carry { carried(&before, &after) } else { derived(&after) };
        check(&before, &after, mask)?;
    }
}

#[test]
fn most_selections_are_possible() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let (mut possible, mut all) = (0, 0);
    for _ in 0..2_000 {
        let (base, edits, mask) = (model::doc(), model::edits(), any::<u64>()).new_tree(&mut runner).unwrap().current();
        let before = derived(&base.text());
        let after = carried(&before, &model::edited(&base, &edits, &[], "o", true).text());
        all += 1;
        possible += usize::from(check(&before, &after, mask).unwrap());
    }
    assert!(possible * 100 >= all * 98, "{possible} of {all}");
}

fn with(before: &str, after: &str, fates: &[Fate]) -> String {
    let before = derived(before);
    let pair = pair(&before, &carried(&before, after));
    let all = changes(&pair);
    assert_eq!(all.len(), fates.len(), "{all:#?}");
    text_with(&pair, &all.iter().map(|change| change.id.clone()).zip(fates.iter().cloned()).collect()).unwrap()
}

#[test]
fn a_person_writes_something_else() {
    use Fate::{Accept, Edit, Reject};
    let (before, after) = ("# A\n\nOne.\n\nTwo.\n", "# A\n\nOne!\n\nTwo.\n\nNew.\n");
    assert_eq!(with(before, after, &[Accept, Reject]), "# A\n\nOne!\n\nTwo.\n");
    assert_eq!(with(before, after, &[Reject, Accept]), "# A\n\nOne.\n\nTwo.\n\nNew.\n");
    let edited = with(before, after, &[Edit("## Two blocks\n\nof it.\n".into()), Edit("- a list\n".into())]);
    assert_eq!(edited, "# A\n\n## Two blocks\n\nof it.\n\nTwo.\n\n- a list\n");
    // Instead of removing it.
    assert_eq!(
        with("One.\n\nTwo.\n\nThree.\n", "One.\n\nThree.\n", &[Edit("Two, shorter.".into())]),
        "One.\n\nTwo, shorter.\n\nThree.\n"
    );
}

#[test]
fn what_comes_under_a_heading_that_comes_needs_it() {
    let before = derived("# A\n\nOne.\n");
    let pair = pair(&before, &carried(&before, "# A\n\nOne.\n\n## New\n\nIn it.\n"));
    let all = changes(&pair);
    assert_eq!(all.len(), 2);
    assert_eq!(all[1].needs, [all[0].id.clone()]);
    let only = BTreeSet::from([all[1].id.clone()]);
    assert_eq!(review::closure(&all, &only).len(), 2);
}

#[test]
fn changes_are_grouped_by_the_write_that_made_them() {
    let base = derived("One.\n\nTwo.\n");
    let first = carried(&base, "One, better.\n\nTwo.\n");
    let second = carried(&first, "One, better.\n\nTwo.\n\nThree.\n");
    let step = |intent: &str, before: &Side, after: &Side| Step {
        intent: intent.into(),
        documents: BTreeMap::from([(key(), pair(before, after))]),
    };
    let mut all = changes(&pair(&base, &second));
    review::attribute(&mut all, &[step("say it better", &base, &first), step("add a third", &first, &second)]);
    let groups = review::groups(&all);
    let intents: Vec<&str> = groups.iter().map(|group| group.intent.as_str()).collect();
    assert_eq!(intents, ["say it better", "add a third"]);
}

#[test]
fn a_summary_is_counted() {
    let before = derived(
        "---\ntitle: A\nold: 1\n---\n\n# A\n\nSee [b](b.md).\n\nA paragraph of a good many words that a person wrote with care and that will not be here any more after this change.\n",
    );
    let after = carried(&before, "---\ntitle: B\n---\n\n# A\n\nSee [c](c.md) and [[d]].\n");
    let documents = BTreeMap::from([(key(), pair(&before, &after))]);
    let all = changes(&documents[&key()]);
    assert_snapshot!(review::summarize(&documents, &all), @r"
    documents: 1 edited
    blocks: 1 changed, 1 removed
    words: +5 -29
    links: +2 -1
    front matter: old (1), title (1)
    warning: a: the document shrinks from 31 to 7 words
    warning: a: the front matter key `old` goes
    warning: a: a paragraph of 24 words goes
    ");
}
