//! A store of today's schema version, kept for the versions that come: `crates/deckle-store/tests/it/fixtures.rs` writes it and
//! opens every one there is.

use std::path::Path;
use std::process::Command;

use crate::{Problems, relative};

/// Writes the fixture of the newest schema version, once.
pub fn run(root: &Path) -> Result<String, Problems> {
    let fail = |what: &str, error: std::io::Error| Problems::one(format!("{what}: {error}"));
    let schema = root.join("crates/deckle-store/src/sql/schema");
    let steps = std::fs::read_dir(&schema).map_err(|error| fail("the schema's steps", error))?;
    let version = steps.flatten().filter(|entry| entry.path().extension().is_some_and(|ending| ending == "sql")).count();
    let folder = root.join("crates/deckle-store/tests/fixtures");
    std::fs::create_dir_all(&folder).map_err(|error| fail("the folder of fixtures", error))?;
    let path = folder.join(format!("schema-{version}.db"));
    if path.exists() {
        return Ok(format!("fixture: {} is there; what was released never changes", relative(root, &path)));
    }
    let done = Command::new("cargo")
        .args(["test", "--quiet", "--workspace", "--test", "it", "--", "--exact", "fixtures::write"])
        .env("DECKLE_WRITE_FIXTURE", &path)
        .current_dir(root)
        .status()
        .map_err(|error| fail("cargo", error))?;
    if done.success() && path.is_file() {
        Ok(format!("fixture: {}", relative(root, &path)))
    } else {
        Err(Problems::one("the fixture was not written; see the output above"))
    }
}
