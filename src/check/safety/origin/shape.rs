//! What a path's type says of it: whether it can carry a text, how it is marked, whether its form is checked.

use std::collections::HashSet;

use crate::base::Span;
use crate::expr::{RecordId, Type};
use crate::resolve::program::{Marks, Program};

/// What is known of the value at the end of a path.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shape {
    /// It is a truth value, a number, a time or one of few words.
    pub plain: bool,
    /// Its form is checked by a `@pattern` where it enters.
    pub formed: bool,
    /// Marks of record fields on the path, and of those that the value holds.
    pub marks: Marks,
}

/// Follows the fields of a path into a type.
pub fn shape(program: &Program, ty: &Type, path: &[String]) -> Shape {
    let mut shape = Shape::default();
    let mut ty = ty.without_null();
    for step in path {
        let next = match (&ty, step.as_str()) {
            (Type::List(of) | Type::Map(of), "*") => Some((**of).clone()),
            (Type::Map(of), _) => Some((**of).clone()),
            (Type::Record(id), field) => {
                if let Some(marks) = program.marked.get(&(*id, field.to_owned())) {
                    join(&mut shape.marks, marks);
                }
                let record = program.types.records.get(*id);
                let found = record.and_then(|record| record.field(field));
                shape.formed |= found.is_some_and(|field| field.constraints.pattern.is_some());
                found.map(|field| field.ty.clone())
            }
            _ => None,
        };
        match next {
            Some(next) => ty = next.without_null(),
            None => return shape,
        }
    }
    shape.plain = is_plain(&ty);
    join(&mut shape.marks, &held(program, &ty));
    shape
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
