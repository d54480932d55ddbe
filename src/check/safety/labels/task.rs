//! One look at a node, or at the jumps of a graph that no node makes: the names in scope of it, and what it writes.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::ast::expr::Expr;
use crate::base::Span;
use crate::expr::Type;
use crate::ir::{Channel, FieldId, GraphId, NodeId, ReducerId, ToolId};
use crate::resolve::exprs::{Recipient, Site, Written, sites_of_graph, sites_of_node};
use crate::resolve::jumps::Maker;
use crate::resolve::program::{Each, Graph, Jump, Node, Program, SetItem, TargetKind};

use super::label::LabelSet;
use super::places::{Place, Places};
use super::projection::{external, fitted};
use super::reader::{Names, Reader};
use super::value::{Step, Value};

/// What a look at a node has found.
#[derive(Default)]
pub struct NodeSummary {
    /// Names in scope of the node's expressions.
    pub names: Names,
    /// Names in scope of what it calls: bodies of tools, and reducers.
    pub inner: BTreeMap<Inner, Names>,
    /// What a called graph is given, by the place there.
    pub arguments: BTreeMap<Place, Value>,
    /// What each of its tools gives back.
    pub results: BTreeMap<ToolId, Value>,
    /// Places that it read.
    pub read: BTreeSet<Place>,
    /// What it writes.
    pub writes: Vec<(Place, Value)>,
}

/// What is called in the place of a call, with names of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Inner {
    /// The body of a tool.
    Body(ToolId),
    /// A reducer of a field that is written.
    Reducer(ReducerId),
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
    /// What its errors may say.
    pub failures: LabelSet,
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
            failures: LabelSet::default(),
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
            let answer = answer.map(|ty| external(self.program, &ty.node, LabelSet::default()));
            self.reader
                .declare(&stop.name.node, answer.unwrap_or_default());
        }
        let (ahead, behind) = node.lets.split_at(node.lets_ahead.min(node.lets.len()));
        self.lets(ahead);
        self.work(at, node);
        self.lets(behind);
        let failures = failures(&mut self.reader, &sites_of_node(node));
        self.errors(&failures);
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
        for (at, field) in self.graph.fields.entries() {
            if field.mode.is_in() {
                let given = self.reader.place(Place::Given(self.id, at));
                self.write(at, false, given);
            }
        }
        let failures = failures(&mut self.reader, &sites_of_graph(self.graph));
        self.errors(&failures);
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
        // A reducer may fail.
        self.errors(&LabelSet::default());
        self.summary.names = self.reader.names;
        self.summary.read.append(&mut self.reader.read);
        self.summary
    }

    fn lets(&mut self, lets: &[crate::ast::item::Let]) {
        for bound in lets {
            let value = self.reader.value(&bound.value);
            self.reader.declare(&bound.name.node, value);
        }
    }

    /// What an error here says.
    fn errors(&mut self, failures: &LabelSet) {
        self.failures.add(failures);
        let text = Value::of(std::mem::take(&mut self.failures));
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
            let text = format!("written to `{}` here", item.name.node);
            self.write(field, item.replace, value.noted(item.name.span, &text));
        }
    }

    /// Writes a value to a field: through its reducer, or in its place.
    pub fn write(&mut self, at: FieldId, replace: bool, value: Value) {
        let Some(field) = self.graph.fields.get(at) else {
            return;
        };
        let place = Place::Field(self.id, at);
        let own = match field.channel {
            Channel::Own { reducer } if !replace => Some(reducer),
            _ => None,
        };
        let reducer = own.and_then(|id| Some((id, self.program.reducers.get(id)?)));
        let value = match reducer {
            Some((id, reducer)) => {
                let old = self.reader.place(place);
                let mut inner = Reader::new(self.places, None, Names::default());
                inner.declare(&reducer.old.name.node, old);
                let new = fitted(self.program, &reducer.new.ty.node, &value);
                inner.declare(&reducer.new.name.node, new);
                let value = inner.value(&reducer.body);
                self.leave(Inner::Reducer(id), inner, &[Site::of(&reducer.body)]);
                value
            }
            None => value,
        };
        let value = fitted(self.program, &field.ty.node, &value);
        let value = value.matching(&field.constraints);
        self.summary.writes.push((place, value));
    }

    /// Notes what was read in something that is called in its place, and what an error of it may say.
    pub fn leave(&mut self, called: Inner, mut inner: Reader<'e, 'a>, sites: &[Site<'_>]) {
        self.failures.add(&failures(&mut inner, sites));
        self.reader.read.append(&mut inner.read);
        let known = self.summary.inner.entry(called).or_default();
        for (name, value) in &*inner.names {
            let known = Rc::make_mut(known).entry(name.clone()).or_default();
            known.absorb(value);
        }
    }

    /// A value that comes in with such labels.
    pub fn external(&self, ty: &Type, own: LabelSet) -> Value {
        external(self.program, ty, own)
    }

    /// The labels of an expression.
    pub fn value(&mut self, expr: &Expr) -> Value {
        self.reader.value(expr)
    }
}

/// What an error may say that some site ends in: the messages that are written, what a model is told, and the values that
/// functions fail by.
fn failures(reader: &mut Reader<'_, '_>, sites: &[Site<'_>]) -> LabelSet {
    let mut found = LabelSet::default();
    for site in sites {
        match (site.written, site.to) {
            (Written::Expr(expr), Recipient::Flow | Recipient::Tool(..) | Recipient::Event(_)) => {
                reader.within(site, |reader| reader.add_failures(expr, &mut found));
            }
            _ => found.add(&reader.given(site)),
        }
    }
    found
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
