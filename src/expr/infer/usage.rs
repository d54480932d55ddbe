//! How functions are called, in words.

use crate::ast::expr::Expr;
use crate::base::name::either;

use super::super::function::FunctionSpec;
use super::super::function::signature::Signature;
use super::path::path;

/// A type, with the name of what is of it.
pub(super) fn named(expr: &Expr, shown: &str) -> String {
    match path(expr) {
        Some(path) => format!("{shown} (`{path}`)"),
        None => shown.to_owned(),
    }
}

/// How the function is called, with its types.
pub(in crate::expr) fn takes(function: &FunctionSpec) -> String {
    let form = |signature: &Signature| match signature.params.first() {
        Some(first) if function.is_method() => {
            format!("{first}.{}{}", function.name, signature.from(1))
        }
        _ => format!("{}{signature}", function.name),
    };
    let forms: Vec<String> = function.signatures.iter().map(form).collect();
    format!("it is {}", either(forms.iter().map(String::as_str)))
}
