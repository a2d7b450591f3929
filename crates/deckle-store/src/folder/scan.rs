//! One look at every file of the folder. What the stat cache vouches for is not opened.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::cache::{Known, StatCache};
use super::stat::Stat;
use super::{CACHE, Folder, absent, hash_file};
use crate::document::{MAX_DOCUMENT_BYTES, is_markdown};
use crate::error::StoreError;
use crate::object::tree::is_safe_name;
use crate::object::{EntryMode, ObjectId, ObjectKind, RawObject};
use crate::tree_edit::FileEntry;

/// Folders that hold no documents of the workspace, beside all whose name begins with a dot.
const SKIPPED: [&str; 1] = ["node_modules"];
/// Deeper than any real corpus; a loop of mounts ends here.
const MAX_DEPTH: usize = 64;

/// A file that must be read before its id is known.
#[derive(Debug)]
pub(crate) struct Unread {
    path: Box<str>,
    stat: Stat,
}

/// What the folder holds.
#[derive(Debug)]
pub(crate) struct Scan {
    root: PathBuf,
    /// Files with known ids.
    files: Vec<FileEntry>,
    known: HashMap<Box<str>, Known>,
    /// Files that changed, or were never seen.
    unread: Vec<Unread>,
    /// Where the links point to: git keeps that as their bytes.
    links: Vec<RawObject>,
    /// Names that cannot be kept: not UTF-8.
    pub(crate) unnamed: Vec<String>,
    changed: bool,
    started: SystemTime,
}

/// A file that was read.
pub(crate) struct Fresh {
    pub(crate) path: Box<str>,
    pub(crate) id: ObjectId,
    pub(crate) size: u64,
    /// The bytes of a document; none for any other file.
    pub(crate) text: Option<Vec<u8>>,
}

impl Folder {
    /// Walks the folder.
    pub(crate) fn scan(&self) -> Result<Scan, StoreError> {
        let cache = StatCache::load(&self.store().join(CACHE));
        let mut scan = Scan {
            root: self.root().to_path_buf(),
            files: Vec::with_capacity(cache.0.len()),
            known: HashMap::with_capacity(cache.0.len()),
            unread: Vec::new(),
            links: Vec::new(),
            unnamed: Vec::new(),
            changed: false,
            started: SystemTime::now(),
        };
        let mut cached = cache.0;
        scan.walk(self.root(), "", 0, &mut cached)?;
        // What is left in the cache is gone from the folder.
        scan.changed |= !cached.is_empty() || !scan.unread.is_empty();
        Ok(scan)
    }

    /// Remembers a scan for the next one.
    pub(crate) fn remember(&self, scan: &Scan) {
        if scan.changed {
            let cache = StatCache(scan.known.iter().map(|(path, known)| (path.clone(), *known)).collect());
            // Without it the next scan is slower, and no less right.
            if let Err(error) = cache.save(&self.store().join(CACHE)) {
                tracing::debug!(%error, "the stat cache was not saved");
            }
        }
    }
}

impl Scan {
    fn walk(
        &mut self,
        folder: &Path,
        prefix: &str,
        depth: usize,
        cached: &mut HashMap<Box<str>, Known>,
    ) -> Result<(), StoreError> {
        if depth > MAX_DEPTH {
            return Ok(());
        }
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            // Gone or closed between two looks: it is not part of this one.
            Err(error) if depth > 0 && (absent(&error) || error.kind() == std::io::ErrorKind::PermissionDenied) => return Ok(()),
            Err(error) => return Err(StoreError::io(folder, error)),
        };
        for entry in entries {
            let entry = entry.map_err(|error| StoreError::io(folder, error))?;
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|name| is_safe_name(name)) else {
                self.unnamed.push(format!("{prefix}{}", name.to_string_lossy()));
                continue;
            };
            if name.starts_with('.') {
                continue;
            }
            let kind = entry.file_type().map_err(|error| StoreError::io(&entry.path(), error))?;
            if kind.is_dir() {
                if !SKIPPED.contains(&name) {
                    self.walk(&entry.path(), &format!("{prefix}{name}/"), depth + 1, cached)?;
                }
                continue;
            }
            let path: Box<str> = format!("{prefix}{name}").into();
            if kind.is_symlink() {
                let Ok(target) = fs::read_link(entry.path()) else { continue };
                let link = RawObject::new(ObjectKind::Blob, target.to_string_lossy().into_owned().into_bytes());
                self.files.push(FileEntry { path, mode: EntryMode::Link, id: link.id() });
                self.links.push(link);
                continue;
            }
            if !kind.is_file() {
                continue;
            }
            let stat = match entry.metadata() {
                Ok(meta) => Stat::of(&meta),
                Err(error) if absent(&error) => continue,
                Err(error) => return Err(StoreError::io(&entry.path(), error)),
            };
            match cached.remove(&path) {
                Some(known) if known.stat == stat => {
                    self.add(&path, known);
                    self.known.insert(path, known);
                }
                _ => self.unread.push(Unread { path, stat }),
            }
        }
        Ok(())
    }

    fn add(&mut self, path: &str, known: Known) {
        let mode = if known.stat.executable { EntryMode::Executable } else { EntryMode::File };
        self.files.push(FileEntry { path: path.into(), mode, id: known.id });
    }

    /// Reads changed files until about this many bytes are at hand; nothing when all are read.
    pub(crate) fn read_some(&mut self, budget: u64) -> Result<Vec<Fresh>, StoreError> {
        let mut fresh = Vec::new();
        let mut spent = 0;
        while spent < budget {
            let Some(unread) = self.unread.pop() else { break };
            let at = self.root.join(&*unread.path);
            let read = read(&at, &unread);
            let (id, text) = match read {
                Ok(read) => read,
                // Gone, closed, or in the middle of being written: the next scan sees what became of it.
                Err(error) if absent(&error) || error.kind() == std::io::ErrorKind::PermissionDenied => continue,
                Err(error) => return Err(StoreError::io(&at, error)),
            };
            spent += text.as_ref().map_or(0, |text| text.len() as u64) + 1;
            let known = Known { stat: unread.stat, id, opaque: text.is_none() };
            self.add(&unread.path, known);
            if unread.stat.is_settled(self.started) {
                self.known.insert(unread.path.clone(), known);
            }
            fresh.push(Fresh { path: unread.path, id, size: unread.stat.size, text });
        }
        Ok(fresh)
    }

    /// Returns the files in path order, and the bytes of the links among them.
    pub(crate) fn into_files(mut self) -> (Vec<FileEntry>, Vec<RawObject>) {
        self.files.sort_by(|a, b| a.path.cmp(&b.path));
        (self.files, self.links)
    }

    /// Whether there is a Markdown file at all.
    pub(crate) fn has_markdown(&self) -> bool {
        self.files.iter().any(|file| is_markdown(&file.path)) || self.unread.iter().any(|file| is_markdown(&file.path))
    }
}

/// Reads one file: its id, and its bytes when it is a document.
fn read(at: &Path, unread: &Unread) -> std::io::Result<(ObjectId, Option<Vec<u8>>)> {
    if !is_markdown(&unread.path) || unread.stat.size > MAX_DOCUMENT_BYTES as u64 {
        return Ok((hash_file(at, fs::metadata(at)?.len())?, None));
    }
    let bytes = fs::read(at)?;
    let id = ObjectId::of(ObjectKind::Blob, &bytes);
    let document = bytes.len() <= MAX_DOCUMENT_BYTES && std::str::from_utf8(&bytes).is_ok();
    Ok((id, document.then_some(bytes)))
}
