//! Texts of files: read whole, as UTF-8, and not without a bound.

use std::fs;
use std::io::Read;
use std::path::Path;

/// The most that one file may hold. Spans and memory are made for texts that people write.
pub const MOST_BYTES: u64 = 16 << 20;

/// Why there is nothing to be had from a path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FileError {
    /// What is wrong, with the path: lower case, no full stop.
    pub message: String,
    /// What to do, where that is an action.
    pub help: Option<&'static str>,
}

impl FileError {
    fn new(message: String) -> Self {
        Self {
            message,
            help: None,
        }
    }

    /// Of the system: could not do `what` ("read", "find", ..) with a path.
    pub fn of(what: &str, path: &Path, error: &std::io::Error) -> Self {
        let path = shown(path);
        Self::new(match error.kind() {
            std::io::ErrorKind::NotFound => format!("there is no file or folder `{path}`"),
            _ => format!("could not {what} `{path}`: {error}"),
        })
    }

    /// What is wrong, without the path where that stands first.
    pub fn reason(&self) -> &str {
        match self.message.rsplit_once("` ") {
            Some((_, reason)) => reason,
            None => &self.message,
        }
    }
}

/// Reads one file.
///
/// # Errors
/// Where it isn't there, can't be read, is a named pipe, is larger than [`MOST_BYTES`] or no UTF-8.
pub fn read(path: &Path) -> Result<String, FileError> {
    refuse_pipe(path)?;
    let file = fs::File::open(path).map_err(|error| FileError::of("read", path, &error))?;
    let size = file.metadata().map_or(0, |about| about.len());
    read_from(file, size, path, &shown(path))
}

/// Reads all of something that is not a file by its path, such as stdin. `size` is how much is likely there, in bytes;
/// `name` is what messages call it.
///
/// # Errors
/// As [`read`] has them.
pub fn read_from(from: impl Read, size: u64, path: &Path, name: &str) -> Result<String, FileError> {
    let mut bytes = Vec::with_capacity(size.min(MOST_BYTES) as usize + 1);
    from.take(MOST_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| FileError::of("read", path, &error))?;
    if bytes.len() as u64 > MOST_BYTES {
        let most = MOST_BYTES >> 20;
        return Err(FileError::new(format!(
            "`{name}` is larger than {most} MiB"
        )));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        FileError::new(format!("`{name}` is not UTF-8: wrong byte at offset {at}"))
    })
}

/// Refuses a named pipe, which gives nothing until somebody writes to it. What a shell makes for `<(..)` is none.
#[cfg(unix)]
fn refuse_pipe(path: &Path) -> Result<(), FileError> {
    use std::os::unix::fs::FileTypeExt;
    let is_pipe = fs::metadata(path).is_ok_and(|about| about.file_type().is_fifo());
    let of_shell = ["/dev", "/proc"]
        .iter()
        .any(|folder| path.starts_with(folder));
    match is_pipe && !of_shell {
        false => Ok(()),
        true => Err(FileError {
            message: format!("`{}` is a pipe, and may never end", shown(path)),
            help: Some("name a file, or `-` for stdin"),
        }),
    }
}

/// Other systems have none among files.
#[cfg(not(unix))]
fn refuse_pipe(_: &Path) -> Result<(), FileError> {
    Ok(())
}

/// The path as messages show it: with `/`, without a leading `./`.
pub fn shown(path: &Path) -> String {
    let text = path.to_string_lossy();
    let text = match std::path::MAIN_SEPARATOR {
        '/' => text.into_owned(),
        separator => text.replace(separator, "/"),
    };
    text.strip_prefix("./").map_or(text.clone(), str::to_owned)
}
