//! The same arrow twice, and the same join.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::base::Span;
use crate::base::name::list;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::NodeId;
use crate::resolve::program::Graph;

use super::model::{Flow, Gather, Spot, Way};

/// Reports targets that one way names twice, and joins that are written twice.
pub fn repeated(graph: &Graph, flow: &Flow, diags: &mut Diagnostics) {
    // A computed target may give what stands beside it; its goals have their places in `ends`.
    let ends = graph.nodes.iter().filter_map(|node| node.ends.as_ref());
    let ends: HashSet<Span> = ends
        .flat_map(|ends| &ends.items)
        .map(|end| end.to.span)
        .collect();
    let ways = |spot| flow.ways(spot).iter().map(move |way| (Some(spot), way));
    let begins = flow.start.iter().map(|way| (None, way));
    for (from, way) in begins.chain(flow.spots().flat_map(ways)) {
        twice((graph, flow), from, way, &ends, diags);
    }
    let mut known: BTreeMap<Vec<NodeId>, &Gather> = BTreeMap::new();
    for join in &flow.joins {
        let mut members: Vec<NodeId> = join.members.iter().map(|(node, _)| *node).collect();
        members.sort();
        match known.get(&members) {
            Some(first) if goal(first) == goal(join) => {
                diags.push(same(flow, first, join));
            }
            _ => drop(known.insert(members, join)),
        }
    }
}

fn goal(join: &Gather) -> Option<Spot> {
    match join.ways.as_slice() {
        [way] => match way.goals.as_slice() {
            [goal] => Some(goal.to),
            _ => None,
        },
        _ => None,
    }
}

fn twice(
    (graph, flow): (&Graph, &Flow),
    from: Option<Spot>,
    way: &Way,
    ends: &HashSet<Span>,
    diags: &mut Diagnostics,
) {
    let mut known: HashMap<Spot, Span> = HashMap::new();
    let named = |goal: &&super::model::Goal| {
        // What leads to an unknown target has no place of its own.
        let written = goal.span != Span::default() && !ends.contains(&goal.span);
        written && !goal.many && matches!(goal.to, Spot::Node(_) | Spot::End)
    };
    for goal in way.goals.iter().filter(named) {
        let Some(first) = known
            .insert(goal.to, goal.span)
            .filter(|first| *first != goal.span)
        else {
            continue;
        };
        let to = flow.name(goal.to);
        let from = match from {
            Some(Spot::Join(_)) => "this join".to_owned(),
            Some(spot) => format!("`{}`", flow.name(spot)),
            None => "`start`".to_owned(),
        };
        let found = Diagnostic::new(
            &codes::DUPLICATE_EDGE,
            format!("{from} leads to `{to}` twice"),
            goal.span,
        )
        .label(first, "the first time")
        .help("take one of the two out: it runs once either way");
        // What another place says as well goes with all its text; an element of a list is left to the writer.
        diags.push(match graph.plain_edges.get(&goal.span) {
            Some(lines) => found.fix(*lines, ""),
            None => found,
        });
    }
}

fn same(flow: &Flow, first: &Gather, join: &Gather) -> Diagnostic {
    let names = join
        .members
        .iter()
        .map(|(node, _)| flow.name(Spot::Node(*node)));
    let message = format!("the join of {} is written twice", list(names));
    Diagnostic::new(&codes::DUPLICATE_EDGE, message, join.span)
        .label(first.span, "the first time")
        .help("take one of the two out")
}
