//! Functions that are no entries of the table: `has`, the journaled effects, and questions about fields.

use crate::ast::Name;
use crate::ast::expr::{Expr, ExprKind};
use crate::diag::{Diagnostic, codes};

use super::super::function::{BuiltinKind, FunctionSpec};
use super::super::ty::Type;
use super::checker::Checker;
use super::signature::Bindings;

impl Checker<'_> {
    /// The type of `has(..)`, an effect or a question about a field.
    pub(super) fn special(
        &mut self,
        spec: &FunctionSpec,
        expr: &Expr,
        name: &Name,
        args: &[Expr],
    ) -> Type {
        let result = spec.signatures.first().map(|signature| &signature.result);
        let result = result.map_or(Type::Error, |ty| {
            ty.result(&Bindings::default(), self.types)
        });
        match spec.kind {
            BuiltinKind::Effect(_) => effect(self, expr, name, args, result),
            BuiltinKind::Field => {
                field_of_state(self, expr, name, args);
                result
            }
            _ => has(self, expr, args),
        }
    }
}

fn effect(checker: &mut Checker, expr: &Expr, name: &Name, args: &[Expr], ty: Type) -> Type {
    if !args.is_empty() {
        checker.each(args);
        let message = format!("`{}` takes no arguments, found {}", name.node, args.len());
        let found = Diagnostic::new(&codes::WRONG_ARGUMENTS, message, expr.span);
        return checker.report(match name.node.as_str() {
            "random" => {
                found.help("it gives a float from 0 to 1: `int(random() * 6.0) + 1` is a die")
            }
            _ => found.help(format!("write `{}()`", name.node)),
        });
    }
    if !checker.scope.effects {
        let message = format!("`{}()` can't be called here", name.node);
        checker.report(
            Diagnostic::new(&codes::IMPURE_CALL, message, expr.span)
                .here("gives another answer each time")
                .help("call it in a `let` or `set` of a node and use the value from there"),
        );
        return Type::Error;
    }
    ty
}

fn has(checker: &mut Checker, expr: &Expr, args: &[Expr]) -> Type {
    match args {
        [field]
            if matches!(
                field.kind,
                ExprKind::Select {
                    optional: false,
                    ..
                }
            ) =>
        {
            asked(checker, expr, field);
        }
        _ => {
            let message = "`has` takes a field, such as `has(state.hero)`".to_owned();
            checker.error(&codes::WRONG_ARGUMENTS, message, expr.span);
        }
    }
    Type::Bool
}

/// The field that `has` asks for. One that is never null is always there.
fn asked(checker: &mut Checker, expr: &Expr, field: &Expr) {
    let ExprKind::Select {
        operand,
        field: name,
        ..
    } = &field.kind
    else {
        return;
    };
    if checker.asks_which(operand, name) {
        checker.expr(operand, None);
        return;
    }
    let reported = checker.diags.len();
    checker.expr(field, None);
    if checker.diags.len() > reported {
        return;
    }
    let known = std::mem::take(&mut checker.known);
    let (of, ty) = (checker.silent(operand), checker.silent(field));
    checker.known = known;
    let is_state = matches!(&operand.kind, ExprKind::Ident(root) if root == "state");
    let always = matches!(of, Type::Record(_)) || is_state;
    let open = ty.admits_null() || matches!(ty, Type::Never | Type::Optional(_));
    if let (true, false, Some(place)) = (always, open, super::path::path(field)) {
        let message = format!("`has({place})` is always true: `{place}` is never null");
        checker.report(
            Diagnostic::new(&codes::CONSTANT_CONDITION, message, expr.span)
                .help("take it out, or ask for what may be null"),
        );
    }
}

fn field_of_state(checker: &mut Checker, expr: &Expr, name: &Name, args: &[Expr]) {
    let is_field = |arg: &Expr| match &arg.kind {
        ExprKind::Select {
            operand,
            optional: false,
            ..
        } => matches!(&operand.kind, ExprKind::Ident(root) if root == "state"),
        _ => false,
    };
    match args {
        [arg] if is_field(arg) => {
            checker.expr(arg, None);
            never_stale(checker, name, arg);
        }
        _ => {
            let field = match args {
                [arg] => super::path::path(arg).map(|path| path.to_string()),
                _ => None,
            };
            let known = field.filter(|field| checker.scope.field(field).is_some());
            let found = known
                .as_ref()
                .map_or(String::new(), |field| format!(", found `{field}`"));
            let example = known.as_deref().unwrap_or("x");
            let message = format!(
                "`{}` takes a field of the state, such as `{}(state.{example})`{found}",
                name.node, name.node
            );
            checker.error(&codes::WRONG_ARGUMENTS, message, expr.span);
        }
    }
}

/// A field that is based on nothing can't be stale, and nothing invalidates it.
fn never_stale(checker: &mut Checker, name: &Name, arg: &Expr) {
    let ExprKind::Select { field, .. } = &arg.kind else {
        return;
    };
    let found = checker.scope.field(field).map(|(index, _)| index);
    let state = checker.scope.state.as_ref();
    if found.is_some_and(|index| state.is_some_and(|state| state.never_stale(index))) {
        let message = format!(
            "`{}` of `{}`, which is not `based_on` any field",
            name.node, field.node
        );
        let help = format!(
            "say what it is made from: `{}: .. based_on [..]`",
            field.node
        );
        checker.report(Diagnostic::new(&codes::NEVER_STALE, message, arg.span).help(help));
    }
}
