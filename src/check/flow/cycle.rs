//! Circles: the witness of one, and those that only `branch` nodes make.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

use crate::diag::{Diagnostic, Diagnostics, codes};

use super::group::{Ends, groups};
use super::model::{Flow, Spot, Way};

/// Most places of a circle that a message points at.
const SHOWN: usize = 8;

/// A circle: each spot leads to the next, the last to the first.
pub struct Cycle(Vec<Spot>);

impl Cycle {
    /// Points at each arrow of the circle but the one that the finding itself points at.
    pub fn labels(&self, flow: &Flow, mut found: Diagnostic) -> Diagnostic {
        let at = found.span();
        let next = self.0.iter().skip(1).chain(self.0.first());
        for (from, to) in self.0.iter().zip(next).take(SHOWN) {
            let goals = flow.ways(*from).iter().flat_map(|way| &way.goals);
            if let Some(goal) = goals
                .into_iter()
                .find(|goal| goal.to == *to && goal.span != at)
            {
                let text = match (from, to) {
                    (_, Spot::Join(_)) => format!("`{}` joins others", flow.name(*from)),
                    (Spot::Join(_), _) => format!("the join leads to `{}`", flow.name(*to)),
                    _ => format!("`{}` leads to `{}`", flow.name(*from), flow.name(*to)),
                };
                found = found.label(goal.span, text);
            }
        }
        found
    }

    /// Its spots, from where it was looked for.
    pub fn spots(&self) -> impl Iterator<Item = Spot> + '_ {
        self.0.iter().copied()
    }

    /// `a -> b -> a`
    pub fn path(&self, flow: &Flow) -> String {
        let names: Vec<&str> = self
            .0
            .iter()
            .chain(self.0.first())
            .filter(|spot| !matches!(spot, Spot::Join(_)))
            .map(|spot| flow.name(*spot))
            .collect();
        names.join(" -> ")
    }
}

/// A shortest circle through a spot, by the arrows that count.
pub fn shortest(
    flow: &Flow,
    through: Spot,
    take: impl Fn(Spot, &Way, Spot) -> bool,
) -> Option<Cycle> {
    // Only what is come to has an entry: a flow may have thousands of small circles.
    let mut from: HashMap<usize, Spot> = HashMap::new();
    let mut open = VecDeque::from([through]);
    while let Some(spot) = open.pop_front() {
        let arrows = flow
            .ways(spot)
            .iter()
            .flat_map(|way| way.goals.iter().map(move |goal| (way, goal)));
        for (_, goal) in arrows.filter(|(way, goal)| take(spot, way, goal.to)) {
            if goal.to == through {
                return Some(back(flow, &from, spot, through));
            }
            let slot = flow.number(goal.to).map(|n| from.entry(n));
            if let Some(Entry::Vacant(slot)) = slot {
                slot.insert(spot);
                open.push_back(goal.to);
            }
        }
    }
    None
}

fn back(flow: &Flow, from: &HashMap<usize, Spot>, last: Spot, first: Spot) -> Cycle {
    let mut spots = vec![last];
    let mut at = last;
    while at != first {
        match flow.number(at).and_then(|n| from.get(&n)) {
            Some(before) => at = *before,
            None => break,
        }
        spots.push(at);
    }
    spots.reverse();
    Cycle(spots)
}

/// Reports circles made of `branch` nodes alone: a branch is followed without a super-step, so such
/// a circle would never come to one.
pub fn branches(flow: &Flow, diags: &mut Diagnostics) {
    let branch = |spot: Spot| match spot {
        Spot::Node(id) => flow.stops.get(id).filter(|stop| stop.branch),
        _ => None,
    };
    for group in groups(flow, |spot| branch(spot).is_some(), |_, _| true, Ends::Any) {
        let inside = |_: Spot, _: &Way, to: Spot| group.contains(&to);
        let first = group.first().copied();
        let (Some(stop), Some(cycle)) = (
            first.and_then(branch),
            first.and_then(|spot| shortest(flow, spot, inside)),
        ) else {
            continue;
        };
        let found = Diagnostic::new(
            &codes::BRANCH_CYCLE,
            format!("branches lead in a circle: `{}`", cycle.path(flow)),
            stop.span,
        )
        .help("a branch is followed at once, without a super-step; put a node that does something into the circle");
        diags.push(cycle.labels(flow, found));
    }
}
