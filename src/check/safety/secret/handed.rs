//! Fields that are handed to tools: a secret that is kept in one is where it belongs, and what shows the field is wrong. A
//! field that nothing but prompts, events and results reads is there to be shown, and what writes a secret to it is wrong.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::ast::expr::{Expr, ExprKind};
use crate::ast::item::Let;
use crate::base::Span;
use crate::ir::{FieldId, GraphId};
use crate::resolve::program::{Graph, Jump, Node, Program, TargetKind, Work};

use super::super::super::cfg::build::called_bodies;

/// What a field is for that a secret is written to.
pub enum Kept<'a> {
    /// A tool is given it, or a graph that is called.
    Handed,
    /// None is: its name.
    Shown(&'a str),
}

type Place = (GraphId, FieldId);

/// Fields, by what is done with them.
pub struct Handed<'a> {
    program: &'a Program,
    handed: BTreeSet<Place>,
    /// The fields that are written, by the names in the `set`s.
    written: HashMap<Span, Place>,
}

impl<'a> Handed<'a> {
    /// Looks at all that reads a field.
    pub fn new(program: &'a Program) -> Self {
        let mut find = Find {
            program,
            written: HashMap::new(),
            made_from: BTreeMap::new(),
            given: Vec::new(),
        };
        for (id, graph) in program.graphs.entries() {
            for item in graph.sets() {
                let field = item.field.map(|field| (id, field));
                find.written
                    .extend(field.map(|field| (item.name.span, field)));
            }
            for node in &graph.nodes {
                find.node(id, graph, node);
            }
        }
        let mut handed = BTreeSet::new();
        let mut open = find.given;
        while let Some(place) = open.pop() {
            if handed.insert(place) {
                open.extend(find.made_from.get(&place).into_iter().flatten());
            }
        }
        Self {
            program,
            handed,
            written: find.written,
        }
    }

    /// What the field that is written there is for; `None` where no `set` is.
    pub fn of(&self, write: Span) -> Option<Kept<'a>> {
        let (id, field) = *self.written.get(&write)?;
        if self.handed.contains(&(id, field)) {
            return Some(Kept::Handed);
        }
        let field = self.program.graphs.get(id)?.fields.get(field)?;
        Some(Kept::Shown(&field.name.node))
    }
}

struct Find<'a> {
    program: &'a Program,
    written: HashMap<Span, Place>,
    /// The fields that each is made from.
    made_from: BTreeMap<Place, Vec<Place>>,
    given: Vec<Place>,
}

impl Find<'_> {
    fn node(&mut self, id: GraphId, graph: &Graph, node: &Node) {
        let lets = lets(&node.lets);
        let here = |field: FieldId| (id, field);
        let jumps: Vec<&Jump> = node.jumps().map(|(_, jump)| jump).collect();
        let sets = jumps.iter().flat_map(|jump| &jump.set);
        for item in node.set.iter().chain(sets) {
            let Some(to) = item.field else { continue };
            let from = fields(graph, &item.value, &lets).into_iter().map(here);
            self.made_from.entry((id, to)).or_default().extend(from);
        }
        let sent = jumps.iter().flat_map(|jump| &jump.to);
        let sent = sent.filter_map(|target| match &target.kind {
            TargetKind::Each(each) => Some(each),
            _ => None,
        });
        let mut given: Vec<&Expr> = sent
            .flat_map(|each| each.with.iter().map(|arg| &arg.value).chain([&each.items]))
            .collect();
        match &node.work {
            Work::Extern { reads, .. } => {
                self.given
                    .extend(reads.iter().map(|field| (id, field.node)));
            }
            Work::Subgraph { with, .. } => {
                given.extend(with.iter().map(|pass| &pass.value));
                self.call(id, graph, node);
            }
            _ => {}
        }
        let tools = node.called_tools().into_iter();
        given.extend(tools.flat_map(|used| node.given(used.node).iter().map(|arg| &arg.value)));
        let given = given
            .into_iter()
            .flat_map(|expr| fields(graph, expr, &lets));
        self.given.extend(given.map(here));
        for (_, body) in called_bodies(self.program, node) {
            let read = body.reads.iter().map(|read| &read.name.node);
            let read = read.filter_map(|name| graph.field(name));
            self.given.extend(read.map(here));
            for name in body.written() {
                let field = graph.field(&name.node).map(here);
                self.written.extend(field.map(|field| (name.span, field)));
            }
        }
    }

    /// Fields that a called graph is given by name, and those that it gives back.
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
        for (inner, field) in called.fields.entries() {
            let by_name = graph.field(&field.name.node);
            if field.mode.is_in() && with.iter().all(|pass| pass.to != Some(inner)) {
                self.given.extend(by_name.map(|field| (id, field)));
            }
            if field.mode.is_out() {
                let bound = into.iter().filter(|binding| binding.from == Some(inner));
                let to = bound.filter_map(|binding| binding.to).chain(by_name);
                for to in to {
                    let from = self.made_from.entry((id, to)).or_default();
                    from.push((*child, inner));
                }
            }
        }
    }
}

/// Names of fields that each `let` of a node is made from.
type Lets<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

fn lets(lets: &[Let]) -> Lets<'_> {
    let mut known = Lets::new();
    for bound in lets {
        let read = names(&bound.value, &known);
        known.insert(&bound.name.node, read);
    }
    known
}

/// The fields that an expression reads.
fn fields(graph: &Graph, expr: &Expr, lets: &Lets<'_>) -> Vec<FieldId> {
    let names = names(expr, lets).into_iter();
    names.filter_map(|name| graph.field(name)).collect()
}

/// Their names.
fn names<'a>(expr: &'a Expr, lets: &Lets<'a>) -> BTreeSet<&'a str> {
    let mut found: BTreeSet<&str> = BTreeSet::new();
    let mut open = vec![expr];
    while let Some(expr) = open.pop() {
        match &expr.kind {
            ExprKind::Ident(name) => found.extend(lets.get(name.as_str()).into_iter().flatten()),
            ExprKind::Select { operand, field, .. } => match &operand.kind {
                ExprKind::Ident(name) if name == "state" => {
                    found.insert(&field.node);
                }
                _ => open.push(operand),
            },
            _ => open.extend(expr.parts()),
        }
    }
    found
}
