//! A flow as an argument: compiled from `*.graph`, or read as IR.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::base::{SourceMap, name};
use crate::compile::{Analysis, Compiled, analyse, compile};
use crate::ir::flow::ReadError;
use crate::ir::{Flow, GraphId};
use crate::lint::model::Families;

use super::files::Source;
use super::git::{Commit, Past};
use super::{Context, Exit, Failure, files, settings};
use crate::embed::disk::Disk;
use crate::project::{self, Project};

/// Name of what is read from stdin.
const STDIN: &str = "<stdin>";

/// A flow that can run.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The flow.
    pub flow: Arc<Flow>,
    /// The project it belongs to.
    pub project: Project,
}

/// Reads the flow that an argument names. What is wrong with it has been said on stderr when this
/// fails; what is only doubtful is `graphc check`'s to say.
pub fn load(path: &Path, context: &Context) -> Result<Loaded, Failure> {
    let source = one(path)?;
    let project = project_of(path, context)?;
    let flow = match is_ir(path, &source.text) {
        true => read_ir(path, &source)?,
        false => {
            let compiled = compile_source(path, source, &project)?;
            let wrong = || {
                settings::say(
                    &compiled.diagnostics,
                    &compiled.sources,
                    context,
                    Exit::Errors,
                )
            };
            compiled.flow.ok_or_else(wrong)?
        }
    };
    Ok(Loaded {
        flow: Arc::new(flow),
        project,
    })
}

/// Reads a file that is no folder.
fn one(path: &Path) -> Result<Source, Failure> {
    if path.is_dir() {
        let shown = files::shown(path);
        return Err(Failure::unusable(format!("`{shown}` is a folder"))
            .help("name one flow, a `*.graph` file or its IR"));
    }
    files::read(path)
}

/// The project of a flow; that of the current folder for stdin.
pub fn project_of(path: &Path, context: &Context) -> Result<Project, Failure> {
    Ok(Project::around(folder_of(path), context.config.as_deref())?)
}

/// The folder of a flow; the current one for stdin.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        _ if is_stdin(path) => Path::new("."),
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// The flow that an argument names as it was in a commit. Its files have the revision behind their names.
pub fn load_past(path: &Path, commit: &Commit, context: &Context) -> Result<Flow, Failure> {
    let project = project_of(path, context)?;
    let place = place(path)?;
    let shown = files::shown(path);
    if commit.read(&place)?.is_none() {
        let message = format!("there is no `{shown}` in `{}`", commit.name);
        return Err(Failure::unusable(message));
    }
    let loader = Past {
        root: project.root.clone(),
        commit,
    };
    let entry = project::relative(&place, &project.root);
    let mut compiled = compile(&entry, &loader);
    let mut named = SourceMap::new();
    for (_, file) in compiled.sources.files() {
        named.push(file.named(&format!("{} ({})", file.name, commit.name)));
    }
    compiled.sources = named;
    compiled.flow.ok_or_else(|| {
        let (found, sources) = (&compiled.diagnostics, &compiled.sources);
        settings::say(found, sources, context, Exit::Errors)
    })
}

/// Compiles a flow that was read. Files in the result have names as a person would write them here.
pub fn compile_source(path: &Path, source: Source, project: &Project) -> Result<Compiled, Failure> {
    let analysed = analyse_source(path, source, project, &Families::default())?;
    Ok(Compiled {
        flow: analysed.analysis.flow(),
        sources: analysed.sources,
        diagnostics: analysed.analysis.diagnostics,
    })
}

/// A flow that was looked through.
pub struct Analysed {
    /// What was found.
    pub analysis: Analysis,
    /// Its files, with names as a person would write them here.
    pub sources: SourceMap,
    /// Files that it names and that are not there.
    pub absent: Vec<PathBuf>,
}

/// Finds what is wrong with a flow that was read, with what the project knows of its models.
pub fn analyse_source(
    path: &Path,
    source: Source,
    project: &Project,
    families: &Families,
) -> Result<Analysed, Failure> {
    let naming = Naming::new(path.is_absolute())?;
    let place = place(path)?;
    let entry = project::relative(&place, &project.root);
    let loader = Disk::new(&project.root, entry.clone(), source.text);
    let analysis = analyse(&entry, &loader, families);
    let mut named = SourceMap::new();
    for (_, file) in analysis.sources.files() {
        let name = match &*file.name {
            standard if standard.starts_with("std/") => standard.to_owned(),
            own => naming.show(&project.root.join(own))?,
        };
        named.push(file.named(&name));
    }
    Ok(Analysed {
        analysis,
        sources: named,
        absent: loader.absent(),
    })
}

