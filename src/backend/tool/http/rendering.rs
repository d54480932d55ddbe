//! Bounds of the template engine that fills the texts of requests: how long a text may get, and how much is made on the way to it.
//!
//! The engine itself bounds its instructions. One instruction may work on a text or a list of any size (`join`, `replace`, `sort`), so filters
//! are charged for what they are given and what they will make, before they do.

use std::cell::Cell;
use std::io;
use std::sync::Arc;

use minijinja::functions;
use minijinja::value::{Rest, ValueKind, ValueOrKwargs};
use minijinja::{Environment, Error, ErrorKind, State, Template, UndefinedBehavior, Value};

use crate::base::cancel;

/// Longest text of a rendering, in bytes.
pub const MOST_TEXT: usize = 16 << 20;

/// Bytes that the filters of one rendering may work on and make.
pub const MOST_WORK: u64 = 64 << 20;

/// Bytes that a part of a value counts as, beside its text.
const PART: u64 = 32;

/// Levels that a value may have which is walked through.
const MOST_LEVELS: usize = 100;

/// Most parts of `slice`, and elements of `batch`.
const MOST_PARTS: usize = 100_000;

/// Filters of the engine that work on all of what they are given.
const CHARGED: [&str; 23] = [
    "batch",
    "capitalize",
    "dictsort",
    "format",
    "groupby",
    "indent",
    "items",
    "join",
    "lines",
    "list",
    "lower",
    "pprint",
    "replace",
    "reverse",
    "slice",
    "sort",
    "split",
    "sum",
    "title",
    "tojson",
    "trim",
    "unique",
    "upper",
];

thread_local! {
    /// What the rendering under way may still work on.
    static LEFT: Cell<u64> = const { Cell::new(MOST_WORK) };
}

/// Gives the filters of an environment their bounds, and takes out what shows its inside. `undefined` is how names without a
/// value are taken there. Filters of one's own are added behind this.
pub fn bound(environment: &mut Environment<'static>, undefined: UndefinedBehavior) {
    let mut builtin = Environment::new();
    builtin.set_undefined_behavior(undefined);
    let builtin = Arc::new(builtin);
    for name in CHARGED {
        let builtin = Arc::clone(&builtin);
        environment.add_filter(name, move |_: &mut State, args: Rest<ValueOrKwargs>| {
            let args = args.into_values();
            args.iter().try_for_each(charge_value)?;
            charge(extra(name, &args)?)?;
            builtin.empty_state().apply_filter(name, &args)
        });
    }
    environment.add_function("range", range);
    environment.remove_global("debug");
}

/// The numbers of the engine's `range`, which end where the rendering is to stop.
fn range(lower: isize, upper: Option<isize>, step: Option<isize>) -> Result<Value, Error> {
    let count = functions::range(lower, upper, step)?.len().unwrap_or(0);
    let (from, step) = (upper.map_or(0, |_| lower), step.unwrap_or(1));
    Ok(Value::make_iterable(move || {
        (0..count).map(move |at| match cancel::is_asked() {
            true => Value::from(stopped()),
            false => Value::from(from + at as isize * step),
        })
    }))
}

/// What a rendering that is to stop fails with.
pub fn stopped() -> Error {
    Error::new(ErrorKind::InvalidOperation, cancel::STOPPED)
}

/// Renders a template within the bounds.
///
/// # Errors
/// Of the template, or that a bound is passed.
pub fn render(template: &Template<'_, '_>, context: Value) -> Result<String, Error> {
    let mut text = Limited(Vec::new());
    let rendered = within(|| template.render_captured_to(context, &mut text).map(drop));
    match rendered {
        Ok(()) => String::from_utf8(text.0)
            .map_err(|error| Error::new(ErrorKind::BadSerialization, error.to_string())),
        Err(error) if error.kind() == ErrorKind::WriteFailure => Err(too_long()),
        Err(error) => Err(error),
    }
}

/// Runs something that renders, with all that a rendering may use.
pub fn within<T>(work: impl FnOnce() -> T) -> T {
    let before = LEFT.replace(MOST_WORK);
    let done = work();
    LEFT.set(before);
    done
}

/// Charges the rendering under way.
///
/// # Errors
/// Where nothing is left for it, or it is to stop.
pub fn charge(bytes: u64) -> Result<(), Error> {
    if cancel::is_asked() {
        return Err(stopped());
    }
    let left = LEFT.get().checked_sub(bytes);
    LEFT.set(left.unwrap_or(0));
    left.map(drop).ok_or_else(|| {
        let message = format!("the template works on more than {} MiB", MOST_WORK >> 20);
        Error::new(ErrorKind::InvalidOperation, message)
    })
}

/// Charges for a value as it would be as text.
///
/// # Errors
/// As [`charge`] has them, and where a value is nested without end.
pub fn charge_value(value: &Value) -> Result<(), Error> {
    walk(value, MOST_LEVELS)
}

