//! Parts of an expression that fail whenever they are come to: `x / 0`, `xs[-1]`, `int("a")`, `[1, 2][5]`.
//!
//! What is written out without a name is evaluated here, as the run would; where it fails, it fails each time. An operand of `&&` or
//! `||` that decides makes up for another that fails, so only the greatest parts without a name are looked at.

use crate::ast::expr::{BinaryOp, Expr, ExprKind};
use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, Fact, Level, codes};
use crate::value::Value;

use super::super::eval::{self, Effect, Env, ErrorKind};
use super::super::function;
use super::super::scope::{Scope, Slot};
use super::super::ty::TypeTable;
use super::macros;
use super::path::path;

/// Reports the parts of an expression, right otherwise, that can't have a value.
pub fn doomed(expr: &Expr, scope: &Scope, types: &TypeTable, diags: &mut Diagnostics) {
    if let ExprKind::Record { .. } = &expr.kind {
        // It can be made wherever its parts can. All else in it is by default, which may be much.
        return expr.each_part(|part| doomed(part, scope, types, diags));
    }
    let mut walk = Walk {
        scope,
        types,
        diags,
    };
    if walk.is_closed(expr) {
        walk.value(expr);
    }
}

/// Reports the parts of a value that goes on into a state, an output, an argument or a text, and that are numbers each time which
/// are infinite or none: such a value is refused there.
pub fn never_finite(expr: &Expr, scope: &Scope, types: &TypeTable, diags: &mut Diagnostics) {
    match &expr.kind {
        ExprKind::List(_) | ExprKind::Map(_) | ExprKind::Record { .. } => {
            expr.each_part(|part| never_finite(part, scope, types, diags));
        }
        ExprKind::Conditional(_, yes, no) => {
            for branch in [yes, no] {
                never_finite(branch, scope, types, diags);
            }
        }
        _ => {
            let mut silent = Diagnostics::new();
            let mut walk = Walk {
                scope,
                types,
                diags: &mut silent,
            };
            if walk.is_closed(expr)
                && let Some(Err(why)) = walk.value(expr).map(|value| value.check_finite())
            {
                diags.push(always_fails(expr.span, why));
            }
        }
    }
}

struct Walk<'a> {
    scope: &'a Scope,
    types: &'a TypeTable,
    diags: &'a mut Diagnostics,
}

