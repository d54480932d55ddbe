//! What one visit of a node costs at worst.

use std::collections::BTreeMap;

use crate::ir::graph::{Graph, Node};
use crate::ir::node::{ModelCall, Work};
use crate::ir::{ErrorKind, Flow, GraphId, Model, Retry};

use super::bound::Bound;
use super::reach::Reach;
use super::worst::Worst;

/// The cost of a visit.
#[derive(Debug, Clone)]
pub(super) struct Weights {
    /// Super-steps of a called graph.
    pub within: Bound,
    /// Calls of models.
    pub calls: Bound,
    /// Tokens that models write.
    pub tokens: Bound,
}

impl Weights {
    /// Nothing.
    pub fn none() -> Self {
        Self {
            within: Bound::NONE,
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
    let asks_of = |calls, tokens| Weights {
        within: Bound::NONE,
        calls,
        tokens,
    };
    match &node.work {
        Work::Llm(call) => {
            let asks = asks(flow, node, call, 1);
            asks_of(asks.0, asks.1)
        }
        Work::Agent {
            call, max_turns, ..
        } => {
            let asks = asks(flow, node, call, u64::from((*max_turns).max(1)));
            asks_of(asks.0, asks.1)
        }
        Work::Subgraph { graph: called, .. } => match known.get(called) {
            Some(worst) => Weights {
                within: worst.steps.clone(),
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
                    within: bound.clone(),
                    calls: bound.clone(),
                    tokens: bound,
                }
            }
        },
        _ => Weights::none(),
    }
}

/// Calls of so many turns, and what they write: each turn asks once, the last one also for output that was not of its
/// type; each time every attempt of the model and of its fallbacks may be used up.
fn asks(flow: &Flow, node: &Node, call: &ModelCall, turns: u64) -> (Bound, Bound) {
    let Some(first) = flow.models.get(call.model) else {
        return (Bound::NONE, Bound::NONE);
    };
    let asked = Bound::AtMost(
        turns
            .saturating_sub(1)
            .saturating_add(last(node, first, call)),
    );
    let (mut calls, mut tokens) = (Bound::NONE, Bound::NONE);
    for (model, tried) in tried(flow, node, first) {
        let tried = Bound::AtMost(tried);
        calls = calls.plus(tried.clone());
        tokens = tokens.plus(written(model).times(&tried));
    }
    (calls.times(&asked), tokens.times(&asked))
}

/// How often the last turn asks.
fn last(node: &Node, first: &Model, call: &ModelCall) -> u64 {
    match is_held(call) {
        true => 2 * refused(node, first),
        false => 1,
    }
}

/// Whether a reply may be refused, and asked for again.
fn is_held(call: &ModelCall) -> bool {
    call.output.is_some() || !call.ensures.is_empty()
}

/// How often output is tried again that was not of its type.
fn refused(node: &Node, first: &Model) -> u64 {
    let policy = node.retry.as_ref().or(first.retry.as_ref());
    let again = policy.filter(|policy| policy.on.contains(&ErrorKind::InvalidOutput));
    again.map_or(1, attempts)
}

/// The model and those that it falls back on, each with how often a question may be put to it.
fn tried<'f>(flow: &'f Flow, node: &Node, first: &'f Model) -> Vec<(&'f Model, u64)> {
    let fallback = first.fallback.iter().filter_map(|id| flow.models.get(*id));
    let models = std::iter::once(first).chain(fallback);
    let policy = |model: &'f Model| node.retry.as_ref().or(model.retry.as_ref()).map(attempts);
    models
        .map(|model| (model, policy(model).unwrap_or(1)))
        .collect()
}

/// What the calls of one visit are the product of, in words; empty where there is one alone.
pub(super) fn product(flow: &Flow, node: &Node) -> String {
    let (call, turns) = match &node.work {
        Work::Llm(call) => (call, 1),
        Work::Agent {
            call, max_turns, ..
        } => (call, u64::from((*max_turns).max(1))),
        _ => return String::new(),
    };
    let Some(first) = flow.models.get(call.model) else {
        return String::new();
    };
    let mut asks = Vec::new();
    if turns > 1 {
        asks.push(format!("{} turns before the last", turns - 1));
    }
    if is_held(call) {
        asks.push(match refused(node, first) {
            1 => "2 for the output".to_owned(),
            again => format!("2 for the output in each of {again} attempts"),
        });
    }
    let models = tried(flow, node, first);
    let total: u64 = models.iter().map(|(_, tried)| tried).sum();
    let each: Vec<String> = models
        .iter()
        .map(|(model, tried)| format!("{tried} of {}", model.name))
        .collect();
    let questions = turns
        .saturating_sub(1)
        .saturating_add(last(node, first, call));
    let mut factors = Vec::new();
    match (is_held(call), questions) {
        (_, 0 | 1) => {}
        (false, turns) => factors.push(format!("{turns} turns")),
        (true, questions) => {
            factors.push(format!("{questions} questions ({})", asks.join(", ")));
        }
    }
    match (total, models.len()) {
        (0 | 1, _) => {}
        (total, 1) => factors.push(format!("{total} attempts")),
        (total, _) => factors.push(format!("{total} attempts ({})", each.join(", "))),
    }
    factors.join(" x ")
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
