//! Joins that are waited at in vain on some way: a member comes, and another one can't any more.
//!
//! For each two members the way of the first is followed backwards. Where an arrow has others beside it and one
//! of them may still lead to the second member, the ways part there: that is their fork. Where `start` is met before any
//! fork, the first member comes alone; where the join itself is met, a circle comes back to one
//! of its members only. Behind the fork, an arm that leads past the second member leaves the first waiting.

use std::collections::{BTreeSet, HashMap};

use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::{JoinId, NodeId};

use super::arrows::{Arrow, Arrows};
use super::model::{Cause, Flow, Gather, Goal, Spot, Way};
use super::together::Together;

/// Most arrows of a way that a message points at.
const SHOWN: usize = 6;

/// Steps that all searches of a flow may make together. What is beyond is not looked at, so that a
/// flow of joins upon joins is checked in time; conditions that show only there are not reported.
const STEPS: usize = 4_000_000;

/// Above so many members, each is compared with the next one only.
const PAIRED: usize = 8;

/// Joins that are waited at in vain.
#[derive(Debug, Default)]
pub struct Waiting {
    /// Those that never lead on, or that a member comes to alone.
    pub always: BTreeSet<JoinId>,
    /// Those that an arm leads past.
    pub at_times: BTreeSet<JoinId>,
}

/// Reports joins that are reached by one member alone, and joins that an arm leads past, and adds them to those that are
/// `waiting`.
pub fn half_filled(
    flow: &Flow,
    arrows: &Arrows,
    together: &Together,
    waiting: &mut Waiting,
    diags: &mut Diagnostics,
) {
    let mut steps = STEPS;
    for (id, join) in flow.joins.entries() {
        if !together.fires(id) || waiting.always.contains(&id) {
            continue;
        }
        let mut search = Search {
            flow,
            arrows,
            join: id,
            steps: &mut steps,
            known: HashMap::new(),
        };
        let found = search.join(join, together);
        if let Some((found, without_fork)) = found {
            diags.push(found);
            let joins = match without_fork {
                true => &mut waiting.always,
                false => &mut waiting.at_times,
            };
            joins.insert(id);
        }
    }
}

struct Search<'a, 'b> {
    flow: &'a Flow,
    arrows: &'b Arrows<'a>,
    join: JoinId,
    steps: &'b mut usize,
    /// Whether a spot may lead to a member without passing the join.
    known: HashMap<(NodeId, Spot), bool>,
}

/// What following a member's ways backwards has found.
struct Lonely {
    /// Arrows from `start`, or from the join itself, to the member; empty where all ways come from a fork.
    path: Vec<Span>,
    /// The path begins at the join itself.
    again: bool,
    /// Where the path comes into the member's usual ways, for a circle.
    back: Option<Span>,
    /// Spots between the fork and the member.
    region: BTreeSet<Spot>,
    /// Those of them that the fork leads to.
    begins: BTreeSet<Spot>,
}

impl Search<'_, '_> {
    /// What is wrong with a join, and whether it is that a member comes alone.
    fn join(&mut self, join: &Gather, together: &Together) -> Option<(Diagnostic, bool)> {
        let mut aside: Option<(NodeId, NodeId, Vec<Span>)> = None;
        for (member, other) in pairs(join) {
            let lonely = self.lonely(member, other);
            let beside = |spot| together.beside(spot);
            let mut brought = || lonely.again && self.comes_from_beside(join, other, beside);
            if !(lonely.path.is_empty() || brought()) {
                return Some((self.alone(join, member, other, &lonely), true));
            }
            if aside.is_none() && lonely.path.is_empty() {
                let arms = self.arms_past(member, &lonely);
                aside = (!arms.is_empty()).then_some((member, other, arms));
            }
        }
        // Where not all was looked at, an arm may lead to the other member all the same.
        let (member, other, arms) = aside.filter(|_| *self.steps > 0)?;
        Some((self.past(join, member, other, &arms), false))
    }

