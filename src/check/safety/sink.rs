//! Arguments that are taken for more than data: they have to be trusted.

use std::collections::BTreeMap;

use crate::ast::expr::{BinaryOp, Expr, ExprKind, Literal, LogicalOp};
use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::expr::infer::reads;
use crate::expr::{Scope, Type};
use crate::ir::flow::SinkKind;
use crate::ir::{GraphId, NodeId, ToolId};
use crate::resolve::answer::AnswerNames;
use crate::resolve::program::{Graph, Node, Param, Program, Sink, Tool, Work};

use super::in_scope;
use super::labels::pattern::is_anchored;
use super::labels::value::Step;
use super::labels::{Label, Labels, Operand, Reader, Trail, takes_free_text};

/// Reports `@sink` arguments that are not trusted.
pub fn sinks(program: &Program, labels: &Labels<'_>, diags: &mut Diagnostics) {
    for (id, graph) in program.graphs.entries() {
        for (at, node) in graph.nodes.entries() {
            pins(labels, program, (id, at), node, diags);
            given(labels, program, (id, at), node, diags);
            match &node.work {
                Work::Agent { .. } => chosen((program, labels), graph, node, None, diags),
                Work::Tools {
                    messages: Some(messages),
                    ..
                } => {
                    let read = labels.reader(id, Some(at)).value(messages);
                    if let Some(trail) = labels.trail(&read, &Label::TEXT) {
                        chosen((program, labels), graph, node, Some(&trail), diags);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Parameters of a tool that nothing stands before: no person who sees each call, or what is permitted, no form, no type of few
/// values.
fn open_sinks<'p>(
    (id, tool): (ToolId, &'p Tool),
    unseen: &BTreeMap<ToolId, Span>,
) -> impl Iterator<Item = (&'p Param, Sink)> + use<'p> {
    let seen = tool.asks() && !unseen.contains_key(&id);
    texts(tool).filter(move |_| !seen)
}

/// Sinks of a tool that take free text of any form.
fn texts(tool: &Tool) -> impl Iterator<Item = (&Param, Sink)> {
    let params = tool.params.iter();
    params
        .filter(|param| takes_free_text(param))
        .filter_map(|param| Some((param, param.sink?)))
}

/// The part of an argument that is not trusted, with where it comes from.
fn untrusted(
    labels: &Labels<'_>,
    reader: &mut Reader<'_, '_>,
    arg: &Expr,
) -> Option<(Operand, Trail)> {
    let value = reader.value(arg);
    labels.trail(&value, &Label::TEXT)?;
    let is_found = &mut |value: &_| labels.trail(value, &Label::TEXT).is_some();
    let operand = reader.operands_of(arg, is_found).into_iter().next()?;
    let trail = labels.trail(&operand.value, &Label::TEXT)?;
    Some((operand, trail))
}

/// The arguments that the flow itself gives: those of a `call`, and those that a list of tools fixes.
fn given(
    labels: &Labels<'_>,
    program: &Program,
    (id, at): (GraphId, NodeId),
    node: &Node,
    diags: &mut Diagnostics,
) {
    let mut reader = labels.reader(id, Some(at));
    for used in node.called_tools() {
        let Some(tool) = program.tools.get(used.node) else {
            continue;
        };
        for (param, sink) in open_sinks((used.node, tool), &labels.unseen) {
            let name = &param.name.node;
            let mut args = node.given(used.node).iter();
            let Some(arg) = args.find(|arg| arg.name.node == *name) else {
                continue;
            };
            let Some((operand, trail)) = untrusted(labels, &mut reader, &arg.value) else {
                continue;
            };
            let message = format!(
                "argument `{name}` of tool `{}` is {}, and {} is not trusted",
                tool.name.node,
                taken_for(sink.kind),
                shown(&operand),
            );
            let found = Diagnostic::new(&codes::TAINTED_SINK, message, arg.value.span);
            let found = trail.label(found);
            let found = unanchored(found, param).label(sink.span, format!("`{name}` is a sink"));
            let help = format!(
                "say what it has to be: `{}`; or give the parameter an enum or a `@pattern` of the whole text, or mark the tool `@approve`: a person then sees each call, or permits it ahead",
                checked(&operand, param, sink)
            );
            diags.push(mended(found, labels.unseen.get(&used.node), help));
        }
    }
}

fn shown(operand: &Operand) -> String {
    let name = operand.name.as_ref();
    name.map_or_else(|| "what it is given".to_owned(), |name| format!("`{name}`"))
}

/// The argument with a check as it may be: the list or the pattern is the author's to write.
fn checked(operand: &Operand, param: &Param, sink: Sink) -> String {
    let text = operand.same_type && param.ty.node.without_null() == Type::String;
    let Some(name) = operand.name.as_ref().filter(|_| text) else {
        return "(..).checked(x, CONDITION)".to_owned();
    };
    let condition = match sink.kind {
        Some(SinkKind::Url) => r#"url_host(x) in ["example.com"]"#,
        Some(SinkKind::Path) => r#"x.matches("^[a-z0-9_]+$")"#,
        Some(SinkKind::Html) => r#"x.matches("^[A-Za-z0-9 ]*$")"#,
        Some(SinkKind::Sql) => r#"x.matches("^[0-9]+$")"#,
        Some(SinkKind::Shell) | None => r#"x in ["ls", "pwd"]"#,
    };
    format!("{name}.checked(x, {condition})")
}

/// With a pattern that says nothing of the whole text.
fn unanchored(found: Diagnostic, param: &Param) -> Diagnostic {
    match &param.constraints.pattern {
        Some(_) => found.label(
            param.span,
            "its `@pattern` is not bound to both ends of the text: `^..$`",
        ),
        None => found,
    }
}

/// With what helps: where a permit lets any arguments through, that it says which.
fn mended(found: Diagnostic, permit: Option<&Span>, help: String) -> Diagnostic {
    match permit {
        Some(permit) => found
            .label(*permit, "any arguments are permitted here")
            .help("say what is permitted: `permit TOOL(PARAM: ..) when ..`, which the person is shown"),
        None => found.help(help),
    }
}

/// Arguments that a permit pins by the answer: those the person is not shown, so that they have to be trusted by themselves.
fn pins(
    labels: &Labels<'_>,
    program: &Program,
    (id, at): (GraphId, NodeId),
    node: &Node,
    diags: &mut Diagnostics,
) {
    let own = match &node.work {
        Work::Interrupt { permits, .. } => Some(("answer", permits)),
        _ => None,
    };
    let stops = node.stops.iter();
    let stops = stops.map(|stop| (stop.name.node.as_str(), &stop.permits));
    let mut reader = labels.reader(id, Some(at));
    for (answer, permits) in own.into_iter().chain(stops) {
        let names = AnswerNames::of(answer, &node.lets);
        for permit in permits {
            let (Some(tool), Some(args)) = (permit.tool, &permit.args) else {
                continue;
            };
            let Some(tool) = program.tools.get(tool) else {
                continue;
            };
            let each = permit.each.as_ref();
            let late = each.is_some_and(|each| names.read_by(&each.items));
            let element = each.map(|each| {
                let element = reader.value(&each.items).part(&Step::Element);
                (each.var.node.clone(), element)
            });
            for (param, sink) in texts(tool) {
                let name = &param.name.node;
                let arg = args.iter().find(|arg| arg.name.node == *name);
                let Some(arg) = arg.filter(|arg| late || names.read_by(&arg.value)) else {
                    continue;
                };
                let found = reader.binding(element.clone(), |reader| {
                    untrusted(labels, reader, &arg.value)
                });
                let Some((operand, trail)) = found else {
                    continue;
                };
                let message = format!(
                    "argument `{name}` of tool `{}` is {}, and {} is permitted without being shown or checked",
                    tool.name.node,
                    taken_for(sink.kind),
                    shown(&operand),
                );
                let (span, source) = trail.source();
                let found = Diagnostic::new(&codes::TAINTED_SINK, message, arg.value.span)
                    .label(span, source);
                diags.push(
                    found
                        .label(sink.span, format!("`{name}` is a sink"))
                        .help("pin what doesn't read the answer, which the person is shown, or the answer itself"),
                );
            }
        }
    }
}

/// Sinks of the tools that a model may call as it likes.
fn chosen(
    (program, labels): (&Program, &Labels<'_>),
    graph: &Graph,
    node: &Node,
    trail: Option<&Trail>,
    diags: &mut Diagnostics,
) {
    for used in in_scope(graph, node) {
        let Some(tool) = program.tools.get(used.node) else {
            continue;
        };
        let bound = graph.tools.as_ref().map(|list| list.span);
        for (param, sink) in open_sinks((used.node, tool), &labels.unseen) {
            let name = &param.name.node;
            let mut fixed = node.given(used.node).iter();
            if fixed.any(|arg| arg.name.node == *name)
                || is_narrowed(program, node, used.node, name)
            {
                continue;
            }
            let message = format!(
                "the model of `{}` chooses argument `{name}` of tool `{}`, which is {}",
                node.name.node,
                tool.name.node,
                taken_for(sink.kind)
            );
            let place = match node.span.holds(used.span) {
                true => used.span,
                false => node.name.span,
            };
            let mut found = Diagnostic::new(&codes::TAINTED_SINK, message, place);
            if let (true, Some(bound)) = (place != used.span, bound) {
                found = found.label(bound, "in its scope by this list");
            }
            if let Some(trail) = trail {
                let (span, source) = trail.source();
                found = found.label(span, source);
            }
            let found = unanchored(found, param).label(sink.span, format!("`{name}` is a sink"));
            let help = format!(
                "say `where {name} in [..]` behind the tool, give `{name}` an enum or a `@pattern` of the whole text, or mark the tool `@approve`: a person then sees each call, or permits it ahead"
            );
            diags.push(mended(found, labels.unseen.get(&used.node), help));
        }
    }
}

/// Whether the node's `where` says what a parameter may be.
fn is_narrowed(program: &Program, node: &Node, tool: ToolId, param: &str) -> bool {
    let used = node.tool_list().and_then(|list| list.find(tool));
    let ids = used.into_iter().flat_map(|used| &used.narrowed);
    let mut conditions = ids.filter_map(|id| program.narrowings.get(*id));
    let params = program.tools.get(tool).into_iter();
    let params = params.flat_map(|tool| &tool.params);
    let chosen = Scope::of_names(params.map(|param| &param.name.node));
    conditions.any(|narrowing| pins_down(&narrowing.condition, param, &chosen))
}

/// Whether a condition leaves a parameter only what the flow says: by `==`, by `in`, or by a pattern of the whole text. What
/// is `chosen` by the model too says nothing.
fn pins_down(condition: &Expr, param: &str, chosen: &Scope) -> bool {
    let is_param = |expr: &Expr| matches!(&expr.kind, ExprKind::Ident(name) if name == param);
    let is_said = |expr: &Expr| reads(expr, chosen).slots.is_empty();
    let pins = |part: &Expr| pins_down(part, param, chosen);
    match &condition.kind {
        ExprKind::Logical(LogicalOp::And, parts) => parts.iter().any(pins),
        ExprKind::Logical(LogicalOp::Or, parts) => parts.iter().all(pins),
        ExprKind::Binary(op, left, right) => match op.node {
            BinaryOp::In => is_param(left) && is_said(right),
            BinaryOp::Equal => is_param(left) && is_said(right) || is_param(right) && is_said(left),
            _ => false,
        },
        ExprKind::Call {
            target: Some(of),
            function,
            args,
        } => function.node == "matches" && is_param(of) && args.iter().all(is_whole_pattern),
        _ => false,
    }
}

/// Whether a pattern is written out and bound to both ends of the text.
pub(super) fn is_whole_pattern(pattern: &Expr) -> bool {
    matches!(&pattern.kind, ExprKind::Literal(Literal::String(text)) if is_anchored(text))
}

fn taken_for(kind: Option<SinkKind>) -> &'static str {
    match kind {
        Some(SinkKind::Shell) => "run as a command",
        Some(SinkKind::Sql) => "run as a query",
        Some(SinkKind::Url) => "used as an address",
        Some(SinkKind::Path) => "used as a path",
        Some(SinkKind::Html) => "shown as markup",
        None => "a sink",
    }
}
