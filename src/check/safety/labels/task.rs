//! One look at a node, or at the jumps of a graph that no node makes: the names in scope of it, and what it writes.

use std::collections::{BTreeMap, BTreeSet};

use crate::ast::expr::Expr;
use crate::base::Span;
use crate::expr::Type;
use crate::ir::{Channel, FieldId, GraphId, NodeId, ToolId};
use crate::resolve::jumps::Maker;
use crate::resolve::program::{Each, Graph, Jump, Node, Program, SetItem, TargetKind};

use super::fact::Facts;
use super::places::{Place, Places};
use super::reader::{Check, Names, Reader};
use super::shape::{external, fitted};
use super::value::{Step, Value};

/// What a look at a node has found.
#[derive(Default)]
pub struct NodeSummary {
    /// Names in scope of the node's expressions.
    pub names: Names,
    /// Names in scope of the bodies of tools that it runs.
    pub bodies: BTreeMap<ToolId, Names>,
    /// What a called graph is given.
    pub arguments: Arguments,
    /// What each of its tools gives back.
    pub results: BTreeMap<ToolId, Value>,
    /// Each `checked` in it.
    pub checks: Vec<Check>,
    /// Places that it read.
    pub read: BTreeSet<Place>,
    /// What it writes.
    pub writes: Vec<(Place, Value)>,
}

/// What a called graph is given: by field, and the caller's constants.
#[derive(Default)]
pub struct Arguments {
    /// Its `in` fields.
    pub fields: BTreeMap<FieldId, Value>,
    /// What the caller has as `context`.
    pub context: Value,
}

/// A look under way.
pub(super) struct Task<'e, 'a> {
    pub program: &'a Program,
    pub places: &'e Places<'a>,
    /// The tools that a permit lets through with any arguments.
    pub unseen: &'e BTreeMap<ToolId, Span>,
    pub id: GraphId,
    pub graph: &'a Graph,
    pub reader: Reader<'e, 'a>,
    pub summary: NodeSummary,
}

