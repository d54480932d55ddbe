//! Tools that run another flow.

use std::path::Path;
use std::sync::Arc;

use crate::backend::tool::graph::{GraphTool, Runnable};
use crate::backend::tool::script::ScriptTool;
use crate::base::name;
use crate::ir::{Flow, GraphId, Tool};
use crate::project::spec::graph::GraphSpec;
use crate::project::spec::graph::fit::{ResultShape, fit, tools_of};
use crate::run::backends::Backends;
use crate::run::plan::plan;
use crate::run::tool::ToolBackend;

use super::Binding;

impl Binding<'_> {
    /// A graph as a tool. What does not fit is reported; the backend is not used then.
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
        let (inner, graph) = self.called(tool, spec)?;
        let gives = self.gives((flow, tool), (&inner, graph), spec)?;
        let runs = self.runnable(tool, spec, &inner, graph)?;
        let event = tool.progress.and_then(|event| flow.events.get(event));
        let event = event.map(|event| event.name.clone());
        Some(Arc::new(GraphTool::new(spec.clone(), runs, gives, event)))
    }

    /// The flow that a tool runs, and its graph.
    fn called(&mut self, tool: &Tool, spec: &GraphSpec) -> Option<(Arc<Flow>, GraphId)> {
        let whose = format!(", which tool `{}` runs", tool.name);
        let flow = match self.config.flows.get(&spec.file) {
            Some(Ok(flow)) => Arc::clone(flow),
            Some(Err(why)) => {
                let help = format!("`graphc check {}` says more", spec.file);
                self.report(Some(spec.file_at), format!("{why}{whose}"), help);
                return None;
            }
            None => {
                let message = format!("the flow `{}`{whose}, was not loaded", spec.file);
                let help = "load the flows of the settings before they are bound";
                self.report(Some(spec.file_at), message, help.to_owned());
                return None;
            }
        };
        let graph = spec.graph_of(&flow);
        if graph.is_none() {
            let names = || flow.graphs.iter().map(|graph| graph.name.as_str());
            let (message, help) = match &spec.graph {
                Some(graph) => (
                    format!("the flow `{}` has no graph `{graph}`{whose}", spec.file),
                    name::did_you_mean(graph, names())
                        .unwrap_or_else(|| format!("there is {}", name::list(names()))),
                ),
                None => (
                    format!(
                        "the flow `{}` has several graphs that no other calls",
                        spec.file
                    ),
                    format!("name one of {} under `graph`", name::list(names())),
                ),
            };
            self.report(Some(spec.file_at), message, help);
        }
        Some((flow, graph?))
    }

    /// How the graph's results are the tool's.
    fn gives(
        &mut self,
        (flow, tool): (&Flow, &Tool),
        (inner, graph): (&Flow, GraphId),
        spec: &GraphSpec,
    ) -> Option<ResultShape> {
        match fit((tool, &flow.types), (inner, graph)) {
            Ok(gives) => Some(gives),
            Err(misfits) => {
                let name = name_of(inner, graph);
                for why in misfits {
                    let message =
                        format!("graph `{name}` does not fit tool `{}`: {why}", tool.name);
                    let help =
                        "its `in` fields take the arguments, its `out` fields are the result";
                    self.report(Some(spec.file_at), message, help.to_owned());
                }
                None
            }
        }
    }

    /// The graph with its own models and tools, made once for all tools that run it.
    fn runnable(
        &mut self,
        tool: &Tool,
        spec: &GraphSpec,
        inner: &Arc<Flow>,
        graph: GraphId,
    ) -> Option<Arc<Runnable>> {
        let key = (normal(&spec.file), graph.0);
        if let Some(made) = self.graphs.get(&key) {
            return made.clone();
        }
        if self.calling.contains(&key) {
            let name = name_of(inner, graph);
            let message = format!(
                "graph `{name}`, which tool `{}` runs, calls itself by its tools",
                tool.name
            );
            let help = "a call would never end: let it call other tools";
            self.report(Some(spec.file_at), message, help.to_owned());
            return None;
        }
        self.calling.push(key.clone());
        let script = self.script.take();
        let declared = self.declared.take();
        let backends = self.backends((inner, graph), declared.is_some());
        self.script = script;
        self.declared = declared;
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

    /// Models, and the tools that the graph may call, of a flow that is called. A check leaves its models to the check of that flow.
    fn backends(&mut self, (flow, graph): (&Flow, GraphId), checks: bool) -> Option<Backends> {
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
        let models: Option<_> = match checks {
            true => Some(<_>::default()),
            false => {
                let models: Vec<_> = flow.models.iter().map(|m| self.model(flow, m)).collect();
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

/// A path without steps that lead nowhere, so that one file has one.
fn normal(file: &str) -> String {
    let parts = Path::new(file).components();
    let parts = parts.filter(|part| !matches!(part, std::path::Component::CurDir));
    parts
        .collect::<std::path::PathBuf>()
        .to_string_lossy()
        .into_owned()
}

fn name_of(flow: &Flow, graph: GraphId) -> &str {
    let graph = flow.graphs.get(graph);
    graph.map_or("", |graph| graph.name.as_str())
}
