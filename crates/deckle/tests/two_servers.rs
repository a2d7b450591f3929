//! Two servers on one database: one dies in the middle of a turn, and the other goes on with it. No tool runs twice, and what
//! was acknowledged is there.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::Value;

/// How many documents the script makes, two at each step.
const DOCUMENTS: usize = 12;
/// The lease of the servers, in seconds: the shortest there is.
const LEASE: &str = "1";
/// Longer than any turn here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A database that servers share, and how they tell one another what happens.
struct Shared {
    name: String,
    url: String,
    redis: Option<String>,
    folder: tempfile::TempDir,
}

impl Shared {
    /// Every engine there is, with Redis and with looking.
    fn all(test: &str) -> Vec<Self> {
        let make = |engine: &str, url: String, redis: Option<String>, folder: tempfile::TempDir| Self {
            name: format!("{test}-{engine}-{}-{}", redis.as_ref().map_or("looking", |_| "redis"), std::process::id()),
            url,
            redis,
            folder,
        };
        let redis = std::env::var("DECKLE_TEST_REDIS").ok();
        let folder = tempfile::tempdir().unwrap();
        let file = format!("sqlite:{}", folder.path().join("shared.db").display());
        let mut all = vec![make("sqlite", file, None, folder)];
        if let Ok(url) = std::env::var("DECKLE_TEST_POSTGRES") {
            all.push(make("postgres", url.clone(), None, tempfile::tempdir().unwrap()));
            all.extend(redis.map(|redis| make("postgres", url, Some(redis), tempfile::tempdir().unwrap())));
        }
        all
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_deckle"));
        command.env_remove("DECKLE_MODEL").env_remove("DECKLE_DIALECT").env_remove("DECKLE_REDIS").env_remove("DECKLE_DATABASE");
        command.args(["--database", &self.url, "--workspace", &self.name]);
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command().args(arguments).output().unwrap()
    }

    fn serve(&self, script: &str) -> Server {
        let file = self.folder.path().join("script.yaml");
        std::fs::write(&file, script).unwrap();
        let mut command = self.command();
        command.env("DECKLE_MODEL", format!("script:{}", file.display())).args(["serve", "--port", "0", "--lease", LEASE]);
        command.args(self.redis.iter().flat_map(|url| ["--redis", url]));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim().rsplit(':').next().unwrap().parse().unwrap_or_else(|_| panic!("no port in {line:?}"));
        Server { child, port }
    }

    /// The writes of a branch, the oldest first.
    fn writes(&self, branch: &str) -> Vec<String> {
        let log = self.run(&["log", "--branch", branch, "--json", "--limit", "1000"]);
        let text = String::from_utf8(log.stdout).unwrap();
        let found = text.match_indices("create made/").map(|(at, _)| {
            let rest = &text[at + "create made/".len()..];
            rest[..rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap()].to_owned()
        });
        let mut found: Vec<String> = found.collect();
        found.reverse();
        found
    }
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
    fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    fn request(&self, method: &str, path: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        stream
    }

    /// Reads the lines of an answer beside the test.
    fn lines(&self, method: &str, path: &str, body: &str) -> mpsc::Receiver<Value> {
        let stream = self.request(method, path, body);
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                if let Ok(value @ Value::Object(_)) = serde_json::from_str(&line)
                    && sender.send(value).is_err()
                {
                    return;
                }
            }
        });
        receiver
    }
}

fn script() -> String {
    let mut text = String::from("steps:\n");
    for step in 0..DOCUMENTS / 2 {
        text.push_str("  - wait_ms: 40\n    calls:\n");
        for name in [2 * step, 2 * step + 1] {
            text.push_str(&format!(
                "      - tool: create_document\n        arguments: {{ key: made/d{name}, content: '# D{name}' }}\n"
            ));
        }
    }
    text.push_str("  - text: All are made.\n");
    text
}

/// What becomes of the server that runs the turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// Its process dies.
    Killed,
    /// It stands still for longer than its lease, and goes on when another has the turn: what it then writes is refused.
    Sleeps,
    /// The same, and it never wakes.
    SleepsAndDies,
}

impl Fate {
    const ALL: [Self; 4] = [Self::Killed, Self::Sleeps, Self::SleepsAndDies, Self::Killed];
}

/// Waits for an event of a type; returns all that came until then.
fn until(lines: &mpsc::Receiver<Value>, kind: &str, label: &str) -> Vec<Value> {
    let (begun, mut seen) = (Instant::now(), Vec::new());
    while begun.elapsed() < PATIENCE {
        match lines.recv_timeout(PATIENCE) {
            Ok(line) => {
                let found = line["type"] == kind;
                seen.push(line);
                if found {
                    return seen;
                }
            }
            Err(_) => break,
        }
    }
    panic!("{label}: no `{kind}` came: {seen:#?}");
}

