//! How functions are called, in words.

use crate::ast::expr::Expr;
use crate::ast::template::{CAPTURED, ELEMENT, shown_place};
use crate::base::name::either;

use super::super::function::FunctionSpec;
use super::super::function::signature::Signature;
use super::path::path;

/// A type, with the name of what is of it.
pub(super) fn named(expr: &Expr, shown: &str) -> String {
    // What stands for an element in a filter has no name.
    match path(expr).filter(|path| !matches!(path.as_str(), ELEMENT | CAPTURED)) {
        Some(path) => format!("{shown} (`{}`)", shown_place(&path)),
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

/// How many arguments there may be, in words.
pub(in crate::expr) fn counted((least, most): (usize, usize)) -> String {
    match (least, most) {
        (0, 0) => "no arguments".to_owned(),
        (1, 1) => "1 argument".to_owned(),
        (least, most) if least == most => format!("{least} arguments"),
        (0, 1) => "at most 1 argument".to_owned(),
        (0, most) => format!("at most {most} arguments"),
        (least, most) if least + 1 == most => format!("{least} or {most} arguments"),
        (least, most) => format!("{least} to {most} arguments"),
    }
}
