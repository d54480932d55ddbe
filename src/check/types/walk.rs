//! All nodes of a graph in the order in which a run comes to them, until what is known at each is settled.
//!
//! What is known at a node is what all ways to it agree on, less what other tasks of the same
//! super-step may have written. It is first taken from the ways seen so far and only ever shrinks, so a
//! node is typed again where it did; its findings are those of the last time.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::base::{IdVec, SharedSet, Span};
use crate::diag::Diagnostics;
use crate::expr::scope::StateFields;
use crate::ir::{FieldId, GraphId, JoinId, NodeId};
use crate::resolve::program::{Graph, Node, Program, Work};

use super::super::flow::avoid::circles_of;
use super::super::flow::effect::Effects;
use super::super::flow::{Cause, Flow, Spot, Together, Way, Written};
use super::cases::Domains;
use super::company::{Company, Sure};
use super::constant::Decides;
use super::cx::{Computed, Cx, StateTypes};
use super::facts::{Facts, Passing};
use super::jump::Behind;
use super::node::{self, Outcome};
use super::order::{beside, order};
use super::tell::{Asked, Doubt, Left, may_be_unset};
use super::trail::Trails;

/// What typing a graph has shown.
#[derive(Default)]
pub struct Typed<'a> {
    /// Fields that some expression reads.
    pub read: BTreeSet<FieldId>,
    /// Computed targets of each node.
    pub computed: IdVec<NodeId, Vec<Computed>>,
    /// What came of the `out` fields that were asked for, in order.
    pub left: Vec<Left<'a>>,
}

/// Types all expressions of a graph. `asked` are `out` fields that some way to the end seems not to write; with the joins
/// that are waited at in vain at times.
pub fn graph<'a>(
    program: &'a Program,
    id: GraphId,
    flow: &'a Flow,
    together: &Together,
    (written, effects): (&'a Written, &'a Effects),
    (asked, at_times): (&[(FieldId, Asked)], &BTreeSet<JoinId>),
    diags: &mut Diagnostics,
) -> Typed<'a> {
    let Some(graph) = program.graphs.get(id) else {
        return Typed::default();
    };
    let known = (written, effects, at_times);
    let mut walk = Walk::new(program, graph, flow, together, known);
    walk.start(diags);
    walk.settle();
    walk.finish(asked, diags)
}

/// What is known where a node begins.
#[derive(Clone)]
pub(super) struct Entry {
    pub(super) facts: Facts,
    /// For a branch: what may be written beside those that lead to it.
    beside: SharedSet<FieldId>,
    /// What runs beside it on every way to it.
    pub(super) company: Company,
    /// Of a capped node, what is known where it is come to from its own circle.
    pub(super) again: Option<Box<Facts>>,
}

fn led_back(flow: &Flow, circles: &[usize]) -> BTreeSet<NodeId> {
    let circle = |spot: Spot| flow.number(spot).and_then(|n| circles.get(n));
    let mut back = BTreeSet::new();
    for spot in flow.spots() {
        for goal in flow.ways(spot).iter().flat_map(|way| &way.goals) {
            if let Spot::Node(id) = goal.to
                && circle(spot) == circle(goal.to)
            {
                back.insert(id);
            }
        }
    }
    back
}

impl Entry {
    /// Takes in another way to the same node; whether that changed something.
    fn merge(
        &mut self,
        facts: &Facts,
        beside: &SharedSet<FieldId>,
        company: &Company,
        (branch, capped): (bool, bool),
    ) -> bool {
        let before = (self.facts.clone(), self.again.clone());
        self.facts.merge(facts);
        let fewer = self.company.keep(company);
        let more = branch && self.beside.join(beside);
        if capped {
            match &mut self.again {
                Some(again) => again.merge(facts),
                None => self.again = Some(Box::new(facts.clone())),
            }
        }
        let after = (&self.facts, &self.again);
        more || fewer || (&before.0, &before.1) != after
    }
}

/// What the last typing of a node or a join has shown; mostly nothing.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) diags: Diagnostics,
    pub(super) computed: Vec<Computed>,
    /// Reads of fields that lack a value on some way to here.
    pub(super) lacking: Vec<(FieldId, Span)>,
    /// Reads of fields of which it is not sure that they have one.
    pub(super) unsure: Vec<(FieldId, Span)>,
}

