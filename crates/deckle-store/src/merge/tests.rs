//! Properties and examples of the three-way merge.

use proptest::prelude::*;

use super::*;

fn parse(text: &str) -> (Tree, Ids) {
    let tree = Tree::parse(text, Dialect::Generic).unwrap();
    let ids = Ids::derive(&tree);
    (tree, ids)
}

fn run(base: &str, ours: &str, theirs: &str) -> Result<String, Vec<BlockConflict>> {
    let (b, o, t) = (parse(base), parse(ours), parse(theirs));
    merge(Version { tree: &b.0, ids: &b.1 }, Version { tree: &o.0, ids: &o.1 }, Version { tree: &t.0, ids: &t.1 })
        .map(|merged| merged.text)
}

#[track_caller]
fn check(base: &str, ours: &str, theirs: &str, merged: &str) {
    assert_eq!(run(base, ours, theirs).as_deref(), Ok(merged));
}

#[test]
fn changes_to_different_blocks_are_both_there() {
    check("# A\n\nOne.\n\nTwo.\n", "# A\n\nOne!\n\nTwo.\n", "# A\n\nOne.\n\nTwo!\n", "# A\n\nOne!\n\nTwo!\n");
    check("- a\n- b\n- c\n", "- a!\n- b\n- c\n", "- a\n- b\n- c!\n", "- a!\n- b\n- c!\n");
    check(
        "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n",
        "| a | b |\n|---|---|\n| 1 | x |\n| 3 | 4 |\n",
        "| a | b |\n|---|---|\n| 1 | 2 |\n| y | 4 |\n",
        "| a | b |\n|---|---|\n| 1 | x |\n| y | 4 |\n",
    );
    check("> a\n>\n> b\n", "> a!\n>\n> b\n", "> a\n>\n> b!\n", "> a!\n>\n> b!\n");
}

#[test]
fn what_both_added_at_one_place_stands_side_by_side_and_apart() {
    check("# A\n\nLast.\n", "# A\n\nLast.\n\nOurs.\n", "# A\n\nLast.\n\nTheirs.\n", "# A\n\nLast.\n\nOurs.\n\nTheirs.\n");
    check("# A\n\nLast.\n", "# A\n\nLast.\n\nTheirs.\n", "# A\n\nLast.\n\nOurs.\n", "# A\n\nLast.\n\nTheirs.\n\nOurs.\n");
    check("Last.", "Last.\n\nOurs.", "Last.\n\nTheirs.", "Last.\n\nOurs.\n\nTheirs.");
    check("A.\r\n", "A.\r\n\r\nO.\r\n", "A.\r\n\r\nT.\r\n", "A.\r\n\r\nO.\r\n\r\nT.\r\n");
}

#[test]
fn the_same_change_on_both_sides_is_made_once() {
    check("One.\n\nTwo.\n", "One!\n\nTwo.\n\nNew.\n", "One!\n\nTwo.\n\nNew.\n\nMore.\n", "One!\n\nTwo.\n\nNew.\n\nMore.\n");
}

#[test]
fn two_changes_to_one_block_are_a_conflict_with_all_three_sides() {
    let conflicts = run("# A\n\nOne.\n\nTwo.\n", "# A\n\nOurs.\n\nTwo.\n", "# A\n\nTheirs.\n\nTwo!\n").unwrap_err();
    assert_eq!(conflicts.len(), 1, "{conflicts:?}");
    assert_eq!(conflicts[0].place, "A › paragraph \"One.\"");
    assert_eq!(conflicts[0].base.as_deref(), Some("One."));
    assert_eq!(conflicts[0].ours.as_deref(), Some("Ours."));
    assert_eq!(conflicts[0].theirs.as_deref(), Some("Theirs."));
}

#[test]
fn a_block_removed_here_and_changed_there_is_a_conflict() {
    let conflicts = run("One.\n\nTwo.\n\nThree.\n", "One.\n\nThree.\n", "One.\n\nTwo and more.\n\nThree.\n").unwrap_err();
    assert_eq!((conflicts[0].ours.as_deref(), conflicts[0].theirs.as_deref()), (None, Some("Two and more.")));
}

#[test]
fn a_moved_block_takes_the_other_sides_change_along() {
    let (base, theirs) = ("# A\n\nOne.\n\nTwo.\n\nThree.\n", "# A\n\nOne.\n\nTwo!\n\nThree.\n");
    let (b, t) = (parse(base), parse(theirs));
    let moved = parse("# A\n\nTwo.\n\nOne.\n\nThree.\n");
    let merged = merge(
        Version { tree: &b.0, ids: &b.1 },
        Version { tree: &moved.0, ids: &moved.1 },
        Version { tree: &t.0, ids: &Ids::carry(&b.0, &b.1, &t.0) },
    );
    assert_eq!(merged.unwrap().text, "# A\n\nTwo!\n\nOne.\n\nThree.\n");
}

/// A document of short blocks, each of which may be edited, removed or joined by new ones.
fn document() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("[a-e]{1,3}", 1..7)
}

/// What a side does to a document: to each block, and what it adds after it.
fn edits(marker: &'static str) -> impl Strategy<Value = Vec<(u8, String)>> {
    prop::collection::vec((0_u8..8, "[x-z]{1,4}".prop_map(move |text| format!("{marker}{text}"))), 7)
}

