//! What the tests share: engines, folders, keys.

use std::path::Path;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use deckle_doc::DocKey;
use deckle_store::{
    Actor, BranchId, CallId, Clock, InitOptions, Meta, RunId, Store, Tenant, Timestamp, UserId, Workspace, WorkspaceId,
};
use tempfile::TempDir;

/// An engine under test, with a tenant that nobody else uses.
pub struct Engine {
    pub name: &'static str,
    pub store: Store,
    pub tenant: Tenant,
    pub url: String,
    _dir: Option<TempDir>,
}

/// The engines: SQLite, and Postgres when there is one.
pub async fn engines() -> Vec<Engine> {
    let dir = TempDir::new().unwrap();
    let url = format!("sqlite:{}", dir.path().join("store.db").display());
    let store = Store::open_with(&url, clock()).await.unwrap();
    let mut engines = vec![Engine { name: "sqlite", store, tenant: tenant(), url, _dir: Some(dir) }];
    if let Ok(url) = std::env::var("DECKLE_TEST_POSTGRES") {
        let store = Store::open_with(&url, clock()).await.unwrap();
        engines.push(Engine { name: "postgres", store, tenant: tenant(), url, _dir: None });
    }
    engines
}

/// A tenant of its own: the database of a test run is shared.
pub fn tenant() -> Tenant {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    Tenant::parse(&format!("t{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::SeqCst))).unwrap()
}

/// A clock that moves a second at each look.
pub fn clock() -> Clock {
    let now = AtomicI64::new(1_700_000_000_000);
    Clock::from_fn(move || Timestamp(now.fetch_add(1000, Ordering::SeqCst)))
}

impl Engine {
    /// One store and one tenant of it.
    pub fn of(name: &'static str, store: Store, tenant: Tenant, url: String) -> Self {
        Self { name, store, tenant, url, _dir: None }
    }

    /// A workspace whose main is a ref, with these documents.
    pub async fn workspace(&self, fixture: &str) -> Workspace {
        let workspace =
            self.store.create_workspace(&self.tenant, &WorkspaceId::parse("docs").unwrap(), &Actor::local()).await.unwrap();
        let base = workspace.snapshot().await.unwrap();
        let changes = documents(fixture)
            .into_iter()
            .fold(deckle_store::Changes::new(), |changes, (name, text)| changes.write(key(&name), text));
        workspace.write(&base, &changes, &Meta::new(Actor::local(), "seed")).await.unwrap();
        workspace
    }
}

/// Splits a fixture: `//- key` lines begin documents.
pub fn documents(fixture: &str) -> Vec<(String, String)> {
    let mut out: Vec<(String, String)> = Vec::new();
    for line in fixture.split_inclusive('\n') {
        match (line.strip_prefix("//- "), out.last_mut()) {
            (Some(name), _) => out.push((name.trim().to_owned(), String::new())),
            (None, Some((_, text))) => text.push_str(line),
            (None, None) => {}
        }
    }
    out
}

/// A folder with these files.
pub fn folder(fixture: &str) -> TempDir {
    let dir = TempDir::new().unwrap();
    for (name, text) in documents(fixture) {
        put(dir.path(), &name, &text);
    }
    dir
}

/// Writes one file.
pub fn put(dir: &Path, name: &str, text: impl AsRef<[u8]>) {
    let path = dir.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Makes a folder a workspace.
pub async fn init(dir: &Path) -> Workspace {
    Workspace::init(dir, InitOptions { allow_empty: false, clock: clock() }).await.unwrap()
}

pub fn key(text: &str) -> DocKey {
    DocKey::parse(text).unwrap()
}

pub fn branch(text: &str) -> BranchId {
    BranchId::parse(text).unwrap()
}

pub fn ana() -> Actor {
    Actor::person(UserId::parse("ana").unwrap())
}

pub fn agent() -> Actor {
    ana().agent("Agent")
}

pub fn run(text: &str) -> RunId {
    RunId::parse(text).unwrap()
}

pub fn call(text: &str) -> CallId {
    CallId::parse(text).unwrap()
}

pub fn meta(intent: &str) -> Meta {
    Meta::new(agent(), intent)
}

/// Every file below a folder except the store, with its bytes.
pub fn files(dir: &Path) -> Vec<(String, Vec<u8>)> {
    fn walk(root: &Path, at: &Path, out: &mut Vec<(String, Vec<u8>)>) {
        for entry in std::fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.file_name().unwrap() == ".deckle" {
                continue;
            }
            if path.is_dir() && !path.is_symlink() {
                walk(root, &path, out);
            } else {
                let bytes = std::fs::read(&path).unwrap_or_default();
                out.push((path.strip_prefix(root).unwrap().display().to_string(), bytes));
            }
        }
    }
    let mut out = Vec::new();
    walk(dir, dir, &mut out);
    out.sort();
    out
}

/// How much more than at every run: `make prove` sets it.
pub fn scale() -> u64 {
    std::env::var("DECKLE_PROVE_SCALE").ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}

/// Numbers that repeat when `DECKLE_TEST_SEED` says which.
pub struct Random {
    pub seed: u64,
    state: u64,
}

impl Random {
    pub fn new() -> Self {
        let given = std::env::var("DECKLE_TEST_SEED").ok().and_then(|text| text.parse().ok());
        Self::seeded(given.unwrap_or_else(|| u64::from(std::process::id()) * 2_654_435_761 + 1))
    }

    pub fn seeded(seed: u64) -> Self {
        Self { seed, state: seed }
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit.max(1)
    }
}
