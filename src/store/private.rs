//! Folders and files that their owner alone may look into: threads hold conversations.
//!
//! Rights are given where something is made; what is there already keeps those that somebody gave it.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::path::Path;

/// Makes a folder, and those above it that are missing, with the rights 0700.
///
/// # Errors
/// Of the system.
pub fn make_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Options that read and write a file, and make one that is missing with the rights 0600.
pub fn file_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