/// A file of a flow as a person would name it here: a flow has its files from the folder of its first. Also with a place
/// behind it.
pub fn file_name(flow: &Path, file: &str) -> String {
    if file.starts_with("std/") || file.starts_with('<') {
        return file.to_owned();
    }
    let mut way: Vec<Component<'_>> = Vec::new();
    let joined = folder_of(flow).join(file);
    for part in joined.components() {
        match (part, way.last()) {
            (Component::CurDir, _) => {}
            (Component::ParentDir, Some(Component::Normal(_))) => {
                way.pop();
            }
            _ => way.push(part),
        }
    }
    files::shown(&way.into_iter().collect::<PathBuf>())
}

/// The file itself, its folder without links.
fn place(path: &Path) -> Result<PathBuf, Failure> {
    if is_stdin(path) {
        return Ok(project::here()?.join(STDIN));
    }
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
    let folder = project::canonical(folder.unwrap_or(Path::new(".")))?;
    Ok(folder.join(path.file_name().unwrap_or_default()))
}

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// How files are named in messages: relative to the current folder, unless the argument was absolute.
#[derive(Debug, Clone)]
pub struct Naming {
    from: Option<PathBuf>,
}

impl Naming {
    /// Names for what an argument leads to.
    pub fn new(absolute: bool) -> Result<Self, Failure> {
        let from = if absolute {
            None
        } else {
            Some(project::here()?)
        };
        Ok(Self { from })
    }

    /// The name of an absolute path.
    pub fn show(&self, path: &Path) -> Result<String, Failure> {
        Ok(match &self.from {
            Some(from) => project::relative(path, from),
            None => files::shown(path),
        })
    }
}

/// A `*.graph` text never begins with a brace.
pub fn is_ir(path: &Path, text: &str) -> bool {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("json" | "yaml" | "yml") => true,
        Some("graph") => false,
        _ => text.trim_start().starts_with('{'),
    }
}

fn read_ir(path: &Path, source: &Source) -> Result<Flow, Failure> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    let wrong = |why: ReadError| {
        let name = &source.name;
        let (message, help) = match name.ends_with(".test.yaml") {
            true => (
                format!("`{name}` holds scenarios, and no flow"),
                format!(
                    "play them with `graphc test {name}`, or name the flow: `graphc run FLOW.graph --scenario NAME`"
                ),
            ),
            false => (
                format!("`{name}` is not the IR of a flow: {why}"),
                "make it with `graphc build`".to_owned(),
            ),
        };
        Failure::unusable(message).exit(Exit::Errors).help(help)
    };
    let json = match extension {
        Some("yaml" | "yml") => serde_yaml::from_str(&source.text).map_err(ReadError::from),
        _ => serde_json::from_str(&source.text).map_err(ReadError::from),
    };
    json.and_then(Flow::from_json).map_err(wrong)
}

/// The graph that a command is about: the one named, else the flow's entry.
pub fn graph(flow: &Flow, named: Option<&str>) -> Result<GraphId, Failure> {
    let names = || flow.graphs.iter().map(|graph| graph.name.as_str());
    let Some(wanted) = named else {
        return flow.entry.ok_or_else(|| match names().next() {
            None => without_graphs(flow),
            Some(_) => Failure::unusable("the flow has several graphs that no other calls").help(
                format!("name one with `--graph`: {}", name::either(names())),
            ),
        });
    };
    flow.graph(wanted).ok_or_else(|| {
        if let Some(instances) = flow.instances_of(wanted) {
            return parametric(wanted, &instances);
        }
        let help = name::did_you_mean(wanted, names())
            .unwrap_or_else(|| format!("there is {}", name::list(names())));
        Failure::unusable(format!("the flow has no graph `{wanted}`")).help(help)
    })
}

/// Nothing in the flow can run.
fn without_graphs(flow: &Flow) -> Failure {
    let names: Vec<&str> = flow
        .parametric
        .iter()
        .map(|graph| graph.name.as_str())
        .collect();
    match names.as_slice() {
        [] => Failure::unusable("the flow has no graph"),
        [only] => parametric(only, &[]),
        [first, ..] => Failure::unusable(format!(
            "graphs {} have parameters, so only instances of them can run",
            name::list(names.iter().copied())
        ))
        .help(format!("declare one: `graph NAME = {first}(..)`")),
    }
}

/// A graph with parameters does not run itself.
fn parametric(wanted: &str, instances: &[&str]) -> Failure {
    let failure = Failure::unusable(format!(
        "graph `{wanted}` has parameters, so only an instance of it can run"
    ));
    failure.help(match instances {
        [] => format!("declare one: `graph NAME = {wanted}(..)`"),
        [only] => format!("its only instance is `{only}`: `--graph '{only}'`"),
        several => format!("its instances are {}", name::list(several.iter().copied())),
    })
}
