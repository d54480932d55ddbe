//! Expressions: names, fields, operators.

use std::ops::Range;

use minijinja::machinery::ast::{self, BinOpKind, CompareOpKind};
use minijinja::value::ValueKind;
use thin_vec::ThinVec;

use crate::ast::Name;
use crate::ast::expr::{BinaryOp, Element, Entry, Expr, ExprKind, Literal, LogicalOp, UnaryOp};
use crate::ast::template::CAPTURED;
use crate::base::{Span, Spanned};
use crate::diag::codes;

use super::{Lower, range};

impl Lower<'_> {
    pub(super) fn expr(&mut self, expr: &ast::Expr) -> Expr {
        use ast::Expr as Jinja;
        let place = range(expr.span());
        match expr {
            Jinja::Var(var) => self.make(ExprKind::Ident(var.id.to_owned()), place),
            Jinja::Const(constant) => self.make(ExprKind::Literal(literal(&constant.value)), place),
            Jinja::GetAttr(get) => {
                let operand = self.expr(&get.expr);
                let name = self.name_behind(&operand, place.end, get.name);
                let whole = begins(&operand)..place.end;
                self.selected(operand, name, whole)
            }
            Jinja::GetItem(get) => {
                let operand = self.expr(&get.expr);
                let index = self.expr(&get.subscript_expr);
                let whole = begins(&operand)..place.end;
                self.indexed(operand, index, whole)
            }
            Jinja::Slice(slice) => {
                let operand = self.expr(&slice.expr);
                let whole = begins(&operand)..place.end;
                let bounds = [&slice.start, &slice.stop, &slice.step];
                let bounds = bounds.map(|bound| match bound {
                    Some(bound) => self.expr(bound),
                    None => self.null(whole.clone()),
                });
                let args = std::iter::once(operand).chain(bounds).collect();
                self.operator("[:]", args, whole)
            }
            Jinja::UnaryOp(op) => self.unary(op, place),
            Jinja::BinOp(op) => self.binary(op),
            Jinja::Compare(compare) => self.compare(compare),
            Jinja::IfExpr(choice) => {
                let yes = self.expr(&choice.true_expr);
                let condition = truth(self.expr(&choice.test_expr));
                let no = match &choice.false_expr {
                    Some(no) => self.expr(no),
                    None => self.null(place.clone()),
                };
                let whole = begins(&yes)..ends(&no).max(place.end);
                let parts = [condition, yes, no].map(Box::new);
                let [condition, yes, no] = parts;
                self.make(ExprKind::Conditional(condition, yes, no), whole)
            }
            Jinja::Filter(applied) => {
                let of = match &applied.expr {
                    Some(of) => self.expr(of),
                    None => self.make(ExprKind::Ident(CAPTURED.to_owned()), place.clone()),
                };
                let at = place.start..place.start + applied.name.len();
                self.filter(applied.name, of, &applied.args, at, place.end)
            }
            Jinja::Test(test) => {
                let of = self.expr(&test.expr);
                self.test(test.name, of, &test.args, place)
            }
            Jinja::Call(call) => self.call(call, place),
            Jinja::List(list) => self.list(&list.items, place),
            Jinja::Tuple(list) => self.list(&list.items, place),
            Jinja::Map(map) => {
                let entries = map.keys.iter().zip(&map.values);
                let entries = entries.map(|(key, value)| Entry {
                    key: self.expr(key),
                    value: self.expr(value),
                    optional: false,
                });
                let entries = entries.collect();
                self.make(ExprKind::Map(entries), place)
            }
        }
    }

    pub(super) fn make(&self, kind: ExprKind, place: Range<usize>) -> Expr {
        Expr {
            kind,
            span: self.span(place),
        }
    }

    pub(super) fn null(&self, place: Range<usize>) -> Expr {
        self.make(ExprKind::Literal(Literal::Null), place)
    }

    /// A call of one of Jinja's functions, whose name carries its sign.
    pub(super) fn operator(&self, sign: &str, args: Vec<Expr>, place: Range<usize>) -> Expr {
        let function = Name::new(sign.to_owned(), self.span(place.clone()));
        let kind = ExprKind::Call {
            target: None,
            function,
            args: args.into(),
        };
        self.make(kind, place)
    }

    /// The same of one that is applied to a value.
    pub(super) fn applied(
        &self,
        sign: String,
        at: Span,
        of: Expr,
        args: Vec<Expr>,
        end: usize,
    ) -> Expr {
        let whole = begins(&of)..end;
        let kind = ExprKind::Call {
            target: Some(Box::new(of)),
            function: Name::new(sign, at),
            args: args.into(),
        };
        self.make(kind, whole)
    }

    fn list(&mut self, items: &[ast::Expr], place: Range<usize>) -> Expr {
        let items = items.iter().map(|item| Element {
            value: self.expr(item),
            optional: false,
        });
        let items = items.collect();
        self.make(ExprKind::List(items), place)
    }

    fn unary(&mut self, op: &ast::UnaryOp, place: Range<usize>) -> Expr {
        let of = self.expr(&op.expr);
        let whole = place.start.min(begins(&of))..place.end.max(ends(&of));
        match (&op.op, &of.kind) {
            (ast::UnaryOpKind::Not, _) => {
                self.make(ExprKind::Unary(UnaryOp::Not, Box::new(truth(of))), whole)
            }
            (ast::UnaryOpKind::Neg, ExprKind::Literal(Literal::Int(int))) => {
                self.make(ExprKind::Literal(Literal::Int(int.wrapping_neg())), whole)
            }
            (ast::UnaryOpKind::Neg, ExprKind::Literal(Literal::Float(float))) => {
                self.make(ExprKind::Literal(Literal::Float(-float)), whole)
            }
            (ast::UnaryOpKind::Neg, _) => self.operator("-", vec![of], whole),
        }
    }

    fn binary(&mut self, op: &ast::BinOp) -> Expr {
        let (left, right) = (self.expr(&op.left), self.expr(&op.right));
        let compared = match op.op {
            BinOpKind::Eq => BinaryOp::Equal,
            BinOpKind::Ne => BinaryOp::NotEqual,
            BinOpKind::Lt => BinaryOp::Less,
            BinOpKind::Lte => BinaryOp::LessEqual,
            BinOpKind::Gt => BinaryOp::Greater,
            BinOpKind::Gte => BinaryOp::GreaterEqual,
            BinOpKind::In => BinaryOp::In,
            BinOpKind::ScAnd => return self.joined("and", left, right),
            BinOpKind::ScOr => return self.joined("or", left, right),
            BinOpKind::Concat => return self.joined("~", left, right),
            BinOpKind::Add => return self.reckoned("+", left, right),
            BinOpKind::Sub => return self.reckoned("-", left, right),
            BinOpKind::Mul => return self.reckoned("*", left, right),
            BinOpKind::Div => return self.reckoned("/", left, right),
            BinOpKind::FloorDiv => return self.reckoned("//", left, right),
            BinOpKind::Rem => return self.reckoned("%", left, right),
            BinOpKind::Pow => return self.reckoned("**", left, right),
        };
        self.comparison(compared, left, right)
    }

    fn comparison(&self, op: BinaryOp, left: Expr, right: Expr) -> Expr {
        let whole = begins(&left)..ends(&right);
        let op = Spanned::new(op, self.span(whole.clone()));
        let kind = ExprKind::Binary(op, Box::new(left), Box::new(right));
        self.make(kind, whole)
    }

    /// `a ~ b ~ c` is one call, as `and` and `or` are.
    fn joined(&self, sign: &str, left: Expr, right: Expr) -> Expr {
        let whole = begins(&left)..ends(&right);
        let mut args = match left.kind {
            ExprKind::Call {
                target: None,
                function,
                args,
            } if function.node == sign => args.into_iter().collect(),
            kind => vec![Expr {
                kind,
                span: left.span,
            }],
        };
        args.push(right);
        self.operator(sign, args, whole)
    }

    fn reckoned(&mut self, sign: &str, left: Expr, right: Expr) -> Expr {
        let whole = begins(&left)..ends(&right);
        let zero = match right.kind {
            ExprKind::Literal(Literal::Int(by)) => by == 0,
            ExprKind::Literal(Literal::Float(by)) => by == 0.0,
            _ => false,
        };
        if zero && matches!(sign, "/" | "//" | "%") {
            let message = "this always fails: division by zero".to_owned();
            self.problem(&codes::ALWAYS_FAILS, message, whole.clone());
        }
        self.operator(sign, vec![left, right], whole)
    }

    /// `a < b < c`: each with the one behind it. What stands in the middle is looked at twice.
    fn compare(&mut self, compare: &ast::Compare) -> Expr {
        let mut left = self.expr(&compare.expr);
        let mut all = Vec::new();
        for (at, part) in compare.ops.iter().enumerate() {
            let right = self.expr(&part.expr);
            if at + 1 < compare.ops.len() && !is_simple(&right) {
                let message =
                    "between two comparisons stands a name or a literal: give it a name with `set`";
                let place = begins(&right)..ends(&right);
                self.problem(&codes::BAD_TEMPLATE, message.to_owned(), place);
            }
            let op = match part.op {
                CompareOpKind::Eq => BinaryOp::Equal,
                CompareOpKind::Ne => BinaryOp::NotEqual,
                CompareOpKind::Lt => BinaryOp::Less,
                CompareOpKind::Lte => BinaryOp::LessEqual,
                CompareOpKind::Gt => BinaryOp::Greater,
                CompareOpKind::Gte => BinaryOp::GreaterEqual,
                CompareOpKind::In | CompareOpKind::NotIn => BinaryOp::In,
            };
            let holds = self.comparison(op, left, right.clone());
            all.push(match part.op {
                CompareOpKind::NotIn => {
                    let place = begins(&holds)..ends(&holds);
                    self.make(ExprKind::Unary(UnaryOp::Not, Box::new(holds)), place)
                }
                _ => holds,
            });
            left = right;
        }
        let whole = all.first().map_or(0, begins)..ends(&left);
        self.make(ExprKind::Logical(LogicalOp::And, all), whole)
    }

    /// `of.name`, where all of it stands for the name.
    pub(super) fn field(&self, of: Expr, name: &str, place: Range<usize>) -> Expr {
        let field = Name::new(name.to_owned(), self.span(place.clone()));
        self.selected(of, field, place)
    }

    fn selected(&self, of: Expr, field: Name, place: Range<usize>) -> Expr {
        let kind = ExprKind::Select {
            operand: Box::new(of),
            field,
            optional: false,
        };
        self.make(kind, place)
    }

    pub(super) fn indexed(&self, of: Expr, index: Expr, place: Range<usize>) -> Expr {
        let kind = ExprKind::Index {
            operand: Box::new(of),
            index: Box::new(index),
            optional: false,
        };
        self.make(kind, place)
    }

    /// A name in what stands behind an expression, to `end`.
    pub(super) fn name_behind(&self, of: &Expr, end: usize, name: &str) -> Name {
        let from = ends(of).min(end);
        let text = self.template.text.get(from..end).unwrap_or_default();
        let at = text
            .find(name)
            .map_or(end.saturating_sub(name.len()), |at| from + at);
        Name::new(name.to_owned(), self.span(at..at + name.len()))
    }
}

