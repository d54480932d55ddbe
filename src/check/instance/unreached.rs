//! Nodes that no instance of their graph reaches.

use crate::base::name::list;
use crate::diag::{Diagnostics, codes};
use crate::ir::GraphId;
use crate::resolve::Program;

use super::super::cfg::{BlockId, ControlFlowGraph, reach};
use super::Instances;

/// Reports nodes that each instance of a graph leaves out. `cfg` is that of the graph as it is written.
pub fn unreached(
    program: &Program,
    id: GraphId,
    cfg: &ControlFlowGraph,
    instances: &Instances,
    diags: &mut Diagnostics,
) {
    let Some(graph) = program.graphs.get(id).filter(|_| !cfg.broken) else {
        return;
    };
    // What this flow has no use for in the library, another has.
    if program.is_standard(graph.file) {
        return;
    }
    let of: Vec<GraphId> = instances
        .made_from
        .entries()
        .filter(|(_, of)| **of == id)
        .map(|(at, _)| at)
        .collect();
    reach::unreachable(cfg, cfg.reached(), diags);
    let mut reached = cfg.reached().clone();
    for node in graph.nodes.ids() {
        let mut kept = of.iter().filter_map(|at| instances.kept.get(*at));
        if !kept.any(|kept| kept.get(node.0 as usize).copied().unwrap_or(true)) {
            reached.remove(BlockId::Node(node));
        }
    }
    // Those that nothing leads to are said already.
    let mut found = Diagnostics::new();
    reach::unreachable(cfg, &reached, &mut found);
    let said: Vec<_> = diags
        .iter()
        .filter(|d| d.code == &codes::UNREACHABLE_NODE)
        .map(|d| d.span())
        .collect();
    let names: Vec<&str> = of
        .iter()
        .filter_map(|at| instances.program.graphs.get(*at)?.instance.as_ref())
        .map(|instance| instance.name.as_str())
        .collect();
    for mut finding in found {
        let node = graph
            .nodes
            .iter()
            .find(|node| node.name.span == finding.span());
        let Some(node) = node.filter(|_| !said.contains(&finding.span())) else {
            continue;
        };
        let name = &node.name.node;
        finding.message = match names.as_slice() {
            [only] => format!(
                "nothing leads to node `{name}` in `{only}`, the only instance of `{}`",
                graph.name.node
            ),
            _ => format!(
                "nothing leads to node `{name}` in any instance of `{}`: {}",
                graph.name.node,
                list(names.iter().copied())
            ),
        };
        finding.help = Some(format!(
            "make an instance whose parameters lead to `{name}`, or take the node out"
        ));
        diags.push(finding);
    }
}
