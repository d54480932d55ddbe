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
use super::model::{Flow, Spot, Way};

/// Where the exits of a graph may come to hold.
pub struct Exits<'a> {
    /// The way to the end that is taken there.
    pub way: &'a Way,
    /// By [`Flow::number`]: whether one may hold when the spot is left.
    behind: Vec<bool>,
}

impl<'a> Exits<'a> {
    /// Finds them; `None` for a graph without `exit when`. What holds before anything is written is left to
    /// `start`: an exit counts from where a field that it reads may have been written.
    pub fn of(program: &Program, graph: &Graph, flow: &'a Flow) -> Option<Self> {
        let way = flow.exit.as_ref()?;
        let told = told(program, graph, flow);
        if told.is_empty() {
            return None;
        }
        let read = read(graph, &told);
        let count = flow.stops.len() + flow.joins.len();
        let one = |way: &Way| way.goals.len() == 1 && way.goals.iter().all(|goal| !goal.many);
        let alone = |spot: Spot| flow.ways(spot).iter().all(one);
        // Beside a task another one may write at any time.
        let single = flow.start.iter().all(one) && flow.spots().all(alone);
        let (Some(read), true) = (read, single) else {
            let behind = vec![true; count];
            return Some(Self { way, behind });
        };
        let mut behind = vec![false; count];
        let written =
            |writes: &[super::model::Write]| writes.iter().any(|w| read.contains(&w.field));
        let mut open: Vec<Spot> = Vec::new();
        for spot in flow.spots() {
            let own = match spot {
                Spot::Node(id) => flow.stops.get(id).is_some_and(|stop| written(&stop.writes)),
                _ => false,
            };
            if own || flow.ways(spot).iter().any(|way| written(&way.writes)) {
                open.push(spot);
            }
        }
        if flow.start.iter().any(|way| written(&way.writes)) {
            let goals = flow.start.iter().flat_map(|way| &way.goals);
            open.extend(goals.map(|goal| goal.to));
        }
        while let Some(spot) = open.pop() {
            let slot = flow.number(spot).and_then(|n| behind.get_mut(n));
            if let Some(slot) = slot.filter(|known| !**known) {
                *slot = true;
                let goals = flow.ways(spot).iter().flat_map(|way| &way.goals);
                open.extend(goals.map(|goal| goal.to));
            }
        }
        Some(Self { way, behind })
    }

    /// Whether a graph may end when a super-step takes this way out of a spot. What a branch or a join writes on the
    /// way belongs to that step, so that it ends behind them.
    pub fn behind(&self, flow: &Flow, spot: Spot, way: &Way) -> bool {
        let known = flow.number(spot).and_then(|n| self.behind.get(n));
        let within = |to: Spot| match to {
            Spot::Node(id) => flow.stops.get(id).is_some_and(|stop| stop.branch),
            Spot::Join(_) => flow.ways(to).iter().any(|way| !way.writes.is_empty()),
            Spot::Fail | Spot::Leave => true,
            Spot::End => false,
        };
        let visits = way.cause == super::model::Cause::Visits;
        known.copied().unwrap_or(false) && !visits && !way.goals.iter().any(|goal| within(goal.to))
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
pub fn told<'g>(program: &Program, graph: &'g Graph, flow: &Flow) -> Vec<&'g Expr> {
    if graph.exits.is_empty() {
        return Vec::new();
    }
    let mut sure: BTreeSet<FieldId> = BTreeSet::new();
    let begins = flow.start.iter().flat_map(|way| &way.writes);
    sure.extend(begins.map(|write| write.field));
    for (id, node) in graph.nodes.entries() {
        let asks = matches!(node.work, Work::Agent { .. } | Work::Tools { .. });
        let by_tools = called_bodies(program, node);
        let of_model = |span: Span| asks && by_tools.iter().any(|(place, _)| *place == span);
        let own = flow.stops.get(id).into_iter().flat_map(|stop| &stop.writes);
        let ways = flow.ways(Spot::Node(id)).iter().flat_map(|way| &way.writes);
        let all = own.chain(ways).filter(|write| !of_model(write.span));
        sure.extend(all.map(|write| write.field));
    }
    let joins = flow.joins.iter().flat_map(|join| &join.ways);
    sure.extend(joins.flat_map(|way| &way.writes).map(|write| write.field));
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
