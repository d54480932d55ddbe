//! Path arguments: a file, a folder, or `-` for stdin.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, stdin};
use std::path::{Path, PathBuf};

use crate::base::{SourceMap, Span};
use crate::diag::{Diagnostic, codes};
use crate::project::text::{self, FileError, MOST_BYTES};

use super::failure::Failure;

pub use crate::project::text::shown;

/// Folders that are never searched, besides hidden ones.
const SKIPPED: [&str; 2] = ["target", "node_modules"];

/// A text that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Name in messages: the path as given, with `/`; `<stdin>` for stdin.
    pub name: String,
    /// The whole text.
    pub text: String,
}

/// The files that `find` gives for the arguments, each once.
pub fn each_once(
    paths: &[PathBuf],
    find: impl Fn(&Path) -> Result<Vec<PathBuf>, Failure>,
) -> Result<Vec<PathBuf>, Failure> {
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    for path in paths {
        for file in find(path)? {
            let place = fs::canonicalize(&file).unwrap_or_else(|_| file.clone());
            if seen.insert(place) {
                all.push(file);
            }
        }
    }
    Ok(all)
}

/// What an argument is, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A flow, a folder of flows, stdin, or what is no file, such as a pipe.
    Flows,
    /// A file of scenarios.
    Scenarios,
    /// A `graphc.yaml`.
    Settings,
    /// A file of another kind.
    Other,
}

impl Kind {
    /// The kind of a path.
    pub fn of(path: &Path) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        match path.extension().and_then(|ending| ending.to_str()) {
            _ if name.ends_with(".test.yaml") => Self::Scenarios,
            _ if name == crate::project::SETTINGS => Self::Settings,
            Some("graph") => Self::Flows,
            _ if path.is_file() => Self::Other,
            _ => Self::Flows,
        }
    }
}

/// The files that one argument stands for, in order.
///
/// A folder stands for all `*.graph` files below it, by name; hidden folders, `target` and
/// `node_modules` are skipped, and links to folders aren't followed. A folder without any `*.graph`
/// file is a failure.
pub fn find(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    match path.is_dir() {
        true => below(path, ".graph"),
        false => Ok(vec![path.to_owned()]),
    }
}

/// All files below a folder whose name ends so, in order. None at all is a failure.
pub fn below(folder: &Path, ending: &str) -> Result<Vec<PathBuf>, Failure> {
    let found = every(folder, ending)?;
    if found.is_empty() {
        let folder = folder.display();
        return Err(
            Failure::unusable(format!("no `*{ending}` file in `{folder}`"))
                .help("name a file, or a folder that holds one"),
        );
    }
    Ok(found)
}

/// All files below a folder whose name ends so, in order; there may be none.
pub fn every(folder: &Path, ending: &str) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    search(folder, ending, &mut found)?;
    found.sort();
    Ok(found)
}

/// Files of a folder itself whose names end so, in order.
pub fn directly_in(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(ending)).collect();
    names.sort();
    let paths = names
        .into_iter()
        .map(|name| match folder.as_os_str() == "." {
            true => PathBuf::from(name),
            false => folder.join(name),
        });
    paths.filter(|path| path.is_file()).collect()
}

fn search(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        let unreadable = |error| failed("read the folder", &folder, &error);
        for entry in fs::read_dir(&folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let kind = entry.file_type().map_err(unreadable)?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let path = match folder.as_os_str() == "." {
                true => PathBuf::from(entry.file_name()),
                false => entry.path(),
            };
            if kind.is_dir() {
                if !name.starts_with('.') && !SKIPPED.contains(&name.as_ref()) {
                    waiting.push(path);
                }
            } else if name.ends_with(ending) && path.is_file() {
                found.push(path);
            }
        }
    }
    Ok(())
}

/// Reads one file, or stdin for `-`.
pub fn read(path: &Path) -> Result<Source, Failure> {
    if path.as_os_str() != "-" {
        let name = shown(path);
        return Ok(Source {
            text: text::read(path)?,
            name,
        });
    }
    let name = "<stdin>".to_owned();
    let text = text::read_from(stdin().lock(), 0, path, &name)?;
    Ok(Source { name, text })
}

/// What is wrong with a file that is there and could not be read, at its place: the first byte that is no text. `None`
/// where there is no such file, which is for who named it.
pub fn unreadable(path: &Path, failure: &Failure, sources: &mut SourceMap) -> Option<Diagnostic> {
    if !path.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).ok();
    let read = file.and_then(|file| file.take(MOST_BYTES).read_to_end(&mut bytes).ok());
    let at = match (read, std::str::from_utf8(&bytes)) {
        (Some(_), Err(error)) => error.valid_up_to(),
        _ => 0,
    };
    let text = String::from_utf8_lossy(&bytes);
    let id = sources.add(&shown(path), &text);
    let end = text.get(at..).and_then(|rest| rest.chars().next());
    let span = Span::new(id, at, at + end.map_or(0, char::len_utf8));
    let large = bytes.len() as u64 >= MOST_BYTES;
    let (code, help) = match (read, large) {
        (None, _) => (
            &codes::FILE_NOT_FOUND,
            "make it one that can be read, or take it out of the folder",
        ),
        (_, false) => (
            &codes::SYNTAX_ERROR,
            "save it as UTF-8 text, or take it out of the folder",
        ),
        (_, true) => (
            &codes::LIMIT_EXCEEDED,
            "split it into files that import from each other, or take it out of the folder",
        ),
    };
    let found = Diagnostic::new(code, failure.message.clone(), span);
    Some(found.help(help))
}

/// Writes a file whole or not at all: a reader sees the old text or the new one. What is no file,
/// such as a pipe or a device, is written to as it is.
pub fn replace(path: &Path, text: &str) -> Result<(), Failure> {
    if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return fs::write(path, text).map_err(|error| failed("write", path, &error));
    }
    // A link stays a link.
    let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    let draft = place.with_file_name(format!(".{name}.{}.draft", std::process::id()));
    let written = fs::write(&draft, text)
        .and_then(|()| match fs::metadata(&place) {
            Ok(old) => fs::set_permissions(&draft, old.permissions()),
            Err(_) => Ok(()),
        })
        .and_then(|()| fs::rename(&draft, &place));
    written.map_err(|error| {
        let _ = fs::remove_file(&draft);
        match error.kind() {
            std::io::ErrorKind::NotFound => {
                Failure::unusable(format!("there is no folder for `{}`", shown(path)))
            }
            _ => failed("write", path, &error),
        }
    })
}

/// Could not do something with a path.
pub(super) fn failed(what: &str, path: &Path, error: &std::io::Error) -> Failure {
    FileError::of(what, path, error).into()
}
