//! Secrets: what is marked `@secret` must not be shown to a model, a person, or whoever reads events and results.
//!
//! Here is what shows a value; [`leak`] says it, and where: at the place that shows it, or where the secret is written to a
//! field that is there to be shown. [`handed`] tells fields that keep a secret for a tool.

mod handed;
mod leak;

use std::rc::Rc;

use crate::ast::Name;
use crate::ast::item::NamedArg;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::{GraphId, NodeId, ToolId};
use crate::resolve::node::Require;
use crate::resolve::program::{
    Ask, Emit, Graph, Jump, ModelCall, Node, Permit, Program, TargetKind, Work,
};

use super::super::cfg::MhpCache;
use super::origin::{
    Env, Inside, Leaf, Path, Search, Wanted, env, leaves, prompt_leaves, text_leaves,
};
use leak::Leaks;

/// Reports places where a secret is shown.
pub fn secrets<'a>(program: &'a Program, mhp_cache: &Rc<MhpCache<'a>>, diags: &mut Diagnostics) {
    if !super::marked(program, |marks| marks.secret.is_some()) {
        return;
    }
    let wanted = Wanted {
        secret: true,
        ..Wanted::default()
    };
    let mut rule = Rule {
        search: Search::new(program, mhp_cache, wanted),
        program,
        leaks: Leaks::default(),
        diags,
    };
    for (id, graph) in program.graphs.entries() {
        for (at, node) in graph.nodes.entries() {
            rule.node((id, at), node);
            rule.bodies((id, at), node);
        }
        for (by, jump) in graph.jumps() {
            let own = by.node().and_then(|node| graph.nodes.get(node));
            let lets = own.map_or_else(Env::new, |node| env(&node.lets));
            rule.jump(Inside::jump(id, by), jump, &lets);
        }
    }
    for id in super::roots(program) {
        if let Some(graph) = program.graphs.get(id) {
            rule.results(id, graph);
        }
    }
    let Rule { leaks, diags, .. } = rule;
    leaks.report(program, diags);
}

struct Rule<'a, 'd> {
    search: Search<'a>,
    program: &'a Program,
    leaks: Leaks,
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
                    self.tools((id, at), node);
                }
            }
            Work::Interrupt { ask, permits, .. } => {
                if let Some(ask) = ask {
                    self.asked(before, ask, &node.name, &lets);
                }
                self.pinned(before, permits, &lets);
            }
            _ => {}
        }
        for used in node.called_tools() {
            self.approved(before, (used.node, node.given(used.node)), &lets);
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
            self.pinned(inside, &stop.permits, &lets);
        }
        self.emits(Inside::Work(id, at), node.stream_as().into_iter(), &lets);
        self.emits(Inside::After(id, at), node.emits.iter(), &lets);
        self.requires(before, &node.requires, &lets);
    }

    /// What tools with a body show where a node runs them.
    fn bodies(&mut self, (id, at): (GraphId, NodeId), node: &Node) {
        if matches!(node.work, Work::Llm(_)) {
            return;
        }
        for used in node.tools() {
            let tool = self.program.tools.get(used.node);
            let Some(body) = tool.and_then(|tool| tool.body.as_ref()) else {
                continue;
            };
            let lets = env(&body.lets);
            let inside = Inside::Body(id, at, used.node);
            self.requires(inside, &body.requires, &lets);
            self.emits(inside, body.emits.iter(), &lets);
            for jump in body.goto.iter().flat_map(|route| route.jumps()) {
                self.jump(inside, jump, &lets);
            }
        }
    }

    fn jump(&mut self, inside: Inside, jump: &Jump, lets: &Env) {
        self.emits(inside, jump.emits.iter(), lets);
        for target in &jump.to {
            if let TargetKind::Fail(Some(message)) = &target.kind {
                let read = leaves(message, lets);
                self.shown(inside, &read, "in an error's message");
            }
        }
    }

    fn requires(&mut self, inside: Inside, requires: &[Require], lets: &Env) {
        for message in requires.iter().filter_map(|r| r.message.as_ref()) {
            self.shown(inside, &leaves(message, lets), "in an error's message");
        }
    }

    fn asked(&mut self, inside: Inside, ask: &Ask, name: &Name, lets: &Env) {
        let read = match ask {
            Ask::Fields(fields) => values(fields, lets),
            Ask::Text(text) => text_leaves(text, lets),
        };
        let to = format!("to a person at `{}`", name.node);
        self.shown(inside, &read, &to);
    }

    /// What a permission pins is shown with the question and kept with the thread.
    fn pinned(&mut self, inside: Inside, permits: &[Permit], lets: &Env) {
        for permit in permits {
            let args = permit.args.as_deref().unwrap_or_default();
            let to = format!("in `permit {}`", permit.name.node);
            self.shown(inside, &values(args, lets), &to);
        }
    }

    /// Who is asked before each call of a tool sees its arguments.
    fn approved(&mut self, inside: Inside, (tool, args): (ToolId, &[NamedArg]), lets: &Env) {
        let tool = self.program.tools.get(tool);
        let Some(tool) = tool.filter(|tool| tool.asks()) else {
            return;
        };
        let to = format!("to the person who approves tool `{}`", tool.name.node);
        self.shown(inside, &values(args, lets), &to);
    }

    fn model(&mut self, (id, at): (GraphId, NodeId), node: &Node, call: &ModelCall) {
        let lets = env(&node.lets);
        let mut read = prompt_leaves(call, &lets);
        // A model is told why its reply is refused.
        let messages = call.ensures.iter().filter_map(|e| e.message.as_ref());
        read.extend(messages.flat_map(|message| leaves(message, &lets)));
        let to = format!("to the model of `{}`", node.name.node);
        self.shown(Inside::Before(id, at), &read, &to);
    }

    /// An agent reads what its tools give back.
    fn tools(&mut self, at: (GraphId, NodeId), node: &Node) {
        for used in node.tools() {
            let Some(tool) = self.program.tools.get(used.node) else {
                continue;
            };
            if let Some((span, source)) = self.search.result_source(at, used.node) {
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

    fn emits<'e>(&mut self, inside: Inside, emits: impl Iterator<Item = &'e Emit>, lets: &Env) {
        for emit in emits {
            let read = values(&emit.fields, lets);
            self.shown(inside, &read, &format!("in event `{}`", emit.name.node));
        }
    }

    /// What the flow itself gives back.
    fn results(&mut self, id: GraphId, graph: &Graph) {
        for field in graph.fields.iter().filter(|field| field.mode.is_out()) {
            let name = &field.name.node;
            let path = Path(vec!["state".to_owned(), name.clone()]);
            let read = Leaf::new(path, field.name.span);
            if let Some(trail) = self.search.source(Inside::End(id), &[read]) {
                let whole = format!(
                    "a secret is shown to whoever runs the flow: `{name}` is part of its result"
                );
                let to = "to whoever runs the flow";
                self.leaks.add(trail, to.to_owned(), whole);
            }
        }
    }

    fn shown(&mut self, inside: Inside, read: &[Leaf], to: &str) {
        for leaf in read {
            if let Some(trail) = self.search.source(inside, std::slice::from_ref(leaf)) {
                let whole = format!("a secret is shown {to}: `{}`", leaf.path.shown());
                self.leaks.add(trail, to.to_owned(), whole);
            }
        }
    }
}

fn values(fields: &[NamedArg], lets: &Env) -> Vec<Leaf> {
    let all = fields.iter().flat_map(|field| leaves(&field.value, lets));
    all.collect()
}
