//! `max_visits` that lead in a circle: once all caps in it are full, a run that has come there never ends.

use std::collections::BTreeSet;

use crate::base::Span;
use crate::base::name::list;
use crate::diag::{Diagnostic, Diagnostics, Fact, codes};
use crate::ir::{JoinId, NodeId};

use super::arrows::Arrows;
use super::cycle::{Cycle, shortest};
use super::finish::{settled, usual};
use super::group::{Ends, OfCircle, groups};
use super::model::{Cause, Flow, Spot, Way};

/// Reports circles that go on for ever by a `max_visits`, among spots that can come to an end as long as it is not met.
/// `waiting` are joins that are waited at in vain; `exits` says of a circle whether the graph's `exit when` may end it. Gives back the spots in them.
pub fn circles(
    flow: &Flow,
    arrows: &Arrows,
    (reached, free): (&[bool], &[bool]),
    (waiting, exits): (&BTreeSet<JoinId>, OfCircle),
    diags: &mut Diagnostics,
) -> BTreeSet<Spot> {
    let mut told = BTreeSet::new();
    let full = Full::new(flow);
    if !full.capped.iter().any(|capped| *capped) {
        return told;
    }
    let fate = |spot| match spot {
        Spot::Join(join) => waiting.contains(&join).then_some(true),
        _ => None,
    };
    let take = |spot: Spot, way: &Way| full.takes(spot, way);
    let ending = settled(flow, arrows, fate, take, |_| false);
    let at = |list: &[bool], spot: Spot| {
        let known = flow.number(spot).and_then(|n| list.get(n));
        known.copied().unwrap_or(false)
    };
    // What can't come to an end in any case is reported as such.
    let stuck = |spot: Spot| at(reached, spot) && at(free, spot) && !at(&ending, spot);
    for group in groups(flow, stuck, take, Ends::Sinks) {
        if let Some(found) = full.report(&group).filter(|_| !exits(&group)) {
            diags.push(found);
            told.extend(group);
        }
    }
    told
}

/// A flow in which all capped nodes are visited as often as they may be.
struct Full<'a> {
    flow: &'a Flow,
    /// By number.
    capped: Vec<bool>,
}

impl<'a> Full<'a> {
    fn new(flow: &'a Flow) -> Self {
        let visits = |spot| flow.ways(spot).iter().any(|way| way.cause == Cause::Visits);
        let capped = flow.spots().map(visits).collect();
        Self { flow, capped }
    }

    fn takes(&self, spot: Spot, way: &Way) -> bool {
        match self.is_capped(spot) {
            true => way.cause == Cause::Visits,
            false => usual(way),
        }
    }

    fn is_capped(&self, spot: Spot) -> bool {
        let known = self.flow.number(spot).and_then(|n| self.capped.get(n));
        known.copied().unwrap_or(false)
    }

    /// The arrow by which a way that only `max_visits` leads to comes back to the circle that is capped. Where the
    /// target of `max_visits` lies in that circle itself, it is the target that is wrong.
    fn closing(&self, capped: NodeId, cycle: &Cycle) -> Option<Span> {
        let flow = self.flow;
        let usual_ways = |spot: Spot| {
            let ways = flow.ways(spot).iter();
            ways.filter(|way| usual(way) && way.cause != Cause::Visits)
        };
        let mut inside = BTreeSet::new();
        let mut open = vec![Spot::Node(capped)];
        while let Some(spot) = open.pop() {
            if flow.number(spot).is_some() && inside.insert(spot) {
                open.extend(
                    usual_ways(spot)
                        .flat_map(|way| &way.goals)
                        .map(|goal| goal.to),
                );
            }
        }
        let mut spots = cycle.spots().skip(1).peekable();
        if spots.peek().is_none_or(|first| inside.contains(first)) {
            return None;
        }
        let last = spots.take_while(|spot| !inside.contains(spot)).last()?;
        let mut goals = usual_ways(last).flat_map(|way| &way.goals);
        goals
            .find(|goal| inside.contains(&goal.to))
            .map(|goal| goal.span)
    }

    fn report(&self, group: &[Spot]) -> Option<Diagnostic> {
        let flow = self.flow;
        let inside = |goal: Spot| group.binary_search(&goal).is_ok();
        let capped: Vec<NodeId> = group
            .iter()
            .filter_map(|spot| match spot {
                Spot::Node(id) if self.is_capped(*spot) => Some(*id),
                _ => None,
            })
            .collect();
        let caps = capped.iter().flat_map(|id| flow.ways(Spot::Node(*id)));
        let caps = caps.filter(|way| {
            way.cause == Cause::Visits && way.goals.iter().any(|goal| inside(goal.to))
        });
        let spans: Vec<_> = caps.map(|way| way.span).collect();
        let (first, rest) = spans.split_first()?;
        let name = |id: NodeId| flow.name(Spot::Node(id));
        let one = *capped.first()?;
        let message = match (capped.as_slice(), group.len() > capped.len()) {
            ([_], false) => format!(
                "`max_visits` of `{0}` leads back to `{0}` itself, which is visited as often as it may be",
                name(one)
            ),
            (_, false) => format!(
                "`max_visits` of {} lead to each other: once all are visited as often as they may be, there is no way on",
                list(capped.iter().map(|id| name(*id)))
            ),
            (_, true) => {
                let path = shortest(flow, Spot::Node(one), |from, way, to| {
                    inside(to) && self.takes(from, way)
                });
                let closing = path.as_ref().and_then(|cycle| self.closing(one, cycle));
                let path = path.map_or_else(String::new, |cycle| cycle.path(flow));
                if let Some(back) = closing {
                    let message = format!(
                        "once `max_visits` of `{}` is met, no way leads out of the circle `{path}`",
                        name(one)
                    );
                    return Some(
                        Diagnostic::new(&codes::VISITS_CIRCLE, message, back)
                            .here("this leads back")
                            .label(*first, "what leads here")
                            .fact(Fact::Arrow)
                            .help("lead on to `end` from here"),
                    );
                }
                format!(
                    "`max_visits` of `{}` leads in a circle that no way leads out of once it is met: `{path}`",
                    name(one)
                )
            }
        };
        let mut found = Diagnostic::new(&codes::VISITS_CIRCLE, message, *first).help(
            match group.len() > capped.len() {
                true => {
                    "name a target that leads on to `end` without coming back here, or `end` itself"
                }
                false => "name a target that is not capped itself, such as `end`",
            },
        );
        for span in rest {
            found = found.label(*span, "and this leads back");
        }
        Some(found)
    }
}
