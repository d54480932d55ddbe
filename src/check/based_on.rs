//! `based_on`: cycles, and fields that can't be made stale or reset.

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;

use crate::base::Span;
use crate::base::name::list;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::{FieldId, FieldMode};
use crate::resolve::program::{BasedOn, Field, Graph};

use super::types::flow_state::has_first_value;

/// All rules on what fields are based on.
pub fn bases(graph: &Graph, diags: &mut Diagnostics) {
    for field in &graph.fields {
        let Some(based_on) = &field.based_on else {
            continue;
        };
        if field.mode == FieldMode::In {
            diags.push(given_by_the_caller(field, based_on));
        } else if based_on.reset && !has_first_value(field) {
            diags.push(nothing_to_reset_to(field, based_on));
        }
    }
    cycles(graph, diags);
}

fn given_by_the_caller(field: &Field, based_on: &BasedOn) -> Diagnostic {
    let name = &field.name.node;
    let message =
        format!("`{name}` is an `in` field: the caller gives it, it is made from nothing here");
    Diagnostic::new(&codes::BAD_BASIS, message, based_on.span)
        .label(field.name.span, "declared `in`")
        .help(format!(
            "take `based_on` out, or declare it `in out {name}` to write it here"
        ))
}

fn nothing_to_reset_to(field: &Field, based_on: &BasedOn) -> Diagnostic {
    let name = &field.name.node;
    let message = format!("`{name}` has no first value that `reset` could go back to");
    Diagnostic::new(&codes::BAD_BASIS, message, based_on.span)
        .label(field.ty.span, "may not be null, and has no default")
        .help("give it one: `= ..` behind its type, or a type `T?`")
}

/// Reports each group of fields that are based on each other. What is kept out of the cascade closes no cycle.
fn cycles(graph: &Graph, diags: &mut Diagnostics) {
    let mut bases: DiGraph<FieldId, Span> = DiGraph::new();
    let nodes: Vec<NodeIndex> = graph.fields.ids().map(|id| bases.add_node(id)).collect();
    for (id, field) in graph.fields.entries() {
        let on = field.based_on.iter().flat_map(|based_on| &based_on.on);
        for basis in on.filter(|basis| !basis.keep) {
            let to = basis.field.and_then(|to| nodes.get(to.0 as usize));
            if let (Some(from), Some(to)) = (nodes.get(id.0 as usize), to) {
                bases.add_edge(*from, *to, basis.name.span);
            }
        }
    }
    let groups = kosaraju_scc(&bases);
    let mut group_of = vec![usize::MAX; nodes.len()];
    for (number, group) in groups.iter().enumerate() {
        for member in group {
            let slot = group_of.get_mut(member.index());
            slot.into_iter().for_each(|slot| *slot = number);
        }
    }
    for (number, group) in groups.iter().enumerate() {
        let inside = |at: NodeIndex| group_of.get(at.index()) == Some(&number);
        let among = group.iter().flat_map(|member| bases.edges(*member));
        let among = among.filter(|edge| inside(edge.target()));
        let mut spans: Vec<Span> = among.map(|edge| *edge.weight()).collect();
        spans.sort_by_key(|span| span.start);
        let Some((first, rest)) = spans.split_first() else {
            continue;
        };
        let mut ids: Vec<FieldId> = group
            .iter()
            .filter_map(|n| bases.node_weight(*n).copied())
            .collect();
        ids.sort();
        let names: Vec<&str> = ids
            .iter()
            .filter_map(|id| graph.fields.get(*id))
            .map(|field| field.name.node.as_str())
            .collect();
        let message = match names.as_slice() {
            [only] => format!("`{only}` is based on itself"),
            names => format!(
                "{} are based on each other in a circle",
                list(names.iter().copied())
            ),
        };
        let found = Diagnostic::new(&codes::CIRCULAR_BASIS, message, *first)
            .help("take one of them out of the list, or write `keep` behind it: its writes make nothing stale then");
        diags.push(
            rest.iter()
                .fold(found, |found, span| found.label(*span, "and on this")),
        );
    }
}