fn apply(blocks: &[String], edits: &[(u8, String)]) -> Vec<String> {
    let mut out = Vec::new();
    for (block, (what, text)) in blocks.iter().zip(edits) {
        match what {
            0 => {}
            1 => out.push(text.clone()),
            2 => out.extend([block.clone(), text.clone()]),
            _ => out.push(block.clone()),
        }
    }
    out
}

fn text(blocks: &[String]) -> String {
    blocks.iter().map(|block| format!("{block}\n")).collect::<Vec<_>>().join("\n")
}

fn cases() -> ProptestConfig {
    let scale: u32 = std::env::var("DECKLE_PROVE_SCALE").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    ProptestConfig { cases: 5_000 * scale, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases())]

    /// Nothing that a side added is lost without a conflict, and what only one side did is what happens.
    #[test]
    fn a_merge_is_lossless_and_fair(base in document(), a in edits("o"), b in edits("t")) {
        let (ours, theirs) = (apply(&base, &a), apply(&base, &b));
        let (base, ours, theirs) = (text(&base), text(&ours), text(&theirs));
        prop_assert_eq!(run(&base, &ours, &base).unwrap(), ours.clone());
        prop_assert_eq!(run(&base, &base, &theirs).unwrap(), theirs.clone());
        prop_assert_eq!(run(&base, &ours, &ours).unwrap(), ours.clone());
        let merged = run(&base, &ours, &theirs);
        let swapped = run(&base, &theirs, &ours);
        prop_assert_eq!(merged.is_ok(), swapped.is_ok());
        let shown = match &merged {
            Ok(text) => text.clone(),
            Err(conflicts) => {
                // In a conflict all sides are shown; the rest of the text is not written, so nothing of it can be lost.
                prop_assert!(conflicts.iter().all(|one| one.ours.is_some() || one.theirs.is_some()));
                return Ok(());
            }
        };
        let mut lines: Vec<&str> = shown.lines().collect();
        let mut other: Vec<&str> = swapped.as_deref().unwrap().lines().collect();
        lines.sort_unstable();
        other.sort_unstable();
        prop_assert_eq!(&lines, &other, "swapping the sides changes only the order");
        let count = |text: &str, line: &str| text.lines().filter(|one| *one == line).count();
        for line in ours.lines().chain(theirs.lines()).filter(|line| line.starts_with(['o', 't'])) {
            prop_assert!(count(&shown, line) >= 1, "{line} is lost: {base:?} {ours:?} {theirs:?} -> {shown:?}");
        }
    }
}

mod specification {
    //! Runs `spec/merge.md`: two operations on one base, merged.

    use std::fmt::Write as _;

    use deckle_testkit::spec::run::Reference;
    use deckle_testkit::spec::{Engine as _, File, Outcome, Step, Workspace};
    use serde_json::Value;

    use super::*;

    /// What an operation makes of the document.
    fn edited(workspace: &Workspace, operation: &Value) -> Result<String, Outcome> {
        let step = Step { operation: operation.to_string(), agent: false, read: None, expected: Vec::new() };
        match Reference::default().run(workspace, &step) {
            Outcome::Changed(documents, _) => Ok(documents.get("doc").cloned().unwrap_or_default()),
            other => Err(other),
        }
    }

    fn sides(workspace: &Workspace, value: &Value) -> Option<Outcome> {
        let base = &workspace.documents["doc"];
        let (ours, theirs) = (value.get("ours")?, value.get("theirs")?);
        let (ours, theirs) = match (edited(workspace, ours), edited(workspace, theirs)) {
            (Ok(ours), Ok(theirs)) => (ours, theirs),
            (Err(outcome), _) | (_, Err(outcome)) => return Some(outcome),
        };
        let (merged, swapped) = (run(base, &ours, &theirs), run(base, &theirs, &ours));
        let blocks = |text: &str| {
            let (tree, _) = parse(text);
            let mut leaves: Vec<String> =
                tree.blocks().filter(|block| block.first_child().is_none()).map(|block| block.text().to_owned()).collect();
            leaves.sort();
            leaves
        };
        assert_eq!(merged.is_ok(), swapped.is_ok(), "the sides decide: {merged:?} and {swapped:?}");
        Some(match (merged, swapped) {
            (Ok(merged), Ok(swapped)) => {
                assert_eq!(blocks(&merged), blocks(&swapped));
                let documents = [("doc".to_owned(), merged)].into_iter().collect();
                Outcome::Changed(documents, String::new())
            }
            (Err(conflicts), _) | (_, Err(conflicts)) => {
                let mut text = format!("error[conflict]: {} block(s) changed on both sides", conflicts.len());
                for conflict in conflicts {
                    let said =
                        |side: &Option<String>| side.as_ref().map_or_else(|| "(removed)".to_owned(), |text| format!("{text:?}"));
                    let _ =
                        write!(text, "\n  {}: ours {}, theirs {}", conflict.place, said(&conflict.ours), said(&conflict.theirs));
                }
                Outcome::Refused("conflict".into(), text)
            }
        })
    }

    #[test]
    fn every_case_comes_out_as_it_says() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/merge.md");
        let file = File::parse(&std::fs::read_to_string(path).unwrap());
        let engine = Reference::with(&sides);
        if std::env::var_os("UPDATE_SPEC").is_some() {
            std::fs::write(path, file.rewritten(&engine)).unwrap();
            return;
        }
        let wrong: Vec<String> = file
            .cases
            .iter()
            .filter_map(|case| case.check(&engine).err().map(|difference| format!("{}\n{difference}", case.name)))
            .collect();
        assert!(file.cases.len() >= 20, "{} cases", file.cases.len());
        assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    }
}
