//! Files as they were in a commit, for `--against git:REV`.
//!
//! The `git` on the path does the work; nothing is checked out and nothing is written.

use std::path::{Component, Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use crate::resolve::{LoadError, Loader};

use super::{Failure, files};
use crate::project;
use crate::project::text::MOST_BYTES;

/// A commit of the repository around a folder.
#[derive(Debug, Clone)]
pub struct Commit {
    /// The repository's folder, without links.
    top: PathBuf,
    /// The revision as it was named.
    pub name: String,
    /// The commit that it stands for.
    id: String,
}

impl Commit {
    /// The commit that `against`, as in `git:main`, names for a flow in `folder`.
    pub fn find(against: &str, folder: &Path) -> Result<Self, Failure> {
        let Some(name) = against.strip_prefix("git:").filter(|name| !name.is_empty()) else {
            let message = format!("`--against` takes `git:REV`, not `{against}`");
            return Err(Failure::unusable(message)
                .help("name a commit, a branch or a tag: `--against git:main`"));
        };
        let folder = project::canonical(folder)?;
        let top = git(&folder, &["rev-parse", "--show-toplevel"])?;
        if !top.status.success() {
            let shown = files::shown(&folder);
            return Err(Failure::unusable(format!(
                "`{shown}` is in no git repository: there is no `{name}` to compare with"
            )));
        }
        let top = project::canonical(Path::new(text(&top).trim_end()))?;
        let commit = format!("{name}^{{commit}}");
        // A name that begins with a dash would be an option.
        let found = match name.starts_with('-') {
            true => None,
            false => Some(git(&top, &["rev-parse", "--verify", "--quiet", &commit])?),
        };
        match found.filter(|found| found.status.success()) {
            Some(found) => Ok(Self {
                id: text(&found).trim_end().to_owned(),
                name: name.to_owned(),
                top,
            }),
            None => {
                let message = format!("git knows no revision `{name}`");
                Err(Failure::unusable(message).help("`git log --oneline` lists commits"))
            }
        }
    }

    /// The text of a file, an absolute path without `..` in it, as it was; `None` where there was none.
    pub fn read(&self, path: &Path) -> Result<Option<String>, Failure> {
        let Ok(below) = path.strip_prefix(&self.top) else {
            return Ok(None);
        };
        let below: Vec<String> = below
            .components()
            .filter_map(|part| match part {
                Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
                _ => None,
            })
            .collect();
        let object = format!("{}:{}", self.id, below.join("/"));
        let kind = git(&self.top, &["cat-file", "-t", &object])?;
        if !kind.status.success() || text(&kind).trim_end() != "blob" {
            return Ok(None);
        }
        let content = git(&self.top, &["cat-file", "blob", &object])?;
        let shown = format!("{} in {}", below.join("/"), self.name);
        if content.stdout.len() as u64 > MOST_BYTES {
            let most = MOST_BYTES >> 20;
            return Err(Failure::unusable(format!(
                "`{shown}` is larger than {most} MiB"
            )));
        }
        match String::from_utf8(content.stdout) {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(Failure::unusable(format!("`{shown}` is not UTF-8"))),
        }
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn git(folder: &Path, args: &[&str]) -> Result<Output, Failure> {
    let output = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(args)
        .stdin(std::process::Stdio::null())
        .output();
    output.map_err(|error| {
        let failure = Failure::unusable(format!("could not run `git`: {error}"));
        failure.help("`--against git:REV` needs git on the path")
    })
}

/// Files of a flow as they were in a commit, for the compiler.
#[derive(Debug)]
pub struct Past<'c> {
    /// The project's folder.
    pub root: PathBuf,
    /// The commit.
    pub commit: &'c Commit,
}

impl Loader for Past<'_> {
    fn read(&self, path: &str) -> Result<Arc<str>, LoadError> {
        match self.commit.read(&self.root.join(path)) {
            Ok(Some(text)) => Ok(text.into()),
            Ok(None) => Err(LoadError::NotFound),
            Err(failure) => Err(LoadError::Unreadable(failure.message)),
        }
    }
}
