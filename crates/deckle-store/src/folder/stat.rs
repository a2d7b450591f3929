//! What the system says about a file without opening it: enough to know that it did not change.

use std::fs::Metadata;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A file whose time is younger than this when it was read may change again within one tick of a coarse clock, so its
/// stat proves nothing. Two seconds is the coarsest clock of a file system in use.
const COARSEST_TICK: Duration = Duration::from_secs(2);

/// The stat of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) size: u64,
    pub(crate) modified: i64,
    pub(crate) changed: i64,
    pub(crate) inode: u64,
    pub(crate) executable: bool,
}

impl Stat {
    #[cfg(unix)]
    pub(crate) fn of(meta: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        let nanos = |seconds: i64, nanos: i64| seconds.saturating_mul(1_000_000_000).saturating_add(nanos);
        Self {
            size: meta.len(),
            modified: nanos(meta.mtime(), meta.mtime_nsec()),
            changed: nanos(meta.ctime(), meta.ctime_nsec()),
            inode: meta.ino(),
            executable: meta.mode() & 0o111 != 0,
        }
    }

    #[cfg(not(unix))]
    pub(crate) fn of(meta: &Metadata) -> Self {
        let modified = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
        let modified = i64::try_from(modified.as_nanos()).unwrap_or(i64::MAX);
        Self { size: meta.len(), modified, changed: modified, inode: 0, executable: false }
    }

    /// Whether the file was still for so long, when it was read, that a later change must show in its stat.
    pub(crate) fn is_settled(&self, read_at: SystemTime) -> bool {
        let limit = read_at.checked_sub(COARSEST_TICK).and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let limit = limit.map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(i64::MAX));
        self.modified < limit && self.changed < limit
    }
}
