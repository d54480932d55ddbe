//! Which nodes may run in the same super-step: a fixpoint over rows of places.
//!
//! All tasks of a run move in step. The row of a place has the places that another task may be at while one is there: a row
//! begins where a transition has several successors (or sends one task an element), and goes on to every two places that two
//! tasks may go on to. Two plain arrows into one node make one task. The arms of one route exclude each other, so a single task
//! is never beside itself. A task at a join waits; `joins` says when one leads on.
//!
//! The answer errs on one side: what can run together is in it. Conditions count as free, so two nodes may be in it that no state
//! allows. Nothing is left out for its size: places that no fork leads to have no row, and those behind one fork share theirs.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use thin_vec::ThinVec;

use crate::base::Span;
use crate::base::bit_set::ChunkedBitSet;
use crate::ir::{JoinId, NodeId};

use super::model::{BlockId, ControlFlowGraph, EdgeKind, Successor, Transition};
use super::place::{Marking, TokenPlace};

/// Most sets that are kept for when the same is asked again.
const KEPT: usize = 1_024;

/// Several targets of one transition, for a witness.
pub(super) struct Fork {
    pub(super) from: Option<NodeId>,
    pub(super) span: Span,
    /// The places that each target may lead to, and whether several tasks are sent there.
    pub(super) reached: Vec<(Rc<[TokenPlace]>, bool)>,
}

/// Where a task may be in the next super-step.
#[derive(Default)]
pub(super) struct After {
    pub(super) places: Rc<[TokenPlace]>,
    /// Capped nodes that it comes to, each with the places that it comes to where the node isn't full.
    capped: Vec<(NodeId, Rc<[TokenPlace]>)>,
    /// Nodes that it sends several tasks to.
    sends: Vec<NodeId>,
}

impl After {
    /// The same where a node isn't left for the target of its `max_visits`, since another task comes to it as well: both make
    /// one task of it. Tasks of an `each` are visits of their own.
    fn beside(&self, capped: Option<NodeId>) -> &[TokenPlace] {
        let of = |node| self.capped.iter().find(|(id, _)| *id == node);
        match capped
            .filter(|node| !self.sends.contains(node))
            .and_then(of)
        {
            Some((_, places)) => places,
            None => &self.places,
        }
    }
}

/// Where the tasks of some places go.
pub(super) struct Image {
    /// All of it.
    pub(super) all: Rc<ChunkedBitSet>,
    /// Where only one of them goes.
    once: ChunkedBitSet,
}

/// A set of places by its address, and the capped node that is asked of. The value keeps the set alive.
type ImageKey = (*const ChunkedBitSet, Option<NodeId>);

/// What may run together in a graph.
pub struct MayHappenInParallel<'a> {
    pub(super) cfg: &'a ControlFlowGraph,
    pub(super) places: Marking<'a>,
    /// Every place.
    pub(super) all: ChunkedBitSet,
    /// By place. Where there is anything in it, the place itself is in it too.
    pub(super) rows: Vec<Rc<ChunkedBitSet>>,
    /// Places that several tasks may be at.
    pub(super) several: Vec<bool>,
    /// What was followed of each row already.
    done: Vec<(Rc<ChunkedBitSet>, bool)>,
    open: BTreeSet<TokenPlace>,
    pub(super) alive: Vec<bool>,
    fresh: Vec<TokenPlace>,
    /// By place, where it was asked for.
    after: Vec<Option<Rc<After>>>,
    /// Who sends several tasks to a node.
    senders: HashMap<NodeId, ChunkedBitSet>,
    taken: HashSet<*const Transition>,
    pub(super) fired: ChunkedBitSet,
    /// Joins that may fire now, or lead on beside more than before.
    pub(super) touched: BTreeSet<JoinId>,
    /// Joins whose members run or wait at a place.
    interest: Vec<ThinVec<JoinId>>,
    pub(super) joins: super::joins::Arrivals,
    pub(super) forks: Vec<Fork>,
    images: HashMap<ImageKey, (Rc<ChunkedBitSet>, Rc<Image>)>,
    sums: HashMap<(*const ChunkedBitSet, *const ChunkedBitSet, bool), [Rc<ChunkedBitSet>; 3]>,
    /// Some node is deferred.
    defers: bool,
    pub(super) back: OnceCell<super::witness::Back>,
}

