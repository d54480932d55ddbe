//! Goals of one way that are led on from at once, through branches and past full nodes, and write the same field there.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::base::name::list;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::{FieldId, NodeId};

use super::arrows::Arrows;
use super::avoid::circles_of;
use super::made::{Makers, at_goal, collides, makers};
use super::model::{Cause, Flow, Goal, Spot, Stop, Way, Write};
use super::together::Together;

/// Most branches and full nodes that are passed for all forks of a graph. What is beyond is not looked at; a run in which it
/// comes about stops with an error.
const STEPS: usize = 1_000_000;

/// Reports each field that two goals of a way may write so, once for each way: of `start`, of nodes, branches and joins, and of
/// what stands in for full nodes.
pub fn races(flow: &Flow, arrows: &Arrows, together: &Together, diags: &mut Diagnostics) {
    if !flow.stops.iter().any(|stop| writes_at_once(flow, stop)) {
        return;
    }
    let mut first = First {
        flow,
        arrows,
        circles: None,
        once: HashMap::new(),
    };
    let mut steps = STEPS;
    let starts = flow.start.iter().map(|way| (None, way));
    let others = flow.spots().flat_map(|spot| {
        let ways = flow.ways(spot).iter();
        ways.map(move |way| (Some(spot), way))
    });
    for (from, way) in starts.chain(others) {
        let forks = way.goals.len() > 1 || way.goals.iter().any(|goal| goal.many);
        if forks && together.follows(way) {
            of_way(flow, (from, way), (&mut first, &mut steps), diags);
        }
    }
}

/// Whether a stop writes a field that collides without a super-step of its own.
fn writes_at_once(flow: &Flow, stop: &Stop) -> bool {
    let ways = stop.ways.iter();
    let ways = ways.filter(|way| stop.branch || way.cause == Cause::Visits);
    let own = stop.writes.iter().filter(|_| stop.branch);
    let mut writes = own.chain(ways.flat_map(|way| &way.writes));
    writes.any(|write| collides(flow, write.field).is_some())
}

fn of_way(
    flow: &Flow,
    (from, way): (Option<Spot>, &Way),
    (first, steps): (&mut First, &mut usize),
    diags: &mut Diagnostics,
) {
    let mut known: HashMap<FieldId, (usize, Makers)> = HashMap::new();
    let mut told: HashSet<FieldId> = HashSet::new();
    let mut found: BTreeMap<(FieldId, usize), Diagnostic> = BTreeMap::new();
    for (at, goal) in way.goals.iter().enumerate() {
        let Spot::Node(to) = goal.to else { continue };
        let Some(stop) = flow.stops.get(to) else {
            continue;
        };
        let capped = stop.ways.iter().any(|way| way.cause == Cause::Visits);
        if !(stop.branch || capped) || (capped && first.comes(from, way, to)) {
            continue;
        }
        for (field, makers) in makers(flow, at_goal(flow, goal, steps)) {
            let Some(name) = collides(flow, field).filter(|_| !told.contains(&field)) else {
                continue;
            };
            if let Some(write) = makers.stand_in().filter(|_| goal.many) {
                told.insert(field);
                found.insert((field, at), sent(flow, way, goal, (write, name)));
                continue;
            }
            let (before, others) = *known.entry(field).or_insert((at, makers));
            let both = others.collide(&makers).filter(|_| before != at);
            if let Some(writes) = both {
                told.insert(field);
                let goals = [way.goals.get(before), Some(goal)].map(|goal| goal.map(|g| g.to));
                found.insert(
                    (field, at),
                    both_write(flow, (from, way), goals, writes, name),
                );
            }
        }
    }
    found.into_values().for_each(|found| diags.push(found));
}

fn both_write(
    flow: &Flow,
    (from, way): (Option<Spot>, &Way),
    goals: [Option<Spot>; 2],
    (one, other): (Write, Write),
    field: &str,
) -> Diagnostic {
    let [a, b] = goals.map(|goal| goal.map_or("?", |spot| flow.name(spot)));
    let from = begin(flow, from);
    let message = match a == b {
        true => format!("`{a}`, which {from} leads to twice at once, writes `{field}` each time"),
        false => format!(
            "`{a}` and `{b}`, which {from} leads to at once, may both write `{field}` in the same super-step"
        ),
    };
    let mut found = Diagnostic::new(&codes::WRITE_CONFLICT, message, other.span);
    if one.span != other.span {
        found = found.label(one.span, "written here too");
    }
    found
        .label(way.span, "both are followed from here")
        .help(format!(
            "write `{field}` in one of them, or give it a reducer"
        ))
}

