//! Tools that run another flow.

use std::sync::Arc;

use crate::backend::tool::graph::{GraphTool, Runnable};
use crate::backend::tool::script::ScriptTool;
use crate::ir::{Flow, GraphId, Tool};
use crate::project::lacking::GraphKey;
use crate::project::spec::graph::GraphSpec;
use crate::project::spec::graph::fit::{fit, tools_of};
use crate::run::backends::Backends;
use crate::run::plan::plan;
use crate::run::tool::ToolBackend;

use super::Binding;

impl Binding<'_> {
    /// A graph as a tool; one that is never called where it does not fit.
    pub(super) fn graph(
        &mut self,
        flow: &Flow,
        tool: &Tool,
        spec: &GraphSpec,
    ) -> Arc<dyn ToolBackend> {
        let made = self.graph_tool(flow, tool, spec);
        made.unwrap_or_else(|| Arc::new(ScriptTool::new(Vec::new())))
    }

    fn graph_tool(
        &mut self,
        flow: &Flow,
        tool: &Tool,
        spec: &GraphSpec,
    ) -> Option<Arc<dyn ToolBackend>> {
        let inner = self.config.flows.get(&spec.file)?.as_ref().ok()?;
        let graph = spec.graph_of(inner)?;
        let gives = fit((tool, &flow.types), (inner, graph)).ok()?;
        let runs = self.runnable(spec, inner, graph)?;
        let event = tool.progress.and_then(|event| flow.events.get(event));
        let event = event.map(|event| event.name.clone());
        Some(Arc::new(GraphTool::new(spec.clone(), runs, gives, event)))
    }

    /// The graph with its own models and tools, made once for all tools that run it.
    fn runnable(
        &mut self,
        spec: &GraphSpec,
        inner: &Arc<Flow>,
        graph: GraphId,
    ) -> Option<Arc<Runnable>> {
        let key = GraphKey::new(&spec.file, graph);
        if let Some(made) = self.graphs.get(&key) {
            return made.clone();
        }
        if self.calling.contains(&key) {
            return None;
        }
        self.calling.push(key.clone());
        let script = self.script.take();
        let backends = self.backends((inner, graph));
        self.script = script;
        self.calling.pop();
        let made = backends.and_then(|backends| {
            let plan = plan(Arc::clone(inner)).ok()?;
            Some(Arc::new(Runnable {
                plan: Arc::new(plan),
                backends,
                graph,
            }))
        });
        self.graphs.insert(key, made.clone());
        made
    }

    /// Models, and the tools that the graph may call, of a flow that is called. Its models are left out where nothing is run.
    fn backends(&mut self, (flow, graph): (&Flow, GraphId)) -> Option<Backends> {
        let called = tools_of(flow, graph);
        let tools: Vec<_> = flow
            .tools
            .entries()
            .map(|(id, tool)| match called.contains(&id) {
                true => self.tool(flow, tool),
                false => Some(None),
            })
            .collect();
        let tools: Option<_> = tools.into_iter().collect();
        let models: Option<_> = match self.is_tried {
            true => Some(<_>::default()),
            false => {
                let models: Vec<_> = flow.models.iter().map(|m| self.model(m)).collect();
                models.into_iter().collect()
            }
        };
        Some(Backends {
            models: models?,
            tools: tools?,
            externs: self
                .given
                .map(|given| given.externs.clone())
                .unwrap_or_default(),
        })
    }
}
