//! Which nodes may run in the same super-step: a fixpoint over pairs of places.
//!
//! All tasks of a run move in step, so two of them are followed as a pair: the pair begins where a
//! way has several targets (or sends one task an element), and goes on to every pair of places that
//! its two parts may go on to. Two plain arrows into one node make one task. The arms of one route
//! exclude each other, so a single task is never a pair with itself. A task at a join waits; the
//! join leads on beside another task only where every other member can have arrived beside that task.
//!
//! The answer errs on one side: a pair that can run together is in it. Conditions count as free, so
//! a pair may be in it that no state allows.

use std::collections::{BTreeSet, HashMap, VecDeque};

use crate::base::Span;
use crate::ir::{JoinId, NodeId};

use super::model::{Flow, Goal, Spot, Way};
use super::place::{Place, Places};

/// Most pairs that are followed. A flow that runs a thousand nodes side by side comes near it.
const MOST: usize = 1_000_000;

/// How a pair came to be.
#[derive(Debug, Clone, Copy)]
enum Origin {
    /// The targets of one way.
    Fork { from: Option<NodeId>, span: Span },
    /// A pair of the step before, in the order of this one.
    Step(Place, Place),
}

/// What may run together in a flow.
pub struct Together<'a> {
    flow: &'a Flow,
    places: Places<'a>,
    pairs: HashMap<(Place, Place), Origin>,
    open: VecDeque<(Place, Place)>,
    alive: Vec<bool>,
    fresh: Vec<Place>,
    /// Arrivals at a join beside another task that may be let through once more pairs are known.
    held: Vec<(Place, Place, JoinId)>,
    fired: BTreeSet<JoinId>,
    /// Places that a node may go on to, computed when first asked for.
    next: Vec<Option<BTreeSet<Place>>>,
    overflow: bool,
}

/// Two paths that begin at one fork and end in the same super-step.
pub struct Witness {
    /// The edge, arm or property that begins both.
    pub fork: Span,
    /// Names from the fork to the first node.
    pub first: String,
    /// Names from the fork to the second node.
    pub second: String,
}

impl<'a> Together<'a> {
    /// Follows all pairs of a flow.
    pub fn new(flow: &'a Flow) -> Self {
        let places = Places::new(flow);
        let count = places.count();
        let mut together = Self {
            flow,
            pairs: HashMap::new(),
            open: VecDeque::new(),
            alive: vec![false; count],
            fresh: Vec::new(),
            held: Vec::new(),
            fired: BTreeSet::new(),
            next: vec![None; count],
            overflow: false,
            places,
        };
        for way in &flow.start {
            together.take(way, None);
        }
        together.run();
        together
    }

    /// Whether all pairs were followed; otherwise any two nodes may run together.
    pub fn complete(&self) -> bool {
        !self.overflow
    }

    /// Pairs of nodes that may run in the same super-step, in order, a node with itself where it gets
    /// several tasks at once.
    pub fn pairs(&self) -> Vec<(NodeId, NodeId)> {
        let node = |place| self.places.running(place);
        let mut pairs: Vec<(NodeId, NodeId)> = self
            .pairs
            .keys()
            .filter_map(|(a, b)| Some((node(*a)?, node(*b)?)))
            .collect();
        pairs.sort();
        pairs
    }

    /// Whether a join can come to lead on.
    pub fn fires(&self, join: JoinId) -> bool {
        self.overflow || self.fired.contains(&join)
    }

    /// Whether the node can run.
    pub fn runs(&self, node: NodeId) -> bool {
        self.overflow || self.alive.get(node.0 as usize).copied().unwrap_or(false)
    }

    /// Whether two members can both be at a join.
    pub fn meet(&self, join: JoinId, a: NodeId, b: NodeId) -> bool {
        let (Some(a), Some(b)) = (self.places.wait(join, a), self.places.wait(join, b)) else {
            return true;
        };
        self.overflow || self.has(a, b)
    }

    fn has(&self, a: Place, b: Place) -> bool {
        self.pairs.contains_key(&(a.min(b), a.max(b)))
    }