    /// Follows the ways of a member backwards to where they part from those of another.
    fn lonely(&mut self, member: NodeId, other: NodeId) -> Lonely {
        let mut found = Lonely {
            path: Vec::new(),
            again: false,
            back: None,
            region: BTreeSet::from([Spot::Node(member)]),
            begins: BTreeSet::new(),
        };
        let here = Spot::Join(self.join);
        let arrives = self.flow.ways(Spot::Node(member)).iter().any(|way| {
            let others = way.goals.iter().filter(|goal| goal.to != here);
            let mut others = others.filter(|goal| self.leads(goal, Some(member), other));
            way.goals.iter().any(|goal| goal.to == here) && others.next().is_none()
        });
        if !arrives {
            return found;
        }
        let mut after: HashMap<Spot, (Spot, Span)> = HashMap::new();
        let mut open = vec![Spot::Node(member)];
        while let Some(spot) = open.pop() {
            for arrow in self.arrows.into(self.flow, spot) {
                if !plain(arrow.way) {
                    continue;
                }
                if self.parts(arrow, other) {
                    found.begins.insert(spot);
                    continue;
                }
                let span = arrow.goal().map_or(arrow.way.span, |goal| goal.span);
                match arrow.from {
                    Some(from) if from != here && !found.region.insert(from) => {}
                    Some(from) if from != here => {
                        after.insert(from, (spot, span));
                        open.push(from);
                    }
                    begin if found.path.is_empty() => {
                        found.again = begin.is_some();
                        self.trace(&mut found, &after, spot, span);
                    }
                    _ => {}
                }
            }
        }
        found
    }

    /// Writes down the arrows from where a path begins.
    fn trace(
        &self,
        found: &mut Lonely,
        after: &HashMap<Spot, (Spot, Span)>,
        first: Spot,
        span: Span,
    ) {
        let (mut at, mut span) = (first, span);
        loop {
            found.path.push(span);
            if found.back.is_none() && self.arrows.into(self.flow, at).len() > 1 {
                found.back = Some(span);
            }
            match after.get(&at) {
                Some((next, arrow)) => (at, span) = (*next, *arrow),
                None => return,
            }
        }
    }

    /// Whether the way of an arrow leads to the other member as well.
    fn parts(&mut self, arrow: &Arrow, other: NodeId) -> bool {
        let from = match arrow.from {
            Some(Spot::Node(node)) => Some(node),
            _ => None,
        };
        *self.steps = self.steps.saturating_sub(arrow.way.goals.len());
        let straight = |goal: &Goal| goal.to == Spot::Node(other);
        *self.steps == 0
            || arrow.beside().any(straight)
            || arrow.beside().any(|goal| self.leads(goal, from, other))
    }

    /// Whether a goal may lead to a member without passing the join.
    fn leads(&mut self, goal: &Goal, from: Option<NodeId>, member: NodeId) -> bool {
        if goal.to == Spot::Join(self.join) {
            return from == Some(member);
        }
        if goal.to == Spot::Node(member) {
            return true;
        }
        if let Some(known) = self.known.get(&(member, goal.to)) {
            return *known;
        }
        let mut seen = BTreeSet::from([goal.to]);
        let mut open = vec![goal.to];
        while let Some(spot) = open.pop() {
            for next in self.flow.ways(spot).iter().flat_map(|way| &way.goals) {
                *self.steps = self.steps.saturating_sub(1);
                let known = self.known.get(&(member, next.to)).copied();
                if *self.steps == 0 || next.to == Spot::Node(member) || known == Some(true) {
                    self.known.insert((member, goal.to), true);
                    return true;
                }
                let passes = next.to != Spot::Join(self.join) && known.is_none();
                if passes && seen.insert(next.to) {
                    open.push(next.to);
                }
            }
        }
        self.known
            .extend(seen.into_iter().map(|spot| ((member, spot), false)));
        false
    }

    /// Whether something that runs beside what the join leads to may bring the member again.
    fn comes_from_beside(
        &mut self,
        join: &Gather,
        member: NodeId,
        beside: impl Fn(NodeId) -> Vec<Spot>,
    ) -> bool {
        let mut seen = BTreeSet::new();
        let mut open: Vec<&Goal> = join.ways.iter().flat_map(|way| &way.goals).collect();
        while let Some(goal) = open.pop() {
            let Spot::Node(node) = goal.to else { continue };
            if !seen.insert(node) {
                continue;
            }
            if self.flow.stops.get(node).is_some_and(|stop| stop.branch) {
                open.extend(self.flow.ways(goal.to).iter().flat_map(|way| &way.goals));
                continue;
            }
            for spot in beside(node) {
                let goal = Goal {
                    to: spot,
                    many: false,
                    span: Span::default(),
                };
                if self.leads(&goal, None, member) {
                    return true;
                }
            }
        }
        false
    }

