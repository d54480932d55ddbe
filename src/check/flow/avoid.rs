//! Which fields a run can leave unwritten from each spot on to its end.
//!
//! A way avoids a field where it does not write it and each of its goals avoids it: all of them run. A spot avoids it where some
//! way does. The least answer to that is the right one: only what comes to an end counts.

use std::collections::{BTreeSet, VecDeque};

use crate::ir::{FieldId, JoinId};

use super::arrows::Arrows;
use super::bits::FieldSet;
use super::effect::Effects;
use super::exit::Exits;
use super::group::{Ends, groups};
use super::model::{Cause, Flow, Goal, Spot, Way};

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

/// The answer for each spot.
pub struct Avoided<'a> {
    flow: &'a Flow,
    effects: &'a Effects,
    count: Count,
    /// Joins that never lead on, which is reported.
    waiting: &'a BTreeSet<JoinId>,
    /// Strongly connected group of each spot.
    group: &'a [usize],
    /// Where the graph may end by an `exit when`.
    exits: Option<&'a Exits<'a>>,
    /// By number, spots behind which nothing counts as written; empty where there is none.
    cut: Vec<bool>,
    /// What can be avoided where a spot is come to, by number; of a node that is capped, for the first time.
    first: Vec<FieldSet>,
    /// The same where a capped node is come to from its own circle.
    again: Vec<FieldSet>,
}

