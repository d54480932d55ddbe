//! `"$context.NAME"` in namespaces of memory: a constant that the graph has, of a type that can be a part of one.

use std::collections::BTreeSet;

use crate::ast::expr::{Expr, ExprKind, Literal};
use crate::base::Span;
use crate::base::name::{closest, list};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::expr::Type;
use crate::ir::ToolId;
use crate::ir::flow::{CONSTANT, MEMORY};
use crate::resolve::program::{Graph, Param, Program, ToolList};

/// Reports constants in the arguments and in the conditions of memory's tools that stand for nothing where the graph runs.
pub fn constants(program: &Program, graph: &Graph, diags: &mut Diagnostics) {
    let mut seen = BTreeSet::new();
    for expr in spoken_of(program, graph) {
        for (name, span) in named(expr) {
            if seen.insert((span.file, span.start))
                && let Some(found) = problem(program, graph, name, span)
            {
                diags.push(found);
            }
        }
    }
}

/// What is said of the arguments of memory's tools, in calls and in conditions.
fn spoken_of<'p>(program: &'p Program, graph: &'p Graph) -> Vec<&'p Expr> {
    let of_memory = |tool: ToolId| {
        let tool = program.tools.get(tool);
        tool.is_some_and(|tool| tool.module.as_deref() == Some(MEMORY))
    };
    let mut all: Vec<&Expr> = Vec::new();
    let mut lists: Vec<&ToolList> = graph.tools.iter().collect();
    for node in &graph.nodes {
        lists.extend(node.tool_list());
        for used in node.tools().iter().filter(|used| of_memory(used.node)) {
            let given = node.given(used.node).iter();
            let spaces = given.filter(|arg| !is_plain(&arg.name.node));
            all.extend(spaces.map(|arg| &arg.value));
        }
    }
    let used = lists.into_iter().flat_map(|list| &list.tools);
    let narrowed = used.filter(|used| of_memory(used.tool));
    let narrowed = narrowed.flat_map(|used| &used.narrowed);
    all.extend(narrowed.filter_map(|id| Some(&program.narrowings.get(*id)?.condition)));
    all
}

/// The constants that texts of an expression name.
fn named(expr: &Expr) -> Vec<(&str, Span)> {
    let mut found = Vec::new();
    let mut waiting = vec![expr];
    while let Some(expr) = waiting.pop() {
        if let ExprKind::Literal(Literal::String(text)) = &expr.kind
            && let Some(name) = text.strip_prefix(CONSTANT)
        {
            found.push((name, expr.span));
        }
        let parts = expr.parts();
        // What is compared with a key is a text as it stands there.
        let plain = |part: &&Expr| matches!(&part.kind, ExprKind::Ident(name) if is_plain(name));
        if !parts.iter().any(plain) {
            waiting.extend(parts);
        }
    }
    found
}

/// Whether an argument of memory's tools is no namespace: nothing stands for a constant there.
fn is_plain(name: &str) -> bool {
    !matches!(name, "space" | "prefix")
}

fn problem(program: &Program, graph: &Graph, name: &str, span: Span) -> Option<Diagnostic> {
    let own = graph.context.as_ref();
    let fields = own.map_or(&[][..], |own| &own.fields);
    let known = fields.iter().find(|field| field.name.node == name);
    let of = &graph.name.node;
    if let Some(known) = known {
        return not_a_part(&known.ty.node).then(|| of_another_type(program, of, known, span));
    }
    let message = format!("`{CONSTANT}{name}` stands for nothing: `{of}` has no such constant");
    let names = || fields.iter().map(|field| field.name.node.as_str());
    let help = match (closest(name, names()), fields) {
        (Some(near), _) => format!("did you mean `{CONSTANT}{near}`?"),
        (None, []) => format!("declare it in `{of}`: `context {{ {name}: string }}`"),
        (None, _) => format!("its `context` has {}", list(names())),
    };
    let mut found = Diagnostic::new(&codes::UNKNOWN_NAME, message, span).help(help);
    if let Some(own) = own {
        found = found.label(own.span, "its constants");
    }
    Some(found)
}

/// Whether no value of the type can be a part of a namespace, which is a text or a number.
fn not_a_part(ty: &Type) -> bool {
    matches!(
        ty.without_null(),
        Type::Bool | Type::List(_) | Type::Map(_) | Type::Record(_) | Type::Null
    )
}

fn of_another_type(program: &Program, of: &str, field: &Param, span: Span) -> Diagnostic {
    let ty = program.types.show(&field.ty.node);
    let name = &field.name.node;
    let message = format!(
        "`{CONSTANT}{name}` is `{ty}` in `{of}`: a part of a namespace is a text or a number"
    );
    Diagnostic::new(&codes::TYPE_MISMATCH, message, span).label(field.ty.span, "declared here")
}