    /// Arms behind the fork that lead past the member, to an end.
    fn arms_past(&mut self, member: NodeId, lonely: &Lonely) -> Vec<Span> {
        let mut arms = Vec::new();
        let mut seen = lonely.begins.clone();
        let mut open: Vec<Spot> = seen.iter().copied().collect();
        while let Some(spot) = open.pop() {
            let Spot::Node(node) = spot else { continue };
            for way in self.flow.ways(spot) {
                // What the member leads to itself runs when it has come.
                let on = way.goals.iter().filter(|_| node != member);
                let within = on.filter(|goal| lonely.region.contains(&goal.to));
                open.extend(within.map(|goal| goal.to).filter(|to| seen.insert(*to)));
                let chosen = matches!(way.cause, Cause::Goto | Cause::Skip);
                let stops = |goal: &Goal| matches!(goal.to, Spot::Fail | Spot::Leave);
                if chosen
                    && !way.goals.iter().any(stops)
                    && !way
                        .goals
                        .iter()
                        .any(|goal| self.leads(goal, Some(node), member))
                {
                    arms.push(way.span);
                }
            }
        }
        arms.sort();
        arms
    }

    fn alone(&self, join: &Gather, member: NodeId, other: NodeId, lonely: &Lonely) -> Diagnostic {
        let name = |id| self.flow.name(Spot::Node(id));
        let (one, missing) = (name(member), name(other));
        let both = format!(
            "lead to both, as in `-> [{one}, {missing}]`, or write an edge from each member instead of the join"
        );
        if lonely.again {
            let at = lonely.back.or(lonely.path.last().copied());
            let message = format!(
                "the way back from this join comes to `{one}` but not to `{missing}`, so the join then waits for ever for `{missing}`"
            );
            let mut found =
                Diagnostic::new(&codes::JOIN_WITHOUT_FORK, message, at.unwrap_or(join.span))
                    .here(format!("back to `{one}`"))
                    .label(join.span, format!("waits for `{missing}` too"))
                    .help(both);
            for span in lonely
                .path
                .iter()
                .filter(|span| Some(**span) != at)
                .take(SHOWN)
            {
                found = found.label(*span, "on the way back");
            }
            return found;
        }
        let message = format!(
            "this join waits for `{missing}`, which never comes where `{one}` is reached without it: no fork leads to both"
        );
        let mut found = Diagnostic::new(&codes::JOIN_WITHOUT_FORK, message, join.span).help(both);
        for span in lonely.path.iter().take(SHOWN) {
            found = found.label(*span, format!("on the way to `{one}` alone"));
        }
        found
    }

    fn past(&self, join: &Gather, member: NodeId, other: NodeId, arms: &[Span]) -> Diagnostic {
        let name = |id| self.flow.name(Spot::Node(id));
        let message = format!(
            "where this is taken, the join waits for `{}` in vain, and what `{}` has brought is lost",
            name(member),
            name(other)
        );
        let first = arms.first().copied().unwrap_or(join.span);
        let mut found = Diagnostic::new(&codes::JOIN_MAY_WAIT, message, first)
            .here(format!("leads past `{}`", name(member)))
            .label(join.span, "the join");
        for span in arms.iter().skip(1).take(SHOWN) {
            found = found.label(*span, format!("leads past `{}` too", name(member)));
        }
        found.help(format!(
            "lead every arm to `{}`, or write an edge from each member (`{} -> ..`) instead of the join",
            name(member),
            name(other)
        ))
    }
}

/// Ways that a member is expected to come by; errors, caps and timeouts are exceptions.
fn plain(way: &Way) -> bool {
    !matches!(way.cause, Cause::Error | Cause::Visits | Cause::Timeout)
}

/// Which members are compared: all with all, of many each with the next.
fn pairs(join: &Gather) -> Vec<(NodeId, NodeId)> {
    let members: Vec<NodeId> = join.members.iter().map(|(member, _)| *member).collect();
    let others = |i: usize| -> Vec<NodeId> {
        match members.len() > PAIRED {
            true => members
                .iter()
                .cycle()
                .skip(i + 1)
                .take(1)
                .copied()
                .collect(),
            false => members
                .iter()
                .enumerate()
                .filter(|(at, _)| *at != i)
                .map(|(_, other)| *other)
                .collect(),
        }
    };
    let each = members.iter().enumerate();
    each.flat_map(|(i, member)| others(i).into_iter().map(move |other| (*member, other)))
        .collect()
}
