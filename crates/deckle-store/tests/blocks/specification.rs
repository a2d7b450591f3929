//! Runs `spec/merge.md`: two operations on one base, merged.

use std::fmt::Write as _;

use deckle_testkit::spec::run::Reference;
use deckle_testkit::spec::{Engine as _, File, Outcome, Step, Workspace};
use serde_json::Value;

use crate::support::{Triple, derived};

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
    let run = |ours: &str, theirs: &str| Triple::carried(base, ours, theirs).merged().map(|merged| merged.text);
    let (merged, swapped) = (run(&ours, &theirs), run(&theirs, &ours));
    let blocks = |text: &str| {
        let (tree, _) = derived(text);
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
                let _ = write!(text, "\n  {}: ours {}, theirs {}", conflict.place, said(&conflict.ours), said(&conflict.theirs));
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
