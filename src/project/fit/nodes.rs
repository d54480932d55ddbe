//! Nodes by their paths, such as `cake_man/editor`.

use std::collections::VecDeque;

use crate::base::name;
use crate::expr::ty::Type;
use crate::ir::{Flow, Graph, GraphId, Node, Work};
use crate::project::yaml::Path;

use super::{Case, Misfit, meant};

/// Most paths that are looked through for one that may be meant.
const MOST: usize = 5_000;

/// Most names of such a path: a graph that calls itself has nodes at any depth.
const DEPTH: usize = 16;

/// The node at a path from a graph.
///
/// # Errors
/// Which graph has no such node, in words.
pub fn find<'f>(flow: &'f Flow, graph: GraphId, path: &str) -> Result<&'f Node, String> {
    let mut graph = flow.graphs.get(graph).ok_or_else(String::new)?;
    let mut names = path.split('/').peekable();
    loop {
        let name = names.next().unwrap_or_default();
        let node = graph.nodes.iter().find(|node| node.name == name);
        let Some(node) = node else {
            return Err(format!("graph `{}` has no node `{name}`", graph.name));
        };
        if names.peek().is_none() {
            return Ok(node);
        }
        graph = match called(flow, node) {
            Some((_, graph)) => graph,
            None => {
                let message = "no subgraph, so no node is inside of it";
                return Err(format!("`{name}` of graph `{}` is {message}", graph.name));
            }
        };
    }
}

fn called<'f>(flow: &'f Flow, node: &Node) -> Option<(GraphId, &'f Graph)> {
    match &node.work {
        Work::Subgraph { graph, .. } => Some((*graph, flow.graphs.get(*graph)?)),
        _ => None,
    }
}

/// All nodes below a graph with their paths, outer ones first; a bounded number, to a bounded depth.
pub fn all(flow: &Flow, graph: GraphId) -> Vec<(String, &Node)> {
    let mut found = Vec::new();
    let mut waiting = VecDeque::from([(String::new(), graph, 1)]);
    while let Some((prefix, id, depth)) = waiting.pop_front() {
        let Some(graph) = flow.graphs.get(id) else {
            continue;
        };
        for node in &graph.nodes {
            if found.len() >= MOST {
                return found;
            }
            let path = format!("{prefix}{}", node.name);
            if let Some((inner, _)) = called(flow, node).filter(|_| depth < DEPTH) {
                waiting.push_back((format!("{path}/"), inner, depth + 1));
            }
            found.push((path, node));
        }
    }
    found
}

/// All that a run may ask below a graph, by the paths that answers go by: `interrupt` nodes, and interrupts
/// before or after other nodes; with the types of the answers.
pub fn questions(flow: &Flow, graph: GraphId) -> Vec<(String, Option<&Type>)> {
    let mut found = Vec::new();
    for (path, node) in all(flow, graph) {
        if let Work::Interrupt { expect, .. } = &node.work {
            found.push((path.clone(), expect.as_ref()));
        }
        let within = path
            .rfind('/')
            .map_or("", |end| path.get(..=end).unwrap_or_default());
        let stops = node.stops.iter();
        found.extend(stops.map(|stop| (format!("{within}{}", stop.name), Some(&stop.expect))));
    }
    found
}

/// Whether the node itself may ask a person: in its work, or for the call of a tool.
fn may_ask(flow: &Flow, node: &Node) -> bool {
    let tools = match &node.work {
        Work::Interrupt { .. } | Work::Extern { .. } => return true,
        Work::Agent { call, .. } => call.tools.as_slice(),
        Work::Tools { tools, .. } => tools,
        Work::Call { tool, .. } => std::slice::from_ref(tool),
        _ => &[][..],
    };
    let mut tools = tools.iter().filter_map(|id| flow.tools.get(*id));
    tools.any(super::answers::asks)
}

/// Whether below a graph calls of tools ask, too.
pub fn tools_ask(flow: &Flow, graph: GraphId) -> bool {
    let mut nodes = all(flow, graph).into_iter();
    nodes.any(|(_, node)| {
        let of_tools = matches!(
            node.work,
            Work::Agent { .. } | Work::Tools { .. } | Work::Call { .. }
        );
        of_tools && may_ask(flow, node)
    })
}

