//! Secrets: what is marked `@secret` must not be shown to a model, a person, or whoever reads events and results.

use crate::ast::Name;
use crate::ast::item::NamedArg;
use crate::base::{IdVec, Span};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::{GraphId, NodeId};
use crate::resolve::program::{Ask, Emit, Graph, ModelCall, Node, Program, TargetKind, Work};

use super::super::flow::Flow;
use super::origin::{Inside, Leaf, Path, Search, Trail, Wanted, env, jumps, leaves, text_leaves};

/// Reports places where a secret is shown.
pub fn secrets(program: &Program, flows: &IdVec<GraphId, Flow>, diags: &mut Diagnostics) {
    if !super::marked(program, |marks| marks.secret.is_some()) {
        return;
    }
    let wanted = Wanted {
        secret: true,
        ..Wanted::default()
    };
    let mut rule = Rule {
        search: Search::new(program, flows, wanted),
        program,
        diags,
    };
    for (id, graph) in program.graphs.entries() {
        for (at, node) in graph.nodes.entries() {
            rule.node((id, at), node);
        }
    }
    for id in super::roots(program) {
        if let Some(graph) = program.graphs.get(id) {
            rule.results(id, graph);
        }
    }
}

struct Rule<'a, 'd> {
    search: Search<'a>,
    program: &'a Program,
    diags: &'d mut Diagnostics,
}

impl Rule<'_, '_> {
    fn node(&mut self, (id, at): (GraphId, NodeId), node: &Node) {
        let lets = env(&node.lets);
        let before = Inside::Before(id, at);
        match &node.work {
            Work::Llm(call) | Work::Agent { call, .. } => {
                self.model((id, at), node, call);
                if matches!(node.work, Work::Agent { .. }) {
                    self.tools(node);
                }
            }
            Work::Interrupt { ask: Some(ask), .. } => self.asked(before, ask, &node.name, &lets),
            _ => {}
        }
        if let Some(key) = node.cache.as_ref().and_then(|cache| cache.key.as_ref()) {
            self.shown(before, &leaves(key, &lets), "in the key of a cache");
        }
        for stop in &node.stops {
            let inside = match stop.after {
                true => Inside::After(id, at),
                false => before,
            };
            if let Some(ask) = &stop.ask {
                self.asked(inside, ask, &stop.name, &lets);
            }
        }
        self.emits(Inside::After(id, at), node.emits.iter(), &lets);
        for jump in jumps(node) {
            self.emits(Inside::After(id, at), jump.emits.iter(), &lets);
            for target in &jump.to {
                if let TargetKind::Fail(Some(message)) = &target.kind {
                    let read = leaves(message, &lets);
                    self.shown(Inside::After(id, at), &read, "in an error's message");
                }
            }
        }
        for message in node.requires.iter().filter_map(|r| r.message.as_ref()) {
            self.shown(before, &leaves(message, &lets), "in an error's message");
        }
    }

    fn asked(&mut self, inside: Inside, ask: &Ask, name: &Name, lets: &super::origin::Env) {
        let read = match ask {
            Ask::Fields(fields) => values(fields, lets),
            Ask::Text(text) => text_leaves(text, lets),
        };
        let to = format!("to a person at `{}`", name.node);
        self.shown(inside, &read, &to);
    }

    fn model(&mut self, (id, at): (GraphId, NodeId), node: &Node, call: &ModelCall) {
        let lets = env(&node.lets);
        let before = Inside::Before(id, at);
        let name = &node.name.node;
        if let Some(text) = &call.system {
            let read = text_leaves(text, &lets);
            self.shown(before, &read, &format!("to the model of `{name}`"));
        }
        if let Some(text) = &call.prompt {
            let read = text_leaves(text, &lets);
            self.shown(before, &read, &format!("to the model of `{name}`"));
        }
        if let Some(messages) = &call.messages {
            let read = leaves(messages, &lets);
            self.shown(before, &read, &format!("to the model of `{name}`"));
        }
    }

    /// An agent reads what its tools give back.
    fn tools(&mut self, node: &Node) {
        for used in node.tools() {
            let Some(tool) = self.program.tools.get(used.node) else {
                continue;
            };
            if let Some((span, source)) = self.search.result_mark(tool) {
                let message = format!(
                    "the model of `{}` is shown what tool `{}` gives back, which is secret",
                    node.name.node, tool.name.node
                );
                self.diags.push(
                    Diagnostic::new(&codes::SECRET_SHOWN, message, used.span)
                        .label(span, source)
                        .help("call the tool in a `call` node and pass its result on to other tools only"),
                );
            }
        }
    }

    fn emits<'e>(
        &mut self,
        inside: Inside,
        emits: impl Iterator<Item = &'e Emit>,
        lets: &super::origin::Env,
    ) {
        for emit in emits {
            let read = values(&emit.fields, lets);
            self.shown(inside, &read, &format!("in event `{}`", emit.name.node));
        }
    }

    /// What the flow itself gives back.
    fn results(&mut self, id: GraphId, graph: &Graph) {
        for field in graph.fields.iter().filter(|field| field.mode.is_out()) {
            let name = &field.name.node;
            let read = Leaf {
                path: Path(vec!["state".to_owned(), name.clone()]),
                span: field.name.span,
            };
            if let Some(trail) = self.search.source(Inside::End(id), &[read]) {
                let message = format!(
                    "a secret is shown to whoever runs the flow: `{name}` is part of its result"
                );
                self.report(message, field.name.span, &trail);
            }
        }
    }

    fn shown(&mut self, inside: Inside, read: &[Leaf], to: &str) {
        for leaf in read {
            if let Some(trail) = self.search.source(inside, std::slice::from_ref(leaf)) {
                let path = leaf.path.0.join(".").replace(".*", "[..]");
                let message = format!("a secret is shown {to}: `{path}`");
                self.report(message, leaf.span, &trail);
            }
        }
    }

    fn report(&mut self, message: String, span: Span, trail: &Trail) {
        let found = Diagnostic::new(&codes::SECRET_SHOWN, message, span)
            .label(trail.source.0, trail.source.1.clone());
        let found = trail.through.iter().fold(found, |found, (span, text)| {
            found.label(*span, text.clone())
        });
        self.diags.push(
            found.help("pass a secret to tools only, or show a part of the value that is none"),
        );
    }
}

fn values(fields: &[NamedArg], lets: &super::origin::Env) -> Vec<Leaf> {
    let all = fields.iter().flat_map(|field| leaves(&field.value, lets));
    all.collect()
}
