//! Which files of scenarios belong to which flow. `check`, `test` and `run --scenario` all ask here.

use std::path::{Path, PathBuf};

use crate::base::name::did_you_mean;
use crate::base::{FileId, SourceMap, Span};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::project::scenario::{self, Suite};
use crate::project::yaml::Step;

use super::{Failure, files};

/// How the names of scenario files end.
pub const ENDING: &str = ".test.yaml";

/// The files of scenarios of a flow: the one of its name, and others beside it that name it as theirs.
///
/// One of its name that names another flow is not its own. Of IR the flow is the `*.graph` file of its name.
pub fn of_flow(flow: &Path) -> Vec<PathBuf> {
    let Some(stem) = stem(flow) else {
        return Vec::new();
    };
    let source = flow.with_file_name(format!("{stem}.graph"));
    let own = flow.with_file_name(format!("{stem}{ENDING}"));
    let mut found = Vec::new();
    for path in beside(flow, ENDING) {
        // Most others don't as much as name it.
        let named = path == own || names(&path, &format!("{stem}.graph"));
        if named && flow_beside(&path).is_ok_and(|of| is_same(&of, &source)) {
            found.push(path);
        }
    }
    found.sort_by_key(|path| *path != own);
    found
}

/// The same, where it must have some.
///
/// # Errors
/// Why there is none.
pub fn needed(flow: &Path) -> Result<Vec<PathBuf>, Failure> {
    let Some(stem) = stem(flow) else {
        let message = "a flow from stdin has no `.test.yaml` beside it, and so no scenario";
        return Err(Failure::unusable(message));
    };
    let found = of_flow(flow);
    if !found.is_empty() {
        return Ok(found);
    }
    let own = flow.with_file_name(format!("{stem}{ENDING}"));
    let shown = files::shown(&own);
    let failure = match flow_beside(&own) {
        Ok(other) => {
            let other = files::shown(&other);
            Failure::unusable(format!("`{shown}` has the scenarios of `{other}`"))
        }
        Err(failure) => failure,
    };
    Err(failure.help(format!(
        "scenarios of a flow are in `{shown}`, or in a `*{ENDING}` beside it with `flow: {stem}.graph`"
    )))
}

/// The name of a flow without its ending, also where it is IR; `None` for stdin.
fn stem(flow: &Path) -> Option<&str> {
    let name = flow.file_name()?.to_str().filter(|name| *name != "-")?;
    let endings = [
        ".graph", ".ir.json", ".ir.yaml", ".ir.yml", ".json", ".yaml", ".yml",
    ];
    let stem = endings.iter().find_map(|ending| name.strip_suffix(ending));
    Some(stem.unwrap_or(name)).filter(|stem| !stem.is_empty())
}

/// Files in the folder of another whose names end so, in order.
fn beside(path: &Path, ending: &str) -> Vec<PathBuf> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
    files::directly_in(folder.unwrap_or(Path::new(".")), ending)
}

fn names(path: &Path, flow: &str) -> bool {
    files::read(path).is_ok_and(|source| source.text.contains(flow))
}

fn is_same(a: &Path, b: &Path) -> bool {
    let place = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    place(a) == place(b)
}

/// The flow of a file of scenarios; that of the same name where the file has errors.
///
/// # Errors
/// Where the file can't be read.
pub fn flow_beside(path: &Path) -> Result<PathBuf, Failure> {
    let source = files::read(path)?;
    let mut sources = SourceMap::new();
    let id = sources.add(&source.name, &source.text);
    Ok(match scenario::load(&sources, id) {
        Ok(suite) => flow_of(path, &suite),
        Err(_) => of_same_name(path),
    })
}

/// The flow that the file names, else the one of the same name beside it.
pub fn flow_of(path: &Path, suite: &Suite) -> PathBuf {
    match &suite.flow {
        Some(flow) => path.parent().unwrap_or(Path::new("")).join(flow),
        None => of_same_name(path),
    }
}

fn of_same_name(path: &Path) -> PathBuf {
    let name = path.file_name().and_then(|name| name.to_str());
    let stem = name.and_then(|name| name.strip_suffix(ENDING));
    path.with_file_name(format!("{}.graph", stem.unwrap_or_default()))
}

/// That the flow of a file of scenarios isn't there, at the name in the file, or at its beginning.
pub fn missing_flow(suite: &Suite, file: FileId, flow: &Path) -> Option<Diagnostics> {
    if flow.exists() {
        return None;
    }
    let finding = match &suite.flow {
        Some(named) => {
            let at = suite.span(&[Step::Key("flow".to_owned())]);
            let flows = beside(flow, ".graph").into_iter();
            let flows = flows.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()));
            let flows: Vec<String> = flows.collect();
            let last = named.rsplit('/').next().unwrap_or(named);
            let help = did_you_mean(last, flows.iter().map(String::as_str));
            let message = format!("there is no flow `{named}`");
            Diagnostic::new(&codes::INVALID_SCENARIO, message, at).maybe_help(help)
        }
        None => {
            let name = files::shown(flow.file_name().unwrap_or_default().as_ref());
            let message = format!("there is no flow `{name}` beside this file");
            let at = Span::new(file, 0, 0);
            Diagnostic::new(&codes::INVALID_SCENARIO, message, at)
                .help("name its flow: `flow: FILE.graph`")
        }
    };
    let mut found = Diagnostics::new();
    found.push(finding);
    Some(found)
}
