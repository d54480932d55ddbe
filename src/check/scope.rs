//! Tool scopes: what a graph lets its nodes use, and what a tool needs of the graph that calls it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::base::name::closest;
use crate::base::{IdVec, Span};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::expr::infer::assignable;
use crate::expr::{Type, TypeTable};
use crate::ir::{FieldMode, GraphId, ToolId};
use crate::resolve::program::{Field, Graph, Program, Tool, ToolBody, ToolList, Work};

use super::calls::{called, callers};
use super::types::tool::Sets;
use super::types::write::takes;

/// Reports tools outside the `tools [..]` of the graph that their node stands in, and called graphs that may use
/// more than their caller: a scope only narrows on the way down.
pub fn scopes(program: &Program, diags: &mut Diagnostics) {
    let needs = needs(program);
    for graph in &program.graphs {
        let Some(bound) = &graph.tools else { continue };
        let within: BTreeSet<ToolId> = bound.tools.iter().map(|used| used.tool).collect();
        for used in graph.nodes.iter().flat_map(|node| node.tools()) {
            if !within.contains(&used.node) {
                diags.push(outside(program, graph, bound, used.node, used.span));
            }
        }
        for (child, span) in graph.nodes.iter().filter_map(called) {
            let wider = needs.get(child.0 as usize).into_iter().flatten();
            for (tool, place) in wider.filter(|(tool, _)| !within.contains(tool)) {
                diags.push(wider_than(
                    program,
                    (graph, bound),
                    child,
                    *tool,
                    (span, *place),
                ));
            }
        }
    }
}

fn name(program: &Program, tool: ToolId) -> &str {
    program.tools.get(tool).map_or("?", |tool| &tool.name.node)
}

fn outside(
    program: &Program,
    graph: &Graph,
    bound: &ToolList,
    tool: ToolId,
    span: Span,
) -> Diagnostic {
    let name = name(program, tool);
    Diagnostic::new(
        &codes::TOOL_OUT_OF_SCOPE,
        format!(
            "tool `{name}` is outside the tools of graph `{}`",
            graph.name.node
        ),
        span,
    )
    .label(bound.span, "the most that its nodes may use")
    .help(format!(
        "add `{name}` to the graph's `tools`, or take it out here"
    ))
}

fn wider_than(
    program: &Program,
    (graph, bound): (&Graph, &ToolList),
    child: GraphId,
    tool: ToolId,
    (call, place): (Span, Span),
) -> Diagnostic {
    let name = name(program, tool);
    let child = program
        .graphs
        .get(child)
        .map_or("?", |child| &child.name.node);
    Diagnostic::new(
        &codes::TOOL_OUT_OF_SCOPE,
        format!(
            "`{child}` may use tool `{name}`, which is outside the tools of graph `{}`",
            graph.name.node
        ),
        call,
    )
    .label(place, "let in here")
    .label(
        bound.span,
        "the most that its nodes may use, subgraphs included",
    )
    .help(format!(
        "add `{name}` to the `tools` of `{}`, or take it out of `{child}`",
        graph.name.node
    ))
}

/// For each graph the tools that it may use, itself or through graphs that it calls, each with a place.
pub fn needs(program: &Program) -> Vec<BTreeMap<ToolId, Span>> {
    let own = program.graphs.iter().map(|graph| match &graph.tools {
        Some(bound) => bound
            .tools
            .iter()
            .map(|used| (used.tool, used.span))
            .collect(),
        None => {
            let used = graph.nodes.iter().flat_map(|node| node.tools());
            used.map(|used| (used.node, used.span)).collect()
        }
    });
    let mut needs: Vec<BTreeMap<ToolId, Span>> = own.collect();
    let callers = callers(program);
    let mut open: VecDeque<GraphId> = program.graphs.ids().collect();
    while let Some(child) = open.pop_front() {
        let more = needs.get(child.0 as usize).cloned().unwrap_or_default();
        for (id, _) in callers.get(child).into_iter().flatten() {
            let bound = |graph: &Graph| graph.tools.is_some();
            if more.is_empty() || program.graphs.get(*id).is_none_or(bound) {
                continue;
            }
            let Some(own) = needs.get_mut(id.0 as usize) else {
                continue;
            };
            let before = own.len();
            more.iter().for_each(|(tool, span)| {
                own.entry(*tool).or_insert(*span);
            });
            if own.len() > before {
                open.push_back(*id);
            }
        }
    }
    needs
}

