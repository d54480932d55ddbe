//! What SQLite and the system report, in words that say what can be done.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{Error, ErrorCode};

use crate::run::store::StoreError;

/// Whether a file, or one that would be made there, lies in a file system that is mounted for reading alone. SQLite says of
/// such a file what it says of one that it can't open.
fn is_read_only(path: &Path) -> bool {
    let opened = match path.exists() {
        true => File::options().append(true).open(path),
        false => {
            let mut probe = path.as_os_str().to_owned();
            probe.push("-probe");
            let made = File::create_new(&probe);
            if made.is_ok() {
                let _ = std::fs::remove_file(&probe);
            }
            made
        }
    };
    opened.is_err_and(|error| error.kind() == io::ErrorKind::ReadOnlyFilesystem)
}

/// Turns errors of one kind of work on one file into [`StoreError`]s.
#[derive(Clone)]
pub(super) struct Failure {
    path: Arc<PathBuf>,
    /// What couldn't be done, as in "can't be *read*".
    doing: &'static str,
}

impl Failure {
    /// Of work such as `read` on the file.
    pub(super) fn new(path: &Path, doing: &'static str) -> Self {
        Self {
            path: Arc::new(path.to_path_buf()),
            doing,
        }
    }

    /// The same file, other work.
    pub(super) fn doing(&self, doing: &'static str) -> Self {
        Self {
            path: self.path.clone(),
            doing,
        }
    }

    /// The file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The error of an SQLite call.
    pub(super) fn of(&self, error: Error) -> StoreError {
        let path = self.path.display();
        let doing = self.doing;
        let unavailable = |message: String| StoreError::Unavailable { message };
        let corrupt = |message: String| StoreError::Corrupt { message };
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => unavailable(format!(
                "the store `{path}` can't be {doing}: another program keeps it locked; wait until \
                 it is done, or close it"
            )),
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => unavailable(format!(
                "the store `{path}` can't be {doing}: it is read-only; allow writing to the file, \
                 to those beside it (`-wal`, `-shm`) and to its folder, or choose another store"
            )),
            Some(ErrorCode::DiskFull) => unavailable(format!(
                "the store `{path}` can't be {doing}: the disk is full; free some space, then \
                 resume"
            )),
            Some(ErrorCode::SystemIoFailure) => unavailable(format!(
                "the store `{path}` can't be {doing}: {error}; check the disk and the space left \
                 on it, then resume"
            )),
            Some(ErrorCode::CannotOpen) if is_read_only(&self.path) => unavailable(format!(
                "the store `{path}` can't be {doing}: its file system is read-only; mount it for \
                 writing, or choose another store"
            )),
            Some(ErrorCode::CannotOpen) => unavailable(format!(
                "the store `{path}` can't be {doing}: check that it is a file and that its folder \
                 may be written"
            )),
            Some(ErrorCode::NotADatabase) => corrupt(format!(
                "`{path}` is no SQLite database: choose another file for the store"
            )),
            Some(ErrorCode::DatabaseCorrupt) => corrupt(format!(
                "the store `{path}` is damaged ({error}): restore it from a copy, or let \
                 `sqlite3 {path} .recover` save what can be read"
            )),
            _ => match error {
                // A column that doesn't hold what its table says, or text that isn't UTF-8.
                Error::FromSqlConversionFailure(..)
                | Error::IntegralValueOutOfRange(..)
                | Error::InvalidColumnType(..)
                | Error::Utf8Error(..) => corrupt(format!(
                    "the store `{path}` holds what this program doesn't write: {error}"
                )),
                _ => unavailable(format!("the store `{path}` can't be {doing}: {error}")),
            },
        }
    }

    /// What was read of a thread makes no sense.
    pub(super) fn corrupt(&self, thread_id: &str, what: &str, reason: &str) -> StoreError {
        StoreError::Corrupt {
            message: format!(
                "the store `{}` is damaged: {what} of thread `{thread_id}` {reason}",
                self.path.display()
            ),
        }
    }

    /// What was read of memory makes no sense.
    pub(super) fn damaged(&self, what: &str) -> StoreError {
        let path = self.path.display();
        StoreError::Corrupt {
            message: format!("the store `{path}` is damaged: {what} can't be read"),
        }
    }

    /// Anything else that keeps the file from being worked on.
    pub(super) fn because(&self, reason: &str) -> StoreError {
        StoreError::Unavailable {
            message: format!(
                "the store `{}` can't be {}: {reason}",
                self.path.display(),
                self.doing
            ),
        }
    }
}
