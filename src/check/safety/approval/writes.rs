//! All that is written to fields, as far as answers go, and what is made from what.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::ast::expr::{Expr, ExprKind, UnaryOp};
use crate::base::Span;
use crate::ir::{FieldId, GraphId};
use crate::resolve::jumps::{Maker, Why};
use crate::resolve::program::{Graph, Node, Program, SetItem, Work};

use super::super::reads::{Mention, mentions};
use super::answer::Says;
use super::arms::said_by_arms;
use super::decided::Place;
use super::decision::{is_decision, mentioned};
use super::place::{LetsOf, places};

/// A write of a field.
pub struct Told<'a> {
    /// The field.
    pub to: Place,
    /// The value; `None` where a node of the embedding program writes it.
    pub value: Option<&'a Expr>,
    /// The field's name where it is written.
    pub span: Span,
    /// Who writes it.
    pub by: Maker,
    /// What was said where it is part of an interrupt's jump, so that the answer has decided it.
    pub arm: Option<Says>,
    /// Whether it is made from an answer.
    pub from_answer: bool,
}

/// How a field is made from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// A copy.
    Same,
    /// The opposite.
    Turned,
    /// Anything else.
    Any,
}

/// A value, with the graph and the node where it is made.
#[derive(Clone, Copy)]
pub struct Made<'a> {
    /// The graph, and the node unless the graph itself makes it.
    pub of: (GraphId, Option<&'a Node>),
    /// The value.
    pub value: &'a Expr,
}

/// A field that is made from another.
pub struct Feed<'a> {
    /// The one that is made.
    pub to: Place,
    /// How.
    pub sign: Sign,
    /// The value that it is made by; `None` where it is copied by name.
    pub made: Option<Made<'a>>,
}

/// A field of a called graph that is given a value.
pub struct Given<'a> {
    /// The called graph's field.
    pub to: Place,
    /// The graph and the node that call it.
    pub by: (GraphId, &'a Node),
    /// The value.
    pub value: &'a Expr,
    /// Whether something else comes into it than fields and answers.
    pub foreign: bool,
}

/// Gathers them.
pub struct Find<'a> {
    program: &'a Program,
    /// All writes by nodes and jumps.
    pub writes: Vec<Told<'a>>,
    /// What is made from each field.
    pub feeds: BTreeMap<Place, Vec<Feed<'a>>>,
    /// Fields written from an answer itself.
    pub begun: Vec<Place>,
    /// What called graphs are given.
    pub given: Vec<Given<'a>>,
    /// Copies into called graphs and out of them, by name alone.
    pub copies: Vec<(Place, Place)>,
    lets: LetsOf<'a>,
}

impl<'a> Find<'a> {
    /// Nothing is found yet.
    pub fn new(program: &'a Program) -> Self {
        Self {
            program,
            writes: Vec::new(),
            feeds: BTreeMap::new(),
            begun: Vec::new(),
            given: Vec::new(),
            copies: Vec::new(),
            lets: LetsOf::default(),
        }
    }

    /// Marks the writes that are made from answers.
    pub fn mark(&mut self, fields: &BTreeSet<Place>) {
        let program = self.program;
        for write in &mut self.writes {
            let (id, _) = write.to;
            let (Some(graph), Some(value)) = (program.graphs.get(id), write.value) else {
                continue;
            };
            let node = write.by.node().and_then(|node| graph.nodes.get(node));
            let mut all = mentions(value, self.lets.of(node)).into_iter();
            write.from_answer |= all.any(|mention| {
                let decided = || places(program, (id, node), mention).into_iter();
                node.is_some_and(|node| is_decision(program, node, mention))
                    || decided().any(|from| fields.contains(&from))
            });
        }
    }

    /// Reads a graph.
    pub fn graph(&mut self, id: GraphId, graph: &'a Graph) {
        let mut arms = HashMap::new();
        for (at, node) in graph.nodes.entries() {
            let by = Maker::Node(at, Why::Edge);
            self.sets(id, (by, Some(node)), &node.set, None);
            if let Work::Extern { writes, .. } = &node.work {
                let writes = writes.iter().map(|field| Told {
                    to: (id, field.node),
                    value: None,
                    span: field.span,
                    by,
                    arm: None,
                    from_answer: false,
                });
                self.writes.extend(writes);
            }
            self.call(id, graph, node);
            if matches!(node.work, Work::Interrupt { .. }) {
                arms.extend(said_by_arms(self.program, node));
            }
        }
        for (by, jump) in graph.jumps() {
            let node = by.node().and_then(|node| graph.nodes.get(node));
            // What an arm behind a question writes is decided by the answer.
            let arm = match by {
                Maker::Node(_, Why::Goto) => arms.get(&jump.span).copied(),
                _ => None,
            };
            self.sets(id, (by, node), &jump.set, arm);
        }
    }

