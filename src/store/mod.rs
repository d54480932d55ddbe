//! Where threads are kept: [`MemoryStore`], [`SqliteStore`] and [`PostgresStore`] behind
//! [`crate::run::store::Store`].
//!
//! What all must mean is written once: `rules` says which records are refused and what a compaction keeps, `fold` how a
//! field is put together from its changes, `items` what a search of long-term memory comes to, `sweep` when what has run
//! out goes, `append`, `row` and `change` how records are rows of a database. `tests/store` runs one suite against every store.
//! When to append what, and what a record's content means, is the runtime's business.

mod append;
mod change;
mod fold;
mod holder;
mod items;
mod memory;
mod postgres;
pub mod private;
mod reach;
mod row;
mod rules;
mod sqlite;
mod sweep;

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

pub use memory::MemoryStore;
pub use postgres::{Cancel, Connection, PostgresStore, Server, Unreachable, lost, words};
pub use reach::reach;
pub use sqlite::{Options, SqliteStore, Sync};

use crate::base::name;
use crate::project::spec::address::{STORE_FORMS, is_file_path};
use crate::run::store::{Store, StoreError};

/// Opens the store that `url` names: `sqlite:PATH`, where a relative path is one from `base`,
/// `postgres://USER:PASSWORD@HOST/DATABASE`, or `memory`, which is gone with the process.
///
/// # Errors
/// Where the form isn't one of these, or the file or the database can't be opened.
pub fn open(url: &str, base: &Path) -> Result<Arc<dyn Store>, StoreError> {
    open_with(url, base, Options::default())
}

/// [`open`], with options for a store that outlives the process.
///
/// # Errors
/// Where the form isn't known, or the file or the database can't be opened.
pub fn open_with(url: &str, base: &Path, options: Options) -> Result<Arc<dyn Store>, StoreError> {
    if url == "memory" {
        return Ok(Arc::new(MemoryStore::new()));
    }
    if let Some(path) = url.strip_prefix("sqlite:") {
        let path = sqlite_path(url, path)?;
        return Ok(Arc::new(SqliteStore::open_with(base.join(path), options)?));
    }
    if url.starts_with("postgres://") || url.starts_with("postgresql://") {
        return Ok(Arc::new(PostgresStore::open_with(url, base, options)?));
    }
    Err(unknown(url))
}

/// That nothing is known of a store of that form.
fn unknown(url: &str) -> StoreError {
    if url.starts_with("postgres:") || url.starts_with("postgresql:") {
        return StoreError::Unavailable {
            message: format!(
                "the address of the store has no `//` behind `postgres:`: expected {STORE_FORMS}"
            ),
        };
    }
    // What follows the scheme may hold a password: only the scheme is shown.
    let scheme = url.split(':').next().unwrap_or_default();
    if scheme == "memory" {
        return StoreError::Unavailable {
            message: "a store in memory has no path: write `memory` alone".into(),
        };
    }
    let hint = name::closest(scheme, ["sqlite", "postgres", "postgresql", "memory"])
        .map(|near| format!("; did you mean `{near}`?"))
        .unwrap_or_default();
    StoreError::Unavailable {
        message: format!("unknown store `{scheme}`: expected {STORE_FORMS}{hint}"),
    }
}

/// A store's URL as it may be shown: without user and password. A relative path of a certificate is one from `base`.
pub fn shown<'a>(url: &'a str, base: &Path) -> Cow<'a, str> {
    match url.split_once(':') {
        Some(("postgres" | "postgresql", _)) => match PostgresStore::shown(url, base) {
            Some(shown) => Cow::Owned(shown),
            None => Cow::Borrowed("postgres://.."),
        },
        Some(("sqlite", _)) | None => Cow::Borrowed(url),
        Some((scheme, _)) => Cow::Borrowed(scheme),
    }
}

/// A store's URL for a command that can be pasted: as it is, but without a password.
pub fn pasted(url: &str) -> Cow<'_, str> {
    match url.split_once(':') {
        Some(("postgres" | "postgresql", _)) if PostgresStore::has_password(url) => {
            shown(url, Path::new(""))
        }
        _ => Cow::Borrowed(url),
    }
}

/// The path in `sqlite:PATH`.
fn sqlite_path<'a>(url: &str, path: &'a str) -> Result<&'a Path, StoreError> {
    let reason = match path {
        "" => "names no file",
        ":memory:" => "isn't a file: write `memory` for a store that is gone with the process",
        _ if is_file_path(path) => return Ok(Path::new(path)),
        _ => "has two slashes: write `sqlite:PATH`, or `sqlite:/PATH` from the root folder",
    };
    Err(StoreError::Unavailable {
        message: format!("the store `{url}` {reason}"),
    })
}