impl<'a> MayHappenInParallel<'a> {
    /// Follows all that runs together.
    pub fn new(cfg: &'a ControlFlowGraph) -> Self {
        let places = Marking::new(cfg);
        let count = places.count();
        let none: Rc<ChunkedBitSet> = Rc::default();
        let mut mhp = Self {
            cfg,
            all: (0..count as TokenPlace).collect(),
            rows: vec![none.clone(); count],
            several: vec![false; count],
            done: vec![(none, false); count],
            open: BTreeSet::new(),
            alive: vec![false; count],
            fresh: Vec::new(),
            after: vec![None; count],
            senders: HashMap::new(),
            taken: HashSet::new(),
            fired: ChunkedBitSet::new(),
            touched: BTreeSet::new(),
            interest: vec![ThinVec::new(); count],
            joins: super::joins::Arrivals::new(cfg, count),
            forks: Vec::new(),
            images: HashMap::new(),
            sums: HashMap::new(),
            defers: cfg.nodes.iter().any(|node| node.defer),
            back: OnceCell::new(),
            places,
        };
        for id in cfg.joins.ids() {
            let members = cfg.members(id).map(|member| member.0);
            for place in members.chain(mhp.places.waits_at(id)) {
                let joins = mhp.interest.get_mut(place as usize);
                joins.into_iter().for_each(|joins| joins.push(id));
            }
        }
        for transition in &cfg.start {
            mhp.take(transition, None);
        }
        mhp.run();
        mhp
    }

    /// What may run, or wait at a join or as deferred, in the super-steps of a node.
    pub fn beside(&self, node: NodeId) -> Vec<BlockId> {
        let block = |place: TokenPlace| {
            let running = self.places.running(place).or(self.places.deferred(place));
            let waiting = self.places.waits(place);
            let waiting = waiting.map(|(join, _)| BlockId::Join(join));
            running.map(BlockId::Node).or(waiting)
        };
        self.partners(node).iter().filter_map(block).collect()
    }