    fn run(&mut self) {
        loop {
            if let Some(place) = self.fresh.pop() {
                self.go_on(place);
            } else if let Some((a, b)) = self.open.pop_front() {
                self.step(a, b);
            } else if !self.let_through() {
                return;
            }
            if self.pairs.len() > MOST {
                self.overflow = true;
                return;
            }
        }
    }

    /// What a task that runs alone begins: its ways' targets, and the pairs among them.
    fn go_on(&mut self, place: Place) {
        if let Some(node) = self.places.running(place) {
            for way in self.places.ways(node) {
                self.take(way, Some(node));
            }
        } else if let Some(node) = self.places.deferred(place) {
            self.enter(node.0);
        }
    }

    fn take(&mut self, way: &'a Way, from: Option<NodeId>) {
        let mut ways = vec![way];
        let mut seen: Vec<*const Way> = Vec::new();
        while let Some(way) = ways.pop() {
            if seen.contains(&std::ptr::from_ref(way)) {
                continue;
            }
            seen.push(way);
            let origin = Origin::Fork {
                from,
                span: way.span,
            };
            let reached: Vec<(BTreeSet<Place>, &Goal)> = way
                .goals
                .iter()
                .map(|goal| (self.places.arrive(goal, from, |on| ways.push(on)), goal))
                .collect();
            for (i, (places, goal)) in reached.iter().enumerate() {
                places.iter().for_each(|place| self.enter(*place));
                if goal.many {
                    self.many(places, goal, origin);
                }
                for (others, _) in reached.iter().skip(i + 1) {
                    self.cross(places, others, origin);
                }
            }
        }
    }

    /// Tasks that `each` sends: two of them at every two places, also twice at the worker itself.
    fn many(&mut self, places: &BTreeSet<Place>, goal: &Goal, origin: Origin) {
        self.cross(places, places, origin);
        if let Spot::Node(worker) = goal.to
            && places.contains(&worker.0)
        {
            self.add(worker.0, worker.0, origin);
        }
    }

    fn cross(&mut self, left: &BTreeSet<Place>, right: &BTreeSet<Place>, origin: Origin) {
        for a in left {
            for b in right.iter().filter(|b| *b != a) {
                self.add(*a, *b, origin);
                if self.pairs.len() > MOST {
                    return;
                }
            }
        }
    }

    fn enter(&mut self, place: Place) {
        if let Some(alive) = self.alive.get_mut(place as usize).filter(|alive| !**alive) {
            *alive = true;
            self.fresh.push(place);
        }
    }

    fn add(&mut self, a: Place, b: Place, origin: Origin) {
        let (key, origin) = match (a <= b, origin) {
            (false, Origin::Step(p, q)) => ((b, a), Origin::Step(q, p)),
            (false, fork) => ((b, a), fork),
            (true, origin) => ((a, b), origin),
        };
        if let std::collections::hash_map::Entry::Vacant(entry) = self.pairs.entry(key) {
            entry.insert(origin);
            self.open.push_back(key);
        }
    }

    /// One super-step of two tasks.
    fn step(&mut self, a: Place, b: Place) {
        let (left, right) = (self.after(a), self.after(b));
        for p in &left {
            for q in right.iter().filter(|q| *q != p) {
                self.add(*p, *q, Origin::Step(a, b));
            }
        }
        if let (Some(p), Some(q)) = (self.places.deferred(a), self.places.deferred(b)) {
            self.add(p.0, q.0, Origin::Step(a, b));
        }
        for (one, other, places) in [(a, b, &left), (b, a, &right)] {
            for place in places {
                if self.places.running(one).is_some()
                    && let Some((join, _)) = self.places.waits(*place)
                {
                    self.held.push((one, other, join));
                }
            }
        }
    }

