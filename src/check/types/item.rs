//! Reducers and defaults: expressions that stand outside nodes.

use crate::ast::Name;
use crate::ast::expr::{Expr, ExprKind};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::expr::Type;
use crate::expr::constraint::Constraints;
use crate::expr::fold::names_params;
use crate::expr::infer::{Checker, Taker, constant, doomed};
use crate::resolve::program::{Param, Program};

use super::cx::Cx;

/// Types the bodies of all reducers.
pub fn reducers(program: &Program, diags: &mut Diagnostics) {
    for reducer in &program.reducers {
        let mut cx = Cx::outside(program, reducer.name.span.file);
        cx.declare(&reducer.old.name.node, reducer.old.ty.node.clone());
        cx.declare(&reducer.new.name.node, reducer.new.ty.node.clone());
        let taker = Taker {
            what: format!("reducer `{}`", reducer.name.node),
            verb: "gives back",
            part: false,
            declared: Some(reducer.returns.span),
            of: None,
        };
        cx.infer_into(&reducer.body, Some(&reducer.returns.node), Some(taker));
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
    let contexts = program
        .graphs
        .iter()
        .filter_map(|graph| graph.context.as_ref());
    let contexts = contexts.flat_map(|context| &context.fields);
    let params = records
        .chain(events)
        .chain(tools)
        .chain(inputs)
        .chain(params);
    for param in params.chain(prompts).chain(contexts) {
        let Param {
            ty,
            default,
            constraints,
            ..
        } = param;
        if let Some(value) = default {
            default_value(program, &param.name, value, &ty.node, diags);
            in_bounds(program, &param.name, value, (&ty.node, constraints), diags);
        }
    }
    for graph in &program.graphs {
        for new in &graph.migrate.defaults {
            if let Some(field) = graph.fields.get(new.field) {
                default_value(program, &new.name, &new.value, &field.ty.node, diags);
                let bounds = (&field.ty.node, &field.constraints);
                in_bounds(program, &new.name, &new.value, bounds, diags);
            }
        }
    }
    for graph in &program.graphs {
        // What depends on parameters is looked at with them.
        let own = |value: &&Expr| !(names_params(value) && graph.params_record.is_some());
        for field in &graph.fields {
            if let Some(value) = field.default.as_ref().filter(own) {
                default_value(program, &field.name, value, &field.ty.node, diags);
                let bounds = (&field.ty.node, &field.constraints);
                in_bounds(program, &field.name, value, bounds, diags);
            }
        }
    }
}

/// A default must keep to the bounds of its field.
fn in_bounds(
    program: &Program,
    name: &Name,
    value: &Expr,
    (ty, constraints): (&Type, &Constraints),
    diags: &mut Diagnostics,
) {
    if constraints.is_empty() {
        return;
    }
    let json = crate::expr::infer::default_value(value, ty, &program.types);
    let broken = json
        .map(|json| constraints.broken(&json))
        .unwrap_or_default();
    if let Some(first) = broken.first() {
        let message = format!("the default of `{}` is out of bounds: {first}", name.node);
        diags.push(Diagnostic::new(&codes::BAD_VALUE, message, value.span));
    }
}

/// A default is a constant: it is part of the schema, so nothing is in scope of it.
fn default_value(program: &Program, name: &Name, value: &Expr, ty: &Type, diags: &mut Diagnostics) {
    let mut cx = Cx::outside(program, value.span.file);
    Checker::new(&cx.scope, &program.types, &mut cx.diags)
        .declaring()
        .into(Some(Taker {
            declared: None,
            ..Taker::named(name)
        }))
        .infer(value, Some(ty));
    let constant = unreadable(value) || constant(value, &program.types).is_some();
    if cx.diags.is_empty() && !constant {
        doomed(value, &cx.scope, &program.types, &mut cx.diags);
    }
    if cx.diags.is_empty() && !constant {
        cx.report(
            Diagnostic::new(&codes::DEFAULT_NOT_CONSTANT, format!("the default of `{}` must be a constant", name.node), value.span)
                .help("write a literal, a list, a map or a record of them; compute other values in a node"),
        );
    }
    diags.append(cx.diags);
}

/// Whether a part of it could not be read, which is reported.
fn unreadable(value: &Expr) -> bool {
    let mut open = vec![value];
    while let Some(expr) = open.pop() {
        if matches!(expr.kind, ExprKind::Error) {
            return true;
        }
        expr.each_part(|part| open.push(part));
    }
    false
}
