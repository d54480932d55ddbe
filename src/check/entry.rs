//! A graph's entry, and what each node needs to go on.

use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::NodeId;
use crate::resolve::program::{Graph, Jump, Node, Program, Route, TargetKind, Work};

use super::cfg::build::called_bodies;
use super::cfg::{BlockId, ControlFlowGraph, EdgeKind};

/// Reports a graph without `start`.
pub fn entry(graph: &Graph, diags: &mut Diagnostics) {
    if graph.start.is_some() || graph.broken {
        return;
    }
    let first = graph.nodes.iter().next();
    let name = first.map_or("NODE", |node| &node.name.node);
    diags.push(
        Diagnostic::new(
            &codes::NO_ENTRY,
            format!("graph `{}` has no entry", graph.name.node),
            graph.name.span,
        )
        .help(format!("say where it begins: `start -> {name}`")),
    );
}

/// Reports computed targets of `start` and of joins: only a node has `ends` that say where they may lead.
pub fn computed(graph: &Graph, diags: &mut Diagnostics) {
    let start = graph.start.iter().flat_map(Route::targets);
    let joins = graph.joins.iter().map(|join| &join.to);
    for target in start.chain(joins.flat_map(Jump::targets)) {
        if matches!(target.kind, TargetKind::Computed(_)) {
            let message = "a target outside of nodes can't be computed";
            diags.push(
                Diagnostic::new(&codes::MISSING_ENDS, message, target.span)
                    .help("lead to a `branch` that has `ends` and this as its `goto`"),
            );
        }
    }
}

/// Reports nodes with both a static edge and a `goto`, and nodes with neither that need one.
/// `ends` says of each graph whether it can come to its end.
pub fn ways_on(
    program: &Program,
    graph: &Graph,
    cfg: &ControlFlowGraph,
    ends: &dyn Fn(crate::ir::GraphId) -> bool,
    diags: &mut Diagnostics,
) {
    let led_on = cfg.led_on();
    let workers = graph.workers();
    for (id, node) in graph.nodes.entries() {
        let edge = edge(cfg, id);
        match (&node.goto, edge) {
            (Some(goto), Some(edge)) => diags.push(both(node, goto.span, edge)),
            (None, None) if graph.broken || led_on.contains(&id) => {}
            (None, None) => neither(program, node, workers.contains(&id), ends)
                .into_iter()
                .for_each(|found| diags.push(found)),
            _ => {}
        }
    }
}

fn edge(cfg: &ControlFlowGraph, id: NodeId) -> Option<crate::base::Span> {
    let transitions = cfg.transitions(BlockId::Node(id));
    transitions
        .iter()
        .find(|transition| transition.kind == EdgeKind::Edge)
        .map(|transition| transition.span)
}

fn both(node: &Node, goto: crate::base::Span, edge: crate::base::Span) -> Diagnostic {
    Diagnostic::new(
        &codes::EDGE_AND_GOTO,
        format!(
            "node `{}` has both a static edge and a `goto`",
            node.name.node
        ),
        edge,
    )
    .here("the static edge")
    .label(goto, "the `goto`")
    .help("take the edge out: the `goto` says where the node goes; `goto [a, b]` runs both")
}

/// A node goes on by an edge or a `goto`, unless it can only go on by what its tool or subgraph says.
fn neither(
    program: &Program,
    node: &Node,
    is_worker: bool,
    ends: &dyn Fn(crate::ir::GraphId) -> bool,
) -> Option<Diagnostic> {
    let name = &node.name.node;
    let jumps = || {
        called_bodies(program, node)
            .iter()
            .any(|(_, body)| body.goto.is_some())
    };
    let (message, when) = match (&node.work, node.called()) {
        (Work::Call { .. }, _) if jumps() => return None,
        (_, Some((child, called))) => {
            let graph = program.graphs.get(child);
            let leaves = graph.is_some_and(|child| !child.leaves.is_empty());
            if leaves && !ends(child) {
                return None;
            }
            let called = &called.node;
            (
                format!("node `{name}` leads nowhere when `{called}` has ended"),
                leaves.then(|| format!("`{called}` can also come to its own end")),
            )
        }
        (Work::Agent { .. } | Work::Tools { .. }, _) if jumps() => (
            format!("node `{name}` leads nowhere when no tool jumps"),
            None,
        ),
        _ => (format!("node `{name}` leads nowhere"), None),
    };
    let help = match is_worker {
        true => format!(
            "say what follows all that the `each` starts, `each .. -> {name} with {{ .. }} then NODE`, or where each goes, `{name} -> end`"
        ),
        false => format!("say where it goes: `{name} -> end`, or an arrow behind its kind"),
    };
    let mut found = Diagnostic::new(&codes::NO_WAY_ON, message, node.name.span).help(help);
    if let Some(when) = when {
        found = found.here(when);
    }
    Some(found)
}
