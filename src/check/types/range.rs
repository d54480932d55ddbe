//! Conditions that compare a number with a constant, as ranges of its values.

use crate::ast::expr::{BinaryOp, Expr, ExprKind};
use crate::expr::TypeTable;
use crate::expr::constraint::Constraints;
use crate::expr::infer::{constant, path};

use super::cases::Reader;

/// A range of numbers: both bounds, each with whether it is one of the numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    low: (f64, bool),
    high: (f64, bool),
}

impl Range {
    /// All numbers.
    pub const ALL: Range = Range {
        low: (f64::NEG_INFINITY, true),
        high: (f64::INFINITY, true),
    };

    /// What a size can be.
    pub const SIZES: Range = Range {
        low: (0.0, true),
        high: (f64::INFINITY, true),
    };

    /// All above zero.
    pub const MORE: Range = Range {
        low: (0.0, false),
        high: (f64::INFINITY, true),
    };

    /// One number.
    pub fn point(at: f64) -> Self {
        bounded((at, true), (at, true))
    }

    /// All between two numbers, neither of them included; all beyond where there is none.
    pub fn between(low: Option<f64>, high: Option<f64>) -> Self {
        let low = low.map_or(Range::ALL.low, |at| (at, false));
        bounded(low, high.map_or(Range::ALL.high, |at| (at, false)))
    }

    /// Numbers that `@min` and `@max` leave.
    pub fn asked(constraints: &Constraints) -> Self {
        let end = |number: &Option<serde_json::Number>| Some((number.as_ref()?.as_f64()?, true));
        let low = end(&constraints.min).unwrap_or(Range::ALL.low);
        bounded(low, end(&constraints.max).unwrap_or(Range::ALL.high))
    }

    /// Sizes that `@len` leaves.
    pub fn sizes(constraints: &Constraints) -> Self {
        let length = constraints.len;
        length.map_or(Range::SIZES, |(least, most)| {
            bounded((least as f64, true), (most as f64, true))
        })
    }

    /// The lowest and the highest number, each with whether it is one of them.
    pub fn bounds(self) -> ((f64, bool), (f64, bool)) {
        (self.low, self.high)
    }

    /// All from its lowest number to the highest of another.
    pub fn to(self, other: Range) -> Range {
        bounded(self.low, other.high)
    }

    /// The numbers that both have.
    pub fn and(self, other: Range) -> Range {
        let low = match self.low.0 == other.low.0 {
            true => (self.low.0, self.low.1 && other.low.1),
            false if self.low.0 > other.low.0 => self.low,
            false => other.low,
        };
        let high = match self.high.0 == other.high.0 {
            true => (self.high.0, self.high.1 && other.high.1),
            false if self.high.0 < other.high.0 => self.high,
            false => other.high,
        };
        Range { low, high }
    }

    /// Whether no number is in it. `whole` says that only whole numbers count.
    pub fn is_empty(self, whole: bool) -> bool {
        let Range { low, high } = if whole { self.whole() } else { self };
        low.0 > high.0 || (low.0 == high.0 && !(low.1 && high.1))
    }

    /// The same whole numbers, with the first and the last of them as bounds.
    fn whole(self) -> Range {
        let low = (first_whole(self.low), true);
        let high = (-first_whole((-self.high.0, self.high.1)), true);
        Range { low, high }
    }

    /// What is left of it without some others, in order. `whole` says that only whole numbers count.
    pub fn without(self, others: impl IntoIterator<Item = Range>, whole: bool) -> Vec<Range> {
        others.into_iter().fold(vec![self], |left, other| {
            let parts = left.into_iter().flat_map(|part| {
                let below = bounded(Range::ALL.low, (other.low.0, !other.low.1));
                let above = bounded((other.high.0, !other.high.1), Range::ALL.high);
                let outside = [below, above].map(|side| {
                    let bound = match side == below {
                        true => other.low.0,
                        false => other.high.0,
                    };
                    bound.is_finite().then(|| part.and(side))
                });
                outside.into_iter().flatten()
            });
            parts.filter(|part| !part.is_empty(whole)).collect()
        })
    }

