//! Which backend serves which model and tool of a flow.

mod command;
mod graph;
mod http;
mod mcp;
mod memory_settings;
mod model;
mod needs;
mod played;
mod run_secrets;
mod sql;
mod tool;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::base::Span;
use crate::base::secret::Secrets;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::{Flow, Place};
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
use crate::project::config::{Config, ModelBinding};

pub use needs::Needs;
pub use run_secrets::lacking_secret;
use run_secrets::run_secrets;

/// What a flow would lack if it ran with these settings, without a scenario: tools that nothing
/// serves, providers that nothing describes, arguments that a tool hasn't got. `place` says where a tool or a model is declared.
///
/// So are variables that aren't set, and programs and scripts of `command` tools that aren't on this machine. `folder` is
/// that of `graphc.yaml`. Models that are scripted are no lack: scenarios play them.
pub fn lacking(flow: &Flow, config: &Config, folder: &Path, place: &Declared<'_>) -> Diagnostics {
    let mut binding = Binding::new(config, None, folder);
    binding.declared = Some(place);
    if let Some(store) = &config.store {
        binding.variables(&store.missing);
    }
    for model in &flow.models {
        let bound = config.model(&model.name);
        if !bound.is_some_and(|entry| matches!(entry.value, ModelBinding::Scripted)) {
            binding.model(flow, model);
            binding.unsayable(model);
        }
    }
    for tool in &flow.tools {
        binding.tool(flow, tool);
    }
    binding.found
}

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

/// Where a tool or a model of that name is declared, as far as that is known.
pub type Declared<'a> = dyn Fn(&Place, &str) -> Option<Span> + 'a;

struct Binding<'a> {
    config: &'a Config,
    script: Option<&'a Arc<Script>>,
    given: Option<&'a Given>,
    folder: &'a Path,
    /// Where tools are declared, when a flow is looked at that does not run.
    declared: Option<&'a Declared<'a>>,
    wire: Arc<Wire>,
    places: Places,
    /// What no model and no tool may tell.
    secrets: Arc<Secrets>,
    /// Made so far, so that the models of one provider share its bounds.
    providers: BTreeMap<String, Arc<Provider>>,
    /// MCP servers made so far, so that the tools of one share its session.
    servers: BTreeMap<String, Arc<Server>>,
    /// Graphs that tools run, made so far, by file and id; `None` for one that can't be.
    graphs: BTreeMap<(String, u32), Option<Arc<Runnable>>>,
    /// Those that are being made, the outermost first.
    calling: Vec<(String, u32)>,
    /// Connections to PostgreSQL databases, by their addresses.
    databases: BTreeMap<String, Arc<Pool>>,
    /// How long-term memory works, once somebody has asked; the inner `None` stands for an error.
    #[allow(clippy::option_option)]
    memory: Option<Option<Arc<memory::Settings>>>,
    found: Diagnostics,
}

impl<'a> Binding<'a> {
    fn new(config: &'a Config, script: Option<&'a Arc<Script>>, folder: &'a Path) -> Self {
        Self {
            config,
            script,
            given: None,
            folder,
            declared: None,
            wire: Wire::new(),
            places: Places::default(),
            secrets: Arc::new(config.secrets()),
            providers: BTreeMap::new(),
            servers: BTreeMap::new(),
            graphs: BTreeMap::new(),
            calling: Vec::new(),
            databases: BTreeMap::new(),
            memory: None,
            found: Diagnostics::new(),
        }
    }

    /// A backend for each model and each tool.
    fn all(
        mut self,
        flow: &Flow,
        externs: BTreeMap<String, Arc<dyn ExternNode>>,
    ) -> Result<Backends, Diagnostics> {
        let models: Vec<_> = flow.models.iter().map(|m| self.model(flow, m)).collect();
        let tools: Vec<_> = flow.tools.iter().map(|t| self.tool(flow, t)).collect();
        let models: Option<_> = models.into_iter().collect();
        let tools: Option<_> = tools.into_iter().collect();
        match (models, tools) {
            (Some(models), Some(tools)) if !self.found.has_errors() => Ok(Backends {
                models,
                tools,
                externs,
            }),
            _ => {
                self.found.sort();
                Err(self.found)
            }
        }
    }

    fn report(&mut self, span: Option<Span>, message: String, help: String) {
        let finding = self.finding(span, message, help);
        // What two tools share is said once.
        if !self.found.iter().any(|known| *known == finding) {
            self.found.push(finding);
        }
    }

    fn finding(&self, span: Option<Span>, message: String, help: String) -> Diagnostic {
        let mut finding = Diagnostic::new(&codes::INVALID_CONFIG, message, Span::default());
        // What no line of the file is about has no place in it.
        match span {
            Some(span) => finding
                .labels
                .iter_mut()
                .for_each(|label| label.span = span),
            None => finding.labels.clear(),
        }
        finding.help(help)
    }

    /// Reports variables that are not set, where a run needs them.
    fn variables(&mut self, missing: &[Diagnostic]) {
        missing.iter().for_each(|one| self.found.push(one.clone()));
    }
}
