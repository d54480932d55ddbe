//! What one visit of a node costs at worst.

use std::collections::BTreeMap;

use crate::ir::graph::{Graph, Node};
use crate::ir::node::{ModelCall, Work};
use crate::ir::{ErrorKind, Flow, GraphId, Model, Retry};

use super::bound::Bound;
use super::reach::Reach;
use super::walk::Worst;

/// The cost of a visit.
#[derive(Debug, Clone)]
pub(super) struct Weights {
    /// Super-steps.
    pub steps: Bound,
    /// Calls of models.
    pub calls: Bound,
    /// Tokens that models write.
    pub tokens: Bound,
}

impl Weights {
    /// Nothing.
    pub fn none() -> Self {
        Self {
            steps: Bound::NONE,
            calls: Bound::NONE,
            tokens: Bound::NONE,
        }
    }
}

/// The cost of a visit of a node. `known` has the graphs that it may call.
pub(super) fn weigh(
    flow: &Flow,
    graph: &Graph,
    node: &Node,
    known: &BTreeMap<GraphId, Worst>,
    reach: &Reach,
) -> Weights {
    let step = |calls, tokens| Weights {
        steps: Bound::AtMost(1),
        calls,
        tokens,
    };
    match &node.work {
        Work::Branch => Weights::none(),
        Work::Llm(call) => {
            let asks = asks(flow, node, call, 1);
            step(asks.0, asks.1)
        }
        Work::Agent {
            call, max_turns, ..
        } => {
            let asks = asks(flow, node, call, u64::from((*max_turns).max(1)));
            step(asks.0, asks.1)
        }
        Work::Subgraph { graph: called, .. } => match known.get(called) {
            Some(worst) => Weights {
                steps: Bound::AtMost(1).plus(worst.steps.clone()),
                calls: worst.calls.clone(),
                tokens: worst.tokens.clone(),
            },
            None => {
                let names = reach.name(flow, *called);
                let reason = format!(
                    "graph `{names}` is called again while it runs, by node `{}` of graph `{}`",
                    node.name, graph.name
                );
                let bound = Bound::unbounded(reason);
                Weights {
                    steps: bound.clone(),
                    calls: bound.clone(),
                    tokens: bound,
                }
            }
        },
        _ => step(Bound::NONE, Bound::NONE),
    }
}

/// Calls of so many turns, and what they write: each turn asks once, the last one also for output that was not of its
/// type; each time every attempt of the model and of its fallbacks may be used up.
fn asks(flow: &Flow, node: &Node, call: &ModelCall, turns: u64) -> (Bound, Bound) {
    let Some(first) = flow.models.get(call.model) else {
        return (Bound::NONE, Bound::NONE);
    };
    let policy = node.retry.as_ref().or(first.retry.as_ref());
    let again = policy.filter(|policy| policy.on.contains(&ErrorKind::InvalidOutput));
    let last = match &call.output {
        Some(_) => 2 * again.map_or(1, attempts),
        None => 1,
    };
    let asked = Bound::AtMost(turns.saturating_sub(1).saturating_add(last));
    let fallback = first.fallback.iter().filter_map(|id| flow.models.get(*id));
    let (mut calls, mut tokens) = (Bound::NONE, Bound::NONE);
    for model in std::iter::once(first).chain(fallback) {
        let policy = node.retry.as_ref().or(model.retry.as_ref());
        let tried = Bound::AtMost(policy.map_or(1, attempts));
        calls = calls.plus(tried.clone());
        tokens = tokens.plus(written(model).times(&tried));
    }
    (calls.times(&asked), tokens.times(&asked))
}

fn attempts(policy: &Retry) -> u64 {
    u64::from(policy.attempts.max(1))
}

/// What one call of a model may write.
fn written(model: &Model) -> Bound {
    match model.max_tokens {
        Some(most) => Bound::AtMost(most.into()),
        None => Bound::unbounded(format!("model `{}` has no `max_tokens`", model.name)),
    }
}
