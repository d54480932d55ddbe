//! What a template shows, as expressions of the language: for rules that follow values and need no types.

use minijinja::machinery::{self, ast};
use minijinja::syntax::SyntaxConfig;

use crate::ast::expr::{Element, Expr, ExprKind, Literal};
use crate::ast::node::TemplateText;
use crate::base::{Span, Spanned};

/// A step of a template.
#[derive(Debug, Clone)]
pub enum Printed {
    /// A name that stands for a value from here on: a loop's, or one that is set.
    Bind(String, Expr),
    /// A value that becomes part of the text.
    Shows(Expr),
}

/// What a template shows, in its order; nothing where it can't be parsed, which is reported by the check.
pub fn printed(template: &TemplateText) -> Vec<Printed> {
    // Most texts have no placeholder at all.
    if !template.text.contains("{{") && !template.text.contains("{%") {
        return Vec::new();
    }
    let text = &template.text;
    if super::chain::too_long(text).is_some() {
        return Vec::new();
    }
    let Ok(tree) = machinery::parse(&template.text, "template", SyntaxConfig::default()) else {
        return Vec::new();
    };
    let mut walk = Walk {
        template,
        out: Vec::new(),
    };
    walk.statement(&tree);
    walk.out
}

struct Walk<'a> {
    template: &'a TemplateText,
    out: Vec<Printed>,
}

impl Walk<'_> {
    fn all(&mut self, statements: &[ast::Stmt]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &ast::Stmt) {
        use ast::Stmt;
        match statement {
            Stmt::Template(template) => self.all(&template.children),
            Stmt::EmitExpr(emit) => {
                let shown = self.expr(&emit.expr);
                self.out.push(Printed::Shows(shown));
            }
            Stmt::ForLoop(each) => {
                let iter = self.expr(&each.iter);
                let span = iter.span;
                let element = Expr {
                    kind: ExprKind::Index {
                        operand: Box::new(iter),
                        index: Box::new(literal(span)),
                        optional: false,
                    },
                    span,
                };
                self.bind(&each.target, &element);
                self.all(&each.body);
                self.all(&each.else_body);
            }
            Stmt::IfCond(branch) => {
                self.all(&branch.true_body);
                self.all(&branch.false_body);
            }
            Stmt::WithBlock(with) => {
                for (target, value) in &with.assignments {
                    let value = self.expr(value);
                    self.bind(target, &value);
                }
                self.all(&with.body);
            }
            Stmt::Set(set) => {
                let value = self.expr(&set.expr);
                self.bind(&set.target, &value);
            }
            Stmt::SetBlock(set) => self.all(&set.body),
            Stmt::AutoEscape(escape) => self.all(&escape.body),
            Stmt::FilterBlock(block) => self.all(&block.body),
            Stmt::Macro(declared) => self.all(&declared.body),
            Stmt::CallBlock(block) => self.all(&block.macro_decl.body),
            _ => {}
        }
    }

    fn bind(&mut self, target: &ast::Expr, value: &Expr) {
        match target {
            ast::Expr::Var(var) => {
                let bound = Printed::Bind(var.id.to_owned(), value.clone());
                self.out.push(bound);
            }
            ast::Expr::List(names) => names.items.iter().for_each(|name| self.bind(name, value)),
            ast::Expr::Tuple(names) => names.items.iter().for_each(|name| self.bind(name, value)),
            _ => {}
        }
    }

    fn span(&self, expr: &ast::Expr) -> Span {
        let range = expr.span();
        let range = range.start_offset as usize..range.end_offset as usize;
        let whole = super::place::whole(&self.template.text, range);
        self.template.span_of(whole.start, whole.end)
    }

    fn expr(&self, expr: &ast::Expr) -> Expr {
        let span = self.span(expr);
        let name = |word: &str| Spanned::new(word.to_owned(), span);
        let kind = match expr {
            ast::Expr::Var(var) => ExprKind::Ident(var.id.to_owned()),
            ast::Expr::GetAttr(get) => ExprKind::Select {
                operand: Box::new(self.expr(&get.expr)),
                field: name(get.name),
                optional: false,
            },
            ast::Expr::GetItem(get) => ExprKind::Index {
                operand: Box::new(self.expr(&get.expr)),
                index: Box::new(literal(span)),
                optional: false,
            },
            ast::Expr::Slice(slice) => return self.expr(&slice.expr),
            ast::Expr::Filter(applied) => ExprKind::Call {
                target: applied.expr.as_ref().map(|of| Box::new(self.expr(of))),
                function: name(match applied.name {
                    "length" | "count" => "size",
                    other => other,
                }),
                args: self.args(&applied.args).into(),
            },
            ast::Expr::Call(call) => match call.identify_call() {
                ast::CallType::Method(receiver, method) => ExprKind::Call {
                    target: Some(Box::new(self.expr(receiver))),
                    function: name(method),
                    args: self.args(&call.args).into(),
                },
                _ => self.several(self.args(&call.args)),
            },
            ast::Expr::BinOp(op) => self.several(vec![self.expr(&op.left), self.expr(&op.right)]),
            ast::Expr::IfExpr(choice) => {
                let mut parts = vec![self.expr(&choice.true_expr)];
                parts.extend(choice.false_expr.as_ref().map(|no| self.expr(no)));
                self.several(parts)
            }
            ast::Expr::List(list) => {
                self.several(list.items.iter().map(|e| self.expr(e)).collect())
            }
            ast::Expr::Tuple(list) => {
                self.several(list.items.iter().map(|e| self.expr(e)).collect())
            }
            ast::Expr::Map(map) => self.several(map.values.iter().map(|e| self.expr(e)).collect()),
            // Truth values, numbers and constants show nothing of what they were made from.
            ast::Expr::Const(_)
            | ast::Expr::UnaryOp(_)
            | ast::Expr::Compare(_)
            | ast::Expr::Test(_) => return literal(span),
        };
        Expr { kind, span }
    }

    fn args(&self, args: &[ast::CallArg]) -> Vec<Expr> {
        let value = |arg: &ast::CallArg| match arg {
            ast::CallArg::Pos(value)
            | ast::CallArg::PosSplat(value)
            | ast::CallArg::KwargSplat(value) => self.expr(value),
            ast::CallArg::Kwarg(_, value) => self.expr(value),
        };
        args.iter().map(value).collect()
    }

    fn several(&self, parts: Vec<Expr>) -> ExprKind {
        let element = |value| Element {
            value,
            optional: false,
        };
        ExprKind::List(parts.into_iter().map(element).collect())
    }
}

fn literal(span: Span) -> Expr {
    Expr {
        kind: ExprKind::Literal(Literal::Null),
        span,
    }
}
