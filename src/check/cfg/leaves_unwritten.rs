//! Which fields a run can leave unwritten from each block on to its end.
//!
//! A way avoids a field where it does not write it and each of its goals avoids it: all of them run. A block avoids it where some
//! way does. The least answer to that is the right one: only what comes to an end counts.

use std::collections::{BTreeSet, VecDeque};

use crate::ir::{FieldId, JoinId};

use super::bits::FieldSet;
use super::effect::Effects;
use super::exit::Exits;
use super::model::{BlockId, ControlFlowGraph, EdgeKind, Successor, Transition};
use super::predecessors::Predecessors;
use super::scc::{Ends, components};

/// What counts as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// What may be written counts: a field that is avoided has no writer at all on some way.
    Possible,
    /// Only what is written whenever the way is taken.
    Sure,
    /// As [`Count::Sure`], and the list of an `each` may be empty.
    Certain,
}

/// The answer for each block.
pub struct LeavesUnwritten<'a> {
    cfg: &'a ControlFlowGraph,
    effects: &'a Effects,
    count: Count,
    /// Joins that never lead on, which is reported.
    waiting: &'a BTreeSet<JoinId>,
    /// Strongly connected group of each block.
    group: &'a [usize],
    /// Where the graph may end by an `exit when`.
    exits: Option<&'a Exits<'a>>,
    /// By number, blocks behind which nothing counts as written; empty where there is none.
    cut: Vec<bool>,
    /// What can be avoided where a block is come to, by number; of a node that is capped, for the first time.
    first: Vec<FieldSet>,
    /// The same where a capped node is come to from its own circle.
    again: Vec<FieldSet>,
}

