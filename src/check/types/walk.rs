//! All nodes of a graph in the order in which a run comes to them, until what is known at each is settled.
//!
//! What is known at a node is what all ways to it agree on, less what other tasks of the same
//! super-step may have written. It is first taken from the ways seen so far and only ever shrinks, so a
//! node is typed again where it did; its findings are those of the last time.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::base::IdVec;
use crate::diag::Diagnostics;
use crate::expr::scope::StateFields;
use crate::ir::{FieldId, GraphId, JoinId, NodeId};
use crate::resolve::program::{Field, Graph, Program, Work};

use super::super::flow::{Cause, Flow, Spot, Together, Way, Written};
use super::cx::{Computed, Cx, StateTypes};
use super::facts::Facts;
use super::jump::Behind;
use super::node::{self, Outcome};
use super::order::{beside, order};

/// What typing a graph has shown.
#[derive(Default)]
pub struct Typed {
    /// Fields that some expression reads.
    pub read: BTreeSet<FieldId>,
    /// Computed targets of each node.
    pub computed: IdVec<NodeId, Vec<Computed>>,
}

/// Types all expressions of a graph.
pub fn graph(
    program: &Program,
    id: GraphId,
    flow: &Flow,
    together: &Together,
    written: &Written,
    diags: &mut Diagnostics,
) -> Typed {
    let Some(graph) = program.graphs.get(id) else {
        return Typed::default();
    };
    let mut walk = Walk::new(program, graph, flow, together, written);
    walk.start(diags);
    walk.settle();
    walk.finish(diags)
}

/// What is known where a node begins.
#[derive(Clone)]
struct Entry {
    facts: Facts,
    /// For a branch: what may be written beside those that lead to it.
    beside: BTreeSet<FieldId>,
}

#[derive(Default)]
struct Seen {
    diags: Diagnostics,
    read: BTreeSet<FieldId>,
    computed: Vec<Computed>,
}

struct Walk<'a> {
    program: &'a Program,
    graph: &'a Graph,
    flow: &'a Flow,
    written: &'a Written,
    state: StateTypes,
    /// Fields that are `ephemeral` or `untracked`.
    passing: Vec<FieldId>,
    /// Fields that other tasks may write while a node runs, by node.
    beside: Vec<BTreeSet<FieldId>>,
    entries: Vec<Option<Entry>>,
    /// What each member of a join brings, by join and member.
    brought: IdVec<JoinId, Vec<Option<Facts>>>,
    seen: Vec<Seen>,
    joined: IdVec<JoinId, Seen>,
    /// Position of each node and join in the order of a run.
    order: Vec<usize>,
    open: BTreeSet<(usize, usize)>,
    /// Fields that the entry and the graph's handler read.
    read: BTreeSet<FieldId>,
}

impl<'a> Walk<'a> {
    fn new(
        program: &'a Program,
        graph: &'a Graph,
        flow: &'a Flow,
        together: &Together,
        written: &'a Written,
    ) -> Self {
        let state = graph.fields.iter();
        let state = state.map(|field| (field.name.node.clone(), field.ty.node.clone()));
        let state: StateFields = state.collect();
        let based = graph.fields.entries();
        let based = based.filter(|(_, field)| field.based_on.is_some());
        let based = based.map(|(id, _)| id.0).collect();
        let passes = |field: &Field| field.ephemeral.is_some() || field.untracked.is_some();
        let passing = graph.fields.entries().filter(|(_, field)| passes(field));
        Self {
            program,
            graph,
            flow,
            written,
            state: Arc::new(state.with_based(based)),
            passing: passing.map(|(id, _)| id).collect(),
            beside: beside(flow, together),
            entries: vec![None; flow.stops.len()],
            brought: flow
                .joins
                .iter()
                .map(|join| vec![None; join.members.len()])
                .collect(),
            seen: flow.stops.iter().map(|_| Seen::default()).collect(),
            joined: flow.joins.iter().map(|_| Seen::default()).collect(),
            order: order(flow),
            open: BTreeSet::new(),
            read: BTreeSet::new(),
        }
    }