    /// The nodes that may run in the super-steps of a node, itself among them where it gets several tasks at once; other
    /// numbers are no nodes.
    pub fn partners(&self, node: NodeId) -> Cow<'_, ChunkedBitSet> {
        self.others(node.0)
    }

    /// The places that another task may be at.
    pub(super) fn others(&self, place: TokenPlace) -> Cow<'_, ChunkedBitSet> {
        let Some(row) = self.rows.get(place as usize) else {
            return Cow::default();
        };
        match self.is_several(place) || !row.contains(place) {
            true => Cow::Borrowed(row),
            false => Cow::Owned(&**row - &[place].into_iter().collect()),
        }
    }

    /// Whether a join can come to lead on.
    pub fn fires(&self, join: JoinId) -> bool {
        self.fired.contains(join.0)
    }

    /// Whether the node can run.
    pub fn runs(&self, node: NodeId) -> bool {
        self.is_alive(node.0)
    }

    /// Whether a transition may be taken by some run.
    pub fn follows(&self, transition: &Transition) -> bool {
        self.taken.contains(&std::ptr::from_ref(transition))
    }

    /// Whether two members can both be at a join.
    pub fn meet(&self, join: JoinId, a: NodeId, b: NodeId) -> bool {
        match (self.places.wait(join, a), self.places.wait(join, b)) {
            (Some(a), Some(b)) => self.has(a, b),
            _ => true,
        }
    }

    pub(super) fn has(&self, a: TokenPlace, b: TokenPlace) -> bool {
        let row = || self.rows.get(a as usize);
        match a == b {
            true => self.is_several(a),
            false => row().is_some_and(|row| row.contains(b)),
        }
    }

    pub(super) fn is_several(&self, place: TokenPlace) -> bool {
        self.several.get(place as usize).copied().unwrap_or(false)
    }

    pub(super) fn is_alive(&self, place: TokenPlace) -> bool {
        self.alive.get(place as usize).copied().unwrap_or(false)
    }

    fn run(&mut self) {
        loop {
            if let Some(place) = self.fresh.pop() {
                self.go_on(place);
            } else if let Some(place) = self.open.pop_first() {
                self.step(place);
            } else if let Some(join) = self.touched.pop_last() {
                self.fire(join);
            } else if !self.lead_on() {
                return;
            }
        }
    }

    /// What a task that runs alone begins: the targets of its transitions, and what runs together of them.
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
            let reached = transition.successors.iter().map(|successor| {
                let on = |on| transitions.push(on);
                let places: Rc<[TokenPlace]> = self
                    .places
                    .arrive([successor], from, on)
                    .into_iter()
                    .collect();
                (places, successor.many)
            });
            let reached: Vec<(Rc<[TokenPlace]>, bool)> = reached.collect();
            for (successor, (places, many)) in transition.successors.iter().zip(&reached) {
                places.iter().for_each(|place| self.enter(*place));
                if *many {
                    self.many(places, successor);
                }
            }
            let together = self.image_of(reached.iter().map(|(places, _)| &**places));
            for (places, _) in &reached {
                for place in places.iter() {
                    self.grow(*place, &together.without(places, *place));
                }
            }
            if let Some(node) = from {
                for (places, _) in &reached {
                    let beside = together.without(places, TokenPlace::MAX);
                    self.arrives((node, transition.span), places, &beside);
                }
            }
            self.forks.push(Fork {
                from,
                span: transition.span,
                reached,
            });
        }
    }

    /// Tasks that `each` sends: two of them at every two places, also twice at the worker itself.
    fn many(&mut self, places: &[TokenPlace], successor: &Successor) {
        let all: Rc<ChunkedBitSet> = Rc::new(places.iter().copied().collect());
        places.iter().for_each(|place| self.grow(*place, &all));
        // Tasks of a deferred worker wait one by one, and run together.
        if let BlockId::Node(worker) = successor.to
            && places
                .iter()
                .any(|place| *place == worker.0 || self.places.deferred(*place) == Some(worker))
        {
            let own = Rc::new([worker.0].into_iter().collect());
            if let Some(several) = self.several.get_mut(worker.0 as usize) {
                *several = true;
            }
            if let Some(row) = self
                .rows
                .get_mut(worker.0 as usize)
                .filter(|row| row.is_empty())
            {
                *row = own;
            }
            self.grown(worker.0);
        }
    }

    fn enter(&mut self, place: TokenPlace) {
        if let Some(alive) = self.alive.get_mut(place as usize).filter(|alive| !**alive) {
            *alive = true;
            self.fresh.push(place);
        }
    }

    /// Puts places beside one.
    pub(super) fn grow(&mut self, place: TokenPlace, more: &Rc<ChunkedBitSet>) {
        let Some(row) = self.rows.get_mut(place as usize) else {
            return;
        };
        if !more.iter().any(|other| other != place) || row.is_superset(more) {
            return;
        }
        if row.is_empty() {
            *row = more.clone();
            if !more.contains(place) {
                Rc::make_mut(row).insert(place);
            }
        } else if let Some(own) = Rc::get_mut(row) {
            *own |= more;
        } else {
            let row = row.clone();
            let sum = self.kept_sum(&row, more, false);
            if let Some(row) = self.rows.get_mut(place as usize) {
                *row = sum;
            }
        }
        self.grown(place);
    }

    fn grown(&mut self, place: TokenPlace) {
        if self.defers || self.places.running(place).is_some() {
            self.open.insert(place);
        }
        if let Some(joins) = self.interest.get(place as usize) {
            self.touched.extend(joins);
        }
        self.joins.changed(place);
    }

    /// The sum or the difference of two sets. Places behind one fork share theirs: each is made once.
    fn kept_sum(
        &mut self,
        a: &Rc<ChunkedBitSet>,
        b: &Rc<ChunkedBitSet>,
        minus: bool,
    ) -> Rc<ChunkedBitSet> {
        let key = (Rc::as_ptr(a), Rc::as_ptr(b), minus);
        if let Some([_, _, made]) = self.sums.get(&key) {
            return made.clone();
        }
        if self.sums.len() >= KEPT {
            self.sums.clear();
        }
        let made = Rc::new(if minus {
            &**a - &**b
        } else {
            let mut sum = ChunkedBitSet::clone(a);
            sum |= &**b;
            sum
        });
        self.sums.insert(key, [a.clone(), b.clone(), made.clone()]);
        made
    }

    /// One super-step of a task beside those that have come to its row.
    fn step(&mut self, place: TokenPlace) {
        let at = place as usize;
        let several = self.is_several(place);
        let (Some(row), Some((known, twice))) =
            (self.rows.get(at).cloned(), self.done.get(at).cloned())
        else {
            return;
        };
        let more = match known.is_empty() {
            true => row.clone(),
            false => self.kept_sum(&row, &known, true),
        };
        if let Some(done) = self.done.get_mut(at) {
            *done = (row, several);
        }
        if self.places.running(place).is_none() {
            // What waits stays where it is, and others come beside it as they are followed themselves.
            self.wake(place, &more);
            return;
        }
        // Whether a second task at the place itself is new, and whether it stands in the set without being one.
        let again = several && !twice;
        let alone = more.contains(place) && !several;
        let after = self.after(place);
        for to in after.places.iter() {
            let capped = self.capped(*to).filter(|node| !after.sends.contains(node));
            let image = self.image(&more, capped);
            let own = after.beside(capped);
            let mut beside = match alone {
                true => image.without(own, *to),
                false => image.all.clone(),
            };
            if again {
                let mut all = ChunkedBitSet::clone(&beside);
                all.extend(own.iter().copied());
                beside = Rc::new(all);
            }
            let instead = self.stand_in_for(&after, *to, &more);
            if !instead.is_empty() {
                beside = Rc::new(&*beside - &instead);
            }
            self.grow(*to, &beside);
        }
        let places: Rc<ChunkedBitSet> = Rc::new(after.places.iter().copied().collect());
        let waiting = more.starting_at(self.cfg.nodes.len() as TokenPlace);
        waiting.for_each(|waiting| self.grow(waiting, &places));
    }

    /// Nothing else is left: deferred nodes run together, beside what waits at joins.
    fn wake(&mut self, place: TokenPlace, beside: &ChunkedBitSet) {
        let deferred = self.places.deferred(place);
        let waits = self.places.waits(place).is_some();
        let run = beside.iter().filter_map(|other| match deferred {
            Some(_) => {
                let waits = self.places.waits(other).map(|_| other);
                self.places.deferred(other).map(|node| node.0).or(waits)
            }
            None => self
                .places
                .deferred(other)
                .map(|node| node.0)
                .filter(|_| waits),
        });
        let run: ChunkedBitSet = run.collect();
        self.grow(deferred.map_or(place, |node| node.0), &Rc::new(run));
    }

    /// The node at a place, where its visits are capped.
    fn capped(&self, place: TokenPlace) -> Option<NodeId> {
        let id = self.places.running(place)?;
        self.cfg.nodes.get(id)?.is_capped().then_some(id)
    }

    /// Capped nodes that a task comes to a place only in place of: what another task that comes to one does is not beside
    /// that, but for tasks that are sent.
    fn stand_in_for(&self, after: &After, to: TokenPlace, beside: &ChunkedBitSet) -> ChunkedBitSet {
        let instead = after.capped.iter().filter(|(node, plain)| {
            let senders = self.senders.get(node);
            let sent = senders.is_some_and(|all| !all.is_disjoint(beside));
            !after.sends.contains(node) && !plain.contains(&to) && !sent
        });
        instead.map(|(node, _)| node.0).collect()
    }

    /// Where the tasks of a set of places go; `capped` as for [`After::beside`].
    pub(super) fn image(&mut self, set: &Rc<ChunkedBitSet>, capped: Option<NodeId>) -> Rc<Image> {
        let key = (Rc::as_ptr(set), capped);
        if let Some((_, image)) = self.images.get(&key) {
            return image.clone();
        }
        if self.images.len() >= KEPT {
            self.images.clear();
        }
        let after: Vec<Rc<After>> = set.iter().map(|place| self.after(place)).collect();
        let image = Rc::new(self.image_of(after.iter().map(|after| after.beside(capped))));
        self.images.insert(key, (set.clone(), image.clone()));
        image
    }

    fn image_of<'p>(&self, of: impl Iterator<Item = &'p [TokenPlace]>) -> Image {
        let (mut all, mut again) = (ChunkedBitSet::new(), ChunkedBitSet::new());
        for place in of.flatten().filter(|place| !all.insert(**place)) {
            again.insert(*place);
        }
        Image {
            once: &all - &again,
            all: Rc::new(all),
        }
    }

    /// Where a task may be in the next super-step, as long as no join leads it on.
    pub(super) fn after(&mut self, place: TokenPlace) -> Rc<After> {
        if let Some(Some(known)) = self.after.get(place as usize) {
            return known.clone();
        }
        let after = Rc::new(match self.places.running(place) {
            None => After {
                places: Rc::from([place]),
                ..After::default()
            },
            Some(node) => self.after_node(node),
        });
        if let Some(node) = self.places.running(place) {
            for (join, member) in after.places.iter().filter_map(|to| self.places.waits(*to)) {
                self.joins.arrive(join, node.0, member);
            }
        }
        for node in &after.sends {
            self.senders.entry(*node).or_default().insert(place);
        }
        if let Some(known) = self.after.get_mut(place as usize) {
            *known = Some(after.clone());
        }
        after
    }

    /// The same, where it was asked for before.
    pub(super) fn after_known(&self, place: TokenPlace) -> &[TokenPlace] {
        let after = self.after.get(place as usize).and_then(Option::as_ref);
        after.map_or(&[], |after| &after.places)
    }

    fn after_node(&self, node: NodeId) -> After {
        let mut full = false;
        let successors = || self.places.transitions(node).flat_map(|of| &of.successors);
        let mut passed = |transition: &Transition| full |= transition.kind == EdgeKind::Visits;
        let places = self.places.arrive(successors(), Some(node), &mut passed);
        let capped = places
            .iter()
            .filter_map(|to| self.capped(*to))
            .filter(|_| full);
        let capped = capped.map(|id| {
            let all = successors();
            let plain = self.places.arrive_but(all, Some(node), Some(id), |_| {});
            (id, plain.into_iter().collect::<Rc<[TokenPlace]>>())
        });
        let capped: Vec<_> = capped
            .filter(|(_, plain)| plain.len() < places.len())
            .collect();
        let sends = successors().filter(|successor| successor.many);
        let sends = sends.filter_map(|successor| match successor.to {
            BlockId::Node(id) => Some(id),
            _ => None,
        });
        After {
            capped,
            sends: sends.collect(),
            places: places.into_iter().collect(),
        }
    }
}

impl Image {
    /// All but where only some places lead that belong together, with `own` in it all the same.
    fn without(&self, places: &[TokenPlace], own: TokenPlace) -> Rc<ChunkedBitSet> {
        let only = |place: &&TokenPlace| **place != own && self.once.contains(**place);
        let out: ChunkedBitSet = places.iter().filter(only).copied().collect();
        match out.is_empty() {
            true => self.all.clone(),
            false => Rc::new(&*self.all - &out),
        }
    }
}
