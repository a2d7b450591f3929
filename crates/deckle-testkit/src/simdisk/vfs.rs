//! The SQLite VFS over a [`Disk`]. The only unsafe code of the workspace: SQLite calls through C function pointers.
//!
//! Locks and shared memory follow the contract in SQLite's `sqlite3_io_methods` documentation. They are not part of what can fail: they
//! are memory, and the crash tests restart all of it.
#![allow(unsafe_code)]

use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use libsqlite3_sys as ffi;

use super::disk::{Disk, Failure};

/// What SQLite's `pAppData` points to; lives as long as the process.
struct App {
    disk: Arc<Mutex<Disk>>,
    shared: Mutex<HashMap<String, Arc<Mutex<Shared>>>>,
}

/// What the handles of one file share: locks and the WAL index.
#[derive(Default)]
struct Shared {
    /// The lock level of each handle that holds one.
    levels: HashMap<u64, c_int>,
    regions: Vec<Box<[u64]>>,
    /// Per WAL-index slot: who holds it shared, who alone.
    slots: [Slot; ffi::SQLITE_SHM_NLOCK as usize],
}

#[derive(Default)]
struct Slot {
    sharers: Vec<u64>,
    owner: Option<u64>,
}

/// An open file.
struct Open {
    app: &'static App,
    path: String,
    shared: Arc<Mutex<Shared>>,
    id: u64,
    epoch: u64,
    delete_on_close: bool,
}

/// SQLite allocates `szOsFile` bytes for this.
#[repr(C)]
struct Handle {
    base: ffi::sqlite3_file,
    open: *mut Open,
}

static NEXT: AtomicU64 = AtomicU64::new(1);

static METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};

/// Registers a VFS for the disk and returns its name.
pub fn register(disk: Arc<Mutex<Disk>>) -> String {
    let name = format!("simdisk-{}", NEXT.fetch_add(1, Ordering::Relaxed));
    let app: &'static App = Box::leak(Box::new(App { disk, shared: Mutex::default() }));
    let c_name = CString::new(name.clone()).unwrap_or_default().into_raw();
    let vfs = Box::leak(Box::new(ffi::sqlite3_vfs {
        iVersion: 2,
        szOsFile: size_of::<Handle>() as c_int,
        mxPathname: 512,
        pNext: ptr::null_mut(),
        zName: c_name,
        pAppData: ptr::from_ref(app).cast_mut().cast::<c_void>(),
        xOpen: Some(open),
        xDelete: Some(delete),
        xAccess: Some(access),
        xFullPathname: Some(full_pathname),
        xDlOpen: None,
        xDlError: None,
        xDlSym: None,
        xDlClose: None,
        xRandomness: Some(randomness),
        xSleep: Some(sleep),
        xCurrentTime: Some(current_time),
        xGetLastError: Some(last_error),
        xCurrentTimeInt64: Some(current_time_64),
        xSetSystemCall: None,
        xGetSystemCall: None,
        xNextSystemCall: None,
    }));
    // SAFETY: `vfs`, its name and its `App` are leaked, so they outlive every use by SQLite.
    let code = unsafe { ffi::sqlite3_vfs_register(vfs, 0) };
    assert_eq!(code, ffi::SQLITE_OK, "BUG: SQLite refused the VFS");
    name
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// SAFETY: `vfs` is one that [`register`] made.
unsafe fn app_of(vfs: *mut ffi::sqlite3_vfs) -> &'static App {
    unsafe { &*(*vfs).pAppData.cast::<App>() }
}

/// SAFETY: `file` was opened by [`open`] and is not closed.
unsafe fn open_of<'f>(file: *mut ffi::sqlite3_file) -> &'f mut Open {
    unsafe { &mut *(*file.cast::<Handle>()).open }
}

