//! The arguments of a program, all there before it is started.
//!
//! Through a pipe they would come while it runs: where this process is killed in between, the program would go on with a part of
//! them, under the key of the call.

use std::fs::File;

/// A file in memory with the text, to be read from its beginning. `None` where the system has none: then a pipe has to do.
#[cfg(target_os = "linux")]
pub fn ready(text: &[u8]) -> Option<File> {
    use std::io::{Seek, Write};

    let memory = rustix::fs::memfd_create("arguments", rustix::fs::MemfdFlags::CLOEXEC).ok()?;
    let mut file = File::from(memory);
    file.write_all(text).ok()?;
    file.rewind().ok()?;
    Some(file)
}

/// Elsewhere none is made.
#[cfg(not(target_os = "linux"))]
pub fn ready(_text: &[u8]) -> Option<File> {
    None
}
