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

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::rc::Rc;

use crate::base::Span;
use crate::ir::{JoinId, NodeId};

use super::arrival::Held;
use super::model::{BlockId, ControlFlowGraph, Successor, Transition};
use super::place::{Marking, TokenPlace};
use super::sparse::Sparse;

/// Most pairs that are followed. A flow that runs 700 nodes side by side comes near it.
const MOST: usize = 300_000;

/// Where few places lead to few, all pairs are gone through one by one.
const FEW: usize = 16;

/// How a pair came to be.
#[derive(Debug, Clone, Copy)]
pub(super) enum Origin {
    /// The targets of one way.
    Fork { from: Option<NodeId>, span: Span },
    /// A pair of the step before, in the order of this one.
    Step(TokenPlace, TokenPlace),
}

impl Origin {
    /// The same for the pair in the other order.
    pub(super) fn turned(self) -> Self {
        match self {
            Origin::Step(a, b) => Origin::Step(b, a),
            fork @ Origin::Fork { .. } => fork,
        }
    }
}

/// Where a task may be in the next super-step.
#[derive(Clone)]
struct After {
    places: Rc<[TokenPlace]>,
    set: Rc<Sparse>,
}

/// What may run together in a flow.
pub struct MayHappenInParallel<'a> {
    pub(super) cfg: &'a ControlFlowGraph,
    pub(super) places: Marking<'a>,
    pub(super) pairs: HashMap<(TokenPlace, TokenPlace), Origin>,
    /// The other places of each place's pairs.
    beside: Vec<Sparse>,
    /// Places that are known to be beside all that a place goes on to.
    crossed: HashMap<TokenPlace, Sparse>,
    open: VecDeque<(TokenPlace, TokenPlace)>,
    pub(super) alive: Vec<bool>,
    fresh: Vec<TokenPlace>,
    /// Arrivals at a join beside another task that may be let through once more pairs are known.
    pub(super) held: Vec<Held>,
    /// How many pairs there were when they were last looked at.
    pub(super) looked: usize,
    /// Joins two of whose members have come, or whose only one has.
    touched: BTreeSet<JoinId>,
    pub(super) fired: BTreeSet<JoinId>,
    /// Places that a node may go on to, computed when first asked for.
    next: HashMap<TokenPlace, After>,
    /// Ways that were followed.
    taken: HashSet<*const Transition>,
    overflow: bool,
}

