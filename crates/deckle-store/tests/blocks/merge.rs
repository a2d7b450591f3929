//! Row 15: a merge is lossless and fair.

use std::collections::BTreeSet;

use deckle_doc::{Dialect, Ids, Tree};
use deckle_store::merge::{BlockConflict, Choice, Merge};
use insta::assert_snapshot;
use proptest::prelude::*;

use crate::model;
use crate::support::{Triple, cases, merged, version};

/// The words of a side that the base does not have.
fn written<'a>(base: &BTreeSet<&str>, text: &'a str) -> Vec<&'a str> {
    words(text).filter(|word| !base.contains(word)).collect()
}

/// The words of a text that can be told apart: those with a digit.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| word.bytes().any(|byte| byte.is_ascii_digit()) && word.len() > 1)
}

fn said(conflicts: &[BlockConflict]) -> BTreeSet<&str> {
    conflicts.iter().flat_map(|one| [&one.ours, &one.theirs]).flatten().flat_map(|text| words(text)).collect()
}

fn swapped(conflicts: &[BlockConflict]) -> Vec<(Option<String>, Option<String>, Option<String>)> {
    let mut all: Vec<_> = conflicts.iter().map(|one| (one.base.clone(), one.theirs.clone(), one.ours.clone())).collect();
    all.sort();
    all
}

fn shown(conflicts: &[BlockConflict]) -> Vec<(Option<String>, Option<String>, Option<String>)> {
    let mut all: Vec<_> = conflicts.iter().map(|one| (one.base.clone(), one.ours.clone(), one.theirs.clone())).collect();
    all.sort();
    all
}

/// Checks every property of one triple; returns whether it merged.
pub fn check(base: &str, ours: &str, theirs: &str, carry: bool) -> Result<bool, TestCaseError> {
    let make = |a: &str, b: &str, c: &str| if carry { Triple::carried(a, b, c) } else { Triple::derived(a, b, c) };
    // What only one side did is what happens, to the byte; what both did happens once.
    for (a, b, want) in
        [(ours, base, ours), (base, ours, ours), (theirs, base, theirs), (base, theirs, theirs), (ours, ours, ours)]
    {
        match make(base, a, b).merged() {
            Ok(merged) => prop_assert_eq!(merged.text.as_str(), want),
            Err(conflicts) => prop_assert!(false, "one side alone conflicts: {conflicts:#?}\n{base:?}\n{a:?}\n{b:?}"),
        }
    }
    let triple = make(base, ours, theirs);
    let merge = triple.worked_out();
    let back = make(base, theirs, ours);
    prop_assert_eq!(shown(merge.conflicts()), swapped(back.worked_out().conflicts()), "swapped sides, swapped conflicts");
    let conflicts = merge.conflicts().to_vec();
    // With either choice for all conflicts, the result and the conflicts hold every word that a side wrote.
    let mut texts = Vec::new();
    for choice in [Choice::Ours, Choice::Theirs] {
        let choices = vec![choice; conflicts.len()];
        if let Ok(resolved) = merge.resolve(&choices) {
            texts.push(resolved.text);
        }
    }
    let in_conflicts = said(&conflicts);
    let in_base: BTreeSet<&str> = words(base).collect();
    for text in &texts {
        let found: BTreeSet<&str> = words(text).chain(in_conflicts.iter().copied()).collect();
        for word in written(&in_base, ours).into_iter().chain(written(&in_base, theirs)) {
            prop_assert!(
                found.contains(word),
                "`{word}` is lost\nbase {base:?}\nours {ours:?}\ntheirs {theirs:?}\nresult {text:?}"
            );
        }
        let known: BTreeSet<&str> = words(ours).chain(words(theirs)).collect();
        let foreign = words(text).find(|word| !known.contains(word));
        prop_assert!(foreign.is_none(), "{foreign:?} comes from neither side\n{base:?}\n{ours:?}\n{theirs:?}\n{text:?}");
    }
    if let Ok(result) = merge.into_result() {
        let other = back.merged();
        prop_assert_eq!(
            Some(result.text.as_str()),
            other.as_ref().ok().map(|merged| merged.text.as_str()),
            "swapped sides, the same text"
        );
        // What one side removed is gone; of blocks that read alike nobody can say which one went.
        let (in_ours, in_theirs): (BTreeSet<&str>, BTreeSet<&str>) = (words(ours).collect(), words(theirs).collect());
        for word in words(base).filter(|word| !in_ours.contains(word) || !in_theirs.contains(word)) {
            let back = words(&result.text).any(|one| one == word);
            prop_assert!(
                !back || !carry || !all_differ(base),
                "`{word}` came back\nbase {base:?}\nours {ours:?}\ntheirs {theirs:?}\nresult {:?}",
                result.text
            );
        }
        // What either side kept in order stands in that order.
        let kept = in_order(ours, theirs);
        let there: Vec<&str> = unique(&result.text).into_iter().filter(|line| kept.contains(line)).collect();
        let stays: Vec<&str> = kept.iter().copied().filter(|line| there.contains(line)).collect();
        prop_assert_eq!(
            there,
            stays,
            "the order of lines that both keep\n{:?}\n{:?}\n{:?}\n{:?}",
            base,
            ours,
            theirs,
            result.text
        );
        return Ok(true);
    }
    Ok(false)
}

