//! State fields that tools read and write, against those of the graphs that run them.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::name::closest;
use crate::base::{IdVec, Span};
use crate::diag::{Diagnostic, Diagnostics, Home, codes};
use crate::expr::infer::assignable;
use crate::expr::{Type, TypeTable};
use crate::ir::{FieldMode, ToolId};
use crate::resolve::program::{Field, Graph, Program, SetItem, Tool, ToolBody};

use super::types::tool::BodyTypes;
use super::types::write::takes;

/// Reports tools that read or write fields which the graph that runs them lacks or has otherwise. Each tool once a graph.
pub fn tool_fields(program: &Program, bodies: &IdVec<ToolId, BodyTypes>, diags: &mut Diagnostics) {
    let users = users(program);
    for graph in &program.graphs {
        let mut seen: BTreeSet<ToolId> = BTreeSet::new();
        for used in graph.nodes.iter().flat_map(|node| node.called_tools()) {
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
                alone: users.get(&used.node) == Some(&1),
                diags: &mut *diags,
            };
            needs.reads(body);
            if let Some(types) = bodies.get(used.node) {
                needs.sets(body, types);
            }
        }
    }
}

struct Needs<'a, 'd> {
    program: &'a Program,
    graph: &'a Graph,
    tool: &'a Tool,
    place: Span,
    /// Whether no other graph runs the tool, so that it is made for this one.
    alone: bool,
    diags: &'d mut Diagnostics,
}

/// How many graphs run each tool, those with the same text as one.
fn users(program: &Program) -> BTreeMap<ToolId, usize> {
    let mut users: BTreeMap<ToolId, BTreeSet<Span>> = BTreeMap::new();
    for graph in &program.graphs {
        for used in graph.nodes.iter().flat_map(|node| node.tools()) {
            users.entry(used.node).or_default().insert(graph.name.span);
        }
    }
    let count = |(tool, graphs): (ToolId, BTreeSet<Span>)| (tool, graphs.len());
    users.into_iter().map(count).collect()
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

    fn sets(&mut self, body: &ToolBody, types: &BodyTypes) {
        for (item, value) in body.writes().zip(types.sets.iter().chain(&types.jump_sets)) {
            self.write(item, value);
        }
    }

    fn write(&mut self, item: &SetItem, value: &Type) {
        let (name, replace, span) = (&item.name, item.replace, item.value.span);
        let Some(field) = self.field(&name.node, name.span, "writes") else {
            return;
        };
        let takes = takes(self.program, field, replace);
        if field.mode == FieldMode::In {
            let message = format!(
                "tool `{}` writes `{}`, an `in` field that can only be read here",
                self.tool.name.node, field.name.node
            );
            self.diags.push(
                Diagnostic::new(&codes::READ_ONLY_FIELD, message, self.place)
                    .label(field.name.span, "declared `in`")
                    .label(name.span, "written here")
                    .help(format!("declare it `in out {}`", field.name.node)),
            );
        } else if !assignable(value, &takes, &self.program.types) {
            self.mistyped(field, ("writes", span), &takes, value);
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
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("declare `{name}` in the state of `{}`", graph.name.node),
        };
        if let Some(near) = near {
            self.misspelt(near);
        }
        let message = format!(
            "tool `{}` {verb} `{name}`, which graph `{}` does not have",
            self.tool.name.node, graph.name.node
        );
        // What is misspelt is mended in the tool.
        let (place, other, said) = match near {
            Some(_) => (span, self.place, "used here"),
            None => (self.place, span, "needed here"),
        };
        let found = Diagnostic::new(&codes::TOOL_NEEDS_FIELD, message, place)
            .label(other, said)
            .help(help);
        // However many nodes use the tool, the slip is one.
        let home = Home::State(Some(graph.name.span));
        self.diags.push(found.unknown(name, home).near(near));
        None
    }

    /// Takes out that the body does not know the name which it reads under another.
    fn misspelt(&mut self, near: &str) {
        let tool = self.tool.span;
        let inside =
            |at: Span| at.file == tool.file && at.start >= tool.start && at.end <= tool.end;
        self.diags.retain(|found| {
            let unknown = found.unknown_name();
            !(unknown.is_some_and(|unknown| unknown.name == near) && inside(found.span()))
        });
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
        let found = match self.alone {
            true => Diagnostic::new(&codes::TOOL_NEEDS_FIELD, message, span)
                .label(self.place, "used here"),
            false => Diagnostic::new(&codes::TOOL_NEEDS_FIELD, message, self.place)
                .label(span, "by the tool"),
        };
        self.diags
            .push(found.label(field.ty.span, "by the graph").help(format!(
                "declare `{}: {}` in the state of `{}`, or change the tool",
                field.name.node,
                types.show(there),
                self.graph.name.node
            )));
    }
}
