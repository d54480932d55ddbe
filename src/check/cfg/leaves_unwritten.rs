//! Which fields a run can leave unwritten from each block on to its end.
//!
//! A way avoids a field where it does not write it and each of its goals avoids it: all of them run. A block avoids it where some
//! way does. What comes to a join avoids what is behind the join, and also what some way past another member avoids: then the
//! join waits in vain. The least answer to all that is the right one: only what comes to an end counts.

use std::collections::{BTreeSet, HashMap, VecDeque};

use crate::ir::{FieldId, JoinId, NodeId};

use super::bits::FieldSet;
use super::effect::Effects;
use super::exit::Exits;
use super::incomplete_join::{Arrivals, Past};
use super::model::{BlockId, ControlFlowGraph, EdgeKind, Successor, Transition};

/// What counts as written by the tasks of an `each`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// What each of them writes: the list is taken to have an element.
    Sure,
    /// Nothing: the list may be empty.
    Certain,
}

/// What is known of a flow before its fields are looked at.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// Where the graph may end by an `exit when`.
    pub exits: Option<&'a Exits<'a>>,
    /// How the members of joins come to them.
    pub arrivals: &'a Arrivals,
    /// Joins that never lead on, which is reported.
    pub waiting: &'a BTreeSet<JoinId>,
}

/// The answer for each block.
pub struct LeavesUnwritten<'a> {
    cfg: &'a ControlFlowGraph,
    effects: &'a Effects,
    count: Count,
    known: Known<'a>,
    /// What can be avoided where a block is come to, by number; of a node that is capped, for the first time.
    first: Vec<FieldSet>,
    /// The same where a capped node is come to from its own circle.
    again: Vec<FieldSet>,
    /// Of joins that some way leads past: what can be avoided on such ways.
    lost: HashMap<JoinId, Lost>,
}

/// What can be avoided on ways past the members of a join.
struct Lost {
    /// By member.
    of: HashMap<NodeId, FieldSet>,
    /// Past one of them at least.
    once: FieldSet,
    /// Past two of them at least.
    twice: FieldSet,
}

impl Lost {
    /// Takes in what a way past a member avoids; whether that is more for any of the others.
    fn add(&mut self, member: NodeId, none: FieldSet, avoided: &FieldSet) -> bool {
        let own = self.of.entry(member).or_insert(none);
        let mut fresh = avoided.clone();
        fresh.without(own);
        own.join(avoided);
        let mut shared = fresh.clone();
        shared.keep(&self.once);
        let more = self.twice.join(&shared);
        self.once.join(&fresh) || more
    }

    /// What is avoided where another member than this one does not come.
    fn for_member(&self, member: NodeId) -> FieldSet {
        let mut lost = self.once.clone();
        if let Some(own) = self.of.get(&member) {
            lost.without(own);
        }
        lost.join(&self.twice);
        lost
    }
}

impl<'a> LeavesUnwritten<'a> {
    /// Finds them.
    pub fn new(
        cfg: &'a ControlFlowGraph,
        effects: &'a Effects,
        count: Count,
        known: Known<'a>,
    ) -> Self {
        let blocks = cfg.count();
        let none = || effects.tracked.none();
        let mut avoided = Self {
            cfg,
            effects,
            count,
            known,
            first: (0..blocks).map(|_| none()).collect(),
            again: (0..blocks).map(|_| none()).collect(),
            lost: HashMap::new(),
        };
        avoided.settle();
        avoided
    }

    /// The fields that a run from `start` can leave unwritten.
    pub fn at_start(&self) -> FieldSet {
        let mut all = self.effects.tracked.none();
        for transition in &self.cfg.start {
            all.join(&self.on(transition, None, self.effects.on(transition)));
        }
        all
    }

