//! The values that an argument may have: those of its type and attributes, less what tests take away.

use serde_json::{Number, Value as Json};

use crate::expr::{Type, TypeTable};
use crate::ir::narrow::{Argument, Limit};
use crate::resolve::program::Param;

use super::super::types::condition::range::{End, Range};
use super::super::types::condition::values::{Atom, Values};
use super::super::types::cx::Cx;
use super::super::types::jump::texts;
use super::Test;

/// The values of one argument.
#[derive(Debug, Clone, PartialEq)]
pub struct Space {
    values: Values,
    /// The sizes that its texts, lists and maps may have.
    sizes: Values,
}

impl Space {
    /// All that the parameter takes.
    pub fn of(param: &Param, cx: &Cx) -> Self {
        let mut values = (*cx.values_of(&param.ty.node)).clone();
        let bounds = Range::asked(&param.constraints);
        values.keep(&Values {
            numbers: vec![bounds],
            ..Values::all()
        });
        let sizes = Values::range(Range::sizes(&param.constraints), true);
        Self { values, sizes }
    }

    /// Whether no value is left.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty() || (self.sizes.is_empty() && !self.values.has(&Atom::Null))
    }

    /// Takes away what a test doesn't let through.
    pub fn apply(&mut self, test: &Test, param: &Param) {
        match test.sized {
            true => {
                self.sizes.keep(&test.these);
                self.values.keep(&Values::atoms([Atom::Null]).not());
            }
            false => self.values.keep(&test.these),
        }
        if !self.values.others {
            let atoms = std::mem::take(&mut self.values.atoms);
            let all = atoms.iter().cloned();
            self.values.atoms = atoms.clone();
            self.values.atoms = all.filter(|atom| self.has(&json(atom), param)).collect();
        }
    }

    /// Whether a value is one of it. What the attributes of the parameter refuse is not.
    pub fn has(&self, value: &Json, param: &Param) -> bool {
        let has = match value {
            Json::Null => return self.values.has(&Atom::Null),
            Json::Bool(value) => self.values.has(&Atom::Bool(*value)),
            Json::String(text) => {
                let size = Range::point(text.chars().count() as f64);
                self.values.has(&Atom::Text(text.as_str().into())) && self.sizes.meets(size)
            }
            Json::Number(number) => {
                let at = number.as_f64().map(Range::point);
                at.is_some_and(|at| self.values.meets(at))
            }
            Json::Array(_) | Json::Object(_) => self.values.others,
        };
        has && param.constraints.broken(value).is_empty()
    }

    /// Whether every value of `other` is one of it too.
    pub fn covers(&self, other: &Space, param: &Param) -> bool {
        if other.is_empty() {
            return true;
        }
        let sizes = match other.values.others {
            true => other.sizes.is_within(&self.sizes),
            false => other
                .values
                .atoms
                .iter()
                .all(|atom| self.has(&json(atom), param)),
        };
        sizes && other.values.is_within(&self.values)
    }

    /// All of it, where that can be counted.
    fn listed(&self, ty: &Type, types: &TypeTable) -> Option<Vec<Json>> {
        let points = self.values.numbers.iter().map(|range| {
            let (low, high) = (range.low(), range.high());
            (low.0 == high.0).then(|| number(low.0, ty)).flatten()
        });
        let points: Vec<Json> = points
            .map(|at| at.map(Json::Number))
            .collect::<Option<_>>()?;
        if self.values.others {
            return None;
        }
        // In the order in which they are declared.
        let declared = texts(&ty.without_null(), types).unwrap_or_default();
        let declared = declared.into_iter().map(|text| Atom::Text(text.into()));
        let declared: Vec<Atom> = declared.filter(|text| self.values.has(text)).collect();
        let others = self.values.atoms.iter();
        let others = others.filter(|atom| **atom != Atom::Null && !declared.contains(atom));
        let all = declared.iter().chain(others).map(json).chain(points);
        let null = self.values.has(&Atom::Null).then_some(Json::Null);
        Some(all.chain(null).collect())
    }

    /// What a schema says of it beyond what the parameter's own schema says; `None` where that is nothing.
    /// `false` beside it where the schema can't say all of it.
    pub fn argument(
        &self,
        param: &Param,
        cx: &Cx,
        default: Option<&Json>,
    ) -> (Option<Argument>, bool) {
        let (own, ty) = (Space::of(param, cx), &param.ty.node);
        let listed = self.listed(ty, &cx.program.types);
        let listed = listed.filter(|_| self.values != own.values);
        let counted = listed.is_some();
        let [mine, all] = [self, &own].map(|space| space.values.hull());
        let limit = |end: fn(Range) -> End| {
            let (at, taken) = mine.map(end).filter(|found| Some(*found) != all.map(end))?;
            let at = number(at, ty).filter(|_| at.is_finite() && !counted)?;
            Some(Limit { at, open: !taken })
        };
        let [sizes, before] = [self, &own].map(|space| space.sizes.hull());
        let size = |end: fn(Range) -> End| {
            let found = sizes
                .map(end)
                .filter(|found| Some(*found) != before.map(end))?;
            (found.0.is_finite() && !counted).then_some(found.0 as u64)
        };
        let argument = Argument {
            name: param.name.node.clone(),
            min: limit(Range::low),
            max: limit(Range::high),
            min_len: size(Range::low),
            max_len: size(Range::high),
            null: self.values.has(&Atom::Null),
            required: default.is_some_and(|value| !self.has(value, param)),
            values: listed,
        };
        let left_out = self.values.others
            && self
                .values
                .atoms
                .iter()
                .any(|atom| own.values.has(atom) && *atom != Atom::Null);
        let gaps = self.values.numbers.len() > 1 || self.sizes.numbers.len() > 1;
        let whole = counted || !(left_out || gaps);
        ((*self != own).then_some(argument), whole)
    }
}

fn json(atom: &Atom) -> Json {
    match atom {
        Atom::Null => Json::Null,
        Atom::Bool(value) => Json::Bool(*value),
        Atom::Text(text) => Json::from(&**text),
    }
}

/// A number, as a value of the type has it.
fn number(at: f64, ty: &Type) -> Option<Number> {
    let whole = at.fract() == 0.0 && at.abs() < 9e15 && ty.without_null() != Type::Float;
    match whole {
        true => Some(Number::from(at as i64)),
        false => Number::from_f64(at),
    }
}
