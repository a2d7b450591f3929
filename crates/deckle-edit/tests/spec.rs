//! Runs `spec/*.md`: each heading is a test, with all the rows of its table. `UPDATE_SPEC=1` rewrites what comes out; `spec/README.md` says how a
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
        // The rows of a table are one test: each test is a process of its own.
        let mut groups: Vec<(String, Vec<Case>)> = Vec::new();
        for case in file.cases {
            match groups.last_mut().filter(|(heading, _)| *heading == case.heading) {
                Some((_, cases)) => cases.push(case),
                None => groups.push((case.heading.clone(), vec![case])),
            }
        }
        for (heading, cases) in groups {
            trials.push(Trial::test(format!("{stem}::{heading}"), move || check(&cases)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}

fn check(cases: &[Case]) -> Result<(), Failed> {
    let engine = Reference::default();
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|case| case.check(&engine).err().map(|difference| format!("{}: {difference}", case.name)))
        .collect();
    if wrong.is_empty() { Ok(()) } else { Err(format!("{} of {}\n{}", wrong.len(), cases.len(), wrong.join("\n\n")).into()) }
}