fn one_dies(shared: &Shared, fate: Fate, after: usize, delay: Duration) {
    let label = format!("{} {fate:?} after {after} documents and {delay:?}", shared.name);
    let branch = format!("two-{after}-{}", fate as usize);
    let (mut first, second) = (shared.serve(&script()), shared.serve(&script()));
    let told = first.lines("POST", "/v1/sessions", &format!(r#"{{"message": "make them", "branch": "{branch}"}}"#));
    let session = told.recv_timeout(PATIENCE).unwrap()["sessionId"].as_str().unwrap().to_owned();
    // A client of the other server sees the same events, before and after.
    let watched = second.lines("GET", &format!("/v1/sessions/{session}/events?after=0"), "");
    let mut acknowledged: BTreeSet<String> = BTreeSet::new();
    let mut note = |line: &Value| {
        if line["type"] == "agent_doc_complete" {
            acknowledged.insert(line["key"].as_str().unwrap().trim_start_matches("made/").to_owned());
        }
    };
    for _ in 0..after {
        until(&told, "agent_doc_complete", &label).iter().for_each(&mut note);
    }
    std::thread::sleep(delay);
    first.signal(if fate == Fate::Killed { "-KILL" } else { "-STOP" });
    // What it said before counts.
    while let Ok(line) = told.recv_timeout(Duration::from_millis(50)) {
        note(&line);
    }
    let seen = until(&watched, "agent_done", &label);
    if fate == Fate::Sleeps {
        first.signal("-CONT");
        // It notices that the turn is another's, and ends its own stream.
        while told.recv_timeout(PATIENCE).is_ok() {}
        std::thread::sleep(Duration::from_millis(300));
    }
    if fate == Fate::SleepsAndDies {
        first.child.kill().unwrap();
    }
    let done = seen.last().unwrap();
    assert_eq!(done["outcome"], "done", "{label}: {seen:#?}");
    let numbers: Vec<i64> = seen.iter().filter_map(|line| line["seq"].as_i64()).collect();
    assert_eq!(numbers, (1..=numbers.len() as i64).collect::<Vec<_>>(), "{label}: the log has gaps, or repeats itself");
    let all: Vec<String> = (0..DOCUMENTS).map(|name| format!("d{name}")).collect();
    assert_eq!(shared.writes(&branch), all, "{label}: each tool ran once, in order");
    assert!(acknowledged.iter().all(|name| all.contains(name)), "{label}: {acknowledged:?}");
    for name in &acknowledged {
        let got = shared.run(&["get", &format!("made/{name}"), "--branch", &branch]);
        assert_eq!(String::from_utf8_lossy(&got.stdout), format!("# {}\n", name.to_uppercase()), "{label}");
    }
    // The session goes on as any other, on either server.
    let more = second.lines("POST", &format!("/v1/sessions/{session}/turns"), r#"{"message": "anything else?"}"#);
    assert_eq!(until(&more, "agent_done", &label).last().unwrap()["outcome"], "done", "{label}");
}

#[test]
fn another_server_goes_on_with_the_turn_of_one_that_died() {
    for shared in Shared::all("dies") {
        assert!(shared.run(&["create", "a", "-c", "# A"]).status.success());
        // A process that sleeps in the middle of a transaction keeps a SQLite file to itself until it wakes or dies; Postgres
        // throws it out.
        let fates = if shared.url.starts_with("sqlite") { [Fate::Killed; 4] } else { Fate::ALL };
        for (round, fate) in fates.into_iter().enumerate() {
            one_dies(&shared, fate, 1 + 3 * round % 8, Duration::from_millis(17 * round as u64));
        }
        let checked = shared.run(&["fsck"]);
        assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
    }
}

#[test]
fn a_turn_is_cancelled_through_the_other_server() {
    for shared in Shared::all("cancel") {
        let slow = "steps:\n  - wait_ms: 30000\n    text: Late.\n";
        let (first, second) = (shared.serve(slow), shared.serve(slow));
        let told = first.lines("POST", "/v1/sessions", r#"{"message": "wait", "branch": "slow"}"#);
        let session = told.recv_timeout(PATIENCE).unwrap()["sessionId"].as_str().unwrap().to_owned();
        let mut answer = String::new();
        second.request("POST", &format!("/v1/sessions/{session}/cancel"), "").read_to_string(&mut answer).unwrap();
        assert!(answer.contains(r#"{"cancelled":true}"#), "{answer}");
        let asked = Instant::now();
        let seen = until(&told, "agent_done", &shared.name);
        assert_eq!(seen.last().unwrap()["outcome"], "cancelled", "{seen:#?}");
        assert!(asked.elapsed() < Duration::from_secs(10), "{:?}", asked.elapsed());
    }
}
