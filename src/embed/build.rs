//! An engine put together: a flow, and all that it needs to run.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::backend::bind::bind_beside;
use crate::backend::given::Given;
use crate::base::{SourceMap, name};
use crate::ir::node::Work;
use crate::ir::{Flow, Tool};
use crate::project::config::{self, Config};
use crate::run::ambient::{Ambient, SystemAmbient};
use crate::run::engine::Engine;
use crate::run::extern_node::ExternNode;
use crate::run::memory;
use crate::run::model::ChatModel;
use crate::run::plan::{PlanError, plan};
use crate::run::store::{Store, StoreError};
use crate::run::tool::ToolBackend;
use crate::store;

use super::flows::load_flows;
use super::load::Refused;
use crate::project::Project;
use crate::project::environment::Environment;
use crate::project::text::{self, FileError, shown};

/// Puts an [`Engine`] together: what the program brings for a flow, and what `graphc.yaml` says of the rest.
///
/// Nothing is looked for in files or in the environment unless [`settings`](Self::settings) is called.
pub struct EngineBuilder {
    flow: Arc<Flow>,
    given: Given,
    settings: Option<(PathBuf, Option<String>)>,
    store: Option<Arc<dyn Store>>,
    ambient: Arc<dyn Ambient>,
}

/// Why there is no engine.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Something was given that the flow has no name for.
    #[error("the flow has no {what} `{name}`{hint}")]
    Unknown {
        /// `model`, `tool` or `extern` node.
        what: &'static str,
        /// The name that was given.
        name: String,
        /// What it has instead, as the end of the sentence.
        hint: String,
    },
    /// The flow needs what nobody has given: all of it, as in ``model `writer` ``.
    #[error("nothing was given for {}", .0.join(", "))]
    Missing(Vec<String>),
    /// A settings file can't be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The settings have errors, or lack what the flow needs.
    #[error(transparent)]
    Settings(#[from] Refused),
    /// Settings were asked for, and there is no file of them.
    #[error("there is no `graphc.yaml` in `{0}` or above it")]
    NoSettings(String),
    /// The store that the settings name can't be opened.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The IR does not hold together, which that of this version always does.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

impl EngineBuilder {
    /// For a flow, with nothing yet and no store: threads are not kept until [`store`](Self::store) gives one.
    pub fn new(flow: impl Into<Arc<Flow>>) -> Self {
        Self {
            flow: flow.into(),
            given: Given::default(),
            settings: None,
            store: None,
            ambient: Arc::new(SystemAmbient),
        }
    }

    /// Serves the model that the flow calls `name`.
    #[must_use]
    pub fn model(mut self, name: impl Into<String>, model: impl ChatModel + 'static) -> Self {
        self.given.models.insert(name.into(), Arc::new(model));
        self
    }

    /// Serves all models that have none of their own. A [`ChatRequest`](crate::run::model::ChatRequest) says which is asked.
    #[must_use]
    pub fn models(mut self, model: impl ChatModel + 'static) -> Self {
        self.given.every_model = Some(Arc::new(model));
        self
    }

    /// Makes the calls of a tool, also of one that has a body in the flow.
    #[must_use]
    pub fn tool(mut self, name: impl Into<String>, tool: impl ToolBackend + 'static) -> Self {
        self.given.tools.insert(name.into(), Arc::new(tool));
        self
    }

    /// Does the work of `extern NAME` nodes.
    #[must_use]
    pub fn extern_node(mut self, name: impl Into<String>, node: impl ExternNode + 'static) -> Self {
        self.given.externs.insert(name.into(), Arc::new(node));
        self
    }

    /// How long-term memory works, in place of what the settings say: what makes vectors of texts, how long items are kept.
    #[must_use]
    pub fn memory(mut self, settings: memory::Settings) -> Self {
        self.given.memory = Some(Arc::new(settings));
        self
    }

    /// Takes the models, tools and the store that were not given from the nearest `graphc.yaml` in `folder` or above it, under
    /// that profile (its `default_profile` without one), with the variables of the environment.
    #[must_use]
    pub fn settings(mut self, folder: impl Into<PathBuf>, profile: Option<&str>) -> Self {
        self.settings = Some((folder.into(), profile.map(str::to_owned)));
        self
    }

    /// Keeps threads there. Give the same store, or another one on the same file, to a later engine, and it goes on with them.
    #[must_use]
    pub fn store(self, store: impl Store + 'static) -> Self {
        self.shared_store(Arc::new(store))
    }

    /// The same for a store that others hold too.
    #[must_use]
    pub fn shared_store(mut self, store: Arc<dyn Store>) -> Self {
        self.store = Some(store);
        self
    }

    /// Another clock and other chance than the system's, for tests.
    #[must_use]
    pub fn ambient(mut self, ambient: impl Ambient + 'static) -> Self {
        self.ambient = Arc::new(ambient);
        self
    }

    /// The engine.
    ///
    /// # Errors
    /// Where something was given that the flow does not have, or is missing: then nothing has been opened or called.
    pub fn build(self) -> Result<Engine, BuildError> {
        self.refuse_unknown()?;
        let mut missing = self.missing_externs();
        let (config, folder, sources) = match &self.settings {
            Some((folder, profile)) => read_settings(folder, profile.as_deref())?,
            None => {
                missing.extend(self.missing());
                (Config::empty(&|_| None), PathBuf::new(), SourceMap::new())
            }
        };
        if !missing.is_empty() {
            return Err(BuildError::Missing(missing));
        }
        let refused = |diagnostics| Refused {
            diagnostics,
            sources: sources.clone(),
        };
        let backends = bind_beside(&self.given, &self.flow, &config, &folder).map_err(refused)?;
        let store = match (self.store, &config.store) {
            (Some(given), _) => Some(given),
            (None, Some(entry)) => {
                let url = entry.usable().map_err(refused)?;
                Some(store::open(url.reveal(), &folder)?)
            }
            (None, None) => None,
        };
        Ok(Engine {
            plan: Arc::new(plan(self.flow)?),
            backends,
            store,
            ambient: self.ambient,
        })
    }

    fn externs(&self) -> impl Iterator<Item = &str> {
        let nodes = self.flow.graphs.iter().flat_map(|graph| &graph.nodes);
        nodes.filter_map(|node| match &node.work {
            Work::Extern { name, .. } => Some(name.as_str()),
            _ => None,
        })
    }

    /// What was given under a name that the flow doesn't have would never be called.
    fn refuse_unknown(&self) -> Result<(), BuildError> {
        let models: Vec<_> = self.flow.models.iter().map(|m| m.name.as_str()).collect();
        let tools: Vec<_> = self.flow.tools.iter().map(|t| t.name.as_str()).collect();
        let externs: Vec<_> = self.externs().collect();
        known("model", self.given.models.keys(), &models)?;
        known("tool", self.given.tools.keys(), &tools)?;
        known("`extern` node", self.given.externs.keys(), &externs)
    }

    fn missing_externs(&self) -> Vec<String> {
        let missing = self
            .externs()
            .filter(|name| !self.given.externs.contains_key(*name));
        let mut names: Vec<_> = missing
            .map(|name| format!("`extern` node `{name}`"))
            .collect();
        names.sort();
        names.dedup();
        names
    }

    /// Models and tools that nothing serves.
    fn missing(&self) -> Vec<String> {
        let models = self.flow.models.iter().map(|model| &model.name);
        let models = models.filter(|name| self.given.model(name).is_none());
        // Those of `std/memory` are served by the store.
        let outside = |tool: &&Tool| tool.body.is_none() && !tool.is_of(memory::MODULE);
        let tools = self.flow.tools.iter().filter(outside);
        let tools = tools.map(|tool| &tool.name);
        let tools = tools.filter(|name| !self.given.tools.contains_key(*name));
        let models = models.map(|name| format!("model `{name}`"));
        models
            .chain(tools.map(|name| format!("tool `{name}`")))
            .collect()
    }
}

fn known<'a>(
    what: &'static str,
    given: impl Iterator<Item = &'a String>,
    having: &[&str],
) -> Result<(), BuildError> {
    for name in given {
        if !having.contains(&name.as_str()) {
            let near = name::did_you_mean(name, having.iter().copied());
            let hint = match (near, having) {
                (Some(near), _) => format!("; {near}"),
                (None, []) => String::new(),
                (None, having) => format!("; it has {}", name::list(having.iter().copied())),
            };
            return Err(BuildError::Unknown {
                what,
                name: name.clone(),
                hint,
            });
        }
    }
    Ok(())
}

/// The settings of a folder, and the folder that they lie in.
fn read_settings(
    folder: &Path,
    profile: Option<&str>,
) -> Result<(Config, PathBuf, SourceMap), BuildError> {
    let project = Project::around(folder, None)?;
    let Some(file) = &project.settings else {
        return Err(BuildError::NoSettings(shown(folder)));
    };
    let mut sources = SourceMap::new();
    let text = text::read(file)?;
    let id = sources.add(&shown(file), &text);
    let environment = Environment::of(Some(file))?;
    let env = |name: &str| environment.get(name);
    match config::load(&sources, id, profile, &env) {
        Ok(mut config) => {
            load_flows(&mut config, &project.home);
            Ok((config, project.home, sources))
        }
        Err(diagnostics) => Err(Refused {
            diagnostics,
            sources,
        }
        .into()),
    }
}
