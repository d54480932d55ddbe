//! What an evaluation runs: a graph, or one of its nodes alone.

use std::sync::Arc;

use serde_json::{Map as JsonMap, Value as Json};

use crate::base::name;
use crate::expr::ty::Type;
use crate::ir::node::Work;
use crate::ir::{FieldId, Flow, Graph, GraphId, Node, NodeId};
use crate::project::scenario::Row;
use crate::run::plan::{Plan, PlanError, plan};

use super::alone;

/// A part of a flow that runs by itself.
#[derive(Clone)]
pub struct Stage {
    /// How it is named: `Route`, `Route.pick`.
    pub name: String,
    /// The flow with the copy of the graph that runs, which is its entry.
    pub flow: Arc<Flow>,
    /// That copy.
    pub graph: GraphId,
    /// The node, where one runs alone.
    pub node: Option<NodeId>,
    /// Fields that take what is sent to the node, by position in its `input`.
    sent: Vec<FieldId>,
}

/// Why there is no such stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoStage {
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

/// A graph of a flow as a stage.
///
/// # Errors
/// Where the flow has no such graph.
pub fn whole(flow: &Arc<Flow>, graph: GraphId) -> Result<Stage, NoStage> {
    Stage::of_graph(flow, graph)
}

/// Finds a stage by its name: a graph, `Graph.node`, or a node of the graph that runs where none is named.
///
/// # Errors
/// Where the flow has none of that name.
pub fn find(flow: &Arc<Flow>, graph: Option<GraphId>, named: &str) -> Result<Stage, NoStage> {
    if let Some(graph) = flow.graph(named) {
        return Stage::of_graph(flow, graph);
    }
    let (graph, node) = match (named.rsplit_once('.'), graph) {
        (Some((of, node)), _) => (flow.graph(of).ok_or_else(|| no_graph(flow, of))?, node),
        (None, Some(graph)) => (graph, named),
        (None, None) => (only_with(flow, named)?, named),
    };
    let found = flow.graphs.get(graph);
    let id = found.and_then(|graph| graph.node(node));
    match (found, id) {
        (Some(found), None) => Err(no_node(flow, found, named, node)),
        (Some(_), Some(id)) => Stage::of_node(flow, graph, id),
        (None, _) => Err(no_graph(flow, named)),
    }
}

/// The only graph that has a node of that name.
fn only_with(flow: &Flow, node: &str) -> Result<GraphId, NoStage> {
    let having = flow
        .graphs
        .entries()
        .filter(|(_, graph)| graph.node(node).is_some());
    let having: Vec<(GraphId, &str)> = having
        .map(|(id, graph)| (id, graph.name.as_str()))
        .collect();
    match having.as_slice() {
        [(only, _)] => Ok(*only),
        [] => Err(no_graph(flow, node)),
        _ => {
            let names: Vec<String> = having
                .iter()
                .map(|(_, graph)| format!("{graph}.{node}"))
                .collect();
            Err(NoStage {
                message: format!("several graphs have a node `{node}`"),
                help: Some(format!(
                    "name one: {}",
                    name::either(names.iter().map(String::as_str))
                )),
            })
        }
    }
}

fn no_graph(flow: &Flow, named: &str) -> NoStage {
    let names = flow.graphs.iter().map(|graph| graph.name.as_str());
    let near = name::did_you_mean(named, names.clone());
    NoStage {
        message: format!("the flow has no graph `{named}`"),
        help: Some(near.unwrap_or_else(|| format!("there is {}", name::list(names)))),
    }
}

fn no_node(flow: &Flow, graph: &Graph, named: &str, node: &str) -> NoStage {
    let near = || {
        let names = graph.nodes.iter().map(|node| node.name.as_str());
        name::did_you_mean(node, names)
    };
    if named != node {
        return NoStage {
            message: format!("graph `{}` has no node `{node}`", graph.name),
            help: near(),
        };
    }
    let elsewhere = flow.graphs.iter().find(|other| other.node(node).is_some());
    let elsewhere = elsewhere.map(|other| format!("did you mean `{}.{node}`?", other.name));
    let names = flow.graphs.iter().map(|graph| graph.name.as_str());
    NoStage {
        message: format!(
            "`{named}` is no graph of the flow, and no node of graph `{}`",
            graph.name
        ),
        help: elsewhere
            .or_else(near)
            .or_else(|| Some(format!("the graphs are {}", name::list(names)))),
    }
}

