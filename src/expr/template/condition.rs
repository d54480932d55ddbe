//! The conditions of a template, as expressions of the language.

use minijinja::machinery::ast::{self, BinOpKind, CompareOpKind, UnaryOpKind};
use minijinja::machinery::{Span as Range, parse};
use minijinja::syntax::SyntaxConfig;

use crate::ast::expr::{BinaryOp, Expr, ExprKind, Literal, LogicalOp, UnaryOp};
use crate::ast::node::TemplateText;
use crate::base::{Span, Spanned};

use super::parts::{self, parts};
use super::{chain, place};

/// The conditions of all that is shown only where they hold, as far as the language has them too.
pub fn conditions(template: &TemplateText) -> Vec<Expr> {
    let text = &template.text;
    let mut walk = Walk {
        template,
        conditions: Vec::new(),
    };
    if text.contains(" if ")
        && chain::too_long(text).is_none()
        && let Ok(tree) = parse(text, "template", SyntaxConfig::default())
    {
        walk.statement(&tree);
    }
    walk.conditions
}

struct Walk<'a> {
    template: &'a TemplateText,
    conditions: Vec<Expr>,
}

impl Walk<'_> {
    fn all(&mut self, statements: &[ast::Stmt]) {
        statements
            .iter()
            .for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &ast::Stmt) {
        use ast::Stmt;
        match statement {
            Stmt::Template(template) => self.all(&template.children),
            Stmt::EmitExpr(emit) => self.expr(&emit.expr),
            Stmt::ForLoop(each) => {
                self.expr(&each.iter);
                if let Some(condition) = &each.filter_expr {
                    self.decides(condition);
                }
                self.all(&each.body);
                self.all(&each.else_body);
            }
            Stmt::IfCond(branch) => {
                self.decides(&branch.expr);
                self.all(&branch.true_body);
                self.all(&branch.false_body);
            }
            Stmt::WithBlock(with) => {
                with.assignments
                    .iter()
                    .for_each(|(_, value)| self.expr(value));
                self.all(&with.body);
            }
            Stmt::Set(set) => self.expr(&set.expr),
            Stmt::SetBlock(set) => self.all(&set.body),
            Stmt::AutoEscape(escape) => self.all(&escape.body),
            Stmt::FilterBlock(block) => {
                self.expr(&block.filter);
                self.all(&block.body);
            }
            Stmt::Macro(declared) => self.all(&declared.body),
            Stmt::CallBlock(block) => {
                self.args(&block.call.args);
                self.all(&block.macro_decl.body);
            }
            Stmt::Do(does) => self.args(&does.call.args),
            _ => {}
        }
    }

    fn decides(&mut self, condition: &ast::Expr) {
        self.expr(condition);
        self.conditions.extend(self.condition(condition));
    }

    fn expr(&mut self, expr: &ast::Expr) {
        match expr {
            ast::Expr::IfExpr(choice) => {
                self.decides(&choice.test_expr);
                self.expr(&choice.true_expr);
                choice.false_expr.iter().for_each(|other| self.expr(other));
            }
            other => parts(other).into_iter().for_each(|part| self.expr(part)),
        }
    }

    fn args(&mut self, args: &[ast::CallArg]) {
        parts::args(args).for_each(|arg| self.expr(arg));
    }

    /// A condition in the language's own words; `None` where it has none for it.
    fn condition(&self, expr: &ast::Expr) -> Option<Expr> {
        let span = self.span(expr.span());
        let new = |kind| Expr { kind, span };
        let not = |of: Expr| new(ExprKind::Unary(UnaryOp::Not, Box::new(of)));
        Some(match expr {
            ast::Expr::UnaryOp(op) if matches!(op.op, UnaryOpKind::Not) => {
                not(self.condition(&op.expr)?)
            }
            ast::Expr::BinOp(op) => {
                let both = |to| {
                    Some(new(ExprKind::Logical(
                        to,
                        vec![self.condition(&op.left)?, self.condition(&op.right)?],
                    )))
                };
                let compared = |to| self.compared(to, (&op.left, &op.right), span);
                match op.op {
                    BinOpKind::ScAnd => both(LogicalOp::And)?,
                    BinOpKind::ScOr => both(LogicalOp::Or)?,
                    BinOpKind::Eq => compared(BinaryOp::Equal)?,
                    BinOpKind::Ne => compared(BinaryOp::NotEqual)?,
                    BinOpKind::Lt => compared(BinaryOp::Less)?,
                    BinOpKind::Lte => compared(BinaryOp::LessEqual)?,
                    BinOpKind::Gt => compared(BinaryOp::Greater)?,
                    BinOpKind::Gte => compared(BinaryOp::GreaterEqual)?,
                    BinOpKind::In => compared(BinaryOp::In)?,
                    _ => return None,
                }
            }
            ast::Expr::Compare(compare) => {
                let [only] = compare.ops.as_slice() else {
                    return None;
                };
                let op = match only.op {
                    CompareOpKind::Eq => BinaryOp::Equal,
                    CompareOpKind::Ne => BinaryOp::NotEqual,
                    CompareOpKind::Lt => BinaryOp::Less,
                    CompareOpKind::Lte => BinaryOp::LessEqual,
                    CompareOpKind::Gt => BinaryOp::Greater,
                    CompareOpKind::Gte => BinaryOp::GreaterEqual,
                    CompareOpKind::In | CompareOpKind::NotIn => BinaryOp::In,
                };
                let found = self.compared(op, (&compare.expr, &only.expr), span)?;
                match only.op {
                    CompareOpKind::NotIn => not(found),
                    _ => found,
                }
            }
            ast::Expr::Test(test) if test.args.is_empty() => {
                let null = Box::new(new(ExprKind::Literal(Literal::Null)));
                let of = Box::new(self.value(&test.expr)?);
                let op = match test.name {
                    "none" | "undefined" => BinaryOp::Equal,
                    "defined" => BinaryOp::NotEqual,
                    _ => return None,
                };
                new(ExprKind::Binary(Spanned::new(op, span), of, null))
            }
            other => self.value(other)?,
        })
    }

    fn compared(
        &self,
        op: BinaryOp,
        (left, right): (&ast::Expr, &ast::Expr),
        span: Span,
    ) -> Option<Expr> {
        let (left, right) = (Box::new(self.value(left)?), Box::new(self.value(right)?));
        let kind = ExprKind::Binary(Spanned::new(op, span), left, right);
        Some(Expr { kind, span })
    }

    /// A place, a constant or a size.
    fn value(&self, expr: &ast::Expr) -> Option<Expr> {
        let span = self.span(expr.span());
        let kind = match expr {
            ast::Expr::Var(var) => ExprKind::Ident(var.id.to_owned()),
            ast::Expr::GetAttr(get) => ExprKind::Select {
                operand: Box::new(self.value(&get.expr)?),
                field: Spanned::new(get.name.to_owned(), span),
                optional: false,
            },
            ast::Expr::Const(constant) => ExprKind::Literal(literal(&constant.value)?),
            ast::Expr::Filter(applied)
                if matches!(applied.name, "length" | "count") && applied.args.is_empty() =>
            {
                ExprKind::Call {
                    target: None,
                    function: Spanned::new("size".to_owned(), span),
                    args: vec![self.value(applied.expr.as_ref()?)?].into(),
                }
            }
            _ => return None,
        };
        Some(Expr { kind, span })
    }

    fn span(&self, range: Range) -> Span {
        let range = range.start_offset as usize..range.end_offset as usize;
        let whole = place::whole(&self.template.text, range);
        self.template.span_of(whole.start, whole.end)
    }
}

fn literal(value: &minijinja::Value) -> Option<Literal> {
    use minijinja::value::ValueKind;
    Some(match value.kind() {
        ValueKind::None => Literal::Null,
        ValueKind::Bool => Literal::Bool(value.is_true()),
        ValueKind::String => Literal::String(value.as_str()?.into()),
        ValueKind::Number if value.is_integer() => Literal::Int(i64::try_from(value.clone()).ok()?),
        ValueKind::Number => Literal::Float(f64::try_from(value.clone()).ok()?),
        _ => return None,
    })
}