fn walk(value: &Value, levels: usize) -> Result<(), Error> {
    charge(PART + value.as_str().map_or(0, |text| text.len() as u64))?;
    match value.kind() {
        ValueKind::Seq | ValueKind::Map if levels == 0 => Err(Error::new(
            ErrorKind::InvalidOperation,
            format!("a value is nested deeper than {MOST_LEVELS} levels"),
        )),
        ValueKind::Seq => {
            let mut items = value.try_iter()?;
            items.try_for_each(|item| walk(&item, levels - 1))
        }
        ValueKind::Map => {
            let mut keys = value.try_iter()?;
            keys.try_for_each(|key| {
                walk(&key, levels - 1)?;
                walk(&value.get_item(&key)?, levels - 1)
            })
        }
        // What is made as it is asked for is charged where it is used.
        ValueKind::Iterable => charge(value.len().unwrap_or(0) as u64 * PART),
        _ => Ok(()),
    }
}

/// Bytes that a filter makes beyond what it is given.
fn extra(name: &str, args: &[Value]) -> Result<u64, Error> {
    let text = |at: usize| args.get(at).and_then(Value::as_str).unwrap_or_default();
    // Also by its name.
    let number = |named: &str| {
        let numbers = args.iter().skip(1).filter_map(|arg| {
            let own = arg.as_usize();
            own.or_else(|| arg.get_attr(named).ok()?.as_usize())
        });
        numbers.max().unwrap_or(0)
    };
    let times = |count: usize, each: usize| (count as u64).saturating_mul(each as u64);
    Ok(match name {
        "replace" => times(text(0).matches(text(1)).count(), text(2).len()),
        "indent" => times(text(0).lines().count() + 1, number("width")),
        "join" => times(
            args.first().and_then(Value::len).unwrap_or(0),
            text(1).len(),
        ),
        "slice" | "batch" if number("count") > MOST_PARTS => {
            let message = format!("`{name}` takes at most {MOST_PARTS}");
            return Err(Error::new(ErrorKind::InvalidOperation, message));
        }
        "slice" | "batch" => times(number("count"), 64),
        // A width or a precision, written out or, for `*`, as an argument.
        "format" => {
            let digits = text(0).split(|c: char| !c.is_ascii_digit());
            let written = digits.map(|number| match number.len() {
                0 => 0,
                1..=9 => number.parse().unwrap_or(0),
                _ => u64::MAX,
            });
            let given = match text(0).contains('*') {
                true => times(text(0).matches('*').count(), number("")),
                false => 0,
            };
            written.fold(given, u64::saturating_add)
        }
        _ => 0,
    })
}

fn too_long() -> Error {
    let message = format!("the text is longer than {} MiB", MOST_TEXT >> 20);
    Error::new(ErrorKind::InvalidOperation, message)
}

/// A text that stops growing.
struct Limited(Vec<u8>);

impl io::Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.len() + bytes.len() > MOST_TEXT {
            true => Err(io::ErrorKind::FileTooLarge.into()),
            false => {
                self.0.extend_from_slice(bytes);
                Ok(bytes.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(text: &str) -> Result<String, String> {
        let mut environment = Environment::new();
        bound(&mut environment, UndefinedBehavior::Strict);
        let big = "a".repeat(1 << 20);
        let many: Vec<u32> = (0..100_000).collect();
        let context = minijinja::context! { big, many, few => ["b", "a"], n => 1_000_000_000 };
        let template = environment.template_from_str(text).expect("a template");
        render(&template, context).map_err(|error| error.to_string())
    }

    #[test]
    fn filters_work_as_before() {
        for (text, is) in [
            ("{{ few | sort | join(', ') }}", "a, b"),
            ("{{ few | join }}", "ba"),
            ("{{ 'aXbX' | replace('X', '--') }}", "a--b--"),
            ("{{ 'a\nb' | indent(width=2, first=true) }}", "  a\n  b"),
            ("{{ '%03d %s' | format(7, 'x') }}", "007 x"),
            (
                "{{ few | tojson }} {{ few | batch(1) | list | length }}",
                "[\"b\", \"a\"] 2",
            ),
            ("{{ many | sum }} {{ 'ab' | upper }}", "4999950000 AB"),
        ] {
            assert_eq!(rendered(text).expect("it renders"), is, "{text}");
        }
    }

    #[test]
    fn what_would_take_all_memory_is_refused_before_it_does() {
        for text in [
            "{{ many | join(big) }}",
            "{{ big | replace('a', big) }}",
            "{{ '%1000000000d' | format(1) }}",
            "{{ '%99999999999999999999d' | format(1) }}",
            "{{ '%*d' | format(n, 1) }}",
            "{{ big | indent(n) }}",
            "{{ big | indent(width=n) }}",
            "{{ many | slice(n) }}",
            "{{ few | batch(n, 'x') }}",
            "{% for i in range(10000) %}{{ big }}{% endfor %}",
            "{% for i in range(10000) %}{{ many | sort | first }}{% endfor %}",
            "{% for i in range(10000) %}{{ many | tojson | length }}{% endfor %}",
            "{% set ns = namespace(x=[1]) %}{% for i in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x | tojson }}",
            "{{ debug() }}",
        ] {
            assert!(rendered(text).is_err(), "{text}");
        }
    }
}
