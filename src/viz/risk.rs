//! What a reviewer must see of a node: that it may call a tool that can't be undone, or one that a person
//! is asked about first.

use std::collections::BTreeMap;

use crate::ir::flow::{Tool, ToolEffect};
use crate::ir::{Flow, GraphId, Node, ToolId, Work};

use super::label::listed;

/// What a mark in a drawing stands for, besides the kinds of boxes and arrows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sign {
    /// A tool with `@effect(destructive)` is in reach of the node.
    Destructive,
    /// A tool with `@approve` is in reach of the node.
    Approve,
    /// The thread went this way.
    Taken,
}

impl Sign {
    /// All of them, as a legend lists them.
    pub const ALL: [Sign; 3] = [Sign::Destructive, Sign::Approve, Sign::Taken];

    /// What a legend says.
    pub fn meaning(self) -> &'static str {
        match self {
            Sign::Destructive => "calls a destructive tool",
            Sign::Approve => "a person approves the call first",
            Sign::Taken => "the way of the thread",
        }
    }
}

/// What the nodes of each graph call, those of the graphs that it runs included.
#[derive(Debug)]
pub struct Risks<'a> {
    flow: &'a Flow,
    graphs: BTreeMap<GraphId, Risk>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Risk {
    destructive: bool,
    approve: bool,
}

impl Risk {
    fn or(self, other: Risk) -> Risk {
        Risk {
            destructive: self.destructive || other.destructive,
            approve: self.approve || other.approve,
        }
    }
}

impl<'a> Risks<'a> {
    /// Of all graphs of a flow, in time that grows with its size.
    pub fn of(flow: &'a Flow) -> Self {
        let mut callers: BTreeMap<GraphId, Vec<GraphId>> = BTreeMap::new();
        let mut graphs: BTreeMap<GraphId, Risk> = BTreeMap::new();
        for (id, graph) in flow.graphs.entries() {
            let mut own = Risk::default();
            for node in &graph.nodes {
                if let Work::Subgraph { graph, .. } = &node.work {
                    callers.entry(*graph).or_default().push(id);
                }
                for tool in called(node).iter().filter_map(|id| flow.tools.get(*id)) {
                    own = own.or(risk(tool));
                }
            }
            graphs.insert(id, own);
        }
        let mut changed: Vec<GraphId> = graphs.keys().copied().collect();
        while let Some(id) = changed.pop() {
            let below = graphs.get(&id).copied().unwrap_or_default();
            for caller in callers.get(&id).into_iter().flatten() {
                if let Some(own) = graphs.get_mut(caller)
                    && own.or(below) != *own
                {
                    *own = own.or(below);
                    changed.push(*caller);
                }
            }
        }
        Self { flow, graphs }
    }

    /// The lines of a node's box that say so.
    pub fn notes(&self, node: &Node) -> Vec<(Sign, String)> {
        let mut notes = Vec::new();
        if let Work::Subgraph { graph, .. } = &node.work {
            let inside = self.graphs.get(graph).copied().unwrap_or_default();
            if inside.destructive {
                notes.push((Sign::Destructive, "destructive tools inside".to_owned()));
            }
            if inside.approve {
                notes.push((Sign::Approve, "asks before calls inside".to_owned()));
            }
            return notes;
        }
        let tools = || {
            called(node)
                .iter()
                .filter_map(|id| self.flow.tools.get(*id))
        };
        let named = |is: fn(Risk) -> bool| {
            let found = tools().filter(move |tool| is(risk(tool)));
            found.map(|tool| tool.name.as_str())
        };
        if matches!(node.work, Work::Call { .. }) {
            notes.extend(
                named(|risk| risk.destructive)
                    .map(|_| (Sign::Destructive, "destructive".to_owned())),
            );
            notes.extend(
                named(|risk| risk.approve)
                    .map(|_| (Sign::Approve, "asks before the call".to_owned())),
            );
            return notes;
        }
        let lines = listed("destructive:", named(|risk| risk.destructive));
        notes.extend(lines.into_iter().map(|line| (Sign::Destructive, line)));
        let lines = listed("asks before:", named(|risk| risk.approve));
        notes.extend(lines.into_iter().map(|line| (Sign::Approve, line)));
        notes
    }
}

fn risk(tool: &Tool) -> Risk {
    Risk {
        destructive: tool.effect == ToolEffect::Destructive,
        approve: tool.approve,
    }
}

/// The tools that a node calls, or lets its model call.
pub fn called(node: &Node) -> &[ToolId] {
    match &node.work {
        Work::Llm(call) | Work::Agent { call, .. } => &call.tools,
        Work::Tools { tools, .. } => tools,
        Work::Call { tool, .. } => std::slice::from_ref(tool),
        _ => &[],
    }
}