impl Seen {
    /// What a place has shown, where that is anything.
    fn of(cx: Cx) -> Option<Box<Self>> {
        let seen = Self {
            diags: cx.diags,
            computed: cx.computed,
            lacking: cx.lacking,
            unsure: cx.unsure,
        };
        let nothing = seen.diags.is_empty()
            && seen.computed.is_empty()
            && seen.lacking.is_empty()
            && seen.unsure.is_empty();
        (!nothing).then(|| Box::new(seen))
    }
}

/// A graph that is gone through.
pub(super) struct Walk<'a> {
    pub(super) program: &'a Program,
    pub(super) graph: &'a Graph,
    pub(super) flow: &'a Flow,
    pub(super) written: &'a Written,
    pub(super) effects: &'a Effects,
    pub(super) sure: Sure<'a>,
    /// The circle of each spot.
    pub(super) circles: Vec<usize>,
    /// Nodes that some arrow leads to from their own circle.
    pub(super) back: BTreeSet<NodeId>,
    pub(super) trails: Trails,
    pub(super) state: StateTypes,
    /// Values of enums, for all nodes.
    domains: Domains,
    /// Fields that are `ephemeral` or `untracked`.
    pub(super) passing: Passing,
    /// Fields that other tasks may write while a node runs, by node.
    pub(super) beside: Vec<SharedSet<FieldId>>,
    /// Whether it is known which tasks run beside others.
    told_apart: bool,
    pub(super) entries: Vec<Option<Entry>>,
    /// What each member of a join brings, by join and member.
    pub(super) brought: IdVec<JoinId, Vec<Option<Facts>>>,
    pub(super) seen: Vec<Option<Box<Seen>>>,
    pub(super) joined: IdVec<JoinId, Option<Box<Seen>>>,
    /// Position of each node and join in the order of a run.
    pub(super) order: Vec<usize>,
    pub(super) open: BTreeSet<(usize, usize)>,
    /// Fields that anything read.
    pub(super) read: BTreeSet<FieldId>,
}

impl<'a> Walk<'a> {
    fn new(
        program: &'a Program,
        graph: &'a Graph,
        flow: &'a Flow,
        together: &Together,
        (written, effects, at_times): (&'a Written, &'a Effects, &BTreeSet<JoinId>),
    ) -> Self {
        let circles = circles_of(flow);
        let state = graph.fields.iter();
        let state = state.map(|field| (field.name.node.clone(), field.ty.node.clone()));
        let state: StateFields = state.collect();
        let based = graph.fields.entries();
        let based = based.filter(|(_, field)| field.based_on.is_some());
        let based = based.map(|(id, _)| id.0).collect();
        Self {
            program,
            graph,
            flow,
            written,
            effects,
            sure: Sure::new(flow, effects, at_times),
            back: led_back(flow, &circles),
            circles,
            trails: Trails::default(),
            domains: Domains::default(),
            // What could not be read may have said what a field is based on.
            state: Arc::new(match graph.broken {
                true => state,
                false => state.with_based(based),
            }),
            passing: Passing::of(graph),
            beside: beside(flow, together),
            told_apart: together.complete(),
            entries: vec![None; flow.stops.len()],
            brought: flow
                .joins
                .iter()
                .map(|join| vec![None; join.members.len()])
                .collect(),
            seen: flow.stops.iter().map(|_| None).collect(),
            joined: flow.joins.iter().map(|_| None).collect(),
            order: order(flow),
            open: BTreeSet::new(),
            read: BTreeSet::new(),
        }
    }