impl Walk<'_> {
    /// Whether nothing in it has a name whose value is only known in a run. Of one that has, the parts that haven't are evaluated.
    fn is_closed(&mut self, expr: &Expr) -> bool {
        let parts: Vec<&Expr> = match &expr.kind {
            ExprKind::Literal(_) => return true,
            ExprKind::Ident(_) | ExprKind::Error => return false,
            ExprKind::Select { operand, .. } if self.is_enum(operand) => return true,
            ExprKind::Call {
                target: None,
                function,
                args,
            } => match function::special(function) {
                Some(_) => return false,
                None => args.iter().collect(),
            },
            ExprKind::Call {
                target: Some(target),
                function,
                args,
            } => match macros::bound(function, args) {
                // Loops may take long: their parts are looked at, not what they come to.
                Some((vars, _)) => {
                    self.each(std::iter::once(&**target).chain(args.iter().skip(vars.len())));
                    return false;
                }
                None if self.is_qualified(target, function) => args.iter().collect(),
                None => expr.parts(),
            },
            _ => expr.parts(),
        };
        let closed: Vec<bool> = parts.iter().map(|part| self.is_closed(part)).collect();
        if closed.iter().all(|closed| *closed) {
            return true;
        }
        let mut fails = false;
        for (part, closed) in parts.iter().zip(&closed) {
            let literal = matches!(part.kind, ExprKind::Literal(_));
            fails |= *closed && !literal && self.value(part).is_none();
        }
        if !fails {
            self.with_a_constant(expr, &closed);
        }
        false
    }

    fn each<'e>(&mut self, parts: impl Iterator<Item = &'e Expr>) {
        for part in parts {
            if self.is_closed(part) {
                self.value(part);
            }
        }
    }

    /// `x / 0`, `x % 0` and `xs[-1]`, whatever `x` and `xs` are.
    fn with_a_constant(&mut self, expr: &Expr, closed: &[bool]) {
        let [false, true] = closed else { return };
        match &expr.kind {
            ExprKind::Binary(op, left, right)
                if matches!(op.node, BinaryOp::Divide | BinaryOp::Modulo) =>
            {
                let what = match op.node {
                    BinaryOp::Divide => "division",
                    _ => "modulo",
                };
                if matches!(self.value(right), Some(Value::Int(0) | Value::Uint(0))) {
                    let (left, sign) = (shown(left), op.node.sign());
                    let why = format!("{what} by zero: `{left} {sign} 0`");
                    self.report(expr.span, &why);
                }
            }
            ExprKind::Index {
                operand,
                index,
                optional: false,
            } => {
                if let Some(Value::Int(at @ i64::MIN..0)) = self.value(index) {
                    let of = shown(operand);
                    let why = format!("`{of}` has no index `{at}`, a list's first is `0`");
                    let mut found = always_fails(expr.span, &why);
                    found = match at {
                        -1 => found
                            .help(format!("write `{of}.last().value()`"))
                            .fact(Fact::Foreign),
                        at => found.help(format!(
                            "count from the end: `{of}[size({of}) - {}]`",
                            at.unsigned_abs()
                        )),
                    };
                    self.diags.push(found);
                }
            }
            _ => {}
        }
    }

    fn is_enum(&self, expr: &Expr) -> bool {
        let ExprKind::Ident(name) = &expr.kind else {
            return false;
        };
        self.scope.slot(name).is_none() && self.types.enum_named(name).is_some()
    }

    fn is_qualified(&self, target: &Expr, function: &str) -> bool {
        let name = target.dotted().map(|space| format!("{space}.{function}"));
        name.is_some_and(|name| function::find(&name, false).is_some())
    }

    /// What a part without a name comes to; reported where that is nothing.
    fn value(&mut self, expr: &Expr) -> Option<Value> {
        if let ExprKind::Select { operand, .. } = &expr.kind
            && self.is_enum(operand)
        {
            return Some(Value::Null);
        }
        let scope = Scope {
            functions: self.scope.functions.clone(),
            ..Scope::default()
        };
        let program = eval::compile(expr, &scope, self.types).ok()?;
        match program.eval_early(&Nothing) {
            Ok(value) => Some(value),
            Err(error) => {
                match error.kind {
                    ErrorKind::Effect => {}
                    // A limit is of this evaluation, not of the expression.
                    ErrorKind::Limit => self.diags.push(not_proven(error.span, &error.message)),
                    _ => self.report(error.span, &error.message),
                }
                None
            }
        }
    }

    fn report(&mut self, span: Span, why: &str) {
        self.diags.push(always_fails(span, why));
    }
}

fn always_fails(span: Span, why: &str) -> Diagnostic {
    let message = format!("this always fails: {why}");
    Diagnostic::new(&codes::ALWAYS_FAILS, message, span)
}

fn not_proven(span: Span, why: &str) -> Diagnostic {
    let message = format!("whether this always fails is not proven: {why} before a run");
    Diagnostic {
        level: Level::Warning,
        ..Diagnostic::new(&codes::NOT_PROVEN, message, span)
            .help("write what it comes to in its place")
    }
}

/// A place by its name, anything else cut short.
fn shown(expr: &Expr) -> String {
    path(expr).unwrap_or_else(|| "..".to_owned())
}

/// An environment without names.
struct Nothing;

impl Env for Nothing {
    fn slot(&self, _: Slot) -> Option<Value> {
        None
    }

    fn field(&self, _: u32) -> Option<Value> {
        None
    }

    fn effect(&self, _: Effect) -> Result<Value, String> {
        Err("there are no effects before a run".to_owned())
    }
}
