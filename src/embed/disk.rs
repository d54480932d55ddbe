//! Files of a flow, read from disk for the compiler.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::resolve::{LoadError, Loader};

use crate::project::text;

/// Reads below one folder. The first file has been read already: it may have come from stdin.
#[derive(Debug)]
pub struct Disk {
    /// The project's folder, without links.
    root: PathBuf,
    /// Path of the first file in the project.
    entry: String,
    /// Its text.
    text: Arc<str>,
    absent: Mutex<Vec<PathBuf>>,
}

impl Disk {
    /// A flow whose first file was read.
    pub fn new(root: &Path, entry: String, text: String) -> Self {
        Self {
            root: root.to_owned(),
            entry,
            text: text.into(),
            absent: Mutex::default(),
        }
    }

    /// Files that were asked for and that are not there.
    pub fn absent(self) -> Vec<PathBuf> {
        self.absent
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The file itself. A link is followed within the project alone: what a prompt names goes to a model.
    fn place(&self, path: &str) -> Result<PathBuf, LoadError> {
        let named = self.root.join(path);
        let Ok(place) = named.canonicalize() else {
            let mut absent = self.absent.lock().unwrap_or_else(PoisonError::into_inner);
            absent.push(named);
            return Err(LoadError::NotFound);
        };
        let unreadable = |why: &str| Err(LoadError::Unreadable(why.to_owned()));
        if !place.starts_with(&self.root) {
            return unreadable("it is a link that leads out of the project");
        }
        match place.metadata() {
            Ok(about) if about.is_dir() => unreadable("it is a folder"),
            Ok(about) if !about.is_file() => unreadable("it is a pipe or a device"),
            _ => Ok(place),
        }
    }
}

impl Loader for Disk {
    fn read(&self, path: &str) -> Result<Arc<str>, LoadError> {
        if path == self.entry {
            return Ok(Arc::clone(&self.text));
        }
        let place = self.place(path)?;
        text::read(&place)
            .map(Into::into)
            .map_err(|error| LoadError::Unreadable(error.reason().to_owned()))
    }
}
