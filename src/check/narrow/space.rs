//! The values that an argument may have: those of its type and attributes, less what tests take away.

use serde_json::{Number, Value as Json};

use crate::expr::{Type, TypeTable};
use crate::ir::narrow::{Argument, Limit};
use crate::resolve::program::Param;

use super::super::types::jump::texts;
use super::test::{Ask, has};

/// An end of a range: the number, and whether it is left out.
type End = (f64, bool);

/// The values of one argument.
#[derive(Debug, Clone, PartialEq)]
pub struct Space {
    /// All of them, where they can be counted; null among them where it is one.
    values: Option<Vec<Json>>,
    /// Values left out, where the others can't be counted.
    except: Vec<Json>,
    low: Option<End>,
    high: Option<End>,
    least: u64,
    most: Option<u64>,
    null: bool,
    /// Whether only whole numbers belong to it.
    whole: bool,
    never: bool,
}

impl Space {
    /// All that the parameter takes.
    pub fn of(param: &Param, types: &TypeTable) -> Self {
        let ty = &param.ty.node;
        let bound = |number: &Option<Number>| Some((number.as_ref()?.as_f64()?, false));
        let null = ty.admits_null();
        let mut values = counted(&ty.without_null(), types);
        if let (Some(values), true) = (&mut values, null) {
            values.push(Json::Null);
        }
        let (least, most) = match param.constraints.len {
            Some((least, most)) => (least, Some(most)),
            None => (0, None),
        };
        Self {
            values,
            except: Vec::new(),
            low: bound(&param.constraints.min),
            high: bound(&param.constraints.max),
            least,
            most,
            null,
            whole: ty.without_null() == Type::Int,
            never: false,
        }
    }

    /// Whether no value is left.
    pub fn is_empty(&self) -> bool {
        let crossed = match (self.low, self.high) {
            (Some((low, a)), Some((high, b))) => low > high || (low == high && (a || b)),
            _ => false,
        };
        let lengths = self.most.is_some_and(|most| self.least > most);
        let counted = self.values.as_ref().is_some_and(Vec::is_empty);
        counted || self.never || ((crossed || lengths) && !self.null)
    }

    /// Takes away what a test doesn't let through.
    pub fn apply(&mut self, ask: &Ask, param: &Param) {
        match ask {
            Ask::In(wanted) => {
                let fits = |value: &&Json| self.has(value, param);
                let mut left: Vec<Json> = Vec::new();
                for value in wanted.iter().filter(fits) {
                    if !has(&left, value) {
                        left.push(value.clone());
                    }
                }
                self.null = has(&left, &Json::Null);
                self.values = Some(left);
            }
            Ask::NotIn(refused) => {
                if has(refused, &Json::Null) {
                    self.null = false;
                }
                match &mut self.values {
                    Some(values) => values.retain(|value| !has(refused, value)),
                    None => {
                        let new = refused.iter().filter(|v| !v.is_null());
                        let new: Vec<Json> =
                            new.filter(|v| !has(&self.except, v)).cloned().collect();
                        self.except
                            .extend(new.into_iter().filter(|v| in_range(v, self.low, self.high)));
                    }
                }
            }
            Ask::Low(at, open) => {
                let end = self.rounded((*at, *open), 1.0);
                let higher = |old: End| end.0 > old.0 || (end.0 == old.0 && end.1 && !old.1);
                if self.low.is_none_or(higher) {
                    self.low = Some(end);
                }
                self.null = false;
                self.count_again(param);
            }
            Ask::High(at, open) => {
                let end = self.rounded((*at, *open), -1.0);
                let lower = |old: End| end.0 < old.0 || (end.0 == old.0 && end.1 && !old.1);
                if self.high.is_none_or(lower) {
                    self.high = Some(end);
                }
                self.null = false;
                self.count_again(param);
            }
            Ask::Longer(least) => {
                self.least = self.least.max(*least);
                self.null = false;
                self.count_again(param);
            }
            Ask::Shorter(most) => {
                self.most = Some(self.most.map_or(*most, |old| old.min(*most)));
                self.null = false;
                self.count_again(param);
            }
            Ask::Never => self.never = true,
        }
    }

