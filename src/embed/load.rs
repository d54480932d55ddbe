//! A flow from a file: compiled, or read as IR.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use crate::base::SourceMap;
use crate::compile::compile;
use crate::diag::Diagnostics;
use crate::diag::render::{Style, human};
use crate::ir::Flow;
use crate::ir::flow::ReadError;

use super::disk::Disk;
use crate::project::text::{self, FileError, shown};
use crate::project::{self, Project};

/// Why a file gives no flow.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// It can't be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The flow has errors.
    #[error(transparent)]
    Flow(#[from] Refused),
    /// It is meant to be IR, and isn't.
    #[error("`{path}` is not the IR of a flow: {why}")]
    Ir {
        /// The file, as it was named.
        path: String,
        /// What is wrong with it.
        why: ReadError,
    },
}

/// Findings that leave nothing to run. Shown as `graphc check` shows them, with the lines that they are about.
#[derive(Debug, Clone)]
pub struct Refused {
    /// What was found; errors among it.
    pub diagnostics: Diagnostics,
    /// The texts that it is about.
    pub sources: SourceMap,
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(human(&self.diagnostics, &self.sources, Style::PLAIN).trim_end())
    }
}

impl std::error::Error for Refused {}

/// Reads a flow: compiles a `*.graph` file with all that it imports, or reads the IR that `graphc build` has made
/// (`*.json`, `*.yaml`). What is only doubtful is not said: that is for `graphc check`, in CI.
///
/// Imports and prompt files may lie beside the nearest `graphc.yaml` above the flow and below it; without one, below the
/// current folder, or the flow's own where that lies outside of it.
///
/// # Errors
/// Where the file can't be read, or the flow has errors: all of them at once.
pub fn load(path: impl AsRef<Path>) -> Result<Flow, LoadError> {
    let path = path.as_ref();
    let text = text::read(path)?;
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("json") => read_ir(path, serde_json::from_str(&text).map_err(ReadError::from)),
        Some("yaml" | "yml") => read_ir(path, serde_yaml::from_str(&text).map_err(ReadError::from)),
        _ => Ok(compiled(path, text)?),
    }
}

fn read_ir(path: &Path, json: Result<Json, ReadError>) -> Result<Flow, LoadError> {
    json.and_then(Flow::from_json).map_err(|why| LoadError::Ir {
        path: shown(path),
        why,
    })
}

fn compiled(path: &Path, text: String) -> Result<Flow, LoadError> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let project = Project::around(folder, None)?;
    let place = project::canonical(folder)?.join(path.file_name().unwrap_or_default());
    let entry = project::relative(&place, &project.root);
    let compiled = compile(&entry, &Disk::new(&project.root, entry.clone(), text));
    compiled.flow.ok_or_else(|| {
        let refused = Refused {
            diagnostics: compiled.diagnostics,
            sources: named(&compiled.sources, &project.root),
        };
        refused.into()
    })
}

/// The texts under names that lead to them from here.
fn named(sources: &SourceMap, root: &Path) -> SourceMap {
    let here = project::here().ok();
    let name = |own: &str| match &here {
        _ if own.starts_with("std/") => own.to_owned(),
        Some(here) => project::relative(&root.join(own), here),
        None => shown(&root.join::<PathBuf>(own.into())),
    };
    let mut shown = SourceMap::new();
    for (_, file) in sources.files() {
        shown.push(file.named(&name(&file.name)));
    }
    shown
}
