//! What comes to joins beside other tasks, and when the joins lead on there.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use roaring::RoaringBitmap;

use crate::base::Span;
use crate::ir::{JoinId, NodeId};

use super::mhp::{Fork, MayHappenInParallel};
use super::model::BlockId;
use super::place::TokenPlace;

/// A member that comes to a join.
type Arrival = (TokenPlace, NodeId);

/// Who comes to joins.
#[derive(Default)]
pub(super) struct Arrivals {
    /// The nodes that come to each join, with the member as which each comes: itself, or a branch behind it.
    by_join: HashMap<JoinId, BTreeSet<Arrival>>,
    /// Arrivals beside other targets of the same transition, and where those lead.
    forked: Vec<(JoinId, Arrival, Rc<RoaringBitmap>, Span)>,
    /// Nodes that come to some join.
    coming: RoaringBitmap,
    /// Members of each join.
    members: HashMap<JoinId, Rc<RoaringBitmap>>,
    /// Joins that each place comes to.
    of: HashMap<TokenPlace, BTreeSet<JoinId>>,
    /// Arrivals beside targets of their own transition that are noted as forks.
    shown: BTreeSet<(JoinId, Arrival)>,
    /// Joins that led on, or would have, together with one.
    with: HashMap<JoinId, BTreeSet<JoinId>>,
    /// Joins that may lead on beside more than when they were last looked at.
    changed: BTreeSet<JoinId>,
}

impl Arrivals {
    /// Notes that a node comes to a join.
    pub(super) fn arrive(&mut self, join: JoinId, place: TokenPlace, member: NodeId) {
        self.by_join
            .entry(join)
            .or_default()
            .insert((place, member));
        self.of.entry(place).or_default().insert(join);
        self.coming.insert(place);
        self.changed.insert(join);
    }

    /// The nodes that come to a join.
    pub(super) fn arriving(&self, join: JoinId) -> impl Iterator<Item = TokenPlace> + '_ {
        let arrivals = self.by_join.get(&join).into_iter().flatten();
        arrivals.map(|(place, _)| *place)
    }

    /// Notes that more runs beside a place.
    pub(super) fn changed(&mut self, place: TokenPlace) {
        self.changed
            .extend(self.of.get(&place).into_iter().flatten());
    }
}

/// Members of a join that can't have come to it beside a task.
#[derive(Clone, Copy)]
enum Lacking {
    Nobody,
    Only(NodeId),
    Several,
}

/// What runs beside an arrival at a join that leads on.
#[derive(Default)]
struct Beside {
    /// Tasks.
    tasks: RoaringBitmap,
    /// Members that come to the join as well, and where each goes besides.
    members: Vec<(TokenPlace, RoaringBitmap)>,
    /// Where other targets of the arrival's own transition lead.
    forked: RoaringBitmap,
}

/// What each join lacks beside each place, in one round. What has come since is seen in the next.
type Known = HashMap<(JoinId, TokenPlace), Lacking>;

