//! Coverage-guided fuzzing with the installed toolchain: libFuzzer's own instrumentation, no sanitizer.
//!
//! A sanitizer needs an unstable compiler and finds memory errors, which safe Rust does not have; what is looked for here are
//! panics, hangs and broken promises. `cargo fuzz run TARGET` works in `fuzz/` as well, where it is installed.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{Problems, side_target};

/// The flags that `cargo fuzz` passes for coverage, all of them stable.
const FLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
     -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 -Clink-dead-code";

/// An input that takes longer than this is a finding.
const TIMEOUT_SECONDS: u32 = 5;

/// Replays `fuzz/seeds/TARGET`, then looks for new inputs for `seconds`.
pub fn run(root: &Path, seconds: u64, only: Option<&str>) -> Result<String, Problems> {
    let fuzz = root.join("fuzz");
    let target = side_target("fuzz");
    let status = Command::new("cargo")
        .args(["build", "--release", "--bins", "--manifest-path"])
        .arg(fuzz.join("Cargo.toml"))
        .args(["--target", &host(root)?])
        .env("RUSTFLAGS", FLAGS)
        .env("CARGO_TARGET_DIR", &target)
        .status()
        .map_err(|error| Problems::one(format!("cargo build: {error}")))?;
    if !status.success() {
        return Err(Problems::one("the fuzz targets do not build"));
    }
    let mut problems = Vec::new();
    let mut count = 0;
    let mut targets: Vec<String> = fs::read_dir(fuzz.join("targets"))
        .map_err(|error| Problems::one(format!("fuzz/targets: {error}")))?
        .flatten()
        .filter_map(|entry| entry.path().file_stem().map(|stem| stem.to_string_lossy().into_owned()))
        .collect();
    targets.sort();
    for name in targets.iter().filter(|name| only.is_none_or(|one| one == name.as_str())) {
        count += 1;
        let binary = target.join(host(root)?).join("release").join(name);
        let corpus = side_target("fuzz-corpus").join(name);
        fs::create_dir_all(&corpus).map_err(|error| Problems::one(format!("{}: {error}", corpus.display())))?;
        let seeds = fuzz.join("seeds").join(name);
        let mut command = Command::new(binary);
        command.arg(&corpus);
        if seeds.is_dir() {
            command.arg(&seeds);
        }
        command
            .arg(format!("-max_total_time={seconds}"))
            .arg(format!("-timeout={TIMEOUT_SECONDS}"))
            .args(["-max_len=4096", "-print_final_stats=1"]);
        command.arg(format!("-artifact_prefix={}/", corpus.display()));
        let output = command.output().map_err(|error| Problems::one(format!("{name}: {error}")))?;
        let log = String::from_utf8_lossy(&output.stderr);
        let executions = log.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:")).unwrap_or(" ?");
        println!("fuzz {name}:{executions} executions");
        if !output.status.success() {
            let tail: Vec<&str> = log.lines().rev().take(25).collect();
            problems.push(format!("{name}: a finding\n{}", tail.into_iter().rev().collect::<Vec<_>>().join("\n")));
        }
    }
    Problems::or(problems, format!("fuzz: {count} targets, 0 findings"))
}

fn host(root: &Path) -> Result<String, Problems> {
    let output =
        Command::new("rustc").arg("-vV").current_dir(root).output().map_err(|error| Problems::one(format!("rustc: {error}")))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines()
        .find_map(|line| line.strip_prefix("host: "))
        .map(str::to_owned)
        .ok_or_else(|| Problems::one("rustc -vV names no host"))
}
