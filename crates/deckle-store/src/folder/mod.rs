//! A working folder as main: walked, remembered by its files' stats, and written one file at a time, each atomically.

mod cache;
mod scan;
mod stat;
mod write;

use std::fs::{self, File};
use std::path::{Component, Path, PathBuf};

pub(crate) use write::FileWrite;

use crate::error::StoreError;
use crate::object::{Hasher, ObjectId, ObjectKind};

/// The folder of the store inside the workspace's folder.
pub const STORE_FOLDER: &str = ".deckle";
/// The database inside it.
pub(crate) const DATABASE: &str = "store.db";
/// What is remembered about the files' stats.
const CACHE: &str = "stat-cache";
/// Held while files are written.
const LOCK: &str = "lock";

/// A workspace's folder.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    root: PathBuf,
}

impl Folder {
    /// Resolves a folder that must be there.
    pub(crate) fn locate(dir: &Path) -> Result<Self, StoreError> {
        let root = match dir.canonicalize() {
            Ok(root) => root,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Err(StoreError::FolderMissing(dir.into())),
            Err(error) => return Err(StoreError::io(dir, error)),
        };
        if !root.is_dir() {
            return Err(StoreError::NotAFolder(dir.into()));
        }
        Ok(Self { root })
    }

    /// Returns its path.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the path of the store's folder.
    pub(crate) fn store(&self) -> PathBuf {
        self.root.join(STORE_FOLDER)
    }

    /// Returns the path of the database.
    pub(crate) fn database(&self) -> PathBuf {
        self.store().join(DATABASE)
    }

    /// Makes the store's folder. Git is told to look away from it by a file inside it, so nothing of the user's changes.
    pub(crate) fn create_store(&self) -> Result<(), StoreError> {
        let store = self.store();
        let denied = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::PermissionDenied => StoreError::NotWritable(self.root.clone()),
            _ => StoreError::io(&store, error),
        };
        fs::create_dir_all(&store).map_err(denied)?;
        let ignore = store.join(".gitignore");
        if !ignore.exists() {
            fs::write(&ignore, "*\n").map_err(denied)?;
        }
        sync_folder(&self.root)?;
        Ok(())
    }

    fn lock_file(&self) -> Result<(PathBuf, File), StoreError> {
        let path = self.store().join(LOCK);
        let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(|e| StoreError::io(&path, e))?;
        Ok((path, file))
    }

    /// Waits for the right to write files; it ends with the returned value, or with the process.
    pub(crate) fn lock(&self) -> Result<File, StoreError> {
        let (path, file) = self.lock_file()?;
        file.lock().map_err(|error| StoreError::io(&path, error))?;
        Ok(file)
    }

    /// Waits for the right to read files while none is being written.
    pub(crate) fn lock_shared(&self) -> Result<File, StoreError> {
        let (path, file) = self.lock_file()?;
        file.lock_shared().map_err(|error| StoreError::io(&path, error))?;
        Ok(file)
    }

    /// Returns the absolute path of a file inside, refusing one that would leave through a link or a `..`.
    pub(crate) fn inside(&self, path: &str) -> Result<PathBuf, StoreError> {
        let outside =
            || StoreError::Name { what: "path", name: path.into(), rule: "a path inside the folder, not through a link" };
        let mut at = self.root.clone();
        let mut parts = Path::new(path).components().peekable();
        while let Some(part) = parts.next() {
            let Component::Normal(name) = part else { return Err(outside()) };
            at.push(name);
            if parts.peek().is_some() && at.symlink_metadata().is_ok_and(|meta| meta.file_type().is_symlink()) {
                return Err(outside());
            }
        }
        if at == self.root { Err(outside()) } else { Ok(at) }
    }

    /// Reads a file as it is now; nothing when it is not there.
    pub(crate) fn read(&self, path: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let at = self.inside(path)?;
        match at.symlink_metadata() {
            Ok(meta) if meta.is_file() => {}
            Ok(_) => return Ok(None),
            Err(error) if absent(&error) => return Ok(None),
            Err(error) => return Err(StoreError::io(&at, error)),
        }
        match fs::read(&at) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if absent(&error) => Ok(None),
            Err(error) => Err(StoreError::io(&at, error)),
        }
    }
}

fn absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

/// Returns git's id of a file's bytes without holding them.
fn hash_file(path: &Path, size: u64) -> std::io::Result<ObjectId> {
    use std::io::Read;
    let mut file = File::open(path)?;
    let mut hasher = Hasher::new(ObjectKind::Blob, size);
    let mut piece = vec![0; 64 * 1024];
    let mut total = 0;
    loop {
        let read = file.read(&mut piece)?;
        let Some(bytes) = piece.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
        total += read as u64;
        hasher.update(bytes);
    }
    if total != size {
        return Err(std::io::Error::new(std::io::ErrorKind::WouldBlock, "the file is being written"));
    }
    Ok(hasher.finish())
}

/// Makes names in a folder durable.
pub(crate) fn sync_folder(path: &Path) -> Result<(), StoreError> {
    if cfg!(sabotage = "skip_sync") {
        return Ok(());
    }
    let folder = File::open(path).map_err(|error| StoreError::io(path, error))?;
    folder.sync_all().map_err(|error| StoreError::Disk { cause: format!("{}: {error}", path.display()) })
}