/// Whether a path ends in a name.
pub fn is_named(path: &str, named: &str) -> bool {
    path.rsplit('/').next() == Some(named)
}

impl<'a> Case<'a> {
    /// The node at a path that the file names; what is wrong with it is reported. `by_key` says that the path is a key.
    pub fn node(&mut self, at: Path, path: &str, by_key: bool) -> Option<&'a Node> {
        let message = match find(self.flow, self.graph, path) {
            Ok(node) => return Some(node),
            Err(message) => message,
        };
        let help = self.meant_node(path);
        let mut misfit = Misfit::value(at, message).help(help);
        misfit.key = by_key;
        self.report(misfit);
        None
    }

    /// As [`Case::node`], where the name of a node anywhere below the graph will do.
    pub fn node_or_name(&mut self, at: Path, named: &str) {
        if !self.is_question(named) && !self.is_node(named) {
            self.node(at, named, false);
        }
    }

    /// The same of what asks a person: a question, or a node whose tools ask.
    pub fn asking(&mut self, at: Path, named: &str, by_key: bool) {
        if self.is_question(named) {
            return;
        }
        let known = all(self.flow, self.graph);
        let mut of_name: Vec<&Node> = known
            .iter()
            .filter(|(path, _)| path == named || is_named(path, named))
            .map(|(_, node)| *node)
            .collect();
        if known.len() >= MOST {
            return;
        }
        if of_name.is_empty() {
            let found = self.node(at.clone(), named, by_key);
            of_name.extend(found);
        }
        let silent = |node: &&Node| !may_ask(self.flow, node);
        if let Some(node) = of_name.first().filter(|_| of_name.iter().all(silent)) {
            let message = format!(
                "node `{named}` asks nobody: its kind is `{}`",
                node.work.keyword()
            );
            let asked = questions(self.flow, self.graph);
            let help = match node.work.tools().is_empty() {
                true => meant(named, asked.iter().map(|(path, _)| path.as_str())),
                false => Some(
                    "a call of a tool asks where the tool is `@effect(destructive)` or `@approve`"
                        .to_owned(),
                ),
            };
            let mut misfit = Misfit::value(at, message).help(help);
            misfit.key = by_key;
            self.report(misfit);
        }
    }

    /// Whether it is the path or the name of a node below the graph; so is any where there are too many.
    pub fn is_node(&self, named: &str) -> bool {
        let known = all(self.flow, self.graph);
        let is = |(path, _): &(String, &Node)| path == named || is_named(path, named);
        known.len() >= MOST || known.iter().any(is)
    }

    /// The same of a question.
    fn is_question(&self, named: &str) -> bool {
        let known = questions(self.flow, self.graph);
        known
            .iter()
            .any(|(path, _)| path == named || is_named(path, named))
    }

    /// Whether nodes of this name are the embedding program's, whose replies go by that name.
    pub fn is_extern(&self, named: &str) -> bool {
        let mut nodes = self.flow.graphs.iter().flat_map(|graph| graph.nodes.iter());
        nodes.any(|node| matches!(&node.work, Work::Extern { name, .. } if name == named))
    }

    fn meant_node(&self, path: &str) -> Option<String> {
        let known = all(self.flow, self.graph);
        let last = path.rsplit('/').next().unwrap_or(path);
        let asked = questions(self.flow, self.graph);
        let near = name::did_you_mean(path, asked.iter().map(|(path, _)| path.as_str()));
        if near.is_some() {
            return near;
        }
        let inside = known.iter().find(|(_, node)| node.name == last);
        if let Some((inside, _)) = inside {
            return Some(format!("did you mean `{inside}`?"));
        }
        let paths = known.iter().map(|(path, _)| path.as_str());
        if let Some(help) = name::did_you_mean(path, paths.clone()) {
            return Some(help);
        }
        let near = name::closest(last, known.iter().map(|(_, node)| node.name.as_str()));
        match near.and_then(|near| known.iter().find(|(_, node)| node.name == near)) {
            Some((near, _)) => Some(format!("did you mean `{near}`?")),
            None => meant(path, paths),
        }
    }
}
