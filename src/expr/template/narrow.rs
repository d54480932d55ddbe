//! What a condition of a template proves: places that are not null. The paths are those of
//! [`Narrowing`], so that what a flow has shown holds in its templates too.

use minijinja::machinery::ast::{
    self, BinOpKind, CallArg, CallType, CompareOpKind, Expr, UnaryOpKind,
};

use super::super::infer::{Narrowing, facts, has_no_null};
use super::super::ty::Type;
use super::check::Check;
use super::filter::excludes_null;

/// The place that an expression names.
pub(super) fn path(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Var(var) => Some(var.id.to_owned()),
        Expr::GetAttr(get) => Some(format!("{}.{}", path(&get.expr)?, get.name)),
        Expr::GetItem(get) => {
            let operand = path(&get.expr)?;
            match &get.subscript_expr {
                Expr::Const(key) => match key.value.as_str() {
                    Some(key) => Some(format!("{operand}[{key:?}]")),
                    None => Some(format!("{operand}[{}]", key.value)),
                },
                index => Some(format!("{operand}[{}]", path(index)?)),
            }
        }
        // A method gives the same again as long as nothing is written.
        Expr::Call(call) => match call.identify_call() {
            CallType::Method(receiver, name) => {
                let of = path(receiver)?;
                let args = call.args.iter().map(|arg| match arg {
                    CallArg::Pos(Expr::Const(value)) => Some(format!("{:?}", value.value)),
                    CallArg::Pos(value) => path(value),
                    _ => None,
                });
                let args: Vec<String> = args.collect::<Option<_>>()?;
                Some(format!("{of}[.{name}({})]", args.join(", ")))
            }
            _ => None,
        },
        _ => None,
    }
}

impl Check<'_> {
    /// What is known when a condition is true (or false).
    pub(super) fn facts(&mut self, expr: &Expr, truth: bool) -> Narrowing {
        match expr {
            Expr::Var(var) => {
                let mut known = self.facts_of_let(var.id, truth);
                if truth {
                    known.note(var.id.to_owned());
                }
                known
            }
            Expr::GetAttr(_) | Expr::GetItem(_) | Expr::Call(_) if truth => {
                path(expr).into_iter().collect()
            }
            Expr::UnaryOp(op) if matches!(op.op, UnaryOpKind::Not) => self.facts(&op.expr, !truth),
            Expr::BinOp(op) => self.binary_facts(op, truth),
            Expr::Compare(compare) => match compare.ops.as_slice() {
                [only] => {
                    let (left, right) = (&compare.expr, &only.expr);
                    match only.op {
                        CompareOpKind::Eq => self.equal_facts(left, right, truth),
                        CompareOpKind::Ne => self.equal_facts(left, right, !truth),
                        CompareOpKind::In => self.member_facts(left, right, truth),
                        CompareOpKind::NotIn => self.member_facts(left, right, !truth),
                        _ => Narrowing::new(),
                    }
                }
                _ => Narrowing::new(),
            },
            Expr::Test(test) => self.test_facts(test, truth),
            _ => Narrowing::new(),
        }
    }

    /// What a `let` shows that stands for a condition.
    fn facts_of_let(&self, name: &str, truth: bool) -> Narrowing {
        if self.locals.iter().any(|(local, _)| local == name) {
            return Narrowing::new();
        }
        let found = self.lets.iter().rfind(|known| known.name == name);
        let condition = found.filter(|found| found.stale.is_none() && self.is_bool(name));
        condition.map_or_else(Narrowing::new, |found| {
            facts(&found.value, self.scope, self.types, truth)
        })
    }

    fn is_bool(&self, name: &str) -> bool {
        let slot = self.scope.slot(name);
        slot.and_then(|slot| self.scope.ty(slot)) == Some(&Type::Bool)
    }

    fn test_facts(&mut self, test: &ast::Test, truth: bool) -> Narrowing {
        let missing = truth == (test.name == "undefined");
        if let (Expr::GetAttr(get), "defined" | "undefined", true) =
            (&test.expr, test.name, missing)
        {
            // Of several records it is none that must have the field.
            let lacks = |place| format!("{place}.!{}", get.name);
            return match self.silent(&get.expr) {
                Type::Union(_) => path(&get.expr).map(lacks).into_iter().collect(),
                _ => Narrowing::new(),
            };
        }
        let proves = match test.name {
            "none" | "undefined" => !truth,
            name => truth && excludes_null(name),
        };
        match proves {
            true => path(&test.expr).into_iter().collect(),
            false => Narrowing::new(),
        }
    }

    fn binary_facts(&mut self, op: &ast::BinOp, truth: bool) -> Narrowing {
        let all = match op.op {
            BinOpKind::ScAnd => truth,
            BinOpKind::ScOr => !truth,
            BinOpKind::Eq => return self.equal_facts(&op.left, &op.right, truth),
            BinOpKind::Ne => return self.equal_facts(&op.left, &op.right, !truth),
            BinOpKind::In => return self.member_facts(&op.left, &op.right, truth),
            _ => return Narrowing::new(),
        };
        let (left, right) = (self.facts(&op.left, truth), self.facts(&op.right, truth));
        match all {
            true => left.and(right),
            false => left.or(&right),
        }
    }

    fn equal_facts(&mut self, left: &Expr, right: &Expr, equal: bool) -> Narrowing {
        let mut known = Narrowing::new();
        for (side, other) in [(left, right), (right, left)] {
            let Some(path) = path(side) else { continue };
            let (of, other) = (self.silent(side), self.silent(other));
            let proves = match equal {
                true => !other.admits_null(),
                false => matches!(other, Type::Null),
            };
            known.leave_texts((&path, &of), &[other], equal, self.types);
            if proves {
                known.note(path);
            }
        }
        known
    }

    /// What `x in [..]` says of `x`.
    fn member_facts(&mut self, item: &Expr, list: &Expr, truth: bool) -> Narrowing {
        let mut known = Narrowing::new();
        let Some(path) = path(item) else {
            return known;
        };
        if let Some(elements) = written(list) {
            let all: Vec<Type> = elements.iter().map(|e| self.silent(e)).collect();
            known.leave_texts((&path, &self.silent(item)), &all, truth, self.types);
        }
        if truth && has_no_null(&self.silent(list)) {
            known.note(path);
        }
        known
    }
}

/// The elements of a list that is written out.
pub(super) fn written<'a, 'e>(list: &'a Expr<'e>) -> Option<&'a [Expr<'e>]> {
    match list {
        Expr::List(list) => Some(&list.items),
        Expr::Tuple(list) => Some(&list.items),
        _ => None,
    }
}
