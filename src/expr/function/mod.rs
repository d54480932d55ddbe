//! Functions that expressions may call, one table: name, types, meaning, doc.
//!
//! The checker reads the signatures, the evaluator calls, the reference in `docs/` is made from
//! the docs, and each example is run as a test. A family of functions is a file with a table of
//! its own; of macros and effects only the description is here, in [`form`]; what they do is part of [`eval`](super::eval).

mod args;
mod base64;
mod bits;
mod convert;
mod extreme;
pub mod form;
mod format;
mod json;
mod list;
mod map;
mod math;
pub mod message;
mod optional;
pub(super) mod order;
pub(crate) mod pattern;
mod position;
mod size;
pub(super) mod span;
mod string;
mod text;
pub(super) mod time;
mod url;

use std::sync::LazyLock;

use crate::value::Value;

/// A function or method of the expression language.
pub struct Function {
    /// Its name; dotted where it belongs to a name space, as in `optional.of`.
    pub name: &'static str,
    /// Called as `x.name(..)`; the receiver is the first parameter of each signature.
    pub method: bool,
    /// Overloads, in the form `(list<T>, int) -> T?`. A single capital letter is a type variable,
    /// which stands for any type where it occurs once; `optional<T>` is CEL's optional. The first
    /// that fits counts.
    pub signatures: &'static [&'static str],
    /// One or two sentences, for the reference.
    pub doc: &'static str,
    /// An expression that is true.
    pub example: &'static str,
    /// The standard-library module that must be imported for it (`std/text`); empty for the built-in ones.
    pub module: &'static str,
    /// Whether it takes the same time for large arguments as for small ones.
    pub quick: bool,
    /// Computes it. Arguments are as many as some signature has; their types are checked here again,
    /// since `json` values are only known at run time. The error is a message without place.
    pub call: fn(&[Value]) -> Result<Value, String>,
}

impl Function {
    const fn method(
        name: &'static str,
        signatures: &'static [&'static str],
        call: fn(&[Value]) -> Result<Value, String>,
        doc: &'static str,
        example: &'static str,
    ) -> Function {
        Function {
            name,
            method: true,
            signatures,
            doc,
            example,
            module: "",
            quick: false,
            call,
        }
    }

    const fn global(
        name: &'static str,
        signatures: &'static [&'static str],
        call: fn(&[Value]) -> Result<Value, String>,
        doc: &'static str,
        example: &'static str,
    ) -> Function {
        Function {
            method: false,
            ..Function::method(name, signatures, call, doc, example)
        }
    }

    const fn quick(self) -> Function {
        Function {
            quick: true,
            ..self
        }
    }

    /// How many parameters each overload has, the receiver included.
    pub fn arities(&self) -> impl Iterator<Item = usize> {
        self.signatures.iter().map(|signature| arity(signature))
    }

    /// Whether some overload takes that many arguments, the receiver included.
    pub fn takes(&self, args: usize) -> bool {
        self.signatures.iter().any(|signature| {
            let arity = arity(signature);
            args == arity || (is_variadic(signature) && args + 1 >= arity)
        })
    }
}

/// Whether the last parameter of a signature may be given any number of times: `(int, int...) -> int`.
fn is_variadic(signature: &str) -> bool {
    signature.contains("...)")
}

/// Parameters of a signature: one more than the commas between its parentheses, outside `<>`.
fn arity(signature: &str) -> usize {
    let inside = signature.split(')').next().unwrap_or_default();
    let inside = inside.trim_start_matches('(').trim();
    if inside.is_empty() {
        return 0;
    }
    let mut depth = 0u32;
    let commas = inside.chars().filter(|c| {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        *c == ',' && depth == 0
    });
    commas.count() + 1
}

/// All functions, sorted by name.
pub static FUNCTIONS: LazyLock<Vec<&'static Function>> = LazyLock::new(|| {
    let families = [
        base64::FUNCTIONS,
        bits::FUNCTIONS,
        convert::FUNCTIONS,
        extreme::FUNCTIONS,
        format::FUNCTIONS,
        json::FUNCTIONS,
        list::FUNCTIONS,
        map::FUNCTIONS,
        math::FUNCTIONS,
        message::FUNCTIONS,
        optional::FUNCTIONS,
        order::FUNCTIONS,
        pattern::FUNCTIONS,
        position::FUNCTIONS,
        size::FUNCTIONS,
        string::FUNCTIONS,
        text::FUNCTIONS,
        time::FUNCTIONS,
        url::FUNCTIONS,
    ];
    let mut all: Vec<&'static Function> = families.into_iter().flatten().collect();
    all.sort_by_key(|function| (function.name, function.method));
    all
});

/// The function of that name and shape, where there is one.
pub fn find(name: &str, method: bool) -> Option<&'static Function> {
    let at = FUNCTIONS
        .binary_search_by(|f| (f.name, f.method).cmp(&(name, method)))
        .ok()?;
    FUNCTIONS.get(at).copied()
}
