//! All nodes of a graph in the order in which a run comes to them, until what is known at each is settled.
//!
//! What is known at a node is what all ways to it agree on, less what other tasks of the same
//! super-step may have written. It is first taken from the ways seen so far and only ever shrinks, so a
//! node is typed again where it did; its findings are those of the last time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::base::{IdVec, SharedSet, Span};
use crate::diag::Diagnostics;
use crate::expr::scope::StateFields;
use crate::ir::{FieldId, GraphId, JoinId, NodeId};
use crate::resolve::program::{Graph, Node, Program};

use super::super::cfg::effect::WritesOnWays;
use super::super::cfg::written_around::written_around;
use super::super::cfg::{
    BlockId, ControlFlowGraph, EdgeKind, MayHappenInParallel, Transition, Written,
};
use super::condition::domain::Domains;
use super::constant::Decides;
use super::cx::{Computed, Cx, StateTypes, Unassigned};
use super::flow_state::{FlowState, Passing};
use super::jump::JumpStates;
use super::node::{self, Outcome};
use super::order::beside;
use super::trail::Trails;

/// What typing a graph has shown.
#[derive(Default)]
pub struct Typed {
    /// Fields that some expression reads.
    pub read: BTreeSet<(FieldId, Span)>,
    /// Computed targets of each node.
    pub computed: IdVec<NodeId, Vec<Computed>>,
}

/// Types all expressions of a graph.
pub fn graph(
    program: &Program,
    id: GraphId,
    cfg: &ControlFlowGraph,
    mhp: &MayHappenInParallel,
    (written, effects): (&Written, &WritesOnWays),
    diags: &mut Diagnostics,
) -> Typed {
    let Some(graph) = program.graphs.get(id) else {
        return Typed::default();
    };
    let mut walk = FlowTyping::new(program, graph, cfg, mhp, (written, effects));
    walk.start(diags);
    walk.settle();
    walk.finish(diags)
}

/// What is known where a node begins.
#[derive(Clone)]
pub(super) struct Entry {
    pub(super) facts: FlowState,
    /// For a branch: what may be written beside those that lead to it.
    beside: SharedSet<FieldId>,
    /// Of a capped node, what is known where it is come to from its own cycle.
    pub(super) again: Option<Box<FlowState>>,
}

/// Fields that stay written are those that nothing takes back.
fn around(
    graph: &Graph,
    cfg: &ControlFlowGraph,
    effects: &WritesOnWays,
    mhp: &MayHappenInParallel,
) -> BTreeMap<NodeId, Vec<FieldId>> {
    let passing = Passing::of(graph);
    let stays = |id: &FieldId| {
        let based = graph.fields.get(*id).is_some_and(|f| f.based_on.is_some());
        !based && !passing.all.contains(id)
    };
    let full = cfg.nodes.entries().filter(|(id, node)| {
        let capped = |way: &Transition| way.kind == EdgeKind::Visits;
        node.transitions.iter().any(capped) && cfg.goes_round(BlockId::Node(*id))
    });
    full.map(|(id, _)| {
        let written = written_around(cfg, effects, mhp, id);
        (id, written.list().filter(stays).collect())
    })
    .collect()
}

fn led_back(cfg: &ControlFlowGraph) -> BTreeSet<NodeId> {
    let mut back = BTreeSet::new();
    for block in cfg.blocks() {
        for successor in cfg
            .transitions(block)
            .iter()
            .flat_map(|transition| &transition.successors)
        {
            if let BlockId::Node(id) = successor.to
                && cfg.same_component(block, successor.to)
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
        facts: &FlowState,
        beside: &SharedSet<FieldId>,
        (branch, capped): (bool, bool),
    ) -> bool {
        let before = (self.facts.clone(), self.again.clone());
        self.facts.merge(facts);
        let more = branch && self.beside.join(beside);
        if capped {
            match &mut self.again {
                Some(again) => again.merge(facts),
                None => self.again = Some(Box::new(facts.clone())),
            }
        }
        let after = (&self.facts, &self.again);
        more || (&before.0, &before.1) != after
    }
}

/// What the last typing of a node or a join has shown; mostly nothing.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) diags: Diagnostics,
    pub(super) computed: Vec<Computed>,
    /// Reads of fields that some way to here does not surely write.
    pub(super) unassigned: Vec<Unassigned>,
}

