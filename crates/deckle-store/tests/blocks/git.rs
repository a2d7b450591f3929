//! Beside `git merge-file`: where git keeps a text, it is in our result or in a conflict.

use std::collections::BTreeSet;
use std::process::Command;

use deckle_store::merge::Choice;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::merge::words;
use crate::model;
use crate::support::Triple;

#[test]
fn no_text_is_lost_where_git_keeps_it() {
    let scale: usize = std::env::var("DECKLE_PROVE_SCALE").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let folder = tempfile::tempdir().unwrap();
    let mut runner = TestRunner::deterministic();
    let (mut clean_in_git, mut clean_here, mut clean_in_both) = (0, 0, 0);
    for _ in 0..400 * scale {
        let (base, a, b, carry) =
            (model::doc(), model::edits(), model::edits(), any::<bool>()).new_tree(&mut runner).unwrap().current();
        let ours = model::edited(&base, &a, &b, "o", true).text();
        let theirs = model::edited(&base, &b, &a, "t", false).text();
        let base = base.text();
        let files = ["ours", "base", "theirs"].map(|name| folder.path().join(name));
        for (file, text) in files.iter().zip([&ours, &base, &theirs]) {
            std::fs::write(file, text).unwrap();
        }
        let git = Command::new("git")
            .args(["merge-file", "-p", "-L", "ours", "-L", "base", "-L", "theirs"])
            .args(&files)
            .output()
            .expect("git is installed");
        let kept = String::from_utf8(git.stdout).unwrap();
        let in_git = git.status.code() == Some(0);
        let triple = if carry { Triple::carried(&base, &ours, &theirs) } else { Triple::derived(&base, &ours, &theirs) };
        let merge = triple.worked_out();
        let conflicts = merge.conflicts();
        let mut found: BTreeSet<String> = BTreeSet::new();
        for text in conflicts.iter().flat_map(|one| [&one.base, &one.ours, &one.theirs]).flatten() {
            found.extend(words(text).map(str::to_owned));
        }
        for choice in [Choice::Ours, Choice::Theirs] {
            if let Ok(resolved) = merge.resolve(&vec![choice; conflicts.len()]) {
                found.extend(words(&resolved.text).map(str::to_owned));
            }
        }
        clean_in_git += usize::from(in_git);
        clean_here += usize::from(conflicts.is_empty());
        clean_in_both += usize::from(in_git && conflicts.is_empty());
        // A word that one side removed is no loss, whatever git made of a block that the other side moved.
        let (in_ours, in_theirs): (BTreeSet<&str>, BTreeSet<&str>) = (words(&ours).collect(), words(&theirs).collect());
        let in_base: BTreeSet<&str> = words(&base).collect();
        for word in words(&kept) {
            let removed = in_base.contains(word) && (!in_ours.contains(word) || !in_theirs.contains(word));
            assert!(
                removed || found.contains(word),
                "git keeps `{word}`\nbase {base:?}\nours {ours:?}\ntheirs {theirs:?}\ngit {kept:?}\nhere {conflicts:#?}"
            );
        }
    }
    assert!(
        clean_here > clean_in_git,
        "blocks merge more than lines do: {clean_here} here, {clean_in_git} in git, {clean_in_both} in both"
    );
}
