//! Functions that expressions may call, one table: name, types, meaning, doc.
//!
//! The checker reads the signatures, the evaluator calls, the reference in `docs/` is made from the docs.

use crate::value::Value;

/// A function or method of the expression language (macros and operators are not here).
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// Called as `x.name(..)`; the receiver is the first parameter of each signature.
    pub method: bool,
    /// Overloads, in the form `(list<T>, int) -> T?`. Capital letters are type variables; `K` stands
    /// for any type; `optional<T>` is CEL's optional. The first that fits counts.
    pub signatures: &'static [&'static str],
    /// One or two sentences with an example, for the reference.
    pub doc: &'static str,
    /// The standard-library module that must be imported for it (`std/text`); empty for the built-in ones.
    pub module: &'static str,
    /// Computes it. Arguments are as many as some signature has; their types are checked here again,
    /// since `json` values are only known at run time. The error is a message without place.
    pub call: fn(&[Value]) -> Result<Value, String>,
}

/// All functions, sorted by name.
pub static FUNCTIONS: &[Function] = &[];

/// The function of that name and shape, where there is one.
pub fn find(name: &str, method: bool) -> Option<&'static Function> {
    FUNCTIONS
        .iter()
        .find(|f| f.name == name && f.method == method)
}
