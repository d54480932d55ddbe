//! Reducers and defaults: expressions that stand outside nodes.

use crate::ast::expr::Expr;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::expr::Type;
use crate::expr::fold::names_params;
use crate::expr::infer::{Checker, constant};
use crate::resolve::program::{Param, Program};

use super::cx::Cx;

/// Types the bodies of all reducers.
pub fn reducers(program: &Program, diags: &mut Diagnostics) {
    for reducer in &program.reducers {
        let mut cx = Cx::outside(program, reducer.name.span.file);
        cx.declare(&reducer.old.name.node, reducer.old.ty.node.clone());
        cx.declare(&reducer.new.name.node, reducer.new.ty.node.clone());
        cx.infer(&reducer.body, Some(&reducer.returns.node));
        diags.append(cx.diags);
    }
}

/// Checks the defaults of all records, events, tools, nodes' inputs and states.
pub fn defaults(program: &Program, diags: &mut Diagnostics) {
    let records = program.records.iter().flat_map(|record| &record.fields);
    let events = program.events.iter().flat_map(|event| &event.fields);
    let tools = program.tools.iter().flat_map(|tool| {
        let reads = tool.body.iter().flat_map(|body| &body.reads);
        tool.params.iter().chain(reads)
    });
    let inputs = program
        .graphs
        .iter()
        .flat_map(|graph| graph.nodes.iter().flat_map(|node| &node.input));
    let params = program.graphs.iter().flat_map(|graph| &graph.params);
    let prompts = program.prompts.iter().flat_map(|prompt| &prompt.params);
    let params = records
        .chain(events)
        .chain(tools)
        .chain(inputs)
        .chain(params);
    for param in params.chain(prompts) {
        let Param { ty, default, .. } = param;
        if let Some(value) = default {
            default_value(program, value, &ty.node, diags);
        }
    }
    for graph in &program.graphs {
        // What depends on parameters is looked at with them.
        let own = |value: &&Expr| !(names_params(value) && graph.params_record.is_some());
        for field in &graph.fields {
            if let Some(value) = field.default.as_ref().filter(own) {
                default_value(program, value, &field.ty.node, diags);
            }
        }
    }
}

/// A default is a constant: it is part of the schema, so nothing is in scope of it.
fn default_value(program: &Program, value: &Expr, ty: &Type, diags: &mut Diagnostics) {
    let mut cx = Cx::outside(program, value.span.file);
    Checker::new(&cx.scope, &program.types, &mut cx.diags)
        .declaring()
        .infer(value, Some(ty));
    if cx.diags.is_empty() && constant(value, &program.types).is_none() {
        cx.report(
            Diagnostic::new(&codes::DEFAULT_NOT_CONSTANT, "a default must be a constant", value.span)
                .help("write a literal, a list, a map or a record of them; compute other values in a node"),
        );
    }
    diags.append(cx.diags);
}