fn sent(flow: &Flow, way: &Way, goal: &Goal, (write, field): (Write, &str)) -> Diagnostic {
    let message = format!(
        "each task that is sent to `{}` when it has been visited often enough writes `{field}` in the same super-step",
        flow.name(goal.to)
    );
    Diagnostic::new(&codes::WRITE_CONFLICT, message, write.span)
        .label(way.span, "several are sent here")
        .help(format!("give `{field}` a reducer"))
}

/// Who leads there, for a message.
fn begin(flow: &Flow, from: Option<Spot>) -> String {
    let name = |id: &NodeId| flow.name(Spot::Node(*id));
    match from {
        None => "`start`".to_owned(),
        Some(Spot::Join(id)) => {
            let members = flow.joins.get(id).into_iter();
            let members = members.flat_map(|join| &join.members);
            format!("the join of {}", list(members.map(|(id, _)| name(id))))
        }
        Some(spot) => format!("`{}`", flow.name(spot)),
    }
}

/// Whether a capped node is come to for the first time.
struct First<'a, 'f> {
    flow: &'f Flow,
    arrows: &'a Arrows<'f>,
    /// The circle of each spot, and how many spots are in each; found when first asked for.
    circles: Option<(Vec<usize>, HashMap<usize, usize>)>,
    /// Spots of which it is known whether they are come to once at most.
    once: HashMap<Spot, bool>,
}

impl First<'_, '_> {
    /// Whether nothing can have come to a node before a way does: all other arrows into it are in its own circle, and the way is
    /// taken once.
    fn comes(&mut self, from: Option<Spot>, way: &Way, to: NodeId) -> bool {
        if way.goals.iter().any(|goal| goal.many) {
            return false;
        }
        let own = self.circle(Spot::Node(to));
        let arrows = self.arrows;
        let mut others = arrows.into(self.flow, Spot::Node(to)).iter();
        others.all(|arrow| {
            let round = |spot| self.circle(spot) == own;
            arrow.from == from || arrow.from.is_some_and(round)
        }) && self.once(from)
    }

    /// Whether a spot is surely come to once at most: one spot alone leads to it, which is come to once at most.
    fn once(&mut self, spot: Option<Spot>) -> bool {
        let mut passed = Vec::new();
        let mut at = spot;
        let once = loop {
            let Some(spot) = at else { break true };
            if let Some(known) = self.once.get(&spot) {
                break *known;
            }
            passed.push(spot);
            match self.before(spot) {
                Some(before) => at = before,
                None => break false,
            }
        };
        self.once
            .extend(passed.into_iter().map(|spot| (spot, once)));
        once
    }

    /// From where alone one task comes to a spot that it doesn't come to again.
    fn before(&mut self, spot: Spot) -> Option<Option<Spot>> {
        if self.goes_round(spot) {
            return None;
        }
        let arrows = self.arrows;
        let mut into = arrows.into(self.flow, spot).iter();
        let before = into.next()?;
        let many = before.goal().is_none_or(|goal| goal.many);
        let others = into.any(|arrow| arrow.from != before.from);
        (!many && !others).then_some(before.from)
    }

    fn circle(&mut self, spot: Spot) -> Option<usize> {
        let number = self.flow.number(spot)?;
        self.found().0.get(number).copied()
    }

    fn goes_round(&mut self, spot: Spot) -> bool {
        let itself = |goal: &Goal| goal.to == spot;
        let mut goals = self.flow.ways(spot).iter().flat_map(|way| &way.goals);
        if goals.any(itself) {
            return true;
        }
        let circle = self.circle(spot);
        let size = circle.and_then(|circle| self.found().1.get(&circle));
        size.is_none_or(|size| *size > 1)
    }

    fn found(&mut self) -> &(Vec<usize>, HashMap<usize, usize>) {
        let flow = self.flow;
        self.circles.get_or_insert_with(|| {
            let circles = circles_of(flow);
            let mut sizes = HashMap::new();
            for circle in &circles {
                *sizes.entry(*circle).or_default() += 1;
            }
            (circles, sizes)
        })
    }
}