/// Whether no two blocks of a text read alike.
fn all_differ(text: &str) -> bool {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty() && *line != ":::").collect();
    lines.iter().collect::<BTreeSet<_>>().len() == lines.len()
}

/// Lines that stand once in a text.
fn unique(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().filter(|line| words(line).next().is_some()).collect();
    lines.iter().copied().filter(|line| lines.iter().filter(|one| *one == line).count() == 1).collect()
}

/// The lines of both, when those stand in the same order on both sides; none when they do not.
fn in_order<'a>(ours: &'a str, theirs: &'a str) -> Vec<&'a str> {
    let (a, b) = (unique(ours), unique(theirs));
    let common_a: Vec<&str> = a.iter().copied().filter(|line| b.contains(line)).collect();
    let common_b: Vec<&str> = b.iter().copied().filter(|line| a.contains(line)).collect();
    if common_a == common_b { common_a } else { Vec::new() }
}

/// A quarter of the cases each, so that they run beside one another.
macro_rules! random_triples {
    ($name:ident, $carry:literal) => {
        proptest! {
            #![proptest_config(cases(5_000))]

            #[test]
            fn $name(base in model::doc(), a in model::edits(), b in model::edits()) {
                let ours = model::edited(&base, &a, &b, "o", true);
                let theirs = model::edited(&base, &b, &a, "t", false);
                check(&base.text(), &ours.text(), &theirs.text(), $carry)?;
            }
        }
    };
}

random_triples!(random_triples_merge_lossless_and_fair, true);
random_triples!(more_random_triples_merge_lossless_and_fair, true);
random_triples!(random_triples_without_known_ids_merge_lossless_and_fair, false);
random_triples!(more_random_triples_without_known_ids_merge_lossless_and_fair, false);

#[test]
fn most_edits_of_different_blocks_merge() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let (mut clean, mut whole, mut all) = (0, 0, 0);
    for _ in 0..2_000 {
        let (base, a, b) = (model::doc(), model::edits(), model::edits()).new_tree(&mut runner).unwrap().current();
        let ours = model::edited(&base, &a, &b, "o", true).text();
        let theirs = model::edited(&base, &b, &a, "t", false).text();
        let base = base.text();
        all += 1;
        match Triple::carried(&base, &ours, &theirs).merged() {
            Ok(_) => clean += 1,
            Err(conflicts) => {
                whole += usize::from(conflicts[0].base.as_deref() == Some(base.as_str()) && conflicts[0].block == "document")
            }
        }
    }
    assert!(clean * 100 >= all * 65, "{clean} of {all} merged");
    assert!(whole * 100 <= all * 2, "{whole} of {all} conflict as a whole document");
}

