//! Arguments that are taken for more than data: they have to be trusted.

use std::collections::BTreeMap;

use crate::ast::expr::{BinaryOp, Expr, ExprKind, Literal, LogicalOp};
use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::expr::infer::reads;
use crate::expr::{Scope, Type};
use crate::ir::ToolId;
use crate::ir::flow::SinkKind;
use crate::resolve::answer::AnswerNames;
use crate::resolve::exprs::{Recipient, Site, Written};
use crate::resolve::program::{Graph, Node, Param, Permit, Program, Sink, Tool, Work};

use super::in_scope;
use super::labels::{Label, Labels, Operand, Reader, Trail, Value, takes_free_text};
use crate::expr::constraint::is_anchored;

/// Reports `@sink` arguments that are not trusted.
pub fn sinks(program: &Program, labels: &Labels<'_>, diags: &mut Diagnostics) {
    labels.each_site(&mut |owner, reader, site| {
        if let (Some(node), Written::Expr(arg)) = (owner.node, site.written) {
            let rule = Rule { program, labels };
            let found = match site.to {
                Recipient::Tool(tool, param) => rule.given(reader, node, (tool, param), arg),
                Recipient::Permission { permit, .. } => {
                    rule.pinned(reader, (node, permit), site, arg)
                }
                _ => None,
            };
            found.into_iter().for_each(|found| diags.push(found));
        }
    });
    for (id, graph) in program.graphs.entries() {
        for (at, node) in graph.nodes.entries() {
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

struct Rule<'r, 'a> {
    program: &'r Program,
    labels: &'r Labels<'a>,
}

impl Rule<'_, '_> {
    /// An argument that is not trusted; `so` says what is wrong with that.
    fn untrusted(
        &self,
        reader: &mut Reader,
        (tool, param, sink): (&Tool, &Param, Sink),
        arg: &Expr,
        so: &str,
    ) -> Option<(Diagnostic, Operand)> {
        let trail = |value: &Value| self.labels.trail(value, &Label::TEXT);
        let operands = reader.operands_of(arg, &mut |value| trail(value).is_some());
        let operand = operands.into_iter().next()?;
        let shown = match &operand.name {
            Some(name) => format!("`{name}`"),
            None => "what it is given".to_owned(),
        };
        let name = &param.name.node;
        let message = format!(
            "argument `{name}` of tool `{}` is {}, and {shown} is {so}",
            tool.name.node,
            taken_for(sink.kind),
        );
        let found = Diagnostic::new(&codes::TAINTED_SINK, message, arg.span);
        let found = unanchored(trail(&operand.value)?.label(found), param);
        Some((
            found.label(sink.span, format!("`{name}` is a sink")),
            operand,
        ))
    }

    /// What the flow itself gives: an argument of a `call`, or one that a list of tools fixes.
    fn given(
        &self,
        reader: &mut Reader,
        node: &Node,
        (id, param): (ToolId, &str),
        arg: &Expr,
    ) -> Option<Diagnostic> {
        let tool = self.program.tools.get(id)?;
        let mut open = open_sinks((id, tool), &self.labels.unseen);
        let (param, sink) = open.find(|(open, _)| open.name.node == *param)?;
        // An `llm` only asks for calls.
        if let Work::Llm(_) = node.work {
            return None;
        }
        let (found, operand) = self.untrusted(reader, (tool, param, sink), arg, "not trusted")?;
        let help = format!(
            "say what it has to be: `{}`; or give the parameter an enum or a `@pattern` of the whole text, or mark the tool `@approve`: a person then sees each call, or permits it ahead",
            checked(&operand, param, sink)
        );
        Some(mended(found, self.labels.unseen.get(&id), help))
    }

    /// What a permit pins by the answer: that the person is not shown, so it has to be trusted by itself.
    fn pinned(
        &self,
        reader: &mut Reader,
        (node, permit): (&Node, &Permit),
        site: &Site,
        arg: &Expr,
    ) -> Option<Diagnostic> {
        let Recipient::Permission {
            question, param, ..
        } = site.to
        else {
            return None;
        };
        let names = AnswerNames::of(question.unwrap_or("answer"), &node.lets);
        let late = permit
            .each
            .as_ref()
            .is_some_and(|each| names.read_by(&each.items));
        let tool = self.program.tools.get(permit.tool?)?;
        let (param, sink) = texts(tool).find(|(of, _)| of.name.node == *param)?;
        let so = "permitted without being shown or checked";
        let pinned = (late || names.read_by(arg)).then_some((tool, param, sink))?;
        let (found, _) = self.untrusted(reader, pinned, arg, so)?;
        Some(found.help(
            "pin what doesn't read the answer, which the person is shown, or the answer itself",
        ))
    }
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
