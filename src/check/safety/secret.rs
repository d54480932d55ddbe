//! Secrets: what is marked `@secret` must not be shown to a model, a person, or whoever reads events and results.

use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::{GraphId, NodeId};
use crate::resolve::exprs::Recipient;
use crate::resolve::program::{Node, Program, Work};

use super::labels::places::Place;
use super::labels::{Label, Labels, SiteOwner, Trail, Value};

/// Reports places where a secret is shown.
pub fn secrets(program: &Program, labels: &Labels<'_>, diags: &mut Diagnostics) {
    let secret = |value: &Value| labels.trail(value, &[Label::Secret]);
    let mut reported = Vec::new();
    labels.each_site(&mut |owner, reader, site| {
        let Some(to) = recipient(program, owner, site.to) else {
            return;
        };
        for operand in reader.operands(site, &mut |value| secret(value).is_some()) {
            let Some(trail) = secret(&operand.value) else {
                continue;
            };
            let message = match &operand.name {
                Some(name) => format!("a secret is shown {to}: `{name}`"),
                None => format!("a secret is shown {to}"),
            };
            let shown = (owner.unit, operand.name.map(|_| message.clone()));
            if shown.1.is_none() || !reported.contains(&shown) {
                reported.push(shown);
                diags.push(finding(message, operand.span, &trail));
            }
        }
    });
    for (id, graph) in program.graphs.entries() {
        for (at, node) in graph.nodes.entries() {
            if let Work::Agent { .. } = node.work {
                tools((program, labels), (id, at), node, diags);
            }
        }
    }
    for id in super::roots(program) {
        let fields = program.graphs.get(id).map(|graph| graph.fields.entries());
        for (at, field) in fields.into_iter().flatten() {
            let value = labels.reader(id, None).place(Place::Field(id, at));
            if let Some(trail) = secret(&value).filter(|_| field.mode.is_out()) {
                let message = format!(
                    "a secret is shown to whoever runs the flow: `{}` is part of its result",
                    field.name.node
                );
                diags.push(finding(message, field.name.span, &trail));
            }
        }
    }
}

/// Who reads what they are given, in words; `None` where it stays within the flow.
fn recipient(program: &Program, owner: SiteOwner<'_>, to: Recipient<'_>) -> Option<String> {
    let name = owner.name();
    Some(match to {
        Recipient::Flow => return None,
        // Who is asked before a call sees its arguments.
        Recipient::Tool(tool, _) => {
            let called = !matches!(owner.node?.work, Work::Llm(_));
            let tool = program.tools.get(tool);
            let tool = tool.filter(|tool| called && tool.asks())?;
            format!("to the person who approves tool `{}`", tool.name.node)
        }
        Recipient::System | Recipient::Model => format!("to the model of `{name}`"),
        Recipient::Person(question) => format!("to a person at `{}`", question.unwrap_or(name)),
        Recipient::Permission { permit, .. } => format!("in `permit {}`", permit.name.node),
        Recipient::Event(event) => format!("in event `{event}`"),
        Recipient::CacheKey => "in the key of a cache".to_owned(),
        Recipient::Error => "in an error's message".to_owned(),
    })
}

/// An agent reads what its tools give back.
fn tools(
    (program, labels): (&Program, &Labels<'_>),
    at: (GraphId, NodeId),
    node: &Node,
    diags: &mut Diagnostics,
) {
    for used in node.tools() {
        let trail = labels.trail(&labels.result(at, used.node), &[Label::Secret]);
        if let (Some(trail), Some(tool)) = (trail, program.tools.get(used.node)) {
            let message = format!(
                "the model of `{}` is shown what tool `{}` gives back, which is secret",
                node.name.node, tool.name.node
            );
            let (span, source) = trail.source();
            diags.push(
                Diagnostic::new(&codes::SECRET_SHOWN, message, used.span)
                    .label(span, source)
                    .help(
                        "call the tool in a `call` node and pass its result on to other tools only",
                    ),
            );
        }
    }
}

fn finding(message: String, span: Span, trail: &Trail) -> Diagnostic {
    let found = Diagnostic::new(&codes::SECRET_SHOWN, message, span);
    let help = "pass a secret to tools only, or show a part of the value that is none";
    trail.label(found).help(help)
}
