//! Scenario files and their flows, read and compiled.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::backend::scenario::{self, Suite};
use crate::backend::yaml::Step;
use crate::base::SourceMap;
use crate::base::name::did_you_mean;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::run::plan::{Plan, plan};
use crate::scenario::fit;

use crate::cli::{Context, Exit, Failure, files, flow, settings};

/// How the names of scenario files end.
pub const ENDING: &str = ".test.yaml";

/// A file of scenarios with its flow.
#[derive(Clone)]
pub struct File {
    /// The file.
    pub path: PathBuf,
    /// Its name in messages.
    pub name: String,
    /// Its text, for places.
    pub sources: Arc<SourceMap>,
    /// Its scenarios.
    pub suite: Arc<Suite>,
    /// The flow's file.
    pub flow: PathBuf,
    /// The flow.
    pub plan: Arc<Plan>,
}

/// All that could be read.
pub struct Loaded {
    /// In the order of the arguments.
    pub files: Vec<File>,
    /// Whether there was one that could not; it has been said.
    pub broken: bool,
}

/// Reads the scenario files that the arguments stand for, and compiles each flow once.
pub fn all(paths: &[PathBuf], context: &Context) -> Result<Loaded, Failure> {
    let here = [PathBuf::from(".")];
    let paths = if paths.is_empty() { &here } else { paths };
    let mut plans = BTreeMap::new();
    let mut loaded = Loaded {
        files: Vec::new(),
        broken: false,
    };
    for path in files::each_once(paths, find)? {
        match one(&path, &mut plans, context) {
            Ok(file) => loaded.files.push(file),
            Err(failure) if failure.exit == Exit::Errors => {
                failure.say();
                loaded.broken = true;
            }
            Err(failure) => return Err(failure),
        }
    }
    Ok(loaded)
}

/// The scenario files that an argument stands for.
fn find(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if path.is_dir() {
        return files::below(path, ENDING);
    }
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.unwrap_or_default();
    if name.ends_with(ENDING) {
        return Ok(vec![path.to_owned()]);
    }
    match name.strip_suffix(".graph") {
        Some(stem) => Ok(vec![path.with_file_name(format!("{stem}{ENDING}"))]),
        None => {
            let shown = files::shown(path);
            let message = format!("`{shown}` is neither a flow nor a file of scenarios");
            Err(Failure::unusable(message).help("name a `*.graph`, a `*.test.yaml` or a folder"))
        }
    }
}

/// Plans by the place of their flow; `None` for one that does not compile, which has been said.
type Plans = BTreeMap<PathBuf, Option<Arc<Plan>>>;

/// Reads one file of scenarios and compiles its flow.
pub fn one(path: &Path, plans: &mut Plans, context: &Context) -> Result<File, Failure> {
    let source = files::read(path)?;
    let mut sources = SourceMap::new();
    let id = sources.add(&source.name, &source.text);
    let suite = scenario::load(&sources, id)
        .map_err(|found| settings::say(&found, &sources, context, Exit::Errors))?;
    let flow = flow_of(path, &suite);
    if let Some(found) = missing_flow(&suite, &flow) {
        return Err(settings::say(&found, &sources, context, Exit::Errors));
    }
    let place = flow.canonicalize().unwrap_or_else(|_| flow.clone());
    let plan = match plans.get(&place) {
        Some(plan) => plan.clone(),
        None => {
            let compiled = compiled(&flow, context);
            let plan = match &compiled {
                Ok(plan) => Some(Arc::clone(plan)),
                Err(_) => None,
            };
            plans.insert(place, plan);
            Some(compiled?)
        }
    };
    let plan = plan.ok_or_else(|| Failure::silent(Exit::Errors))?;
    let misfits = fit(&suite, &plan.flow);
    if misfits.has_errors() {
        return Err(settings::say(&misfits, &sources, context, Exit::Errors));
    }
    Ok(File {
        path: path.to_owned(),
        name: source.name,
        sources: Arc::new(sources),
        suite: Arc::new(suite),
        flow,
        plan,
    })
}

fn compiled(path: &Path, context: &Context) -> Result<Arc<Plan>, Failure> {
    let flow = flow::load(path, context)?.flow;
    let plan = plan(flow).map_err(|error| Failure::unusable(error.to_string()))?;
    Ok(Arc::new(plan))
}

/// A flow that the file names and that isn't there.
pub fn missing_flow(suite: &Suite, flow: &Path) -> Option<Diagnostics> {
    let named = suite.flow.as_deref().filter(|_| !flow.exists())?;
    let at = suite.span(&[Step::Key("flow".to_owned())]);
    let folder = flow.parent().filter(|p| !p.as_os_str().is_empty());
    let beside = std::fs::read_dir(folder.unwrap_or(Path::new(".")));
    let beside = beside.into_iter().flatten().flatten();
    let beside = beside.filter_map(|entry| entry.file_name().into_string().ok());
    let mut flows: Vec<String> = beside.filter(|name| name.ends_with(".graph")).collect();
    flows.sort();
    let file = named.rsplit('/').next().unwrap_or(named);
    let help = did_you_mean(file, flows.iter().map(String::as_str));
    let message = format!("there is no flow `{named}`");
    let mut found = Diagnostics::new();
    found.push(Diagnostic::new(&codes::INVALID_SCENARIO, message, at).maybe_help(help));
    Some(found)
}

/// The flow of a file of scenarios; that of the same name where the file can't be read.
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
