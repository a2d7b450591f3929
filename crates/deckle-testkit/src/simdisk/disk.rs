//! The disk itself: files as synced bytes plus what was written since.

use std::collections::BTreeMap;

use super::{Fault, FaultKind};

/// The unit that a disk writes whole.
const SECTOR: usize = 512;

/// A change to a file that no sync has covered yet.
#[derive(Clone, Debug)]
enum Pending {
    Write { offset: usize, bytes: Vec<u8> },
    Truncate { length: usize },
}

/// One file.
#[derive(Debug, Default)]
struct File {
    /// What a process reads.
    current: Vec<u8>,
    /// What survives power loss for certain; `None` while the directory entry itself is not durable.
    synced: Option<Vec<u8>>,
    pending: Vec<Pending>,
    /// Deleted without a directory sync: it may come back.
    deleted: bool,
}

/// Why a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    Io,
    Full,
    Missing,
}

/// All files, the fault to come, and the count of calls.
#[derive(Debug, Default)]
pub struct Disk {
    files: BTreeMap<String, File>,
    fault: Option<Fault>,
    calls: u64,
    syncs: u64,
    /// The count at which the fault was armed.
    armed_at: u64,
    dead: bool,
    /// Raised at each power loss; a handle of an earlier one is dead.
    epoch: u64,
}

impl Disk {
    pub fn calls(&self) -> u64 {
        self.calls
    }

    pub fn syncs(&self) -> u64 {
        self.syncs
    }

    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    pub fn arm(&mut self, fault: Option<Fault>) {
        self.armed_at = match fault {
            Some(Fault { kind: FaultKind::Sync, .. }) => self.syncs,
            _ => self.calls,
        };
        self.fault = fault;
        self.dead = false;
    }

    /// Counts a call and says which fault hits it.
    fn count(&mut self, is_sync: bool) -> Option<FaultKind> {
        let (call, sync) = (self.calls, self.syncs);
        self.calls += 1;
        if is_sync {
            self.syncs += 1;
        }
        if self.dead {
            return Some(FaultKind::Io);
        }
        let fault = self.fault?;
        let now = if fault.kind == FaultKind::Sync {
            if !is_sync {
                return None;
            }
            sync
        } else {
            call
        };
        let at = self.armed_at + fault.at;
        let hit = if fault.persistent { now >= at } else { now == at };
        if hit && fault.kind == FaultKind::PowerOff {
            self.dead = true;
        }
        hit.then_some(fault.kind)
    }

    /// Opens a file, creating it when asked.
    pub fn open(&mut self, path: &str, create: bool) -> Result<(), Failure> {
        if self.count(false).is_some() {
            return Err(Failure::Io);
        }
        match self.files.get_mut(path) {
            Some(file) if !file.deleted => Ok(()),
            _ if !create => Err(Failure::Missing),
            Some(file) => {
                // A new file of the same name; the old bytes stay what a power loss may bring back.
                file.deleted = false;
                file.pending.push(Pending::Truncate { length: 0 });
                file.current.clear();
                Ok(())
            }
            None => {
                self.files.insert(path.to_owned(), File::default());
                Ok(())
            }
        }
    }

    pub fn exists(&self, path: &str) -> bool {
        self.files.get(path).is_some_and(|file| !file.deleted)
    }

    /// Deletes a file; `durable` when the directory is synced with it.
    pub fn delete(&mut self, path: &str, durable: bool) -> Result<(), Failure> {
        if self.count(false).is_some() {
            return Err(Failure::Io);
        }
        if !self.exists(path) {
            return Err(Failure::Missing);
        }
        if durable {
            self.files.remove(path);
        } else if let Some(file) = self.files.get_mut(path) {
            file.deleted = true;
            file.current.clear();
        }
        Ok(())
    }

    /// Reads into `into`; returns how many bytes there were.
    pub fn read(&mut self, path: &str, offset: usize, into: &mut [u8]) -> Result<usize, Failure> {
        if self.count(false).is_some() {
            return Err(Failure::Io);
        }
        let file = self.files.get(path).ok_or(Failure::Io)?;
        let there = file.current.get(offset..).unwrap_or_default();
        let length = there.len().min(into.len());
        into[..length].copy_from_slice(&there[..length]);
        into[length..].fill(0);
        Ok(length)
    }

