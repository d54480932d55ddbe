//! `math.greatest` and `math.least`: of numbers given one by one, or of a list, of whatever kinds.

use std::cmp::Ordering;

use crate::value::Value;

use super::Row;
use super::args::{self, Computed};

pub(super) const FUNCTIONS: &[Row] = &[
    Row::global(
        "math.greatest",
        EXTREME,
        |args| extreme(args, Ordering::Greater),
        "The greatest of the numbers, or of the numbers of a list; the first of several that are equal.",
        "math.greatest(3, 7, -2) == 7",
    ),
    Row::global(
        "math.least",
        EXTREME,
        |args| extreme(args, Ordering::Less),
        "The least of the numbers, or of the numbers of a list; the first of several that are equal.",
        "math.least([3.5, 7.0, -2.0]) == -2.0",
    ),
];

const EXTREME: &[&str] = &[
    "(int, int...) -> int",
    "(float, float...) -> float",
    "(list<int>) -> int",
    "(list<float>) -> float",
    "(int | uint | float, int | uint | float...) -> json",
    "(list<int | uint | float>) -> json",
];

fn extreme(args: &[Value], wanted: Ordering) -> Computed {
    match args {
        [Value::List(list)] => of(list.iter(), wanted),
        _ => of(args.iter(), wanted),
    }
}

fn of<'a>(numbers: impl Iterator<Item = &'a Value>, wanted: Ordering) -> Computed {
    let mut found: Option<&Value> = None;
    for number in numbers {
        if !number.is_number() {
            return Err(args::expected("a number", number));
        }
        let better = found.is_none_or(|found| number.compare(found) == Some(wanted));
        if better {
            found = Some(number);
        }
    }
    found
        .cloned()
        .ok_or_else(|| "there is no number to choose from".into())
}
