//! What can be reached from `start`, and what can reach an exit.

use crate::base::name::list;
use crate::diag::{Diagnostic, Diagnostics, codes};

use super::cycle::shortest;
use super::group::{Ends, groups};
use super::model::{Cause, Flow, Spot, Way};

/// Which spots `start` leads to, by [`Flow::number`]. A join counts as soon as one member does:
/// whether all of them can arrive is the question of [`join`](super::join).
pub fn reached(flow: &Flow) -> Vec<bool> {
    let mut seen = vec![false; flow.stops.len() + flow.joins.len()];
    let mut open: Vec<Spot> = Vec::new();
    let enter = |ways: &[Way], seen: &mut Vec<bool>, open: &mut Vec<Spot>| {
        for goal in ways.iter().flat_map(|way| &way.goals) {
            let known = flow.number(goal.to).and_then(|n| seen.get_mut(n));
            if let Some(known) = known.filter(|known| !**known) {
                *known = true;
                open.push(goal.to);
            }
        }
    };
    enter(&flow.start, &mut seen, &mut open);
    while let Some(spot) = open.pop() {
        enter(flow.ways(spot), &mut seen, &mut open);
    }
    seen
}

/// Reports nodes that nothing leads to. Of nodes that only unreachable ones lead to, the first is enough.
pub fn unreachable(flow: &Flow, reached: &[bool], diags: &mut Diagnostics) {
    let among = |spot: Spot| {
        flow.number(spot)
            .is_some_and(|n| !reached.get(n).copied().unwrap_or(true))
    };
    for group in groups(flow, among, |_| true, Ends::Heads) {
        let Some((first, rest)) = nodes(flow, &group)
            .split_first()
            .map(|(f, r)| (*f, r.to_vec()))
        else {
            continue;
        };
        let mut found = Diagnostic::new(
            &codes::UNREACHABLE_NODE,
            format!("nothing leads to node `{}`", first.name),
            first.span,
        )
        .help(format!(
            "name `{}` as the target of an edge or a `goto`, or take the node out",
            first.name
        ));
        for other in rest {
            found = found.label(
                other.span,
                format!("`{}` only goes round with it", other.name),
            );
        }
        diags.push(found);
    }
}

/// Reports circles without a way out. Errors don't count as a way out.
pub fn trapped(flow: &Flow, reached: &[bool], diags: &mut Diagnostics) {
    if flow.exits {
        return;
    }
    let free = leading_out(flow);
    let among = |spot: Spot| {
        flow.number(spot).is_some_and(|n| {
            reached.get(n).copied().unwrap_or(false) && !free.get(n).copied().unwrap_or(true)
        })
    };
    for group in groups(flow, among, usual, Ends::Sinks) {
        let members = nodes(flow, &group);
        let Some(first) = members.first() else {
            continue;
        };
        let cycle = group
            .first()
            .and_then(|spot| shortest(flow, *spot, |way, _| usual(way)));
        let Some(cycle) = cycle else { continue };
        let message = format!(
            "no way out of the cycle of {}",
            list(members.iter().map(|stop| stop.name.as_str()))
        );
        let found = Diagnostic::new(&codes::ENDLESS_CYCLE, message, first.span)
            .help("give one of them an arm that leads on to `end`, or a `max_visits N -> TARGET`");
        diags.push(cycle.labels(flow, found));
    }
}

fn usual(way: &Way) -> bool {
    way.cause != Cause::Error
}

/// Which spots can come to an exit without an error, by number.
fn leading_out(flow: &Flow) -> Vec<bool> {
    let count = flow.stops.len() + flow.joins.len();
    let mut into: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut free = vec![false; count];
    let mut open = Vec::new();
    for (from, spot) in flow.spots().enumerate() {
        let ways = || flow.ways(spot).iter().filter(|way| usual(way));
        if ways().next().is_none() {
            // That it leads nowhere is reported by itself.
            open.push(from);
        }
        for goal in ways().flat_map(|way| &way.goals) {
            match flow.number(goal.to) {
                Some(to) => into
                    .get_mut(to)
                    .into_iter()
                    .for_each(|list| list.push(from)),
                None => open.push(from),
            }
        }
    }
    while let Some(n) = open.pop() {
        if let Some(seen) = free.get_mut(n).filter(|seen| !**seen) {
            *seen = true;
            open.extend(into.get(n).into_iter().flatten());
        }
    }
    free
}

fn nodes<'a>(flow: &'a Flow, group: &[Spot]) -> Vec<&'a super::model::Stop> {
    let stops = group.iter().filter_map(|spot| match spot {
        Spot::Node(at) => flow.stops.get(*at),
        _ => None,
    });
    stops.collect()
}
