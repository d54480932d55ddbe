//! Whether a store can be reached. What is made to try that is gone behind it.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;

use super::{Server, shown, sqlite_path, unknown};

/// Tries the store that `url` names, as [`open`](super::open) takes it. Gives what was seen, in words.
///
/// # Errors
/// Why it can't be opened, in words without secrets.
pub async fn reach(url: &str, base: &Path) -> Result<String, String> {
    if url == "memory" {
        return Ok("threads are gone with the process".to_owned());
    }
    if let Some(path) = url.strip_prefix("sqlite:") {
        let path = base.join(sqlite_path(url, path).map_err(|error| error.to_string())?);
        if !path.exists() {
            return match can_be_made(&path) {
                Ok(()) => Ok("the file is made by the first run".to_owned()),
                Err(error) => Err(format!("`{url}` can't be made: {error}")),
            };
        }
        let opened = OpenOptions::new().read(true).write(true).open(&path);
        return match opened {
            Ok(_) => Ok("the file can be read and written".to_owned()),
            Err(error) => Err(format!("`{url}` can't be opened: {error}")),
        };
    }
    if url.starts_with("postgres://") || url.starts_with("postgresql://") {
        let server = Server::parse(url, base).map_err(|error| error.to_string())?;
        let connection = server.connect().await.map_err(|error| error.message)?;
        drop(connection);
        return Ok(format!("`{}` takes connections", shown(url, base)));
    }
    Err(unknown(url).to_string())
}

/// Tries whether a file that is not there can be made: by a folder in the nearest one above it that is.
fn can_be_made(path: &Path) -> io::Result<()> {
    let above = path.ancestors().skip(1).find(|above| above.exists());
    let tried = above
        .unwrap_or(Path::new("."))
        .join(format!(".graphc-{}", std::process::id()));
    fs::create_dir(&tried)?;
    fs::remove_dir(&tried)
}
