//! Files of a flow, read from disk for the compiler.

use std::path::PathBuf;
use std::sync::Arc;

use crate::resolve::{LoadError, Loader};

use super::files;

/// Reads below one folder. The first file has been read already: it may have come from stdin.
#[derive(Debug)]
pub struct Disk {
    /// The project's folder.
    pub root: PathBuf,
    /// Path of the first file in the project.
    pub entry: String,
    /// Its text.
    pub text: Arc<str>,
}

impl Loader for Disk {
    fn read(&self, path: &str) -> Result<Arc<str>, LoadError> {
        if path == self.entry {
            return Ok(Arc::clone(&self.text));
        }
        let place = self.root.join(path);
        if place.is_dir() {
            return Err(LoadError::Unreadable("it is a folder".to_owned()));
        }
        match place.try_exists() {
            Ok(false) => Err(LoadError::NotFound),
            _ => files::read(&place)
                .map(|source| source.text.into())
                .map_err(|failure| LoadError::Unreadable(reason(failure.message))),
        }
    }
}

/// What stands behind the path in a failure's message: the compiler names the path itself.
fn reason(message: String) -> String {
    match message.rsplit_once("` ") {
        Some((_, reason)) => reason.to_owned(),
        None => message,
    }
}