    /// Where a task may be in the next super-step, as long as no join leads it on.
    fn after(&mut self, place: Place) -> BTreeSet<Place> {
        let Some(node) = self.places.running(place) else {
            return BTreeSet::from([place]);
        };
        if let Some(Some(known)) = self.next.get(place as usize) {
            return known.clone();
        }
        let goals = self.places.ways(node).flat_map(|way| &way.goals);
        let after: BTreeSet<Place> = goals
            .flat_map(|goal| self.places.arrive(goal, Some(node), |_| {}))
            .collect();
        if let Some(slot) = self.next.get_mut(place as usize) {
            *slot = Some(after.clone());
        }
        after
    }

    /// Lets joins lead on where all members can have arrived. Whether anything came of it.
    fn let_through(&mut self) -> bool {
        let flow = self.flow;
        let mut any = false;
        for (id, join) in flow
            .joins
            .entries()
            .filter(|(id, _)| !self.fired.contains(id))
            .collect::<Vec<_>>()
        {
            let members = &join.members;
            let all = members.iter().enumerate().all(|(i, (a, _))| {
                let alive = self
                    .places
                    .wait(id, *a)
                    .and_then(|p| self.alive.get(p as usize));
                alive.copied().unwrap_or(false)
                    && members
                        .iter()
                        .skip(i + 1)
                        .all(|(b, _)| self.meet(id, *a, *b))
            });
            if all {
                self.fired.insert(id);
                join.ways.iter().for_each(|way| self.take(way, None));
                any = true;
            }
        }
        for (one, other, join) in std::mem::take(&mut self.held) {
            match self.passes(one, other, join) {
                true => {
                    self.pass(one, other, join);
                    any = true;
                }
                false => self.held.push((one, other, join)),
            }
        }
        any
    }

    /// Whether all other members can be at the join, each beside both tasks, when `one` arrives there.
    fn passes(&self, one: Place, other: Place, join: JoinId) -> bool {
        let Some(gather) = self.flow.joins.get(join) else {
            return false;
        };
        let beside = |member: NodeId, task: Place| {
            task == member.0
                || self.has(member.0, task)
                || self
                    .places
                    .wait(join, member)
                    .is_some_and(|wait| self.has(wait, task))
        };
        let others = gather.members.iter().filter(|(member, _)| member.0 != one);
        self.fired.contains(&join)
            && others
                .clone()
                .all(|(member, _)| beside(*member, one) && beside(*member, other))
    }

    /// The join leads on beside the other task, which may not be one that waits at the same join.
    fn pass(&mut self, one: Place, other: Place, join: JoinId) {
        let beside = self.after(other);
        let flow = self.flow;
        let ways = flow.joins.get(join).map_or(&[][..], |join| &join.ways);
        for goal in ways.iter().flat_map(|way| &way.goals) {
            for place in self.places.arrive(goal, None, |_| {}) {
                for q in &beside {
                    let same = self.places.waits(*q).is_some_and(|(at, _)| at == join);
                    if *q != place && !same {
                        self.add(place, *q, Origin::Step(one, other));
                    }
                }
            }
        }
    }

    /// How two nodes come to run together.
    pub fn witness(&self, a: NodeId, b: NodeId) -> Option<Witness> {
        let (mut p, mut q) = (a.0, b.0);
        let (mut first, mut second) = (vec![p], vec![q]);
        for _ in 0..=self.pairs.len() {
            let swapped = p > q;
            match *self.pairs.get(&(p.min(q), p.max(q)))? {
                Origin::Step(left, right) => {
                    (p, q) = match swapped {
                        true => (right, left),
                        false => (left, right),
                    };
                    first.push(p);
                    second.push(q);
                }
                Origin::Fork { from, span } => {
                    return Some(Witness {
                        fork: span,
                        first: self.path(from, &first),
                        second: self.path(from, &second),
                    });
                }
            }
        }
        None
    }

    /// `fork -> a -> b`, without the steps that a task waits.
    fn path(&self, from: Option<NodeId>, backwards: &[Place]) -> String {
        let fork = from.map_or("start", |node| self.flow.name(Spot::Node(node)));
        let mut names = vec![fork];
        for place in backwards.iter().rev() {
            if let Some(node) = self.places.running(*place) {
                names.push(self.flow.name(Spot::Node(node)));
            }
        }
        names.join(" -> ")
    }
}
