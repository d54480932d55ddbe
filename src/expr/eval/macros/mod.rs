//! Macros: methods that bind names in their arguments, which are evaluated once for each element, once, or not at all.
//!
//! A name is a macro only with as many arguments as the macro has: `xs.map(x, e)` is one, and
//! so `x.join(y)` stays free for the function table.

mod binding;
mod each;
mod gather;
mod optional;
mod order;
mod quantify;
mod transform;

use crate::ast::Name;
use crate::ast::expr::Expr;
use crate::base::Span;

use super::CompileError;
use super::compiler::Compiler;
use super::machine::Node;

pub(super) use binding::compile as bind;

/// The node of a macro; `None` where name and number of arguments are those of none.
pub(super) fn compile(
    compiler: &mut Compiler<'_>,
    span: Span,
    target: &Expr,
    function: &Name,
    args: &[Expr],
) -> Result<Option<Node>, CompileError> {
    let call = MacroCall { span, target };
    let node = match (function.as_str(), args) {
        ("all", [vars @ .., body]) if is_vars(vars) => {
            quantify::quantifier(compiler, call, vars, body, false)
        }
        ("exists", [vars @ .., body]) if is_vars(vars) => {
            quantify::quantifier(compiler, call, vars, body, true)
        }
        ("exists_one" | "existsOne", [vars @ .., body]) if is_vars(vars) => {
            quantify::exists_one(compiler, call, vars, body)
        }
        ("map", [var, body]) => transform::to_list(compiler, call, &[var], None, body),
        ("map", [var, when, body]) => transform::to_list(compiler, call, &[var], Some(when), body),
        ("filter", [var, when]) => transform::filter(compiler, call, var, when),
        ("find", [var, when]) => order::find(compiler, call, var, when),
        ("sort_by", [var, key]) => order::sort_by(compiler, call, var, key),
        ("transformList", [k, v, body]) => transform::to_list(compiler, call, &[k, v], None, body),
        ("transformList", [k, v, when, body]) => {
            transform::to_list(compiler, call, &[k, v], Some(when), body)
        }
        ("transformMap", [k, v, body]) => transform::to_map(compiler, call, &[k, v], None, body),
        ("transformMap", [k, v, when, body]) => {
            transform::to_map(compiler, call, &[k, v], Some(when), body)
        }
        ("checked", [var, when]) => binding::checked(compiler, call, var, when),
        ("fold", [acc, var, init, body]) => gather::fold(compiler, call, [acc, var], init, body),
        ("to_map", [var, key, value]) => gather::to_map(compiler, call, var, key, value),
        ("group_by", [var, key]) => gather::group_by(compiler, call, var, key),
        ("optMap", [var, body]) => optional::map(compiler, call, var, body, false),
        ("optFlatMap", [var, body]) => optional::map(compiler, call, var, body, true),
        _ => return Ok(None),
    };
    node.map(Some)
}

/// What all macros are compiled from besides their arguments.
#[derive(Clone, Copy)]
struct MacroCall<'a> {
    /// The whole call.
    span: Span,
    /// Left of the dot.
    target: &'a Expr,
}

fn is_vars(args: &[Expr]) -> bool {
    matches!(args.len(), 1 | 2)
}
