//! Names that stand for types: in which order they are resolved, and how large a type may become.

use std::collections::HashSet;

use crate::ast::Name;
use crate::ast::ty::{TypeExpr, TypeKind};
use crate::base::FileId;
use crate::diag::{Diagnostic, codes};
use crate::expr::ty::Type;

use super::Resolver;
use super::names::Thing;
use super::order::behind_what_they_name;

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
    pub state: AliasState,
}

/// How far an alias is.
#[derive(Clone)]
pub(super) enum AliasState {
    Open,
    Busy,
    Done(Built),
}

/// A type and how large it is.
#[derive(Debug, Clone)]
pub(super) struct Built {
    pub ty: Type,
    /// Names, texts and brackets that it is made of.
    parts: usize,
    /// How deep they nest; a union counts as two.
    levels: usize,
    /// Whether a part of it was too large, which is reported.
    lost: bool,
}

impl From<Type> for Built {
    /// Of a type that nothing nests in.
    fn from(ty: Type) -> Self {
        Self {
            ty,
            parts: 1,
            levels: 1,
            lost: false,
        }
    }
}

impl Built {
    /// The type with a level around it.
    pub fn around(self, wrap: impl FnOnce(Type) -> Type) -> Self {
        Self {
            ty: wrap(self.ty),
            parts: self.parts + 1,
            levels: self.levels + 1,
            lost: self.lost,
        }
    }

    /// `A | B` in normal form: no union within a union, no repeats, null outside. One that is too large has not all of its
    /// members.
    pub fn union(members: Vec<Built>) -> Self {
        let parts = members.iter().map(|member| member.parts).sum::<usize>() + 1;
        let levels = members.iter().map(|member| member.levels).max();
        let lost = members.iter().any(|member| member.lost);
        let ty = joined(members.into_iter().map(|member| member.ty));
        let levels = levels.unwrap_or(0) + 2;
        // What stands in several members is counted once.
        let parts = match parts > MOST_PARTS {
            true => counted(&ty),
            false => parts,
        };
        Self {
            ty,
            parts,
            levels,
            lost,
        }
    }

    /// Which bound it goes beyond.
    fn beyond(&self) -> Option<String> {
        if self.levels > MOST_LEVELS {
            return Some(format!("nests more than {MOST_LEVELS} levels deep"));
        }
        (self.parts > MOST_PARTS).then(|| format!("has more than {MOST_PARTS} parts"))
    }
}

impl Resolver<'_> {
    /// The type; [`Type::Error`] and reported where a name in it is unknown, or where it is too large.
    pub fn ty(&mut self, file: FileId, written: &TypeExpr) -> Type {
        self.bounded(file, written, None).ty
    }

    fn bounded(&mut self, file: FileId, written: &TypeExpr, name: Option<&Name>) -> Built {
        let built = self.built(file, written);
        let beyond = built.beyond().filter(|_| !built.lost);
        if let Some(beyond) = &beyond {
            let (what, span) = match name {
                Some(name) => (format!("type `{}`", name.node), name.span),
                None => ("this type".to_owned(), written.span),
            };
            let message = format!("{what} {beyond}");
            let help = "declare a part of it as a record, `type Part { .. }`, which counts as one part wherever it stands";
            self.diags
                .push(Diagnostic::new(&codes::LIMIT_EXCEEDED, message, span).help(help));
        }
        match beyond.is_some() || built.lost {
            true => Built {
                lost: true,
                ..Type::Error.into()
            },
            false => built,
        }
    }

    /// What an alias stands for. Circles are reported once, by the alias that closes one.
    pub fn alias(&mut self, index: usize) -> Built {
        behind_what_they_name(index, self, Self::begin_alias, Self::finish_alias);
        let Some(alias) = self.aliases.get(index) else {
            return Type::Error.into();
        };
        if let AliasState::Done(built) = &alias.state {
            return built.clone();
        }
        let message = format!("type `{}` stands for itself", alias.name.node);
        let help = "a type that holds itself is a record: `type Tree { children: list<Tree> }`";
        let found = Diagnostic::new(&codes::CIRCULAR_TYPE, message, alias.name.span);
        self.diags.push(found.help(help));
        Type::Error.into()
    }

    /// Begins an alias that is open yet; the aliases that it names.
    fn begin_alias(&mut self, index: usize) -> Option<Vec<usize>> {
        let alias = self.aliases.get_mut(index)?;
        let AliasState::Open = alias.state else {
            return None;
        };
        alias.state = AliasState::Busy;
        let (file, body) = (alias.file, alias.body);
        let mut found = Vec::new();
        let mut open = vec![body];
        while let Some(ty) = open.pop() {
            match &ty.kind {
                TypeKind::Name(name) => {
                    if let Some(Thing::Alias(index)) = self.meaning(file, name) {
                        found.push(index);
                    }
                }
                TypeKind::Generic(_, of) | TypeKind::Optional(of) => open.push(of),
                TypeKind::Union(members) => open.extend(members.iter().rev()),
                TypeKind::Literal(_) => {}
            }
        }
        Some(found)
    }

    fn finish_alias(&mut self, index: usize) {
        let Some(alias) = self.aliases.get(index) else {
            return;
        };
        let (file, body, name) = (alias.file, alias.body, alias.name);
        let built = self.bounded(file, body, Some(name));
        if let Some(alias) = self.aliases.get_mut(index) {
            alias.state = AliasState::Done(built);
        }
    }
}

/// `A | B` in normal form, as far as the bound goes.
fn joined(members: impl DoubleEndedIterator<Item = Type>) -> Type {
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

/// The parts of a type, or one more than it may have.
fn counted(ty: &Type) -> usize {
    let mut parts = 0;
    let mut open = vec![ty];
    while let Some(ty) = open.pop() {
        parts += 1;
        if parts > MOST_PARTS {
            break;
        }
        match ty {
            Type::List(of) | Type::Map(of) | Type::Nullable(of) => open.push(of),
            Type::Union(members) => open.extend(members.iter()),
            _ => {}
        }
    }
    parts
}
