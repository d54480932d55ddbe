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

use super::block_set::BlockSet;
use super::build::called_bodies;
use super::first_values::may_hold;
use super::model::{BlockId, ControlFlowGraph, EdgeKind, Transition, Write};

/// Where the exits of a graph may come to hold.
pub struct Exits<'a> {
    /// The way to the end that is taken there.
    pub transition: &'a Transition,
    /// Blocks that one may hold behind when they are left.
    behind: BlockSet,
}

impl<'a> Exits<'a> {
    /// Finds them; `None` for a graph without `exit when`. One that does not hold with the values that the graph begins with counts
    /// from where a field that it reads may have been written, any other from the first super-step on.
    pub fn of(program: &Program, graph: &Graph, cfg: &'a ControlFlowGraph) -> Option<Self> {
        let transition = cfg.exit.as_ref()?;
        let conditions = exit_conditions(program, graph, cfg);
        if conditions.is_empty() {
            return None;
        }
        let one = |way: &Transition| match way.successors.as_slice() {
            [only] => !only.many,
            _ => false,
        };
        // Beside a task another one may write at any time.
        let single = cfg.all_transitions().all(|(_, way)| one(way));
        let later = single && !conditions.iter().any(|when| may_hold(program, graph, when));
        let behind = match read(graph, &conditions).filter(|_| later) {
            None => BlockSet::of(cfg, |_| true),
            Some(read) => {
                let written = |write: &Write| read.contains(&write.field);
                let blocks = cfg.blocks();
                let mut open: Vec<BlockId> = blocks
                    .filter(|block| cfg.writes(*block).any(written))
                    .collect();
                if cfg.writes(BlockId::Entry).any(written) {
                    open.extend(cfg.successors(BlockId::Entry).map(|to| to.to));
                }
                let mut behind = BlockSet::new(cfg);
                while let Some(block) = open.pop() {
                    if behind.insert(block) {
                        open.extend(cfg.successors(block).map(|to| to.to));
                    }
                }
                behind
            }
        };
        Some(Self { transition, behind })
    }

    /// Whether a graph may end when a super-step takes this way out of a block. What a branch or a join writes on the
    /// way belongs to that step, so that it ends behind them.
    pub fn behind(&self, cfg: &ControlFlowGraph, block: BlockId, transition: &Transition) -> bool {
        let within = |to: BlockId| match to {
            BlockId::Node(_) => cfg.is_branch(to),
            BlockId::Join(_) => cfg.writes(to).next().is_some(),
            BlockId::Fail | BlockId::Leave => true,
            BlockId::Entry | BlockId::End => false,
        };
        let mut successors = transition.successors.iter();
        self.behind.contains(block)
            && transition.kind != EdgeKind::Visits
            && !successors.any(|to| within(to.to))
    }
}

/// The fields that the exits read and that may change; `None` where one reads what changes by itself.
pub fn read(graph: &Graph, conditions: &[&Expr]) -> Option<Vec<FieldId>> {
    let (scope, run) = scope(graph);
    let mut fields = Vec::new();
    for when in conditions {
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
pub fn exit_conditions<'g>(
    program: &Program,
    graph: &'g Graph,
    cfg: &ControlFlowGraph,
) -> Vec<&'g Expr> {
    if graph.exits.is_empty() {
        return Vec::new();
    }
    let mut sure: BTreeSet<FieldId> = BTreeSet::new();
    sure.extend(cfg.writes(BlockId::Entry).map(|write| write.field));
    for (id, node) in graph.nodes.entries() {
        let asks = matches!(node.work, Work::Agent { .. } | Work::Tools { .. });
        let by_tools = called_bodies(program, node);
        let of_model = |span: Span| asks && by_tools.iter().any(|(place, _)| *place == span);
        let all = cfg.writes(BlockId::Node(id));
        let all = all.filter(|write| !of_model(write.span));
        sure.extend(all.map(|write| write.field));
    }
    let joins = cfg.joins.ids().map(BlockId::Join);
    sure.extend(
        joins
            .flat_map(|join| cfg.writes(join))
            .map(|write| write.field),
    );
    let (scope, run) = scope(graph);
    let comes = |when: &&Expr| {
        let seen = reads(when, &scope);
        let mut fields = seen.fields.iter().map(|field| FieldId(*field));
        let written = fields.any(|id| !given(graph, id) && sure.contains(&id));
        seen.slots.contains(&run) || written || may_hold(program, graph, when)
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