impl<'a> Avoided<'a> {
    /// Finds them. `group` is [`circles_of`] the flow.
    pub fn new(
        flow: &'a Flow,
        arrows: &Arrows,
        effects: &'a Effects,
        count: Count,
        waiting: &'a BTreeSet<JoinId>,
        (group, exits): (&'a [usize], Option<&'a Exits<'a>>),
    ) -> Self {
        let known = (group, exits, Vec::new());
        Self::cut_off(flow, arrows, effects, count, waiting, known)
    }

    /// The same, where nothing counts as written behind the spots that are `cut` off, by number.
    pub fn cut_off(
        flow: &'a Flow,
        arrows: &Arrows,
        effects: &'a Effects,
        count: Count,
        waiting: &'a BTreeSet<JoinId>,
        (group, exits, cut): (&'a [usize], Option<&'a Exits<'a>>, Vec<bool>),
    ) -> Self {
        let spots = flow.stops.len() + flow.joins.len();
        let begin = |at: usize| match cut.get(at) {
            Some(true) => effects.tracked.all(),
            _ => effects.tracked.none(),
        };
        let mut avoided = Self {
            flow,
            effects,
            count,
            waiting,
            group,
            exits,
            first: (0..spots).map(begin).collect(),
            again: (0..spots).map(begin).collect(),
            cut,
        };
        avoided.settle(arrows);
        avoided
    }

    /// The fields that a run from `start` can leave unwritten.
    pub fn at_start(&self) -> FieldSet {
        let mut all = self.effects.tracked.none();
        for way in &self.flow.start {
            all.join(&self.on(way, None, self.effects.on(way)));
        }
        all
    }

    /// The fields that can be left unwritten by what begins at a spot.
    pub fn from(&self, spot: Spot) -> FieldSet {
        let known = self.flow.number(spot).and_then(|n| self.again.get(n));
        known.cloned().unwrap_or_else(|| self.effects.tracked.all())
    }

    fn settle(&mut self, arrows: &Arrows) {
        let mut waits = vec![true; self.first.len()];
        let mut open: VecDeque<Spot> = self
            .flow
            .spots()
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .collect();
        while let Some(spot) = open.pop_front() {
            let Some(number) = self.flow.number(spot) else {
                continue;
            };
            waits.get_mut(number).into_iter().for_each(|w| *w = false);
            if !self.look(spot, number) {
                continue;
            }
            for from in arrows.into(self.flow, spot).iter().filter_map(|a| a.from) {
                let slot = self.flow.number(from).and_then(|n| waits.get_mut(n));
                if let Some(slot) = slot.filter(|waits| !**waits) {
                    *slot = true;
                    open.push_back(from);
                }
            }
        }
    }

    /// Looks at a spot again; whether more can be avoided from it.
    fn look(&mut self, spot: Spot, number: usize) -> bool {
        let cut = self.cut.get(number).copied().unwrap_or(false);
        if cut || matches!(spot, Spot::Join(join) if self.waiting.contains(&join)) {
            return false;
        }
        let (mut first, mut again) = (self.effects.tracked.none(), self.effects.tracked.none());
        for (at, way) in self.flow.ways(spot).iter().enumerate() {
            let writes = self.writes(spot, at);
            let ended = self.exit(spot, way).is_some().then(|| {
                let mut all = self.effects.tracked.all();
                all.without(&writes);
                all
            });
            let mut avoided = self.on(way, Some(spot), writes);
            if let Some(ended) = &ended {
                avoided.join(ended);
            }
            again.join(&avoided);
            if way.cause != Cause::Visits {
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

    fn writes(&self, spot: Spot, way: usize) -> FieldSet {
        match self.count {
            Count::Possible => self.effects.may(self.flow, spot, way),
            Count::Sure | Count::Certain => self.effects.sure(self.flow, spot, way),
        }
    }

    /// The way to the end that may be taken in place of a spot's way.
    fn exit(&self, spot: Spot, way: &Way) -> Option<&'a Way> {
        let exits = self.exits?;
        exits.behind(self.flow, spot, way).then_some(exits.way)
    }

    fn on(&self, way: &Way, from: Option<Spot>, writes: FieldSet) -> FieldSet {
        let mut avoided = self.effects.tracked.all();
        for goal in &way.goals {
            match self.at(goal, from) {
                Some(_) if self.is_lost(goal, from) => {}
                Some(set) => avoided.keep(set),
                None if matches!(goal.to, Spot::Fail | Spot::Leave) => {
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
    fn is_lost(&self, goal: &Goal, from: Option<Spot>) -> bool {
        self.count == Count::Sure && loses(self.flow, goal.to, from)
    }

    /// What a goal avoids; `None` for an exit and for what may not run at all.
    fn at(&self, goal: &Goal, from: Option<Spot>) -> Option<&FieldSet> {
        let number = self.flow.number(goal.to)?;
        if goal.many && self.count == Count::Certain {
            return None;
        }
        match self.returns(goal.to, from) {
            true => self.again.get(number),
            false => self.first.get(number),
        }
    }

    /// A way from `start` to the end that leaves a field unwritten: the arrows, and where each comes from.
    pub fn witness(
        &self,
        arrows: &Arrows,
        field: FieldId,
    ) -> Vec<(Option<Spot>, &'a Way, &'a Goal)> {
        let chosen = self.choices(arrows, field);
        let mut path = Vec::new();
        let mut at: Option<(Spot, bool)> = None;
        // Each spot is met at most twice: for the first time, and from its own circle.
        for _ in 0..=2 * self.first.len() {
            let way = match at {
                None => self.flow.start.iter().find(|way| {
                    !self.effects.tracked.has(&self.effects.on(way), field)
                        && self.done(&chosen, way, None)
                }),
                Some((spot, again)) => {
                    let at = self.choice(&chosen, spot, again);
                    at.and_then(|at| self.flow.ways(spot).get(at))
                }
            };
            let Some((way, goal)) = way.and_then(|way| Some((way, longest(way)?))) else {
                break;
            };
            let from = at.map(|(spot, _)| spot);
            let leads = self.done(&chosen, way, from);
            if let (Some(spot), false) = (from, leads)
                && let Some((exit, end)) = self
                    .exit(spot, way)
                    .and_then(|exit| Some((exit, longest(exit)?)))
            {
                path.push((from, exit, end));
                break;
            }
            path.push((from, way, goal));
            if self.flow.number(goal.to).is_none() {
                break;
            }
            at = Some((goal.to, self.returns(goal.to, from)));
        }
        path
    }

    /// Whether an arrow stays in the circle of what it leads to.
    fn returns(&self, to: Spot, from: Option<Spot>) -> bool {
        let circle = |spot: Spot| self.flow.number(spot).and_then(|n| self.group.get(n));
        from.is_some_and(|from| circle(from) == circle(to))
    }

    fn choice(&self, chosen: &[[Option<usize>; 2]], spot: Spot, again: bool) -> Option<usize> {
        let number = self.flow.number(spot)?;
        chosen
            .get(number)?
            .get(usize::from(again))
            .copied()
            .flatten()
    }

    /// For each spot from which the field can be avoided the way that does so and soonest leads to an end: where the
    /// spot is come to for the first time, and from its own circle.
    fn choices(&self, arrows: &Arrows, field: FieldId) -> Vec<[Option<usize>; 2]> {
        let mut chosen: Vec<[Option<usize>; 2]> = vec![[None; 2]; self.first.len()];
        let mut open: Vec<Spot> = self.flow.spots().collect();
        while !open.is_empty() {
            let mut found = Vec::new();
            for spot in open {
                for layer in 0..2 {
                    if self.choice(&chosen, spot, layer == 1).is_none() {
                        let way = self.chooses(&chosen, (spot, layer), field);
                        found.extend(way.map(|way| (spot, layer, way)));
                    }
                }
            }
            open = Vec::new();
            for (spot, layer, way) in found {
                let slot = self.flow.number(spot).and_then(|n| chosen.get_mut(n));
                if let Some(slot) = slot
                    .and_then(|both| both.get_mut(layer))
                    .filter(|slot| slot.is_none())
                {
                    *slot = Some(way);
                    let from = arrows.into(self.flow, spot).iter().filter_map(|a| a.from);
                    open.extend(from);
                }
            }
        }
        chosen
    }

    /// The way by which a spot avoids a field, where what it leads to is chosen.
    fn chooses(
        &self,
        chosen: &[[Option<usize>; 2]],
        (spot, layer): (Spot, usize),
        field: FieldId,
    ) -> Option<usize> {
        let avoided = [&self.first, &self.again];
        let set = avoided.get(layer)?.get(self.flow.number(spot)?)?;
        if !self.effects.tracked.has(set, field) {
            return None;
        }
        let mut ways = self.flow.ways(spot).iter().enumerate();
        let way = ways.find(|(at, way)| {
            (layer == 1 || way.cause != Cause::Visits)
                && !self.effects.tracked.has(&self.writes(spot, *at), field)
                && (self.done(chosen, way, Some(spot)) || self.exit(spot, way).is_some())
        });
        way.map(|(at, _)| at)
    }

    /// Whether all goals of a way are known to lead to an end.
    fn done(&self, chosen: &[[Option<usize>; 2]], way: &Way, from: Option<Spot>) -> bool {
        way.goals
            .iter()
            .all(|goal| match self.flow.number(goal.to) {
                Some(_) if self.is_lost(goal, from) => true,
                Some(_) => {
                    let again = self.returns(goal.to, from);
                    self.choice(chosen, goal.to, again).is_some()
                }
                None => goal.to == Spot::End,
            })
    }
}

/// Whether what comes to a join from a member may wait there in vain, as another member fails, or takes too long, and
/// its handler leads past the join.
pub fn loses(flow: &Flow, to: Spot, from: Option<Spot>) -> bool {
    let Spot::Join(id) = to else { return false };
    let past = |way: &Way| {
        let fails = matches!(way.cause, Cause::Error | Cause::Timeout);
        let ends = |goal: &Goal| goal.to == Spot::End;
        fails && way.goals.iter().all(ends)
    };
    let members = flow
        .joins
        .get(id)
        .into_iter()
        .flat_map(|join| &join.members);
    let mut others = members
        .map(|(member, _)| Spot::Node(*member))
        .filter(|member| Some(*member) != from);
    others.any(|member| flow.ways(member).iter().any(past))
}

/// Of several goals one that is not the end, where there is one.
fn longest(way: &Way) -> Option<&Goal> {
    let on = way.goals.iter().find(|goal| goal.to != Spot::End);
    on.or(way.goals.first())
}

/// A number for the strongly connected group of each spot; alone, a spot has one of its own.
pub fn circles_of(flow: &Flow) -> Vec<usize> {
    let mut of: Vec<usize> = vec![0; flow.stops.len() + flow.joins.len()];
    for (number, group) in groups(flow, |_| true, |_, _| true, Ends::Any)
        .iter()
        .enumerate()
    {
        for spot in group {
            if let Some(slot) = flow.number(*spot).and_then(|n| of.get_mut(n)) {
                *slot = number;
            }
        }
    }
    of
}
