//! What comes to joins beside other tasks, and when the joins lead on there.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use crate::base::bit_set::ChunkedBitSet;
use crate::base::{IdVec, Span};
use crate::ir::{JoinId, NodeId};

use super::mhp::{Fork, MayHappenInParallel};
use super::model::{BlockId, ControlFlowGraph};
use super::place::TokenPlace;

/// A member that comes to a join.
type Arrival = (TokenPlace, NodeId);

/// Who comes to joins.
pub(super) struct Arrivals {
    /// The nodes that come to each join, with the member as which each comes: itself, or a branch behind it.
    by_join: IdVec<JoinId, BTreeSet<Arrival>>,
    /// The joins that each place comes to, with the member as which it comes.
    by_place: Vec<BTreeSet<(JoinId, NodeId)>>,
    /// Arrivals beside other targets of the same transition, and where those lead.
    forked: Vec<(JoinId, Arrival, Rc<ChunkedBitSet>, Span)>,
    /// Nodes that come to some join.
    coming: ChunkedBitSet,
    /// Arrivals beside targets of their own transition that are noted as forks.
    shown: BTreeSet<(JoinId, Arrival)>,
    /// By join, those that it was looked whether it leads on together with.
    with: IdVec<JoinId, ChunkedBitSet>,
    /// Joins that may lead on beside more than when they were last looked at.
    changed: BTreeSet<JoinId>,
    /// By place, the places that come to be beside it in this round, one by one: its row grows once, at the end.
    pending: BTreeMap<TokenPlace, ChunkedBitSet>,
}

impl Arrivals {
    /// Nobody, in a graph with so many places.
    pub(super) fn new(cfg: &ControlFlowGraph, places: usize) -> Self {
        Self {
            by_join: cfg.joins.iter().map(|_| BTreeSet::new()).collect(),
            by_place: vec![BTreeSet::new(); places],
            forked: Vec::new(),
            coming: ChunkedBitSet::new(),
            shown: BTreeSet::new(),
            with: cfg.joins.iter().map(|_| ChunkedBitSet::new()).collect(),
            changed: BTreeSet::new(),
            pending: BTreeMap::new(),
        }
    }

    /// Notes that a node comes to a join.
    pub(super) fn arrive(&mut self, join: JoinId, place: TokenPlace, member: NodeId) {
        if let Some(of_join) = self.by_join.get_mut(join) {
            of_join.insert((place, member));
        }
        if let Some(of_place) = self.by_place.get_mut(place as usize) {
            of_place.insert((join, member));
        }
        self.coming.insert(place);
        self.changed.insert(join);
    }

    /// The nodes that come to a join.
    pub(super) fn arriving(&self, join: JoinId) -> impl Iterator<Item = TokenPlace> + '_ {
        let arrivals = self.by_join.get(join).into_iter().flatten();
        arrivals.map(|(place, _)| *place)
    }

    /// Notes that more runs beside a place.
    pub(super) fn changed(&mut self, place: TokenPlace) {
        let joins = self.by_place.get(place as usize).into_iter().flatten();
        self.changed.extend(joins.map(|(join, _)| *join));
    }
}

/// A join, as it stands at the begin of a round.
struct JoinSnapshot {
    /// The places of its members that have come.
    waits: ChunkedBitSet,
    /// The places that it leads to.
    led: Rc<ChunkedBitSet>,
    /// The joins that some of these places are waits at.
    led_to_joins: Vec<JoinId>,
    /// Places beside which each member may have come, or comes.
    beside: HashMap<NodeId, ChunkedBitSet>,
    /// Places beside which all members may have come.
    beside_all: ChunkedBitSet,
    /// The same for all members but one, whichever.
    beside_all_but_one: ChunkedBitSet,
}

impl JoinSnapshot {
    /// Whether all members but one may be at the join beside a task.
    fn lacks_only(&self, member: NodeId, task: TokenPlace) -> bool {
        let lacks = |beside: &ChunkedBitSet| !beside.contains(task);
        self.beside_all.contains(task)
            || self.beside_all_but_one.contains(task) && self.beside.get(&member).is_none_or(lacks)
    }

    /// The places beside which all members but one may be at the join.
    fn lacking_only(&self, member: NodeId) -> ChunkedBitSet {
        let mut places = match self.beside.get(&member) {
            Some(beside) => &self.beside_all_but_one - beside,
            None => self.beside_all_but_one.clone(),
        };
        places |= &self.beside_all;
        places
    }
}

/// What runs beside an arrival at a join that leads on.
#[derive(Default)]
struct Beside {
    /// Tasks.
    tasks: ChunkedBitSet,
    /// Members that come to the join as well, and where each goes besides.
    members: Vec<(TokenPlace, ChunkedBitSet)>,
    /// Where other targets of the arrival's own transition lead.
    forked: ChunkedBitSet,
}

/// The joins of one round, as each is first asked for. What has come since is seen in the next.
type Round = IdVec<JoinId, Option<Rc<JoinSnapshot>>>;

