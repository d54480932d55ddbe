//! `max_visits` whose target sends on to where it came from: once all are full, nothing can be entered.

use std::collections::BTreeSet;

use crate::base::name::list;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::NodeId;

use super::group::{Ends, groups};
use super::model::{Cause, Flow, Spot};

/// Reports circles of `max_visits`. Gives back the nodes in them.
pub fn circles(flow: &Flow, diags: &mut Diagnostics) -> BTreeSet<Spot> {
    let mut told = BTreeSet::new();
    let target = |id: NodeId| {
        let ways = flow.ways(Spot::Node(id)).iter();
        ways.filter(|way| way.cause == Cause::Visits)
    };
    let capped = |spot: Spot| matches!(spot, Spot::Node(id) if target(id).next().is_some());
    let circles = groups(flow, capped, |way| way.cause == Cause::Visits, Ends::Any);
    for group in circles {
        let nodes: Vec<NodeId> = group
            .iter()
            .filter_map(|spot| match spot {
                Spot::Node(id) => Some(*id),
                _ => None,
            })
            .collect();
        let within = nodes.iter().flat_map(|id| target(*id)).filter(|way| {
            let mut goals = way.goals.iter();
            goals.any(|goal| group.contains(&goal.to))
        });
        let spans: Vec<_> = within.map(|way| way.span).collect();
        let Some((first, rest)) = spans.split_first() else {
            continue;
        };
        let names = || nodes.iter().map(|id| flow.name(Spot::Node(*id)));
        let message = match nodes.as_slice() {
            [one] => format!(
                "`max_visits` of `{}` leads back to `{}` itself, which is visited as often as it may be",
                flow.name(Spot::Node(*one)),
                flow.name(Spot::Node(*one))
            ),
            _ => format!(
                "`max_visits` of {} lead to each other: once all are visited as often as they may be, there is no way on",
                list(names())
            ),
        };
        let mut found = Diagnostic::new(&codes::VISITS_CIRCLE, message, *first)
            .help("name a target that is not capped itself, such as `end`");
        for span in rest {
            found = found.label(*span, "and this leads back");
        }
        diags.push(found);
        told.extend(group);
    }
    told
}
