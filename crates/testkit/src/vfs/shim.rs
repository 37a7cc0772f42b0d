//! SQLite's own file layer with a look at every change. The one place with `unsafe`: SQLite calls it through C.
#![allow(unsafe_code, reason = "a file layer of SQLite is a table of C functions")]

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, Once, PoisonError, Weak};

use rusqlite::ffi::{self, sqlite3_file, sqlite3_io_methods, sqlite3_vfs};

use super::{DiskFault, FileOp, State};

/// A file that is being watched.
#[derive(Clone)]
struct Open {
    state: Arc<State>,
    name: String,
    /// The functions that SQLite's own layer has for it.
    own: &'static sqlite3_io_methods,
}

#[derive(Default)]
struct Known {
    folders: Vec<Weak<State>>,
    /// By the address of SQLite's object, which stands for the file until it is closed.
    files: HashMap<usize, Open>,
    /// Tables of functions with ours in them, by the address of the original.
    tables: HashMap<usize, &'static sqlite3_io_methods>,
}

static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);
static INSTALLED: Once = Once::new();

fn known() -> MutexGuard<'static, Known> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Watches databases below the state's folder.
pub(super) fn install(state: &Arc<State>) {
    INSTALLED.call_once(register);
    let mut known = known();
    known.folders.retain(|state| state.strong_count() > 0);
    known.folders.push(Arc::downgrade(state));
}

/// SQLite's own layer.
fn own_layer() -> *mut sqlite3_vfs {
    // SAFETY: the name is a C string; SQLite's layers live as long as the process.
    unsafe { ffi::sqlite3_vfs_find(c"unix".as_ptr()) }
}

/// Puts a layer above SQLite's own that is the same but for opening and removing files.
fn register() {
    let own = own_layer();
    assert!(!own.is_null(), "SQLite has no layer for files of this system");
    // SAFETY: `own` was found and is never removed; the copy is never freed. Its functions take the layer only to find
    // its `pAppData`, which is the same.
    unsafe {
        let mut layer = Box::new(*own);
        layer.zName = c"turnkeep-watched".as_ptr();
        layer.pNext = std::ptr::null_mut();
        layer.xOpen = Some(open);
        layer.xDelete = Some(remove);
        ffi::sqlite3_vfs_register(Box::leak(layer), 1);
    }
}

/// The state that watches a file, and the file's name in its folder.
fn watcher(path: *const c_char) -> Option<(Arc<State>, String)> {
    if path.is_null() {
        return None;
    }
    // SAFETY: SQLite passes a C string or null.
    let path = Path::new(unsafe { CStr::from_ptr(path) }.to_str().ok()?);
    let folder = path.parent()?.canonicalize().ok()?;
    let state = known().folders.iter().filter_map(Weak::upgrade).find(|state| state.folder == folder)?;
    Some((state, path.file_name()?.to_str()?.to_owned()))
}

unsafe extern "C" fn open(
    _: *mut sqlite3_vfs,
    path: *const c_char,
    file: *mut sqlite3_file,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    let own = own_layer();
    // SAFETY: SQLite's own function with SQLite's own arguments; the object is as large as it asks for.
    let result = unsafe { (*own).xOpen.map_or(ffi::SQLITE_CANTOPEN, |open| open(own, path, file, flags, out)) };
    if result == ffi::SQLITE_OK
        && let Some((state, name)) = watcher(path)
    {
        // SAFETY: the layer has opened the file, and its tables of functions are static.
        unsafe {
            let own = &*(*file).pMethods;
            let mut known = known();
            known.files.insert(file as usize, Open { state, name, own });
            (*file).pMethods = *known.tables.entry(std::ptr::from_ref(own) as usize).or_insert_with(|| watching(own));
        }
    }
    result
}

/// The same functions but for those that change a file.
fn watching(own: &sqlite3_io_methods) -> &'static sqlite3_io_methods {
    let mut table = Box::new(*own);
    table.xClose = Some(close);
    table.xWrite = Some(write);
    table.xTruncate = Some(truncate);
    table.xSync = Some(sync);
    Box::leak(table)
}

unsafe extern "C" fn remove(_: *mut sqlite3_vfs, path: *const c_char, sync_folder: c_int) -> c_int {
    let own = own_layer();
    // SAFETY: SQLite's own function with SQLite's own arguments.
    let result = unsafe { (*own).xDelete.map_or(ffi::SQLITE_IOERR_DELETE, |delete| delete(own, path, sync_folder)) };
    if let Some((state, name)) = watcher(path).filter(|_| result == ffi::SQLITE_OK) {
        state.note(&name, FileOp::Remove);
    }
    result
}

fn opened(file: *mut sqlite3_file) -> Option<Open> {
    known().files.get(&(file as usize)).cloned()
}

fn code(fault: DiskFault, broken: c_int) -> c_int {
    match fault {
        DiskFault::Full => ffi::SQLITE_FULL,
        DiskFault::Broken => broken,
    }
}

unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    let Some(open) = known().files.remove(&(file as usize)) else {
        return ffi::SQLITE_IOERR_CLOSE;
    };
    // SAFETY: SQLite's own function for its own object.
    unsafe { open.own.xClose.map_or(ffi::SQLITE_IOERR_CLOSE, |close| close(file)) }
}

unsafe extern "C" fn write(file: *mut sqlite3_file, bytes: *const c_void, length: c_int, at: i64) -> c_int {
    let Some(open) = opened(file) else {
        return ffi::SQLITE_IOERR_WRITE;
    };
    if let Some(fault) = open.state.next_fault() {
        return code(fault, ffi::SQLITE_IOERR_WRITE);
    }
    // SAFETY: SQLite's own function with SQLite's own arguments.
    let result = unsafe { open.own.xWrite.map_or(ffi::SQLITE_IOERR_WRITE, |write| write(file, bytes, length, at)) };
    if result == ffi::SQLITE_OK {
        let length = usize::try_from(length).unwrap_or_default();
        // SAFETY: SQLite asked for this many bytes from there to be written.
        let bytes = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), length) };
        open.state.wrote(&open.name, at.unsigned_abs(), bytes);
    }
    result
}

unsafe extern "C" fn truncate(file: *mut sqlite3_file, length: i64) -> c_int {
    let Some(open) = opened(file) else {
        return ffi::SQLITE_IOERR_TRUNCATE;
    };
    // SAFETY: SQLite's own function with SQLite's own arguments.
    let result = unsafe { open.own.xTruncate.map_or(ffi::SQLITE_IOERR_TRUNCATE, |cut| cut(file, length)) };
    if result == ffi::SQLITE_OK {
        open.state.note(&open.name, FileOp::Cut(length.unsigned_abs()));
    }
    result
}

unsafe extern "C" fn sync(file: *mut sqlite3_file, flags: c_int) -> c_int {
    let Some(open) = opened(file) else {
        return ffi::SQLITE_IOERR_FSYNC;
    };
    if let Some(fault) = open.state.next_fault() {
        return code(fault, ffi::SQLITE_IOERR_FSYNC);
    }
    // SAFETY: SQLite's own function with SQLite's own arguments.
    let result = unsafe { open.own.xSync.map_or(ffi::SQLITE_IOERR_FSYNC, |sync| sync(file, flags)) };
    if result == ffi::SQLITE_OK {
        open.state.note(&open.name, FileOp::Sync);
    }
    result
}
