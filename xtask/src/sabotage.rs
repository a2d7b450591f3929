//! Each harness has teeth: with one safety removed, the test that guards it must fail.

use std::path::Path;
use std::process::Command;

use crate::{Problems, side_target};

/// One safety, and the command that must notice its removal.
struct Sabotage {
    name: &'static str,
    command: &'static [&'static str],
}

/// Tests of the store: the binary, and what their names begin with.
macro_rules! store {
    ($binary:literal, $tests:literal) => {
        ["test", "--quiet", "-p", "deckle-store", "--test", $binary, $tests]
    };
}

/// Every sabotage that the crates know.
const ALL: &[Sabotage] = &[
    Sabotage { name: "widen_splice", command: SPEC },
    Sabotage { name: "skip_block_proof", command: SPEC },
    Sabotage { name: "ignore_guard", command: SPEC },
    Sabotage { name: "drop_front_matter", command: SPEC },
    Sabotage { name: "skip_sync", command: &store!("it", "power::power_loss") },
    Sabotage { name: "lost_compare_and_set", command: &store!("it", "writers::eight") },
    Sabotage { name: "no_tenant_filter", command: &store!("it", "tenants::foreign") },
    Sabotage { name: "reuse_call_id", command: &store!("it", "branches::one_call") },
    Sabotage { name: "unsorted_merge", command: &store!("blocks", "merge::") },
];

/// The executable specification.
const SPEC: &[&str] = &["test", "--quiet", "-p", "deckle-edit", "--test", "spec"];

/// Builds each sabotage into a target folder of its own and runs its harness.
pub fn run(root: &Path, only: Option<&str>) -> Result<String, Problems> {
    let chosen: Vec<&Sabotage> = ALL.iter().filter(|one| only.is_none_or(|name| name == one.name)).collect();
    if chosen.is_empty() {
        let names: Vec<&str> = ALL.iter().map(|one| one.name).collect();
        return Err(Problems::one(format!("no such sabotage; there are: {}", names.join(", "))));
    }
    let mut problems = Vec::new();
    for one in &chosen {
        // The build alone must work: a sabotage that does not compile would count as caught.
        let built = cargo(root, &[one.command, &["--no-run"]].concat(), one.name)?;
        if !built {
            problems.push(format!("{}: does not build, so it proves nothing", one.name));
            continue;
        }
        if cargo(root, one.command, one.name)? {
            problems.push(format!("{}: its harness passed (`cargo {}`), so it guards nothing", one.name, one.command.join(" ")));
        } else {
            println!("caught: {}", one.name);
        }
    }
    Problems::or(problems, format!("sabotage: {} of {} caught", chosen.len(), chosen.len()))
}

fn cargo(root: &Path, arguments: &[&str], name: &str) -> Result<bool, Problems> {
    let output = Command::new("cargo")
        .args(arguments)
        .env("DECKLE_SABOTAGE", name)
        .env("CARGO_TARGET_DIR", side_target("sabotage"))
        .current_dir(root)
        .output()
        .map_err(|error| Problems::one(format!("cargo: {error}")))?;
    Ok(output.status.success())
}