    pub(super) fn cx(&self, facts: Facts) -> Cx<'a> {
        let mut cx = Cx::in_graph(self.program, self.graph, &self.state, facts);
        cx.domains = self.domains.clone();
        cx
    }

    /// The entry, and the graph's handler, which is typed once for all nodes.
    fn start(&mut self, diags: &mut Diagnostics) {
        let mut behind = Behind::new();
        let mut cx = self.cx(Facts::at_start(self.graph));
        if let Some(route) = &self.graph.start {
            cx.route(route, &mut behind);
        }
        if let Some(route) = &self.graph.on_error {
            cx.facts = Facts::default();
            cx.handler(route, &mut Behind::new());
        }
        if !self.graph.exits.is_empty() {
            // After whatever super-step: only what the state begins with is sure to be there.
            cx.facts = Facts {
                unset: SharedSet::new(),
                lacking: SharedSet::new(),
                ..Facts::at_start(self.graph)
            };
            for when in &self.graph.exits {
                cx.deciding(when, Decides::Exit(&self.graph.name.node));
            }
        }
        diags.append(std::mem::take(&mut cx.diags));
        for (id, read) in std::mem::take(&mut cx.unsure) {
            if let Some(field) = self.graph.fields.get(id) {
                let shown = self.program.types.show(&field.ty.node).to_string();
                diags.push(may_be_unset(&field.name, &shown, read, Doubt::Always));
            }
        }
        self.read.extend(&cx.read);
        let flow = self.flow;
        for way in &flow.start {
            let facts = behind.get(&way.span).cloned().unwrap_or_default();
            self.go(way, facts, None, &SharedSet::new(), &Company::new());
        }
    }

    fn settle(&mut self) {
        while let Some((_, number)) = self.open.pop_first() {
            match self.flow.spot(number) {
                Spot::Node(id) => self.visit(id),
                Spot::Join(id) => self.lead_on(id),
                Spot::End | Spot::Fail | Spot::Leave => {}
            }
        }
    }

    fn visit(&mut self, id: NodeId) {
        let Some(entry) = self.entries.get(id.0 as usize).cloned().flatten() else {
            return;
        };
        let branch = self.flow.stops.get(id).is_some_and(|stop| stop.branch);
        let mut facts = entry.facts.clone();
        if !branch {
            facts.fading = self.passing.ephemeral.clone();
        }
        let out = self.type_node(id, facts, entry.again.as_deref().cloned());
        let beside = match branch {
            true => entry.beside,
            false => self.beside.get(id.0 as usize).cloned().unwrap_or_default(),
        };
        let flow = self.flow;
        let ways = flow.ways(Spot::Node(id));
        let routed = ways.iter().any(|way| way.cause == Cause::Goto);
        let at_once = match branch {
            true => Vec::new(),
            false => self.sure.written_beside(&entry.company),
        };
        for (number, way) in ways.iter().enumerate() {
            // Of a node with a `goto` an edge too is refused: it leads nowhere.
            if way.cause == Cause::Edge && routed {
                continue;
            }
            // A cap is met when the node's own circle has led back to it.
            if way.cause == Cause::Visits && entry.again.is_none() && self.comes_back(id) {
                continue;
            }
            let behind = || out.behind.get(&way.span).cloned();
            let facts = match way.cause {
                Cause::Edge => Some(out.edge.clone()),
                Cause::Tool => Some(out.tool.clone()),
                Cause::Child => Some(out.child.clone()),
                Cause::Goto
                | Cause::Skip
                | Cause::Error
                | Cause::Visits
                | Cause::Timeout
                | Cause::Exit => behind(),
            };
            let mut facts = facts.unwrap_or_default();
            if way.cause != Cause::Visits {
                at_once.iter().for_each(|field| facts.has_value(*field));
            }
            if way.cause == Cause::Tool {
                let sure = self.effects.sure(flow, Spot::Node(id), number);
                let written = self.effects.tracked.list(&sure);
                written.for_each(|field| facts.has_value(field));
            }
            self.go(way, facts, Some(Spot::Node(id)), &beside, &entry.company);
        }
    }

    /// Whether some arrow leads to a node from its own circle.
    fn comes_back(&self, id: NodeId) -> bool {
        self.back.contains(&id)
    }

    pub(super) fn type_node(&mut self, id: NodeId, facts: Facts, again: Option<Facts>) -> Outcome {
        let Some(declared) = self.graph.nodes.get(id) else {
            return Outcome::default();
        };
        let mut cx = self.cx_of(id, declared, facts, again);
        let out = node::node(&mut cx, id, declared);
        self.read.extend(&cx.read);
        if let Some(seen) = self.seen.get_mut(id.0 as usize) {
            *seen = Seen::of(cx);
        }
        out
    }

    /// The place where a node begins.
    pub(super) fn cx_of(
        &self,
        id: NodeId,
        declared: &Node,
        facts: Facts,
        again: Option<Facts>,
    ) -> Cx<'a> {
        let mut cx = self.cx(facts);
        cx.followed = true;
        cx.again = again;
        if let Work::Subgraph {
            graph: Some(child), ..
        } = &declared.work
        {
            let taken = self
                .written
                .taken(self.program, self.graph, declared, *child);
            let always = self.effects.given(id);
            let taken = taken.into_iter().map(|(field, _)| field);
            cx.given_back = taken
                .map(|field| (field, always.contains(&field)))
                .collect();
        }
        cx
    }

    fn lead_on(&mut self, id: JoinId) {
        let brought = self.brought.get(id).into_iter().flatten().flatten();
        let facts = brought.cloned().reduce(|mut all, facts| {
            all.meet(&facts);
            all
        });
        let (Some(facts), Some(join)) = (facts, self.graph.joins.get(id)) else {
            return;
        };
        let mut behind = Behind::new();
        let mut cx = self.cx(facts);
        cx.followed = true;
        cx.jump(&join.to, &mut behind);
        self.read.extend(&cx.read);
        if let Some(seen) = self.joined.get_mut(id) {
            *seen = Seen::of(cx);
        }
        let flow = self.flow;
        for way in flow.ways(Spot::Join(id)) {
            let facts = behind.get(&way.span).cloned().unwrap_or_default();
            let none = Company::new();
            self.go(way, facts, Some(Spot::Join(id)), &SharedSet::new(), &none);
        }
    }

    fn go(
        &mut self,
        way: &Way,
        mut facts: Facts,
        from: Option<Spot>,
        beside: &SharedSet<FieldId>,
        company: &Company,
    ) {
        match self.told_apart {
            true => facts.disturb_all(self.graph, &self.passing, beside),
            false => facts.disturb_values(&self.passing, beside),
        }
        let node = match from {
            Some(Spot::Node(id)) => Some(id),
            _ => None,
        };
        for goal in &way.goals {
            match goal.to {
                Spot::Node(id) => {
                    let company = self.sure.beside(way, goal, node, company);
                    self.enter(id, &facts, beside, company, from);
                }
                Spot::Join(id) => self.bring(id, node, &facts),
                Spot::End | Spot::Fail | Spot::Leave => continue,
            }
            self.trails.note(goal.to, &facts.lacking, from, goal.span);
        }
    }

    fn enter(
        &mut self,
        id: NodeId,
        facts: &Facts,
        beside: &SharedSet<FieldId>,
        company: Company,
        from: Option<Spot>,
    ) {
        let Some(stop) = self.flow.stops.get(id) else {
            return;
        };
        let mut facts = match stop.defer {
            true => facts.later(),
            false => facts.clone(),
        };
        if stop.defer {
            let written = self.sure.written_at_last(&company);
            written.iter().for_each(|field| facts.has_value(*field));
        }
        match (stop.branch, stop.defer) {
            (true, _) => {}
            (false, true) => facts.steps_go_by(self.graph, &self.passing),
            (false, false) => facts.step_ends(self.graph, &self.passing, beside),
        }
        let circle = |spot: Spot| self.flow.number(spot).and_then(|n| self.circles.get(n));
        let returns = from.is_some_and(|from| circle(from) == circle(Spot::Node(id)));
        let capped = returns && stop.ways.iter().any(|way| way.cause == Cause::Visits);
        let Some(slot) = self.entries.get_mut(id.0 as usize) else {
            return;
        };
        let changed = match slot {
            None => {
                *slot = Some(Entry {
                    again: capped.then(|| Box::new(facts.clone())),
                    facts,
                    beside: beside.clone(),
                    company,
                });
                true
            }
            Some(entry) => entry.merge(&facts, beside, &company, (stop.branch, capped)),
        };
        if changed {
            self.queue(Spot::Node(id));
        }
    }

    fn bring(&mut self, id: JoinId, from: Option<NodeId>, facts: &Facts) {
        let members = self
            .flow
            .joins
            .get(id)
            .map_or(&[][..], |join| &join.members);
        let index = members.iter().position(|(member, _)| Some(*member) == from);
        let slot = index.and_then(|i| self.brought.get_mut(id)?.get_mut(i));
        let Some(slot) = slot else { return };
        let before = slot.clone();
        let mut facts = facts.clone();
        facts.steps_go_by(self.graph, &self.passing);
        match slot {
            Some(known) => known.merge(&facts),
            None => *slot = Some(facts),
        }
        if *slot != before {
            self.queue(Spot::Join(id));
        }
    }

    fn queue(&mut self, spot: Spot) {
        if let Some(number) = self.flow.number(spot) {
            let place = self.order.get(number).copied().unwrap_or(usize::MAX);
            self.open.insert((place, number));
        }
    }
}