#[test]
fn separate_blocks_survive() {
    assert_snapshot!(merged("# A\n\nOne.\n\nTwo.\n", "# A\n\nOne!\n\nTwo.\n", "# A\n\nOne.\n\nTwo?\n\nThree.\n"), @r"
    # A

    One!

    Two?

    Three.
    ");
}

#[test]
fn two_changes_of_one_block_conflict() {
    let drawn = merged(
        "# A\n\n## B\n\nOne block.\n\nTwo.\n",
        "# A\n\n## B\n\nOne block, ours.\n\nTwo.\n",
        "# A\n\n## B\n\nOne block, theirs.\n\nTwo.\n",
    );
    assert_snapshot!(drawn, @r#"
    A › B › paragraph "One block.": changed on both sides
      base: "One block."
      ours: "One block, ours."
      theirs: "One block, theirs."
    "#);
}

#[test]
fn removed_and_changed_conflict() {
    assert_snapshot!(merged("One.\n\nTwo.\n\nThree.\n", "One.\n\nThree.\n", "One.\n\nTwo, changed.\n\nThree.\n"), @r#"
    paragraph "Two.": removed on one side and changed on the other
      base: "Two."
      ours: -
      theirs: "Two, changed."
    "#);
}

#[test]
fn the_same_change_happens_once() {
    let side = "One, changed.\n\nNew.\n\nTwo.\n";
    assert_snapshot!(merged("One.\n\nTwo.\n", side, side), @r"
    One, changed.

    New.

    Two.
    ");
}

#[test]
fn rows_merge_one_by_one() {
    let base = "| k | v |\n|---|---|\n| a | 1 |\n| b | 2 |\n";
    let ours = "| k | v |\n|---|---|\n| a | 10 |\n| b | 2 |\n";
    let theirs = "| k | v |\n|---|---|\n| a | 1 |\n| b | 2 |\n| c | 3 |\n";
    assert_snapshot!(merged(base, ours, theirs), @r"
    | k | v |
    |---|---|
    | a | 10 |
    | b | 2 |
    | c | 3 |
    ");
}

#[test]
fn a_new_column_and_a_new_row_conflict() {
    let base = "| k |\n|---|\n| a |\n";
    let ours = "| k | v |\n|---|---|\n| a | 1 |\n";
    let theirs = "| k |\n|---|\n| a |\n| b |\n";
    assert_snapshot!(merged(base, ours, theirs), @r#"
    table "| k | |---| | a": changed on both sides
      base: "| k |\n|---|\n| a |"
      ours: "| k | v |\n|---|---|\n| a | 1 |"
      theirs: "| k |\n|---|\n| a |\n| b |"
    "#);
}

#[test]
fn items_and_check_boxes_merge_one_by_one() {
    let base = "- [ ] one\n- [ ] two\n- three\n";
    let ours = "- [x] one\n- [ ] two\n- three, ours\n";
    let theirs = "- [ ] one, theirs\n- [ ] two\n  - inner\n- three\n- four\n";
    assert_snapshot!(merged(base, ours, theirs), @r"
    - [x] one, theirs
    - [ ] two
      - inner
    - three, ours
    - four
    ");
}

#[test]
fn front_matter_merges_by_key() {
    let base = "---\ntitle: A\ntags:\n  - x\n---\n\nText.\n";
    let ours = "---\ntitle: A, ours # why\ntags:\n  - x\n---\n\nText.\n";
    let theirs = "---\ntitle: A\ntags:\n  - x\n  - y\ndate: 2024-01-01\n---\n\nText.\n";
    assert_snapshot!(merged(base, ours, theirs), @r"
    ---
    title: A, ours # why
    tags:
      - x
      - y
    date: 2024-01-01
    ---

    Text.
    ");
}

#[test]
fn one_key_with_two_values_conflicts() {
    let base = "---\ntitle: A\n---\n\nText.\n";
    assert_snapshot!(merged(base, &base.replace("A", "B"), &base.replace("A", "C")), @r#"
    front matter key "title: A": changed on both sides
      base: "title: A"
      ours: "title: B"
      theirs: "title: C"
    "#);
    assert_snapshot!(merged("Text.\n", "---\ntitle: B\n---\n\nText.\n", "---\ntitle: C\ndate: 1\n---\n\nText.\n"), @r#"
    front matter key "title: B": added on both sides at the same place
      base: -
      ours: "title: B"
      theirs: "title: C\ndate: 1"
    "#);
}

#[test]
fn an_edit_survives_the_move_of_its_block() {
    let base = "# A\n\nOne is here.\n\n- item\n- other\n\n# B\n\nTwo.\n";
    let ours = "# A\n\n# B\n\nTwo.\n\nOne is here.\n\n- item\n- other\n";
    let theirs = "# A\n\nOne is here, changed.\n\n- item\n- new\n- other\n\n# B\n\nTwo.\n";
    assert_snapshot!(merged(base, ours, theirs), @r"
    # A

    # B

    Two.

    One is here, changed.

    - item
    - new
    - other
    ");
}

#[test]
fn an_edit_survives_in_a_callout() {
    let base = "Before.\n\nOne is here.\n\nAfter.\n";
    let ours = "Before.\n\n:::note\nOne is here.\n:::\n\nAfter.\n";
    let theirs = "Before.\n\nOne is here, changed.\n\nAfter.\n";
    assert_snapshot!(merged(base, ours, theirs), @r"
    Before.

    :::note
    One is here, changed.
    :::

    After.
    ");
}

#[test]
fn what_is_added_to_a_section_that_goes_is_a_conflict() {
    let base = "# A\n\nOne.\n\n# B\n\nTwo.\n\n# C\n\nThree.\n";
    let ours = "# A\n\nOne.\n\n# C\n\nThree.\n";
    let theirs = "# A\n\nOne.\n\n# B\n\nTwo.\n\nNew under B.\n\n# C\n\nThree.\n";
    assert_snapshot!(merged(base, ours, theirs), @r##"
    A › heading "# B": changed on both sides
      base: "# B\n\nTwo."
      ours: -
      theirs: "# B\n\nTwo.\n\nNew under B."
    "##);
}

#[test]
fn a_paragraph_stays_out_of_a_section_that_comes() {
    let base = "# A\n\nOne.\n\n# B\n";
    let ours = "# A\n\nOne.\n\n## New\n\nIn it.\n\n# B\n";
    let theirs = "# A\n\nOne.\n\nMore on A.\n\n# B\n";
    assert_snapshot!(merged(base, ours, theirs), @r"
    # A

    One.

    More on A.

    ## New

    In it.

    # B
    ");
}

#[test]
fn line_ends_and_gaps_stay() {
    let base = "# A\r\n\r\nOne.\r\n\r\n\r\nTwo.\r\n";
    let triple = Triple::carried(base, &base.replace("One", "1"), &format!("{base}\r\nThree.\r\n"));
    assert_eq!(triple.merged().unwrap().text, "# A\r\n\r\n1.\r\n\r\n\r\nTwo.\r\n\r\nThree.\r\n");
}

#[test]
fn a_conflict_is_resolved_by_choice_or_by_writing() {
    let triple = Triple::carried("# A\n\nOne.\n\nTwo.\n", "# A\n\nOne, ours.\n\nTwo.\n", "# A\n\nOne, theirs.\n\nTwo!\n");
    let merge = triple.worked_out();
    let with = |choice: Choice| merge.resolve(&[choice]).unwrap().text;
    assert_eq!(with(Choice::Ours), "# A\n\nOne, ours.\n\nTwo!\n");
    assert_eq!(with(Choice::Theirs), "# A\n\nOne, theirs.\n\nTwo!\n");
    assert_eq!(with(Choice::Base), "# A\n\nOne.\n\nTwo!\n");
    assert_eq!(with(Choice::Write("A person's.\n\n- with a list\n".into())), "# A\n\nA person's.\n\n- with a list\n\nTwo!\n");
    assert_eq!(with(Choice::Write(String::new())), "# A\n\nTwo!\n");
    assert_eq!(merge.resolve(&[]).unwrap_err().len(), 1);
}

#[test]
fn documents_are_merged_as_their_dialect_reads_them() {
    let base = "!!! note\n\n    One is here.\n\n    Two is here.\n";
    let (ours, theirs) = (base.replace("One", "1"), base.replace("Two is here.", "Two is here.\n\n    Three."));
    for dialect in [Dialect::MkDocs, Dialect::Generic] {
        let side = |text: &str| {
            let tree = Tree::parse(text, dialect).unwrap();
            let ids = Ids::derive(&tree);
            (tree, ids)
        };
        let (a, b, c) = (side(base), side(&ours), side(&theirs));
        let merge = Merge::new(version(&a), version(&b), version(&c));
        let found: Vec<&str> = merge.conflicts().iter().map(|conflict| conflict.block).collect();
        match dialect {
            // Two paragraphs of a callout, each changed on one side.
            Dialect::MkDocs => {
                assert_eq!(merge.into_result().unwrap().text, ours.replace("Two is here.", "Two is here.\n\n    Three."))
            }
            // One block of code, changed on both.
            _ => assert_eq!(found, ["code"]),
        }
    }
}

#[test]
fn undo_keeps_later_edits() {
    // The run changed One and added Three; then a person changed Two.
    let (before, after) = ("One.\n\nTwo.\n", "One, by the run.\n\nTwo.\n\nThree.\n");
    let now = "One, by the run.\n\nTwo, by hand.\n\nThree.\n";
    assert_eq!(merged(after, now, before), "One.\n\nTwo, by hand.\n");
    assert_eq!(merged(after, after, before), before);
}

#[test]
fn blocks_keep_their_ids() {
    let triple = Triple::carried(
        "# A\n\nOne.\n\n| k |\n|---|\n| a |\n",
        "# A\n\nOne, ours.\n\n| k |\n|---|\n| a |\n",
        "# A\n\nOne.\n\nNew.\n\n| k |\n|---|\n| a |\n| b |\n",
    );
    let merged = triple.merged().unwrap();
    let names = |side: &crate::support::Side| side.1.names().map(|name| name.to_string()).collect::<Vec<_>>();
    let (ours, theirs, result) =
        (names(&triple.ours), names(&triple.theirs), merged.ids.names().map(|name| name.to_string()).collect::<Vec<_>>());
    assert_eq!(result[..2], ours[..2]);
    assert_eq!(result[2..], theirs[2..]);
}
