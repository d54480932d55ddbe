//! What a template shows, as expressions of the language: for rules that follow values and need no types.

use minijinja::machinery::{self, ast};
use minijinja::syntax::SyntaxConfig;

use crate::ast::expr::{BinaryOp, Element, Entry, Expr, ExprKind, Literal, RecordField};
use crate::ast::node::TemplateText;
use crate::base::{Span, Spanned};

use super::parts;

/// A step of a template.
#[derive(Debug, Clone)]
pub enum Printed {
    /// A name that stands for a value from here on: a loop's, or one that is set.
    Bind(String, Expr),
    /// A field of a namespace is set: that has a value more, wherever the namespace is read.
    Adds(String, Expr),
    /// A block begins.
    Open,
    /// It ends.
    Close {
        /// What it has bound is gone behind it; else it is one of several ways, and may not have been taken.
        scoped: bool,
    },
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
                self.within(true, |walk| {
                    walk.out
                        .push(Printed::Bind("loop".to_owned(), around(&element)));
                    walk.bind(&each.target, &element);
                    walk.all(&each.body);
                });
                self.within(false, |walk| walk.all(&each.else_body));
            }
            Stmt::IfCond(branch) => {
                self.within(false, |walk| walk.all(&branch.true_body));
                self.within(false, |walk| walk.all(&branch.false_body));
            }
            Stmt::Set(set) => {
                let value = self.expr(&set.expr);
                self.bind(&set.target, &value);
            }
            Stmt::SetBlock(set) => self.all(&set.body),
            _ => {}
        }
    }

    fn within(&mut self, scoped: bool, inner: impl FnOnce(&mut Self)) {
        self.out.push(Printed::Open);
        inner(self);
        self.out.push(Printed::Close { scoped });
    }

    fn bind(&mut self, target: &ast::Expr, value: &Expr) {
        match target {
            ast::Expr::Var(var) => {
                let bound = Printed::Bind(var.id.to_owned(), value.clone());
                self.out.push(bound);
            }
            ast::Expr::GetAttr(part) => {
                let mut of = &part.expr;
                while let ast::Expr::GetAttr(part) = of {
                    of = &part.expr;
                }
                if let ast::Expr::Var(namespace) = of {
                    let added = Printed::Adds(namespace.id.to_owned(), value.clone());
                    self.out.push(added);
                }
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
                index: Box::new(key(&get.subscript_expr, span)),
                optional: false,
            },
            ast::Expr::Slice(slice) => return self.expr(&slice.expr),
            ast::Expr::Filter(applied) => ExprKind::Call {
                target: applied.expr.as_ref().map(|of| Box::new(self.expr(of))),
                function: name(match applied.name {
                    "length" | "count" => "size",
                    // A list of lists here.
                    "slice" => "batch",
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
                _ => mixed(self.args(&call.args), span),
            },
            ast::Expr::BinOp(op) if tells(&op.op) => return literal(span),
            ast::Expr::BinOp(op) => self.either(&op.left, &op.right, span),
            ast::Expr::IfExpr(choice) => match &choice.false_expr {
                Some(no) => self.either(&choice.true_expr, no, span),
                None => return self.expr(&choice.true_expr),
            },
            ast::Expr::UnaryOp(op) if matches!(op.op, ast::UnaryOpKind::Neg) => {
                return self.expr(&op.expr);
            }
            ast::Expr::List(list) => {
                self.several(list.items.iter().map(|e| self.expr(e)).collect())
            }
            ast::Expr::Tuple(list) => {
                self.several(list.items.iter().map(|e| self.expr(e)).collect())
            }
            ast::Expr::Map(map) => {
                let entry = |(name, value): (&ast::Expr, &ast::Expr)| Entry {
                    key: match name {
                        ast::Expr::Const(_) => key(name, span),
                        name => self.expr(name),
                    },
                    value: self.expr(value),
                    optional: false,
                };
                ExprKind::Map(map.keys.iter().zip(&map.values).map(entry).collect())
            }
            // Truth values and constants show nothing of what they were made from.
            ast::Expr::Const(_)
            | ast::Expr::UnaryOp(_)
            | ast::Expr::Compare(_)
            | ast::Expr::Test(_) => return literal(span),
        };
        Expr { kind, span }
    }

    fn args(&self, args: &[ast::CallArg]) -> Vec<Expr> {
        parts::args(args).map(|arg| self.expr(arg)).collect()
    }

    /// A value that is made from both, or is one of them.
    fn either(&self, left: &ast::Expr, right: &ast::Expr, span: Span) -> ExprKind {
        let (left, right) = (self.expr(left), self.expr(right));
        let op = Spanned::new(BinaryOp::Add, span);
        ExprKind::Binary(op, Box::new(left), Box::new(right))
    }

    fn several(&self, parts: Vec<Expr>) -> ExprKind {
        let element = |value| Element {
            value,
            optional: false,
        };
        ExprKind::List(parts.into_iter().map(element).collect())
    }
}

/// Whether an operator only tells whether something holds.
fn tells(op: &ast::BinOpKind) -> bool {
    use ast::BinOpKind::{Eq, Gt, Gte, In, Lt, Lte, Ne};
    matches!(op, Eq | Ne | Lt | Lte | Gt | Gte | In)
}

/// What a function gives back, by what it is given: any part of it may be made from any.
fn mixed(args: Vec<Expr>, span: Span) -> ExprKind {
    ExprKind::Call {
        target: None,
        function: Spanned::new("namespace".to_owned(), span),
        args: args.into(),
    }
}

/// A key that is written out, or one that is not known.
fn key(key: &ast::Expr, span: Span) -> Expr {
    let kind = match key {
        ast::Expr::Const(written) => match written.value.as_str() {
            Some(text) => Literal::String(text.into()),
            None => i64::try_from(written.value.clone()).map_or(Literal::Null, Literal::Int),
        },
        _ => Literal::Null,
    };
    Expr {
        kind: ExprKind::Literal(kind),
        span,
    }
}

/// What `loop` is where a loop goes over such elements: it knows those before and behind.
fn around(element: &Expr) -> Expr {
    let span = element.span;
    let field = |name: &str| RecordField {
        name: Spanned::new(name.to_owned(), span),
        value: element.clone(),
        optional: false,
    };
    let fields = ["previtem", "nextitem"].map(field);
    Expr {
        kind: ExprKind::Record {
            name: Spanned::new("loop".to_owned(), span),
            fields: fields.into_iter().collect(),
        },
        span,
    }
}

fn literal(span: Span) -> Expr {
    Expr {
        kind: ExprKind::Literal(Literal::Null),
        span,
    }
}