impl Stage {
    fn of_graph(flow: &Arc<Flow>, graph: GraphId) -> Result<Self, NoStage> {
        let mut own = Flow::clone(flow);
        let name = flow.graphs.get(graph).map(|graph| graph.name.clone());
        let copy = alone::graph(&mut own, graph);
        let (Some(name), Some(graph)) = (name, copy) else {
            return Err(no_graph(flow, ""));
        };
        Ok(Self {
            name,
            flow: Arc::new(own),
            graph,
            node: None,
            sent: Vec::new(),
        })
    }

    fn of_node(flow: &Arc<Flow>, graph: GraphId, node: NodeId) -> Result<Self, NoStage> {
        let mut own = Flow::clone(flow);
        let found = flow.graphs.get(graph);
        let name = found.and_then(|graph| {
            let node = graph.nodes.get(node)?;
            Some(format!("{}.{}", graph.name, node.name))
        });
        let copy = alone::node(&mut own, graph, node);
        let (Some(name), Some((graph, sent))) = (name, copy) else {
            return Err(no_graph(flow, ""));
        };
        let branch = own
            .graphs
            .get(graph)
            .and_then(|graph| graph.nodes.get(node));
        if branch.is_some_and(|node| node.work == Work::Branch) {
            return Err(NoStage {
                message: format!("`{name}` is a `branch`, which only says where to go"),
                help: Some("name the node ahead of it, or the whole graph".to_owned()),
            });
        }
        Ok(Self {
            name,
            flow: Arc::new(own),
            graph,
            node: Some(node),
            sent,
        })
    }

    /// The graph that runs.
    pub fn graph(&self) -> Option<&Graph> {
        self.flow.graphs.get(self.graph)
    }

    /// The node that runs alone.
    pub fn node(&self) -> Option<&Node> {
        self.graph()?.nodes.get(self.node?)
    }

    /// The type of what it gives, where that is one thing: of a node the model's output, the call's result or the answer.
    /// `None` for what gives fields.
    pub fn gives(&self) -> Option<Type> {
        let node = self.node()?;
        Some(match &node.work {
            Work::Llm(call) | Work::Agent { call, .. } => {
                call.output.clone().unwrap_or(Type::String)
            }
            Work::Tools { .. } => Type::list(Type::Record(crate::expr::ty::MESSAGE)),
            Work::Call { tool, .. } => {
                let returns = self.flow.tools.get(*tool).map(|tool| tool.returns.clone());
                returns.flatten().unwrap_or(Type::Null)
            }
            Work::Interrupt { expect, .. } => expect.clone().unwrap_or(Type::Json),
            Work::Subgraph { .. } => Type::Json,
            Work::Update | Work::Branch | Work::Extern { .. } => return None,
        })
    }

    /// Fields of the state that a row of a node may give, and scorers see.
    pub fn fields(&self) -> impl Iterator<Item = &crate::ir::Field> {
        let own = self
            .graph()
            .into_iter()
            .flat_map(|graph| graph.fields.entries());
        let own = own.filter(|(id, field)| field.name != alone::GIVES && !self.sent.contains(id));
        own.map(|(_, field)| field)
    }

    /// The plan for a row: of a node alone, the state that the row gives is what its graph begins with.
    ///
    /// # Errors
    /// None in practice: as [`plan`].
    pub fn plan(&self, row: &Row) -> Result<Arc<Plan>, PlanError> {
        let Some(node) = self.node else {
            return self.plan_alone();
        };
        let mut flow = Flow::clone(&self.flow);
        let given = row.scenario().map(|scenario| &scenario.input);
        if let Some(graph) = flow.graphs.get_mut(self.graph) {
            begin(graph, given);
            let sends: Vec<&str> = row.send.keys().map(String::as_str).collect();
            if !sends.is_empty() {
                self.send(graph, &row.send);
                alone::send(graph, node, &sends);
            }
        }
        Ok(Arc::new(plan(Arc::new(flow))?))
    }

    /// The plan of a graph, the same for all rows.
    ///
    /// # Errors
    /// As [`Stage::plan`].
    pub fn plan_alone(&self) -> Result<Arc<Plan>, PlanError> {
        Ok(Arc::new(plan(Arc::clone(&self.flow))?))
    }

    fn send(&self, graph: &mut Graph, given: &JsonMap<String, Json>) {
        let inputs = self.node().map(|node| node.input.clone());
        for (input, field) in inputs.iter().flatten().zip(&self.sent) {
            if let (Some(json), Some(field)) =
                (given.get(&input.name), graph.fields.get_mut(*field))
            {
                field.default = Some(json.clone());
            }
        }
    }
}

fn begin(graph: &mut Graph, given: Option<&JsonMap<String, Json>>) {
    for (name, json) in given.into_iter().flatten() {
        let id = graph.field(name);
        if let Some(field) = id.and_then(|id| graph.fields.get_mut(id)) {
            field.default = Some(json.clone());
        }
    }
}