    pub fn write(&mut self, path: &str, offset: usize, bytes: &[u8]) -> Result<(), Failure> {
        let (stored, outcome) = match self.count(false) {
            None => (bytes, Ok(())),
            Some(FaultKind::ShortWrite) => (&bytes[..bytes.len() / 2], Err(Failure::Io)),
            Some(FaultKind::Full) => (&bytes[..0], Err(Failure::Full)),
            Some(_) => (&bytes[..0], Err(Failure::Io)),
        };
        let file = self.files.get_mut(path).ok_or(Failure::Io)?;
        if !stored.is_empty() {
            place(&mut file.current, offset, stored);
            file.pending.push(Pending::Write { offset, bytes: stored.to_vec() });
        }
        outcome
    }

    pub fn truncate(&mut self, path: &str, length: usize) -> Result<(), Failure> {
        if self.count(false).is_some() {
            return Err(Failure::Io);
        }
        let file = self.files.get_mut(path).ok_or(Failure::Io)?;
        file.current.resize(length, 0);
        file.pending.push(Pending::Truncate { length });
        Ok(())
    }

    pub fn sync(&mut self, path: &str) -> Result<(), Failure> {
        let fault = self.count(true);
        let file = self.files.get_mut(path).ok_or(Failure::Io)?;
        match fault {
            None => {
                let is_new = file.synced.is_none();
                file.synced = Some(file.current.clone());
                file.pending.clear();
                if is_new {
                    self.sync_directory();
                }
                Ok(())
            }
            Some(FaultKind::Sync) => {
                // The kernel marks the pages clean: they are readable, and no later sync writes them.
                file.pending.clear();
                Err(Failure::Io)
            }
            Some(_) => Err(Failure::Io),
        }
    }

    /// What SQLite's own VFS does with the first sync of a new journal or WAL: every entry, made or deleted, is durable after it.
    fn sync_directory(&mut self) {
        self.files.retain(|_, file| !file.deleted);
        for file in self.files.values_mut() {
            file.synced.get_or_insert_default();
        }
    }

    pub fn size(&self, path: &str) -> usize {
        self.files.get(path).map_or(0, |file| file.current.len())
    }

    pub fn read_whole(&self, path: &str) -> Option<Vec<u8>> {
        self.files.get(path).filter(|file| !file.deleted).map(|file| file.current.clone())
    }

    pub fn put(&mut self, path: &str, bytes: &[u8]) {
        self.files.insert(path.to_owned(), File { current: bytes.to_vec(), synced: Some(bytes.to_vec()), ..File::default() });
    }

    pub fn power_loss(&mut self, seed: u64) {
        let mut random = Random(seed ^ 0x9e37_79b9_7f4a_7c15);
        let old = std::mem::take(&mut self.files);
        for (path, file) in old {
            // An entry that was never synced, or a deletion that was not, goes either way.
            if (file.synced.is_none() || file.deleted) && random.next().is_multiple_of(2) {
                continue;
            }
            let mut bytes = file.synced.unwrap_or_default();
            for change in file.pending {
                match (change, random.next() % 3) {
                    (_, 0) => {}
                    (Pending::Write { offset, bytes: new }, 1) => {
                        let sectors = new.len().div_ceil(SECTOR) as u64;
                        let kept = (random.next() % (sectors + 1)) as usize * SECTOR;
                        place(&mut bytes, offset, &new[..kept.min(new.len())]);
                    }
                    (Pending::Write { offset, bytes: new }, _) => place(&mut bytes, offset, &new),
                    (Pending::Truncate { length }, _) => bytes.resize(length, 0),
                }
            }
            self.files.insert(path, File { current: bytes.clone(), synced: Some(bytes), ..File::default() });
        }
        self.epoch += 1;
        self.arm(None);
    }
}

fn place(file: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    let end = offset + bytes.len();
    if file.len() < end {
        file.resize(end, 0);
    }
    file[offset..end].copy_from_slice(bytes);
}

/// SplitMix64 (Steele, Lea, Flood 2014): small, seeded, good enough to choose what a crash keeps.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
