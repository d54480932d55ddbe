//! Joins that can never lead on.

use std::collections::BTreeSet;

use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::{JoinId, NodeId};

use super::arrows::Arrows;
use super::avoid::circles_of;
use super::model::{Flow, Spot};
use super::together::Together;

/// Reports joins two of whose members can't both arrive, since they lie on ways that exclude each other, and
/// joins whose member comes only behind the join itself. Gives back all joins that never lead on.
pub fn never(
    flow: &Flow,
    arrows: &Arrows,
    together: &Together,
    diags: &mut Diagnostics,
) -> BTreeSet<JoinId> {
    apart(flow, together, diags);
    let ids = flow.joins.ids().filter(|id| !together.fires(*id));
    let silent: BTreeSet<JoinId> = ids.collect();
    behind_itself(flow, arrows, together, &silent, diags);
    silent
}

/// Reports joins that wait for what only they lead to, also in a circle of several.
fn behind_itself(
    flow: &Flow,
    arrows: &Arrows,
    together: &Together,
    silent: &BTreeSet<JoinId>,
    diags: &mut Diagnostics,
) {
    let mut told: BTreeSet<JoinId> = BTreeSet::new();
    let circles = circles_of(flow);
    let circle = |spot: Spot| flow.number(spot).and_then(|number| circles.get(number));
    for id in silent {
        let Some(join) = flow.joins.get(*id) else {
            continue;
        };
        let late = join.members.iter().find_map(|(member, span)| {
            // What leads to the join and comes behind it goes round with it.
            let round = circle(Spot::Node(*member)) == circle(Spot::Join(*id));
            if !round || together.runs(*member) {
                return None;
            }
            let before = before(flow, arrows, *member);
            let own = before.contains(id);
            own.then_some((*member, *span, before))
        });
        let Some((member, span, before)) = late else {
            continue;
        };
        if before.iter().any(|other| told.contains(other)) {
            continue;
        }
        told.insert(*id);
        let name = flow.name(Spot::Node(member));
        let message = format!("this join waits for `{name}`, which only runs after it");
        let mut found =
            Diagnostic::new(&codes::JOIN_NEVER_FIRES, message, join.span).label(span, "waited for");
        if let Some((spot, arrow)) = first_arrow(flow, arrows, member) {
            found = found.label(arrow, format!("`{}` only comes from here", flow.name(spot)));
        }
        diags.push(found.help(format!(
            "take `{name}` out of the join, or lead to it before, beside the other members"
        )));
    }
}

/// Joins on the ways to a node.
fn before(flow: &Flow, arrows: &Arrows, node: NodeId) -> BTreeSet<JoinId> {
    let mut joins = BTreeSet::new();
    let mut seen = BTreeSet::from([Spot::Node(node)]);
    let mut open = vec![Spot::Node(node)];
    while let Some(spot) = open.pop() {
        for from in arrows
            .into(flow, spot)
            .iter()
            .filter_map(|arrow| arrow.from)
        {
            if let Spot::Join(join) = from {
                joins.insert(join);
            }
            if seen.insert(from) {
                open.push(from);
            }
        }
    }
    joins
}

fn first_arrow(flow: &Flow, arrows: &Arrows, node: NodeId) -> Option<(Spot, Span)> {
    let spot = Spot::Node(node);
    let goal = arrows.into(flow, spot).first()?.goal()?;
    Some((spot, goal.span))
}

fn apart(flow: &Flow, together: &Together, diags: &mut Diagnostics) {
    for (id, join) in flow.joins.entries() {
        let arrive = join
            .members
            .iter()
            .all(|(member, _)| together.runs(*member));
        if together.fires(id) || !arrive {
            continue;
        }
        let members = || join.members.iter().enumerate();
        let apart = members().find_map(|(i, a)| {
            let others = join.members.iter().skip(i + 1);
            others
                .map(|b| (a, b))
                .find(|(a, b)| !together.meet(id, a.0, b.0))
        });
        let Some((a, b)) = apart else { continue };
        let name = |id| flow.stops.get(id).map_or("?", |stop| stop.name.as_str());
        let stop = |id| {
            flow.stops
                .get(id)
                .map(|stop| stop.span)
                .unwrap_or(join.span)
        };
        diags.push(
            Diagnostic::new(
                &codes::JOIN_NEVER_FIRES,
                format!(
                    "this join waits for both `{}` and `{}`, of which only one runs",
                    name(a.0),
                    name(b.0)
                ),
                join.span,
            )
            .label(stop(a.0), format!("`{}`", name(a.0)))
            .label(stop(b.0), "runs instead of it")
            .help(format!(
                "write an edge from each (`{} -> ..`), or start both with `[{}, {}]`",
                name(a.0),
                name(a.0),
                name(b.0)
            )),
        );
    }
}
