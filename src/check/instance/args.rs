//! Values of parameters: named, of the right type, and known before a run.

use std::collections::BTreeSet;

use crate::ast::expr::{Expr, ExprKind};
use crate::ast::item::NamedArg;
use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::expr::Type;
use crate::expr::fold::names_params;
use crate::expr::infer::{Checker, Taker, access_path};
use crate::resolve::naming::IN_SCOPE;
use crate::resolve::program::{Graph, Node, Program, Work};

use super::super::types::args::Callee;
use super::super::types::cx::Cx;

/// Places of expressions that are reported, so that they have no value.
pub type Wrong = BTreeSet<Span>;

/// Calls that give another answer each time.
const EFFECTS: [&str; 3] = ["now", "uuid", "random"];

/// Checks the values that declared instances and `subgraph` nodes give, each once, whatever the
/// parameters of the graph around them; and what else depends on parameters alone: defaults of fields, numbers
/// of properties.
pub fn check(program: &Program, diags: &mut Diagnostics) -> Wrong {
    let mut wrong = Wrong::new();
    for decl in &program.instances {
        let base = decl.base.and_then(|base| program.graphs.get(base));
        let mut cx = Cx::outside(program, decl.file);
        let call = (base, decl.base_name.span, decl.args.as_slice());
        given(&mut cx, call, decl.damaged, (&[], &mut wrong));
        diags.append(cx.diags);
    }
    for graph in &program.graphs {
        for node in &graph.nodes {
            if let Work::Subgraph {
                graph: called,
                instance: None,
                name,
                args,
                ..
            } = &node.work
            {
                let mut cx = inside(program, graph);
                let called = called.and_then(|called| program.graphs.get(called));
                let call = (called, name.span, args.as_slice());
                given(&mut cx, call, graph.broken, (&lets(node), &mut wrong));
                diags.append(cx.diags);
            }
            let turns = match &node.work {
                Work::Agent { turns_by, .. } => turns_by.as_deref(),
                _ => None,
            };
            let visits = node.max_visits.as_ref();
            let visits = visits.and_then(|max| max.limit_by.as_ref());
            for (what, by) in [("max_turns", turns), ("max_visits", visits)] {
                if let Some(by) = by {
                    let mut cx = inside(program, graph);
                    number(&mut cx, what, by, &lets(node), &mut wrong);
                    diags.append(cx.diags);
                }
            }
        }
        for field in &graph.fields {
            let by_params = |e: &&Expr| names_params(e) && graph.params_record.is_some();
            if let Some(default) = field.default.as_ref().filter(by_params) {
                let mut cx = inside(program, graph);
                let what = format!("the default of `{}`", field.name.node);
                let takes = (default, &field.ty.node, Taker::named(&field.name));
                constant(&mut cx, &what, takes, &[], &mut wrong);
                diags.append(cx.diags);
            }
        }
        if let Some(by) = &graph.recursion_by {
            let mut cx = inside(program, graph);
            number(&mut cx, "recursion_limit", by, &[], &mut wrong);
            diags.append(cx.diags);
        }
    }
    wrong
}

/// A place in a graph where only its parameters are in scope.
fn inside<'a>(program: &'a Program, graph: &Graph) -> Cx<'a> {
    let mut cx = Cx::outside(program, graph.file);
    if let Some(record) = graph.params_record {
        cx.declare("params", Type::Record(record));
    }
    cx
}

fn lets(node: &Node) -> Vec<&str> {
    node.lets.iter().map(|l| l.name.node.as_str()).collect()
}

fn given(
    cx: &mut Cx,
    (called, place, args): (Option<&Graph>, Span, &[NamedArg]),
    damaged: bool,
    (lets, wrong): (&[&str], &mut Wrong),
) {
    let Some(called) = called else {
        return;
    };
    let callee = Callee {
        what: format!("graph `{}`", called.name.node),
        params: &called.params,
        span: place,
        declared: called.name.span,
    };
    for arg in args {
        let mut params = called.params.iter();
        let Some(param) = params.find(|param| param.name.node == arg.name.node) else {
            cx.unknown_arg(&callee, arg);
            continue;
        };
        let what = format!("the value of `{}`", arg.name.node);
        let takes = (&arg.value, &param.ty.node, Taker::named(&param.name));
        constant(cx, &what, takes, lets, wrong);
    }
    // What did not parse may be what is lacking.
    if !damaged {
        cx.lacking(&callee, args);
    }
}

fn number(cx: &mut Cx, what: &str, by: &Expr, lets: &[&str], wrong: &mut Wrong) {
    let taker = Taker {
        what: format!("`{what}`"),
        verb: "takes",
        part: false,
        declared: None,
        of: None,
    };
    constant(
        cx,
        &format!("`{what}`"),
        (by, &Type::Int, taker),
        lets,
        wrong,
    );
}

fn constant(
    cx: &mut Cx,
    what: &str,
    (value, ty, taker): (&Expr, &Type, Taker),
    lets: &[&str],
    wrong: &mut Wrong,
) {
    let before = cx.diags.len();
    match of_a_run(value, lets) {
        Some((name, span)) => {
            let message = format!("{what} must be a constant, but `{name}` is only known in a run");
            cx.report(
                Diagnostic::new(&codes::ARGUMENT_NOT_CONSTANT, message, span).help(
                    "parameters are fixed when the flow is compiled: write a constant or one of \
                     `params`, or pass it in the state",
                ),
            );
        }
        None => {
            // As in a default, a whole number may stand for a float.
            Checker::new(&cx.scope, &cx.program.types, &mut cx.diags)
                .declaring()
                .into(Some(taker))
                .infer(value, Some(ty));
        }
    }
    if cx.diags.len() > before {
        wrong.insert(value.span);
    }
}

/// The first thing in an expression that has a value only in a run.
fn of_a_run(expr: &Expr, lets: &[&str]) -> Option<(String, Span)> {
    let mut open = vec![expr];
    while let Some(expr) = open.pop() {
        if let Some(place) = access_path(expr) {
            let root = place.root().unwrap_or_default();
            let in_scope = IN_SCOPE.contains(&root) && root != "params";
            if in_scope || lets.contains(&root) {
                return Some((place.to_string(), expr.span));
            }
            continue;
        }
        if let ExprKind::Call {
            target: None,
            function,
            ..
        } = &expr.kind
            && EFFECTS.contains(&function.node.as_str())
        {
            return Some((format!("{}()", function.node), expr.span));
        }
        // The first one is looked at first.
        open.extend(expr.parts().into_iter().rev());
    }
    None
}
