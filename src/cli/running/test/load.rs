//! Scenario files and their flows, read and compiled.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::{Location, SourceMap};
use crate::diag::{Diagnostics, Level};
use crate::project::Project;
use crate::project::bindings::Bindings;
use crate::project::fit::fit;
use crate::project::scenario::{self, Suite};
use crate::run::plan::{Plan, plan};

use crate::cli::running::bindings;
use crate::cli::scenes::{self, ENDING};
use crate::cli::{Context, Exit, Failure, files, flow, settings};

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
    /// The project that the flow belongs to.
    pub project: Project,
    /// What serves the tools that its scenarios have really called, where no service runs.
    pub bindings: Bindings,
}

/// All that could be read.
pub struct Loaded {
    /// In the order of the arguments.
    pub files: Vec<File>,
    /// Those that could not; it has been said.
    pub broken: Vec<Broken>,
}

/// A file of scenarios that can't be played.
#[derive(Debug)]
pub struct Broken {
    /// Its name in messages.
    pub name: String,
    /// Why.
    pub faults: Vec<Fault>,
    /// What the command ends with where it is about this file alone.
    pub failure: Failure,
}

/// Something wrong in a file of scenarios, or in its flow.
#[derive(Debug)]
pub struct Fault {
    /// What.
    pub message: String,
    /// More of it, in lines.
    pub detail: String,
    /// The file that it is in, and where.
    pub at: Option<(String, Location)>,
}

/// Reads the scenario files that the arguments stand for, and compiles each flow once. What is wrong with one leaves the
/// others to be played.
pub fn all(paths: &[PathBuf], context: &Context) -> Result<Loaded, Failure> {
    let here = [PathBuf::from(".")];
    let paths = if paths.is_empty() { &here } else { paths };
    let mut plans = BTreeMap::new();
    let mut loaded = Loaded {
        files: Vec::new(),
        broken: Vec::new(),
    };
    for path in files::each_once(paths, find)? {
        match one(&path, &mut plans, context) {
            Ok(file) => loaded.files.push(file),
            // Who names a file that isn't there has mistyped.
            Err(broken) if !path.is_file() => return Err(broken.failure),
            Err(broken) => {
                broken.failure.say();
                loaded.broken.push(*broken);
            }
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
    if name.ends_with(".graph") {
        return scenes::needed(path);
    }
    let shown = files::shown(path);
    let message = format!("`{shown}` is neither a flow nor a file of scenarios");
    Err(Failure::unusable(message).help("name a `*.graph`, a `*.test.yaml` or a folder"))
}

/// Plans by the place of their flow; `None` for one that does not compile, which has been said.
type Plans = BTreeMap<PathBuf, Option<Arc<Plan>>>;

/// Reads one file of scenarios and compiles its flow.
///
/// # Errors
/// Why it can't be played; findings have been said.
pub fn one(path: &Path, plans: &mut Plans, context: &Context) -> Result<File, Box<Broken>> {
    let broken = |failure: Failure| broken(path, failure);
    let source = files::read(path).map_err(&broken)?;
    let mut sources = SourceMap::new();
    let id = sources.add(&source.name, &source.text);
    let refused = |found: &Diagnostics, sources: &SourceMap| {
        let faults = found.iter().filter(|finding| finding.level == Level::Error);
        let faults = faults.map(|finding| Fault {
            message: finding.message.clone(),
            detail: String::new(),
            at: Some((
                sources.name(finding.span().file).to_owned(),
                sources.location(finding.span()),
            )),
        });
        Box::new(Broken {
            name: files::shown(path),
            faults: faults.collect(),
            failure: settings::say(found, sources, context, Exit::Errors),
        })
    };
    let suite = scenario::load(&sources, id).map_err(|found| refused(&found, &sources))?;
    let flow = scenes::flow_of(path, &suite);
    if let Some(found) = scenes::missing_flow(&suite, id, &flow) {
        return Err(refused(&found, &sources));
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
            Some(compiled.map_err(&broken)?)
        }
    };
    let plan = plan.ok_or_else(|| broken(Failure::silent(Exit::Errors)))?;
    let project = flow::project_of(&flow, context).map_err(&broken)?;
    let bindings = bindings::load(&project, context, &suite.likely_variables());
    let bindings = bindings.map_err(&broken)?;
    let misfits = fit(&suite, &plan.flow, Some(&bindings.config));
    if misfits.has_errors() {
        return Err(refused(&misfits, &sources));
    }
    Ok(File {
        path: path.to_owned(),
        name: source.name,
        sources: Arc::new(sources),
        suite: Arc::new(suite),
        flow,
        plan,
        project,
        bindings,
    })
}

/// A file that can't be played, for a failure that has been said or is.
pub fn broken(path: &Path, failure: Failure) -> Box<Broken> {
    let message = match failure.message.is_empty() {
        true => "its flow has errors".to_owned(),
        false => failure.message.clone(),
    };
    let fault = Fault {
        message,
        detail: String::new(),
        at: None,
    };
    Box::new(Broken {
        name: files::shown(path),
        faults: vec![fault],
        failure,
    })
}

fn compiled(path: &Path, context: &Context) -> Result<Arc<Plan>, Failure> {
    let flow = flow::load(path, context)?.flow;
    let plan = plan(flow).map_err(|error| Failure::unusable(error.to_string()))?;
    Ok(Arc::new(plan))
}
