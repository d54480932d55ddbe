//! Which fields each graph may write, through the graphs that it calls too.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::{IdVec, Span};
use crate::diag::Diagnostics;
use crate::ir::{FieldId, GraphId, ToolId};
use crate::resolve::program::{Graph, Node, Program, Route, SetItem, TargetKind, Tool, Work};

use super::super::calls::settle;
use super::super::tool_targets::{Lost, lost};
use super::super::types::cx::Computed;
use super::super::types::tool::tool;
use super::build::called_bodies;
use super::leaving::{self, Leaving};

/// For each graph the fields that some node, tool or called graph in it may write.
pub struct Written {
    fields: IdVec<GraphId, BTreeSet<FieldId>>,
    /// Targets that the bodies of tools compute; those that compute none have no entry.
    computed: BTreeMap<ToolId, Vec<Computed>>,
    /// Jumps of tools that no node can take, which are reported.
    pub lost: Lost,
    /// Names by which called graphs may leave at once.
    pub(super) leaving: Leaving,
}

impl Written {
    /// A graph writes what the graphs it calls give back: whatever a graph gains is handed to those that call it.
    pub fn new(program: &Program) -> Self {
        let graphs = program.graphs.iter();
        let mut written = Self {
            fields: graphs.map(|graph| own(program, graph)).collect(),
            computed: program
                .tools
                .entries()
                .filter(|(_, tool)| computes(tool))
                .map(|(id, _)| (id, tool(program, id, &mut Diagnostics::new()).computed))
                .collect(),
            lost: lost(program),
            leaving: leaving::all(program),
        };
        settle(program, |id| {
            let Some(graph) = program.graphs.get(id) else {
                return false;
            };
            let nodes = graph.nodes.iter();
            let taken = nodes.flat_map(|node| written.given_back(program, graph, node));
            let taken: Vec<FieldId> = taken.map(|(_, to, _)| to).collect();
            let Some(fields) = written.fields.get_mut(id) else {
                return false;
            };
            let before = fields.len();
            fields.extend(taken);
            fields.len() > before
        });
        written
    }

    /// Nothing is written: for questions of where a run can go.
    pub fn nothing() -> Self {
        Self {
            fields: IdVec::new(),
            computed: BTreeMap::new(),
            lost: Lost::new(),
            leaving: Leaving::new(),
        }
    }

    /// The targets that a tool's body computes, with the names that each may give.
    pub fn computed(&self, tool: ToolId) -> &[Computed] {
        self.computed.get(&tool).map_or(&[], Vec::as_slice)
    }

    /// Whether the graph may write the field.
    pub fn has(&self, graph: GraphId, field: FieldId) -> bool {
        self.fields
            .get(graph)
            .is_some_and(|fields| fields.contains(&field))
    }

    /// The called graph's fields that a subgraph node may give back, the caller's that take them, and the `into` or the call that
    /// says so.
    pub fn given_back(
        &self,
        program: &Program,
        caller: &Graph,
        node: &Node,
    ) -> Vec<(FieldId, FieldId, Span)> {
        let called = node.called();
        let called =
            called.and_then(|(child, name)| Some((child, program.graphs.get(child)?, name)));
        let Some((child, called, name)) = called else {
            return Vec::new();
        };
        let mut taken = Vec::new();
        for (id, field) in called.fields.entries() {
            if !field.mode.is_out() || !self.has(child, id) {
                continue;
            }
            let bound = bound(node, id);
            if bound.is_empty() {
                let to = caller.field(&field.name.node);
                taken.extend(to.map(|to| (id, to, name.span)));
            }
            taken.extend(bound.into_iter().map(|(to, span)| (id, to, span)));
        }
        taken
    }
}

fn computes(tool: &Tool) -> bool {
    let goto = tool.body.iter().filter_map(|body| body.goto.as_ref());
    let mut targets = goto.flat_map(Route::targets);
    targets.any(|target| matches!(target.kind, TargetKind::Computed(_)))
}

/// The caller's fields that `into` gives an `out` field to.
fn bound(node: &Node, field: FieldId) -> Vec<(FieldId, Span)> {
    let Work::Subgraph { into, .. } = &node.work else {
        return Vec::new();
    };
    into.iter()
        .filter(|binding| binding.from == Some(field))
        .filter_map(|binding| Some((binding.to?, binding.to_name.span)))
        .collect()
}

/// The fields that take what a graph gives which is a parameter and not known.
fn by_unknown(graph: &Graph, node: &Node) -> Vec<FieldId> {
    let Work::Subgraph { into, .. } = &node.work else {
        return Vec::new();
    };
    let mut taken = Vec::new();
    for (_, name) in graph
        .fields_of_unknown(node)
        .iter()
        .filter(|(mode, _)| mode.is_out())
    {
        let mut bound = into
            .iter()
            .filter(|binding| binding.from_name.node == *name)
            .peekable();
        if bound.peek().is_none() {
            taken.extend(graph.field(name));
        }
        taken.extend(bound.filter_map(|binding| binding.to));
    }
    taken
}

fn own(program: &Program, graph: &Graph) -> BTreeSet<FieldId> {
    let mut fields: BTreeSet<FieldId> = graph.sets().filter_map(SetItem::writes).collect();
    for node in &graph.nodes {
        if let Work::Extern { writes, .. } = &node.work {
            fields.extend(writes.iter().map(|field| field.node));
        }
        fields.extend(by_unknown(graph, node));
        let tools = called_bodies(program, node);
        let by_tools = tools.iter().flat_map(|(_, body)| body.written());
        fields.extend(by_tools.filter_map(|name| graph.field(&name.node)));
    }
    fields
}
