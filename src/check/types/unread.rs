//! What a node is given and does not read: `let` names, and what its work has come to.

use crate::ast::Name;
use crate::base::Spanned;
use crate::diag::{Diagnostic, Level, codes};
use crate::expr::Type;
use crate::ir::flow::ToolEffect;
use crate::resolve::program::{Field, Graph, Node, Target, TargetKind, Work};

use super::super::cfg::build::called_bodies;
use super::cx::Cx;

impl Cx<'_> {
    /// Reports them, at the end of a node. `names` is how many names were in scope before those of the node.
    pub(super) fn unread(&mut self, node: &Node, names: usize) {
        if self.graph.is_none_or(|graph| graph.broken) {
            return;
        }
        let own = self.scope.names.iter().enumerate().skip(names);
        let read = own.filter(|(at, _)| self.used.contains(&(*at as u32)));
        let read: Vec<String> = read.map(|(_, (name, _))| name.to_string()).collect();
        let is_read = |name: &str| read.iter().any(|read| read == name);
        for binding in &node.lets {
            let name = &binding.name.node;
            if !is_read(name) && !name.starts_with('_') {
                let message = format!("nothing reads `{name}`");
                self.report(
                    Diagnostic::new(&codes::UNUSED_LET, message, binding.name.span)
                        .help("take the `let` out, or use it"),
                );
            }
        }
        if let Some(found) = self.unread_work(node, &is_read) {
            self.report(found);
        }
        for (answer, asks, expect) in answers(node) {
            if !is_read(answer) && expect.node != Type::Error {
                self.report(unread_answer(answer, asks, expect));
            }
        }
    }

    fn unread_work(&self, node: &Node, is_read: &dyn Fn(&str) -> bool) -> Option<Diagnostic> {
        let name = &node.name.node;
        let place = node.name.span;
        let unread = |names: &[&str]| !names.iter().any(|name| is_read(name));
        let spent = |what: &str, take: &str| {
            let message = format!("nothing reads {what} of `{name}`");
            Diagnostic::new(&codes::UNREAD_OUTPUT, message, place).help(format!(
                "keep it: `set {{ .. : {take} }}`, or take the node out"
            ))
        };
        match &node.work {
            Work::Call {
                tool: Some(tool), ..
            } if is_read("result") => {
                let tool = self.program.tools.get(*tool)?;
                let name = &tool.name.node;
                let message = format!("tool `{name}` gives nothing back, and its result is read");
                tool.returns.is_none().then(|| {
                    Diagnostic::new(&codes::NULL_NOT_HANDLED, message, tool.name.span)
                        .label(place, "read here")
                        .help(format!("say what it gives back: `tool {name}(..) -> TYPE`"))
                })
            }
            Work::Llm(call) if unread(&["reply", "output"]) => Some(match call.output {
                Some(_) => spent("the output", "output"),
                None => spent("the reply", "reply.text"),
            }),
            // Tools of an agent may be all that it is for.
            Work::Agent { call, .. }
                if call.tools.is_none() && unread(&["reply", "output", "transcript"]) =>
            {
                Some(match call.output {
                    Some(_) => spent("the output", "output"),
                    None => spent("the reply", "reply.text"),
                })
            }
            Work::Call { tool, .. } if unread(&["result"]) => {
                let tool = tool.and_then(|id| self.program.tools.get(id))?;
                let reads = tool.effect == ToolEffect::Read;
                let silent = called_bodies(self.program, node).iter().all(|(_, body)| {
                    body.set.is_empty() && body.emits.is_empty() && body.goto.is_none()
                });
                (reads && silent && tool.returns.is_some()).then(|| {
                    let message = format!("nothing reads the result of `{}` in `{name}`", tool.name.node);
                    Diagnostic::new(&codes::UNREAD_RESULT, message, place)
                        .help("keep it: `set { .. : result }`; a tool that does more than read says so: `@effect(write)`")
                })
            }
            Work::Subgraph {
                graph: Some(called),
                into,
                ..
            } if into.is_empty() && unread(&["result"]) => {
                let called = self.program.graphs.get(*called)?;
                let mut given = called.fields.iter().filter(|field| field.mode.is_out());
                let first = given.clone().next()?;
                let taken = |field: &Field| self.graph?.field(&field.name.node);
                let lost = given.all(|field| taken(field).is_none());
                (lost && self.only_computes(called)).then(|| {
                    let (of, out) = (&called.name.node, &first.name.node);
                    let message = format!("nothing takes what `{of}` gives back to `{name}`");
                    Diagnostic::new(&codes::UNREAD_OUTPUT, message, place)
                        .label(first.name.span, "given back")
                        .help(format!(
                            "take it: `into {{ FIELD: {out} }}`, where FIELD is one of the state"
                        ))
                })
            }
            _ => None,
        }
    }
}

impl Cx<'_> {
    /// Whether all that a graph does is to give something back: it changes and sends nothing, asks nobody and can't refuse.
    fn only_computes(&self, graph: &Graph) -> bool {
        let reads = |node: &Node| match &node.work {
            Work::Llm(call) => call.ensures.is_empty() && call.stream_as.is_none(),
            Work::Update | Work::Branch => true,
            Work::Call { tool, .. } => {
                let tool = tool.and_then(|id| self.program.tools.get(id));
                tool.is_some_and(|tool| tool.effect == ToolEffect::Read && tool.body.is_none())
            }
            _ => false,
        };
        let within = |target: &Target| {
            use TargetKind::{Each, End, Node};
            matches!(target.kind, Node(_) | End | Each(_))
        };
        let asks = |node: &Node| !node.stops.is_empty() || !node.requires.is_empty();
        let mut nodes = graph.nodes.iter();
        nodes.all(|node| reads(node) && !asks(node) && node.emits.is_empty())
            && graph
                .jumps()
                .all(|(_, jump)| jump.emits.is_empty() && jump.targets().all(within))
    }
}

/// The questions of a node: the name of each answer, who asks, and the declared type.
fn answers(node: &Node) -> impl Iterator<Item = (&str, &Name, &Spanned<Type>)> {
    let own = match &node.work {
        Work::Interrupt { expect, .. } => Some(("answer", &node.name, expect)),
        _ => None,
    };
    let stops = node.stops.iter();
    let stops = stops.map(|stop| (&*stop.name.node, &stop.name, &stop.expect));
    let all = own.into_iter().chain(stops);
    all.filter_map(|(answer, asks, expect)| Some((answer, asks, expect.as_ref()?)))
}

fn unread_answer(answer: &str, asks: &Name, expect: &Spanned<Type>) -> Diagnostic {
    let message = format!(
        "nothing reads the answer to `{}`: the run goes on in the same way whatever it is",
        asks.node
    );
    let mut found = Diagnostic::new(&codes::ANSWER_IGNORED, message, expect.span);
    found.level = Level::Warning;
    found.label(asks.span, "asked here").help(format!(
        "let it decide: `goto {{ when {answer} == .. -> NODE  else -> end }}`, or keep it in a `set`"
    ))
}
