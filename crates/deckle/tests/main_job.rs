//! The main job through the real binary, on real documents.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// The folder with the corpora, beside the checkout unless `DECKLE_SHARED` says otherwise.
fn shared(path: &str) -> PathBuf {
    let base = std::env::var_os("DECKLE_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let found = base.join(path);
    assert!(found.exists(), "{} is not there; the tests read real documents from `shared` (DECKLE_SHARED)", found.display());
    found
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::write(&target, fs::read(entry.path()).unwrap()).unwrap();
        }
    }
}

/// Every file's bytes, the store left out.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(one) = open.pop() {
        for entry in fs::read_dir(&one).unwrap() {
            let path = entry.unwrap().path();
            if path.file_name().is_some_and(|name| name == ".deckle") {
                continue;
            }
            if path.is_dir() {
                open.push(path);
            } else {
                found.insert(path.strip_prefix(folder).unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

struct Job {
    folder: tempfile::TempDir,
}

impl Job {
    fn on(corpus: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        copy(&shared(corpus), folder.path());
        Self { folder }
    }

    fn empty() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_deckle"));
        command.arg("-C").arg(self.path()).env_remove("DECKLE_MODEL").env_remove("DECKLE_DIALECT");
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command().args(arguments).output().unwrap()
    }

    fn script(&self, text: &str) -> String {
        let file = self.path().with_extension("script.yaml");
        fs::write(&file, text).unwrap();
        format!("script:{}", file.display())
    }

    fn agent(&self, script: &str, arguments: &[&str]) -> Output {
        let model = self.script(script);
        self.command().env("DECKLE_MODEL", model).arg("agent").args(arguments).output().unwrap()
    }
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// The lines that differ between two texts.
fn difference(before: &[u8], after: &[u8]) -> Vec<String> {
    let (before, after) = (String::from_utf8_lossy(before).into_owned(), String::from_utf8_lossy(after).into_owned());
    similar::TextDiff::from_lines(&before, &after)
        .iter_all_changes()
        .filter(|change| change.tag() != similar::ChangeTag::Equal)
        .map(|change| format!("{}{}", change.tag(), change.value().trim_end_matches('\n')))
        .collect()
}

const GUIDES: [&str; 5] = ["custom-theme", "deploy", "data-loading", "asset-handling", "extending-default-theme"];

fn main_script() -> String {
    let warning = "::: warning Version 2\\nThis page is for version 1.\\n:::";
    let mut steps = String::new();
    for guide in GUIDES {
        steps.push_str(&format!(
            "            - filter: {{ $key: docs/en/guide/{guide} }}\n              expect: 1\n              update: {{ $insertAfter: {{ $header: {{}}, $level: 1, content: \"{warning}\", expect: 1 }} }}\n"
        ));
    }
    format!(
        r#"steps:
  - calls:
      - tool: update_blocks
        arguments:
          key: docs/en/guide/custom-theme
          update:
            $insertAfter: {{ $header: {{}}, $level: 1, content: ":::: warning Outer\n::: warning Inner\nx\n:::\n::::", expect: 1 }}
  - require: [{{ is_error: true, contains: cannot go inside }}]
    calls:
      - tool: update_blocks
        arguments:
          steps:
{steps}      - tool: update_blocks
        arguments:
          key: docs/en/reference/cli
          update:
            $replace: {{ $row: {{ $contains: {{ $cell: {{ $text: Enable CORS }} }} }}, content: "| `--cors` | Enable CORS, version 2 |", expect: 1 }}
      - tool: rename_document
        arguments: {{ key: docs/en/guide/asset-handling, to: docs/en/guide/assets }}
  - text: Done as asked.
    require: [{{ result: 0, contains: updated }}, {{ result: 1, contains: updated }}, {{ result: 2, contains: renamed }}]
"#
    )
}

#[test]
fn an_agent_changes_real_documents_on_a_branch_and_a_merge_writes_only_the_named_changes() {
    let job = Job::on("corpora/vitepress");
    let before = files(job.path());
    let run = job.agent(&main_script(), &["warn on five guides, change a row, rename a page", "--branch", "v2"]);
    assert!(run.status.success(), "{}", text(&run));
    assert!(text(&run).contains("refused, nothing written"), "{}", text(&run));
    // Nothing but the store changed.
    assert_eq!(files(job.path()), before);
    let merged = job.run(&["merge", "v2", "--all"]);
    assert!(merged.status.success(), "{}", text(&merged));
    let after = files(job.path());
    let changed: Vec<&String> = before.keys().chain(after.keys()).filter(|file| before.get(*file) != after.get(*file)).collect();
    for guide in GUIDES.iter().filter(|guide| **guide != "asset-handling") {
        let file = format!("docs/en/guide/{guide}.md");
        let lines = difference(&before[&file], &after[&file]);
        let expected = ["+", "+::: warning Version 2", "+This page is for version 1.", "+:::"];
        let mut sorted = lines.clone();
        sorted.retain(|line| !line.contains("](./assets"));
        sorted.retain(|line| !line.contains("](./asset-handling"));
        sorted.sort();
        let mut wanted: Vec<String> = expected.iter().map(|line| (*line).to_owned()).collect();
        wanted.sort();
        assert_eq!(sorted, wanted, "{file}: {lines:#?}");
    }
    let row = difference(&before["docs/en/reference/cli.md"], &after["docs/en/reference/cli.md"]);
    assert_eq!(row.len(), 2, "{row:?}");
    assert!(!after.contains_key("docs/en/guide/asset-handling.md"));
    let moved = difference(&before["docs/en/guide/asset-handling.md"], &after["docs/en/guide/assets.md"]);
    assert_eq!(moved.iter().filter(|line| line.starts_with('-')).count(), 0, "{moved:?}");
    // Whatever else changed, changed only in links to the renamed page.
    for file in changed.iter().filter(|file| {
        !file.contains("asset")
            && !GUIDES.iter().any(|guide| file.ends_with(&format!("en/guide/{guide}.md")))
            && !file.ends_with("en/reference/cli.md")
    }) {
        for line in difference(&before[*file], &after[*file]) {
            assert!(line.contains("asset"), "{file}: {line}");
        }
    }
    let log = job.run(&["log"]);
    assert!(text(&log).contains("merge"), "{}", text(&log));
    assert!(job.run(&["fsck"]).status.success());
}

#[test]
fn one_paragraph_of_the_hostile_page_changes_in_exactly_those_bytes() {
    let job = Job::empty();
    let page = fs::read_to_string(shared("cases/hostile.md")).unwrap();
    fs::write(job.path().join("hostile.md"), &page).unwrap();
    let updated = job.run(&[
        "update",
        "-k",
        "hostile",
        "--strict",
        "--expect",
        "1",
        "--replace-text",
        "{ $paragraph: Target line to change., from: Target line, to: Edited line, expect: 1 }",
    ]);
    assert!(updated.status.success(), "{}", text(&updated));
    assert_eq!(
        fs::read_to_string(job.path().join("hostile.md")).unwrap(),
        page.replace("Target line to change.", "Edited line to change.")
    );
    let got = job.run(&["get", "hostile"]);
    assert_eq!(got.stdout, fs::read(job.path().join("hostile.md")).unwrap());
}

/// A server, killed when the test ends.
struct Server {
    child: Child,
    port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn start(job: &Job, model: &str) -> Self {
        let mut child = job
            .command()
            .env("DECKLE_MODEL", model)
            .args(["serve", "--port", "0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim().rsplit(':').next().unwrap().parse().unwrap_or_else(|_| panic!("no port in {line:?}"));
        Self { child, port }
    }

    fn request(&self, method: &str, path: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        write!(stream, "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        stream
    }

    /// The lines of JSON of an answer, until it ends or `until` says so.
    fn lines(stream: TcpStream, mut until: impl FnMut(&serde_json::Value) -> bool) -> Vec<serde_json::Value> {
        let mut found = Vec::new();
        for line in BufReader::new(stream).lines() {
            let Ok(line) = line else { break };
            if let Ok(value @ serde_json::Value::Object(_)) = serde_json::from_str(&line) {
                let stop = until(&value);
                found.push(value);
                if stop {
                    break;
                }
            }
        }
        found
    }
}

const SLOW: &str = r"steps:
  - calls:
      - tool: create_document
        arguments: { key: made/first, content: '# First' }
  - wait_ms: 30000
    calls:
      - tool: create_document
        arguments: { key: made/second, content: '# Second' }
";

#[test]
fn a_killed_turn_is_followed_up_and_no_tool_runs_twice() {
    let job = Job::on("corpora/vitepress");
    let server = Server::start(&job, &job.script(SLOW));
    let stream = server.request("POST", "/v1/sessions", r#"{"message": "make two pages", "branch": "two"}"#);
    // The first page is written, and the model is asked again.
    let seen = Server::lines(stream, |event| event["type"] == "agent_doc_complete");
    let session = seen[0]["sessionId"].as_str().unwrap().to_owned();
    assert!(seen.iter().any(|event| event["type"] == "agent_doc_complete"), "{seen:?}");
    drop(server); // kill -9
    let script = r"steps:
  - {}
  - text: 'I see the first page.'
    require: [{ contains: made/first }]
    calls:
      - tool: create_document
        arguments: { key: made/second, content: '# Second' }
  - text: Both pages are there.
";
    let server = Server::start(&job, &job.script(script));
    let stream = server.request("POST", &format!("/v1/sessions/{session}/turns"), r#"{"message": "go on"}"#);
    let events = Server::lines(stream, |event| event["type"] == "agent_done");
    let done = events.iter().find(|event| event["type"] == "agent_done").unwrap_or_else(|| panic!("{events:?}"));
    assert_eq!(done["outcome"], "done", "{events:#?}");
    drop(server);
    let log = text(&job.run(&["log", "--branch", "two", "--json", "--limit", "100"]));
    for page in ["create made/first", "create made/second"] {
        assert_eq!(log.matches(page).count(), 1, "{page}: {log}");
    }
    assert!(job.run(&["fsck"]).status.success());
}

#[test]
fn a_turn_inside_a_git_repository_is_shown_as_a_branch_of_it() {
    let job = Job::empty();
    fs::write(job.path().join("a.md"), "# A\n").unwrap();
    let git = |arguments: &[&str]| {
        let names = ["-c", "user.name=t", "-c", "user.email=t@localhost"];
        let done = Command::new("git").arg("-C").arg(job.path()).args(names).args(arguments).output().unwrap();
        assert!(done.status.success(), "git {arguments:?}: {}", text(&done));
        String::from_utf8(done.stdout).unwrap()
    };
    git(&["init", "-q", "-b", "main"]);
    git(&["add", "a.md"]);
    git(&["commit", "-q", "-m", "first"]);
    let script =
        "steps:\n  - calls:\n      - tool: create_document\n        arguments: { key: b, content: '# B' }\n  - text: Made.\n";
    let run = job.agent(script, &["make b", "--branch", "two"]);
    assert!(run.status.success(), "{}", text(&run));
    assert_eq!(git(&["diff", "--name-status", "main", "deckle/two"]), "A\tb.md\n");
    assert_eq!(git(&["status", "--porcelain"]), "", "the work tree is as it was");
}

#[test]
fn a_merge_that_breaks_links_elsewhere_is_refused_unless_a_person_allows_it() {
    let job = Job::empty();
    fs::write(job.path().join("a.md"), "# A\n\nSee [B](b.md).\n").unwrap();
    fs::write(job.path().join("b.md"), "# B\n").unwrap();
    let script =
        "steps:\n  - calls:\n      - tool: delete_documents\n        arguments: { keys: [b], expect: 1 }\n  - text: Gone.\n";
    let run = job.agent(script, &["delete b", "--branch", "two"]);
    assert!(run.status.success(), "{}", text(&run));
    let before = files(job.path());
    let refused = job.run(&["merge", "two", "--all"]);
    assert_eq!(refused.status.code(), Some(1), "{}", text(&refused));
    assert!(text(&refused).contains("a: `") && text(&refused).contains("--allow-damage"), "{}", text(&refused));
    assert_eq!(files(job.path()), before);
    let merged = job.run(&["merge", "two", "--all", "--allow-damage"]);
    assert!(merged.status.success(), "{}", text(&merged));
    assert!(!job.path().join("b.md").exists());
}

#[test]
fn an_edit_in_any_editor_is_seen_while_the_server_runs() {
    let job = Job::empty();
    fs::write(job.path().join("a.md"), "# A\n").unwrap();
    let server = Server::start(&job, &job.script(SLOW));
    fs::write(job.path().join("a.md"), "# A, edited\n").unwrap();
    let begun = Instant::now();
    // The log is read without a look at the folder.
    while !text(&job.run(&["log"])).contains("edited outside: a.md") {
        assert!(begun.elapsed() < Duration::from_secs(30), "{}", text(&job.run(&["log"])));
        std::thread::sleep(Duration::from_millis(100));
    }
    drop(server);
}

#[test]
fn a_cancel_in_a_long_model_call_ends_the_turn_within_a_second() {
    let job = Job::on("corpora/madr");
    let server = Server::start(&job, &job.script(SLOW));
    let stream = server.request("POST", "/v1/sessions", r#"{"message": "make two pages", "branch": "two"}"#);
    let reading = stream.try_clone().unwrap();
    let seen = Server::lines(stream, |event| event["type"] == "agent_doc_complete");
    let session = seen[0]["sessionId"].as_str().unwrap().to_owned();
    let asked = Instant::now();
    let mut answer = String::new();
    server.request("POST", &format!("/v1/sessions/{session}/cancel"), "").read_to_string(&mut answer).unwrap();
    assert!(answer.contains(r#"{"cancelled":true}"#), "{answer}");
    drop(reading);
    let events = Server::lines(server.request("GET", &format!("/v1/sessions/{session}/events?after=0"), ""), |event| {
        event["type"] == "agent_done"
    });
    let took = asked.elapsed();
    let done = events.last().unwrap();
    assert_eq!(done["outcome"], "cancelled", "{events:#?}");
    // The scripted call would take thirty seconds; the bound is what the person is promised, with room for a busy machine.
    assert!(took < Duration::from_secs(10), "{took:?}");
    assert!(job.run(&["get", "made/first", "--branch", "two"]).status.success());
    assert_eq!(job.run(&["get", "made/second", "--branch", "two"]).status.code(), Some(4));
}

#[test]
fn bad_input_is_an_instruction_and_changes_nothing() {
    let job = Job::empty();
    let gone = Command::new(env!("CARGO_BIN_EXE_deckle")).args(["-C", "no/such/folder", "get", "a"]).output().unwrap();
    assert_eq!(gone.status.code(), Some(4), "{}", text(&gone));
    assert!(text(&gone).contains("hint: "), "{}", text(&gone));
    let nothing = job.run(&["init"]);
    assert!(!nothing.status.success() && text(&nothing).contains("hint: "), "{}", text(&nothing));
    fs::write(job.path().join("a.md"), "# A\n\ntext\n").unwrap();
    fs::write(job.path().join("latin.md"), b"caf\xe9\n").unwrap();
    fs::write(job.path().join("big.md"), "x\n".repeat(5 << 20)).unwrap();
    let before = files(job.path());
    assert!(job.run(&["init"]).status.success());
    for (arguments, code) in [
        (vec!["get", "../x"], 2),
        (vec!["get", "nothing"], 4),
        (vec!["diff", "nothing"], 4),
        (vec!["merge", "nothing"], 4),
        (vec!["agent", "do it"], 2),
        (vec!["update", "-k", "a", "--replace-text", "{ $text: text, from: nowhere, to: x }"], 1),
        (vec!["update", "-k", "a", "--strict", "--replace-text", "{ $text: text, from: text, to: x }"], 1),
        (vec!["update", "-k", "a", "--replace-text", "{ $oops: 1 }"], 2),
        (vec!["nonsense"], 2),
        (vec!["create", "a", "-c", "x"], 1),
    ] {
        let output = job.run(&arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", text(&output));
        assert!(text(&output).contains("hint: ") || arguments == ["nonsense"], "{arguments:?}: {}", text(&output));
    }
    let broken = job.agent("steps:\n  - tools: 3\n", &["do it"]);
    assert_eq!(broken.status.code(), Some(2), "{}", text(&broken));
    assert!(text(&broken).contains("line 2"), "{}", text(&broken));
    assert_eq!(files(job.path()), before);
}

#[test]
fn what_is_no_document_is_kept_listed_and_never_touched() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret.md"), "# Secret\n").unwrap();
    let job = Job::empty();
    fs::create_dir(job.path().join("sub")).unwrap();
    fs::write(job.path().join("a.md"), "# A\n\ntext\n").unwrap();
    fs::write(job.path().join("latin.md"), b"caf\xe9\n").unwrap();
    fs::write(job.path().join("huge.md"), "word\n".repeat(10 << 20)).unwrap();
    std::os::unix::fs::symlink(outside.path().join("secret.md"), job.path().join("out.md")).unwrap();
    std::os::unix::fs::symlink(outside.path(), job.path().join("elsewhere")).unwrap();
    std::os::unix::fs::symlink("../a.md", job.path().join("sub/link.md")).unwrap();
    let listed = job.run(&["init"]);
    assert!(listed.status.success(), "{}", text(&listed));
    let doctor = text(&job.run(&["doctor"]));
    for (file, why) in
        [("latin.md", "not UTF-8 text"), ("huge.md", "over 8 MiB"), ("out.md", "a link"), ("sub/link.md", "a link")]
    {
        assert!(text(&listed).contains(file), "{}", text(&listed));
        assert!(doctor.contains(file), "{doctor}");
        let key = file.trim_end_matches(".md");
        for arguments in [vec!["get", key], vec!["update", "-k", key, "--set", "a=1"]] {
            let refused = job.run(&arguments);
            assert_eq!(refused.status.code(), Some(4), "{arguments:?}: {}", text(&refused));
            assert!(text(&refused).contains(why) && text(&refused).contains("hint: "), "{arguments:?}: {}", text(&refused));
        }
        for arguments in [vec!["create", key, "-c", "new"], vec!["rename", "a", key], vec!["delete", key]] {
            let refused = job.run(&arguments);
            assert!(!refused.status.success() && text(&refused).contains("hint: "), "{arguments:?}: {}", text(&refused));
        }
    }
    // Neither read nor written through a link to a folder.
    assert!(!text(&job.run(&["find", "Secret"])).contains("secret"));
    let through = job.run(&["get", "elsewhere/secret"]);
    assert!(!through.status.success() && text(&through).contains("not through a link"), "{}", text(&through));
    assert!(!job.run(&["create", "elsewhere/new", "-c", "new"]).status.success());
    // A whole run and its merge leave them as they are.
    let run = job.agent(
        "steps:\n  - calls:\n      - tool: create_document\n        arguments: { key: made, content: \"# Made\" }\n  - text: Done.\n",
        &["--branch", "one", "make a page"],
    );
    assert!(run.status.success(), "{}", text(&run));
    let merged = job.run(&["merge", "one", "--all"]);
    assert!(merged.status.success(), "{}", text(&merged));
    assert_eq!(fs::read(job.path().join("a.md")).unwrap(), b"# A\n\ntext\n");
    assert_eq!(fs::read(job.path().join("latin.md")).unwrap(), b"caf\xe9\n");
    assert_eq!(fs::metadata(job.path().join("huge.md")).unwrap().len(), 50 << 20);
    assert!(fs::symlink_metadata(job.path().join("out.md")).unwrap().is_symlink());
    assert!(fs::symlink_metadata(job.path().join("sub/link.md")).unwrap().is_symlink());
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
}

/// The command as a person without rights over the folder would run it: root is refused nothing, so it steps down first.
fn without_rights(folder: &Path, arguments: &[&str]) -> Output {
    use std::os::unix::fs::MetadataExt as _;
    let root = fs::metadata("/proc/self").unwrap().uid() == 0;
    if !root {
        return Command::new(env!("CARGO_BIN_EXE_deckle")).arg("-C").arg(folder).args(arguments).output().unwrap();
    }
    // Where the build stands may be closed to others.
    let place = tempfile::tempdir().unwrap();
    open_to_all(place.path());
    let binary = place.path().join("deckle");
    fs::copy(env!("CARGO_BIN_EXE_deckle"), &binary).unwrap();
    open_to_all(&binary);
    Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&binary)
        .arg("-C")
        .arg(folder)
        .args(arguments)
        .current_dir("/")
        .output()
        .expect("`setpriv` of util-linux runs the command without root's rights")
}

fn open_to_all(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_folder_that_is_not_writable_is_named_and_left_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let job = Job::empty();
    fs::write(job.path().join("a.md"), "# A\n\ntext\n").unwrap();
    let closed = |mode: u32| fs::set_permissions(job.path(), fs::Permissions::from_mode(mode)).unwrap();
    closed(0o555);
    let refused = without_rights(job.path(), &["init"]);
    assert_eq!(refused.status.code(), Some(5), "{}", text(&refused));
    assert!(text(&refused).contains("error[not-writable]") && text(&refused).contains("hint: "), "{}", text(&refused));
    assert!(!job.path().join(".deckle").exists());
    // The same for a workspace that was made before the rights were taken.
    closed(0o755);
    assert!(job.run(&["init"]).status.success());
    closed(0o555);
    let before = files(job.path());
    for arguments in [vec!["update", "-k", "a", "--set", "x=1"], vec!["create", "b", "-c", "# B"], vec!["delete", "a"]] {
        let refused = without_rights(job.path(), &arguments);
        assert!(!refused.status.success(), "{arguments:?}: {}", text(&refused));
        assert!(text(&refused).contains("hint: "), "{arguments:?}: {}", text(&refused));
        assert_eq!(files(job.path()), before, "{arguments:?}");
    }
    closed(0o755);
}

#[test]
fn two_writers_at_once_both_write_or_one_is_told() {
    let job = Job::empty();
    fs::write(job.path().join("a.md"), "# A\n\ntext\n").unwrap();
    assert!(job.run(&["init"]).status.success());
    for round in 0..6 {
        let writers: Vec<(String, Child)> = ["left", "right"]
            .iter()
            .map(|side| {
                let key = format!("{side}-{round}");
                let child = job
                    .command()
                    .args(["create", &key, "-c", "# New"])
                    .stdout(Stdio::piped())
                    .stderr(Stdio::piped())
                    .spawn()
                    .unwrap();
                (key, child)
            })
            .collect();
        for (key, child) in writers {
            let output = child.wait_with_output().unwrap();
            let there = job.path().join(format!("{key}.md")).exists();
            assert_eq!(output.status.success(), there, "{key}: {}", text(&output));
            if !there {
                assert_eq!(output.status.code(), Some(3), "{}", text(&output));
                assert!(text(&output).contains("hint: "), "{}", text(&output));
            }
        }
    }
    let found = job.run(&["fsck"]);
    assert!(found.status.success(), "{}", text(&found));
}

#[test]
fn a_second_turn_on_a_branch_is_refused_with_the_one_that_holds_it() {
    let job = Job::empty();
    fs::write(job.path().join("a.md"), "# A\n\ntext\n").unwrap();
    assert!(job.run(&["init"]).status.success());
    let slow = job.script("steps:\n  - wait_ms: 20000\n    text: late\n");
    let mut first = job
        .command()
        .env("DECKLE_MODEL", &slow)
        .args(["agent", "--ndjson", "--branch", "held", "wait"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Its first line says that the turn holds the branch.
    let mut line = String::new();
    BufReader::new(first.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let second = job.agent("steps:\n  - text: quick\n", &["--branch", "held", "go"]);
    assert!(!second.status.success(), "{}", text(&second));
    assert!(text(&second).contains("held") && text(&second).contains("hint: "), "{}", text(&second));
    first.kill().unwrap();
    first.wait().unwrap();
}
