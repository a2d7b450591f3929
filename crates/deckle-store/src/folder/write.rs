//! Writing files of the folder: each appears whole or not at all, and none is written over bytes that were not expected.

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::path::Path;

use super::{Folder, absent, sync_folder};
use crate::error::StoreError;
use crate::object::{ObjectId, ObjectKind};

/// What temporary files are called; a leading dot keeps them out of every listing.
const PREFIX: &str = ".deckle-";
const SUFFIX: &str = ".tmp";

/// One file to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileWrite {
    /// Its path in the folder.
    pub(crate) path: String,
    /// The bytes that must stand there; none: no file.
    pub(crate) before: Option<ObjectId>,
    /// The bytes that will; none: the file is removed.
    pub(crate) after: Option<Vec<u8>>,
    /// What kind of file a new one is.
    pub(crate) executable: bool,
}

/// Why a file was not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Other bytes stand there.
    Changed,
}

impl Folder {
    /// Says whether a file is as it was expected, or already as it shall be.
    pub(crate) fn check(&self, write: &FileWrite) -> Result<Result<(), Refusal>, StoreError> {
        let now = self.read(&write.path)?.map(|bytes| ObjectId::of(ObjectKind::Blob, &bytes));
        let after = write.after.as_ref().map(|bytes| ObjectId::of(ObjectKind::Blob, bytes));
        if now == write.before || now == after {
            // Where no file may be, no folder or link may be either.
            let at = self.inside(&write.path)?;
            if now.is_none() && at.symlink_metadata().is_ok() {
                return Ok(Err(Refusal::Changed));
            }
            return Ok(Ok(()));
        }
        Ok(Err(Refusal::Changed))
    }

    /// Returns the paths that are not as they were expected.
    pub(crate) fn changed(&self, writes: &[FileWrite]) -> Result<Vec<String>, StoreError> {
        let mut changed = Vec::new();
        for write in writes {
            if self.check(write)?.is_err() {
                changed.push(write.path.clone());
            }
        }
        Ok(changed)
    }

    /// Writes files in order; when one cannot be written, says how many were and why.
    pub(crate) fn write_all(&self, writes: &[FileWrite]) -> Result<(), (usize, StoreError)> {
        for (done, write) in writes.iter().enumerate() {
            match self.write(write) {
                Ok(Ok(())) => {}
                Ok(Err(Refusal::Changed)) => {
                    return Err((done, StoreError::ChangedUnderneath { files: vec![write.path.clone()] }));
                }
                Err(error) => return Err((done, error)),
            }
        }
        Ok(())
    }

    /// Removes temporary files that a dead process left beside a file.
    pub(crate) fn sweep(&self, path: &str) {
        let Ok(at) = self.inside(path) else { return };
        let Some(entries) = at.parent().and_then(|parent| fs::read_dir(parent).ok()) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            if name.to_str().is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX)) {
                // A file that cannot be removed is hidden and harmless.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// Writes one file, atomically and durably.
    pub(crate) fn write(&self, write: &FileWrite) -> Result<Result<(), Refusal>, StoreError> {
        let at = self.inside(&write.path)?;
        if let Err(refusal) = self.check(write)? {
            return Ok(Err(refusal));
        }
        let Some(bytes) = &write.after else {
            return self.remove(&at).map(Ok);
        };
        let parent = at.parent().unwrap_or(self.root()).to_path_buf();
        self.make_folders(&parent)?;
        let denied = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::PermissionDenied => StoreError::NotWritable(parent.clone()),
            _ => StoreError::io(&at, error),
        };
        let permissions = match fs::metadata(&at) {
            Ok(meta) => Some(meta.permissions()),
            Err(error) if absent(&error) => new_permissions(write.executable),
            Err(error) => return Err(denied(error)),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).suffix(SUFFIX);
        let mut next = builder.tempfile_in(&parent).map_err(denied)?;
        next.write_all(bytes).map_err(denied)?;
        match permissions {
            Some(permissions) => next.as_file().set_permissions(permissions).map_err(denied)?,
            None => next.as_file().set_permissions(default_permissions(&parent)?).map_err(denied)?,
        }
        sync_file(next.as_file(), &at)?;
        // The last look before the name moves: an editor that saved a moment ago wins.
        if let Err(refusal) = self.check(write)? {
            return Ok(Err(refusal));
        }
        next.persist(&at).map_err(|error| denied(error.error))?;
        sync_folder(&parent)?;
        Ok(Ok(()))
    }

    fn remove(&self, at: &Path) -> Result<(), StoreError> {
        match fs::remove_file(at) {
            Ok(()) => {}
            Err(error) if absent(&error) => return Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                return Err(StoreError::NotWritable(at.parent().unwrap_or(self.root()).to_path_buf()));
            }
            Err(error) => return Err(StoreError::io(at, error)),
        }
        let Some(mut folder) = at.parent() else { return Ok(()) };
        sync_folder(folder)?;
        // Git keeps no empty folders either; one that holds anything stays, since it cannot be removed.
        while folder != self.root() && fs::remove_dir(folder).is_ok() {
            let Some(parent) = folder.parent() else { break };
            sync_folder(parent)?;
            folder = parent;
        }
        Ok(())
    }

    fn make_folders(&self, folder: &Path) -> Result<(), StoreError> {
        if folder.is_dir() {
            return Ok(());
        }
        let parent = folder.parent().filter(|parent| parent.starts_with(self.root()));
        if let Some(parent) = parent {
            self.make_folders(parent)?;
        }
        match fs::create_dir(folder) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && folder.is_dir() => {}
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                return Err(StoreError::NotWritable(parent.unwrap_or(folder).to_path_buf()));
            }
            Err(error) => return Err(StoreError::io(folder, error)),
        }
        if let Some(parent) = parent {
            sync_folder(parent)?;
        }
        Ok(())
    }
}

fn sync_file(file: &File, at: &Path) -> Result<(), StoreError> {
    if cfg!(sabotage = "skip_sync") {
        return Ok(());
    }
    file.sync_all().map_err(|error| match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => StoreError::DiskFull,
        _ => StoreError::Disk { cause: format!("{}: {error}", at.display()) },
    })
}

#[cfg(unix)]
fn new_permissions(executable: bool) -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    executable.then(|| Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn new_permissions(_executable: bool) -> Option<Permissions> {
    None
}

/// Temporary files are made private; a new document is as readable as the folder it stands in.
#[cfg(unix)]
fn default_permissions(folder: &Path) -> Result<Permissions, StoreError> {
    use std::os::unix::fs::PermissionsExt;
    let meta = fs::metadata(folder).map_err(|error| StoreError::io(folder, error))?;
    Ok(Permissions::from_mode(meta.permissions().mode() & 0o644 | 0o600))
}

#[cfg(not(unix))]
fn default_permissions(folder: &Path) -> Result<Permissions, StoreError> {
    Ok(fs::metadata(folder).map_err(|error| StoreError::io(folder, error))?.permissions())
}
