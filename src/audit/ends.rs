//! Where a run may begin and end.

use std::collections::BTreeSet;

use crate::ir::jump::{Jump, Target};
use crate::ir::{Flow, Graph, GraphId};

/// Nodes that a run of the graph may begin at.
pub(super) fn begins(graph: &Graph) -> Vec<String> {
    let mut names = Vec::new();
    let targets = graph.start.jumps().flat_map(|jump| &jump.to);
    for target in targets.flat_map(|to| [to].into_iter().chain(to.then())) {
        let node = match target {
            Target::Node(id) | Target::Each { worker: id, .. } => graph.nodes.get(*id),
            _ => None,
        };
        if let Some(node) = node
            && !names.contains(&node.name)
        {
            names.push(node.name.clone());
        }
    }
    names
}

/// How a run of the graph may end, and the failures of called graphs that no node of a caller handles.
pub(super) fn exits(flow: &Flow, entry: GraphId, graph: &Graph) -> Vec<String> {
    let mut found: BTreeSet<String> = BTreeSet::new();
    let called = unhandled(flow, entry);
    for graph in called.iter().filter_map(|id| flow.graphs.get(*id)) {
        let ends = ends(graph).into_iter();
        found.extend(ends.filter(|end| end.starts_with("fail at ")));
    }
    found.extend(ends(graph));
    found.extend(
        graph
            .exits
            .iter()
            .map(|exit| format!("exit when {}", exit.text)),
    );
    found.into_iter().collect()
}

/// Graphs that are called from a graph, by nodes without `on_error` alone.
fn unhandled(flow: &Flow, entry: GraphId) -> BTreeSet<GraphId> {
    let mut called = BTreeSet::new();
    let mut waiting = vec![entry];
    while let Some(graph) = waiting.pop().and_then(|id| flow.graphs.get(id)) {
        let open = graph.nodes.iter().filter(|node| node.on_error.is_none());
        for node in open {
            waiting.extend(node.called().filter(|graph| called.insert(*graph)));
        }
    }
    called
}

/// The ends of a graph that its own jumps lead to.
fn ends(graph: &Graph) -> BTreeSet<String> {
    let mut found: BTreeSet<String> = BTreeSet::new();
    let mut note = |from: &str, target: &Target| match target {
        Target::End => {
            found.insert("end".to_owned());
        }
        Target::Fail { .. } => {
            found.insert(format!("fail at {from}"));
        }
        Target::Parent(name) => {
            found.insert(format!("parent.{name}"));
        }
        _ => {}
    };
    let mut jumps = |from: &str, jump: &Jump| {
        for target in &jump.to {
            target.then().iter().for_each(|then| note(from, then));
            note(from, target);
            if let Target::Computed { table, .. } = target {
                table.iter().for_each(|end| note(from, &end.to));
            }
        }
    };
    graph.start.jumps().for_each(|jump| jumps("start", jump));
    graph
        .joins
        .iter()
        .for_each(|join| jumps("a join", &join.to));
    for node in &graph.nodes {
        let from = format!("{}.{}", graph.name, node.name);
        node.jumps().for_each(|(_, jump)| jumps(&from, jump));
    }
    for node in &graph.nodes {
        let from = format!("{}.{}", graph.name, node.name);
        node.ends.iter().for_each(|end| note(&from, &end.to));
    }
    found
}
