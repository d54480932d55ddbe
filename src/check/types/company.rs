//! Which tasks surely run beside another, and what they surely write: what a step has written when the next begins.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use crate::base::shared::SharedSet;
use crate::ir::{FieldId, JoinId, NodeId};

use super::super::cfg::bits::FieldSet;
use super::super::cfg::effect::Effects;
use super::super::cfg::leaves_unwritten::{Count, LeavesUnwritten, components_of};
use super::super::cfg::predecessors::Predecessors;
use super::super::cfg::{BlockId, ControlFlowGraph, EdgeKind, Successor, Transition};

/// Nodes that run in the super-step of another whenever that one does, as far as is known.
pub type Company = SharedSet<NodeId>;

/// Most nodes that are kept as company of one.
const MOST: usize = 16;

/// What the tasks of a flow surely do.
pub struct Sure<'a> {
    cfg: &'a ControlFlowGraph,
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
    pub fn new(
        cfg: &'a ControlFlowGraph,
        effects: &'a Effects,
        at_times: &BTreeSet<JoinId>,
    ) -> Self {
        let mut sure = Self {
            cfg,
            effects,
            writes: RefCell::default(),
            next: RefCell::default(),
            ends: Vec::new(),
        };
        if !effects.tracked.is_empty() && cfg.nodes.iter().any(|node| node.defer) {
            let (predecessors, group, waiting) =
                (Predecessors::new(cfg), components_of(cfg), BTreeSet::new());
            let known = (group.as_slice(), None, last(cfg, at_times));
            let left = LeavesUnwritten::cut_off(
                cfg,
                &predecessors,
                effects,
                Count::Certain,
                &waiting,
                known,
            );
            for id in cfg.nodes.ids() {
                let mut written = effects.tracked.all();
                written.without(&left.from(BlockId::Node(id)));
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
        transition: &Transition,
        successor: &Successor,
        from: Option<NodeId>,
        company: &Company,
    ) -> Company {
        if self.effects.tracked.is_empty() {
            return Company::new();
        }
        let others = transition
            .successors
            .iter()
            .filter_map(|successor| self.task(successor));
        let other = |id: &NodeId| successor.to != BlockId::Node(*id);
        let branch = from.is_some_and(|id| self.cfg.nodes.get(id).is_some_and(|node| node.branch));
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
    fn task(&self, successor: &Successor) -> Option<NodeId> {
        let BlockId::Node(id) = successor.to else {
            return None;
        };
        let node = self.cfg.nodes.get(id)?;
        let capped = node
            .transitions
            .iter()
            .any(|transition| transition.kind == EdgeKind::Visits);
        (!successor.many && !node.branch && !node.defer && !capped).then_some(id)
    }

    fn always_written(&self, id: NodeId) -> FieldSet {
        let mut all: Option<FieldSet> = None;
        for (at, transition) in self.cfg.transitions(BlockId::Node(id)).iter().enumerate() {
            if transition.kind == EdgeKind::Visits {
                continue;
            }
            let sure = self.effects.sure(self.cfg, BlockId::Node(id), at);
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
        let transitions = self.cfg.transitions(BlockId::Node(id)).iter();
        let transitions = transitions.filter(|transition| transition.kind != EdgeKind::Visits);
        let successors = transitions.map(|transition| {
            let successors = transition
                .successors
                .iter()
                .filter_map(|successor| self.task(successor));
            successors.take(MOST).collect::<Company>()
        });
        let shared = successors.reduce(|all, successors| all.intersection(&successors));
        shared.unwrap_or_default()
    }
}

/// By number, what may run only when a deferred node has: such nodes, and joins that may wait for one, or in vain.
fn last(cfg: &ControlFlowGraph, at_times: &BTreeSet<JoinId>) -> Vec<bool> {
    let mut last = vec![false; cfg.nodes.len() + cfg.joins.len()];
    let deferred = cfg.nodes.entries().filter(|(_, node)| node.defer);
    let mut open: Vec<BlockId> = deferred.map(|(id, _)| BlockId::Node(id)).collect();
    let mut behind: BTreeSet<BlockId> = open.iter().copied().collect();
    while let Some(block) = open.pop() {
        let successors = cfg
            .transitions(block)
            .iter()
            .flat_map(|transition| &transition.successors);
        let successors = successors
            .map(|successor| successor.to)
            .filter(|to| behind.insert(*to));
        open.extend(successors);
    }
    for (id, join) in cfg.joins.entries() {
        let mut members = join.members.iter();
        if at_times.contains(&id)
            || members.any(|(member, _)| behind.contains(&BlockId::Node(*member)))
        {
            let slot = cfg.number(BlockId::Join(id)).and_then(|n| last.get_mut(n));
            slot.into_iter().for_each(|slot| *slot = true);
        }
    }
    for (id, _) in cfg.nodes.entries().filter(|(_, node)| node.defer) {
        let slot = last.get_mut(id.0 as usize);
        slot.into_iter().for_each(|slot| *slot = true);
    }
    last
}