impl Seen {
    /// What a place has shown, where that is anything.
    fn of(cx: Cx) -> Option<Box<Self>> {
        let seen = Self {
            diags: cx.diags,
            computed: cx.computed,
            unassigned: cx.unassigned,
        };
        let nothing =
            seen.diags.is_empty() && seen.computed.is_empty() && seen.unassigned.is_empty();
        (!nothing).then(|| Box::new(seen))
    }
}

/// A graph that is gone through.
pub(super) struct FlowTyping<'a> {
    pub(super) program: &'a Program,
    pub(super) graph: &'a Graph,
    pub(super) cfg: &'a ControlFlowGraph,
    pub(super) mhp: &'a MayHappenInParallel<'a>,
    pub(super) written: &'a Written,
    pub(super) effects: &'a WritesOnWays,
    /// Nodes that some arrow leads to from their own cycle.
    pub(super) back: BTreeSet<NodeId>,
    /// By node with `max_visits`: fields that are written by the time that it is full.
    around: BTreeMap<NodeId, Vec<FieldId>>,
    pub(super) trails: Trails,
    pub(super) state: StateTypes,
    /// Values of enums, for all nodes.
    domains: Domains,
    /// Fields that are `ephemeral` or `untracked`.
    pub(super) passing: Passing,
    /// Fields that other tasks may write while a node runs, by node.
    pub(super) beside: Vec<SharedSet<FieldId>>,
    pub(super) entries: Vec<Option<Entry>>,
    /// What each member of a join brings, by join and member.
    pub(super) brought: IdVec<JoinId, Vec<Option<FlowState>>>,
    pub(super) seen: Vec<Option<Box<Seen>>>,
    pub(super) joined: IdVec<JoinId, Option<Box<Seen>>>,
    /// Position of each node and join in the order of a run.
    pub(super) order: Vec<usize>,
    pub(super) open: BTreeSet<(usize, usize)>,
    /// Fields that anything read.
    pub(super) read: BTreeSet<(FieldId, Span)>,
}

impl<'a> FlowTyping<'a> {
    fn new(
        program: &'a Program,
        graph: &'a Graph,
        cfg: &'a ControlFlowGraph,
        mhp: &'a MayHappenInParallel<'a>,
        (written, effects): (&'a Written, &'a WritesOnWays),
    ) -> Self {
        let state = graph.fields.iter();
        let state = state.map(|field| (field.name.node.clone(), field.ty.node.clone()));
        let state: StateFields = state.collect();
        let based = graph.fields.entries();
        let based = based.filter(|(_, field)| field.based_on.is_some());
        let based = based.map(|(id, _)| id.0).collect();
        Self {
            program,
            graph,
            cfg,
            mhp,
            written,
            effects,
            back: led_back(cfg),
            around: around(graph, cfg, effects, mhp),
            trails: Trails::default(),
            domains: Domains::default(),
            // What could not be read may have said what a field is based on.
            state: Arc::new(match graph.broken {
                true => state,
                false => state.with_based(based),
            }),
            passing: Passing::of(graph),
            beside: beside(cfg, mhp),
            entries: vec![None; cfg.nodes.len()],
            brought: cfg
                .joins
                .iter()
                .map(|join| vec![None; join.members.len()])
                .collect(),
            seen: cfg.nodes.iter().map(|_| None).collect(),
            joined: cfg.joins.iter().map(|_| None).collect(),
            order: cfg.places(),
            open: BTreeSet::new(),
            read: BTreeSet::new(),
        }
    }