    fn feed(&mut self, from: Place, to: Place, (sign, made): (Sign, Option<Made<'a>>)) {
        let fed = self.feeds.entry(from).or_default();
        fed.push(Feed { to, sign, made });
    }

    fn sets(
        &mut self,
        id: GraphId,
        (by, node): (Maker, Option<&'a Node>),
        set: &'a [SetItem],
        arm: Option<Says>,
    ) {
        if set.is_empty() {
            return;
        }
        for item in set {
            let Some(field) = item.field else { continue };
            let to = (id, field);
            self.writes.push(Told {
                to,
                value: Some(&item.value),
                span: item.name.span,
                by,
                arm,
                from_answer: false,
            });
            if arm.is_some() {
                self.begun.push(to);
            }
            let all = mentions(&item.value, self.lets.of(node));
            let made = Made {
                of: (id, node),
                value: &item.value,
            };
            for mention in all {
                if node.is_some_and(|node| is_decision(self.program, node, mention)) {
                    self.begun.push(to);
                    continue;
                }
                for from in places(self.program, (id, node), mention) {
                    self.feed(from, to, (sign(&item.value), Some(made)));
                }
            }
        }
    }

    /// Fields that pass in and out of a called graph.
    fn call(&mut self, id: GraphId, graph: &'a Graph, node: &'a Node) {
        let Work::Subgraph {
            graph: Some(child),
            with,
            into,
            ..
        } = &node.work
        else {
            return;
        };
        let Some(called) = self.program.graphs.get(*child) else {
            return;
        };
        for (inner, field) in called.fields.entries() {
            let name = &field.name.node;
            let outer = graph.field(name);
            let inside = (*child, inner);
            if field.mode.is_in() {
                match with.iter().find(|pass| pass.to == Some(inner)) {
                    Some(pass) => {
                        let told = mentions(&pass.value, self.lets.of(Some(node)));
                        let asked = |said: &Mention<'_>| is_decision(self.program, node, *said);
                        let foreign = |said: &Mention<'_>| {
                            !asked(said) && mentioned(self.program, graph, *said).is_none()
                        };
                        if told.iter().any(asked) {
                            self.begun.push(inside);
                        }
                        let made = Made {
                            of: (id, Some(node)),
                            value: &pass.value,
                        };
                        for mention in &told {
                            if let Some(from) = mentioned(self.program, graph, *mention) {
                                self.feed((id, from), inside, (sign(&pass.value), Some(made)));
                            }
                        }
                        self.given.push(Given {
                            to: inside,
                            by: (id, node),
                            value: &pass.value,
                            foreign: told.is_empty() || told.iter().any(foreign),
                        });
                    }
                    None => self.copy(outer.map(|from| (id, from)), Some(inside)),
                }
            }
            if field.mode.is_out() {
                let bound: Vec<FieldId> = into
                    .iter()
                    .filter(|binding| binding.from == Some(inner))
                    .filter_map(|binding| binding.to)
                    .collect();
                let to = match bound.is_empty() {
                    true => outer.into_iter().collect(),
                    false => bound,
                };
                for to in to {
                    self.copy(Some(inside), Some((id, to)));
                }
            }
        }
    }

    fn copy(&mut self, from: Option<Place>, to: Option<Place>) {
        if let (Some(from), Some(to)) = (from, to) {
            self.feed(from, to, (Sign::Same, None));
            self.copies.push((from, to));
        }
    }
}

/// How a value is made from the one field that it may be a copy of.
fn sign(value: &Expr) -> Sign {
    let (mut at, mut turned) = (value, false);
    while let ExprKind::Unary(UnaryOp::Not, of) = &at.kind {
        (at, turned) = (of, !turned);
    }
    match (&at.kind, turned) {
        (ExprKind::Select { .. }, false) => Sign::Same,
        (ExprKind::Select { .. }, true) => Sign::Turned,
        _ => Sign::Any,
    }
}
