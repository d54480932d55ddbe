//! `each` in a tool's body: what it sends against the `input` of the node that gets it, in every graph that runs the tool.

use crate::base::name::{closest, list};
use crate::base::{IdVec, Span};
use crate::diag::{Diagnostic, Diagnostics, Home, codes};
use crate::expr::infer::assignable;
use crate::ir::ToolId;
use crate::resolve::program::{Graph, Node, Param, Program, TargetKind};

use super::types::cx::Sent;
use super::types::tool::BodyTypes;

/// Reports what the nodes that tools send to don't take.
pub fn sends(program: &Program, bodies: &IdVec<ToolId, BodyTypes>, diags: &mut Diagnostics) {
    for graph in &program.graphs {
        for node in &graph.nodes {
            for used in node.called_tools() {
                let (Some(tool), Some(types)) =
                    (program.tools.get(used.node), bodies.get(used.node))
                else {
                    continue;
                };
                for sent in &types.sends {
                    let send = Send {
                        program,
                        graph,
                        tool: &tool.name.node,
                        place: used.span,
                        sent,
                    };
                    send.check(node, diags);
                }
            }
        }
    }
}

struct Send<'a> {
    program: &'a Program,
    graph: &'a Graph,
    tool: &'a str,
    place: Span,
    sent: &'a Sent,
}

impl Send<'_> {
    fn check(&self, node: &Node, diags: &mut Diagnostics) {
        let name = &self.sent.worker;
        let end = node.ends.as_ref().and_then(|ends| ends.find(&name.node));
        let worker = match end.map(|end| &end.to.kind) {
            Some(TargetKind::Node(id)) => self.graph.nodes.get(*id),
            // What `ends` lacks or does not know is reported there.
            Some(TargetKind::Unknown) | None => None,
            Some(_) => {
                let message = format!(
                    "tool `{}` sends to `{}`, which is no node of `{}` here",
                    self.tool, name.node, self.graph.name.node
                );
                diags.push(
                    Diagnostic::new(&codes::TARGET_OUTSIDE_ENDS, message, self.place)
                        .label(name.span, "the send")
                        .help("name a node that declares `input`"),
                );
                None
            }
        };
        if let Some(worker) = worker {
            self.input(worker, diags);
        }
    }

    fn input(&self, worker: &Node, diags: &mut Diagnostics) {
        let (tool, to) = (self.tool, &worker.name.node);
        let params = &worker.input;
        if params.is_empty() && !self.sent.with.is_empty() {
            let sent = || self.sent.with.iter().map(|(name, _)| name.node.as_str());
            let fields: Vec<String> = sent().map(|name| format!("{name}: TYPE")).collect();
            let message = format!(
                "`{to}` is sent {} by tool `{tool}`, but declares no `input`",
                list(sent())
            );
            let found = Diagnostic::new(&codes::MISSING_PROPERTY, message, worker.name.span)
                .unknown("input", Home::Scope(None))
                .label(self.sent.worker.span, "the send")
                .label(self.place, "the tool is run here")
                .help(format!(
                    "write `input {{ {} }}` in `{to}`, or name another node in `ends`",
                    fields.join(", ")
                ));
            once(found, diags);
            return;
        }
        for (name, found) in &self.sent.with {
            let Some(param) = params.iter().find(|param| param.name.node == name.node) else {
                let known = || params.iter().map(|param| param.name.node.as_str());
                let help = match closest(&name.node, known()) {
                    Some(near) => format!("its nearest is `{near}`"),
                    None if params.is_empty() => format!("declare it in `{to}`: `input {{ .. }}`"),
                    None => format!("it takes {}", list(known())),
                };
                let message = format!(
                    "tool `{tool}` sends `{}`, which the input of `{to}` has not",
                    name.node
                );
                let found = Diagnostic::new(&codes::UNKNOWN_FIELD, message, name.span)
                    .label(self.place, "the tool is run here")
                    .help(help);
                once(found, diags);
                continue;
            };
            let types = &self.program.types;
            if !assignable(found, &param.ty.node, types) {
                let message = format!(
                    "tool `{tool}` sends `{}` as `{}`, but `{to}` takes `{}`",
                    name.node,
                    types.show(found),
                    types.show(&param.ty.node)
                );
                let found = Diagnostic::new(&codes::TYPE_MISMATCH, message, name.span)
                    .label(self.place, "the tool is run here")
                    .label(param.ty.span, "taken here")
                    .help(format!(
                        "send `{}` in the tool as `{}`",
                        name.node,
                        types.show(&param.ty.node)
                    ));
                once(found, diags);
            }
        }
        let given = |param: &&Param| {
            let mut with = self.sent.with.iter();
            with.any(|(name, _)| name.node == param.name.node)
        };
        let missing = params.iter().filter(|param| {
            param.default.is_none() && !param.ty.node.admits_null() && !given(param)
        });
        let missing: Vec<&str> = missing.map(|param| param.name.node.as_str()).collect();
        if !missing.is_empty()
            && self
                .sent
                .with
                .iter()
                .all(|(name, _)| known(params, &name.node))
        {
            let message = format!(
                "tool `{tool}` sends to `{to}` without its input {}",
                list(missing.iter().copied())
            );
            let fields: Vec<String> = missing.iter().map(|name| format!("{name}: ..")).collect();
            let found = Diagnostic::new(&codes::MISSING_FIELD, message, self.sent.worker.span)
                .label(self.place, "the tool is run here")
                .help(format!("send it: `with {{ {} }}`", fields.join(", ")));
            once(found, diags);
        }
    }
}

fn known(params: &[Param], name: &str) -> bool {
    params.iter().any(|param| param.name.node == name)
}

/// A tool that several nodes run is wrong once.
fn once(found: Diagnostic, diags: &mut Diagnostics) {
    let same = |known: &Diagnostic| known.code == found.code && known.span() == found.span();
    if !diags.iter().any(same) {
        diags.push(found);
    }
}
