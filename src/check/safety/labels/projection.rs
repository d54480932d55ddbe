//! What a type says of the labels of its values: which parts there are, which of them hold no free text, and what the marks
//! and patterns of record fields say of a value that comes in.

use std::rc::Rc;

use crate::expr::constraint::Constraints;
use crate::expr::ty::{MESSAGE, TEXT};
use crate::expr::{RecordId, Type};
use crate::resolve::program::{Param, Program};

use super::label::{InputPart, Label, LabelSet};
use super::value::{MOST_STEPS, Step, Value};

impl Value {
    /// A value that attributes are held against: one that matches a pattern from end to end is no free text.
    pub fn matching(self, constraints: &Constraints) -> Value {
        match constraints.has_whole_pattern() {
            true => self.without(&Label::TEXT),
            false => self,
        }
    }
}

/// Whether a parameter takes free text of any form.
pub fn takes_free_text(param: &Param) -> bool {
    param.constraints.admit_free_text(&param.ty.node)
}

/// A value that is written to a place of the type.
pub fn fitted(program: &Program, ty: &Type, value: &Value) -> Value {
    match value.is_none() {
        true => Value::default(),
        false => Projection::new(program, &mut |path| value.at(path).flat()).value(ty),
    }
}

/// A value of the type that comes in from outside with such labels: each field of a record has those that it is marked with.
pub fn external(program: &Program, ty: &Type, own: LabelSet) -> Value {
    if own.is_empty() && program.marked.is_empty() {
        return Value::default();
    }
    let mut labels = |_: &[Step]| own.clone();
    let mut projection = Projection::new(program, &mut labels);
    projection.is_external = true;
    projection.value(ty)
}

/// What a graph is given as a value of the type: each part has what the caller's has. `number` numbers the parts by their paths.
pub fn input(program: &Program, ty: &Type, number: &mut dyn FnMut(&[Step]) -> InputPart) -> Value {
    Projection::new(program, &mut |path| LabelSet::of_input(number(path))).value(ty)
}

/// The parts of a type, each with the labels that are found for its path.
struct Projection<'a, 'l> {
    program: &'a Program,
    is_external: bool,
    labels: &'l mut dyn FnMut(&[Step]) -> LabelSet,
    path: Vec<Step>,
}

impl<'a, 'l> Projection<'a, 'l> {
    fn new(program: &'a Program, labels: &'l mut dyn FnMut(&[Step]) -> LabelSet) -> Self {
        Self {
            program,
            is_external: false,
            labels,
            path: Vec::new(),
        }
    }

    fn value(&mut self, ty: &Type) -> Value {
        let ty = ty.without_null();
        let deep = self.path.len() >= MOST_STEPS;
        match &ty {
            _ if !ty.has_free_text() => Value::of(self.own().without(&Label::TEXT)),
            _ if deep && self.is_external => {
                let mut all = self.own();
                all.add(&marks_within(self.program, &ty));
                Value::of(all)
            }
            _ if deep => Value::of(self.own()),
            Type::Optional(of) => self.value(of),
            Type::List(of) => Value::list(self.part(Step::Element, of)),
            Type::Map(of) => {
                let key = self.part(Step::Key, &Type::String);
                Value::map(key, self.part(Step::Element, of), Vec::new())
            }
            Type::Union(members) => {
                let members: Vec<Value> = members.iter().map(|of| self.value(of)).collect();
                Value::any(&members)
            }
            Type::Record(id) => {
                let types = &self.program.types;
                let fields = types.field_names(*id).filter_map(|name| {
                    let of = types.field_type(*id, name)?;
                    Some((Rc::from(name), self.field(*id, name, &of)))
                });
                Value::record(fields.collect::<Vec<_>>())
            }
            _ => Value::of(self.own()),
        }
    }

    fn own(&mut self) -> LabelSet {
        (self.labels)(&self.path)
    }

    fn part(&mut self, step: Step, ty: &Type) -> Value {
        self.path.push(step);
        let value = self.value(ty);
        self.path.pop();
        value
    }

    /// A field of a record. Of one that comes in, the pattern has been asked for, and it is what it is marked as.
    fn field(&mut self, id: RecordId, name: &str, ty: &Type) -> Value {
        let mut value = self.part(Step::Field(name.into()), ty);
        if id == MESSAGE && name == TEXT {
            value.absorb(&self.part(Step::Field("content".into()), ty));
        }
        if !self.is_external {
            return value;
        }
        let record = self.program.types.records.get(id);
        let field = record.and_then(|record| record.field(name));
        if let Some(field) = field {
            value = value.matching(&field.constraints);
        }
        let marks = self.program.marked.get(&(id, name.to_owned()));
        let marks = marks.map(|marks| LabelSet::marked(marks, &format!("`{name}`")));
        let mut own = marks.unwrap_or_default();
        if !ty.has_free_text() {
            own = own.without(&Label::TEXT);
        }
        value.or(&Value::of(own))
    }
}

/// Marks of the record fields that a value of the type holds, at any depth.
fn marks_within(program: &Program, ty: &Type) -> LabelSet {
    let mut found = LabelSet::default();
    let (mut open, mut seen) = (vec![ty.clone()], std::collections::BTreeSet::new());
    while let Some(ty) = open.pop() {
        match ty {
            Type::List(of) | Type::Map(of) | Type::Nullable(of) | Type::Optional(of) => {
                open.push((*of).clone());
            }
            Type::Union(members) => open.extend(members.iter().cloned()),
            Type::Record(id) if seen.insert(id) => {
                let record = program.types.records.get(id);
                for field in record.into_iter().flat_map(|record| &record.fields) {
                    if let Some(marks) = program.marked.get(&(id, field.name.clone())) {
                        found.add(&LabelSet::marked(marks, &format!("`{}`", field.name)));
                    }
                    open.push(field.ty.clone());
                }
            }
            _ => {}
        }
    }
    found
}