    fn settle(&mut self) {
        let mut waits = vec![true; self.first.len()];
        let mut open: VecDeque<BlockId> = self
            .cfg
            .blocks()
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .collect();
        let past = self.ways_past();
        while let Some(block) = open.pop_front() {
            let Some(number) = self.cfg.number(block) else {
                continue;
            };
            waits.get_mut(number).into_iter().for_each(|w| *w = false);
            let grown = self.look(block, number);
            let mut again: Vec<BlockId> = Vec::new();
            if grown {
                again.extend(self.cfg.predecessors(block));
            }
            // Ways past a member belong to the node that takes them: whatever they lead to, it is looked at again.
            for (join, past) in past.get(&block).into_iter().flatten() {
                if self.lose(*join, past) {
                    let members = self.cfg.joins.get(*join).into_iter();
                    let members = members.flat_map(|join| &join.members);
                    again.extend(members.map(|(member, _)| BlockId::Node(*member)));
                }
            }
            for from in again {
                let slot = self.cfg.number(from).and_then(|n| waits.get_mut(n));
                if let Some(slot) = slot.filter(|waits| !**waits) {
                    *slot = true;
                    open.push_back(from);
                }
            }
        }
    }

    /// The ways past members of joins, by what takes them.
    fn ways_past(&mut self) -> HashMap<BlockId, Vec<(JoinId, Past)>> {
        let mut past: HashMap<BlockId, Vec<(JoinId, Past)>> = HashMap::new();
        for join in self.cfg.joins.ids() {
            for transition in self.known.arrivals.past(join) {
                past.entry(transition.from)
                    .or_default()
                    .push((join, transition));
                let tracked = &self.effects.tracked;
                self.lost.entry(join).or_insert_with(|| Lost {
                    of: HashMap::new(),
                    once: tracked.none(),
                    twice: tracked.none(),
                });
            }
        }
        past
    }

    /// Looks at a way past a member of a join again; whether more can be avoided where the join waits in vain.
    fn lose(&mut self, join: JoinId, past: &Past) -> bool {
        let Some(transition) = self.cfg.transitions(past.from).get(past.transition) else {
            return false;
        };
        let writes = self.effects.sure(self.cfg, past.from, past.transition);
        let avoided = self.on(transition, Some(past.from), writes);
        let none = self.effects.tracked.none();
        let lost = self.lost.get_mut(&join);
        lost.is_some_and(|lost| lost.add(past.member, none, &avoided))
    }

    /// Looks at a block again; whether more can be avoided from it.
    fn look(&mut self, block: BlockId, number: usize) -> bool {
        if matches!(block, BlockId::Join(join) if self.known.waiting.contains(&join)) {
            return false;
        }
        let (mut first, mut again) = (self.effects.tracked.none(), self.effects.tracked.none());
        for (at, transition) in self.cfg.transitions(block).iter().enumerate() {
            let writes = self.effects.sure(self.cfg, block, at);
            let ended = self.exit(block, transition).is_some().then(|| {
                let mut all = self.effects.tracked.all();
                all.without(&writes);
                all
            });
            let mut avoided = self.on(transition, Some(block), writes);
            if let Some(ended) = &ended {
                avoided.join(ended);
            }
            again.join(&avoided);
            if transition.kind != EdgeKind::Visits {
                first.join(&avoided);
            }
        }
        let more = self
            .first
            .get_mut(number)
            .is_some_and(|set| set.join(&first));
        let again = self
            .again
            .get_mut(number)
            .is_some_and(|set| set.join(&again));
        more || again
    }

