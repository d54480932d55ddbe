//! Fields that hold what a person said: written from an answer, directly or through other fields.

use std::collections::{BTreeMap, BTreeSet};

use crate::ast::expr::Expr;
use crate::base::Span;
use crate::ir::{FieldId, GraphId};
use crate::resolve::jumps::{Maker, Why};
use crate::resolve::program::{Graph, Node, Program, SetItem, Work};

use super::super::reads::{self, Lets, Mention, mentions};
use super::answer::{Answers, Says, value};
use super::decision::{is_decision, mentioned};

/// A field of a graph.
pub type Place = (GraphId, FieldId);

/// A write of a field, as far as answers go.
pub struct Told<'a> {
    /// The field.
    pub to: Place,
    /// The value; `None` where a node of the embedding program writes it.
    pub value: Option<&'a Expr>,
    /// The field's name where it is written.
    pub span: Span,
    /// Who writes it.
    pub by: Maker,
    /// Whether it is part of an interrupt's jump, so that the answer has decided it.
    pub of_jump: bool,
    /// Whether it is made from an answer.
    pub from_answer: bool,
    /// Whether the field holds the opposite of what was answered.
    pub turned: bool,
}

impl Told<'_> {
    /// Whether it writes what a person said, or a no.
    pub fn is_harmless(&self) -> bool {
        let no = |of: &Expr| value(of) == refusal(self.turned);
        self.from_answer || self.of_jump || self.value.is_some_and(no)
    }
}

/// What a value says by which a field says no.
fn refusal(turned: bool) -> Says {
    match turned {
        true => Says::Yes,
        false => Says::No,
    }
}

/// What of the state comes from answers.
pub struct Decided<'a> {
    /// Fields made from answers.
    pub fields: BTreeSet<Place>,
    /// Those that hold the opposite: `set { hold: !answer }`.
    pub turned: BTreeSet<Place>,
    /// All writes by nodes and jumps.
    pub writes: Vec<Told<'a>>,
    /// What is made from each field.
    feeds: BTreeMap<Place, Vec<Place>>,
    /// Fields of called graphs that are given something else than a field or a no.
    given: Vec<Place>,
}

impl<'a> Decided<'a> {
    /// What a condition says of an answer in a node; `counts` says of a field of the node's graph whether it holds one.
    pub fn says(
        &self,
        program: &'a Program,
        (id, node): (GraphId, &'a Node),
        counts: impl Fn(FieldId) -> bool,
        (condition, truth): (&'a Expr, bool),
    ) -> Says {
        let graph = program.graphs.get(id);
        let field = |mention: Mention<'_>| mentioned(program, graph?, mention);
        let is = |mention: Mention<'_>| match field(mention) {
            Some(field) => counts(field),
            None => is_decision(program, node, mention),
        };
        let turned = |mention: Mention<'_>| {
            field(mention).is_some_and(|field| self.turned.contains(&(id, field)))
        };
        let answers = Answers {
            lets: reads::lets(&node.lets),
            is: &is,
            turned: &turned,
        };
        answers.says(condition, truth)
    }

    /// Finds them.
    pub fn new(program: &'a Program) -> Self {
        let mut find = Find {
            program,
            writes: Vec::new(),
            feeds: BTreeMap::new(),
            begun: Vec::new(),
            given: Vec::new(),
        };
        for (id, graph) in program.graphs.entries() {
            find.graph(id, graph);
        }
        let mut fields = BTreeSet::new();
        let mut open = std::mem::take(&mut find.begun);
        while let Some(place) = open.pop() {
            if fields.insert(place) {
                open.extend(find.feeds.get(&place).into_iter().flatten());
            }
        }
        let mut decided = Self {
            fields,
            turned: BTreeSet::new(),
            writes: find.writes,
            feeds: find.feeds,
            given: find.given,
        };
        decided.mark(program);
        decided.turn(program);
        decided
    }

