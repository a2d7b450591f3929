//! A disk that loses power, tears writes and fails calls on command, under SQLite.
//!
//! [`SimDisk::new`] registers an SQLite VFS whose files live in memory. Each file keeps what is *synced* apart from what was only
//! *written*, as a page cache does. [`SimDisk::power_loss`] then keeps the synced bytes and, driven by a seed, any subset of the rest:
//! dropped, whole, or torn at a sector. [`Fault`] makes the Nth call fail. `kill -9` cannot find a missing sync, because the page
//! cache survives it; this can (after SQLite's own crash tests, sqlite.org/testing.html).
//!
//! The first sync of a new file also syncs the directory, as SQLite's own VFS does for journals.

mod disk;
mod vfs;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use disk::Disk;

/// What happens at a call to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The call fails with an I/O error and has no effect.
    Io,
    /// A write fails because the disk is full; other calls fail with an I/O error.
    Full,
    /// A write stores its first half and then fails; other calls fail with an I/O error.
    ShortWrite,
    /// A sync fails, and what it should have made durable never becomes durable; other calls are not touched.
    Sync,
    /// Power goes: this call and every later one fail, until [`SimDisk::power_loss`].
    PowerOff,
}

/// A fault to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The call that fails, counted from now, the first being 0. For [`FaultKind::Sync`] only syncs are counted.
    pub at: u64,
    /// How it fails.
    pub kind: FaultKind,
    /// Whether every later call fails as well.
    pub persistent: bool,
}

/// A simulated disk, and the SQLite VFS that stores on it.
#[derive(Clone, Debug)]
pub struct SimDisk {
    disk: Arc<Mutex<Disk>>,
    name: String,
}

impl SimDisk {
    /// Registers a new, empty disk under a VFS name of its own. The registration lasts as long as the process.
    #[must_use]
    pub fn new() -> Self {
        let disk = Arc::new(Mutex::new(Disk::default()));
        let name = vfs::register(Arc::clone(&disk));
        Self { disk, name }
    }

    /// Returns the URL that opens `file` on this disk with sqlx.
    #[must_use]
    pub fn url(&self, file: &str) -> String {
        format!("sqlite:/{file}?mode=rwc&vfs={}", self.name)
    }

    /// Returns the name of the VFS.
    #[must_use]
    pub fn vfs(&self) -> &str {
        &self.name
    }

    /// Returns how many calls reached the disk so far.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.lock().calls()
    }

    /// Returns how many syncs reached the disk so far.
    #[must_use]
    pub fn syncs(&self) -> u64 {
        self.lock().syncs()
    }

    /// Arms one fault, in place of any other.
    pub fn arm(&self, fault: Fault) {
        self.lock().arm(Some(fault));
    }

    /// Disarms the fault; the disk works again.
    pub fn heal(&self) {
        self.lock().arm(None);
    }

    /// Loses power and comes back: synced bytes stand, and `seed` decides which of the rest survive, whole or torn. Handles that were
    /// open stay dead.
    pub fn power_loss(&self, seed: u64) {
        self.lock().power_loss(seed);
    }

    /// Returns the bytes of a file as a process would read them now.
    #[must_use]
    pub fn read(&self, file: &str) -> Option<Vec<u8>> {
        self.lock().read_whole(&format!("/{file}"))
    }

    /// Puts a file on the disk, synced; a fixture or a damaged copy.
    pub fn write(&self, file: &str, bytes: &[u8]) {
        self.lock().put(&format!("/{file}"), bytes);
    }

    fn lock(&self) -> MutexGuard<'_, Disk> {
        self.disk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for SimDisk {
    fn default() -> Self {
        Self::new()
    }
}
