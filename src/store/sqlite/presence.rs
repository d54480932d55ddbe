//! Whether the file is still where it was opened.
//!
//! An open file can be written after it was moved or removed; what is written then is lost to everybody
//! who opens the store by its name.

use std::path::Path;

use super::error::Failure;
use crate::run::store::StoreError;

/// What tells a file from another of its name: device and number, where the system has such.
type Identity = Option<(u64, u64)>;

/// A file as it was when it was opened.
pub(super) struct Presence(Identity);

impl Presence {
    /// Of the file that is there now.
    pub(super) fn of(path: &Path) -> Self {
        Self(identity(path))
    }

    /// # Errors
    /// Where it has been moved, removed or replaced since.
    pub(super) fn check(&self, failure: &Failure) -> Result<(), StoreError> {
        if self.0.is_none() || identity(failure.path()) == self.0 {
            return Ok(());
        }
        Err(failure
            .because("the file was moved or removed while it was in use; put it back, then resume"))
    }
}

#[cfg(unix)]
fn identity(path: &Path) -> Identity {
    use std::os::unix::fs::MetadataExt;
    let there = std::fs::metadata(path).ok()?;
    Some((there.dev(), there.ino()))
}

/// Elsewhere an open file can't be moved or removed.
#[cfg(not(unix))]
fn identity(_path: &Path) -> Identity {
    None
}
