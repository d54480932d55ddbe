//! Secrets: what is marked `@secret` must not be shown to a model, a person, or whoever reads events and results.

use std::collections::BTreeSet;

use crate::ast::expr::Expr;
use crate::ast::item::NamedArg;
use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::{GraphId, NodeId, ToolId};
use crate::resolve::node::Require;
use crate::resolve::program::{
    Ask, Emit, Graph, Jump, ModelCall, Node, Permit, Program, TargetKind, Words, Work,
};

use super::labels::places::Place;
use super::labels::{Carrier, Label, Labels, Reader, Trail, Value};

/// Reports places where a secret is shown.
pub fn secrets(program: &Program, labels: &Labels<'_>, diags: &mut Diagnostics) {
    for (id, graph) in program.graphs.entries() {
        for (at, node) in graph.nodes.entries() {
            let mut rule = Rule::new(labels, labels.reader(id, Some(at)), diags);
            rule.node(program, (id, at), node);
            bodies((program, labels), (id, at), node, diags);
        }
        let mut rule = Rule::new(labels, labels.reader(id, None), diags);
        for (by, jump) in graph.jumps() {
            if by.node().is_none() {
                rule.jump(jump);
            }
        }
    }
    for id in super::roots(program) {
        if let Some(graph) = program.graphs.get(id) {
            Rule::new(labels, labels.reader(id, None), diags).results(id, graph);
        }
    }
}

/// What tools with a body show where a node runs them.
fn bodies(
    (program, labels): (&Program, &Labels<'_>),
    at: (GraphId, NodeId),
    node: &Node,
    diags: &mut Diagnostics,
) {
    for used in node.called_tools() {
        let tool = program.tools.get(used.node);
        let Some(body) = tool.and_then(|tool| tool.body.as_ref()) else {
            continue;
        };
        let Some(reader) = labels.body_reader(at, used.node) else {
            continue;
        };
        let mut rule = Rule::new(labels, reader, diags);
        rule.requires(&body.requires);
        rule.emits(&body.emits);
        for jump in body.goto.iter().flat_map(|route| route.jumps()) {
            rule.jump(jump);
        }
    }
}

struct Rule<'r, 'a, 'd> {
    labels: &'r Labels<'a>,
    reader: Reader<'r, 'a>,
    diags: &'d mut Diagnostics,
}

impl<'r, 'a, 'd> Rule<'r, 'a, 'd> {
    fn new(labels: &'r Labels<'a>, reader: Reader<'r, 'a>, diags: &'d mut Diagnostics) -> Self {
        Self {
            labels,
            reader,
            diags,
        }
    }

    fn secret(&self, value: &Value) -> Option<Trail> {
        self.labels.trail(value, &[Label::Secret])
    }

    fn node(&mut self, program: &Program, at: (GraphId, NodeId), node: &Node) {
        match &node.work {
            Work::Llm(call) => self.model(node, call),
            Work::Agent { call, .. } => {
                self.model(node, call);
                self.tools(program, at, node);
            }
            Work::Interrupt { ask, permits, .. } => {
                if let Some(ask) = ask {
                    self.asked(ask, &node.name.node);
                }
                self.pinned(permits);
            }
            _ => {}
        }
        for used in node.called_tools() {
            self.approved(program, used.node, node.given(used.node));
        }
        if let Some(key) = node.cache.as_ref().and_then(|cache| cache.key.as_ref()) {
            self.shown([key], "in the key of a cache");
        }
        for stop in &node.stops {
            if let Some(ask) = &stop.ask {
                self.asked(ask, &stop.name.node);
            }
            self.pinned(&stop.permits);
        }
        self.emits(node.stream_as());
        self.emits(&node.emits);
        self.requires(&node.requires);
        for (_, jump) in node.jumps() {
            self.jump(jump);
        }
    }

    fn jump(&mut self, jump: &Jump) {
        self.emits(&jump.emits);
        for target in &jump.to {
            if let TargetKind::Fail(Some(message)) = &target.kind {
                self.shown([&**message], "in an error's message");
            }
        }
    }

    fn requires(&mut self, requires: &[Require]) {
        let messages = requires
            .iter()
            .filter_map(|require| require.message.as_ref());
        self.shown(messages, "in an error's message");
    }