    /// Ends between whole numbers are those numbers: `< 10` is `<= 9`.
    fn rounded(&self, (at, open): End, step: f64) -> End {
        match (self.whole, open, at.fract() == 0.0) {
            (true, true, true) => (at + step, false),
            (true, _, false) if step > 0.0 => (at.ceil(), false),
            (true, _, false) => (at.floor(), false),
            _ => (at, open),
        }
    }

    fn count_again(&mut self, param: &Param) {
        if let Some(values) = self.values.take() {
            let left = values.into_iter().filter(|value| self.has(value, param));
            let left: Vec<Json> = left.collect();
            self.values = Some(left);
        }
    }

    /// Whether a value is one of it. What the attributes of the parameter refuse is not.
    pub fn has(&self, value: &Json, param: &Param) -> bool {
        if value.is_null() {
            return self.null;
        }
        let length = match value {
            Json::String(text) => Some(text.chars().count() as u64),
            _ => None,
        };
        let long = length.is_none_or(|length| {
            length >= self.least && self.most.is_none_or(|most| length <= most)
        });
        !self.never
            && long
            && in_range(value, self.low, self.high)
            && !has(&self.except, value)
            && self.values.as_ref().is_none_or(|values| has(values, value))
            && param.constraints.broken(value).is_empty()
    }

    /// Whether every value of `other` is one of it too.
    pub fn covers(&self, other: &Space, param: &Param) -> bool {
        if other.is_empty() {
            return true;
        }
        if let Some(values) = &other.values {
            return values.iter().all(|value| self.has(value, param));
        }
        let above = |own: Option<End>, other: Option<End>, sign: f64| match (own, other) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(own), Some(other)) => {
                own.0 * sign < other.0 * sign || (own.0 == other.0 && (other.1 || !own.1))
            }
        };
        let most = match (self.most, other.most) {
            (None, _) => true,
            (Some(own), Some(other)) => other <= own,
            (Some(_), None) => false,
        };
        self.values.is_none()
            && !self.never
            && above(self.low, other.low, 1.0)
            && above(self.high, other.high, -1.0)
            && self.least <= other.least
            && most
            && (self.null || !other.null)
            && self.except.iter().all(|value| !other.has(value, param))
    }

    /// What a schema says of it beyond what the parameter's own schema says; `None` where that is nothing.
    /// `false` beside it where the schema can't say all of it.
    pub fn argument(
        &self,
        param: &Param,
        types: &TypeTable,
        default: Option<&Json>,
    ) -> (Option<Argument>, bool) {
        let own = Space::of(param, types);
        let limit = |end: Option<End>, before: Option<End>| {
            let (at, open) = end.filter(|end| Some(*end) != before)?;
            let at = match at.fract() == 0.0 && at.abs() < 9e15 {
                true => Number::from(at as i64),
                false => Number::from_f64(at)?,
            };
            Some(Limit { at, open })
        };
        let counted = self.values.is_some() && self.values != own.values;
        let argument = Argument {
            name: param.name.node.clone(),
            values: self.values.clone().filter(|_| counted),
            min: limit(self.low, own.low).filter(|_| !counted),
            max: limit(self.high, own.high).filter(|_| !counted),
            min_len: (self.least != own.least && !counted).then_some(self.least),
            max_len: self.most.filter(|_| self.most != own.most && !counted),
            null: self.null,
            required: default.is_some_and(|value| !self.has(value, param)),
        };
        ((*self != own).then_some(argument), self.except.is_empty())
    }
}

fn in_range(value: &Json, low: Option<End>, high: Option<End>) -> bool {
    let Some(number) = value.as_f64() else {
        return true;
    };
    let above = low.is_none_or(|(at, open)| number > at || (number == at && !open));
    let below = high.is_none_or(|(at, open)| number < at || (number == at && !open));
    above && below
}

/// All values of a type that has few.
fn counted(ty: &Type, types: &TypeTable) -> Option<Vec<Json>> {
    match ty {
        Type::Bool => Some(vec![Json::Bool(true), Json::Bool(false)]),
        Type::Null => Some(Vec::new()),
        other => Some(texts(other, types)?.into_iter().map(Json::String).collect()),
    }
}
