//! Kinds of calls that ask: by tool, and by which of its permits may cover the call.
//!
//! A permit with brackets covers no call with another constant where it pins one.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use crate::ast::item::NamedArg;
use crate::base::Span;
use crate::expr::infer::constant;
use crate::ir::{GraphId, NodeId, ToolId};
use crate::resolve::program::{Node, Permit, Program, Tool, Work};

use super::left::{Left, MOST, NONE, UNDECIDED};
use super::{Permits, asking};

/// Most permits of a tool, and kinds of its calls, that are told apart; of more each permit may cover each call.
const APART: usize = 64;

/// A kind of call.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// Its number.
    pub number: usize,
    /// Which permits of the tool may cover it, by their order; all bits where they are not told apart.
    covered: u64,
    /// Whether a node makes any number of such calls.
    pub many: bool,
}

impl Kind {
    /// Whether no permit of the tool covers it.
    pub fn is_never_covered(self) -> bool {
        self.covered == 0
    }
}

/// All kinds of calls of tools that have a permit.
#[derive(Debug, Default)]
pub struct Kinds {
    /// By tool.
    of_tool: BTreeMap<ToolId, Vec<Kind>>,
    /// By the node that makes them.
    calls: BTreeMap<(GraphId, NodeId), BTreeMap<ToolId, Kind>>,
    /// By graph and place of a permit, the numbers of the calls that it may cover.
    covered: BTreeMap<(GraphId, Span), Vec<usize>>,
    count: usize,
    /// Whether some permit is for one call.
    once: bool,
}

impl Kinds {
    /// Finds them.
    pub fn new(program: &Program, permits: &Permits<'_>) -> Self {
        let mut found = Self::default();
        for (id, graph) in program.graphs.entries() {
            for (at, node) in graph.nodes.entries() {
                let tools = asking(program, graph, node).into_iter();
                let tools: BTreeSet<ToolId> = tools.map(|(tool, _)| tool).collect();
                for tool in tools {
                    if let Some(permits) = permits.get(&tool) {
                        let covered = may_cover(program, permits, tool, node);
                        found.add((id, at), node, tool, covered);
                    }
                }
            }
        }
        for (tool, permits) in permits {
            let kinds = found.of_tool.get(tool).map_or(&[][..], Vec::as_slice);
            for (index, (graph, permit)) in permits.iter().enumerate() {
                let covers = |kind: &&Kind| index >= APART || kind.covered & (1 << index) != 0;
                let numbers = kinds.iter().filter(covers).map(|kind| kind.number);
                found
                    .covered
                    .insert((*graph, permit.span), numbers.collect());
                found.once |= permit.once && permit.each.is_none();
            }
        }
        found
    }

    fn add(&mut self, at: (GraphId, NodeId), node: &Node, tool: ToolId, covered: u64) {
        let kinds = self.of_tool.entry(tool).or_default();
        let covered = if kinds.len() < APART {
            covered
        } else {
            u64::MAX
        };
        let known = kinds.iter().find(|kind| kind.covered == covered).copied();
        let kind = known.unwrap_or_else(|| {
            let kind = Kind {
                number: self.count,
                covered,
                many: false,
            };
            self.count += 1;
            kinds.push(kind);
            kind
        });
        let many = !matches!(node.work, Work::Call { .. });
        let calls = self.calls.entry(at).or_default();
        calls.insert(tool, Kind { many, ..kind });
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The same for each.
    pub fn all(&self, left: u8) -> Left {
        Left::all(self.count, left)
    }

    /// What a graph may begin with, beside permissions for all.
    pub fn starts(&self) -> impl Iterator<Item = u8> + use<> {
        let counted = if self.once { MOST } else { NONE };
        (NONE..=counted).chain([UNDECIDED])
    }

    /// The kind of a node's calls of a tool.
    pub fn of(&self, at: (GraphId, NodeId), tool: ToolId) -> Option<Kind> {
        self.calls.get(&at)?.get(&tool).copied()
    }

    /// The calls that a permit may cover.
    pub fn covered(&self, graph: GraphId, permit: &Permit) -> &[usize] {
        let covered = self.covered.get(&(graph, permit.span));
        covered.map_or(&[], Vec::as_slice)
    }

    /// Takes away what the calls of a node use up.
    pub fn call(&self, at: (GraphId, NodeId), left: &mut Left) {
        let calls = self.calls.get(&at).filter(|_| self.once);
        for (tool, kind) in calls.into_iter().flatten() {
            let kinds = self.of_tool.get(tool).into_iter().flatten();
            let same = kinds.filter(|other| other.covered & kind.covered != 0);
            let numbers = same.map(|other| other.number);
            match kind.many {
                true => left.used_by_many(numbers),
                false => left.used(numbers),
            }
        }
    }
}

/// Which permits of a tool may cover a node's calls of it.
fn may_cover(program: &Program, permits: &[(GraphId, &Permit)], tool: ToolId, node: &Node) -> u64 {
    if permits.len() > APART {
        return u64::MAX;
    }
    let bits = (permits.iter().enumerate()).map(|(index, (_, permit))| (1 << index, permit));
    let (Work::Call { args, .. }, Some(tool)) = (&node.work, program.tools.get(tool)) else {
        return bits.map(|(bit, _)| bit).sum();
    };
    let made = constants(program, tool, args);
    let may_be = bits.filter(|(_, permit)| {
        let pinned = permit.args.as_ref();
        let pinned = pinned.map(|pinned| constants(program, tool, pinned));
        pinned.is_none_or(|pinned| !pinned.iter().zip(&made).any(|(a, b)| differ(a, b)))
    });
    may_be.map(|(bit, _)| bit).sum()
}

/// The arguments of a call, in the order of the parameters, as far as they are the same in each run.
fn constants(program: &Program, tool: &Tool, args: &[NamedArg]) -> Vec<Option<Json>> {
    let params = tool.params.iter().map(|param| {
        let given = args.iter().find(|arg| arg.name.node == param.name.node);
        match given.map(|arg| &arg.value).or(param.default.as_ref()) {
            Some(value) => constant(value, &program.types),
            None => Some(Json::Null),
        }
    });
    params.collect()
}

fn differ(one: &Option<Json>, other: &Option<Json>) -> bool {
    match (one, other) {
        (Some(Json::Number(one)), Some(Json::Number(other))) => one.as_f64() != other.as_f64(),
        (Some(one), Some(other)) => one != other,
        _ => false,
    }
}
