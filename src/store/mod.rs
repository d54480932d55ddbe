//! Where threads are kept: [`MemoryStore`] and [`SqliteStore`] behind
//! [`crate::run::store::Store`].
//!
//! What both must mean is written once: `rules` says which records are refused and what a compaction keeps, `fold` how a
//! field is put together from its changes. `tests/store` runs one suite against every store.
//! When to append what, and what a record's content means, is the runtime's business.

mod fold;
mod memory;
mod rules;
mod sqlite;

use std::path::Path;
use std::sync::Arc;

pub use memory::MemoryStore;
pub use sqlite::{Options, SqliteStore, Sync};

use crate::base::name;
use crate::run::store::{Store, StoreError};

/// The forms of a store's URL, for messages.
const FORMS: &str = "`sqlite:PATH` or `memory`";

/// Opens the store that `url` names: `sqlite:PATH`, where a relative path is one from `base`, or
/// `memory`, which is gone with the process.
///
/// # Errors
/// Where the form isn't one of these, or the file can't be opened.
pub fn open(url: &str, base: &Path) -> Result<Arc<dyn Store>, StoreError> {
    open_with(url, base, Options::default())
}

/// [`open`], with options for a store on disk.
///
/// # Errors
/// Where the form isn't known, or the file can't be opened.
pub fn open_with(url: &str, base: &Path, options: Options) -> Result<Arc<dyn Store>, StoreError> {
    if url == "memory" {
        return Ok(Arc::new(MemoryStore::new()));
    }
    if let Some(path) = url.strip_prefix("sqlite:") {
        let path = sqlite_path(url, path)?;
        return Ok(Arc::new(SqliteStore::open_with(base.join(path), options)?));
    }
    // What follows the scheme may hold a password: only the scheme is shown.
    let scheme = url.split(':').next().unwrap_or_default();
    let hint = name::closest(scheme, ["sqlite", "memory"])
        .map(|near| format!("; did you mean `{near}`?"))
        .unwrap_or_default();
    Err(StoreError::Unavailable {
        message: format!("unknown store `{scheme}`: expected {FORMS}{hint}"),
    })
}

/// The path in `sqlite:PATH`. `sqlite://threads.db` is refused: as a URL it would name a host, as a
/// path the root folder, and neither is what was meant.
fn sqlite_path<'a>(url: &str, path: &'a str) -> Result<&'a Path, StoreError> {
    let reason = match path {
        "" => "names no file",
        ":memory:" => "isn't a file: write `memory` for a store that is gone with the process",
        _ if path.starts_with("//") && !path.starts_with("///") => {
            "has two slashes: write `sqlite:PATH`, or `sqlite:/PATH` from the root folder"
        }
        _ => return Ok(Path::new(path)),
    };
    Err(StoreError::Unavailable {
        message: format!("the store `{url}` {reason}"),
    })
}