impl<'a> LeavesUnwritten<'a> {
    /// Finds them. `scc` is [`components_of`] the flow.
    pub fn new(
        cfg: &'a ControlFlowGraph,
        predecessors: &Predecessors,
        effects: &'a Effects,
        count: Count,
        waiting: &'a BTreeSet<JoinId>,
        (group, exits): (&'a [usize], Option<&'a Exits<'a>>),
    ) -> Self {
        let known = (group, exits, Vec::new());
        Self::cut_off(cfg, predecessors, effects, count, waiting, known)
    }

    /// The same, where nothing counts as written behind the blocks that are `cut` off, by number.
    pub fn cut_off(
        cfg: &'a ControlFlowGraph,
        predecessors: &Predecessors,
        effects: &'a Effects,
        count: Count,
        waiting: &'a BTreeSet<JoinId>,
        (group, exits, cut): (&'a [usize], Option<&'a Exits<'a>>, Vec<bool>),
    ) -> Self {
        let blocks = cfg.nodes.len() + cfg.joins.len();
        let begin = |at: usize| match cut.get(at) {
            Some(true) => effects.tracked.all(),
            _ => effects.tracked.none(),
        };
        let mut avoided = Self {
            cfg,
            effects,
            count,
            waiting,
            group,
            exits,
            first: (0..blocks).map(begin).collect(),
            again: (0..blocks).map(begin).collect(),
            cut,
        };
        avoided.settle(predecessors);
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

    /// The fields that can be left unwritten by what begins at a block.
    pub fn from(&self, block: BlockId) -> FieldSet {
        let known = self.cfg.number(block).and_then(|n| self.again.get(n));
        known.cloned().unwrap_or_else(|| self.effects.tracked.all())
    }

    fn settle(&mut self, predecessors: &Predecessors) {
        let mut waits = vec![true; self.first.len()];
        let mut open: VecDeque<BlockId> = self
            .cfg
            .blocks()
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .collect();
        while let Some(block) = open.pop_front() {
            let Some(number) = self.cfg.number(block) else {
                continue;
            };
            waits.get_mut(number).into_iter().for_each(|w| *w = false);
            if !self.look(block, number) {
                continue;
            }
            for from in predecessors
                .into(self.cfg, block)
                .iter()
                .filter_map(|a| a.from)
            {
                let slot = self.cfg.number(from).and_then(|n| waits.get_mut(n));
                if let Some(slot) = slot.filter(|waits| !**waits) {
                    *slot = true;
                    open.push_back(from);
                }
            }
        }
    }

    /// Looks at a block again; whether more can be avoided from it.
    fn look(&mut self, block: BlockId, number: usize) -> bool {
        let cut = self.cut.get(number).copied().unwrap_or(false);
        if cut || matches!(block, BlockId::Join(join) if self.waiting.contains(&join)) {
            return false;
        }
        let (mut first, mut again) = (self.effects.tracked.none(), self.effects.tracked.none());
        for (at, transition) in self.cfg.transitions(block).iter().enumerate() {
            let writes = self.writes(block, at);
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

    fn writes(&self, block: BlockId, transition: usize) -> FieldSet {
        match self.count {
            Count::Possible => self.effects.may(self.cfg, block, transition),
            Count::Sure | Count::Certain => self.effects.sure(self.cfg, block, transition),
        }
    }

    /// The way to the end that may be taken in place of a block's way.
    fn exit(&self, block: BlockId, transition: &Transition) -> Option<&'a Transition> {
        let exits = self.exits?;
        exits
            .behind(self.cfg, block, transition)
            .then_some(exits.transition)
    }

    fn on(&self, transition: &Transition, from: Option<BlockId>, writes: FieldSet) -> FieldSet {
        let mut avoided = self.effects.tracked.all();
        for successor in &transition.successors {
            match self.at(successor, from) {
                Some(_) if self.is_lost(successor, from) => {}
                Some(set) => avoided.keep(set),
                None if matches!(successor.to, BlockId::Fail | BlockId::Leave) => {
                    return self.effects.tracked.none();
                }
                None => {}
            }
        }
        avoided.without(&writes);
        avoided
    }

    /// Whether what comes to a join may wait there for a member that fails and leads past it. Only where what is
    /// surely written counts: that is no more than may be.
    fn is_lost(&self, successor: &Successor, from: Option<BlockId>) -> bool {
        self.count == Count::Sure && loses(self.cfg, successor.to, from)
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
    pub fn witness(
        &self,
        predecessors: &Predecessors,
        field: FieldId,
    ) -> Vec<(Option<BlockId>, &'a Transition, &'a Successor)> {
        let chosen = self.choices(predecessors, field);
        let mut path = Vec::new();
        let mut at: Option<(BlockId, bool)> = None;
        // Each block is met at most twice: for the first time, and from its own circle.
        for _ in 0..=2 * self.first.len() {
            let transition = match at {
                None => self.cfg.start.iter().find(|transition| {
                    !self
                        .effects
                        .tracked
                        .has(&self.effects.on(transition), field)
                        && self.done(&chosen, transition, None)
                }),
                Some((block, again)) => {
                    let at = self.choice(&chosen, block, again);
                    at.and_then(|at| self.cfg.transitions(block).get(at))
                }
            };
            let Some((transition, successor)) =
                transition.and_then(|transition| Some((transition, longest(transition)?)))
            else {
                break;
            };
            let from = at.map(|(block, _)| block);
            let leads = self.done(&chosen, transition, from);
            if let (Some(block), false) = (from, leads)
                && let Some((exit, end)) = self
                    .exit(block, transition)
                    .and_then(|exit| Some((exit, longest(exit)?)))
            {
                path.push((from, exit, end));
                break;
            }
            path.push((from, transition, successor));
            if self.cfg.number(successor.to).is_none() {
                break;
            }
            at = Some((successor.to, self.returns(successor.to, from)));
        }
        path
    }

    /// Whether an arrow stays in the circle of what it leads to.
    fn returns(&self, to: BlockId, from: Option<BlockId>) -> bool {
        let circle = |block: BlockId| self.cfg.number(block).and_then(|n| self.group.get(n));
        from.is_some_and(|from| circle(from) == circle(to))
    }

    fn choice(&self, chosen: &[[Option<usize>; 2]], block: BlockId, again: bool) -> Option<usize> {
        let number = self.cfg.number(block)?;
        chosen
            .get(number)?
            .get(usize::from(again))
            .copied()
            .flatten()
    }

    /// For each block from which the field can be avoided the way that does so and soonest leads to an end: where the
    /// block is come to for the first time, and from its own circle.
    fn choices(&self, predecessors: &Predecessors, field: FieldId) -> Vec<[Option<usize>; 2]> {
        let mut chosen: Vec<[Option<usize>; 2]> = vec![[None; 2]; self.first.len()];
        let mut open: Vec<BlockId> = self.cfg.blocks().collect();
        while !open.is_empty() {
            let mut found = Vec::new();
            for block in open {
                for layer in 0..2 {
                    if self.choice(&chosen, block, layer == 1).is_none() {
                        let transition = self.chooses(&chosen, (block, layer), field);
                        found.extend(transition.map(|transition| (block, layer, transition)));
                    }
                }
            }
            open = Vec::new();
            for (block, layer, transition) in found {
                let slot = self.cfg.number(block).and_then(|n| chosen.get_mut(n));
                if let Some(slot) = slot
                    .and_then(|both| both.get_mut(layer))
                    .filter(|slot| slot.is_none())
                {
                    *slot = Some(transition);
                    let from = predecessors
                        .into(self.cfg, block)
                        .iter()
                        .filter_map(|a| a.from);
                    open.extend(from);
                }
            }
        }
        chosen
    }

    /// The way by which a block avoids a field, where what it leads to is chosen.
    fn chooses(
        &self,
        chosen: &[[Option<usize>; 2]],
        (block, layer): (BlockId, usize),
        field: FieldId,
    ) -> Option<usize> {
        let avoided = [&self.first, &self.again];
        let set = avoided.get(layer)?.get(self.cfg.number(block)?)?;
        if !self.effects.tracked.has(set, field) {
            return None;
        }
        let mut transitions = self.cfg.transitions(block).iter().enumerate();
        let transition = transitions.find(|(at, transition)| {
            (layer == 1 || transition.kind != EdgeKind::Visits)
                && !self.effects.tracked.has(&self.writes(block, *at), field)
                && (self.done(chosen, transition, Some(block))
                    || self.exit(block, transition).is_some())
        });
        transition.map(|(at, _)| at)
    }

    /// Whether all goals of a way are known to lead to an end.
    fn done(
        &self,
        chosen: &[[Option<usize>; 2]],
        transition: &Transition,
        from: Option<BlockId>,
    ) -> bool {
        transition
            .successors
            .iter()
            .all(|successor| match self.cfg.number(successor.to) {
                Some(_) if self.is_lost(successor, from) => true,
                Some(_) => {
                    let again = self.returns(successor.to, from);
                    self.choice(chosen, successor.to, again).is_some()
                }
                None => successor.to == BlockId::End,
            })
    }
}

/// Whether what comes to a join from a member may wait there in vain, as another member fails, or takes too long, and
/// its handler leads past the join.
pub fn loses(cfg: &ControlFlowGraph, to: BlockId, from: Option<BlockId>) -> bool {
    let BlockId::Join(id) = to else { return false };
    let past = |transition: &Transition| {
        let fails = matches!(transition.kind, EdgeKind::Error | EdgeKind::Timeout);
        let ends = |successor: &Successor| successor.to == BlockId::End;
        fails && transition.successors.iter().all(ends)
    };
    let members = cfg.joins.get(id).into_iter().flat_map(|join| &join.members);
    let mut others = members
        .map(|(member, _)| BlockId::Node(*member))
        .filter(|member| Some(*member) != from);
    others.any(|member| cfg.transitions(member).iter().any(past))
}

/// Of several goals one that is not the end, where there is one.
fn longest(transition: &Transition) -> Option<&Successor> {
    let on = transition
        .successors
        .iter()
        .find(|successor| successor.to != BlockId::End);
    on.or(transition.successors.first())
}

/// A number for the strongly connected group of each block; alone, a block has one of its own.
pub fn components_of(cfg: &ControlFlowGraph) -> Vec<usize> {
    let mut of: Vec<usize> = vec![0; cfg.nodes.len() + cfg.joins.len()];
    for (number, group) in components(cfg, |_| true, |_, _| true, Ends::Any)
        .iter()
        .enumerate()
    {
        for block in group {
            if let Some(slot) = cfg.number(*block).and_then(|n| of.get_mut(n)) {
                *slot = number;
            }
        }
    }
    of
}
