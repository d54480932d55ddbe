//! Which backend serves which model and tool of a flow.

mod command;
mod graph;
mod http;
mod mcp;
mod memory_settings;
mod model;
mod needs;
mod played;
mod sql;
mod tool;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::base::secret::Secrets;
use crate::diag::Diagnostics;
use crate::ir::Flow;
use crate::run::backends::Backends;
use crate::run::extern_node::ExternNode;
use crate::run::memory;

use super::given::Given;
use super::limit::Places;
use super::llm::Provider;
use super::scenario::Script;
use super::tool::graph::Runnable;
use super::tool::mcp::server::Server;
use super::tool::sql::pool::Pool;
use super::wire::Wire;
use crate::project::config::Config;
use crate::project::lacking::{Brings, GraphKey, Lacking};

pub use needs::Needs;
pub use sql::wrong_address;

/// Finds a backend for each model and tool of a flow. `folder` is the one of `graphc.yaml`, where
/// commands run.
///
/// A scenario takes the place of what `graphc.yaml` says: all models are played by it, and so are the tools that
/// it has replies for. `graphc.yaml` serves those that it has really called. No other tool without a body is reached: a call of one has no reply.
///
/// # Errors
/// All that is missing at once: providers and tools that nothing says anything about, variables that
/// aren't set. Their place is that in `graphc.yaml`; there is none without a file.
pub fn bind(
    flow: &Flow,
    config: &Config,
    script: Option<&Arc<Script>>,
    folder: &Path,
) -> Result<Backends, Diagnostics> {
    let externs = script.map(|script| played::externs(flow, script));
    Binding::new(config, script, folder).all(flow, externs.unwrap_or_default())
}

/// The same for a program that brings models and tools of its own: those go before what the settings say. Its `extern` nodes
/// are taken as they are.
///
/// # Errors
/// As [`bind`](fn@bind) has them, of all that it does not bring.
pub fn bind_beside(
    given: &Given,
    flow: &Flow,
    config: &Config,
    folder: &Path,
) -> Result<Backends, Diagnostics> {
    let mut binding = Binding::new(config, None, folder);
    binding.given = Some(given);
    binding.all(flow, given.externs.clone())
}

struct Binding<'a> {
    config: &'a Config,
    script: Option<&'a Arc<Script>>,
    given: Option<&'a Given>,
    folder: &'a Path,
    /// Whether what is made is only tried, and nothing is run.
    is_tried: bool,
    wire: Arc<Wire>,
    places: Places,
    /// What no model and no tool may tell.
    secrets: Arc<Secrets>,
    /// Made so far, so that the models of one provider share its bounds.
    providers: BTreeMap<String, Arc<Provider>>,
    /// MCP servers made so far, so that the tools of one share its session.
    servers: BTreeMap<String, Arc<Server>>,
    /// Graphs that tools run, made so far; `None` for one that can't be.
    graphs: BTreeMap<GraphKey, Option<Arc<Runnable>>>,
    /// Those that are being made, the outermost first.
    calling: Vec<GraphKey>,
    /// Connections to PostgreSQL databases, by their addresses.
    databases: BTreeMap<String, Arc<Pool>>,
    /// How long-term memory works, once somebody has asked; the inner `None` stands for an error.
    #[allow(clippy::option_option)]
    memory: Option<Option<Arc<memory::Settings>>>,
}

impl<'a> Binding<'a> {
    fn new(config: &'a Config, script: Option<&'a Arc<Script>>, folder: &'a Path) -> Self {
        Self {
            config,
            script,
            given: None,
            folder,
            is_tried: false,
            wire: Wire::new(),
            places: Places::default(),
            secrets: Arc::new(config.secrets()),
            providers: BTreeMap::new(),
            servers: BTreeMap::new(),
            graphs: BTreeMap::new(),
            calling: Vec::new(),
            databases: BTreeMap::new(),
            memory: None,
        }
    }

    /// A backend for each model and each tool.
    fn all(
        mut self,
        flow: &Flow,
        externs: BTreeMap<String, Arc<dyn ExternNode>>,
    ) -> Result<Backends, Diagnostics> {
        let mut found = self.lacking(flow);
        let models: Vec<_> = flow.models.iter().map(|m| self.model(m)).collect();
        let tools: Vec<_> = flow.tools.iter().map(|t| self.tool(flow, t)).collect();
        let models: Option<_> = models.into_iter().collect();
        let tools: Option<_> = tools.into_iter().collect();
        match (models, tools) {
            (Some(models), Some(tools)) if !found.has_errors() => Ok(Backends {
                models,
                tools,
                externs,
            }),
            _ => {
                found.sort();
                Err(found)
            }
        }
    }

    /// What models and tools lack that are served by the settings.
    fn lacking(&self, flow: &Flow) -> Diagnostics {
        let mut lacking = Lacking::new(self.config, self.folder, &wrong_address);
        lacking.brings = self.given.map(|given| given as &dyn Brings);
        if !self.plays_models() {
            flow.models
                .iter()
                .for_each(|model| lacking.model(flow, model));
        }
        for tool in flow.tools.iter().filter(|tool| !self.plays_tool(tool)) {
            lacking.tool(flow, tool);
        }
        lacking.found
    }
}
