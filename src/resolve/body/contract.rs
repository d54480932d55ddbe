//! `worker: graph { in topic: string, out note: string }`: the fields that a graph must have which stands for a parameter.

use crate::ast::graph::{Graph as Written, StateField};
use crate::base::name::list;
use crate::base::{FileId, Span};
use crate::diag::{Diagnostic, codes};
use crate::expr::infer::assignable;
use crate::ir::GraphId;

use super::super::Resolver;
use super::super::names::Definition;
use super::binding::{Binding, Given};

impl Resolver<'_> {
    /// Holds the graphs that are given to the fields that they must have.
    pub(super) fn contracts(
        &mut self,
        file: FileId,
        written: &Written,
        params: &[Binding],
        places: &[Span],
    ) {
        for (param, at) in params.iter().zip(places) {
            let graph = match &param.given {
                Given::Definition(Definition::Graph(graph)) => Some(*graph),
                Given::Definition(Definition::Instance(index)) => self.base_of(*index),
                _ => None,
            };
            let mut contracts = written.contracts.iter();
            let contract = contracts.find(|(name, _)| *name == param.declared.node);
            if let (Some(graph), Some((_, fields))) = (graph, contract) {
                for field in fields {
                    self.must_have(file, graph, (field, &param.shown), *at);
                }
                self.needs_more(graph, fields, param, *at);
            }
        }
    }

    fn must_have(
        &mut self,
        file: FileId,
        graph: GraphId,
        (wanted, name): (&StateField, &str),
        at: Span,
    ) {
        let ty = self.spanned_type(file, &wanted.ty).node;
        let Some(graph) = self.program.graphs.get(graph) else {
            return;
        };
        let field = &wanted.name.node;
        let types = &self.program.types;
        let word = match (wanted.input, wanted.output) {
            (true, true) => "in out",
            (false, true) => "out",
            _ => "in",
        };
        let found = graph.field(field).and_then(|id| graph.fields.get(id));
        let lacks = |what: &str| format!("graph `{name}` {what}, which is asked of it here");
        let message = match found {
            None => lacks(&format!("has no field `{field}`")),
            Some(found) => {
                let fits_in = !wanted.input || assignable(&ty, &found.ty.node, types);
                let fits_out = !wanted.output || assignable(&found.ty.node, &ty, types);
                let modes = (!wanted.input || found.mode.is_in())
                    && (!wanted.output || found.mode.is_out());
                match (modes, fits_in && fits_out) {
                    (true, true) => return,
                    (false, _) => lacks(&format!("has no `{word}` field `{field}`")),
                    (true, false) => format!(
                        "field `{field}` of graph `{name}` is `{}`, asked is `{word} {field}: {}`",
                        types.show(&found.ty.node),
                        types.show(&ty)
                    ),
                }
            }
        };
        let mut diagnostic = Diagnostic::new(&codes::TYPE_MISMATCH, message, at)
            .label(wanted.span, "asked for here");
        if let Some(found) = found {
            diagnostic = diagnostic.label(found.name.span, "declared here");
        }
        self.diags.push(diagnostic);
    }

    /// Reports what a graph must be given beside the fields that it is to have: nobody would give it.
    fn needs_more(&mut self, graph: GraphId, fields: &[StateField], param: &Binding, at: Span) {
        let Some(graph) = self.program.graphs.get(graph) else {
            return;
        };
        let asked = |name: &str| fields.iter().any(|field| field.name.node == name);
        let needed = graph.fields.iter().filter(|field| {
            field.mode.is_in() && field.default.is_none() && !field.ty.node.admits_null()
        });
        let more: Vec<_> = needed.filter(|field| !asked(&field.name.node)).collect();
        if more.is_empty() {
            return;
        }
        let names = list(more.iter().map(|field| field.name.node.as_str()));
        let message = format!(
            "graph `{}` must be given {names}, which `{}` is not said to have",
            param.shown, param.declared.node
        );
        let mut found = Diagnostic::new(&codes::MISSING_FIELD, message, at)
            .label(param.declared.span, "its fields are said here")
            .help("add the field there, or give it a default");
        for field in more {
            found = found.label(field.name.span, "declared here");
        }
        self.diags.push(found);
    }
}
