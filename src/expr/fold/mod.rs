//! Constant folding: what an expression comes to before a run.
//!
//! [`Folder::fold`] evaluates what depends on nothing but literals, members of enums and the parameters
//! of a graph, with the evaluator itself, and takes out what that decides: operands of `&&` and `||`,
//! branches of `c ? a : b`. What is left is an expression with the same value in every run.
//!
//! "Same value" is CEL's: an operand that decides `&&` or `||` wins over one that fails, so `false && x` is
//! `false` whatever `x` does. Two things are taken for granted, which the checker has seen to: operands of `&&` and
//! `||` are bools, and what is folded away keeps to the bounds of an evaluation.
//!
//! Reading order: here, [`closed`] (what depends on nothing else), [`inline`] (`let`s in their place), [`lift`] (from values back to literals), [`same`].

mod closed;
pub mod inline;
pub mod lift;
pub mod same;

use std::sync::Arc;

use crate::ast::expr::{Expr, ExprKind, Literal, LogicalOp};
use crate::base::Span;
use crate::value::{Key, Map, Value};

use super::eval::{self, Effect, Env};
use super::infer::macros;
use super::scope::{Scope, Slot};
use super::ty::{Type, TypeTable};

/// Folds the expressions of one graph.
pub struct Folder<'a> {
    types: &'a TypeTable,
    /// `params` is its only name.
    scope: Scope,
    params: Params,
}

/// Parameters and their values, where they are known.
struct Params(Vec<(String, Option<Value>)>);

/// An expression after folding.
#[derive(Debug, Clone)]
pub struct Folded {
    /// What is left of it, at the place of the whole.
    pub expr: Expr,
    /// Its value, where that is the same in every run.
    pub value: Option<Value>,
}

impl Folded {
    /// The value, where it is a constant bool.
    pub fn bool(&self) -> Option<bool> {
        match self.value {
            Some(Value::Bool(value)) => Some(value),
            _ => None,
        }
    }
}

impl<'a> Folder<'a> {
    /// Folds where these parameters have these values; `None` for one that is not known. `functions` are the
    /// imported functions that expressions may call.
    pub fn new(
        types: &'a TypeTable,
        functions: Arc<Vec<String>>,
        params: Vec<(String, Option<Value>)>,
    ) -> Self {
        let mut scope = Scope {
            functions,
            ..Scope::default()
        };
        scope.declare("params", Type::Json);
        Self {
            types,
            scope,
            params: Params(params),
        }
    }

    /// What is left of an expression, and its value where that is constant.
    pub fn fold(&self, expr: &Expr) -> Folded {
        let mut folded = self.part(expr, &mut Vec::new());
        folded.expr.span = expr.span;
        folded
    }

    /// `bound` are names that macros around this part bind.
    fn part(&self, expr: &Expr, bound: &mut Vec<String>) -> Folded {
        if self.is_closed(expr, bound) {
            return Folded {
                value: self.evaluate(expr),
                expr: expr.clone(),
            };
        }
        match &expr.kind {
            ExprKind::Logical(op, operands) => self.logical(expr.span, *op, operands, bound),
            ExprKind::Conditional(condition, yes, no) => {
                let condition = self.part(condition, bound);
                match condition.bool() {
                    Some(true) => self.part(yes, bound),
                    Some(false) => self.part(no, bound),
                    None => {
                        let (yes, no) = (self.part(yes, bound), self.part(no, bound));
                        let parts = [condition.expr, yes.expr, no.expr].map(Box::new);
                        let [condition, yes, no] = parts;
                        let kind = ExprKind::Conditional(condition, yes, no);
                        open(kind, expr.span)
                    }
                }
            }
            _ if !has_choice(expr) => Folded {
                expr: expr.clone(),
                value: None,
            },
            _ => self.by_parts(expr, bound),
        }
    }

    /// An operand that decides is the value, whatever the others do. Those that can't decide are left out.
    fn logical(
        &self,
        span: Span,
        op: LogicalOp,
        operands: &[Expr],
        bound: &mut Vec<String>,
    ) -> Folded {
        let decides = op == LogicalOp::Or;
        let mut left = Vec::new();
        for operand in operands {
            let folded = self.part(operand, bound);
            match folded.bool() {
                Some(value) if value == decides => return constant(value, span),
                Some(_) => {}
                None => left.push(folded.expr),
            }
        }
        match left.len() {
            0 => constant(!decides, span),
            1 => Folded {
                expr: left.remove(0),
                value: None,
            },
            _ => open(ExprKind::Logical(op, left), span),
        }
    }