/// Reports tools that read or write fields which the graph that runs them lacks or has otherwise. Each tool once a graph.
pub fn tool_fields(program: &Program, sets: &IdVec<ToolId, Sets>, diags: &mut Diagnostics) {
    for graph in &program.graphs {
        let mut seen: BTreeSet<ToolId> = BTreeSet::new();
        let nodes = graph
            .nodes
            .iter()
            .filter(|node| !matches!(node.work, Work::Llm(_)));
        for used in nodes.flat_map(|node| node.tools()) {
            let tool = program.tools.get(used.node);
            let Some((tool, body)) = tool.and_then(|tool| Some((tool, tool.body.as_ref()?))) else {
                continue;
            };
            if !seen.insert(used.node) {
                continue;
            }
            let mut needs = Needs {
                program,
                graph,
                tool,
                place: used.span,
                diags: &mut *diags,
            };
            needs.reads(body);
            needs.sets(body, sets.get(used.node).map_or(&[][..], Vec::as_slice));
        }
    }
}

struct Needs<'a, 'd> {
    program: &'a Program,
    graph: &'a Graph,
    tool: &'a Tool,
    place: Span,
    diags: &'d mut Diagnostics,
}

impl<'a> Needs<'a, '_> {
    fn reads(&mut self, body: &ToolBody) {
        for read in &body.reads {
            let Some(field) = self.field(&read.name.node, read.name.span, "reads") else {
                continue;
            };
            if !assignable(&field.ty.node, &read.ty.node, &self.program.types) {
                self.mistyped(
                    field,
                    ("reads", read.ty.span),
                    &field.ty.node,
                    &read.ty.node,
                );
            }
        }
    }

    /// Whether the graph has a field as the tool reads it, so that what is written is a question of its own.
    fn fits(&self, body: &ToolBody, name: &str) -> bool {
        let field = self
            .graph
            .field(name)
            .and_then(|id| self.graph.fields.get(id));
        let mut reads = body.reads.iter().filter(|read| read.name.node == name);
        field.is_some_and(|field| {
            reads.all(|read| assignable(&field.ty.node, &read.ty.node, &self.program.types))
        })
    }

    fn sets(&mut self, body: &ToolBody, values: &[Type]) {
        let read = |name: &str| body.reads.iter().any(|read| read.name.node == name);
        for (item, value) in body.set.iter().zip(values) {
            if read(&item.field.node) && !self.fits(body, &item.field.node) {
                continue;
            }
            let Some(field) = self.field(&item.field.node, item.field.span, "writes") else {
                continue;
            };
            let takes = takes(self.program, field, item.replace);
            if field.mode == FieldMode::In {
                let message = format!(
                    "tool `{}` writes `{}`, an `in` field that can only be read here",
                    self.tool.name.node, field.name.node
                );
                self.diags.push(
                    Diagnostic::new(&codes::READ_ONLY_FIELD, message, self.place)
                        .label(field.name.span, "declared `in`")
                        .label(item.field.span, "written here")
                        .help(format!("declare it `in out {}`", field.name.node)),
                );
            } else if !assignable(value, &takes, &self.program.types) {
                self.mistyped(field, ("writes", item.value.span), &takes, value);
            }
        }
    }

    /// The graph's field of that name; reported where it has none.
    fn field(&mut self, name: &str, span: Span, verb: &str) -> Option<&'a Field> {
        let graph: &'a Graph = self.graph;
        if let Some(field) = graph.field(name).and_then(|id| graph.fields.get(id)) {
            return Some(field);
        }
        let near = closest(name, graph.fields.iter().map(|f| f.name.node.as_str()));
        let help = match near {
            Some(near) => format!("the graph's nearest field is `{near}`"),
            None => format!("declare `{name}` in the state of `{}`", graph.name.node),
        };
        let message = format!(
            "tool `{}` {verb} `{name}`, which graph `{}` does not have",
            self.tool.name.node, graph.name.node
        );
        self.diags.push(
            Diagnostic::new(&codes::TOOL_NEEDS_FIELD, message, self.place)
                .label(span, "needed here")
                .help(help),
        );
        None
    }

    fn mistyped(&mut self, field: &Field, (verb, span): (&str, Span), here: &Type, there: &Type) {
        let types: &TypeTable = &self.program.types;
        let message = format!(
            "tool `{}` {verb} `{}` as `{}`, but graph `{}` has it as `{}`",
            self.tool.name.node,
            field.name.node,
            types.show(there),
            self.graph.name.node,
            types.show(here)
        );
        self.diags.push(
            Diagnostic::new(&codes::TOOL_NEEDS_FIELD, message, self.place)
                .label(span, "by the tool")
                .label(field.ty.span, "by the graph"),
        );
    }
}
