//! Which nodes speak to the person, and which call tools: what of a run is shown as it goes.
//!
//! A node speaks where it sends its words as an event (`stream as`), or where what its model said goes into a list of messages. All
//! others work behind the scenes: a router's or a judge's reply is not what a person waits for.

use std::collections::HashMap;
use std::sync::Arc;

use crate::expr::Type;
use crate::expr::ty::MESSAGE;
use crate::ir::{self, Flow, Graph, GraphId, Node, Route, SetItem, Work};
use crate::resolve::node::names;

/// What a node does that a person sees.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Part {
    /// Whether its words are for the person.
    pub speaks: bool,
    /// The tool that it calls as its work.
    pub calls: Option<String>,
}

/// The parts of nodes, by the path of the graph and the node's name.
pub struct Parts {
    flow: Arc<Flow>,
    root: GraphId,
    known: HashMap<(String, String), Part>,
}

impl Parts {
    /// Those of a run of the graph.
    pub fn of(flow: Arc<Flow>, root: GraphId) -> Self {
        Self {
            flow,
            root,
            known: HashMap::new(),
        }
    }

    /// The part of a node, by the path of its graph (`ns` of an event) and its name.
    pub fn part(&mut self, path: &str, node: &str) -> &Part {
        let flow = &self.flow;
        let root = self.root;
        let key = (path.to_owned(), node.to_owned());
        self.known.entry(key).or_insert_with(|| {
            let graph = called(flow, root, path);
            let declared = graph.and_then(|graph| Some((graph, graph.node(node)?)));
            let found = declared.and_then(|(graph, id)| Some((graph, graph.nodes.get(id)?)));
            found.map_or_else(Part::default, |(graph, node)| of_node(flow, graph, node))
        })
    }
}

/// The graph that runs at a path.
fn called<'f>(flow: &'f Flow, root: GraphId, path: &str) -> Option<&'f Graph> {
    let mut graph = flow.graphs.get(root)?;
    for name in path.split('/').filter(|name| !name.is_empty()) {
        let node = graph.nodes.get(graph.node(name)?)?;
        let Work::Subgraph { graph: inner, .. } = &node.work else {
            return None;
        };
        graph = flow.graphs.get(*inner)?;
    }
    Some(graph)
}

fn of_node(flow: &Flow, graph: &Graph, node: &Node) -> Part {
    match &node.work {
        Work::Llm(call) | Work::Agent { call, .. } => Part {
            speaks: call.stream_as.is_some() || tells(graph, node),
            calls: None,
        },
        Work::Call { tool, .. } => Part {
            speaks: false,
            calls: flow.tools.get(*tool).map(|tool| tool.name.clone()),
        },
        _ => Part::default(),
    }
}

/// Whether a node writes what its model said to a list of messages.
fn tells(graph: &Graph, node: &Node) -> bool {
    let ways = node.next.iter().flat_map(Route::jumps);
    let mut written = node.set.iter().chain(ways.flat_map(|jump| &jump.set));
    written.any(|item| is_messages(graph, item) && reads_reply(node, &item.value))
}

fn is_messages(graph: &Graph, item: &SetItem) -> bool {
    let field = graph.fields.get(item.field);
    field.is_some_and(|field| field.ty == Type::list(Type::Record(MESSAGE)))
}

/// Whether an expression reads the reply, itself or by a `let` of the node.
fn reads_reply(node: &Node, expr: &ir::Expr) -> bool {
    let reads = |expr: &ir::Expr, wanted: &[&str]| {
        let tree = expr.tree();
        tree.is_ok_and(|tree| wanted.iter().any(|name| names(tree, name)))
    };
    const REPLY: [&str; 2] = ["reply", "transcript"];
    let mut lets = node.lets_behind.iter();
    reads(expr, &REPLY)
        || lets.any(|bound| reads(expr, &[&bound.name]) && reads(&bound.value, &REPLY))
}
