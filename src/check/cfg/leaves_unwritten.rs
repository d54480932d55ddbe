//! Which fields a run can leave unwritten from each block on to its end.
//!
//! A way avoids a field where it does not write it and each of its goals avoids it: all of them run. A block avoids it where some
//! way does. What comes to a join avoids what is behind the join, and also what some way past another member avoids: then the
//! join waits in vain. The least answer to all that is the right one: only what comes to an end counts.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use crate::base::Span;
use crate::ir::{FieldId, JoinId, NodeId};

use super::block_set::BlockSet;
use super::effect::WritesOnWays;
use super::exit::Exits;
use super::field_set::FieldSet;
use super::incomplete_join::{Arrivals, Past};
use super::model::{BlockId, ControlFlowGraph, EdgeKind, Successor, Transition};

/// What counts as written by the tasks of an `each`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// What each of them writes: the list is taken to have an element.
    Sure,
    /// Nothing: the list may be empty.
    Certain,
    /// Nothing where the list stands there, which may be empty; others have an element.
    Empty(Span),
}

impl Count {
    /// Whether a fan-out may have no task.
    fn may_be_empty(self, each: &Successor) -> bool {
        match self {
            Count::Sure => false,
            Count::Certain => true,
            Count::Empty(at) => at == each.span,
        }
    }
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
    effects: &'a WritesOnWays,
    count: Count,
    known: Known<'a>,
    /// What can be avoided where a block is come to, by number; of a node that is capped, for the first time.
    first: Vec<FieldSet>,
    /// The same where a capped node is come to from its own cycle.
    again: Vec<FieldSet>,
    /// Of joins that some way leads past: what can be avoided on such ways, by the member that does not come.
    lost: HashMap<JoinId, BTreeMap<NodeId, FieldSet>>,
}

impl<'a> LeavesUnwritten<'a> {
    /// Finds them.
    pub fn new(
        cfg: &'a ControlFlowGraph,
        effects: &'a WritesOnWays,
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
        let cfg = self.cfg;
        let past = self.ways_past();
        let blocks: Vec<BlockId> = cfg.blocks().collect();
        cfg.settle(blocks.into_iter().rev(), |block, again| {
            if self.look(block) {
                again.extend(cfg.predecessors(block));
            }
            // Ways past a member belong to the node that takes them: whatever they lead to, it is looked at again.
            for (join, past) in past.get(&block).into_iter().flatten() {
                if self.lose(*join, past) {
                    again.extend(cfg.members(*join).map(BlockId::Node));
                }
            }
        });
    }

