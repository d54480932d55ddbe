//! The project that a file belongs to: where its settings are, what its imports may reach.

use std::path::{Path, PathBuf};

use super::text::{FileError, shown};

/// Name of the settings file.
pub const SETTINGS: &str = "graphc.yaml";

/// A project. All paths are absolute and without links in their folders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// The settings: the one that was named, else the nearest above the flow, within its repository and the user's home.
    pub settings: Option<PathBuf>,
    /// The folder of the settings, or without settings that of the flow: commands run here, threads
    /// are kept here.
    pub home: PathBuf,
    /// The folder that imports may not leave.
    pub root: PathBuf,
}

impl Project {
    /// The project around a folder. `settings` is the file that was named in place of the nearest.
    ///
    /// Imports may reach what lies beside the settings. Where those lie elsewhere or there are
    /// none, it is the current folder, or the flow's own where that lies outside of it.
    pub fn around(folder: &Path, settings: Option<&Path>) -> Result<Self, FileError> {
        let folder = canonical(folder)?;
        let settings = match settings {
            Some(named) => Some(canonical(named)?),
            None => nearest(&folder)?,
        };
        let beside = settings.as_deref().and_then(Path::parent);
        let home = beside.unwrap_or(&folder).to_owned();
        let candidates = [beside.map(Path::to_owned), Some(here()?)];
        let mut roots = candidates.into_iter().flatten();
        let root = roots.find(|root| folder.starts_with(root));
        Ok(Self {
            root: root.unwrap_or(folder),
            settings,
            home,
        })
    }
}

/// The settings of a folder or of the nearest one above it, not above the root of its repository or the user's home.
///
/// # Errors
/// Where the file is another user's: it would say which programs run.
fn nearest(folder: &Path) -> Result<Option<PathBuf>, FileError> {
    let home = std::env::var_os("HOME").and_then(|home| Path::new(&home).canonicalize().ok());
    for above in folder.ancestors() {
        let path = above.join(SETTINGS);
        if path.is_file() {
            trust(&path)?;
            return Ok(Some(path));
        }
        if above.join(".git").exists() || home.as_deref() == Some(above) {
            break;
        }
    }
    Ok(None)
}

/// As git does it since CVE-2022-24765; who is root may do anything here anyway.
#[cfg(unix)]
fn trust(path: &Path) -> Result<(), FileError> {
    use std::os::unix::fs::MetadataExt;
    let about = path
        .metadata()
        .map_err(|error| FileError::of("read", path, &error))?;
    let owner = about.uid();
    match owner == 0 || owner == rustix::process::geteuid().as_raw() {
        true => Ok(()),
        false => Err(FileError {
            message: format!(
                "`{}` is another user's (uid {owner}), and says which programs run",
                shown(path)
            ),
            help: Some("if that is meant, name it: `--config FILE`"),
        }),
    }
}

#[cfg(not(unix))]
fn trust(_: &Path) -> Result<(), FileError> {
    Ok(())
}

/// The current folder.
pub fn here() -> Result<PathBuf, FileError> {
    canonical(Path::new("."))
}

/// The absolute path of something that is there.
pub fn canonical(path: &Path) -> Result<PathBuf, FileError> {
    path.canonicalize()
        .map_err(|error| FileError::of("find", path, &error))
}

/// The way from a folder to a path, both absolute, with `/`.
pub fn relative(path: &Path, folder: &Path) -> String {
    let (to, from): (Vec<_>, Vec<_>) = (path.components().collect(), folder.components().collect());
    let shared = to.iter().zip(&from).take_while(|(a, b)| a == b).count();
    let up = from.iter().skip(shared).map(|_| "..".into());
    let down = to
        .iter()
        .skip(shared)
        .map(|part| part.as_os_str().to_string_lossy());
    up.chain(down).collect::<Vec<_>>().join("/")
}
