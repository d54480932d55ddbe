//! Ranges of numbers.

use crate::ast::expr::BinaryOp;
use crate::expr::constraint::Constraints;

/// An end of a range, and whether it is one of the numbers.
pub type End = (f64, bool);

/// A range of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    low: End,
    high: End,
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

    /// From one end to another.
    pub fn new(low: End, high: End) -> Self {
        Range { low, high }
    }

    /// One number.
    pub fn point(at: f64) -> Self {
        Self::new((at, true), (at, true))
    }

    /// What lies behind the end of one range and before the beginning of the next, or beyond the last one; `None` where an
    /// infinite end leaves nothing.
    pub fn beyond(low: Option<End>, high: Option<End>) -> Option<Self> {
        let finite = |end: Option<End>| end.is_none_or(|(at, _)| at.is_finite());
        let turned = |end: Option<End>, all: End| end.map_or(all, |(at, taken)| (at, !taken));
        let range = Self::new(turned(low, Self::ALL.low), turned(high, Self::ALL.high));
        (finite(low) && finite(high)).then_some(range)
    }

    /// Numbers that `@min` and `@max` leave.
    pub fn asked(constraints: &Constraints) -> Self {
        let end = |number: &Option<serde_json::Number>| Some((number.as_ref()?.as_f64()?, true));
        let low = end(&constraints.min).unwrap_or(Range::ALL.low);
        Self::new(low, end(&constraints.max).unwrap_or(Range::ALL.high))
    }

    /// Sizes that `@len` leaves.
    pub fn sizes(constraints: &Constraints) -> Self {
        let length = constraints.len;
        length.map_or(Range::SIZES, |(least, most)| {
            Self::new((least as f64, true), (most as f64, true))
        })
    }

    /// Numbers for which a comparison with one holds; `None` for other operators.
    pub fn compared(op: BinaryOp, number: f64) -> Option<Range> {
        Some(match op {
            BinaryOp::Less => Self::new(Range::ALL.low, (number, false)),
            BinaryOp::LessEqual => Self::new(Range::ALL.low, (number, true)),
            BinaryOp::Greater => Self::new((number, false), Range::ALL.high),
            BinaryOp::GreaterEqual => Self::new((number, true), Range::ALL.high),
            BinaryOp::Equal => Range::point(number),
            _ => return None,
        })
    }

    /// The lower end.
    pub fn low(self) -> End {
        self.low
    }

    /// The upper end.
    pub fn high(self) -> End {
        self.high
    }

    /// The numbers that both have.
    pub fn and(self, other: Range) -> Range {
        Range {
            low: narrower(self.low, other.low, self.low.0 > other.low.0),
            high: narrower(self.high, other.high, self.high.0 < other.high.0),
        }
    }

    /// What is left of it before and behind another.
    pub fn without(self, other: Range) -> [Range; 2] {
        let below = Self::new(Range::ALL.low, (other.low.0, !other.low.1));
        let above = Self::new((other.high.0, !other.high.1), Range::ALL.high);
        [self.and(below), self.and(above)]
    }

    /// Whether there is no gap to one that begins behind its beginning.
    pub fn touches(self, next: Range) -> bool {
        next.low.0 < self.high.0 || (next.low.0 == self.high.0 && (next.low.1 || self.high.1))
    }

    /// All from its beginning to the end of the later of two.
    pub fn hull(self, next: Range) -> Range {
        let high = match self.high.0 == next.high.0 {
            true => (self.high.0, self.high.1 || next.high.1),
            false if self.high.0 > next.high.0 => self.high,
            false => next.high,
        };
        Self::new(self.low, high)
    }

    /// Whether no number is in it. `whole` says that only whole numbers count.
    pub fn is_empty(self, whole: bool) -> bool {
        let empty =
            |Range { low, high }: Range| low.0 > high.0 || (low.0 == high.0 && !(low.1 && high.1));
        empty(self) || (whole && empty(self.whole()))
    }

    /// The same whole numbers, with the first and the last of them as ends.
    pub fn whole(self) -> Range {
        let low = (first_whole(self.low), true);
        let high = (-first_whole((-self.high.0, self.high.1)), true);
        Range { low, high }
    }

    /// In words: `6`, `more than 3`, `3 or more and 5 or less`.
    pub fn show(self, whole: bool) -> String {
        let Range { low, high } = if whole { self.whole() } else { self };
        // Zero has no sign for people.
        let (low, high) = ((low.0 + 0.0, low.1), (high.0 + 0.0, high.1));
        let from = |(at, taken): End| match taken {
            true => format!("`{at}` or more"),
            false => format!("more than `{at}`"),
        };
        let to = |(at, taken): End| match taken {
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
}

/// The end that leaves less: the first where it `is`, and of two at one number the one that leaves it out.
fn narrower(first: End, second: End, is: bool) -> End {
    match first.0 == second.0 {
        true => (first.0, first.1 && second.1),
        false if is => first,
        false => second,
    }
}

/// The least whole number from a lower end on.
fn first_whole((bound, taken): End) -> f64 {
    match bound.fract() == 0.0 && !taken {
        true => bound + 1.0,
        false => bound.ceil(),
    }
}

/// `3 < x` is `x > 3`.
pub fn turned(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Less => BinaryOp::Greater,
        BinaryOp::LessEqual => BinaryOp::GreaterEqual,
        BinaryOp::Greater => BinaryOp::Less,
        BinaryOp::GreaterEqual => BinaryOp::LessEqual,
        other => other,
    }
}
