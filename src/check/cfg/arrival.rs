//! What comes to joins beside other tasks, and when the joins lead on there.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use crate::ir::{JoinId, NodeId};

use super::mhp::{MayHappenInParallel, Origin};
use super::model::BlockId;
use super::place::TokenPlace;

/// A member's arrival at a join, beside something else that goes on.
#[derive(Clone)]
pub(super) struct Held {
    join: JoinId,
    member: NodeId,
    /// The task that arrives.
    one: TokenPlace,
    /// The task beside it; `None` for other targets of the same way.
    other: Option<TokenPlace>,
    /// Where that is in the next super-step.
    beside: Rc<[TokenPlace]>,
    origin: Origin,
    /// Held since another join led on beside it. Such a one holds no further ones.
    chained: bool,
    /// It was let through for the case that the task beside it comes to the join as well. What is found later may show that
    /// it need not.
    narrowly: bool,
}

/// Members of a join that can't have come to it beside a task.
enum Lacking {
    Nobody,
    Only(NodeId),
    Several,
}

impl MayHappenInParallel<'_> {
    /// Notes those of the places that are arrivals at joins.
    pub(super) fn hold(
        &mut self,
        one: TokenPlace,
        other: Option<TokenPlace>,
        places: &[TokenPlace],
        beside: &Rc<[TokenPlace]>,
        origin: Origin,
    ) {
        for (join, member) in places.iter().filter_map(|place| self.places.waits(*place)) {
            self.held.push(Held {
                join,
                member,
                one,
                other,
                beside: beside.clone(),
                origin,
                chained: false,
                narrowly: false,
            });
        }
    }

    /// A join leads on where each two of its members can both have come.
    pub(super) fn fire(&mut self, id: JoinId) {
        let cfg = self.cfg;
        let Some(join) = cfg.joins.get(id).filter(|_| !self.fired.contains(&id)) else {
            return;
        };
        let members = &join.members;
        let all = members.iter().enumerate().all(|(i, (a, _))| {
            let place = self.places.wait(id, *a);
            let alive = place.and_then(|place| self.alive.get(place as usize));
            alive.copied().unwrap_or(false)
                && members
                    .iter()
                    .skip(i + 1)
                    .all(|(b, _)| self.meet(id, *a, *b))
        });
        if all {
            self.fired.insert(id);
            join.transitions
                .iter()
                .for_each(|transition| self.take(transition, None));
            // What was held at it may pass now.
            self.looked = 0;
        }
    }

    /// Lets tasks pass that were held at joins, where all other members can have come by now.
    pub(super) fn let_through(&mut self) {
        let mut lacking = HashMap::new();
        for mut held in std::mem::take(&mut self.held) {
            if !held.narrowly && !self.passes(&held, &mut lacking) {
                self.held.push(held);
                continue;
            }
            match self.only(&held) {
                None => self.pass(&held, None),
                Some(member) => {
                    if !held.narrowly {
                        self.pass(&held, Some(self.goes_besides(&held, member)));
                    }
                    held.narrowly = true;
                    self.held.push(held);
                }
            }
        }
    }

    /// Whether all other members can be at the join, beside all that runs, when the one arrives there.
    /// What is `lacking` beside each task was found in the same round; pairs that have come since are
    /// seen in the next, which there is when there are any.
    fn passes(&self, held: &Held, lacking: &mut HashMap<(JoinId, TokenPlace), Lacking>) -> bool {
        let mut whole = |task: TokenPlace| {
            let lacking = lacking.entry((held.join, task));
            match lacking.or_insert_with(|| self.lacking(held.join, task)) {
                Lacking::Nobody => true,
                Lacking::Only(member) => *member == held.member,
                Lacking::Several => false,
            }
        };
        self.fired.contains(&held.join) && whole(held.one) && held.other.is_none_or(whole)
    }

    /// The members of a join that can't have come to it beside a task.
    fn lacking(&self, join: JoinId, task: TokenPlace) -> Lacking {
        let Some(gather) = self.cfg.joins.get(join) else {
            return Lacking::Several;
        };
        let beside = |member: NodeId| {
            let wait = self.places.wait(join, member);
            task == member.0
                || self.has(member.0, task)
                || wait.is_some_and(|wait| self.has(wait, task))
        };
        let members = gather.members.iter().map(|(member, _)| *member);
        let mut lacking = members.filter(|member| !beside(*member));
        match lacking.next() {
            None => Lacking::Nobody,
            Some(first) if lacking.all(|member| member == first) => Lacking::Only(first),
            Some(_) => Lacking::Several,
        }
    }

    /// The member for which only the task beside an arrival can stand, so that it has to come to the join as well. None
    /// of it may have come before, as far as is known by now.
    fn only(&self, held: &Held) -> Option<NodeId> {
        let other = held.other.filter(|_| !held.chained)?;
        let member = self.places.running(other)?;
        let wait = self.places.wait(held.join, member)?;
        let others = member == held.member || self.has(wait, other) || self.has(other, other);
        (!others).then_some(member)
    }

    /// Where a member goes besides the join that it comes to. One that jumps elsewhere does not arrive.
    fn goes_besides(&self, held: &Held, member: NodeId) -> BTreeSet<TokenPlace> {
        let join = BlockId::Join(held.join);
        let transitions = self.places.transitions(member);
        let transitions = transitions.filter(|transition| {
            transition
                .successors
                .iter()
                .any(|successor| successor.to == join)
        });
        let successors = transitions.flat_map(|transition| &transition.successors);
        let places =
            successors.flat_map(|successor| self.places.arrive(successor, Some(member), |_| {}));
        places.collect()
    }

    /// The join leads on beside what runs there, which is not what waits at the same join. What comes
    /// to another join at that moment may make that one lead on as well. Where the task beside it comes to the join too, it
    /// goes on to places `with` that alone.
    fn pass(&mut self, held: &Held, with: Option<BTreeSet<TokenPlace>>) {
        let cfg = self.cfg;
        let transitions = cfg
            .joins
            .get(held.join)
            .map_or(&[][..], |join| &join.transitions);
        let successors = transitions
            .iter()
            .flat_map(|transition| &transition.successors);
        let led: BTreeSet<TokenPlace> = successors
            .flat_map(|successor| self.places.arrive(successor, None, |_| {}))
            .collect();
        let led: Rc<[TokenPlace]> = led.into_iter().collect();
        let arrives = held
            .other
            .is_none_or(|other| self.places.running(other).is_some());
        let beside = held.beside.iter();
        let beside = beside.filter(|q| with.as_ref().is_none_or(|with| with.contains(q)));
        for q in beside {
            let at = self.places.waits(*q);
            if at.is_some_and(|(join, _)| join == held.join) {
                continue;
            }
            for place in led.iter().filter(|place| *place != q) {
                self.add(*place, *q, held.origin);
            }
            if let Some((join, member)) = at.filter(|_| arrives && !held.chained) {
                self.held.push(Held {
                    join,
                    member,
                    one: held.other.unwrap_or(held.one),
                    other: held.other.map(|_| held.one),
                    beside: led.clone(),
                    origin: held.origin.turned(),
                    chained: true,
                    narrowly: false,
                });
                self.looked = 0;
            }
        }
    }
}
