//! `--interrupt-before NODE`: only nodes that a run may stop before.

use std::collections::{BTreeSet, VecDeque};

use crate::base::name;
use crate::ir::{Flow, Graph, Node, NodeId, Route, Target, Work};
use crate::project::fit::nodes;
use crate::run::step::ANY;

use super::super::Failure;

/// Refuses nodes that are not there, by path from a graph that may run, or by name in any; and those that no run can stop
/// before.
pub fn known_nodes(flow: &Flow, wanted: &[String]) -> Result<(), Failure> {
    wanted.iter().try_for_each(|path| known(flow, path))
}

fn known(flow: &Flow, path: &str) -> Result<(), Failure> {
    if path == ANY {
        return Ok(());
    }
    let failure = |why: String| Failure::unusable(format!("`--interrupt-before`: {why}"));
    let found = match found(flow, path) {
        Ok(found) => found,
        Err(why) => return Err(unknown(flow, path, failure(why))),
    };
    if found.iter().any(|(_, node)| !is_branch(node)) {
        return Ok(());
    }
    let behind: BTreeSet<&str> = found
        .iter()
        .flat_map(|(graph, node)| behind(graph, node))
        .collect();
    let within = path.rfind('/').and_then(|end| path.get(..=end));
    let behind = behind
        .iter()
        .map(|name| format!("`{}{name}`", within.unwrap_or_default()));
    let behind: Vec<String> = behind.collect();
    let failure = failure(format!(
        "`{path}` is a `branch`: it takes no step, so that no run stops before it"
    ));
    Err(match behind.is_empty() {
        true => failure,
        false => failure.help(format!(
            "it leads to {}: name one of those",
            behind.join(", ")
        )),
    })
}

fn is_branch(node: &Node) -> bool {
    matches!(node.work, Work::Branch)
}

fn unknown(flow: &Flow, path: &str, failure: Failure) -> Failure {
    let last = path.rsplit('/').next().unwrap_or(path);
    let all = flow
        .graphs
        .entries()
        .flat_map(|(id, _)| nodes::all(flow, id));
    let all: Vec<String> = all
        .filter(|(_, node)| !is_branch(node))
        .map(|(path, _)| path)
        .collect();
    let near = name::closest(path, all.iter().map(String::as_str));
    let by_name = || all.iter().find(|known| nodes::is_named(known, last));
    match near.or_else(|| by_name().map(String::as_str)) {
        Some(near) => failure.help(format!("did you mean `{near}`?")),
        None => failure,
    }
}

/// The nodes that a name or a path means, each with its graph; at least one.
///
/// # Errors
/// Why there is none, in words.
fn found<'f>(flow: &'f Flow, path: &str) -> Result<Vec<(&'f Graph, &'f Node)>, String> {
    let none = || format!("no graph has a node `{path}`");
    if !path.contains('/') {
        let of = |graph: &'f Graph| {
            let node = graph.nodes.iter().find(|node| node.name == path)?;
            Some((graph, node))
        };
        let found: Vec<_> = flow.graphs.iter().filter_map(of).collect();
        return match found.is_empty() {
            true => Err(none()),
            false => Ok(found),
        };
    }
    let from = flow.graphs.entries().map(|(id, _)| id);
    let (mut found, mut why) = (Vec::new(), None);
    // A graph that can be entered comes first, for the words.
    for graph in flow.entry.into_iter().chain(from) {
        match nodes::find(flow, graph, path) {
            Ok(node) => found.extend(graph_of(flow, node).map(|graph| (graph, node))),
            Err(message) => why = why.or(Some(message)),
        }
    }
    match found.is_empty() {
        true => Err(why.unwrap_or_else(none)),
        false => Ok(found),
    }
}

fn graph_of<'f>(flow: &'f Flow, node: &Node) -> Option<&'f Graph> {
    let mut graphs = flow.graphs.iter();
    graphs.find(|graph| graph.nodes.iter().any(|known| std::ptr::eq(known, node)))
}

/// Names of the nodes that a branch leads to, over other branches too.
fn behind<'g>(graph: &'g Graph, branch: &'g Node) -> Vec<&'g str> {
    let mut found = Vec::new();
    let (mut waiting, mut seen) = (VecDeque::from([branch]), BTreeSet::new());
    while let Some(branch) = waiting.pop_front() {
        for id in led_to(branch) {
            match graph.nodes.get(id) {
                Some(node) if seen.insert(&node.name) => match is_branch(node) {
                    true => waiting.push_back(node),
                    false => found.push(node.name.as_str()),
                },
                _ => {}
            }
        }
    }
    found
}

fn led_to(branch: &Node) -> Vec<NodeId> {
    let jumps = branch.next.iter().flat_map(Route::jumps);
    let targets = jumps.flat_map(|jump| &jump.to);
    let ends = branch.ends.iter().map(|end| &end.to);
    let mut led = Vec::new();
    let node = |target: &Target| match target {
        Target::Node(node) => Some(*node),
        _ => None,
    };
    for target in targets.chain(ends) {
        match target {
            Target::Node(node) => led.push(*node),
            Target::Each { worker, then, .. } => {
                led.push(*worker);
                led.extend(then.iter().filter_map(node));
            }
            Target::Computed { table, .. } => {
                led.extend(table.iter().filter_map(|end| node(&end.to)));
            }
            _ => {}
        }
    }
    led
}