    /// Finds the fields that only the opposite of an answer is written to, constants aside.
    fn turn(&mut self, program: &'a Program) {
        let mut straight = BTreeSet::new();
        for write in self.writes.iter().filter(|write| write.from_answer) {
            let graph = program.graphs.get(write.to.0);
            let node = graph.and_then(|graph| graph.nodes.get(write.by.node()?));
            let (Some(node), Some(value)) = (node, write.value) else {
                continue;
            };
            let answers = Answers {
                lets: reads::lets(&node.lets),
                is: &|mention| is_decision(program, node, mention),
                turned: &|_| false,
            };
            match answers.says(value, true) {
                Says::No => self.turned.insert(write.to),
                _ => straight.insert(write.to),
            };
        }
        self.turned.retain(|place| !straight.contains(place));
        for write in &mut self.writes {
            write.turned = self.turned.contains(&write.to);
        }
    }

    fn mark(&mut self, program: &'a Program) {
        for write in &mut self.writes {
            let (id, _) = write.to;
            let (Some(graph), Some(value)) = (program.graphs.get(id), write.value) else {
                continue;
            };
            let node = write.by.node().and_then(|node| graph.nodes.get(node));
            let lets = node.map_or_else(Lets::new, |node| reads::lets(&node.lets));
            let fields = &self.fields;
            let mut all = mentions(value, &lets).into_iter();
            write.from_answer |= all.any(|mention| match mentioned(program, graph, mention) {
                Some(field) => fields.contains(&(id, field)),
                None => node.is_some_and(|node| is_decision(program, node, mention)),
            });
        }
    }

    /// Fields that can only say yes where a person did: whatever else is written there says no, or is
    /// written where `open` shows that no run comes without an approval.
    pub fn only_by_a_person(
        &self,
        program: &Program,
        open: &dyn Fn(GraphId, Maker) -> bool,
    ) -> BTreeSet<Place> {
        let mut written: BTreeSet<Place> = self.writes.iter().map(|write| write.to).collect();
        written.extend(&self.fields);
        let mut fed: Vec<Place> = written.iter().copied().collect();
        while let Some(place) = fed.pop() {
            let to = self.feeds.get(&place).into_iter().flatten();
            fed.extend(to.filter(|to| written.insert(**to)));
        }
        let mut spoiled: BTreeSet<Place> = BTreeSet::new();
        for write in &self.writes {
            if !write.is_harmless() && open(write.to.0, write.by) {
                spoiled.insert(write.to);
            }
        }
        for (id, graph) in program.graphs.entries() {
            for (field, declared) in graph.fields.entries() {
                let given = declared.mode.is_in() && program.entry == Some(id);
                let begun = declared.default.as_ref();
                let no = refusal(self.turned.contains(&(id, field)));
                if given || begun.is_some_and(|default| value(default) != no) {
                    spoiled.insert((id, field));
                }
            }
            for node in &graph.nodes {
                let by_tools = super::super::super::flow::build::called_bodies(program, node);
                let names = by_tools.iter().flat_map(|(_, body)| body.written());
                let fields = names.filter_map(|name| graph.field(&name.node));
                spoiled.extend(fields.map(|field| (id, field)));
            }
        }
        let mut open: Vec<Place> = spoiled.iter().chain(&self.given).copied().collect();
        spoiled.clear();
        while let Some(place) = open.pop() {
            if spoiled.insert(place) {
                open.extend(self.feeds.get(&place).into_iter().flatten());
            }
        }
        written.retain(|place| !spoiled.contains(place));
        written
    }
}

struct Find<'a> {
    program: &'a Program,
    writes: Vec<Told<'a>>,
    /// What is made from each field.
    feeds: BTreeMap<Place, Vec<Place>>,
    /// Fields written from an answer itself.
    begun: Vec<Place>,
    given: Vec<Place>,
}

