//! The work of each kind of node: what it reads, and the names it gives to what follows.

use crate::ast::item::NamedArg;
use crate::base::AccessPath;
use crate::diag::{Diagnostic, codes};
use crate::expr::Type;
use crate::expr::infer::reads;
use crate::expr::ty::MESSAGE;
use crate::resolve::node::{Require, names};
use crate::resolve::program::{Ask, ModelCall, Node, Words, Work};

use super::super::cfg::build::called_bodies;
use super::args::Callee;
use super::constant::Decides;
use super::cx::Cx;
use super::node::Outcome;

fn messages() -> Type {
    Type::list(Type::Record(MESSAGE))
}

impl Cx<'_> {
    /// Types a node's own work and declares what it gives. Afterwards what its tools and subgraphs
    /// may have written is no longer known.
    pub fn work(&mut self, node: &Node, out: &mut Outcome) {
        self.fixed(node);
        match &node.work {
            Work::Llm(call) => {
                self.model_call(call);
                self.stream_as(call);
                self.given(call);
                self.ensures(node, call, false);
            }
            Work::Agent { call, until, .. } => {
                self.model_call(call);
                self.tools_write(node);
                self.tools_read(node);
                // Of each turn, also behind what tools have written in those before it.
                self.stream_as(call);
                self.agent_reply(node, call);
                self.declare("transcript", messages());
                if let Some(until) = until {
                    self.deciding(until, Decides::Until(&node.name.node));
                }
            }
            Work::Tools { messages: from, .. } => {
                if let Some(from) = from {
                    self.infer(from, Some(&messages()));
                }
                self.tools_write(node);
                self.tools_read(node);
                self.declare("results", messages());
            }
            Work::Call { tool, name, args } => {
                let tool = tool.and_then(|id| self.program.tools.get(id));
                let params = tool.map_or(&[][..], |tool| &tool.params);
                if tool.is_some() {
                    let callee = Callee {
                        what: format!("tool `{}`", name.node),
                        params,
                        span: name.span,
                        declared: tool.map_or(name.span, |tool| tool.name.span),
                    };
                    self.args(&callee, args);
                }
                self.tools_read(node);
                self.tools_write(node);
                let result = tool.map(|tool| tool.returns.as_ref().map(|ty| ty.node.clone()));
                self.declare(
                    "result",
                    // That there is none is reported at the tool.
                    result.flatten().unwrap_or(Type::Error),
                );
            }
            Work::Interrupt {
                ask,
                expect,
                permits,
                timeout,
            } => {
                match ask.as_deref() {
                    Some(Ask::Fields(args)) => self.free_args(args),
                    Some(Ask::Text(text)) => self.words(text),
                    None => {}
                }
                if let Some(timeout) = timeout {
                    self.jump(&timeout.to, &mut out.behind);
                }
                let expect = expect.as_ref().map(|ty| &ty.node);
                self.answered("answer", expect, (&node.lets, node.lets_within(), permits));
            }
            Work::Subgraph { .. } => self.subgraph(node),
            Work::Extern { reads, writes, .. } => {
                for read in reads {
                    self.note_field(read.node, read.span);
                }
                for write in writes {
                    let field = self.graph.and_then(|graph| graph.fields.get(write.node));
                    if let Some(field) = field {
                        self.disturb(write.node, field);
                        self.facts.write(write.node, field, false);
                    }
                }
            }
            Work::Update | Work::Branch => {}
        }
    }

    /// Types what a node's list fixes of the arguments of its tools.
    fn fixed(&mut self, node: &Node) {
        let Some(list) = node.tool_list() else { return };
        for used in &list.tools {
            let Some(tool) = self.program.tools.get(used.tool) else {
                continue;
            };
            let callee = Callee {
                what: format!("tool `{}`", tool.name.node),
                params: &tool.params,
                span: used.span,
                declared: tool.name.span,
            };
            self.some_args(&callee, &used.fixed);
            for arg in used
                .fixed
                .iter()
                .filter(|arg| !list.span.holds(arg.name.span))
            {
                self.fixed_by_toolset(arg);
            }
        }
    }

    /// Reports a value in a toolset that is neither a constant nor made of `context`: the nodes that list it have nothing else in common.
    fn fixed_by_toolset(&mut self, arg: &NamedArg) {
        let (read, context) = (reads(&arg.value, &self.scope), self.scope.slot("context"));
        if read.fields.is_empty() && read.slots.iter().all(|slot| Some(*slot) == context) {
            return;
        }
        let message = "a toolset fixes only constants and what `context` holds";
        let found = Diagnostic::new(&codes::BAD_VALUE, message, arg.value.span);
        let name = &arg.name.node;
        self.report(found.help(format!(
            "fix it where the toolset is listed: `tools [TOOLSET with {{ {name}: .. }}]`"
        )));
    }

    fn model_call(&mut self, call: &ModelCall) {
        for text in call.system.iter().chain(&call.prompt) {
            self.words(text);
        }
        if let Some(from) = &call.messages {
            self.infer(from, Some(&messages()));
        }
    }

    /// A text of the place, or the values that a named prompt is given; its text is checked by itself.
    pub(super) fn words(&mut self, words: &Words) {
        let Some(used) = &words.from else {
            return self.template(&words.text);
        };
        let prompt = used.prompt.map(|prompt| self.program.prompts.get(prompt));
        let Some(prompt) = prompt else {
            return self.free_args(&used.args);
        };
        if let Some(prompt) = prompt {
            let callee = Callee {
                what: format!("prompt `{}`", used.name.node),
                params: &prompt.params,
                span: used.name.span,
                declared: prompt.name.span,
            };
            self.args(&callee, &used.args);
        }
    }

    /// An agent that a tool, `until` or `max_turns` ends has no output; `ensure` is asked only where there is one.
    fn agent_reply(&mut self, node: &Node, call: &ModelCall) {
        self.given(call);
        self.ensures(node, call, true);
        if let Some(output) = &call.output {
            // What was asked of it is known where there is one.
            let may_lack = Type::nullable(output.node.clone());
            self.scope.declare("output", may_lack);
        }
    }

    /// What a reply gives.
    fn given(&mut self, call: &ModelCall) {
        self.declare("reply", Type::Record(MESSAGE));
        if let Some(output) = &call.output {
            self.declare("output", output.node.clone());
        }
    }

    /// Types what a reply must meet. What follows knows that it did, as far as it was asked of each.
    fn ensures(&mut self, node: &Node, call: &ModelCall, agent: bool) {
        let used = self.used.clone();
        let end = self.scope.names.len();
        let given = end - 1 - usize::from(call.output.is_some())..end;
        self.lets_within(node);
        for ensure in &call.ensures {
            self.deciding(&ensure.condition, Decides::Ensure);
            self.about_the_reply(node, ensure);
            let before = self.facts.clone();
            if let Some(message) = &ensure.message {
                self.assume(&ensure.condition, false);
                self.infer(message, Some(&Type::String));
                self.facts = before.clone();
            }
            if node.is_asked_of_all(call, &ensure.condition) {
                self.assume(&ensure.condition, true);
            }
            // That there is an output at all is more than was asked.
            if agent && self.facts.known.holds(&AccessPath::name("output")) {
                self.facts = before;
            }
        }
        // To ask something of a reply is no use of it.
        self.used
            .retain(|slot| !given.contains(&(*slot as usize)) || used.contains(slot));
    }

    /// Where nothing of the reply is read, another reply changes nothing.
    fn about_the_reply(&mut self, node: &Node, ensure: &Require) {
        let lets = node.lets_within().iter().map(|bound| bound.name.as_str());
        if ["reply", "output"]
            .into_iter()
            .chain(lets)
            .any(|name| names(&ensure.condition, name))
        {
            return;
        }
        let found = Diagnostic::new(
            &codes::CONSTANT_CONDITION,
            "this `ensure` reads nothing of the reply, so no other reply can meet it",
            ensure.condition.span,
        );
        self.report(found.help(
            "read `output` or `reply`, or write `require`, which is asked ahead of the call",
        ));
    }

    /// What the bodies of a node's tools read. Which of them a model calls first nobody knows.
    fn tools_read(&mut self, node: &Node) {
        let Some(graph) = self.graph else { return };
        for (span, body) in called_bodies(self.program, node) {
            for read in &body.reads {
                let Some(id) = graph.field(&read.name.node) else {
                    continue;
                };
                self.note_field(id, span);
            }
        }
    }

    fn tools_write(&mut self, node: &Node) {
        let Some(graph) = self.graph else { return };
        for (_, body) in called_bodies(self.program, node) {
            for name in body.written() {
                let id = graph.field(&name.node);
                if let Some((id, field)) = id.and_then(|id| Some((id, graph.fields.get(id)?))) {
                    self.disturb(id, field);
                    // What a `call` writes it writes whenever it does not fail.
                    if matches!(node.work, Work::Call { .. }) {
                        self.facts.has_value(id);
                    }
                }
            }
        }
    }
}