    /// The way to the end that may be taken in place of a block's way.
    fn exit(&self, block: BlockId, transition: &Transition) -> Option<&'a Transition> {
        let exits = self.known.exits?;
        exits
            .behind(self.cfg, block, transition)
            .then_some(exits.transition)
    }

    fn on(&self, transition: &Transition, from: Option<BlockId>, writes: FieldSet) -> FieldSet {
        let mut avoided = self.effects.tracked.all();
        for successor in &transition.successors {
            match (self.at(successor, from), self.lost_at(successor, from)) {
                (Some(set), Some(lost)) => {
                    let mut both = set.clone();
                    both.join(&lost);
                    avoided.keep(&both);
                }
                (Some(set), None) => avoided.keep(set),
                (None, _) if matches!(successor.to, BlockId::Fail | BlockId::Leave) => {
                    return self.effects.tracked.none();
                }
                (None, _) => {}
            }
        }
        avoided.without(&writes);
        avoided
    }

    /// What is avoided where a member comes to a join and another one does not.
    fn lost_at(&self, successor: &Successor, from: Option<BlockId>) -> Option<FieldSet> {
        let (BlockId::Join(join), Some(BlockId::Node(member))) = (successor.to, from) else {
            return None;
        };
        Some(self.lost.get(&join)?.for_member(member))
    }

    /// Whether a field is avoided since the join waits in vain for another member.
    fn is_lost(&self, successor: &Successor, from: Option<BlockId>, field: FieldId) -> bool {
        let lost = self.lost_at(successor, from);
        lost.is_some_and(|lost| self.effects.tracked.has(&lost, field))
    }

    /// What a goal avoids; `None` for an exit and for what may not run at all.
    fn at(&self, successor: &Successor, from: Option<BlockId>) -> Option<&FieldSet> {
        let number = self.cfg.number(successor.to)?;
        if successor.many && self.count == Count::Certain {
            return None;
        }
        match self.returns(successor.to, from) {
            true => self.again.get(number),
            false => self.first.get(number),
        }
    }

    /// A way from `start` to the end that leaves a field unwritten: the arrows, and where each comes from.
    pub fn witness(&self, field: FieldId) -> Vec<Step<'a>> {
        let chosen = self.choices(field);
        let mut path = Vec::new();
        let mut at: Option<(BlockId, bool)> = None;
        // Each block is met at most twice: for the first time, and from its own circle.
        for _ in 0..=2 * self.first.len() {
            let from = at.map(|(block, _)| block);
            let leads = |transition: &&Transition| self.leads(&chosen, transition, (from, field));
            let transition = match at {
                None => {
                    let written = |transition: &&Transition| self.effects.on(transition);
                    let mut transitions = self
                        .cfg
                        .start
                        .iter()
                        .filter(|transition| leads(transition).is_some());
                    transitions
                        .find(|transition| !self.effects.tracked.has(&written(transition), field))
                }
                Some((block, again)) => {
                    let choice = self.choice(&chosen, block, again);
                    choice.and_then(|choice| self.cfg.transitions(block).get(choice.transition))
                }
            };
            let Some(transition) = transition else { break };
            let exit = from.and_then(|block| self.exit(block, transition));
            let transition = match exit.filter(|_| leads(&transition).is_none()) {
                Some(exit) => exit,
                None => transition,
            };
            let Some(successor) = self.longest(&chosen, transition, (from, field)) else {
                break;
            };
            path.push((from, transition, successor));
            if self.cfg.number(successor.to).is_none() {
                break;
            }
            at = Some((successor.to, self.returns(successor.to, from)));
        }
        path
    }

    /// Of several goals one by which the end is come to, and not at once where there is another.
    fn longest(
        &self,
        chosen: &Choices,
        transition: &'a Transition,
        (from, field): (Option<BlockId>, FieldId),
    ) -> Option<&'a Successor> {
        let ends = |successor: &&Successor| {
            let choice = self.choice(chosen, successor.to, self.returns(successor.to, from));
            choice.is_some_and(|choice| choice.ends) && !self.is_lost(successor, from, field)
        };
        let end = |successor: &&Successor| successor.to == BlockId::End;
        let mut successors = transition.successors.iter();
        let on = successors.clone().find(ends);
        on.or_else(|| successors.find(end))
            .or(transition.successors.first())
    }

    /// Whether an arrow stays in the circle of what it leads to.
    fn returns(&self, to: BlockId, from: Option<BlockId>) -> bool {
        from.is_some_and(|from| self.cfg.same_component(from, to))
    }

    fn choice(&self, chosen: &Choices, block: BlockId, again: bool) -> Option<Choice> {
        let number = self.cfg.number(block)?;
        chosen
            .get(number)?
            .get(usize::from(again))
            .copied()
            .flatten()
    }

    /// For each block from which the field can be avoided the way that does so and soonest leads to an end: where the
    /// block is come to for the first time, and from its own circle.
    fn choices(&self, field: FieldId) -> Choices {
        let mut chosen: Choices = vec![[None; 2]; self.first.len()];
        let mut open: Vec<BlockId> = self.cfg.blocks().collect();
        while !open.is_empty() {
            let mut found = Vec::new();
            for block in open {
                for layer in 0..2 {
                    let known = self.choice(&chosen, block, layer == 1);
                    let better = self.chooses(&chosen, (block, layer), field);
                    let better = better.filter(|transition| match known {
                        Some(known) => transition.ends && !known.ends,
                        None => true,
                    });
                    found.extend(better.map(|transition| (block, layer, transition)));
                }
            }
            open = Vec::new();
            for (block, layer, transition) in found {
                let slot = self.cfg.number(block).and_then(|n| chosen.get_mut(n));
                if let Some(slot) = slot.and_then(|both| both.get_mut(layer)) {
                    *slot = Some(transition);
                    open.extend(self.cfg.predecessors(block));
                }
            }
        }
        chosen
    }

    /// The way by which a block avoids a field, where what it leads to is chosen; one that comes to the end, where there is one.
    fn chooses(
        &self,
        chosen: &Choices,
        (block, layer): (BlockId, usize),
        field: FieldId,
    ) -> Option<Choice> {
        let avoided = [&self.first, &self.again];
        let set = avoided.get(layer)?.get(self.cfg.number(block)?)?;
        if !self.effects.tracked.has(set, field) {
            return None;
        }
        let transitions = self.cfg.transitions(block).iter().enumerate();
        let transitions = transitions.filter(|(at, transition)| {
            let written = self.effects.sure(self.cfg, block, *at);
            (layer == 1 || transition.kind != EdgeKind::Visits)
                && !self.effects.tracked.has(&written, field)
        });
        let mut first = None;
        for (at, transition) in transitions {
            let exit = self.exit(block, transition).is_some();
            let ends = self.leads(chosen, transition, (Some(block), field));
            if exit || ends == Some(true) {
                return Some(Choice {
                    transition: at,
                    ends: true,
                });
            }
            first = first.or(ends.map(|ends| Choice {
                transition: at,
                ends,
            }));
        }
        first
    }

    /// Whether all goals of a way are known to lead on without the field; and then, whether one of them leads to the end, and
    /// not only to a join that waits in vain.
    fn leads(
        &self,
        chosen: &Choices,
        transition: &Transition,
        (from, field): (Option<BlockId>, FieldId),
    ) -> Option<bool> {
        let mut ends = false;
        for successor in &transition.successors {
            if self.cfg.number(successor.to).is_none() {
                if successor.to != BlockId::End {
                    return None;
                }
                ends = true;
                continue;
            }
            let lost = self.is_lost(successor, from, field);
            match self.choice(chosen, successor.to, self.returns(successor.to, from)) {
                Some(choice) => ends |= choice.ends && !lost,
                None if lost => {}
                None => return None,
            }
        }
        Some(ends)
    }
}

/// An arrow of a way: what it comes from (`None` is `start`), the alternative, and which of its targets.
pub type Step<'a> = (Option<BlockId>, &'a Transition, &'a Successor);

/// The way that a block takes to avoid a field.
#[derive(Debug, Clone, Copy)]
struct Choice {
    /// Which of its ways.
    transition: usize,
    /// The way comes to the end; else only to joins that wait in vain.
    ends: bool,
}

/// By number of a block: where it is come to for the first time, and from its own circle.
type Choices = Vec<[Option<Choice>; 2]>;
