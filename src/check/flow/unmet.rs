//! Joins that wait for what only a `max_visits` leads to that is never met.
//!
//! A node that no circle leads to is entered so many times at most: as often as arrows into it are taken, and each is taken
//! no more often than where it comes from is entered. A join leads on no more often than the rarest of its members arrives.
//! Where a node can't be entered more often than its `max_visits` allows, nothing comes to the target.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::{JoinId, NodeId};
use crate::resolve::program::Graph;

use super::arrows::Arrows;
use super::model::{Cause, Flow, Spot};
use super::together::Together;

/// A cap that is never met.
struct Unmet {
    /// The capped node.
    node: NodeId,
    /// How often it is entered at most.
    entries: u64,
    /// The `max_visits`.
    span: Span,
}

/// Reports these joins; gives them back.
pub fn unmet(
    graph: &Graph,
    flow: &Flow,
    arrows: &Arrows,
    together: &Together,
    diags: &mut Diagnostics,
) -> BTreeSet<JoinId> {
    let mut silent = BTreeSet::new();
    let capped = |stop: &super::model::Stop| stop.ways.iter().any(|way| way.cause == Cause::Visits);
    if flow.joins.is_empty() || !flow.stops.iter().any(capped) {
        return silent;
    }
    let entries = Entries::of(graph, flow, arrows);
    for (id, join) in flow.joins.entries() {
        if !together.fires(id) || entries.at(Spot::Join(id)) != Some(0) {
            continue;
        }
        let members = join.members.iter();
        let mut missing = members.filter(|(member, _)| entries.at(Spot::Node(*member)) == Some(0));
        let found = missing.find_map(|(member, _)| {
            Some((*member, entries.cap(graph, arrows, Spot::Node(*member))?))
        });
        let Some((member, cap)) = found else { continue };
        let (missing, node) = (
            flow.name(Spot::Node(member)),
            flow.name(Spot::Node(cap.node)),
        );
        let times = match cap.entries {
            1 => "once".to_owned(),
            more => format!("{more} times"),
        };
        silent.insert(id);
        diags.push(
            Diagnostic::new(
                &codes::JOIN_NEVER_FIRES,
                format!(
                    "this join waits for `{missing}`, to which only `max_visits` of `{node}` leads: `{node}` is entered {times} at most, so that it is never met"
                ),
                join.span,
            )
            .label(cap.span, "never met")
            .help(format!("lead to `{missing}` by an edge, or take it out of the join")),
        );
    }
    silent
}

/// How often each spot is entered at most, by its number; `None` where nothing bounds that.
struct Entries<'a> {
    flow: &'a Flow,
    most: Vec<Option<u64>>,
}

impl<'a> Entries<'a> {
    /// Counts, what is led to behind what leads there. What a circle leads to is not come to.
    fn of(graph: &Graph, flow: &'a Flow, arrows: &Arrows) -> Self {
        let spots: Vec<Spot> = flow.spots().collect();
        let mut waits: Vec<usize> = spots
            .iter()
            .map(|spot| {
                arrows
                    .into(flow, *spot)
                    .iter()
                    .filter(|arrow| arrow.from.is_some())
                    .count()
            })
            .collect();
        let mut entries = Self {
            flow,
            most: vec![None; spots.len()],
        };
        let mut open: Vec<usize> = (0..spots.len())
            .filter(|at| waits.get(*at) == Some(&0))
            .collect();
        while let Some(at) = open.pop() {
            let spot = flow.spot(at);
            let most = entries.counted(graph, arrows, spot);
            if let Some(slot) = entries.most.get_mut(at) {
                *slot = most;
            }
            for goal in flow.ways(spot).iter().flat_map(|way| &way.goals) {
                let next = flow.number(goal.to);
                if let Some((next, left)) = next.and_then(|next| Some((next, waits.get_mut(next)?)))
                {
                    *left -= 1;
                    if *left == 0 {
                        open.push(next);
                    }
                }
            }
        }
        entries
    }

    fn at(&self, spot: Spot) -> Option<u64> {
        self.most.get(self.flow.number(spot)?).copied()?
    }

    /// How often a spot is entered, from how often the others are.
    fn counted(&self, graph: &Graph, arrows: &Arrows, spot: Spot) -> Option<u64> {
        // A node takes one of its ways each time; that of its `max_visits` where it is not entered.
        let mut from: BTreeMap<(Option<Spot>, bool), u64> = BTreeMap::new();
        for arrow in arrows.into(self.flow, spot) {
            let taken = match arrow.from {
                None => 1,
                Some(source) => self.taken(graph, source, arrow.way.cause)?,
            };
            if taken > 0 && arrow.goal().is_none_or(|goal| goal.many) {
                return None;
            }
            let instead = arrow.way.cause == Cause::Visits;
            let most = from.entry((arrow.from, instead)).or_default();
            *most = taken.max(*most);
        }
        let Spot::Join(id) = spot else {
            return Some(from.into_values().fold(0, u64::saturating_add));
        };
        let members = self.flow.joins.get(id)?.members.iter();
        let arrives = members.map(|(member, _)| {
            let ways = [true, false].map(|instead| (Some(Spot::Node(*member)), instead));
            let ways = ways.map(|way| from.get(&way).copied().unwrap_or_default());
            ways.into_iter().fold(0, u64::saturating_add)
        });
        arrives.min()
    }

    /// How often the ways out of a spot are taken that have this cause.
    fn taken(&self, graph: &Graph, spot: Spot, cause: Cause) -> Option<u64> {
        let most = self.at(spot)?;
        let Spot::Node(id) = spot else {
            return Some(most);
        };
        let max = graph
            .nodes
            .get(id)
            .and_then(|node| node.max_visits.as_ref());
        let Some(max) = max else {
            return Some(most);
        };
        // Each instance has its own number, which is at least one.
        let limit = max.limit_by.is_none().then_some(u64::from(max.limit));
        Some(match cause {
            Cause::Visits => most.saturating_sub(limit.unwrap_or(1)),
            _ => most.min(limit.unwrap_or(most)),
        })
    }

    /// The cap that alone leads to a spot, and is never met.
    fn cap(&self, graph: &Graph, arrows: &Arrows, spot: Spot) -> Option<Unmet> {
        let mut seen = BTreeSet::from([spot]);
        let mut open = vec![spot];
        while let Some(spot) = open.pop() {
            for arrow in arrows.into(self.flow, spot) {
                let Some(from) = arrow.from else { continue };
                if let (Cause::Visits, Spot::Node(node), Some(entries @ 1..)) =
                    (arrow.way.cause, from, self.at(from))
                {
                    let max = graph.nodes.get(node)?.max_visits.as_ref()?;
                    return Some(Unmet {
                        node,
                        entries,
                        span: max.span,
                    });
                }
                if seen.insert(from) {
                    open.push(from);
                }
            }
        }
        None
    }
}
