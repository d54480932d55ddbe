//! Names that stand for types: in which order they are resolved, and how large a type may become.

use std::collections::HashSet;

use crate::ast::Name;
use crate::ast::ty::{TypeExpr, TypeKind};
use crate::base::FileId;
use crate::diag::codes;
use crate::expr::ty::Type;

use super::names::Definition;
use super::order::behind_what_they_name;
use super::types::holds_error;
use super::{Resolver, State};

/// Most parts of a type, once the types that it names stand in their places. A name that stands for two lists of another
/// such name doubles with each line; whatever looks at a type goes through all of its parts.
const MOST_PARTS: usize = 1_000;

/// Most levels of a type: each takes stack, and two levels of JSON at most, of which readers take 128.
const MOST_LEVELS: usize = 100;

/// `type Key = string | int`, resolved when first used.
pub(super) struct Alias<'a> {
    pub name: &'a Name,
    pub file: FileId,
    pub body: &'a TypeExpr,
    pub state: State<Type>,
}

impl Resolver<'_> {
    /// The type; [`Type::Error`] and reported where a name in it is unknown, or where it is too large.
    pub fn ty(&mut self, file: FileId, written: &TypeExpr) -> Type {
        self.bounded(file, written, None)
    }

    fn bounded(&mut self, file: FileId, written: &TypeExpr, name: Option<&Name>) -> Type {
        let ty = self.built(file, written);
        let Some(beyond) = beyond(&ty) else {
            return ty;
        };
        let (what, span) = match name {
            Some(name) => (format!("type `{}`", name.node), name.span),
            None => ("this type".to_owned(), written.span),
        };
        let message = format!("{what} {beyond}");
        let help = "declare a part of it as a record, `type Part { .. }`, which counts as one part wherever it stands";
        self.report(&codes::LIMIT_EXCEEDED, message, span, help);
        Type::Error
    }

    /// What an alias stands for. Cycles are reported once, by the alias that closes one.
    pub fn alias(&mut self, index: usize) -> Type {
        behind_what_they_name(index, self, Self::begin_alias, Self::finish_alias);
        let Some(alias) = self.aliases.get(index) else {
            return Type::Error;
        };
        if let State::Done(ty) = &alias.state {
            return ty.clone();
        }
        let message = format!("type `{}` stands for itself", alias.name.node);
        let help = "a type that holds itself is a record: `type Tree { children: list<Tree> }`";
        self.report(&codes::CIRCULAR_TYPE, message, alias.name.span, help);
        Type::Error
    }

    /// Begins an alias that is open yet; the aliases that it names.
    fn begin_alias(&mut self, index: usize) -> Option<Vec<usize>> {
        let alias = self.aliases.get_mut(index)?;
        if !alias.state.begin() {
            return None;
        }
        let (file, body) = (alias.file, alias.body);
        let mut found = Vec::new();
        let mut open = vec![body];
        while let Some(ty) = open.pop() {
            match &ty.kind {
                TypeKind::Name(name) => {
                    if let Some(Definition::Alias(index)) = self.meaning(file, name) {
                        found.push(index);
                    }
                }
                TypeKind::Generic(_, of) | TypeKind::Optional(of) => open.push(of),
                TypeKind::Union(members) => open.extend(members.iter().rev()),
                TypeKind::Literal(_) | TypeKind::Record(_) => {}
            }
        }
        Some(found)
    }

    fn finish_alias(&mut self, index: usize) {
        let Some(alias) = self.aliases.get(index) else {
            return;
        };
        let (file, body, name) = (alias.file, alias.body, alias.name);
        let ty = self.bounded(file, body, Some(name));
        // Of what names something that is wrong or too large nothing is known.
        let ty = if holds_error(&ty) { Type::Error } else { ty };
        if let Some(alias) = self.aliases.get_mut(index) {
            alias.state = State::Done(ty);
        }
    }
}

/// Which bound a type goes beyond. A union nests two levels.
fn beyond(ty: &Type) -> Option<String> {
    let mut parts = 0;
    let mut open = vec![(ty, 1)];
    while let Some((ty, level)) = open.pop() {
        parts += 1;
        if level > MOST_LEVELS {
            return Some(format!("nests more than {MOST_LEVELS} levels deep"));
        }
        if parts > MOST_PARTS {
            return Some(format!("has more than {MOST_PARTS} parts"));
        }
        match ty {
            Type::List(of) | Type::Map(of) | Type::Nullable(of) => open.push((of, level + 1)),
            Type::Union(members) => open.extend(members.iter().map(|member| (member, level + 2))),
            _ => {}
        }
    }
    None
}

/// `A | B` in normal form, as far as the bound goes: no union within a union, no repeats, null outside.
pub(super) fn joined(members: impl DoubleEndedIterator<Item = Type>) -> Type {
    let mut flat: Vec<Type> = Vec::new();
    let mut seen: HashSet<Type> = HashSet::new();
    let mut null = false;
    let mut open: Vec<Type> = members.rev().collect();
    while let Some(member) = open.pop() {
        match member {
            Type::Error => return Type::Error,
            Type::Json => return Type::Json,
            Type::Null => null = true,
            Type::Nullable(of) => {
                null = true;
                open.push((*of).clone());
            }
            Type::Union(inner) => open.extend(inner.iter().rev().cloned()),
            _ if flat.len() > MOST_PARTS => {}
            other => {
                if seen.insert(other.clone()) {
                    flat.push(other);
                }
            }
        }
    }
    let joined = match flat.len() {
        0 => Type::Null,
        1 => flat.remove(0),
        _ => Type::Union(flat.into()),
    };
    match null {
        true => Type::nullable(joined),
        false => joined,
    }
}
