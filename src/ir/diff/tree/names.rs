//! What the indices of a flow stand for.

use std::cell::Cell;
use std::collections::BTreeMap;

use crate::ir::flow::Flow;
use crate::ir::graph::{Graph, Migrate};

/// Names of everything that has an index, and where the writer is.
pub(super) struct Names {
    graphs: Vec<Scope>,
    tools: Vec<Scope>,
    /// By the name of the id's type, of what the whole flow shares.
    shared: [(&'static str, Vec<String>); 8],
    /// The graph or tool that is being written, by its number in order.
    at: Cell<(Within, usize)>,
    /// How many graphs and tools have begun.
    begun: Cell<(usize, usize)>,
    /// The graph that the node being written calls.
    called: Cell<usize>,
}

/// What is being written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Flow,
    Tool,
    Graph,
}

/// Names that hold in one graph or one tool.
#[derive(Default)]
struct Scope {
    fields: Vec<String>,
    nodes: Vec<String>,
    joins: Vec<String>,
    /// Old names of nodes with those that they have now.
    renamed: BTreeMap<String, String>,
    /// Old names of fields with those that they have now.
    renamed_fields: BTreeMap<String, String>,
}

impl Names {
    pub fn of<'f>(flow: &'f Flow, renames: impl Fn(&str) -> Option<&'f Migrate>) -> Self {
        fn names<'t, T: 't>(
            of: impl Iterator<Item = &'t T>,
            name: impl Fn(&'t T) -> &'t str,
        ) -> Vec<String> {
            of.map(|thing| name(thing).to_owned()).collect()
        }
        let graphs = flow.graphs.iter();
        Self {
            graphs: graphs
                .map(|graph| Scope::of(graph, renames(&graph.name)))
                .collect(),
            tools: flow
                .tools
                .iter()
                .map(|tool| Scope {
                    fields: tool.body.as_ref().map_or(Vec::new(), |b| b.fields.clone()),
                    ..Scope::default()
                })
                .collect(),
            shared: [
                ("GraphId", names(flow.graphs.iter(), |g| &g.name)),
                ("ToolId", names(flow.tools.iter(), |t| &t.name)),
                ("ModelId", names(flow.models.iter(), |m| &m.name)),
                ("ReducerId", names(flow.reducers.iter(), |r| &r.name)),
                ("EventId", names(flow.events.iter(), |e| &e.name)),
                ("RecordId", names(flow.types.records.iter(), |r| &r.name)),
                ("EnumId", names(flow.types.enums.iter(), |e| &e.name)),
                ("", Vec::new()),
            ],
            at: Cell::new((Within::Flow, 0)),
            begun: Cell::new((0, 0)),
            called: Cell::new(usize::MAX),
        }
    }

    /// Notes that a struct of that name begins.
    pub fn begin(&self, kind: &str) {
        let (graphs, tools) = self.begun.get();
        match kind {
            "Graph" => {
                self.at.set((Within::Graph, graphs));
                self.begun.set((graphs + 1, tools));
            }
            "Tool" => {
                self.at.set((Within::Tool, tools));
                self.begun.set((graphs, tools + 1));
            }
            "Parametric" => self.at.set((Within::Flow, 0)),
            _ => {}
        }
    }

    /// The name of an id's value; `None` where the type is no id. `called` where it is of the called graph.
    pub fn name(&self, kind: &str, index: &str, called: bool) -> Option<String> {
        let number: usize = index.parse().ok()?;
        if kind == "GraphId" {
            self.called.set(number);
        }
        let known = match kind {
            "FieldId" => self.scope(called).map(|scope| &scope.fields),
            "NodeId" => self.scope(called).map(|scope| &scope.nodes),
            "JoinId" => self.scope(called).map(|scope| &scope.joins),
            _ => {
                let shared = self.shared.iter().find(|(of, _)| *of == kind);
                Some(&shared?.1)
            }
        };
        let name = known.and_then(|names| names.get(number)).cloned();
        Some(name.unwrap_or_else(|| format!("number {index}")))
    }

    /// The name that a node of the graph has now.
    pub fn now(&self, node: &str) -> Option<String> {
        self.scope(false)?.renamed.get(node).cloned()
    }

    /// Old names of the graph's fields with those that they have now.
    pub fn fields_now(&self) -> &BTreeMap<String, String> {
        const NONE: &BTreeMap<String, String> = &BTreeMap::new();
        self.scope(false)
            .map_or(NONE, |scope| &scope.renamed_fields)
    }

    fn scope(&self, called: bool) -> Option<&Scope> {
        let (within, number) = self.at.get();
        match within {
            Within::Graph if called => self.graphs.get(self.called.get()),
            Within::Graph => self.graphs.get(number),
            Within::Tool => self.tools.get(number),
            Within::Flow => None,
        }
    }
}

impl Scope {
    fn of(graph: &Graph, renames: Option<&Migrate>) -> Self {
        let node = |name: &String| {
            let renamed = renames.and_then(|renames| renames.nodes.get(name));
            renamed.unwrap_or(name).clone()
        };
        let field = |name: &String| {
            let renamed = renames.and_then(|renames| renames.fields.get(name));
            renamed.unwrap_or(name).clone()
        };
        let nodes: Vec<String> = graph.nodes.iter().map(|known| node(&known.name)).collect();
        let joins = graph.joins.iter().map(|join| {
            let members = join.members.iter();
            let members = members.filter_map(|id| nodes.get(id.0 as usize).map(String::as_str));
            format!("[{}]", members.collect::<Vec<_>>().join(", "))
        });
        Self {
            joins: joins.collect(),
            fields: graph
                .fields
                .iter()
                .map(|known| field(&known.name))
                .collect(),
            nodes,
            renamed: renames.map_or_else(BTreeMap::new, |renames| renames.nodes.clone()),
            renamed_fields: renames.map_or_else(BTreeMap::new, |renames| renames.fields.clone()),
        }
    }
}