impl MayHappenInParallel<'_> {
    /// Notes those of some targets of a transition that are arrivals at joins, and where its other targets lead.
    pub(super) fn arrives(
        &mut self,
        (node, span): (NodeId, Span),
        places: &[TokenPlace],
        beside: &Rc<ChunkedBitSet>,
    ) {
        let arrivals = places.iter().filter_map(|place| self.places.waits(*place));
        for (join, member) in arrivals.filter(|_| !beside.is_empty()) {
            self.joins
                .forked
                .push((join, (node.0, member), beside.clone(), span));
            self.joins.changed.insert(join);
        }
    }

    /// A join leads on where each two of its members can both have come.
    pub(super) fn fire(&mut self, id: JoinId) {
        if !self.fires(id) {
            let (cfg, waits) = (self.cfg, self.places.waits_at(id));
            if !waits.clone().all(|wait| self.is_alive(wait)) {
                return;
            }
            let all: ChunkedBitSet = waits.clone().collect();
            let row = |wait| self.rows.get(wait as usize);
            let meets = |wait| row(wait).is_some_and(|row| row.is_superset(&all));
            if waits.len() > 1 && !waits.clone().all(meets) {
                return;
            }
            self.fired.insert(id.0);
            let transitions = cfg.transitions(BlockId::Join(id)).iter();
            transitions.for_each(|transition| self.take(transition, None));
        }
        self.joins.changed.insert(id);
    }

    /// Lets joins lead on beside what runs then; whether there was any to look at.
    pub(super) fn lead_on(&mut self) -> bool {
        let mut changed = std::mem::take(&mut self.joins.changed);
        let these: ChunkedBitSet = changed.iter().map(|id| id.0).collect();
        let with = self.joins.with.entries();
        let with = with.filter(|(_, with)| !with.is_disjoint(&these));
        changed.extend(with.map(|(id, _)| id));
        let mut round: Round = self.cfg.joins.iter().map(|_| None).collect();
        for id in &changed {
            if self.fires(*id) {
                self.beside_tasks(*id, &mut round);
            }
        }
        for (id, arrival, forked, span) in self.joins.forked.clone() {
            if !changed.contains(&id) || !self.fires(id) {
                continue;
            }
            let join = self.snapshot(id, &mut round);
            if join.lacks_only(arrival.1, arrival.0) {
                let beside = Beside {
                    forked: ChunkedBitSet::clone(&forked),
                    ..Beside::default()
                };
                self.pass(id, arrival.0, beside, &mut round);
                if self.joins.shown.insert((id, arrival)) {
                    let reached = [&join.led, &forked];
                    let reached = reached.map(|to| (to.iter().collect(), false));
                    self.forks.push(Fork {
                        from: Some(NodeId(arrival.0)),
                        span,
                        reached: reached.into(),
                    });
                }
            }
        }
        for (place, more) in std::mem::take(&mut self.joins.pending) {
            self.grow(place, &Rc::new(more));
        }
        !changed.is_empty()
    }

    /// A join leads on as one of its members comes, beside each task that runs then.
    fn beside_tasks(&mut self, id: JoinId, round: &mut Round) {
        let arrivals = self.joins.by_join.get(id).cloned().unwrap_or_default();
        let join = self.snapshot(id, round);
        let members: ChunkedBitSet = self.cfg.members(id).map(|member| member.0).collect();
        // Those that only come to this join are beside nothing that it leads to.
        let mut only = join.waits.clone();
        for (place, _) in &arrivals {
            let after = self.after(*place);
            if after.places.iter().all(|to| join.waits.contains(*to)) {
                only.insert(*place);
            }
        }
        for arrival in arrivals {
            let (place, member) = arrival;
            if !join.lacks_only(member, place) {
                continue;
            }
            let mut tasks = &*self.others(place) - &only;
            tasks = &tasks & &join.lacking_only(member);
            let mut coming = Vec::new();
            for other in (&tasks & &members).iter() {
                if let Some(node) = self.must_come(id, member, other) {
                    coming.push((other, self.goes_besides(id, node)));
                }
            }
            let beside = Beside {
                tasks: &tasks - &coming.iter().map(|(other, _)| *other).collect(),
                members: coming,
                forked: ChunkedBitSet::new(),
            };
            self.pass(id, place, beside, round);
        }
    }

    /// Whether a join may lead on in the super-step of a node that comes to it: each member may run then, or wait.
    pub fn may_lead_on(&self, id: JoinId, node: NodeId) -> bool {
        let comes = |member: NodeId| {
            let wait = self.places.wait(id, member);
            let beside = |place: TokenPlace| self.has(place, node.0);
            member == node || beside(member.0) || wait.is_some_and(beside)
        };
        let is_branch = |member: NodeId| self.cfg.is_branch(BlockId::Node(member));
        let mut members = self.cfg.members(id);
        self.fires(id) && members.all(|member| is_branch(member) || comes(member))
    }

    /// A join as it stands in a round, made when it is first asked for.
    fn snapshot(&self, id: JoinId, round: &mut Round) -> Rc<JoinSnapshot> {
        if let Some(Some(snapshot)) = round.get(id) {
            return snapshot.clone();
        }
        let snapshot = Rc::new(self.snapshot_of(id));
        if let Some(known) = round.get_mut(id) {
            *known = Some(snapshot.clone());
        }
        snapshot
    }

    fn snapshot_of(&self, id: JoinId) -> JoinSnapshot {
        let mut beside = HashMap::new();
        let mut all = self.all.clone();
        let mut all_but_one = all.clone();
        for member in self.cfg.members(id) {
            let mut places = self.others(member.0).into_owned();
            places.insert(member.0);
            if let Some(wait) = self.places.wait(id, member) {
                places |= &self.others(wait);
            }
            all_but_one = &all_but_one & &places;
            all_but_one |= &(&all - &places);
            all = &all & &places;
            beside.insert(member, places);
        }
        let led = self.led(id);
        let joins = led.iter().filter_map(|place| self.places.waits(place));
        JoinSnapshot {
            waits: self.places.waits_at(id).collect(),
            led_to_joins: joins.map(|(join, _)| join).collect(),
            led,
            beside,
            beside_all: all,
            beside_all_but_one: all_but_one,
        }
    }

    /// A task beside an arrival that alone can stand for another member, so that it has to come to the join as well. None of
    /// it may have come before.
    fn must_come(&self, id: JoinId, member: NodeId, other: TokenPlace) -> Option<NodeId> {
        let node = self.places.running(other)?;
        let wait = self.places.wait(id, node)?;
        let others = node == member || self.has(wait, other) || self.has(other, other);
        (!others).then_some(node)
    }

    /// Where a member goes besides the join that it comes to. One that jumps elsewhere does not arrive.
    fn goes_besides(&self, id: JoinId, member: NodeId) -> ChunkedBitSet {
        let join = BlockId::Join(id);
        let transitions = self.places.transitions(member);
        let transitions = transitions.filter(|way| way.successors.iter().any(|to| to.to == join));
        let successors = transitions.flat_map(|transition| &transition.successors);
        let places = self.places.arrive(successors, Some(member), |_| {});
        places.into_iter().collect()
    }

    /// The places that a join leads to.
    pub(super) fn led(&self, id: JoinId) -> Rc<ChunkedBitSet> {
        let successors = self.cfg.successors(BlockId::Join(id));
        let places = self.places.arrive(successors, None, |_| {});
        Rc::new(places.into_iter().collect())
    }

    /// The join leads on beside what runs there, which is not what waits at the same join. What comes to another join at that
    /// moment may make that one lead on as well.
    fn pass(&mut self, id: JoinId, place: TokenPlace, beside: Beside, round: &mut Round) {
        let join = self.snapshot(id, round);
        // What is forked off comes with the arrival.
        let mut also: Vec<(JoinId, TokenPlace, NodeId)> = Vec::new();
        let mut to = ChunkedBitSet::new();
        let comes = [(place, beside.forked)].into_iter().chain(beside.members);
        for (other, goes) in comes {
            to |= &(&goes - &join.waits);
            let joins = goes.iter().filter_map(|place| self.places.waits(place));
            also.extend(joins.map(|(second, member)| (second, other, member)));
        }
        for other in (&beside.tasks & &self.joins.coming).iter() {
            let joins = self
                .joins
                .by_place
                .get(other as usize)
                .into_iter()
                .flatten();
            also.extend(joins.map(|(second, member)| (*second, other, *member)));
        }
        to |= &(&*self.image(&Rc::new(beside.tasks), None).all - &join.waits);
        for (second, other, member) in also.into_iter().filter(|(second, ..)| *second != id) {
            if let Some(with) = self.joins.with.get_mut(id) {
                with.insert(second.0);
            }
            if !self.fires(second) {
                continue;
            }
            let then = self.snapshot(second, round);
            if then.lacks_only(member, other) && then.lacks_only(member, place) {
                match join.led_to_joins.contains(&second) {
                    true => self.cross(&then.led, &(&*join.led - &then.waits)),
                    false => to |= &then.led,
                }
            }
        }
        self.cross(&join.led, &to);
    }

    /// Puts the places of two sets beside each other.
    fn cross(&mut self, left: &Rc<ChunkedBitSet>, right: &ChunkedBitSet) {
        if right.is_empty() {
            return;
        }
        let right = Rc::new(right.clone());
        left.iter().for_each(|place| self.grow(place, &right));
        let mut places = left.iter();
        match (places.next(), places.next()) {
            (Some(only), None) => {
                let fresh = right.iter().filter(|place| !self.has(*place, only));
                let fresh: Vec<TokenPlace> = fresh.collect();
                for place in fresh {
                    self.joins.pending.entry(place).or_default().insert(only);
                }
            }
            _ => right.iter().for_each(|place| self.grow(place, left)),
        }
    }
}
