//! Results on stdout.

use std::io::{ErrorKind, Write, stdout};

use super::exit::Exit;
use super::failure::Failure;

/// Writes a text to stdout, at once.
///
/// A reader that has gone away (`graphc .. | head`) ends the command quietly with status 0; a
/// full disk and the like are failures.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = stdout().lock();
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    written.map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Failure::silent(Exit::Done),
        _ => Failure::unusable(format!("could not write to stdout: {error}")),
    })
}