impl<'a> MayHappenInParallel<'a> {
    /// Follows all pairs of a flow.
    pub fn new(cfg: &'a ControlFlowGraph) -> Self {
        let places = Marking::new(cfg);
        let count = places.count();
        let mut mhp = Self {
            cfg,
            pairs: HashMap::new(),
            beside: vec![Sparse::default(); count],
            crossed: HashMap::new(),
            open: VecDeque::new(),
            alive: vec![false; count],
            fresh: Vec::new(),
            held: Vec::new(),
            looked: 0,
            touched: BTreeSet::new(),
            fired: BTreeSet::new(),
            next: HashMap::new(),
            taken: HashSet::new(),
            overflow: false,
            places,
        };
        for transition in &cfg.start {
            mhp.take(transition, None);
        }
        mhp.run();
        mhp
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

    /// What may run, or wait at a join or as deferred, in the super-steps of a node.
    pub fn beside(&self, node: NodeId) -> Vec<BlockId> {
        let block = |place: TokenPlace| {
            let running = self.places.running(place).or(self.places.deferred(place));
            let waiting = || {
                self.places
                    .waits(place)
                    .map(|(join, _)| BlockId::Join(join))
            };
            running.map(BlockId::Node).or_else(waiting)
        };
        let beside = self.beside.get(node.0 as usize);
        beside
            .into_iter()
            .flat_map(Sparse::iter)
            .filter_map(block)
            .collect()
    }

    /// The nodes that may run in the super-steps of a node, itself among them where it gets several tasks at once; other
    /// numbers are no nodes.
    pub fn partners(&self, node: NodeId) -> Option<&Sparse> {
        self.beside.get(node.0 as usize)
    }

    /// The nodes that may run while a deferred node waits; other numbers are no nodes.
    pub fn partners_waiting(&self, node: NodeId) -> Option<&Sparse> {
        let waiting = self.places.deferring(node);
        self.beside.get(waiting as usize)
    }

    /// Whether a join can come to lead on.
    pub fn fires(&self, join: JoinId) -> bool {
        self.overflow || self.fired.contains(&join)
    }

    /// Whether the node can run.
    pub fn runs(&self, node: NodeId) -> bool {
        self.overflow || self.alive.get(node.0 as usize).copied().unwrap_or(false)
    }

    /// Whether a way may be taken by some run.
    pub fn follows(&self, transition: &Transition) -> bool {
        self.overflow || self.taken.contains(&std::ptr::from_ref(transition))
    }

    /// Whether two members can both be at a join.
    pub fn meet(&self, join: JoinId, a: NodeId, b: NodeId) -> bool {
        let (Some(a), Some(b)) = (self.places.wait(join, a), self.places.wait(join, b)) else {
            return true;
        };
        self.overflow || self.has(a, b)
    }

    pub(super) fn has(&self, a: TokenPlace, b: TokenPlace) -> bool {
        self.pairs.contains_key(&(a.min(b), a.max(b)))
    }

    fn run(&mut self) {
        loop {
            if let Some(place) = self.fresh.pop() {
                self.go_on(place);
            } else if let Some((a, b)) = self.open.pop_front() {
                self.step(a, b);
            } else if let Some(join) = self.touched.pop_last() {
                self.fire(join);
            } else if self.looked < self.pairs.len() {
                self.looked = self.pairs.len();
                self.let_through();
            } else {
                return;
            }
            if self.pairs.len() > MOST {
                self.overflow = true;
                return;
            }
        }
    }

    /// What a task that runs alone begins: its ways' targets, and the pairs among them.
    fn go_on(&mut self, place: TokenPlace) {
        if let Some(node) = self.places.running(place) {
            for transition in self.places.transitions(node) {
                self.take(transition, Some(node));
            }
        } else if let Some(node) = self.places.deferred(place) {
            self.enter(node.0);
        } else if let Some((join, _)) = self.places.waits(place) {
            self.touched.insert(join);
        }
    }

    pub(super) fn take(&mut self, transition: &'a Transition, from: Option<NodeId>) {
        let mut transitions = vec![transition];
        while let Some(transition) = transitions.pop() {
            // What a branch leads to is the same whoever comes to it.
            if !self.taken.insert(std::ptr::from_ref(transition)) {
                continue;
            }
            if let [successor] = transition.successors.as_slice()
                && !successor.many
            {
                let place = self.places.step(successor, from, |on| transitions.push(on));
                place.into_iter().for_each(|place| self.enter(place));
                continue;
            }
            let origin = Origin::Fork {
                from,
                span: transition.span,
            };
            let mut reached: Vec<(Rc<[TokenPlace]>, &Successor)> = Vec::new();
            for successor in &transition.successors {
                let places = self
                    .places
                    .arrive(successor, from, |on| transitions.push(on));
                reached.push((places.into_iter().collect(), successor));
            }
            for (places, successor) in &reached {
                places.iter().for_each(|place| self.enter(*place));
                if successor.many {
                    self.many(places, successor, origin);
                }
            }
            let reached: Vec<Rc<[TokenPlace]>> =
                reached.into_iter().map(|(places, _)| places).collect();
            self.fork(&reached, origin);
            if let Some(node) = from {
                self.hold_each(node, &reached, origin);
            }
        }
    }

    /// The targets of one way, each with each.
    fn fork(&mut self, reached: &[Rc<[TokenPlace]>], origin: Origin) {
        if reached.iter().any(|places| places.len() > FEW) {
            let mut before = Sparse::default();
            for places in reached {
                self.cross_sets(places.iter().copied(), &before, origin);
                before.join(&places.iter().copied().collect());
            }
            return;
        }
        for (i, places) in reached.iter().enumerate() {
            for others in reached.iter().skip(i + 1) {
                self.cross(places, others, origin);
                if self.pairs.len() > MOST {
                    return;
                }
            }
        }
    }

    /// Notes which targets of a node's way are arrivals at joins, beside each other target.
    fn hold_each(&mut self, node: NodeId, reached: &[Rc<[TokenPlace]>], origin: Origin) {
        let waits = |place: &TokenPlace| self.places.waits(*place).is_some();
        let arrives = |(_, places): &(usize, &Rc<[TokenPlace]>)| places.iter().any(waits);
        let arrivals: Vec<usize> = reached
            .iter()
            .enumerate()
            .filter(arrives)
            .map(|(at, _)| at)
            .collect();
        for at in arrivals {
            for (other, beside) in reached.iter().enumerate() {
                if self.pairs.len() > MOST {
                    return;
                }
                if let Some(places) = reached.get(at).filter(|_| at != other) {
                    self.hold(node.0, None, places, beside, origin);
                }
            }
        }
    }

    /// Tasks that `each` sends: two of them at every two places, also twice at the worker itself.
    fn many(&mut self, places: &[TokenPlace], successor: &Successor, origin: Origin) {
        self.cross(places, places, origin);
        // Tasks of a deferred worker wait one by one, and run together.
        if let BlockId::Node(worker) = successor.to
            && places
                .iter()
                .any(|place| *place == worker.0 || self.places.deferred(*place) == Some(worker))
        {
            self.add(worker.0, worker.0, origin);
        }
    }

    fn cross(&mut self, left: &[TokenPlace], right: &[TokenPlace], origin: Origin) {
        for a in left {
            for b in right.iter().filter(|b| *b != a) {
                self.add(*a, *b, origin);
                if self.pairs.len() > MOST {
                    return;
                }
            }
        }
    }

    /// The same for many of them, passing over what is known.
    fn cross_sets(
        &mut self,
        left: impl Iterator<Item = TokenPlace>,
        right: &Sparse,
        origin: Origin,
    ) {
        for a in left {
            let known = self.beside.get(a as usize);
            let fresh: Vec<TokenPlace> = match known {
                Some(known) => right.without(known).filter(|b| *b != a).collect(),
                None => Vec::new(),
            };
            for b in fresh {
                self.add(a, b, origin);
            }
            if self.pairs.len() > MOST {
                return;
            }
        }
    }

    fn enter(&mut self, place: TokenPlace) {
        if let Some(alive) = self.alive.get_mut(place as usize).filter(|alive| !**alive) {
            *alive = true;
            self.fresh.push(place);
        }
    }

    pub(super) fn add(&mut self, a: TokenPlace, b: TokenPlace, origin: Origin) {
        let (key, origin) = match a <= b {
            true => ((a, b), origin),
            false => ((b, a), origin.turned()),
        };
        if let std::collections::hash_map::Entry::Vacant(entry) = self.pairs.entry(key) {
            entry.insert(origin);
            self.open.push_back(key);
            for (one, other) in [(key.0, key.1), (key.1, key.0)] {
                if let Some(beside) = self.beside.get_mut(one as usize) {
                    beside.insert(other);
                }
            }
            let (one, other) = (self.places.waits(key.0), self.places.waits(key.1));
            if let (Some((join, _)), Some((same, _))) = (one, other)
                && join == same
            {
                self.touched.insert(join);
            }
        }
    }

    /// One super-step of two tasks.
    fn step(&mut self, a: TokenPlace, b: TokenPlace) {
        let (left, right) = (self.after(a), self.after(b));
        let origin = Origin::Step(a, b);
        match left.places.len() * right.places.len() <= FEW {
            true => {
                let apart = self.apart((a, &left.places), (b, &right.places));
                for p in left.places.iter() {
                    let beside = right.places.iter().filter(|q| *q != p);
                    for q in beside.filter(|q| !apart.contains(&(*p, **q))) {
                        self.add(*p, *q, origin);
                    }
                }
            }
            false => self.cross_after((a, &left), (b, &right), origin),
        }
        match (self.places.deferred(a), self.places.deferred(b)) {
            (Some(p), Some(q)) => self.add(p.0, q.0, origin),
            (Some(p), None) if self.places.waits(b).is_some() => self.add(p.0, b, origin),
            (None, Some(q)) if self.places.waits(a).is_some() => self.add(a, q.0, origin),
            _ => {}
        }
        if self.places.running(a).is_some() {
            self.hold(a, Some(b), &left.places, &right.places, origin);
        }
        if self.places.running(b).is_some() {
            self.hold(b, Some(a), &right.places, &left.places, Origin::Step(b, a));
        }
    }

    /// Each place that one task goes on to with each of the other's, but for those that are known already: many tasks that
    /// come to one hub all go on to the same places.
    fn cross_after(
        &mut self,
        (a, left): (TokenPlace, &After),
        (b, right): (TokenPlace, &After),
        origin: Origin,
    ) {
        let crossed = |of: TokenPlace| self.crossed.get(&of).cloned().unwrap_or_default();
        let (by_a, by_b) = (crossed(a), crossed(b));
        let more: Sparse = right.set.without(&by_a).collect();
        if !more.is_empty() {
            self.cross_sets(left.set.without(&by_b), &more, origin);
        }
        for (of, beside) in [(a, right), (b, left)] {
            self.crossed.entry(of).or_default().join(&beside.set);
        }
    }

    /// Where a task may be in the next super-step, as long as no join leads it on.
    fn after(&mut self, place: TokenPlace) -> After {
        if let Some(known) = self.next.get(&place) {
            return known.clone();
        }
        let places: Rc<[TokenPlace]> = match self.places.running(place) {
            None => Rc::from([place]),
            Some(node) => {
                let successors = self
                    .places
                    .transitions(node)
                    .flat_map(|transition| &transition.successors);
                let places = successors
                    .flat_map(|successor| self.places.arrive(successor, Some(node), |_| {}));
                places
                    .collect::<BTreeSet<TokenPlace>>()
                    .into_iter()
                    .collect()
            }
        };
        let after = After {
            set: Rc::new(places.iter().copied().collect()),
            places,
        };
        self.next.insert(place, after.clone());
        after
    }
}
