//! Whether a run can take a way on which a field is not written, given what the conditions on it say.
//!
//! All other rules count conditions as free. Before one of them reports a way as an error, the ways are followed once more, each with
//! what its conditions and writes say of the state: an arm whose condition can't hold there is not taken. Equal and
//! complementary conditions, members of enums, null and not null, and numbers are told apart, as long as
//! nothing in between may write what they speak of.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use crate::base::{IdVec, SharedSet, Span};
use crate::ir::{FieldId, FieldMode, JoinId};
use crate::resolve::program::{Graph, Route};

use super::super::cfg::effect::Effects;
use super::super::cfg::exit::Exits;
use super::super::cfg::leaves_unwritten::loses;
use super::super::cfg::{BlockId, ControlFlowGraph, EdgeKind, Successor, Transition};
use super::explored::{Explored, State};
use super::facts::has_first_value;
use super::known::Known;
use super::says::{Fact, Saying, Values, first_values};

/// Most states of a block that are told apart; of more, nothing is taken for known there.
const STATES: usize = 24;

/// Most states that are followed for one question. Beyond, the answer is in doubt.
const MOST: usize = 40_000;

/// Most states that are followed for all questions of a graph together.
const BUDGET: usize = 150_000;

/// To find what a question has to do with takes as long at so many blocks as to follow one state.
const CHEAPER: usize = 4;

/// What counts as a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Counts {
    /// What may be written.
    May,
    /// What surely is.
    Sure,
}

/// What is asked of the ways of a graph.
pub struct Paths<'p, 'a> {
    /// The graph.
    pub graph: &'a Graph,
    /// Its flow.
    pub cfg: &'a ControlFlowGraph,
    /// What its nodes surely write.
    pub effects: &'a Effects,
    /// What the conditions of its entry say.
    pub start: Saying,
    /// What its nodes say.
    pub nodes: Vec<Saying>,
    /// What its joins' updates leave.
    pub joins: IdVec<JoinId, Saying>,
    /// By node, fields that other tasks may write in its super-step.
    pub beside: &'p [SharedSet<FieldId>],
    /// By node, fields that they surely write.
    pub at_once: Vec<SharedSet<FieldId>>,
    /// The circle of each block.
    pub circles: &'p [usize],
    /// The place of each block in the order of a run.
    pub order: &'p [usize],
    /// Blocks where fields are read that are asked about.
    pub readers: BTreeMap<FieldId, Vec<BlockId>>,
    /// Fields of which nothing is kept from step to step.
    pub passing: &'p SharedSet<FieldId>,
    /// What each `exit when` says where it holds; none where the graph has none.
    pub exits: Vec<Vec<Fact>>,
    /// Where those may come to hold.
    pub ends: Option<Exits<'a>>,
    /// What they say while they don't hold, as they don't when a run begins.
    pub goes_on: Vec<Fact>,
    /// The graph is called with `persist thread`.
    pub kept: bool,
    /// Fields that each place is made of, filled as places are met.
    pub fields: BTreeMap<Arc<str>, BTreeSet<FieldId>>,
    /// The places that each field is a part of.
    pub places: BTreeMap<FieldId, Vec<Arc<str>>>,
    /// By field that is reset, the fields whose writes reset it.
    pub resets: BTreeMap<FieldId, Vec<FieldId>>,
    /// What was found before, by what was asked.
    pub explored: RefCell<Asked<'a>>,
    /// How many states have been followed for all questions so far.
    pub spent: Cell<usize>,
    /// How many moments and turns of whole runs have been.
    pub stepped: Cell<usize>,
}

/// What following the ways has found, by field and by what counts as a write.
type Asked<'a> = HashMap<(FieldId, Counts), Option<Rc<Explored<'a>>>>;

/// A way that was found, and whether a run surely can take it: nothing that is known was left out on it.
pub struct Told<T> {
    /// The way.
    pub transition: T,
    /// Whether it is sure.
    pub sure: bool,
}

/// The arrows of a way to a block, each with what it leads to and where it comes from.
pub type Trail = Vec<(BlockId, Option<BlockId>, Span)>;

/// Which places are told apart.
#[derive(Clone, Copy)]
enum Apart<'o> {
    /// All, as far as there is room.
    All,
    /// All, and nothing is found where there is no room.
    AllOrNone,
    /// These, as far as there is room.
    These(&'o BTreeSet<Arc<str>>),
}

/// A way that is followed from a state, what is known behind it, and the places that are told apart.
type Leading<'a, 'o> = (&'a Transition, Option<usize>, Known, Apart<'o>);

