//! `leaves`: the names by which a graph goes to nodes of its caller.

use crate::base::Span;
use crate::base::name::closest;
use crate::diag::{Diagnostic, Diagnostics, Home, codes};
use crate::resolve::program::{Graph, TargetKind};

/// Checks that each `parent.name` is declared and each declared name is used.
pub fn leaves(graph: &Graph, diags: &mut Diagnostics) {
    let used = used(graph);
    let mut reported: Vec<&str> = Vec::new();
    for (name, span) in &used {
        let declared = graph.leaves.iter().any(|left| left.node == *name);
        if declared || reported.contains(name) {
            continue;
        }
        reported.push(name);
        let near = closest(name, graph.leaves.iter().map(|left| left.node.as_str()));
        let help = match near {
            Some(near) => format!("did you mean `parent.{near}`?"),
            None => {
                let mut all: Vec<&str> = graph.leaves.iter().map(|left| &*left.node).collect();
                all.push(name);
                format!(
                    "declare it: `graph {} leaves [{}]`",
                    graph.name.node,
                    all.join(", ")
                )
            }
        };
        diags.push(
            Diagnostic::new(
                &codes::LEAVE_UNDECLARED,
                format!(
                    "graph `{}` does not declare that it leaves to `{name}`",
                    graph.name.node
                ),
                *span,
            )
            .unknown(name, Home::Leaves(Some(graph.name.span)))
            .near(near)
            .label(graph.name.span, "the graph")
            .help(help),
        );
    }
    let list: Vec<Span> = graph.leaves.iter().map(|left| left.span).collect();
    for (at, left) in graph.leaves.iter().enumerate() {
        let meant = |name: &str| name == left.node || closest(name, [left.node.as_str()]).is_some();
        if !used.iter().any(|(name, _)| meant(name)) {
            diags.push(
                Diagnostic::new(
                    &codes::UNUSED_LEAVE,
                    format!(
                        "nothing in `{}` goes to `parent.{}`",
                        graph.name.node, left.node
                    ),
                    left.span,
                )
                .help(format!("take `{}` out of `leaves`", left.node))
                .take_out(&list, at),
            );
        }
    }
}

/// Names behind `parent.`, with their places, jumps passed on by `ends` included.
fn used(graph: &Graph) -> Vec<(&str, Span)> {
    let ends = graph.nodes.iter().flat_map(|node| &node.ends);
    let ends = ends.flat_map(|ends| &ends.items).map(|end| &end.to);
    let targets = graph.jumps().flat_map(|(_, jump)| &jump.to);
    let parents = targets.chain(ends).filter_map(|target| match &target.kind {
        TargetKind::Parent(name) => Some((name.node.as_str(), target.span)),
        _ => None,
    });
    parents.collect()
}
