//! Whether a store can be reached, without making or changing anything.

use std::fs::OpenOptions;
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
            return Ok("the file is made by the first run".to_owned());
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