/// An arrow of a way that a run can take: where it comes from, the way, and which of its goals.
pub type Step<'a> = (Option<BlockId>, &'a Transition, &'a Successor);

impl<'a> Paths<'_, 'a> {
    /// Notes of which fields each place is made.
    pub fn gather(&mut self) {
        let all = self.nodes.iter().chain([&self.start]).chain(&self.joins);
        let facts = all.flat_map(|said| {
            let lists = said.jumps.values().chain(said.sets.values());
            let lists = lists.chain(&said.skipped);
            lists.flatten().chain(&said.worked).chain(&said.assigned)
        });
        let facts = facts.chain(self.exits.iter().flatten());
        for fact in facts {
            let slot = self.fields.entry(fact.place.clone()).or_default();
            slot.extend(&fact.fields);
        }
        for (id, field) in self.graph.fields.entries() {
            let reset = field.resets.iter();
            for reset in reset.filter_map(|name| self.graph.field(name)) {
                self.resets.entry(reset).or_default().push(id);
            }
            let place = format!("state.{}", field.name.node);
            for place in [format!("#{place}"), format!("#size({place})"), place] {
                self.fields.entry(place.into()).or_default().insert(id);
            }
        }
        for (place, fields) in &self.fields {
            for field in fields {
                self.places.entry(*field).or_default().push(place.clone());
            }
        }
    }

    /// The way on which a read finds a field without a value, each arrow with where it comes from; `None`
    /// where no run takes one. Empty where that can't be told.
    pub fn lacks(
        &self,
        first: &Known,
        (block, field, read): (BlockId, FieldId, Span),
        counts: Counts,
    ) -> Option<Told<Trail>> {
        let Some(explored) = self.explored(first, field, counts) else {
            return Some(Told {
                transition: Vec::new(),
                sure: false,
            });
        };
        self.lacks_in(&explored, (block, field, read))
    }

    /// The same in a later call of a graph that keeps its state. Only ways on which no two tasks run side by side are followed,
    /// and what nothing may write.
    pub fn lacks_later(
        &self,
        first: &Known,
        (block, field, read): (BlockId, FieldId, Span),
    ) -> Option<Told<Trail>> {
        let explored = self.explore(first, (field, Counts::May), (Apart::All, true))?;
        self.lacks_in(&explored, (block, field, read))
    }

    fn lacks_in(
        &self,
        explored: &Explored<'a>,
        (block, field, read): (BlockId, FieldId, Span),
    ) -> Option<Told<Trail>> {
        let number = self.cfg.number(block);
        let here = number.and_then(|number| explored.by_block.get(number));
        let here = here.into_iter().flatten().filter_map(|at| {
            let state = explored.states.get(*at)?;
            let vague = self.reads_at(block, (read, field), &state.known)?;
            Some((vague || state.vague, *at))
        });
        let (vague, found) = here.min()?;
        let sure = !vague;
        let mut trail = Vec::new();
        let mut at = Some(found);
        while let Some(state) = at.and_then(|at| explored.states.get(at)) {
            let from = state.from.and_then(|from| explored.states.get(from));
            trail.push((state.block, from.map(|from| from.block), state.arrow.span));
            at = state.from;
        }
        trail.reverse();
        Some(Told {
            transition: trail,
            sure,
        })
    }

    /// Whether a read in a node comes about, given what is known where the node begins: `None` where it doesn't, and else
    /// whether that is in doubt.
    pub(super) fn reads_at(
        &self,
        block: BlockId,
        (read, field): (Span, FieldId),
        known: &Known,
    ) -> Option<bool> {
        let BlockId::Node(id) = block else {
            return Some(known.is_vague());
        };
        let (Some(node), Some(said)) = (self.graph.nodes.get(id), self.nodes.get(id.0 as usize))
        else {
            return Some(known.is_vague());
        };
        let within = |outer: Span| {
            outer.file == read.file && outer.start <= read.start && read.end <= outer.end
        };
        let guards = said.guarded.get(&(read, field));
        let comes = |known: Known| {
            let holds = |facts: &Vec<Fact>| Some(self.and(&known, facts)?.is_vague());
            match guards {
                Some(guards) => guards.iter().filter_map(holds).min(),
                None => Some(known.is_vague()),
            }
        };
        let early = node.skips.iter().map(|skip| skip.span);
        let early = early.chain(node.requires.iter().map(|require| require.condition.span));
        let visits = node.max_visits.iter().map(|max| max.to.span);
        let errors = node.on_error.as_deref().into_iter().flat_map(spans);
        if early.chain(visits).chain(errors).any(within) {
            return comes(known.clone());
        }
        let skipped = || {
            let all = said.skipped.iter();
            all.filter_map(|facts| self.and(known, facts))
        };
        let worked = self.and(known, &said.worked);
        let routed = node
            .goto
            .iter()
            .any(|goto| spans(&goto.node).into_iter().any(within));
        let edge = node.edges.iter().any(|jump| within(jump.span));
        if !routed {
            let edge = skipped().filter(|_| edge).filter_map(comes);
            return worked.and_then(comes).into_iter().chain(edge).min();
        }
        let facts = node.goto.iter().find_map(|goto| match &goto.node {
            Route::Arms(arms, _) => {
                let arm = arms.iter().find(|arm| within(arm.span))?;
                let early = arm.when.as_ref().is_some_and(|when| within(when.span));
                said.jumps.get(&arm.jump.span).filter(|_| !early)
            }
            Route::Always(_) => None,
        });
        let taken = |known: Known| match facts {
            Some(facts) => self.and(&known, facts).and_then(comes),
            None => comes(known),
        };
        let worked = worked.map(|known| self.written(id, known)).and_then(taken);
        let skipped = skipped().filter_map(taken);
        worked.into_iter().chain(skipped).min()
    }

    /// A way from `start` to `end` that leaves a field unwritten; `None` where no run takes one. Empty where
    /// that can't be told.
    pub fn avoids(
        &self,
        first: &Known,
        field: FieldId,
        counts: Counts,
    ) -> Option<Told<Vec<Step<'a>>>> {
        let Some(explored) = self.explored(first, field, counts) else {
            return Some(Told {
                transition: Vec::new(),
                sure: false,
            });
        };
        let loses = |successor: &Successor, from: Option<BlockId>| {
            counts == Counts::Sure && loses(self.cfg, successor.to, from)
        };
        let transition = explored.shortest(loses)?;
        let sure = !explored.states.iter().any(|state| state.vague);
        Some(Told { transition, sure })
    }

    /// What the state begins with.
    pub fn at_start(&self, types: &crate::expr::TypeTable) -> Known {
        let mut known = Known::default();
        for (id, field) in self.graph.fields.entries() {
            let given = matches!(field.mode, FieldMode::In | FieldMode::InOut);
            let given = given || field.persist.is_some();
            if given || self.passing.contains(&id) || !has_first_value(field) {
                continue;
            }
            let (name, ty) = (&field.name.node, &field.ty.node);
            match &field.default {
                None if !ty.admits_null() => {
                    let none = super::range::Range::point(0.0);
                    let place = format!("#size(state.{name})").into();
                    known.put(&place, Values::Range(none, true));
                }
                default => first_values(name, ty, default.as_ref(), types)
                    .into_iter()
                    .for_each(|(place, values)| known.put(&place.into(), values)),
            }
        }
        let on = |known: Known, fact| {
            self.and(&known, std::slice::from_ref(fact))
                .unwrap_or(known)
        };
        self.goes_on.iter().fold(known, on)
    }

    /// The same, found once.
    fn explored(&self, first: &Known, field: FieldId, counts: Counts) -> Option<Rc<Explored<'a>>> {
        let asked = (field, counts);
        if let Some(known) = self.explored.borrow().get(&asked) {
            return known.clone();
        }
        let mut found = self.explore(first, asked, (Apart::AllOrNone, false));
        if found.is_none() {
            // What has nothing to do with the field is left out.
            let blocks = self.cfg.nodes.len() + self.cfg.joins.len();
            self.spent.set(self.spent.get() + blocks / CHEAPER);
            if self.spent.get() < BUDGET {
                let only = self.relevant(field);
                found = self.explore(first, asked, (Apart::These(&only), false));
            }
        }
        let found = found.map(Rc::new);
        self.explored.borrow_mut().insert(asked, found.clone());
        found
    }

    /// All states that a run may come to without having written the field. `exclusive` says which places are told apart. With
    /// `later`, runs that begin with what one has left are followed as well.
    fn explore(
        &self,
        first: &Known,
        (field, counts): (FieldId, Counts),
        (apart, later): (Apart<'_>, bool),
    ) -> Option<Explored<'a>> {
        let mut explored = Explored {
            states: Vec::new(),
            start: Vec::new(),
            by_block: vec![Vec::new(); self.cfg.nodes.len() + self.cfg.joins.len()],
        };
        let mut open = VecDeque::new();
        for transition in &self.cfg.start {
            if let Some(known) = self.along(transition, first.clone(), &self.start, field) {
                let on = (transition, None, known, apart);
                let to = self.lead(&mut explored, &mut open, (on, false))?;
                explored.start.push((transition, to));
            }
        }
        while let Some(at) = open.pop_front() {
            let state = explored.states.get(at)?;
            let (block, again, known) = (state.block, state.again, state.known.clone());
            let alone = state.alone;
            for (number, transition) in self.cfg.transitions(block).iter().enumerate() {
                if transition.kind == EdgeKind::Visits && !again {
                    continue;
                }
                for known in self.leave((block, alone), (number, transition), &known, field, counts)
                {
                    if let Some((exit, vague)) = self.exit(block, transition, &known) {
                        let state = explored.states.get_mut(at)?;
                        state.transitions.push((exit, vec![None]));
                        state.vague |= vague;
                    }
                    let ends = |successor: &Successor| {
                        matches!(successor.to, BlockId::End | BlockId::Leave)
                    };
                    if later && alone && transition.successors.iter().all(ends) {
                        let mut kept = known.clone();
                        kept.keep(|place| self.is_kept(place));
                        for transition in &self.cfg.start {
                            if let Some(known) =
                                self.along(transition, kept.clone(), &self.start, field)
                            {
                                let on = (transition, Some(at), known, apart);
                                self.lead(&mut explored, &mut open, (on, true))?;
                            }
                        }
                    }
                    let on = (transition, Some(at), known, apart);
                    let to = self.lead(&mut explored, &mut open, (on, false))?;
                    explored
                        .states
                        .get_mut(at)?
                        .transitions
                        .push((transition, to));
                }
            }
        }
        Some(explored)
    }

    /// Enters the goals of a way, `anew` where it is one of `start` behind an earlier run. `None` where there are too many states.
    fn lead(
        &self,
        explored: &mut Explored<'a>,
        open: &mut VecDeque<usize>,
        ((transition, from, known, apart), anew): (Leading<'a, '_>, bool),
    ) -> Option<Vec<Option<usize>>> {
        let circle = |block: BlockId| self.cfg.number(block).and_then(|n| self.circles.get(n));
        let before = from.and_then(|from| explored.states.get(from));
        let begins = before.map(|state| state.block).filter(|_| !anew);
        let single = transition.successors.len() == 1 && before.is_none_or(|state| state.alone);
        let was_vague = before.is_some_and(|state| state.vague);
        let mut to = Vec::new();
        for successor in &transition.successors {
            let Some(number) = self.cfg.number(successor.to) else {
                to.push(None);
                continue;
            };
            let alone = single && !successor.many;
            let again = begins.is_some_and(|from| circle(from) == circle(successor.to));
            // Where nothing else runs a deferred node waits for nothing.
            let waits = match successor.to {
                BlockId::Node(id) => {
                    !alone && self.cfg.nodes.get(id).is_some_and(|node| node.defer)
                }
                _ => true,
            };
            let mut known = known.clone();
            if waits {
                known.keep(|place| self.is_steady(place));
            }
            if let Apart::These(only) = apart {
                known.keep(|place| only.contains(place));
            }
            let there = explored.by_block.get_mut(number)?;
            let over = there.len() >= STATES;
            if over && matches!(apart, Apart::AllOrNone) {
                return None;
            }
            if over {
                known = Known::default();
                known.blur();
            }
            let vague = was_vague || known.is_vague();
            let states = &explored.states;
            let same = |at: &&usize| {
                states
                    .get(**at)
                    .is_some_and(|s| s.again == again && s.alone == alone && s.known == known)
            };
            if let Some(at) = there.iter().find(same) {
                to.push(Some(*at));
                continue;
            }
            let at = explored.states.len();
            if at >= MOST || self.spent.get() >= BUDGET {
                return None;
            }
            self.spent.set(self.spent.get() + 1);
            there.push(at);
            open.push_back(at);
            to.push(Some(at));
            let transitions = Vec::new();
            explored.states.push(State {
                block: successor.to,
                again,
                alone,
                vague,
                known,
                from,
                arrow: successor,
                transitions,
            });
        }
        Some(to)
    }
}

/// All of a route.
fn spans(route: &Route) -> Vec<Span> {
    match route {
        Route::Arms(arms, _) => arms.iter().map(|arm| arm.span).collect(),
        Route::Always(jump) => vec![jump.span],
    }
}
