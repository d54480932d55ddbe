//! What the work of a node gives to its expressions: replies, results, answers.

use std::collections::BTreeMap;

use crate::expr::Type;
use crate::expr::ty::MESSAGE;
use crate::ir::flow::{MEMORY, ToolEffect};
use crate::ir::node::CHUNK;
use crate::ir::{FieldId, GraphId, NodeId, ToolId};
use crate::resolve::exprs::{Recipient, sites_of_node, sites_of_tool};
use crate::resolve::program::{ModelCall, Node, Param, TargetKind, Tool, ToolBody, Work};

use super::super::super::types::write::takes;
use super::label::{Label, LabelSet, Origin, Trail};
use super::places::Place;
use super::projection::fitted;
use super::reader::{Names, Reader};
use super::task::{Inner, Task, sent};
use super::value::Value;

impl<'a> Task<'_, 'a> {
    /// Names what the work gives. An error of it may say what it was given and gave back.
    pub(super) fn work(&mut self, at: NodeId, node: &'a Node) {
        match &node.work {
            Work::Llm(call) => {
                let reply = self.model_reply(node);
                self.reply(call, &reply);
            }
            Work::Agent { call, .. } => {
                let mut reply = self.model_reply(node);
                // What one tool gives back, the model may hand to another.
                let results = Place::Results(self.id, at);
                reply.add(&self.reader.place(results).flat());
                let given = self.results(node, &reply).without(&[Label::Secret]);
                self.summary.writes.push((results, Value::of(given)));
                self.reply(call, &reply);
                let message = self.external(&Type::Record(MESSAGE), reply);
                self.reader.declare("transcript", Value::list(message));
            }
            Work::Tools { messages, .. } => {
                let chosen = self.reader.flat(messages.as_deref());
                let results = self.results(node, &chosen);
                let message = self.external(&Type::Record(MESSAGE), results.clone());
                self.reader.declare("results", Value::list(message));
                self.failures.add(&results);
            }
            Work::Call { tool, args, .. } => {
                let given = self.reader.flat(args.iter().map(|arg| &arg.value));
                let result = tool.map(|tool| self.result(node, tool, None));
                let result = result.unwrap_or_default();
                self.failures.add(&given);
                self.failures.add(&result.flat());
                self.reader.declare("result", result);
            }
            Work::Interrupt { expect, .. } => {
                let answer = expect.as_ref();
                let answer = answer.map(|ty| self.external(&ty.node, LabelSet::default()));
                self.reader.declare("answer", answer.unwrap_or_default());
            }
            Work::Subgraph {
                graph: Some(child), ..
            } => self.called(node, *child),
            Work::Extern { writes, .. } => {
                for field in writes {
                    if let Some(declared) = self.graph.fields.get(field.node) {
                        let ty = takes(self.program, declared, false);
                        let value = self.external(&ty, LabelSet::default());
                        self.write(field.node, false, value);
                    }
                }
            }
            Work::Update | Work::Branch | Work::Subgraph { graph: None, .. } => {}
        }
    }

    /// What a model may write: it has what it read. That it was shown a secret is an error by itself, so its words are not
    /// held to be one.
    fn model_reply(&mut self, node: &Node) -> LabelSet {
        let text = format!("a model writes this in `{}`", node.name.node);
        let mut reply = LabelSet::one(Label::Model, Trail::begin(node.name.span, &text));
        let read = Value::of(read_by_model(&mut self.reader, node));
        let text = format!("read by the model of `{}`", node.name.node);
        let read = read.without(&[Label::Secret, Label::Model]);
        reply.add(&read.noted(node.name.span, &text).flat());
        reply
    }

    fn reply(&mut self, call: &ModelCall, labels: &LabelSet) {
        let reply = self.external(&Type::Record(MESSAGE), labels.clone());
        self.reader.declare("reply", reply);
        let output = call.output.as_ref();
        let output = output.map(|ty| self.external(&ty.node, labels.clone()));
        self.reader.declare("output", output.unwrap_or_default());
        self.reader.declare(CHUNK, Value::of(labels.clone()));
        self.failures.add(labels);
    }

    /// What a model reads of all tools of the node, for which it has chosen arguments.
    fn results(&mut self, node: &'a Node, chosen: &LabelSet) -> LabelSet {
        let mut found = LabelSet::default();
        for used in node.tools() {
            found.add(&self.result(node, used.node, Some(chosen)).flat());
        }
        found.add(&self.failures);
        found
    }

    /// What a tool gives back.
    fn result(&mut self, node: &'a Node, id: ToolId, chosen: Option<&LabelSet>) -> Value {
        let Some(tool) = self.program.tools.get(id) else {
            return Value::default();
        };
        let name = format!("what tool `{}` gives back", tool.name.node);
        let mut own = LabelSet::marked(&tool.marks, &name);
        if tool.module.as_deref() == Some(MEMORY) {
            match tool.effect {
                ToolEffect::Read => own.add(&self.reader.place(Place::Memory).flat()),
                _ => {
                    let params = tool.params.iter();
                    let values = params.map(|param| self.argument(node, id, param, chosen));
                    let stored = Value::any(&values.collect::<Vec<_>>());
                    let stored = stored.noted(node.name.span, "stored in long-term memory here");
                    self.summary.writes.push((Place::Memory, stored));
                }
            }
        }
        let result = match (&tool.returns, &tool.body) {
            (Some(ty), None) => self.external(&ty.node, own),
            (ty, Some(body)) => {
                let value = self.body(node, (id, tool), body, chosen);
                let value = value.or(&Value::of(own));
                match ty {
                    Some(ty) => fitted(self.program, &ty.node, &value),
                    None => value,
                }
            }
            (None, None) => Value::of(own),
        };
        let known = self.summary.results.entry(id).or_default();
        known.absorb(&result);
        result
    }

    /// What a tool is given for a parameter: by the flow, or by the model that has chosen it.
    fn argument(
        &mut self,
        node: &Node,
        id: ToolId,
        param: &Param,
        chosen: Option<&LabelSet>,
    ) -> Value {
        let mut given = node.given(id).iter();
        let given = given.find(|arg| arg.name.node == param.name.node);
        let value = match (given, chosen) {
            (Some(arg), _) => self.value(&arg.value),
            (None, chosen) => Value::of(chosen.cloned().unwrap_or_default()),
        };
        fitted(self.program, &param.ty.node, &value)
    }

    /// Runs the body of a tool: what it returns.
    fn body(
        &mut self,
        node: &'a Node,
        (id, tool): (ToolId, &'a Tool),
        body: &'a ToolBody,
        chosen: Option<&LabelSet>,
    ) -> Value {
        let mut reader = Reader::new(self.places, Some(self.id), Names::default());
        let is_seen = tool.asks() && !self.unseen.contains_key(&id);
        for param in &tool.params {
            let value = self.argument(node, id, param, chosen);
            let value = match is_seen {
                true => value.without(&Label::TEXT),
                false => value.matching(&param.constraints),
            };
            reader.declare(&param.name.node, value);
        }
        for read in &body.reads {
            let value = reader.field(&read.name.node);
            reader.declare(&read.name.node, value);
        }
        for bound in &body.lets {
            let value = reader.value(&bound.value);
            reader.declare(&bound.name.node, value);
        }
        for item in body.writes() {
            if let Some(field) = self.graph.field(&item.name.node) {
                let (name, tool) = (&item.name.node, &tool.name.node);
                let text = format!("written to `{name}` by tool `{tool}`");
                let value = reader.value(&item.value).noted(item.name.span, &text);
                self.write(field, item.replace, value);
            }
        }
        for target in body.goto.iter().flat_map(|route| route.targets()) {
            if let TargetKind::NamedEach(each) = &target.kind
                && let Some(worker) = self.worker(node, &each.name.node)
            {
                let sent = sent(&mut reader, each);
                self.send(worker, sent);
            }
        }
        let returned = body.returns.as_ref().map(|value| reader.value(value));
        self.leave(Inner::Body(id), reader, &sites_of_tool(body));
        returned.unwrap_or_default()
    }

    /// The node that a tool's jump names.
    fn worker(&self, node: &Node, name: &str) -> Option<NodeId> {
        let end = node.ends.as_ref().and_then(|ends| ends.find(name));
        match end.map(|end| &end.to.kind) {
            Some(TargetKind::Node(worker)) => Some(*worker),
            Some(_) => None,
            None => self.graph.node(name),
        }
    }

    /// Calls a graph: what it is given, and what it gives back.
    fn called(&mut self, node: &'a Node, id: GraphId) {
        let Work::Subgraph {
            with, into, name, ..
        } = &node.work
        else {
            return;
        };
        let Some(child) = self.program.graphs.get(id) else {
            return;
        };
        let context = self.reader.place(Place::Context(self.id));
        let mut arguments = BTreeMap::from([(Place::Context(id), context)]);
        for (field, declared) in child.fields.entries() {
            if !declared.mode.is_in() {
                continue;
            }
            let given = with.iter().find(|pass| pass.to == Some(field));
            let value = match given {
                Some(pass) => self.value(&pass.value),
                None => self.reader.field(&declared.name.node),
            };
            let at = given.map_or(name.span, |pass| pass.name.span);
            let text = format!("passed to `{}` here", child.name.node);
            let ty = takes(self.program, declared, false);
            let value = fitted(self.program, &ty, &value).noted(at, &text);
            arguments.insert(Place::Given(id, field), value);
        }
        let mut results = Vec::new();
        for (field, declared) in child.fields.entries() {
            if !declared.mode.is_out() {
                continue;
            }
            let value = self.reader.place(Place::Field(id, field));
            let value = self.given_back(&value, &arguments);
            let text = format!("given back by `{}`", child.name.node);
            let value = value.noted(name.span, &text);
            let bound = into.iter().filter(|binding| binding.from == Some(field));
            let mut to: Vec<FieldId> = bound.filter_map(|binding| binding.to).collect();
            if to.is_empty() {
                to.extend(self.graph.field(&declared.name.node));
            }
            for to in to {
                self.write(to, false, value.clone());
            }
            results.push((declared.name.node.as_str().into(), value));
        }
        self.reader.declare("result", Value::record(results));
        let errors = self.reader.place(Place::Errors(id));
        let errors = self.given_back(&errors, &arguments).flat();
        self.failures.add(&errors);
        self.summary.arguments = arguments;
    }

    /// A value of a called graph, with what the caller gives in place of what the graph is given.
    fn given_back(&self, value: &Value, arguments: &BTreeMap<Place, Value>) -> Value {
        value.replaced(&mut |origin, label, trail, found| match origin {
            Origin::Source => found.insert(origin, label, trail.clone()),
            Origin::Input(part) => {
                let part = self.places.part(part);
                let given = part.and_then(|part| Some(arguments.get(&part.of)?.at(&part.path)));
                let given = given.unwrap_or_default().flat();
                for (origin, given, before) in given.iter() {
                    if given == label {
                        found.insert(origin, label, before.followed_by(trail));
                    }
                }
            }
        })
    }
}

/// What the model of a node reads: its texts and messages, and why a reply of it was refused.
pub fn read_by_model(reader: &mut Reader<'_, '_>, node: &Node) -> LabelSet {
    let mut read = LabelSet::default();
    for site in sites_of_node(node) {
        if matches!(site.to, Recipient::System | Recipient::Model) {
            read.add(&reader.given(&site));
        }
    }
    read
}
