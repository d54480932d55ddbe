//! What a path's type says of it: whether it can carry a text, how it is marked, whether its form is checked.

use std::collections::HashSet;

use crate::base::Span;
use crate::expr::{RecordId, Type};
use crate::resolve::program::{Marks, Program};

use super::made::{EACH, ELEMENT, KEY, is_index};

/// What is known of the value at the end of a path.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shape {
    /// It is a truth value, a number, a time or one of few words.
    pub plain: bool,
    /// It is the position of an element, which says nothing of the list.
    pub position: bool,
    /// Its form is checked by a `@pattern` where it enters.
    pub formed: bool,
    /// Marks of record fields on the path.
    pub marks: Marks,
    /// Marks of those that the value holds.
    pub held: Marks,
}

/// Follows the steps of a path into a type.
pub fn shape(program: &Program, ty: &Type, path: &[String]) -> Shape {
    let mut shape = Shape::default();
    let types = walk(program, ty, path, &mut |at, step| match at {
        Type::Record(id) => {
            if let Some(marks) = program.marked.get(&(*id, step.to_owned())) {
                join(&mut shape.marks, marks);
            }
            let record = program.types.records.get(*id);
            let found = record.and_then(|record| record.field(step));
            shape.formed |= found.is_some_and(|field| field.constraints.pattern.is_some());
        }
        Type::List(_) => shape.position |= step == KEY,
        _ => {}
    });
    shape.plain = !types.is_empty() && types.iter().all(is_plain);
    for ty in &types {
        join(&mut shape.held, &held(program, ty));
    }
    shape
}

/// The path, where what a macro goes over is told by the types: the elements of a list, the keys of a map.
pub fn plainly(program: &Program, ty: &Type, path: &[String]) -> Vec<String> {
    let mut steps = path.to_vec();
    if !steps.iter().any(|step| step == EACH) {
        return steps;
    }
    for at in 0..path.len() {
        let Some(step) = steps.get(at).filter(|step| *step == EACH) else {
            continue;
        };
        let step = step.clone();
        let mut keys = false;
        walk(
            program,
            ty,
            steps.get(..=at).unwrap_or_default(),
            &mut |of, s| {
                keys = s == step && matches!(of, Type::Map(_));
            },
        );
        if let Some(step) = steps.get_mut(at) {
            *step = if keys { KEY } else { ELEMENT }.to_owned();
        }
    }
    steps
}

/// The types at the end of a path; none where it leads into what has no declared parts.
fn walk(
    program: &Program,
    ty: &Type,
    path: &[String],
    visit: &mut dyn FnMut(&Type, &str),
) -> Vec<Type> {
    let mut types = vec![ty.without_null()];
    for step in path {
        let mut next = Vec::new();
        while let Some(ty) = types.pop() {
            visit(&ty, step);
            match (&ty, step.as_str()) {
                (Type::Union(members), _) => {
                    types.extend(members.iter().map(Type::without_null));
                }
                (Type::Optional(of), _) => types.push(of.without_null()),
                (Type::List(of), ELEMENT | EACH) => next.push(of.without_null()),
                (Type::List(of), at) if is_index(at) => next.push(of.without_null()),
                (Type::List(_), KEY) => next.push(Type::Int),
                (Type::Map(_), KEY | EACH) => next.push(Type::String),
                (Type::Map(of), _) => next.push(of.without_null()),
                (Type::Record(id), field) => {
                    let found = program.types.field_type(*id, field);
                    next.extend(found.map(|ty| ty.without_null()));
                }
                _ => {}
            }
        }
        types = next;
    }
    types
}

fn join(marks: &mut Marks, other: &Marks) {
    marks.untrusted = marks.untrusted.or(other.untrusted);
    marks.private = marks.private.or(other.private);
    marks.secret = marks.secret.or(other.secret);
}

/// Whether a value of the type can't carry a free text.
pub fn is_plain(ty: &Type) -> bool {
    match ty {
        Type::Null
        | Type::Bool
        | Type::Int
        | Type::Uint
        | Type::Float
        | Type::Timestamp
        | Type::Duration
        | Type::Enum(_)
        | Type::Literal(_)
        | Type::Never
        | Type::Error => true,
        Type::Nullable(of) | Type::List(of) | Type::Optional(of) => is_plain(of),
        Type::Union(members) => members.iter().all(is_plain),
        _ => false,
    }
}

/// Marks of the fields that a value of the type holds, at any depth.
fn held(program: &Program, ty: &Type) -> Marks {
    let mut marks = Marks::default();
    if program.marked.is_empty() {
        return marks;
    }
    let mut seen: HashSet<RecordId> = HashSet::new();
    let mut open = vec![ty.clone()];
    while let Some(ty) = open.pop() {
        match ty {
            Type::List(of) | Type::Map(of) | Type::Nullable(of) | Type::Optional(of) => {
                open.push((*of).clone());
            }
            Type::Union(members) => open.extend(members.iter().cloned()),
            Type::Record(id) if seen.insert(id) => {
                let record = program.types.records.get(id);
                for field in record.into_iter().flat_map(|record| &record.fields) {
                    if let Some(own) = program.marked.get(&(id, field.name.clone())) {
                        join(&mut marks, own);
                    }
                    open.push(field.ty.clone());
                }
            }
            _ => {}
        }
    }
    marks
}

/// The kinds of sources that a rule looks for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wanted {
    /// What a model wrote.
    pub model: bool,
    /// `@untrusted`
    pub untrusted: bool,
    /// `@private`
    pub private: bool,
    /// `@secret`
    pub secret: bool,
    /// Also what a model made from such a value.
    pub through_models: bool,
    /// A person in between, a condition on the value or a type without free text ends the search.
    pub guarded: bool,
}

impl Wanted {
    /// The mark that is looked for, with its word.
    pub fn mark(self, marks: &Marks) -> Option<(Span, &'static str)> {
        let of = |wanted: bool, span: Option<Span>, word| {
            span.filter(|_| wanted).map(|span| (span, word))
        };
        of(self.secret, marks.secret, "secret")
            .or(of(self.untrusted, marks.untrusted, "untrusted"))
            .or(of(self.private, marks.private, "private"))
    }
}