impl MayHappenInParallel<'_> {
    /// Notes those of some targets of a transition that are arrivals at joins, and where its other targets lead.
    pub(super) fn arrives(
        &mut self,
        (node, span): (NodeId, Span),
        places: &[TokenPlace],
        beside: &Rc<RoaringBitmap>,
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
        self.joins.changed.insert(id);
        let linked = self.joins.with.get(&id).cloned().unwrap_or_default();
        self.joins.changed.extend(linked);
        let cfg = self.cfg;
        let Some(join) = cfg.joins.get(id).filter(|_| !self.fired.contains(&id)) else {
            return;
        };
        let waits = || {
            let members = self.cfg.members(id);
            members.filter_map(|member| self.places.wait(id, member))
        };
        let all = self.waits_at(id);
        // A member that is named twice never meets itself.
        let whole = all.iter().count() == join.members.len()
            && waits().all(|wait| {
                let row = self.rows.get(wait as usize);
                let meets = row.is_some_and(|row| row.is_superset(&all));
                self.is_alive(wait) && (meets || join.members.len() == 1)
            });
        if whole {
            self.fired.insert(id);
            join.transitions
                .iter()
                .for_each(|transition| self.take(transition, None));
        }
    }

    /// Lets joins lead on beside what runs then; whether there was any to look at.
    pub(super) fn lead_on(&mut self) -> bool {
        let changed = std::mem::take(&mut self.joins.changed);
        let mut known = Known::new();
        for id in &changed {
            if self.fired.contains(id) {
                self.beside_tasks(*id, &mut known);
            }
        }
        for (id, arrival, forked, span) in self.joins.forked.clone() {
            let looked = changed.contains(&id) && self.fired.contains(&id);
            if looked && self.whole(id, arrival, arrival.0, &mut known) {
                let beside = Beside {
                    forked: RoaringBitmap::clone(&forked),
                    ..Beside::default()
                };
                self.pass(id, arrival, beside, &mut known);
                if self.joins.shown.insert((id, arrival)) {
                    let reached = [self.led(id), forked].map(|to| (to.iter().collect(), false));
                    self.forks.push(Fork {
                        from: Some(NodeId(arrival.0)),
                        span,
                        reached: reached.into(),
                    });
                }
            }
        }
        !changed.is_empty()
    }

    /// A join leads on as one of its members comes, beside each task that runs then.
    fn beside_tasks(&mut self, id: JoinId, known: &mut Known) {
        let arrivals = self.joins.by_join.get(&id).cloned().unwrap_or_default();
        let own = self.waits_at(id);
        let members: RoaringBitmap = self.cfg.members(id).map(|member| member.0).collect();
        self.joins.members.insert(id, Rc::new(members));
        // Those that only come to this join are beside nothing that it leads to.
        let mut only: RoaringBitmap = own.iter().collect();
        for (place, _) in &arrivals {
            if self.after(*place).places.iter().all(|to| own.contains(*to)) {
                only.insert(*place);
            }
        }
        for arrival in arrivals {
            let (place, member) = arrival;
            if !self.whole(id, arrival, place, known) {
                continue;
            }
            let row = self.rows.get(place as usize).cloned().unwrap_or_default();
            let mut beside = Beside::default();
            let candidates = &*row - &only;
            let candidates = candidates.iter();
            for other in candidates.filter(|other| *other != place || self.is_several(place)) {
                if !self.whole(id, arrival, other, known) {
                    continue;
                }
                match self.must_come(id, member, other) {
                    Some(node) => beside.members.push((other, self.goes_besides(id, node))),
                    None => _ = beside.tasks.insert(other),
                }
            }
            self.pass(id, arrival, beside, known);
        }
    }

    fn waits_at(&self, id: JoinId) -> RoaringBitmap {
        let members = self.cfg.members(id);
        let waits = members.filter_map(|member| self.places.wait(id, member));
        waits.collect()
    }

    /// Whether all members but the one that arrives can be at the join beside a task.
    fn whole(&self, id: JoinId, (_, member): Arrival, task: TokenPlace, known: &mut Known) -> bool {
        let lacking = known
            .entry((id, task))
            .or_insert_with(|| self.lacking(id, task));
        match lacking {
            Lacking::Nobody => true,
            Lacking::Only(only) => *only == member,
            Lacking::Several => false,
        }
    }

    /// The members of a join that can't have come to it beside a task.
    fn lacking(&self, id: JoinId, task: TokenPlace) -> Lacking {
        let row = self.rows.get(task as usize);
        let all = self.joins.members.get(&id);
        if row.zip(all).is_some_and(|(row, all)| row.is_superset(all)) {
            return Lacking::Nobody;
        }
        let beside = |member: NodeId| {
            let wait = self.places.wait(id, member);
            task == member.0
                || self.has(task, member.0)
                || wait.is_some_and(|wait| self.has(task, wait))
        };
        let mut lacking = self.cfg.members(id).filter(|member| !beside(*member));
        match lacking.next() {
            None => Lacking::Nobody,
            Some(first) if lacking.all(|member| member == first) => Lacking::Only(first),
            Some(_) => Lacking::Several,
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
    fn goes_besides(&self, id: JoinId, member: NodeId) -> RoaringBitmap {
        let join = BlockId::Join(id);
        let transitions = self.places.transitions(member);
        let transitions = transitions.filter(|way| way.successors.iter().any(|to| to.to == join));
        let successors = transitions.flat_map(|transition| &transition.successors);
        let places =
            successors.flat_map(|successor| self.places.arrive(successor, Some(member), |_| {}));
        places.collect()
    }

    /// The places that a join leads to.
    pub(super) fn led(&self, id: JoinId) -> Rc<RoaringBitmap> {
        let successors = self.cfg.successors(BlockId::Join(id));
        let places = successors.flat_map(|successor| self.places.arrive(successor, None, |_| {}));
        Rc::new(places.collect())
    }

    /// The join leads on beside what runs there, which is not what waits at the same join. What comes to another join at that
    /// moment may make that one lead on as well.
    fn pass(&mut self, id: JoinId, arrival: Arrival, beside: Beside, known: &mut Known) {
        let Beside {
            tasks,
            members,
            forked,
        } = beside;
        let (own, led) = (self.waits_at(id), self.led(id));
        let mut to = &forked - &own;
        let mut also: Vec<(JoinId, TokenPlace, NodeId)> = Vec::new();
        let mut arrive =
            |places: &MayHappenInParallel, other, to: &mut dyn Iterator<Item = u32>| {
                let joins = to.filter_map(|place| places.places.waits(place));
                let joins = joins.filter(|(second, _)| *second != id);
                also.extend(joins.map(|(second, member)| (second, other, member)));
            };
        // What is forked off comes with the arrival.
        arrive(self, arrival.0, &mut forked.iter());
        for (other, goes) in members {
            to |= &goes - &own;
            arrive(self, other, &mut goes.iter());
        }
        for other in &tasks & &self.joins.coming {
            arrive(self, other, &mut self.after_known(other).iter().copied());
        }
        let tasks = Rc::new(tasks);
        to |= &*self.image(&tasks, None).all - &own;
        for (second, other, member) in also {
            self.joins.with.entry(second).or_default().insert(id);
            let second_arrival = (other, member);
            let both = self.fired.contains(&second)
                && self.whole(second, second_arrival, other, known)
                && self.whole(second, second_arrival, arrival.0, known);
            if both {
                let there = self.led(second);
                self.cross(&there, &(&*led - self.waits_at(second)));
            }
        }
        self.cross(&led, &to);
    }

    /// Puts the places of two sets beside each other.
    fn cross(&mut self, left: &Rc<RoaringBitmap>, right: &RoaringBitmap) {
        if right.is_empty() {
            return;
        }
        let right = Rc::new(right.clone());
        left.iter().for_each(|place| self.grow(place, &right));
        right.iter().for_each(|place| self.grow(place, left));
    }
}
