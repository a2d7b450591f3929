//! `xtask spec --against`: the reference agrees with itself, and an implementation that loses a byte does not.
#![allow(clippy::unwrap_used)]

use std::process::{Command, Output};

fn against(command: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask")).args(["spec", "--against", command]).output().unwrap()
}

fn answer() -> String {
    format!("'{}' spec --answer", env!("CARGO_BIN_EXE_xtask"))
}

#[test]
fn the_reference_agrees_with_itself() {
    let output = against(&answer());
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let last = said.lines().last().unwrap();
    let cases: usize = last.strip_prefix("spec: ").unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(cases >= 400, "{last}");
    assert_eq!(last, format!("spec: {cases} cases, {cases} the same, 0 refused with another code"));
}

#[test]
fn another_text_and_another_answer_are_told() {
    // It renders every rule anew.
    let changed = against(&format!("{} | sed -u 's/---/***/g'", answer()));
    assert!(!changed.status.success());
    let said = String::from_utf8_lossy(&changed.stderr).into_owned();
    assert!(said.contains("cases come out otherwise"), "{said}");

    let silent = against("true");
    assert!(!silent.status.success());
    let none = against("yes '{}'");
    assert!(String::from_utf8_lossy(&none.stderr).contains("none of changed, read and refused"));
}
