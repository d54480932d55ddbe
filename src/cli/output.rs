//! Results on stdout.

use std::borrow::Cow;
use std::io::{ErrorKind, IsTerminal, Write, stdout};
use std::path::Path;

use crate::diag::render::snippet::visible_styled;

use super::failure::Failure;
use super::{Context, files};

/// Writes a text to stdout, at once. A terminal gets nothing that steers it but colours; a file or pipe gets the text as it is.
///
/// A reader that has gone away (`graphc .. | head`) decides nothing: the command goes on to its own status, and what is
/// written for nobody is lost. A full disk and the like are failures.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = stdout().lock();
    let text = match stdout.is_terminal() {
        true => Cow::Owned(visible_styled(text)),
        false => Cow::Borrowed(text),
    };
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    written.or_else(|error| match error.kind() {
        ErrorKind::BrokenPipe => Ok(()),
        _ => Err(Failure::unusable(format!(
            "could not write to stdout: {error}"
        ))),
    })
}

/// Writes a text to the file of `--output`, or to stdout where there is none or it is `-`.
pub fn put(text: &str, file: Option<&Path>, context: &Context) -> Result<(), Failure> {
    match file.filter(|path| path.as_os_str() != "-") {
        None => print(text),
        Some(path) => {
            files::replace(path, text)?;
            context.say(&format!("wrote {}", files::shown(path)));
            Ok(())
        }
    }
}
