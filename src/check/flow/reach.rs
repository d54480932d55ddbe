//! What can be reached from `start`, and what can reach an exit.

use std::cell::OnceCell;
use std::collections::{BTreeSet, VecDeque};

use crate::base::Span;
use crate::base::name::list;
use crate::diag::{Diagnostic, Diagnostics, codes};

use super::cycle::shortest;
use super::finish::usual;
use super::group::{Ends, OfCircle, groups};
use super::model::{Flow, Goal, Spot, Way};

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
    for group in groups(flow, among, |_, _| true, Ends::Heads) {
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
        let behind = behind(flow, &group, reached);
        for other in nodes(flow, &behind).into_iter().take(BEHIND) {
            found = found.label(
                other.span,
                format!("`{}` is only reached from it", other.name),
            );
        }
        diags.push(found);
    }
}

/// Most further nodes of an island that a message points at.
const BEHIND: usize = 6;

/// What only an island leads to, besides the spots that it begins with.
fn behind(flow: &Flow, head: &[Spot], reached: &[bool]) -> Vec<Spot> {
    let mut seen: BTreeSet<Spot> = head.iter().copied().collect();
    let mut open = head.to_vec();
    let mut found = Vec::new();
    while let Some(spot) = open.pop().filter(|_| found.len() < BEHIND) {
        for goal in flow.ways(spot).iter().flat_map(|way| &way.goals) {
            let known = flow.number(goal.to).and_then(|n| reached.get(n).copied());
            if known == Some(false) && seen.insert(goal.to) {
                found.push(goal.to);
                open.push(goal.to);
            }
        }
    }
    found.sort();
    found
}

/// Reports circles without a way out. Errors don't count as a way out, nor does one of several targets:
/// the others go round on. Spots of `told` are in a circle that was reported already; `exits` says of a circle whether the
/// graph's `exit when` may end it.
pub fn trapped(
    flow: &Flow,
    reached: &[bool],
    free: &[bool],
    (told, exits): (&BTreeSet<Spot>, OfCircle),
    diags: &mut Diagnostics,
) {
    let stuck = |spot: Spot| {
        flow.number(spot).is_some_and(|n| {
            reached.get(n).copied().unwrap_or(false) && !free.get(n).copied().unwrap_or(true)
        })
    };
    let depth = OnceCell::new();
    for group in groups(flow, stuck, |_, way| usual(way), Ends::Sinks) {
        if exits(&group) {
            continue;
        }
        let members = nodes(flow, &group);
        let inside = |_: Spot, way: &Way, to: Spot| usual(way) && group.binary_search(&to).is_ok();
        let Some((from, back)) = closing(flow, &group, depth.get_or_init(|| depths(flow))) else {
            continue;
        };
        let cycle = shortest(flow, from, inside);
        let Some(cycle) = cycle.filter(|_| !group.iter().any(|spot| told.contains(spot))) else {
            continue;
        };
        let message = format!(
            "no way out of the cycle of {}",
            list(members.iter().map(|stop| stop.name.as_str()))
        );
        let mut found = Diagnostic::new(&codes::ENDLESS_CYCLE, message, back).help(format!(
            "give {} an arm that leads on to `end`, or a `max_visits N -> TARGET`",
            match members.len() {
                1 => "it",
                _ => "one of them",
            }
        ));
        found = cycle.labels(flow, found.here("this leads back"));
        for (from, goal) in leading_aside(flow, &group, &stuck).into_iter().take(ASIDE) {
            let text = format!("`{}` goes round as well as leading here", flow.name(from));
            found = found.label(goal, text);
        }
        diags.push(found);
    }
}

/// The arrow that closes a circle: from the spot that is furthest from where the circle is come to, back to one that was met before
/// it. One from where all ways go back comes first: what goes on as well is more likely meant.
///
/// `depth` is how many arrows each spot is away from `start`.
fn closing(flow: &Flow, group: &[Spot], depth: &[usize]) -> Option<(Spot, Span)> {
    let inside = |spot: &Spot| group.binary_search(spot).is_ok();
    let at = |spot: Spot| flow.number(spot).and_then(|n| depth.get(n).copied());
    let mut best: Option<((bool, usize), Spot, Span)> = None;
    for from in group {
        let ways = || flow.ways(*from).iter().filter(|way| usual(way));
        let goals = || ways().flat_map(|way| &way.goals);
        // Nodes are written mostly in the order in which they run.
        let back = |to: Spot| match (place(flow, to), place(flow, *from)) {
            (Some(to), Some(from)) => to <= from,
            _ => at(to) <= at(*from),
        };
        let goes_back = |goal: &&Goal| inside(&goal.to) && back(goal.to);
        let only = goals().all(|goal| goes_back(&goal));
        for goal in goals().filter(goes_back) {
            let rank = (only, place(flow, *from).map_or(0, |from| from as usize));
            if best.is_none_or(|(known, _, _)| rank > known) {
                best = Some((rank, *from, goal.span));
            }
        }
    }
    best.map(|(_, from, span)| (from, span))
}

/// Where a node is declared.
fn place(flow: &Flow, spot: Spot) -> Option<u32> {
    match spot {
        Spot::Node(id) => flow.stops.get(id).map(|stop| stop.span.start),
        _ => None,
    }
}

/// How many arrows each spot is away from `start`.
fn depths(flow: &Flow) -> Vec<usize> {
    let mut depth = vec![usize::MAX; flow.stops.len() + flow.joins.len()];
    let mut open: VecDeque<(Spot, usize)> = VecDeque::new();
    let goals = |ways: &[Way]| -> Vec<Spot> {
        ways.iter()
            .flat_map(|way| &way.goals)
            .map(|goal| goal.to)
            .collect()
    };
    open.extend(goals(&flow.start).into_iter().map(|to| (to, 0)));
    while let Some((spot, steps)) = open.pop_front() {
        let slot = flow.number(spot).and_then(|n| depth.get_mut(n));
        if let Some(slot) = slot.filter(|slot| **slot == usize::MAX) {
            *slot = steps;
            open.extend(goals(flow.ways(spot)).into_iter().map(|to| (to, steps + 1)));
        }
    }
    depth
}

/// Most arrows out of a circle that a message points at.
const ASIDE: usize = 3;

/// Arrows that leave a circle beside one that stays in it, so that they are no way out.
fn leading_aside(flow: &Flow, group: &[Spot], stuck: &impl Fn(Spot) -> bool) -> Vec<(Spot, Span)> {
    let mut aside = Vec::new();
    for spot in group {
        for way in flow.ways(*spot).iter().filter(|way| usual(way)) {
            let out = way.goals.iter().filter(|goal| !stuck(goal.to));
            aside.extend(out.map(|goal| (*spot, goal.span)));
        }
    }
    aside
}

fn nodes<'a>(flow: &'a Flow, group: &[Spot]) -> Vec<&'a super::model::Stop> {
    let stops = group.iter().filter_map(|spot| match spot {
        Spot::Node(at) => flow.stops.get(*at),
        _ => None,
    });
    stops.collect()
}
