//! One file per thread in use, locked by its writer.
//!
//! The system drops the lock when the process dies, however it dies, so that nobody waits for a
//! timeout. The file's content doesn't matter; its name is a hash, for a thread id may hold any
//! character.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};

/// A lock held until it is dropped.
pub(super) struct ThreadLock {
    file: File,
    path: PathBuf,
}

/// How often, and after how long, a lock that is taken is tried again: looking at one takes far less.
const LOOKS: u32 = 10;
const LOOK: Duration = Duration::from_millis(3);

/// Folder of the lock files of a database.
pub(super) fn folder(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_os_string();
    name.push(".locks");
    PathBuf::from(name)
}

/// Locks a thread; `None` where it is locked already, by whomever.
pub(super) fn try_lock(folder: &Path, thread_id: &str) -> io::Result<Option<ThreadLock>> {
    std::fs::create_dir_all(folder)?;
    let path = path(folder, thread_id);
    let mut looks = LOOKS;
    loop {
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)?;
        match file.try_lock() {
            Ok(()) => {}
            // Somebody may only be looking.
            Err(TryLockError::WouldBlock) if looks > 0 => {
                looks -= 1;
                std::thread::sleep(LOOK);
                continue;
            }
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        // Whoever held it may have removed the file between our opening and locking it; then this
        // lock is on a file that nobody else will ever find.
        if is_at(&file, &path)? {
            return Ok(Some(ThreadLock { file, path }));
        }
    }
}

/// Whether a thread is locked, by whomever. Looks without taking the thread: many may look at the same time, and a writer
/// that comes meanwhile waits for the moment that takes ([`try_lock`]).
pub(super) fn is_locked(folder: &Path, thread_id: &str) -> io::Result<bool> {
    is_locked_at(&path(folder, thread_id))
}

fn is_locked_at(path: &Path) -> io::Result<bool> {
    let file = match File::open(path) {
        Ok(file) => file,
        // Nobody has it, or its writer has just gone.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    match file.try_lock_shared() {
        Ok(()) => file.unlock().map(|()| false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn path(folder: &Path, thread_id: &str) -> PathBuf {
    let hash = Sha256::digest(thread_id.as_bytes());
    let name: String = hash.iter().take(16).map(|b| format!("{b:02x}")).collect();
    folder.join(name)
}

/// Whether any thread of a database is locked, by whomever.
pub(super) fn any(folder: &Path) -> io::Result<bool> {
    let files = match std::fs::read_dir(folder) {
        Ok(files) => files,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    for file in files {
        if is_locked_at(&file?.path())? {
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
