//! Runs `spec/*.md`: each heading is a case, each row of a table too. `UPDATE_SPEC=1` rewrites what comes out; `spec/README.md` says how a
//! case is written.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use deckle_testkit::spec::run::Reference;
use deckle_testkit::spec::{Case, File};
use libtest_mimic::{Arguments, Failed, Trial};

/// Cases whose operations another crate adds; its own tests run them.
const ELSEWHERE: [&str; 2] = ["README", "merge"];

fn main() {
    let arguments = Arguments::from_args();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec");
    let mut files: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .collect();
    files.sort();
    let update = std::env::var_os("UPDATE_SPEC").is_some();
    let mut trials = Vec::new();
    for path in files {
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        if ELSEWHERE.contains(&stem.as_str()) {
            continue;
        }
        let file = File::parse(&fs::read_to_string(&path).unwrap());
        if update {
            fs::write(&path, file.rewritten(&Reference::default())).unwrap();
            continue;
        }
        for case in file.cases {
            trials.push(Trial::test(format!("{stem}::{}", case.name), move || check(&case)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}

fn check(case: &Case) -> Result<(), Failed> {
    case.check(&Reference::default()).map_err(|difference| difference.to_string().into())
}
