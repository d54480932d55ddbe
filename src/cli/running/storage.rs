//! The store that a command works on.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::SourceMap;
use crate::diag::Diagnostics;
use crate::project::config::Config;
use crate::run::store::Store;
use crate::store::{self, Options, Sync, open_with};

use super::threads::Format;
use super::{Context, Exit, Failure, files, settings};
use crate::project::{self, Project};

/// Arguments of what looks into a store.
#[derive(Debug, clap::Args)]
pub struct LookArgs {
    /// Where threads and long-term memory are kept, in place of the settings' store: `sqlite:PATH`, `postgres://..`
    #[arg(long, value_name = "URL", global = true)]
    pub store: Option<String>,
    /// Form of what is printed
    #[arg(long, value_enum, default_value_t, value_name = "FORM", global = true)]
    pub format: Format,
}

impl LookArgs {
    /// The store of the project around the current folder, and the project's settings.
    pub fn place(&self, context: &Context) -> Result<(Place, Config), Failure> {
        let project = Project::around(Path::new("."), context.config.as_deref())?;
        let mut sources = SourceMap::new();
        let config = settings::load(&project, context, &mut sources)?;
        let place = Place::find(self.store.as_deref(), &config, &project)
            .map_err(|found| settings::say(&found, &sources, context, Exit::Unusable))?;
        Ok((place, config))
    }
}

/// The store of a project without a word about it.
pub const DEFAULT: &str = "sqlite:.graphc/threads.db";

impl fmt::Display for Place {
    /// A file as it lies from here, an address without its password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.url.split_once(':') {
            Some(("sqlite", path)) => {
                let path = self.base.join(path);
                let here = project::here().unwrap_or_default();
                match path.starts_with(&here) {
                    true => f.write_str(&project::relative(&path, &here)),
                    false => f.write_str(&files::shown(&path)),
                }
            }
            _ => f.write_str(&store::shown(&self.url, &self.base)),
        }
    }
}

impl fmt::Debug for Place {
    /// As it is shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A store that isn't open.
#[derive(Clone)]
pub struct Place {
    url: String,
    /// Folder that a relative path is one from.
    base: PathBuf,
}

impl Place {
    /// The store that was named, else that of the settings, else the default one.
    ///
    /// A path on the command line is one from the current folder, one in the settings from theirs.
    pub fn find(
        named: Option<&str>,
        config: &Config,
        project: &Project,
    ) -> Result<Self, Diagnostics> {
        let at = |url: &str, base: &Path| Self {
            url: url.to_owned(),
            base: base.to_owned(),
        };
        match (named, &config.store) {
            (Some(url), _) => Ok(at(url, Path::new(""))),
            (None, Some(entry)) => Ok(at(entry.usable()?.reveal(), &project.home)),
            (None, None) => Ok(at(DEFAULT, &project.home)),
        }
    }

    /// Opens it, and makes it where it isn't there.
    pub fn open(&self, sync: bool) -> Result<Arc<dyn Store>, Failure> {
        let options = Options {
            sync: if sync { Sync::Full } else { Sync::Normal },
            ..Options::default()
        };
        open_with(&self.url, &self.base, options)
            .map_err(|error| Failure::unusable(error.to_string()))
    }

    /// Whether threads outlive the process.
    pub fn keeps(&self) -> bool {
        self.url != "memory"
    }

    /// Whether it holds anything: a file that isn't there is not made just to be looked into.
    pub fn is_there(&self) -> bool {
        match self.url.strip_prefix("sqlite:") {
            // No path: what is wrong with it is said when it is opened.
            Some(path) if path.is_empty() || path.starts_with("//") || path.starts_with(':') => {
                true
            }
            Some(path) => self.base.join(path).exists(),
            None => true,
        }
    }
}
