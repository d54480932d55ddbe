//! Secrets that a run is given: those that its tools need.

use std::collections::BTreeSet;

use crate::base::secret::RunSecrets;
use crate::ir::Tool;
use crate::project::config::{Config, ToolSpec};
use crate::project::spec::graph::fit::tools_of;

/// Names of the secrets that a run has to be given for a tool, each with the tool that needs it: that one, or one that the graph may call
/// which it runs.
pub fn run_secrets<'a>(config: &'a Config, tool: &'a Tool) -> Vec<(&'a str, String)> {
    let mut gather = Gather {
        config,
        graphs: BTreeSet::new(),
        found: Vec::new(),
    };
    gather.tool(tool);
    gather.found
}

/// The first tool of these that needs a secret which a run was not given, and that secret's name.
pub fn lacking_secret<'a>(
    config: &'a Config,
    tools: impl IntoIterator<Item = &'a Tool>,
    given: &RunSecrets,
) -> Option<(&'a str, String)> {
    let mut wanted = tools.into_iter().flat_map(|tool| run_secrets(config, tool));
    wanted.find(|(_, name)| given.get(name).is_none())
}

struct Gather<'a> {
    config: &'a Config,
    /// Graphs that were looked at, by file and id. That they call each other in a circle is refused elsewhere.
    graphs: BTreeSet<(&'a str, u32)>,
    found: Vec<(&'a str, String)>,
}

impl<'a> Gather<'a> {
    fn tool(&mut self, tool: &'a Tool) {
        let entry = self.config.tools.get(&tool.name);
        let Some(entry) = entry.filter(|_| tool.body.is_none()) else {
            return;
        };
        let names = entry.value.run_secrets().into_iter();
        self.found
            .extend(names.map(|name| (tool.name.as_str(), name)));
        let ToolSpec::Graph(spec) = &entry.value else {
            return;
        };
        let Some(Ok(flow)) = self.config.flows.get(&spec.file) else {
            return;
        };
        let graph = spec.graph_of(flow);
        let Some(graph) = graph.filter(|graph| self.graphs.insert((&spec.file, graph.0))) else {
            return;
        };
        let called = tools_of(flow, graph);
        let tools = flow.tools.entries().filter(|(id, _)| called.contains(id));
        tools.for_each(|(_, tool)| self.tool(tool));
    }
}