/// SAFETY: `text` is a C string, or null.
unsafe fn string(text: *const c_char) -> String {
    if text.is_null() {
        return format!("/temporary-{}", NEXT.fetch_add(1, Ordering::Relaxed));
    }
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

impl Open {
    /// Runs `act` on the disk, unless the power went since the file was opened.
    fn act<T>(&self, act: impl FnOnce(&mut Disk) -> Result<T, Failure>) -> Result<T, Failure> {
        let mut disk = held(&self.app.disk);
        if disk.epoch() == self.epoch { act(&mut disk) } else { Err(Failure::Io) }
    }
}

fn code(failure: Failure, io: c_int) -> c_int {
    match failure {
        Failure::Full => ffi::SQLITE_FULL,
        Failure::Io | Failure::Missing => io,
    }
}

unsafe extern "C" fn open(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    let (app, path) = unsafe { (app_of(vfs), string(name)) };
    let handle = file.cast::<Handle>();
    // SAFETY: SQLite allocated `szOsFile` bytes; null methods tell it that there is nothing to close on failure.
    unsafe { (*handle).base.pMethods = ptr::null() };
    let epoch = {
        let mut disk = held(&app.disk);
        if let Err(failure) = disk.open(&path, flags & ffi::SQLITE_OPEN_CREATE != 0) {
            return code(failure, ffi::SQLITE_CANTOPEN);
        }
        disk.epoch()
    };
    let shared = Arc::clone(held(&app.shared).entry(format!("{epoch}:{path}")).or_default());
    let opened = Open {
        app,
        path,
        shared,
        id: NEXT.fetch_add(1, Ordering::Relaxed),
        epoch,
        delete_on_close: flags & ffi::SQLITE_OPEN_DELETEONCLOSE != 0,
    };
    unsafe {
        (*handle).open = Box::into_raw(Box::new(opened));
        (*handle).base.pMethods = &raw const METHODS;
        if !out.is_null() {
            *out = flags;
        }
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: made by `Box::into_raw` in `open`, closed once.
    let opened = unsafe { Box::from_raw((*file.cast::<Handle>()).open) };
    held(&opened.shared).levels.remove(&opened.id);
    if opened.delete_on_close {
        let _ = opened.act(|disk| disk.delete(&opened.path, true));
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn read(file: *mut ffi::sqlite3_file, into: *mut c_void, amount: c_int, offset: i64) -> c_int {
    let opened = unsafe { open_of(file) };
    let amount = usize::try_from(amount).unwrap_or(0);
    // SAFETY: SQLite gives a buffer of `amount` bytes.
    let into = unsafe { std::slice::from_raw_parts_mut(into.cast::<u8>(), amount) };
    match opened.act(|disk| disk.read(&opened.path, usize::try_from(offset).unwrap_or(0), into)) {
        Ok(length) if length == amount => ffi::SQLITE_OK,
        Ok(_) => ffi::SQLITE_IOERR_SHORT_READ,
        Err(failure) => code(failure, ffi::SQLITE_IOERR_READ),
    }
}

unsafe extern "C" fn write(file: *mut ffi::sqlite3_file, from: *const c_void, amount: c_int, offset: i64) -> c_int {
    let opened = unsafe { open_of(file) };
    // SAFETY: SQLite gives a buffer of `amount` bytes.
    let from = unsafe { std::slice::from_raw_parts(from.cast::<u8>(), usize::try_from(amount).unwrap_or(0)) };
    answer(opened.act(|disk| disk.write(&opened.path, usize::try_from(offset).unwrap_or(0), from)), ffi::SQLITE_IOERR_WRITE)
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, size: i64) -> c_int {
    let opened = unsafe { open_of(file) };
    answer(opened.act(|disk| disk.truncate(&opened.path, usize::try_from(size).unwrap_or(0))), ffi::SQLITE_IOERR_TRUNCATE)
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, _flags: c_int) -> c_int {
    let opened = unsafe { open_of(file) };
    answer(opened.act(|disk| disk.sync(&opened.path)), ffi::SQLITE_IOERR_FSYNC)
}

fn answer(outcome: Result<(), Failure>, io: c_int) -> c_int {
    outcome.map_or_else(|failure| code(failure, io), |()| ffi::SQLITE_OK)
}

unsafe extern "C" fn file_size(file: *mut ffi::sqlite3_file, size: *mut i64) -> c_int {
    let opened = unsafe { open_of(file) };
    let length = opened.act(|disk| Ok(disk.size(&opened.path)));
    match length {
        Ok(length) => {
            unsafe { *size = i64::try_from(length).unwrap_or(i64::MAX) };
            ffi::SQLITE_OK
        }
        Err(failure) => code(failure, ffi::SQLITE_IOERR_FSTAT),
    }
}

unsafe extern "C" fn lock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    let opened = unsafe { open_of(file) };
    let mut shared = held(&opened.shared);
    let own = shared.levels.get(&opened.id).copied().unwrap_or(ffi::SQLITE_LOCK_NONE);
    if own >= level {
        return ffi::SQLITE_OK;
    }
    let others =
        shared.levels.iter().filter(|(id, _)| **id != opened.id).map(|(_, level)| *level).max().unwrap_or(ffi::SQLITE_LOCK_NONE);
    let free = match level {
        ffi::SQLITE_LOCK_SHARED => others < ffi::SQLITE_LOCK_PENDING,
        ffi::SQLITE_LOCK_RESERVED => others < ffi::SQLITE_LOCK_RESERVED,
        _ => others == ffi::SQLITE_LOCK_NONE,
    };
    if free {
        shared.levels.insert(opened.id, level);
        ffi::SQLITE_OK
    } else {
        if level == ffi::SQLITE_LOCK_EXCLUSIVE && others < ffi::SQLITE_LOCK_RESERVED {
            // Keep new readers out while the old ones finish.
            shared.levels.insert(opened.id, ffi::SQLITE_LOCK_PENDING);
        }
        ffi::SQLITE_BUSY
    }
}

unsafe extern "C" fn unlock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    let opened = unsafe { open_of(file) };
    let mut shared = held(&opened.shared);
    if level == ffi::SQLITE_LOCK_NONE {
        shared.levels.remove(&opened.id);
    } else {
        shared.levels.insert(opened.id, level);
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn check_reserved(file: *mut ffi::sqlite3_file, out: *mut c_int) -> c_int {
    let opened = unsafe { open_of(file) };
    let reserved = held(&opened.shared).levels.values().any(|level| *level >= ffi::SQLITE_LOCK_RESERVED);
    unsafe { *out = c_int::from(reserved) };
    ffi::SQLITE_OK
}

unsafe extern "C" fn file_control(_file: *mut ffi::sqlite3_file, _operation: c_int, _argument: *mut c_void) -> c_int {
    ffi::SQLITE_NOTFOUND
}

unsafe extern "C" fn sector_size(_file: *mut ffi::sqlite3_file) -> c_int {
    512
}

/// No promises: SQLite must assume that writes tear and are reordered.
unsafe extern "C" fn characteristics(_file: *mut ffi::sqlite3_file) -> c_int {
    0
}

unsafe extern "C" fn shm_map(
    file: *mut ffi::sqlite3_file,
    page: c_int,
    size: c_int,
    extend: c_int,
    out: *mut *mut c_void,
) -> c_int {
    let opened = unsafe { open_of(file) };
    let mut shared = held(&opened.shared);
    let page = usize::try_from(page).unwrap_or(0);
    if shared.regions.len() <= page && extend == 0 {
        unsafe { *out = ptr::null_mut() };
        return ffi::SQLITE_OK;
    }
    while shared.regions.len() <= page {
        // 64-bit words, so that SQLite's atomics on it are aligned. The boxes never move or shrink while a handle is open.
        shared.regions.push(vec![0_u64; usize::try_from(size).unwrap_or(0) / 8].into_boxed_slice());
    }
    unsafe { *out = shared.regions[page].as_mut_ptr().cast::<c_void>() };
    ffi::SQLITE_OK
}

unsafe extern "C" fn shm_lock(file: *mut ffi::sqlite3_file, offset: c_int, count: c_int, flags: c_int) -> c_int {
    let opened = unsafe { open_of(file) };
    let mut shared = held(&opened.shared);
    let first = usize::try_from(offset).unwrap_or(0);
    let range = first..first + usize::try_from(count).unwrap_or(0);
    let Some(slots) = shared.slots.get_mut(range) else { return ffi::SQLITE_MISUSE };
    let (me, wants_alone) = (opened.id, flags & ffi::SQLITE_SHM_EXCLUSIVE != 0);
    if flags & ffi::SQLITE_SHM_UNLOCK != 0 {
        for slot in slots {
            if wants_alone && slot.owner == Some(me) {
                slot.owner = None;
            } else {
                slot.sharers.retain(|id| *id != me);
            }
        }
        return ffi::SQLITE_OK;
    }
    let taken = slots
        .iter()
        .any(|slot| slot.owner.is_some_and(|id| id != me) || (wants_alone && slot.sharers.iter().any(|id| *id != me)));
    if taken {
        return ffi::SQLITE_BUSY;
    }
    for slot in slots {
        if wants_alone {
            slot.owner = Some(me);
        } else if !slot.sharers.contains(&me) {
            slot.sharers.push(me);
        }
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn shm_barrier(_file: *mut ffi::sqlite3_file) {
    fence(Ordering::SeqCst);
}

unsafe extern "C" fn shm_unmap(file: *mut ffi::sqlite3_file, _delete: c_int) -> c_int {
    let opened = unsafe { open_of(file) };
    for slot in &mut held(&opened.shared).slots {
        slot.sharers.retain(|id| *id != opened.id);
        if slot.owner == Some(opened.id) {
            slot.owner = None;
        }
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn delete(vfs: *mut ffi::sqlite3_vfs, name: *const c_char, sync_directory: c_int) -> c_int {
    let (app, path) = unsafe { (app_of(vfs), string(name)) };
    match held(&app.disk).delete(&path, sync_directory != 0) {
        Ok(()) => ffi::SQLITE_OK,
        Err(Failure::Missing) => ffi::SQLITE_IOERR_DELETE_NOENT,
        Err(failure) => code(failure, ffi::SQLITE_IOERR_DELETE),
    }
}

unsafe extern "C" fn access(vfs: *mut ffi::sqlite3_vfs, name: *const c_char, _flags: c_int, out: *mut c_int) -> c_int {
    let (app, path) = unsafe { (app_of(vfs), string(name)) };
    unsafe { *out = c_int::from(held(&app.disk).exists(&path)) };
    ffi::SQLITE_OK
}

unsafe extern "C" fn full_pathname(_vfs: *mut ffi::sqlite3_vfs, name: *const c_char, size: c_int, out: *mut c_char) -> c_int {
    let bytes = unsafe { CStr::from_ptr(name) }.to_bytes_with_nul();
    if bytes.len() > usize::try_from(size).unwrap_or(0) {
        return ffi::SQLITE_CANTOPEN;
    }
    // SAFETY: `out` holds `size` bytes, and `bytes` fits.
    unsafe { ptr::copy_nonoverlapping(bytes.as_ptr().cast::<c_char>(), out, bytes.len()) };
    ffi::SQLITE_OK
}

/// The same bytes each time: a run must repeat.
unsafe extern "C" fn randomness(_vfs: *mut ffi::sqlite3_vfs, count: c_int, out: *mut c_char) -> c_int {
    let count = usize::try_from(count).unwrap_or(0);
    // SAFETY: SQLite gives a buffer of `count` bytes.
    let out = unsafe { std::slice::from_raw_parts_mut(out.cast::<u8>(), count) };
    let mut value = 0x5e_u8;
    for byte in out {
        value = value.wrapping_mul(167).wrapping_add(13);
        *byte = value;
    }
    c_int::try_from(count).unwrap_or(0)
}

/// Busy handlers wait on other threads of the test, so time really has to pass.
unsafe extern "C" fn sleep(_vfs: *mut ffi::sqlite3_vfs, microseconds: c_int) -> c_int {
    std::thread::sleep(std::time::Duration::from_micros(u64::try_from(microseconds).unwrap_or(0)));
    microseconds
}

unsafe extern "C" fn current_time(_vfs: *mut ffi::sqlite3_vfs, out: *mut f64) -> c_int {
    unsafe { *out = 2_460_000.5 };
    ffi::SQLITE_OK
}

unsafe extern "C" fn current_time_64(_vfs: *mut ffi::sqlite3_vfs, out: *mut i64) -> c_int {
    unsafe { *out = 2_460_000 * 86_400_000 };
    ffi::SQLITE_OK
}

unsafe extern "C" fn last_error(_vfs: *mut ffi::sqlite3_vfs, _size: c_int, _out: *mut c_char) -> c_int {
    0
}