impl<'a> Find<'a> {
    fn graph(&mut self, id: GraphId, graph: &'a Graph) {
        for (at, node) in graph.nodes.entries() {
            let by = Maker::Node(at, Why::Edge);
            self.sets((id, graph), (by, Some(node)), &node.set);
            if let Work::Extern { writes, .. } = &node.work {
                let writes = writes.iter().map(|field| Told {
                    to: (id, field.node),
                    value: None,
                    span: field.span,
                    by,
                    of_jump: false,
                    from_answer: false,
                    turned: false,
                });
                self.writes.extend(writes);
            }
            self.call(id, graph, node);
        }
        for (by, jump) in graph.jumps() {
            let node = by.node().and_then(|node| graph.nodes.get(node));
            self.sets((id, graph), (by, node), &jump.set);
        }
    }

    fn sets(
        &mut self,
        (id, graph): (GraphId, &'a Graph),
        (by, node): (Maker, Option<&'a Node>),
        set: &'a [SetItem],
    ) {
        if set.is_empty() {
            return;
        }
        let lets = node.map_or_else(Lets::new, |node| reads::lets(&node.lets));
        // What an arm behind a question writes is decided by the answer.
        let asks = node.is_some_and(|node| matches!(node.work, Work::Interrupt { .. }));
        let of_jump = asks && matches!(by, Maker::Node(_, Why::Goto));
        for item in set {
            let Some(field) = item.field else { continue };
            let to = (id, field);
            self.writes.push(Told {
                to,
                value: Some(&item.value),
                span: item.name.span,
                by,
                of_jump,
                from_answer: false,
                turned: false,
            });
            if of_jump {
                self.begun.push(to);
            }
            for mention in mentions(&item.value, &lets) {
                match (mention, node) {
                    (Mention::Field(_) | Mention::FieldPart(..), _) => {
                        if let Some(from) = mentioned(self.program, graph, mention) {
                            self.feeds.entry((id, from)).or_default().push(to);
                        }
                    }
                    (Mention::Name("result") | Mention::Part("result", _), Some(node)) => {
                        self.results(node, to);
                    }
                    (said, Some(node)) if is_decision(self.program, node, said) => {
                        self.begun.push(to);
                    }
                    _ => {}
                }
            }
        }
    }

    /// `result` of a subgraph: any of its `out` fields.
    fn results(&mut self, node: &Node, to: Place) {
        let Work::Subgraph {
            graph: Some(child), ..
        } = &node.work
        else {
            return;
        };
        let Some(called) = self.program.graphs.get(*child) else {
            return;
        };
        for (from, _) in called.fields.entries().filter(|(_, f)| f.mode.is_out()) {
            self.feeds.entry((*child, from)).or_default().push(to);
        }
    }

    /// Fields that pass in and out of a called graph.
    fn call(&mut self, id: GraphId, graph: &Graph, node: &Node) {
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
        let lets = reads::lets(&node.lets);
        for (inner, field) in called.fields.entries() {
            let name = &field.name.node;
            let outer = graph.field(name);
            if field.mode.is_in() {
                let given = with.iter().find(|pass| pass.to == Some(inner));
                if let Some(pass) = given {
                    let mut told = mentions(&pass.value, &lets).into_iter();
                    if told.any(|said| is_decision(self.program, node, said)) {
                        self.begun.push((*child, inner));
                    }
                }
                if let Some(pass) = given
                    && mentions(&pass.value, &lets).is_empty()
                    && value(&pass.value) != Says::No
                {
                    self.given.push((*child, inner));
                }
                let from: Vec<FieldId> = match given {
                    Some(pass) => mentions(&pass.value, &lets)
                        .into_iter()
                        .filter_map(|mention| mentioned(self.program, graph, mention))
                        .collect(),
                    None => outer.into_iter().collect(),
                };
                for from in from {
                    let fed = self.feeds.entry((id, from)).or_default();
                    fed.push((*child, inner));
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
                let fed = self.feeds.entry((*child, inner)).or_default();
                fed.extend(to.into_iter().map(|to| (id, to)));
            }
        }
    }
}
