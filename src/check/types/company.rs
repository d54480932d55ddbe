//! Which tasks surely run beside another, and what they surely write: what a step has written when the next begins.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use crate::base::shared::SharedSet;
use crate::ir::{FieldId, JoinId, NodeId};

use super::super::flow::arrows::Arrows;
use super::super::flow::avoid::{Avoided, Count, circles_of};
use super::super::flow::bits::FieldSet;
use super::super::flow::effect::Effects;
use super::super::flow::{Cause, Flow, Goal, Spot, Way};

/// Nodes that run in the super-step of another whenever that one does, as far as is known.
pub type Company = SharedSet<NodeId>;

/// Most nodes that are kept as company of one.
const MOST: usize = 16;

/// What the tasks of a flow surely do.
pub struct Sure<'a> {
    flow: &'a Flow,
    effects: &'a Effects,
    /// What nodes write whatever way they take, as far as somebody has asked.
    writes: RefCell<HashMap<NodeId, Rc<FieldSet>>>,
    /// Nodes that they lead to whatever way they take, as far as somebody has asked.
    next: RefCell<HashMap<NodeId, Rc<Company>>>,
    /// By node: what is written by all that it leads to, up to the next deferred node. Only where a node is deferred.
    ends: Vec<FieldSet>,
}

impl<'a> Sure<'a> {
    /// Looks at all nodes of a flow. `at_times` are the joins that are waited at in vain at times.
    pub fn new(flow: &'a Flow, effects: &'a Effects, at_times: &BTreeSet<JoinId>) -> Self {
        let mut sure = Self {
            flow,
            effects,
            writes: RefCell::default(),
            next: RefCell::default(),
            ends: Vec::new(),
        };
        if !effects.tracked.is_empty() && flow.stops.iter().any(|stop| stop.defer) {
            let (arrows, group, waiting) = (Arrows::new(flow), circles_of(flow), BTreeSet::new());
            let known = (group.as_slice(), None, last(flow, at_times));
            let left = Avoided::cut_off(flow, &arrows, effects, Count::Certain, &waiting, known);
            for id in flow.stops.ids() {
                let mut written = effects.tracked.all();
                written.without(&left.from(Spot::Node(id)));
                sure.ends.push(written);
            }
        }
        sure
    }

    /// What the tasks beside a node have written when the next step begins.
    pub fn written_beside(&self, company: &Company) -> Vec<FieldId> {
        self.gather(company, |id, all| {
            let mut known = self.writes.borrow_mut();
            let written = known
                .entry(id)
                .or_insert_with(|| Rc::new(self.always_written(id)));
            all.join(written);
        })
    }

    /// What they and all that follows them have written when nothing is left to run but what is deferred. Deferred nodes run
    /// together then: what they write themselves, and what only follows them, does not count.
    pub fn written_at_last(&self, company: &Company) -> Vec<FieldId> {
        self.gather(company, |id, all| {
            if let Some(set) = self.ends.get(id.0 as usize) {
                all.join(set);
            }
        })
    }

    fn gather(&self, company: &Company, add: impl Fn(NodeId, &mut FieldSet)) -> Vec<FieldId> {
        if company.is_empty() {
            return Vec::new();
        }
        let mut all = self.effects.tracked.none();
        company.iter().for_each(|id| add(*id, &mut all));
        self.effects.tracked.list(&all).collect()
    }

    /// The company of what a goal leads to: the way's other goals, and what those beside `from` lead to. From a
    /// branch, which costs no step, those beside it themselves.
    pub fn beside(
        &self,
        way: &Way,
        goal: &Goal,
        from: Option<NodeId>,
        company: &Company,
    ) -> Company {
        if self.effects.tracked.is_empty() {
            return Company::new();
        }
        let others = way.goals.iter().filter_map(|goal| self.task(goal));
        let other = |id: &NodeId| goal.to != Spot::Node(*id);
        let branch = from.is_some_and(|id| self.flow.stops.get(id).is_some_and(|stop| stop.branch));
        let mut beside: Company = others.take(MOST).filter(other).collect();
        match branch {
            true => beside.extend(company.iter().filter(|id| other(id)).copied()),
            false => {
                for id in company {
                    let next = self.next(*id);
                    beside.extend(next.iter().filter(|id| other(id)).copied());
                }
            }
        }
        match beside.iter().nth(MOST) {
            None => beside,
            Some(_) => beside.iter().take(MOST).copied().collect(),
        }
    }

    /// The node that a goal surely starts in the next step.
    fn task(&self, goal: &Goal) -> Option<NodeId> {
        let Spot::Node(id) = goal.to else { return None };
        let stop = self.flow.stops.get(id)?;
        let capped = stop.ways.iter().any(|way| way.cause == Cause::Visits);
        (!goal.many && !stop.branch && !stop.defer && !capped).then_some(id)
    }

    fn always_written(&self, id: NodeId) -> FieldSet {
        let mut all: Option<FieldSet> = None;
        for (at, way) in self.flow.ways(Spot::Node(id)).iter().enumerate() {
            if way.cause == Cause::Visits {
                continue;
            }
            let sure = self.effects.sure(self.flow, Spot::Node(id), at);
            match &mut all {
                Some(all) => all.keep(&sure),
                None => all = Some(sure),
            }
        }
        all.unwrap_or_else(|| self.effects.tracked.none())
    }

    fn next(&self, id: NodeId) -> Rc<Company> {
        let mut known = self.next.borrow_mut();
        let next = known
            .entry(id)
            .or_insert_with(|| Rc::new(self.always_next(id)));
        next.clone()
    }

    fn always_next(&self, id: NodeId) -> Company {
        let ways = self.flow.ways(Spot::Node(id)).iter();
        let ways = ways.filter(|way| way.cause != Cause::Visits);
        let goals = ways.map(|way| {
            let goals = way.goals.iter().filter_map(|goal| self.task(goal));
            goals.take(MOST).collect::<Company>()
        });
        let shared = goals.reduce(|all, goals| all.intersection(&goals));
        shared.unwrap_or_default()
    }
}

/// By number, what may run only when a deferred node has: such nodes, and joins that may wait for one, or in vain.
fn last(flow: &Flow, at_times: &BTreeSet<JoinId>) -> Vec<bool> {
    let mut last = vec![false; flow.stops.len() + flow.joins.len()];
    let deferred = flow.stops.entries().filter(|(_, stop)| stop.defer);
    let mut open: Vec<Spot> = deferred.map(|(id, _)| Spot::Node(id)).collect();
    let mut behind: BTreeSet<Spot> = open.iter().copied().collect();
    while let Some(spot) = open.pop() {
        let goals = flow.ways(spot).iter().flat_map(|way| &way.goals);
        let goals = goals.map(|goal| goal.to).filter(|to| behind.insert(*to));
        open.extend(goals);
    }
    for (id, join) in flow.joins.entries() {
        let mut members = join.members.iter();
        if at_times.contains(&id)
            || members.any(|(member, _)| behind.contains(&Spot::Node(*member)))
        {
            let slot = flow.number(Spot::Join(id)).and_then(|n| last.get_mut(n));
            slot.into_iter().for_each(|slot| *slot = true);
        }
    }
    for (id, _) in flow.stops.entries().filter(|(_, stop)| stop.defer) {
        let slot = last.get_mut(id.0 as usize);
        slot.into_iter().for_each(|slot| *slot = true);
    }
    last
}