impl<'e, 'a> Task<'e, 'a> {
    pub fn new(
        places: &'e Places<'a>,
        unseen: &'e BTreeMap<ToolId, Span>,
        (id, graph): (GraphId, &'a Graph),
    ) -> Self {
        Self {
            program: places.program,
            places,
            unseen,
            id,
            graph,
            reader: Reader::new(places, Some(id), Names::default()),
            summary: NodeSummary::default(),
        }
    }

    /// Looks at a node.
    pub fn node(mut self, at: NodeId, node: &'a Node) -> NodeSummary {
        let input = node.input.iter().enumerate().map(|(index, param)| {
            let value = self.reader.place(Place::Sent(self.id, at, index));
            (param.name.node.as_str().into(), value)
        });
        let input = Value::record(input.collect::<Vec<_>>());
        self.reader.declare("input", input);
        for stop in &node.stops {
            let answer = stop.expect.as_ref();
            let answer = answer.map(|ty| external(self.program, &ty.node, Facts::default()));
            self.reader
                .declare(&stop.name.node, answer.unwrap_or_default());
        }
        let (ahead, behind) = node.lets.split_at(node.lets_ahead.min(node.lets.len()));
        self.lets(ahead);
        let work = self.work(node);
        self.lets(behind);
        self.errors(node, work);
        for item in &node.set {
            self.set(item);
        }
        for (_, jump) in node.jumps() {
            self.jump(jump);
        }
        self.finish()
    }

    /// Looks at the jumps of the graph that no node makes.
    pub fn outside(mut self) -> NodeSummary {
        let errors = self.reader.place(Place::Errors(self.id));
        self.reader.declare("error", errors);
        for (by, jump) in self.graph.jumps() {
            if !matches!(by, Maker::Node(..)) {
                self.jump(jump);
            }
        }
        self.finish()
    }

    fn finish(mut self) -> NodeSummary {
        self.summary.names = self.reader.names;
        self.summary.read.append(&mut self.reader.read);
        self.summary.checks.append(&mut self.reader.checks);
        self.summary
    }

    fn lets(&mut self, lets: &[crate::ast::item::Let]) {
        for bound in lets {
            let value = self.reader.value(&bound.value);
            self.reader.declare(&bound.name.node, value);
        }
    }

    /// What the node's errors say: what its work may, and its own messages.
    fn errors(&mut self, node: &Node, mut facts: Facts) {
        let messages = node
            .requires
            .iter()
            .filter_map(|require| require.message.as_ref());
        facts.add(&self.reader.flat(messages));
        let targets = node.jumps().flat_map(|(_, jump)| &jump.to);
        let fails = targets.filter_map(|target| match &target.kind {
            TargetKind::Fail(message) => message.as_deref(),
            _ => None,
        });
        facts.add(&self.reader.flat(fails));
        let text = Value::of(facts);
        let error = ["message", "cause"].map(|name| (name.into(), text.clone()));
        let error = Value::record(error);
        self.summary
            .writes
            .push((Place::Errors(self.id), error.clone()));
        self.reader.declare("error", error);
    }

    /// What a jump writes and sends.
    fn jump(&mut self, jump: &'a Jump) {
        for item in &jump.set {
            self.set(item);
        }
        for target in &jump.to {
            if let TargetKind::Each(each) = &target.kind
                && let Some(worker) = each.worker
            {
                let sent = sent(&mut self.reader, each);
                self.send(worker, sent);
            }
        }
    }

    /// A node gets what is sent to it.
    pub fn send(&mut self, worker: NodeId, sent: Vec<(&str, Span, Value)>) {
        let Some(node) = self.graph.nodes.get(worker) else {
            return;
        };
        for (name, span, value) in sent {
            let at = node.input.iter().position(|param| param.name.node == name);
            let Some((at, param)) = at.and_then(|at| Some((at, node.input.get(at)?))) else {
                continue;
            };
            let value = fitted(self.program, &param.ty.node, &value);
            let value = value.noted(span, &format!("sent as `{name}` here"));
            let place = Place::Sent(self.id, worker, at);
            self.summary.writes.push((place, value));
        }
    }

    /// What a `set` writes.
    fn set(&mut self, item: &SetItem) {
        let value = self.reader.value(&item.value);
        if let Some(field) = item.field {
            self.write(field, item, value, None);
        }
    }

    /// Writes a value to a field, `by` a tool.
    pub fn write(&mut self, at: FieldId, item: &SetItem, value: Value, by: Option<&str>) {
        let Some(field) = self.graph.fields.get(at) else {
            return;
        };
        let place = Place::Field(self.id, at);
        let reducer = match &field.channel {
            Channel::Own { reducer } if !item.replace => self.program.reducers.get(*reducer),
            _ => None,
        };
        let value = match reducer {
            Some(reducer) => {
                let old = self.reader.place(place);
                let mut reader = Reader::new(self.places, None, Names::default());
                reader.declare(&reducer.old.name.node, old);
                reader.declare(&reducer.new.name.node, value);
                reader.value(&reducer.body)
            }
            None => value,
        };
        let name = &field.name.node;
        let text = match by {
            Some(tool) => format!("written to `{name}` by tool `{tool}`"),
            None => format!("written to `{name}` here"),
        };
        self.put(at, value.noted(item.name.span, &text));
    }

    /// A field gets a value.
    pub fn put(&mut self, at: FieldId, value: Value) {
        let Some(field) = self.graph.fields.get(at) else {
            return;
        };
        let value = fitted(self.program, &field.ty.node, &value);
        let value = value.matching(&field.constraints);
        self.summary.writes.push((Place::Field(self.id, at), value));
    }

    /// A value that comes in with such labels.
    pub fn external(&self, ty: &Type, own: Facts) -> Value {
        external(self.program, ty, own)
    }

    /// The labels of an expression.
    pub fn value(&mut self, expr: &Expr) -> Value {
        self.reader.value(expr)
    }
}

/// What an `each` sends, by name.
pub(super) fn sent<'x>(reader: &mut Reader<'_, '_>, each: &'x Each) -> Vec<(&'x str, Span, Value)> {
    let element = reader.value(&each.items).part(&Step::Element);
    reader.binding([(each.var.node.clone(), element)], |reader| {
        let with = each.with.iter();
        let sent = with.map(|arg| {
            let value = reader.value(&arg.value);
            (arg.name.node.as_str(), arg.value.span, value)
        });
        sent.collect()
    })
}
