//! How functions are called, in words, from the texts of their signatures.

use crate::ast::expr::Expr;
use crate::base::name::either;

use super::super::function::Function;
use super::path::path;

/// A type, with the name of what is of it.
pub(super) fn named(expr: &Expr, shown: &str) -> String {
    match path(expr) {
        Some(path) => format!("{shown} (`{path}`)"),
        None => shown.to_owned(),
    }
}

/// How the function is called, with its types.
pub(in crate::expr) fn takes(function: &Function) -> String {
    let forms: Vec<String> = function
        .signatures
        .iter()
        .map(|text| match function.method {
            false => format!("{}{text}", function.name),
            true => {
                let (first, rest) = split_receiver(text);
                format!("{first}.{}({rest}", function.name)
            }
        })
        .collect();
    let shown: Vec<&str> = forms.iter().map(String::as_str).collect();
    format!("it is {}", either(shown))
}

/// The first parameter, and what follows it, of the text of a signature.
fn split_receiver(text: &str) -> (String, String) {
    let all = params(text);
    let first = all.first().cloned().unwrap_or_default();
    let result = text.rsplit("->").next().unwrap_or("").trim();
    let rest = all.get(1..).unwrap_or_default().join(", ");
    (first, format!("{rest}) -> {result}"))
}

pub(super) fn first_param(text: &str) -> Option<String> {
    params(text).into_iter().next()
}

/// The parameters as they are written in a signature.
pub(super) fn params(text: &str) -> Vec<String> {
    let (mut depth, mut current, mut all) = (0_u32, String::new(), Vec::new());
    for c in text.trim().trim_start_matches('(').chars() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            ')' => break,
            ',' if depth == 0 => {
                all.push(std::mem::take(&mut current).trim().to_owned());
                continue;
            }
            _ => {}
        }
        current.push(c);
    }
    if !current.trim().is_empty() {
        all.push(current.trim().to_owned());
    }
    all
}
