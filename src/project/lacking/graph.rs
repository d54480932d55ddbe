//! Tools that run another flow.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::base::name;
use crate::ir::{Flow, GraphId, Tool};
use crate::project::spec::graph::GraphSpec;
use crate::project::spec::graph::fit::{fit, tools_of};

use super::Lacking;

/// A graph of a file, by its id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct GraphKey(String, u32);

impl GraphKey {
    /// A path has no steps that lead nowhere, so that one file has one key.
    pub fn new(file: &str, graph: GraphId) -> Self {
        let parts = Path::new(file).components();
        let parts = parts.filter(|part| !matches!(part, Component::CurDir));
        let file = parts.collect::<PathBuf>().to_string_lossy().into_owned();
        Self(file, graph.0)
    }
}

impl Lacking<'_> {
    /// What does not fit the tool, and what the graph's own models and tools lack.
    pub(super) fn graph(&mut self, flow: &Flow, tool: &Tool, spec: &GraphSpec) {
        if let Some((inner, graph)) = self.called(tool, spec)
            && self.fits((flow, tool), (&inner, graph), spec)
        {
            self.inside(tool, spec, &inner, graph);
        }
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

    /// Whether the graph's results are the tool's.
    fn fits(
        &mut self,
        (flow, tool): (&Flow, &Tool),
        (inner, graph): (&Flow, GraphId),
        spec: &GraphSpec,
    ) -> bool {
        let Err(misfits) = fit((tool, &flow.types), (inner, graph)) else {
            return true;
        };
        let name = name_of(inner, graph);
        for why in misfits {
            let message = format!("graph `{name}` does not fit tool `{}`: {why}", tool.name);
            let help = "its `in` fields take the arguments, its `out` fields are the result";
            self.report(Some(spec.file_at), message, help.to_owned());
        }
        false
    }

    /// What the graph's own models and tools lack, once for all tools that run it.
    fn inside(&mut self, tool: &Tool, spec: &GraphSpec, inner: &Flow, graph: GraphId) {
        let key = GraphKey::new(&spec.file, graph);
        if self.graphs.contains(&key) {
            return;
        }
        if self.calling.contains(&key) {
            let name = name_of(inner, graph);
            let message = format!(
                "graph `{name}`, which tool `{}` runs, calls itself by its tools",
                tool.name
            );
            let help = "a call would never end: let it call other tools";
            self.report(Some(spec.file_at), message, help.to_owned());
            return;
        }
        self.calling.push(key.clone());
        // A check leaves the models of a flow that is called to the check of that flow.
        let declared = self.declared.take();
        let called = tools_of(inner, graph);
        for (_, tool) in inner.tools.entries().filter(|(id, _)| called.contains(id)) {
            self.tool(inner, tool);
        }
        if declared.is_none() {
            inner
                .models
                .iter()
                .for_each(|model| self.model(inner, model));
        }
        self.declared = declared;
        self.calling.pop();
        self.graphs.insert(key);
    }
}

fn name_of(flow: &Flow, graph: GraphId) -> &str {
    let graph = flow.graphs.get(graph);
    graph.map_or("", |graph| graph.name.as_str())
}