    fn asked(&mut self, ask: &Ask, name: &str) {
        let to = format!("to a person at `{name}`");
        match ask {
            Ask::Fields(fields) => self.values(fields, &to),
            Ask::Text(words) => self.text(words, &to),
        }
    }

    /// What a permission pins is shown with the question and kept with the thread.
    fn pinned(&mut self, permits: &[Permit]) {
        for permit in permits {
            let args = permit.args.as_deref().unwrap_or_default();
            let to = format!("in `permit {}`", permit.name.node);
            self.values(args, &to);
        }
    }

    /// Who is asked before each call of a tool sees its arguments.
    fn approved(&mut self, program: &Program, tool: ToolId, args: &[NamedArg]) {
        let tool = program.tools.get(tool);
        if let Some(tool) = tool.filter(|tool| tool.asks()) {
            let to = format!("to the person who approves tool `{}`", tool.name.node);
            self.values(args, &to);
        }
    }

    fn model(&mut self, node: &Node, call: &ModelCall) {
        let to = format!("to the model of `{}`", node.name.node);
        for words in call.system.iter().chain(&call.prompt) {
            self.text(words, &to);
        }
        self.shown(&call.messages, &to);
        // A model is told why its reply is refused.
        let messages = call
            .ensures
            .iter()
            .filter_map(|ensure| ensure.message.as_ref());
        self.shown(messages, &to);
    }

    /// An agent reads what its tools give back.
    fn tools(&mut self, program: &Program, at: (GraphId, NodeId), node: &Node) {
        for used in node.tools() {
            let result = self.labels.result(at, used.node);
            let tool = program.tools.get(used.node);
            if let (Some(trail), Some(tool)) = (self.secret(&result), tool) {
                let message = format!(
                    "the model of `{}` is shown what tool `{}` gives back, which is secret",
                    node.name.node, tool.name.node
                );
                let (span, source) = trail.source();
                self.diags.push(
                    Diagnostic::new(&codes::SECRET_SHOWN, message, used.span)
                        .label(span, source)
                        .help("call the tool in a `call` node and pass its result on to other tools only"),
                );
            }
        }
    }

    fn emits<'e>(&mut self, emits: impl IntoIterator<Item = &'e Emit>) {
        for emit in emits {
            self.values(&emit.fields, &format!("in event `{}`", emit.name.node));
        }
    }

    /// What the flow itself gives back.
    fn results(&mut self, id: GraphId, graph: &Graph) {
        for (at, field) in graph.fields.entries() {
            let value = self.reader.place(Place::Field(id, at));
            if let Some(trail) = self.secret(&value).filter(|_| field.mode.is_out()) {
                let message = format!(
                    "a secret is shown to whoever runs the flow: `{}` is part of its result",
                    field.name.node
                );
                self.report(message, field.name.span, &trail);
            }
        }
    }

    fn values(&mut self, fields: &[NamedArg], to: &str) {
        self.shown(fields.iter().map(|field| &field.value), to);
    }

    fn shown<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr>, to: &str) {
        let labels = self.labels;
        let is_found = &mut |value: &_| labels.trail(value, &[Label::Secret]).is_some();
        let mut names = BTreeSet::new();
        for expr in exprs {
            for carrier in self.reader.carriers(expr, is_found) {
                if carrier.name.is_none() || names.insert(carrier.name.clone()) {
                    self.carried(&carrier, to);
                }
            }
        }
    }

    fn text(&mut self, words: &Words, to: &str) {
        let labels = self.labels;
        let is_found = &mut |value: &_| labels.trail(value, &[Label::Secret]).is_some();
        for carrier in self.reader.text_carriers(words, is_found) {
            self.carried(&carrier, to);
        }
    }

    fn carried(&mut self, carrier: &Carrier, to: &str) {
        if let Some(trail) = self.secret(&carrier.value) {
            let message = match &carrier.name {
                Some(name) => format!("a secret is shown {to}: `{name}`"),
                None => format!("a secret is shown {to}"),
            };
            self.report(message, carrier.span, &trail);
        }
    }

    fn report(&mut self, message: String, span: Span, trail: &Trail) {
        let found = Diagnostic::new(&codes::SECRET_SHOWN, message, span);
        self.diags.push(
            trail
                .label(found)
                .help("pass a secret to tools only, or show a part of the value that is none"),
        );
    }
}