    pub(super) fn cx(&self, facts: FlowState) -> Cx<'a> {
        let mut cx = Cx::in_graph(self.program, self.graph, &self.state, facts);
        cx.domains = self.domains.clone();
        cx
    }

    /// The entry, and the graph's handler, which is typed once for all nodes.
    fn start(&mut self, diags: &mut Diagnostics) {
        let mut behind = JumpStates::new();
        let mut cx = self.cx(FlowState::at_start(self.graph));
        if let Some(route) = &self.graph.start {
            cx.route(route, &mut behind);
        }
        if let Some(route) = &self.graph.on_error {
            cx.facts = FlowState::default();
            cx.handler(route, &mut JumpStates::new());
        }
        if !self.graph.exits.is_empty() {
            // After whatever super-step: only what the state begins with is sure to be there.
            cx.facts = FlowState {
                unset: SharedSet::new(),
                ..FlowState::at_start(self.graph)
            };
            for when in &self.graph.exits {
                cx.deciding(when, Decides::Exit(&self.graph.name.node));
            }
        }
        diags.append(std::mem::take(&mut cx.diags));
        for read in std::mem::take(&mut cx.unassigned) {
            let found = self.unassigned_at_start(&read);
            found.into_iter().for_each(|found| diags.push(found));
        }
        self.read.extend(&cx.read);
        let cfg = self.cfg;
        for transition in &cfg.start {
            let facts = behind.get(&transition.span).cloned().unwrap_or_default();
            self.go(transition, facts, None, &SharedSet::new());
        }
    }

    fn settle(&mut self) {
        while let Some((_, number)) = self.open.pop_first() {
            match self.cfg.block(number) {
                BlockId::Node(id) => self.visit(id),
                BlockId::Join(id) => self.lead_on(id),
                BlockId::Entry | BlockId::End | BlockId::Fail | BlockId::Leave => {}
            }
        }
    }

    fn visit(&mut self, id: NodeId) {
        let Some(entry) = self.entries.get(id.0 as usize).cloned().flatten() else {
            return;
        };
        let branch = self.cfg.nodes.get(id).is_some_and(|node| node.branch);
        let mut facts = entry.facts.clone();
        if !branch {
            facts.fading = self.passing.ephemeral.clone();
        }
        let out = self.type_node(id, facts, entry.again.as_deref().cloned());
        let beside = match branch {
            true => entry.beside,
            false => self.beside.get(id.0 as usize).cloned().unwrap_or_default(),
        };
        let cfg = self.cfg;
        let transitions = cfg.transitions(BlockId::Node(id));
        let routed = transitions
            .iter()
            .any(|transition| transition.kind == EdgeKind::Goto);
        for (number, transition) in transitions.iter().enumerate() {
            // Of a node with a `goto` an edge too is refused: it leads nowhere.
            if transition.kind == EdgeKind::Edge && routed {
                continue;
            }
            // A cap is met when the node's own cycle has led back to it.
            if transition.kind == EdgeKind::Visits && entry.again.is_none() && self.comes_back(id) {
                continue;
            }
            let behind = || out.behind.get(&transition.span).cloned();
            let facts = match transition.kind {
                EdgeKind::Edge => Some(out.edge.clone()),
                EdgeKind::Tool => Some(out.tool.clone()),
                EdgeKind::Child => Some(out.child.clone()),
                EdgeKind::Goto
                | EdgeKind::Skip
                | EdgeKind::Error
                | EdgeKind::Visits
                | EdgeKind::Timeout
                | EdgeKind::Exit => behind(),
            };
            let mut facts = facts.unwrap_or_default();
            if transition.kind == EdgeKind::Tool {
                let sure = self.effects.sure(cfg, BlockId::Node(id), number);
                let written = sure.list();
                written.for_each(|field| facts.has_value(field));
            }
            self.go(transition, facts, Some(BlockId::Node(id)), &beside);
        }
    }

    /// Whether some arrow leads to a node from its own cycle.
    fn comes_back(&self, id: NodeId) -> bool {
        self.back.contains(&id)
    }

    pub(super) fn type_node(
        &mut self,
        id: NodeId,
        facts: FlowState,
        again: Option<FlowState>,
    ) -> Outcome {
        let Some(declared) = self.graph.nodes.get(id) else {
            // A fan-out as a whole does nothing itself.
            return Outcome {
                edge: facts,
                ..Outcome::default()
            };
        };
        let again = again.map(|mut again| {
            let written = self.around.get(&id).into_iter().flatten();
            written.for_each(|field| again.has_value(*field));
            again
        });
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
        facts: FlowState,
        again: Option<FlowState>,
    ) -> Cx<'a> {
        let mut cx = self.cx(facts);
        cx.again = again;
        let taken = self.written.given_back(self.program, self.graph, declared);
        let always = self.effects.given(id);
        let taken = taken.into_iter().map(|(_, field, _)| field);
        cx.given_back = taken
            .map(|field| (field, always.contains(&field)))
            .collect();
        cx
    }

    /// Leads on from a join once something is known of all of its members: then what is known only shrinks, here too.
    fn lead_on(&mut self, id: JoinId) {
        let members = self.brought.get(id).into_iter().flatten();
        let brought: Option<Vec<&FlowState>> = members.map(Option::as_ref).collect();
        let facts = brought.and_then(|brought| {
            brought.into_iter().cloned().reduce(|mut all, facts| {
                all.meet(&facts);
                all
            })
        });
        let (Some(facts), Some(join)) = (facts, self.graph.joins.get(id)) else {
            return;
        };
        let mut behind = JumpStates::new();
        let mut cx = self.cx(facts);
        cx.jump(&join.to, &mut behind);
        self.read.extend(&cx.read);
        if let Some(seen) = self.joined.get_mut(id) {
            *seen = Seen::of(cx);
        }
        let cfg = self.cfg;
        for transition in cfg.transitions(BlockId::Join(id)) {
            let facts = behind.get(&transition.span).cloned().unwrap_or_default();
            self.go(
                transition,
                facts,
                Some(BlockId::Join(id)),
                &SharedSet::new(),
            );
        }
    }

    fn go(
        &mut self,
        transition: &Transition,
        mut facts: FlowState,
        from: Option<BlockId>,
        beside: &SharedSet<FieldId>,
    ) {
        facts.disturb_all(self.graph, &self.passing, beside);
        let node = match from {
            Some(BlockId::Node(id)) => Some(id),
            _ => None,
        };
        for successor in &transition.successors {
            match successor.to {
                BlockId::Node(id) => self.enter(id, &facts, beside, (from, successor.span)),
                BlockId::Join(id) => self.bring(id, node, &facts, successor.span),
                BlockId::Entry | BlockId::End | BlockId::Fail | BlockId::Leave => {}
            }
        }
    }

    fn enter(
        &mut self,
        id: NodeId,
        facts: &FlowState,
        beside: &SharedSet<FieldId>,
        (from, span): (Option<BlockId>, Span),
    ) {
        let Some(node) = self.cfg.nodes.get(id) else {
            return;
        };
        let mut facts = match node.defer {
            true => facts.later(),
            false => facts.clone(),
        };
        match (node.branch, node.defer) {
            (true, _) => {}
            (false, true) => facts.steps_go_by(self.graph, &self.passing),
            (false, false) => facts.step_ends(self.graph, &self.passing, beside),
        }
        self.trails
            .note(BlockId::Node(id), &facts.unassigned, from, span);
        let returns = from.is_some_and(|from| self.cfg.same_component(from, BlockId::Node(id)));
        let capped = returns
            && node
                .transitions
                .iter()
                .any(|transition| transition.kind == EdgeKind::Visits);
        let Some(slot) = self.entries.get_mut(id.0 as usize) else {
            return;
        };
        let changed = match slot {
            None => {
                *slot = Some(Entry {
                    again: capped.then(|| Box::new(facts.clone())),
                    facts,
                    beside: beside.clone(),
                });
                true
            }
            Some(entry) => entry.merge(&facts, beside, (node.branch, capped)),
        };
        if changed {
            self.queue(BlockId::Node(id));
        }
    }

    fn bring(&mut self, id: JoinId, from: Option<NodeId>, facts: &FlowState, span: Span) {
        let members = self.cfg.joins.get(id).map_or(&[][..], |join| &join.members);
        let index = members.iter().position(|(member, _)| Some(*member) == from);
        let slot = index.and_then(|i| self.brought.get_mut(id)?.get_mut(i));
        let Some(slot) = slot else { return };
        let before = slot.clone();
        let mut facts = facts.clone();
        facts.steps_go_by(self.graph, &self.passing);
        let block = from.map(BlockId::Node);
        self.trails
            .note(BlockId::Join(id), &facts.unassigned, block, span);
        match slot {
            Some(known) => known.merge(&facts),
            None => *slot = Some(facts),
        }
        if *slot != before {
            self.queue(BlockId::Join(id));
        }
    }

    fn queue(&mut self, block: BlockId) {
        if let Some(number) = self.cfg.number(block) {
            let place = self.order.get(number).copied().unwrap_or(usize::MAX);
            self.open.insert((place, number));
        }
    }
}
