//! The places that outlive an expression, with the labels of what is ever written to them, and the parts of what graphs are given.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::ast::node::TemplateText;
use crate::base::IdVec;
use crate::expr::Type;
use crate::expr::template::{Printed, printed};
use crate::ir::{FieldId, GraphId, NodeId};
use crate::resolve::program::Program;

use super::super::super::calls::callers;
use super::super::super::types::write::takes;
use super::super::roots;
use super::label::{InputPart, LabelSet};
use super::projection::{external, fitted, input};
use super::value::{Step, Value};

/// A place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// A field of a graph's state.
    Field(GraphId, FieldId),
    /// What an `in` field is given, ahead of its reducer.
    Given(GraphId, FieldId),
    /// What is sent to a node, by the position among its `input`.
    Sent(GraphId, NodeId, usize),
    /// The constants that a graph reads as `context`.
    Context(GraphId),
    /// The messages of a graph's errors.
    Errors(GraphId),
    /// What the tools of an agent give back to its model.
    Results(GraphId, NodeId),
    /// Long-term memory.
    Memory,
}

/// A part of what a graph is given: of a field ahead of its reducer, or of its `context`.
#[derive(Debug, Clone)]
pub struct Part {
    /// The graph.
    pub graph: GraphId,
    /// What holds it.
    pub of: Place,
    /// The part of it.
    pub path: Vec<Step>,
}

/// All places.
pub struct Places<'a> {
    /// The program.
    pub program: &'a Program,
    values: HashMap<Place, Value>,
    parts: IdVec<InputPart, Part>,
    /// Texts, as they were parsed; by where they are held.
    texts: RefCell<HashMap<*const TemplateText, Rc<[Printed]>>>,
}

impl<'a> Places<'a> {
    /// The places with what declarations say of them, and what a graph is given.
    pub fn new(program: &'a Program) -> Self {
        let mut places = Self {
            program,
            values: HashMap::new(),
            parts: IdVec::new(),
            texts: RefCell::default(),
        };
        let (callers, roots) = (callers(program), roots(program));
        for (id, graph) in program.graphs.entries() {
            let called = callers.get(id).is_some_and(|callers| !callers.is_empty());
            let (called, begins) = (called, roots.contains(&id));
            for (at, field) in graph.fields.entries() {
                let marks = LabelSet::marked(&field.marks, &format!("`{}`", field.name.node));
                let own = fitted(program, &field.ty.node, &Value::of(marks.clone()));
                let own = own.matching(&field.constraints);
                places.values.insert(Place::Field(id, at), own);
                if field.mode.is_in() {
                    let ty = &takes(program, field, false);
                    let mut given = Value::default();
                    if begins {
                        given = external(program, ty, marks);
                    }
                    if called {
                        given.absorb(&places.input(id, Place::Given(id, at), ty, &[]));
                    }
                    places.values.insert(Place::Given(id, at), given);
                }
            }
            let context = graph.context.iter().flat_map(|context| &context.fields);
            let constants = context.map(|field| {
                let name = &field.name.node;
                let marks = LabelSet::marked(&field.marks, &format!("`{name}`"));
                let mut value = external(program, &field.ty.node, marks);
                if called {
                    let path = [Step::Field(name.as_str().into())];
                    value.absorb(&places.input(id, Place::Context(id), &field.ty.node, &path));
                }
                (name.as_str().into(), value.matching(&field.constraints))
            });
            let constants = Value::record(constants.collect::<Vec<_>>());
            places.values.insert(Place::Context(id), constants);
        }
        places
    }

    fn input(&mut self, graph: GraphId, of: Place, ty: &Type, begin: &[Step]) -> Value {
        input(self.program, ty, &mut |path| {
            let path = [begin, path].concat();
            self.parts.push(Part { graph, of, path });
            InputPart(self.parts.len() as u32 - 1)
        })
    }

    /// What a place holds.
    pub fn value(&self, place: Place) -> Value {
        self.values.get(&place).cloned().unwrap_or_default()
    }

    /// Writes to a place. Whether it has new labels by that.
    pub fn write(&mut self, place: Place, value: &Value) -> bool {
        self.values.entry(place).or_default().absorb(value)
    }

    /// The parts of what graphs are given.
    pub fn parts(&self) -> impl Iterator<Item = (InputPart, &Part)> {
        self.parts.entries()
    }

    /// A part of what a graph is given.
    pub fn part(&self, part: InputPart) -> Option<&Part> {
        self.parts.get(part)
    }

    /// The steps of a text.
    pub fn text(&self, text: &TemplateText) -> Rc<[Printed]> {
        let mut texts = self.texts.borrow_mut();
        let steps = texts.entry(text).or_insert_with(|| printed(text).into());
        steps.clone()
    }
}
