//! Collects what criterion measured into `docs/benchmarks.md`: one table a group, ratios to the group's first row.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{Problems, workspace};

/// One measured function.
struct Row {
    group: String,
    function: String,
    input: String,
    nanoseconds: f64,
    /// Bytes or elements an iteration, when the bench says so.
    throughput: Option<(f64, &'static str)>,
}

impl Row {
    /// Nanoseconds for a byte or an element where the bench says how many there are, so that rows of different sizes compare; else for all.
    fn cost(&self) -> f64 {
        self.nanoseconds / self.throughput.map_or(1.0, |(amount, _)| amount)
    }
}

/// Writes the report; what stands outside the markers is prose and is kept.
pub fn run(root: &Path) -> Result<String, Problems> {
    let base = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace::root().join("target"), PathBuf::from);
    let mut rows = Vec::new();
    collect(&base.join("criterion"), &mut rows);
    if rows.is_empty() {
        return Err(Problems::one("criterion measured nothing; run `make bench`"));
    }
    let page = root.join("docs/benchmarks.md");
    let old = fs::read_to_string(&page).unwrap_or_default();
    let (before, after) = match (old.find(BEGIN), old.find(END)) {
        (Some(begin), Some(end)) if begin < end => (&old[..begin], &old[end + END.len()..]),
        _ => (INTRODUCTION, "\n"),
    };
    let table = format!("{}{}", tables(&rows), figures(&base.join("criterion/figures"))?);
    fs::write(&page, format!("{before}{BEGIN}\n{table}{END}{after}"))
        .map_err(|error| Problems::one(format!("docs/benchmarks.md: {error}")))?;
    Ok(format!("bench: {} rows in docs/benchmarks.md", rows.len()))
}

const BEGIN: &str = "<!-- measured: begin -->";
const END: &str = "<!-- measured: end -->";
const INTRODUCTION: &str =
    "# Benchmarks\n\nMeasured side by side in one run by `make bench`. Times depend on the machine; read the ratios.\n\n";

fn collect(folder: &Path, rows: &mut Vec<Row>) {
    let mut open = vec![folder.to_path_buf()];
    while let Some(one) = open.pop() {
        let mut inside: Vec<PathBuf> = fs::read_dir(&one).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        inside.sort();
        if one.ends_with("new") && one.join("benchmark.json").is_file() {
            rows.extend(row(&one));
        }
        open.extend(inside.into_iter().filter(|path| path.is_dir()));
    }
    rows.sort_by(|a, b| (&a.group, &a.input).cmp(&(&b.group, &b.input)).then(a.cost().total_cmp(&b.cost())));
}

fn row(folder: &Path) -> Option<Row> {
    let read = |name: &str| -> Option<Value> { serde_json::from_slice(&fs::read(folder.join(name)).ok()?).ok() };
    let (about, estimates) = (read("benchmark.json")?, read("estimates.json")?);
    let throughput = match &about["throughput"] {
        Value::Object(map) => map.iter().next().and_then(|(kind, amount)| {
            let amount = amount.as_f64()?;
            match kind.as_str() {
                "Bytes" | "BytesDecimal" => Some((amount, "MB/s")),
                "Elements" => Some((amount, "/s")),
                _ => None,
            }
        }),
        _ => None,
    };
    Some(Row {
        group: about["group_id"].as_str()?.to_owned(),
        function: about["function_id"].as_str().unwrap_or("").to_owned(),
        input: about["value_str"].as_str().unwrap_or("").to_owned(),
        nanoseconds: estimates["median"]["point_estimate"].as_f64()?,
        throughput,
    })
}

fn tables(rows: &[Row]) -> String {
    let mut groups: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        groups.entry(&row.group).or_default().push(row);
    }
    let mut out = String::new();
    for (group, rows) in groups {
        let _ = writeln!(out, "\n## {group}\n\n| what | input | median | rate | × fastest |\n|---|---|---:|---:|---:|");
        let mut fastest: BTreeMap<&str, f64> = BTreeMap::new();
        for row in &rows {
            let best = fastest.entry(&row.input).or_insert(f64::INFINITY);
            *best = best.min(row.cost());
        }
        for row in rows {
            let best = fastest.get(row.input.as_str()).copied().unwrap_or(row.cost());
            let rate = row.throughput.map_or_else(String::new, |(amount, unit)| {
                let per_second = amount / row.nanoseconds * 1e9;
                if unit == "MB/s" { format!("{:.1} MB/s", per_second / 1e6) } else { format!("{per_second:.0}/s") }
            });
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} | {:.2} |",
                row.function,
                row.input,
                duration(row.nanoseconds),
                rate,
                row.cost() / best
            );
        }
    }
    out
}

/// What the benches measured that is no time, one JSON file a figure.
fn figures(folder: &Path) -> Result<String, Problems> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.sort();
    let mut out = String::new();
    for file in files {
        let bad = |error: String| Problems::one(format!("{}: {error}", file.display()));
        let bytes = fs::read(&file).map_err(|error| bad(error.to_string()))?;
        let one: Value = serde_json::from_slice(&bytes).map_err(|error| bad(error.to_string()))?;
        let (Some(what), Some(value), Some(unit)) = (one["what"].as_str(), one["value"].as_f64(), one["unit"].as_str()) else {
            return Err(bad("it has no `what`, `value` and `unit`".into()));
        };
        if out.is_empty() {
            out.push_str("\n## Figures\n\n| what | value |\n|---|---:|\n");
        }
        let _ = writeln!(out, "| {what} | {value:.0} {unit} |");
    }
    Ok(out)
}

fn duration(nanoseconds: f64) -> String {
    match nanoseconds {
        n if n < 1e3 => format!("{n:.0} ns"),
        n if n < 1e6 => format!("{:.1} µs", n / 1e3),
        n if n < 1e9 => format!("{:.2} ms", n / 1e6),
        n => format!("{:.2} s", n / 1e9),
    }
}
