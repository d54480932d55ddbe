//! `exit when`: behind which super-steps a graph may end.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::ast::expr::Expr;
use crate::base::Span;
use crate::expr::infer::reads;
use crate::expr::scope::{Slot, StateFields};
use crate::expr::{Scope, Type};
use crate::ir::{FieldId, FieldMode};
use crate::resolve::program::{Graph, Program, Work};

use super::build::called_bodies;
use super::model::{BlockId, ControlFlowGraph, Transition};

/// Where the exits of a graph may come to hold.
pub struct Exits<'a> {
    /// The way to the end that is taken there.
    pub transition: &'a Transition,
    /// By [`ControlFlowGraph::number`]: whether one may hold when the block is left.
    behind: Vec<bool>,
}

impl<'a> Exits<'a> {
    /// Finds them; `None` for a graph without `exit when`. What holds before anything is written is left to
    /// `start`: an exit counts from where a field that it reads may have been written.
    pub fn of(program: &Program, graph: &Graph, cfg: &'a ControlFlowGraph) -> Option<Self> {
        let transition = cfg.exit.as_ref()?;
        let told = told(program, graph, cfg);
        if told.is_empty() {
            return None;
        }
        let read = read(graph, &told);
        let count = cfg.nodes.len() + cfg.joins.len();
        let one = |transition: &Transition| {
            transition.successors.len() == 1
                && transition
                    .successors
                    .iter()
                    .all(|successor| !successor.many)
        };
        let alone = |block: BlockId| cfg.transitions(block).iter().all(one);
        // Beside a task another one may write at any time.
        let single = cfg.start.iter().all(one) && cfg.blocks().all(alone);
        let (Some(read), true) = (read, single) else {
            let behind = vec![true; count];
            return Some(Self { transition, behind });
        };
        let mut behind = vec![false; count];
        let written =
            |writes: &[super::model::Write]| writes.iter().any(|w| read.contains(&w.field));
        let mut open: Vec<BlockId> = Vec::new();
        for block in cfg.blocks() {
            let own = match block {
                BlockId::Node(id) => cfg.nodes.get(id).is_some_and(|node| written(&node.writes)),
                _ => false,
            };
            if own
                || cfg
                    .transitions(block)
                    .iter()
                    .any(|transition| written(&transition.writes))
            {
                open.push(block);
            }
        }
        if cfg
            .start
            .iter()
            .any(|transition| written(&transition.writes))
        {
            let successors = cfg
                .start
                .iter()
                .flat_map(|transition| &transition.successors);
            open.extend(successors.map(|successor| successor.to));
        }
        while let Some(block) = open.pop() {
            let slot = cfg.number(block).and_then(|n| behind.get_mut(n));
            if let Some(slot) = slot.filter(|known| !**known) {
                *slot = true;
                let successors = cfg
                    .transitions(block)
                    .iter()
                    .flat_map(|transition| &transition.successors);
                open.extend(successors.map(|successor| successor.to));
            }
        }
        Some(Self { transition, behind })
    }

    /// Whether a graph may end when a super-step takes this way out of a block. What a branch or a join writes on the
    /// way belongs to that step, so that it ends behind them.
    pub fn behind(&self, cfg: &ControlFlowGraph, block: BlockId, transition: &Transition) -> bool {
        let known = cfg.number(block).and_then(|n| self.behind.get(n));
        let within = |to: BlockId| match to {
            BlockId::Node(id) => cfg.nodes.get(id).is_some_and(|node| node.branch),
            BlockId::Join(_) => cfg
                .transitions(to)
                .iter()
                .any(|transition| !transition.writes.is_empty()),
            BlockId::Fail | BlockId::Leave => true,
            BlockId::Entry | BlockId::End => false,
        };
        let visits = transition.kind == super::model::EdgeKind::Visits;
        known.copied().unwrap_or(false)
            && !visits
            && !transition
                .successors
                .iter()
                .any(|successor| within(successor.to))
    }
}

/// The fields that the exits read and that may change; `None` where one reads what changes by itself.
pub fn read(graph: &Graph, told: &[&Expr]) -> Option<Vec<FieldId>> {
    let (scope, run) = scope(graph);
    let mut fields = Vec::new();
    for when in told {
        let seen = reads(when, &scope);
        if seen.slots.contains(&run) {
            return None;
        }
        fields.extend(seen.fields.into_iter().map(FieldId));
    }
    fields.retain(|id| !given(graph, *id));
    Some(fields)
}

/// The exits but those that only tools which a model may call bring about: whether these ever hold is up to the model.
pub fn told<'g>(program: &Program, graph: &'g Graph, cfg: &ControlFlowGraph) -> Vec<&'g Expr> {
    if graph.exits.is_empty() {
        return Vec::new();
    }
    let mut sure: BTreeSet<FieldId> = BTreeSet::new();
    let begins = cfg.start.iter().flat_map(|transition| &transition.writes);
    sure.extend(begins.map(|write| write.field));
    for (id, node) in graph.nodes.entries() {
        let asks = matches!(node.work, Work::Agent { .. } | Work::Tools { .. });
        let by_tools = called_bodies(program, node);
        let of_model = |span: Span| asks && by_tools.iter().any(|(place, _)| *place == span);
        let own = cfg.nodes.get(id).into_iter().flat_map(|node| &node.writes);
        let transitions = cfg
            .transitions(BlockId::Node(id))
            .iter()
            .flat_map(|transition| &transition.writes);
        let all = own.chain(transitions).filter(|write| !of_model(write.span));
        sure.extend(all.map(|write| write.field));
    }
    let joins = cfg.joins.iter().flat_map(|join| &join.transitions);
    sure.extend(
        joins
            .flat_map(|transition| &transition.writes)
            .map(|write| write.field),
    );
    let (scope, run) = scope(graph);
    let comes = |when: &&Expr| {
        let seen = reads(when, &scope);
        let mut fields = seen.fields.iter().map(|field| FieldId(*field));
        seen.slots.contains(&run) || fields.any(|id| !given(graph, id) && sure.contains(&id))
    };
    graph.exits.iter().filter(comes).collect()
}

fn given(graph: &Graph, id: FieldId) -> bool {
    let field = graph.fields.get(id);
    field.is_none_or(|field| field.mode == FieldMode::In)
}

/// The scope of a condition that stands in a graph outside its nodes, and the slot of `run`, of which nothing is known.
pub fn scope(graph: &Graph) -> (Scope, Slot) {
    let state = graph.fields.iter();
    let state = state.map(|field| (field.name.node.clone(), field.ty.node.clone()));
    let mut scope = Scope {
        state: Some(Arc::new(state.collect::<StateFields>())),
        ..Scope::default()
    };
    let run = scope.declare("run", Type::Error);
    (scope, run)
}
