//! One file per thread in use, locked by its writer.
//!
//! The system drops the lock when the process dies, however it dies, so that nobody waits for a
//! timeout. The file's content doesn't matter; its name is a hash, for a thread id may hold any
//! character.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::store::private;

/// How often a lock is tried that only those have who look whether it is held.
const TRIES: u32 = 1000;

/// A lock held until it is dropped.
pub(super) struct ThreadLock {
    file: File,
    path: PathBuf,
}

/// Folder of the lock files of a database.
pub(super) fn folder(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_os_string();
    name.push(".locks");
    PathBuf::from(name)
}

/// The lock file of a thread.
fn path(folder: &Path, thread_id: &str) -> PathBuf {
    let hash = Sha256::digest(thread_id.as_bytes());
    let name: String = hash.iter().take(16).map(|b| format!("{b:02x}")).collect();
    folder.join(name)
}

/// Locks a thread; `None` where it is locked already, by whomever. Those who only look are waited for.
pub(super) fn try_lock(folder: &Path, thread_id: &str) -> io::Result<Option<ThreadLock>> {
    private::make_folder(folder)?;
    let path = path(folder, thread_id);
    let mut tries = 0;
    loop {
        let file = private::file_options().open(&path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                tries += 1;
                if tries > TRIES || is_locked(&file)? {
                    return Ok(None);
                }
                // Not all at the same time: who tries looks too, and is in the others' way.
                sleep(Duration::from_micros(u64::from(
                    50 + 7 * (tries + std::process::id()) % 100,
                )));
                continue;
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
        // Whoever held it may have removed the file between our opening and locking it; then this
        // lock is on a file that nobody else will ever find.
        if is_at(&file, &path)? {
            return Ok(Some(ThreadLock { file, path }));
        }
    }
}

/// Whether a writer holds the lock of a file. Looking takes it together with others who look, for a moment in which a writer
/// waits.
fn is_locked(file: &File) -> io::Result<bool> {
    match file.try_lock_shared() {
        Ok(()) => file.unlock().map(|()| false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Opens a lock file to look at it; `None` where nobody has locked it.
fn look(path: &Path) -> io::Result<Option<File>> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        // There was no writer, or it has just gone.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether a thread is locked, by whomever.
pub(super) fn is_held(folder: &Path, thread_id: &str) -> io::Result<bool> {
    match look(&path(folder, thread_id))? {
        Some(file) => is_locked(&file),
        None => Ok(false),
    }
}

/// Whether any thread of a database is locked, by whomever.
pub(super) fn any(folder: &Path) -> io::Result<bool> {
    let files = match std::fs::read_dir(folder) {
        Ok(files) => files,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    for file in files {
        if let Some(file) = look(&file?.path())?
            && is_locked(&file)?
        {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let ours = file.metadata()?;
    match std::fs::metadata(path) {
        Ok(there) => Ok((ours.dev(), ours.ino()) == (there.dev(), there.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Elsewhere the files stay, see [`ThreadLock::drop`].
#[cfg(not(unix))]
fn is_at(_file: &File, _path: &Path) -> io::Result<bool> {
    Ok(true)
}

impl Drop for ThreadLock {
    fn drop(&mut self) {
        // Removed while it is locked, so that it is ours; unless somebody cleared the folder, and
        // the file there is the next writer's. A file that can't be removed is used again. Only
        // where an open file has an identity can others tell (`is_at`).
        if cfg!(unix) && is_at(&self.file, &self.path).unwrap_or(false) {
            let _ = std::fs::remove_file(&self.path);
        }
        // Said outright: a process that is being started may hold a copy of the handle for a
        // moment, and closing ours alone would leave the lock with it.
        let _ = self.file.unlock();
    }
}
