//! How types relate: which may stand for which, and which can share a value.

use std::collections::HashSet;

use super::super::ty::{EnumId, RecordId, Type, TypeTable};

/// Whether every value of `from` may stand where a `to` is expected.
///
/// Structural: a record fits another that asks for no more fields, an enum fits one (or a union of
/// texts) that has all of its members, and both fit `string` and `map` alike. `json` takes every value that
/// JSON has a form for, but fits nothing but itself: what comes out of it must be converted.
pub fn assignable(from: &Type, to: &Type, types: &TypeTable) -> bool {
    Relation {
        types,
        assumed: Vec::new(),
        fitting: HashSet::new(),
        refused: HashSet::new(),
        depth: 0,
    }
    .fits(from, to)
}

/// Whether some value belongs to both types, so that `==` between them can hold.
pub fn overlaps(a: &Type, b: &Type, types: &TypeTable) -> bool {
    match (a, b) {
        (Type::Error | Type::Never | Type::Json, _)
        | (_, Type::Error | Type::Never | Type::Json) => true,
        (Type::Nullable(_) | Type::Null, Type::Nullable(_) | Type::Null) => true,
        (Type::Nullable(inner), other) | (other, Type::Nullable(inner)) => {
            overlaps(inner, other, types)
        }
        (Type::Union(members), other) | (other, Type::Union(members)) => {
            members.iter().any(|m| overlaps(m, other, types))
        }
        (Type::Int | Type::Uint | Type::Float, Type::Int | Type::Uint | Type::Float) => true,
        (Type::List(a), Type::List(b))
        | (Type::Map(a), Type::Map(b))
        | (Type::Optional(a), Type::Optional(b)) => overlaps(a, b, types),
        (Type::Record(_), Type::Map(_)) | (Type::Map(_), Type::Record(_)) => true,
        (Type::Record(_), Type::Record(_)) => assignable(a, b, types) || assignable(b, a, types),
        (a, b) => match (texts(a, types), texts(b, types)) {
            (Some(Texts::Any), Some(_)) | (Some(_), Some(Texts::Any)) => true,
            (Some(Texts::Of(a)), Some(Texts::Of(b))) => a.iter().any(|text| b.contains(text)),
            _ => a == b,
        },
    }
}

/// The texts that a type of text has.
pub(super) enum Texts<'a> {
    /// `string`
    Any,
    /// These alone.
    Of(Vec<&'a str>),
}

/// The values of a type of text; `None` for other types.
pub(super) fn texts<'a>(ty: &'a Type, types: &'a TypeTable) -> Option<Texts<'a>> {
    match ty {
        Type::String => Some(Texts::Any),
        Type::Literal(text) => Some(Texts::Of(vec![text])),
        Type::Enum(id) => Some(Texts::Of(members(*id, types).collect())),
        Type::Union(parts) => {
            let mut all = Vec::new();
            for part in parts.iter() {
                match texts(part, types)? {
                    Texts::Any => return Some(Texts::Any),
                    Texts::Of(some) => all.extend(some),
                }
            }
            Some(Texts::Of(all))
        }
        _ => None,
    }
}

fn members(id: EnumId, types: &TypeTable) -> impl Iterator<Item = &str> {
    types
        .enums
        .get(id)
        .into_iter()
        .flat_map(|e| e.members.iter().map(|m| m.name.as_str()))
}

struct Relation<'a> {
    types: &'a TypeTable,
    /// Pairs of records that fit as far as is known, in the order in which they were begun: a recursive type fits if
    /// nothing outside the recursion speaks against it. When one is refused, so is what was found since: it may have relied
    /// on that one.
    assumed: Vec<(RecordId, RecordId)>,
    /// The same pairs, to look up: each is compared once, however many ways lead to it.
    fitting: HashSet<(RecordId, RecordId)>,
    /// Pairs that don't fit, whatever is assumed.
    refused: HashSet<(RecordId, RecordId)>,
    /// How many records are under comparison.
    depth: usize,
}

/// Records that lie in each other deeper than this fit nothing but themselves: comparing takes stack for each level.
const MAX_RECORDS: usize = 2_000;

impl Relation<'_> {
    fn fits(&mut self, from: &Type, to: &Type) -> bool {
        if from == to {
            return true;
        }
        match (from, to) {
            (Type::Error | Type::Never, _) | (_, Type::Error) => true,
            (Type::Union(members), _) => members.iter().all(|m| self.fits(m, to)),
            (Type::Null, _) => to.admits_null(),
            (Type::Nullable(inner), _) => to.admits_null() && self.fits(inner, to),
            (_, Type::Nullable(inner)) => self.fits(from, inner),
            (Type::Enum(id), Type::Union(parts)) => {
                parts.iter().any(|part| self.fits(from, part))
                    || members(*id, self.types).all(|m| self.fits(&Type::Literal(m.into()), to))
            }
            (_, Type::Union(parts)) => parts.iter().any(|part| self.fits(from, part)),
            (_, Type::Json) => self.is_json(from),
            (Type::Literal(_) | Type::Enum(_), Type::String) => true,
            (Type::Enum(a), Type::Enum(b)) => {
                members(*a, self.types).all(|m| members(*b, self.types).any(|n| m == n))
            }
            (Type::List(a), Type::List(b))
            | (Type::Map(a), Type::Map(b))
            | (Type::Optional(a), Type::Optional(b)) => self.fits(a, b),
            (Type::Record(a), Type::Record(b)) => self.record_fits(*a, *b),
            (Type::Record(id), Type::Map(of)) => self.fields(*id).iter().all(|f| self.fits(f, of)),
            _ => false,
        }
    }

    fn record_fits(&mut self, from: RecordId, to: RecordId) -> bool {
        let pair = (from, to);
        if self.fitting.contains(&pair) {
            return true;
        }
        if self.refused.contains(&pair) || self.depth >= MAX_RECORDS {
            return false;
        }
        let (Some(a), Some(b)) = (self.types.records.get(from), self.types.records.get(to)) else {
            return true;
        };
        let begin = self.assumed.len();
        self.assumed.push(pair);
        self.fitting.insert(pair);
        self.depth += 1;
        let fits = b.fields.iter().all(|wanted| {
            a.field(&wanted.name)
                .is_some_and(|found| self.fits(&found.ty, &wanted.ty))
        });
        self.depth -= 1;
        if !fits {
            for found in self.assumed.drain(begin..) {
                self.fitting.remove(&found);
            }
            self.refused.insert(pair);
        }
        fits
    }

    fn fields(&self, id: RecordId) -> Vec<Type> {
        self.types
            .records
            .get(id)
            .map(|r| r.fields.iter().map(|f| f.ty.clone()).collect())
            .unwrap_or_default()
    }

    fn is_json(&mut self, ty: &Type) -> bool {
        match ty {
            Type::Uint | Type::Bytes | Type::Optional(_) | Type::TypeValue => false,
            Type::List(of) | Type::Map(of) => self.fits(of, &Type::Json),
            _ => true,
        }
    }
}
