//! What one visit of a node costs at worst.

use std::collections::BTreeMap;

use crate::ir::graph::{Graph, Node};
use crate::ir::node::Work;
use crate::ir::{ErrorKind, Flow, GraphId, Model, Retry};

use super::bound::Bound;

/// What a visit of a node or a run of a graph costs at most.
#[derive(Debug, Clone)]
pub(super) struct Cost {
    /// Super-steps: of a graph with those of all that it calls, of a node those of the graph that it calls.
    pub steps: Bound,
    /// Calls of models, those that are tried again included.
    pub calls: Bound,
    /// Tokens that models write.
    pub tokens: Bound,
}

impl Cost {
    /// Nothing.
    pub const NONE: Self = Self {
        steps: Bound::NONE,
        calls: Bound::NONE,
        tokens: Bound::NONE,
    };
}

/// The cost of a visit of a node. `known` has the graphs that it may call.
pub(super) fn weigh(
    flow: &Flow,
    graph: &Graph,
    node: &Node,
    known: &BTreeMap<GraphId, Cost>,
) -> Cost {
    let Work::Subgraph { graph: called, .. } = &node.work else {
        return Questions::of(flow, node).map_or(Cost::NONE, |all| all.cost());
    };
    known.get(called).cloned().unwrap_or_else(|| {
        let name = flow.graphs.get(*called).map_or("", |called| &called.name);
        let bound = Bound::unbounded(format!(
            "graph `{name}` is called again while it runs, by node `{}` of graph `{}`",
            node.name, graph.name
        ));
        Cost {
            steps: bound.clone(),
            calls: bound.clone(),
            tokens: bound,
        }
    })
}

/// What the calls of one visit are the product of, in words; empty where there is one alone.
pub(super) fn product(flow: &Flow, node: &Node) -> String {
    Questions::of(flow, node).map_or(String::new(), |all| all.shown())
}

/// The questions that one visit of a node puts to models.
struct Questions<'f> {
    /// Turns; an agent's are several.
    turns: u64,
    /// The model and those that it falls back on.
    tried: Vec<Tried<'f>>,
}

/// A model that questions are put to.
struct Tried<'f> {
    model: &'f Model,
    /// How often one question may be put to it.
    attempts: u64,
    /// How often it is asked anew for a reply that is not as it should be; `None` where none is refused.
    again: Option<u64>,
}

impl<'f> Questions<'f> {
    fn of(flow: &'f Flow, node: &'f Node) -> Option<Self> {
        let (call, turns) = match &node.work {
            Work::Llm(call) => (call, 1),
            Work::Agent {
                call, max_turns, ..
            } => (call, u64::from((*max_turns).max(1))),
            _ => return None,
        };
        let first = flow.models.get(call.model)?;
        let held = call.output.is_some() || !call.ensures.is_empty();
        let tried = |model: &'f Model| {
            let policy = node.retry.as_ref().or(model.retry.as_ref());
            let refused = policy.filter(|policy| policy.on.contains(&ErrorKind::InvalidOutput));
            Tried {
                model,
                attempts: policy.map_or(1, attempts),
                again: held.then(|| refused.map_or(1, attempts)),
            }
        };
        let fallback = first.fallback.iter().filter_map(|id| flow.models.get(*id));
        let models = std::iter::once(first).chain(fallback);
        Some(Self {
            turns,
            tried: models.map(tried).collect(),
        })
    }

    /// Each model with the questions that it may be asked: each turn asks once, the last one also for output that is refused,
    /// of this model and of those before it.
    fn asked(&self) -> impl Iterator<Item = (&Tried<'f>, u64)> {
        let mut last = 0;
        self.tried.iter().map(move |tried| {
            last = tried.again.map_or(1, |again| last + 2 * again);
            (tried, self.turns.saturating_sub(1).saturating_add(last))
        })
    }

    /// Each question may use up every attempt of the model and of its fallbacks.
    fn cost(&self) -> Cost {
        let all = |each: fn(&Model) -> Bound| {
            let asked = self.asked().map(|(tried, questions)| {
                let attempts = Bound::AtMost(tried.attempts.saturating_mul(questions));
                each(tried.model).times(&attempts)
            });
            asked.sum()
        };
        Cost {
            calls: all(|_| Bound::AtMost(1)),
            tokens: all(written),
            ..Cost::NONE
        }
    }

    /// What the number of calls is made of.
    fn shown(&self) -> String {
        let [
            Tried {
                attempts, again, ..
            },
        ] = self.tried.as_slice()
        else {
            return self.shown_by_model();
        };
        let mut factors = Vec::new();
        let questions = self.asked().map(|(_, questions)| questions).sum();
        match (again, questions) {
            (_, 0 | 1) => {}
            (None, turns) => factors.push(format!("{turns} turns")),
            (Some(again), questions) => {
                let before = match self.turns {
                    0 | 1 => String::new(),
                    turns => format!("{} turns before the last, ", turns - 1),
                };
                let output = match again {
                    1 => "2 for the output".to_owned(),
                    again => format!("2 for the output in each of {again} attempts"),
                };
                factors.push(format!("{questions} questions ({before}{output})"));
            }
        }
        if *attempts > 1 {
            factors.push(format!("{attempts} attempts"));
        }
        factors.join(" x ")
    }

    fn shown_by_model(&self) -> String {
        let parts = self.asked().map(|(tried, questions)| {
            let asked = match tried.again {
                Some(_) => format!("{questions} questions"),
                None if questions > 1 => format!("{questions} turns"),
                None => String::new(),
            };
            let attempts = match tried.attempts {
                1 if !asked.is_empty() => String::new(),
                1 => "1 attempt".to_owned(),
                attempts => format!("{attempts} attempts"),
            };
            let factors = [asked, attempts]
                .into_iter()
                .filter(|part| !part.is_empty());
            let factors: Vec<String> = factors.collect();
            format!("{} of {}", factors.join(" x "), tried.model.name)
        });
        let parts: Vec<String> = parts.collect();
        parts.join(" + ")
    }
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