pub(super) fn begins(expr: &Expr) -> usize {
    expr.span.start as usize
}

pub(super) fn ends(expr: &Expr) -> usize {
    expr.span.end as usize
}

fn literal(value: &minijinja::Value) -> Literal {
    match value.kind() {
        ValueKind::Bool => Literal::Bool(value.is_true()),
        ValueKind::Number => match i64::try_from(value.clone()) {
            Ok(int) if value.is_integer() => Literal::Int(int),
            _ => Literal::Float(f64::try_from(value.clone()).unwrap_or(f64::NAN)),
        },
        ValueKind::String => Literal::String(value.as_str().unwrap_or_default().into()),
        _ => Literal::Null,
    }
}

/// A value as the `bool` that Jinja takes it for.
pub(super) fn truth(expr: Expr) -> Expr {
    let span = expr.span;
    let boxed = |expr: Box<Expr>| Box::new(truth(*expr));
    let kind = match expr.kind {
        ExprKind::Call {
            target: None,
            function,
            args,
        } if matches!(function.node.as_str(), "and" | "or") => {
            let op = match function.node.as_str() {
                "and" => LogicalOp::And,
                _ => LogicalOp::Or,
            };
            ExprKind::Logical(op, args.into_iter().map(truth).collect())
        }
        ExprKind::Conditional(condition, yes, no) => {
            ExprKind::Conditional(condition, boxed(yes), boxed(no))
        }
        kind if is_bool(&kind) => kind,
        kind => ExprKind::Call {
            target: Some(Box::new(Expr { kind, span })),
            function: Name::new("|bool".to_owned(), span),
            args: ThinVec::new(),
        },
    };
    Expr { kind, span }
}

fn is_bool(kind: &ExprKind) -> bool {
    match kind {
        ExprKind::Literal(Literal::Bool(_)) | ExprKind::Logical(..) => true,
        ExprKind::Unary(op, _) => *op == UnaryOp::Not,
        // All that are left are comparisons.
        ExprKind::Binary(..) => true,
        ExprKind::Call { function, .. } => {
            function.node == "|bool" || function.node.starts_with("is ")
        }
        _ => false,
    }
}

/// Whether it is a name, a field or a literal.
fn is_simple(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Ident(_) | ExprKind::Literal(_) => true,
        ExprKind::Select { operand, .. } => is_simple(operand),
        _ => false,
    }
}