    /// In words, for what is not taken: `6`, `above 3`, `between 3 and 5`.
    pub fn show(self, whole: bool) -> String {
        let low = match whole {
            true => (first_whole(self.low), true),
            false => self.low,
        };
        let high = match whole {
            true => (-first_whole((-self.high.0, self.high.1)), true),
            false => self.high,
        };
        // Zero has no sign for people.
        let (low, high) = ((low.0 + 0.0, low.1), (high.0 + 0.0, high.1));
        let from = |(at, taken): (f64, bool)| match taken {
            true => format!("`{at}` or more"),
            false => format!("more than `{at}`"),
        };
        let to = |(at, taken): (f64, bool)| match taken {
            true => format!("`{at}` or less"),
            false => format!("less than `{at}`"),
        };
        match (low.0.is_finite(), high.0.is_finite()) {
            _ if low.0 == high.0 => format!("`{}`", low.0),
            (true, true) if low.0 == 0.0 && low.1 => to(high),
            (true, true) => format!("{} and {}", from(low), to(high)),
            (true, false) => from(low),
            (false, true) => to(high),
            (false, false) => "any number".to_owned(),
        }
    }

    /// Whether all its numbers are in another.
    pub fn within(self, other: Range) -> bool {
        self.and(other) == self
    }
}

/// The least whole number from a lower bound on.
fn first_whole((bound, taken): (f64, bool)) -> f64 {
    match bound.fract() == 0.0 && !taken {
        true => bound + 1.0,
        false => bound.ceil(),
    }
}

/// A place that numbers are compared with.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// What is compared: a path, or `size(path)`.
    pub subject: String,
    /// Values for which the comparison holds, of those that there can be.
    pub range: Range,
    /// Values that there can be.
    pub domain: Range,
    /// Whether they are whole numbers.
    pub whole: bool,
}

impl Compared {
    /// The range as the numbers that count: of whole numbers, from the first to the last one in it.
    pub fn counted(&self) -> Range {
        match self.whole {
            true => self.range.whole(),
            false => self.range,
        }
    }
}

/// What a comparison of a place with a number says; `None` for any other condition.
pub fn compared(reader: &mut Reader, expr: &Expr) -> Option<Compared> {
    let ExprKind::Binary(op, left, right) = &expr.kind else {
        return None;
    };
    let types = &reader.cx.program.types;
    let (place, number, op) = match (number(left, types), number(right, types)) {
        (None, Some(number)) => (left, number, op.node),
        (Some(number), None) => (right, number, turned(op.node)?),
        _ => return None,
    };
    let range = comparison(op, number)?;
    let (subject, domain, whole) = match measured(place) {
        Some(of) => (format!("size({})", path(of)?), reader.sizes(of), true),
        None => {
            let subject = reader.subject(place)?;
            let whole = reader.is_whole(&subject);
            (subject, reader.bounds(place), whole)
        }
    };
    Some(Compared {
        subject,
        range: range.and(domain),
        domain,
        whole,
    })
}

/// Numbers for which a comparison with a constant holds.
pub(super) fn comparison(op: BinaryOp, number: f64) -> Option<Range> {
    Some(match op {
        BinaryOp::Less => bounded(Range::ALL.low, (number, false)),
        BinaryOp::LessEqual => bounded(Range::ALL.low, (number, true)),
        BinaryOp::Greater => bounded((number, false), Range::ALL.high),
        BinaryOp::GreaterEqual => bounded((number, true), Range::ALL.high),
        BinaryOp::Equal => Range::point(number),
        _ => return None,
    })
}

fn bounded(low: (f64, bool), high: (f64, bool)) -> Range {
    Range { low, high }
}

/// `3 < x` is `x > 3`.
pub(super) fn turned(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Less => BinaryOp::Greater,
        BinaryOp::LessEqual => BinaryOp::GreaterEqual,
        BinaryOp::Greater => BinaryOp::Less,
        BinaryOp::GreaterEqual => BinaryOp::LessEqual,
        BinaryOp::Equal => BinaryOp::Equal,
        _ => return None,
    })
}

/// What `size(x)` or `x.size()` measures.
pub(super) fn measured(expr: &Expr) -> Option<&Expr> {
    match &expr.kind {
        ExprKind::Call {
            target,
            function,
            args,
        } if function.node == "size" => match (target.as_deref(), args.as_slice()) {
            (None, [of]) => Some(of),
            (Some(of), []) => Some(of),
            _ => None,
        },
        _ => None,
    }
}

/// The number of a constant; beyond 2^53 floats are too coarse to compare with.
pub(super) fn number(expr: &Expr, types: &TypeTable) -> Option<f64> {
    let number = constant(expr, types)?.as_f64()?;
    (number.abs() < 9_007_199_254_740_992.0).then_some(number)
}