    /// Any other form: its parts are folded, and where that decided one of them the whole may be
    /// constant now.
    fn by_parts(&self, expr: &Expr, bound: &mut Vec<String>) -> Folded {
        let mut copy = expr.clone();
        let mut decided = false;
        let mut fold = |part: &mut Expr, bound: &mut Vec<String>| {
            if part.is_plain() {
                return;
            }
            let folded = self.part(part, bound);
            decided |= folded.value.is_some() && folded.expr != *part;
            *part = folded.expr;
        };
        match &mut copy.kind {
            ExprKind::Call {
                target,
                function,
                args,
            } => {
                let names = target.as_ref().and_then(|_| macros::bound(function, args));
                if let Some(target) = target {
                    fold(target, bound);
                }
                let (vars, outside) = names.unwrap_or_default();
                // `has` asks about a field, not about its value.
                let skipped = match target.is_none() && function.node == "has" {
                    true => args.len(),
                    false => vars.len(),
                };
                let depth = bound.len();
                for (i, arg) in args.iter_mut().skip(skipped).enumerate() {
                    if i == outside {
                        bound.extend(vars.iter().cloned());
                    }
                    fold(arg, bound);
                }
                bound.truncate(depth);
            }
            _ => copy.each_part_mut(|part| fold(part, &mut *bound)),
        }
        let value = match decided && self.is_closed(&copy, bound) {
            true => self.evaluate(&copy),
            false => None,
        };
        Folded { expr: copy, value }
    }

    /// The value of an expression that depends on nothing else; `None` where it has none.
    fn evaluate(&self, expr: &Expr) -> Option<Value> {
        let program = eval::compile(expr, &self.scope, self.types).ok()?;
        program.eval_early(&self.params).ok()
    }
}

/// Whether an expression names a parameter of its graph.
pub fn names_params(expr: &Expr) -> bool {
    any(
        expr,
        |part| matches!(&part.kind, ExprKind::Ident(name) if name == "params"),
    )
}

/// Whether there is something in an expression that a part of it can decide.
fn has_choice(expr: &Expr) -> bool {
    any(expr, |part| {
        matches!(part.kind, ExprKind::Logical(..) | ExprKind::Conditional(..))
    })
}

/// Whether some part of an expression is such.
fn any(expr: &Expr, is_such: impl Fn(&Expr) -> bool) -> bool {
    let mut open = vec![expr];
    while let Some(expr) = open.pop() {
        if is_such(expr) {
            return true;
        }
        expr.each_part(|part| open.push(part));
    }
    false
}

impl Expr {
    /// Whether there is nothing in it to fold.
    fn is_plain(&self) -> bool {
        matches!(
            self.kind,
            ExprKind::Literal(_) | ExprKind::Ident(_) | ExprKind::Error
        )
    }
}

fn open(kind: ExprKind, span: Span) -> Folded {
    Folded {
        expr: Expr { kind, span },
        value: None,
    }
}

fn constant(value: bool, span: Span) -> Folded {
    Folded {
        expr: Expr {
            kind: ExprKind::Literal(Literal::Bool(value)),
            span,
        },
        value: Some(Value::Bool(value)),
    }
}

impl Params {
    fn known(&self, name: &str) -> bool {
        self.0
            .iter()
            .any(|(param, value)| param == name && value.is_some())
    }
}

impl Env for Params {
    fn slot(&self, _slot: Slot) -> Option<Value> {
        let known = self.0.iter();
        let known = known
            .filter_map(|(name, value)| Some((Key::from(name.as_str()), value.clone()?)))
            .collect::<Map>();
        Some(Value::Map(known))
    }

    fn field(&self, _index: u32) -> Option<Value> {
        None
    }

    fn effect(&self, _effect: Effect) -> Result<Value, String> {
        Err("a constant has no effects".to_owned())
    }
}