    /// The ways past members of joins, by what takes them.
    fn ways_past(&self) -> HashMap<BlockId, Vec<(JoinId, Past)>> {
        let mut past: HashMap<BlockId, Vec<(JoinId, Past)>> = HashMap::new();
        for join in self.cfg.joins.ids() {
            for way in self.known.arrivals.past(join) {
                past.entry(way.from).or_default().push((join, way));
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
        let lost = self.lost.entry(join).or_default().entry(past.member);
        let lost = lost.or_insert_with(|| self.effects.tracked.none());
        lost.join(&avoided)
    }

    /// Looks at a block again; whether more can be avoided from it.
    fn look(&mut self, block: BlockId) -> bool {
        let Some(number) = self.cfg.number(block) else {
            return false;
        };
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

    /// What a way can avoid, by what its goals do.
    fn on(&self, transition: &Transition, from: Option<BlockId>, writes: FieldSet) -> FieldSet {
        let mut avoided = self.effects.tracked.all();
        for successor in &transition.successors {
            match (self.at(successor, from), self.lost_at(successor, from)) {
                (Some(set), lost) => {
                    let mut set = set.clone();
                    lost.iter().for_each(|lost| _ = set.join(lost));
                    avoided.keep(&set);
                }
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
        let mut lost = self.effects.tracked.none();
        let others = self.lost.get(&join)?.iter();
        let others = others.filter(|(other, _)| **other != member);
        others.for_each(|(_, avoided)| _ = lost.join(avoided));
        Some(lost)
    }

    /// Whether a field is avoided since the join waits in vain for another member.
    fn is_lost(&self, successor: &Successor, from: Option<BlockId>, field: FieldId) -> bool {
        let lost = self.lost_at(successor, from);
        lost.is_some_and(|lost| lost.has(field))
    }

    /// What a goal avoids; `None` for an exit and for what may not run at all.
    fn at(&self, successor: &Successor, from: Option<BlockId>) -> Option<&FieldSet> {
        let number = self.cfg.number(successor.to)?;
        if successor.many && self.count.may_be_empty(successor) {
            return None;
        }
        match self.returns(successor.to, from) {
            true => self.again.get(number),
            false => self.first.get(number),
        }
    }

    /// A shortest way from `start` that leaves a field unwritten: the arrows, and where each comes from. It leads to the end, or
    /// where there is none such to a join that waits in vain.
    pub fn witness(&self, field: FieldId) -> Vec<Step<'a>> {
        let may_write = self.may_write(field);
        let mut before: HashMap<State, (Option<State>, Step<'a>)> = HashMap::new();
        let mut open: VecDeque<Option<State>> = VecDeque::from([None]);
        let mut last: Option<(Option<State>, Step<'a>)> = None;
        'search: while let Some(at) = open.pop_front() {
            let from = at.map(|(block, _)| block);
            for transition in self.avoiding(at, field) {
                // Of what runs side by side, what may write it says more.
                let may = transition
                    .successors
                    .iter()
                    .any(|to| may_write.contains(to.to));
                let successors = transition.successors.iter();
                for successor in successors.filter(|to| !may || may_write.contains(to.to)) {
                    let step = (from, transition, successor);
                    if successor.to == BlockId::End {
                        last = Some((at, step));
                        break 'search;
                    }
                    if self.is_lost(successor, from, field) {
                        last = last.or(Some((at, step)));
                        continue;
                    }
                    let to = (successor.to, self.returns(successor.to, from));
                    if let Entry::Vacant(slot) = before.entry(to) {
                        slot.insert((at, step));
                        open.push_back(Some(to));
                    }
                }
            }
        }
        let mut path = Vec::new();
        while let Some((at, step)) = last {
            path.push(step);
            last = at.and_then(|at| before.get(&at).copied());
        }
        path.reverse();
        path
    }

    /// Blocks from which some way writes a field.
    fn may_write(&self, field: FieldId) -> BlockSet {
        let mut found = BlockSet::new(self.cfg);
        for block in self.cfg.blocks() {
            let mut ways = 0..self.cfg.transitions(block).len();
            let writes = |way| self.effects.sure(self.cfg, block, way);
            if ways.any(|way| writes(way).has(field)) {
                let before = self.cfg.all_before(block);
                before.for_each(|block| _ = found.insert(block));
            }
        }
        found
    }

    /// The ways on by which a field can be left unwritten.
    fn avoiding(&self, at: Option<State>, field: FieldId) -> Vec<&'a Transition> {
        let (block, again) = at.unwrap_or((BlockId::Entry, true));
        let from = at.map(|(block, _)| block);
        let mut ways = Vec::new();
        for (number, transition) in self.cfg.transitions(block).iter().enumerate() {
            let writes = self.effects.sure(self.cfg, block, number);
            if !again && transition.kind == EdgeKind::Visits || writes.has(field) {
                continue;
            }
            let avoided = self.on(transition, from, writes);
            let on = avoided.has(field);
            ways.extend(on.then_some(transition));
            ways.extend(self.exit(block, transition));
        }
        ways
    }

    /// Whether an arrow stays in the cycle of what it leads to.
    fn returns(&self, to: BlockId, from: Option<BlockId>) -> bool {
        from.is_some_and(|from| self.cfg.same_component(from, to))
    }
}

/// An arrow of a way: what it comes from (`None` is `start`), the alternative, and which of its targets.
pub type Step<'a> = (Option<BlockId>, &'a Transition, &'a Successor);

/// Where a way is: at a block, and whether it is come to from its own cycle.
type State = (BlockId, bool);