    fn cx(&self, facts: Facts) -> Cx<'a> {
        Cx::in_graph(self.program, self.graph, &self.state, facts)
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
                unset: BTreeSet::new(),
                ..Facts::at_start(self.graph)
            };
            for when in &self.graph.exits {
                cx.condition(when);
            }
        }
        diags.append(std::mem::take(&mut cx.diags));
        self.read.extend(&cx.read);
        let flow = self.flow;
        for way in &flow.start {
            let facts = behind.get(&way.span).cloned().unwrap_or_default();
            self.go(way, &facts, None, &BTreeSet::new());
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
            let ephemeral = |id: &FieldId| {
                let field = self.graph.fields.get(*id);
                field.is_some_and(|field| field.ephemeral.is_some())
            };
            facts.fading = self.passing.iter().copied().filter(ephemeral).collect();
        }
        let out = self.type_node(id, facts);
        let beside = match branch {
            true => entry.beside,
            false => self.beside.get(id.0 as usize).cloned().unwrap_or_default(),
        };
        let flow = self.flow;
        for way in flow.ways(Spot::Node(id)) {
            let behind = || out.behind.get(&way.span).cloned();
            let facts = match way.cause {
                Cause::Edge => Some(out.edge.clone()),
                Cause::Tool => Some(out.tool.clone()),
                Cause::Child => Some(out.child.clone()),
                Cause::Goto | Cause::Skip | Cause::Error | Cause::Visits | Cause::Timeout => {
                    behind()
                }
            };
            self.go(way, &facts.unwrap_or_default(), Some(id), &beside);
        }
    }

    fn type_node(&mut self, id: NodeId, facts: Facts) -> Outcome {
        let Some(declared) = self.graph.nodes.get(id) else {
            return Outcome::default();
        };
        let mut cx = self.cx(facts);
        if let Work::Subgraph {
            graph: Some(child), ..
        } = &declared.work
        {
            let taken = self
                .written
                .taken(self.program, self.graph, declared, *child);
            cx.given_back = taken.into_iter().map(|(field, _)| field).collect();
        }
        let out = node::node(&mut cx, id, declared);
        if let Some(seen) = self.seen.get_mut(id.0 as usize) {
            seen.diags = cx.diags;
            seen.computed = cx.computed;
            seen.read.extend(&cx.read);
        }
        out
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
        cx.jump(&join.to, &mut behind);
        if let Some(seen) = self.joined.get_mut(id) {
            seen.diags = cx.diags;
            seen.read.extend(&cx.read);
        }
        let flow = self.flow;
        for way in flow.ways(Spot::Join(id)) {
            let facts = behind.get(&way.span).cloned().unwrap_or_default();
            self.go(way, &facts, None, &BTreeSet::new());
        }
    }

    fn go(&mut self, way: &Way, facts: &Facts, from: Option<NodeId>, beside: &BTreeSet<FieldId>) {
        let mut facts = facts.clone();
        for id in beside {
            if let Some(field) = self.graph.fields.get(*id) {
                facts.disturb(*id, field);
            }
        }
        for goal in &way.goals {
            match goal.to {
                Spot::Node(id) => self.enter(id, &facts, beside),
                Spot::Join(id) => self.bring(id, from, &facts),
                Spot::End | Spot::Fail | Spot::Leave => {}
            }
        }
    }

    fn enter(&mut self, id: NodeId, facts: &Facts, beside: &BTreeSet<FieldId>) {
        let Some(stop) = self.flow.stops.get(id) else {
            return;
        };
        let mut facts = match stop.defer {
            true => facts.later(),
            false => facts.clone(),
        };
        match (stop.branch, stop.defer) {
            (true, _) => {}
            (false, true) => facts.steps_go_by(self.graph, &self.passing),
            (false, false) => facts.step_ends(self.graph, &self.passing, beside),
        }
        let Some(slot) = self.entries.get_mut(id.0 as usize) else {
            return;
        };
        let changed = match slot {
            None => {
                let beside = beside.clone();
                *slot = Some(Entry { facts, beside });
                true
            }
            Some(entry) => {
                let before = (entry.facts.clone(), entry.beside.len());
                entry.facts.merge(&facts);
                if stop.branch {
                    entry.beside.extend(beside);
                }
                before != (entry.facts.clone(), entry.beside.len())
            }
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

    /// Types what no run comes to, and gathers all findings in the order declared.
    fn finish(mut self, diags: &mut Diagnostics) -> Typed {
        for id in self.flow.stops.ids() {
            if self.entries.get(id.0 as usize).is_some_and(Option::is_none) {
                self.type_node(id, Facts::default());
            }
        }
        let mut typed = Typed {
            read: self.read,
            ..Typed::default()
        };
        for seen in self.seen {
            diags.append(seen.diags);
            typed.read.extend(&seen.read);
            typed.computed.push(seen.computed);
        }
        let (graph, program) = (self.graph, self.program);
        for (id, seen) in self.joined.entries() {
            typed.read.extend(&seen.read);
            let brought = self.brought.get(id).into_iter().flatten();
            if brought.flatten().next().is_none()
                && let Some(join) = graph.joins.get(id)
            {
                let mut cx = Cx::in_graph(program, graph, &self.state, Facts::default());
                cx.jump(&join.to, &mut Behind::new());
                diags.append(cx.diags);
            } else {
                diags.append(seen.diags.clone());
            }
        }
        typed
    }
}
