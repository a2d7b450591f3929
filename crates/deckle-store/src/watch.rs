//! Watching a folder that is main: what any editor does is main's history a moment later, not only when somebody looks.
//!
//! The system's notices say only *that* something happened; what it was is found by the same scan as ever. So a notice that
//! was lost costs time and nothing else, and where the system gives none (a network mount, too many folders) looking now and
//! then takes their place.

use std::path::Path;
use std::time::{Duration, Instant};

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;

use crate::error::StoreError;
use crate::folder::STORE_FOLDER;
use crate::object::ObjectId;
use crate::snapshot::Snapshot;
use crate::workspace::Workspace;

/// An editor saves in several steps; this long after the last one, it is done.
const QUIET: Duration = Duration::from_millis(200);
/// Somebody who never stops writing is seen all the same.
const AT_MOST: Duration = Duration::from_secs(2);
/// How often to look although nothing was told.
const ANYWAY: Duration = Duration::from_secs(60);
/// How often to look where nothing is ever told.
const BLIND: Duration = Duration::from_secs(2);

/// A folder that is watched until this is dropped.
#[derive(Debug)]
pub struct Watch {
    workspace: Workspace,
    told: mpsc::Receiver<()>,
    seen: ObjectId,
    /// Whether the system tells.
    watcher: Option<RecommendedWatcher>,
}

impl Workspace {
    /// Watches the folder that is main; nothing when main is none.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn watch(&self) -> Result<Option<Watch>, StoreError> {
        let Some(root) = self.folder().map(Path::to_path_buf) else { return Ok(None) };
        // One place is enough: a second notice before the first was heard says nothing new.
        let (tell, told) = mpsc::channel(1);
        let within = root.clone();
        let hear = move |event: notify::Result<Event>| {
            let concerns = event.as_ref().map_or(true, |event| concerns(&within, event));
            if concerns {
                let _ = tell.try_send(());
            }
        };
        let watcher = notify::recommended_watcher(hear).and_then(|mut watcher| {
            watcher.watch(&root, RecursiveMode::Recursive)?;
            Ok(watcher)
        });
        let watcher = watcher.map_err(|error| tracing::info!(%error, "the folder is looked at now and then")).ok();
        // What changed before the watch began is seen now.
        let seen = self.snapshot().await?.commit();
        Ok(Some(Watch { workspace: self.clone(), told, seen, watcher }))
    }
}

/// Whether an event can be about a document: not the store's own writes, nor what is not part of main.
fn concerns(root: &Path, event: &Event) -> bool {
    let hidden = |path: &Path| {
        path.strip_prefix(root).unwrap_or(path).components().any(|part| {
            let name = part.as_os_str().to_string_lossy();
            name.starts_with('.') || name == "node_modules"
        })
    };
    debug_assert!(STORE_FOLDER.starts_with('.'), "the store's own writes are not news");
    !matches!(event.kind, EventKind::Access(_)) && (event.paths.is_empty() || event.paths.iter().any(|path| !hidden(path)))
}

impl Watch {
    /// Waits until main is another than it was, and returns it. May be dropped while it waits; nothing is missed.
    ///
    /// # Errors
    /// When the folder or the store cannot be read; the next call looks again.
    pub async fn changed(&mut self) -> Result<Snapshot, StoreError> {
        loop {
            let patience = if self.watcher.is_some() { ANYWAY } else { BLIND };
            if matches!(tokio::time::timeout(patience, self.told.recv()).await, Ok(Some(()))) {
                let begun = Instant::now();
                while begun.elapsed() < AT_MOST && tokio::time::timeout(QUIET, self.told.recv()).await.is_ok() {}
            }
            let now = self.workspace.snapshot().await?;
            if std::mem::replace(&mut self.seen, now.commit()) != now.commit() {
                return Ok(now);
            }
        }
    }
}
