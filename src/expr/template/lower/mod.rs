//! From what Jinja's parser makes of a text to the [tree](crate::ast::template) that all stages read. What needs no types is
//! refused here: statements, filters, tests and functions that there are not, and arguments that they don't take.
//!
//! Reading order: this file (statements), [`expression`], [`call`], [`filter`].

mod argument;
mod call;
mod expression;
mod filter;

use std::ops::Range;
use std::sync::Arc;

use minijinja::machinery::{self, Span as Place, ast};
use minijinja::syntax::SyntaxConfig;

use crate::ast::Name;
use crate::ast::expr::{Expr, ExprKind};
use crate::ast::node::TemplateText;
use crate::ast::template::{For, Statement, Target, Tree};
use crate::base::Span;
use crate::diag::{Code, Diagnostic, codes};

use super::{chain, syntax};

/// The tree of a template, made the first time. Its spans are those of the file.
pub fn tree(template: &TemplateText) -> &Tree {
    template.tree.get_or_init(|| {
        let tree = lower(template).unwrap_or_else(|refused| Tree {
            body: Vec::new(),
            problems: vec![*refused],
        });
        Arc::new(tree)
    })
}

/// Lowers a template.
///
/// # Errors
/// What is wrong with the syntax.
fn lower(template: &TemplateText) -> Result<Tree, Box<Diagnostic>> {
    if let Some(beyond) = chain::too_long(&template.text) {
        let place = template.span_of(beyond.place.start, beyond.place.end);
        let found = Diagnostic::new(&codes::LIMIT_EXCEEDED, beyond.message, place);
        return Err(Box::new(found.help(beyond.help)));
    }
    let parsed = machinery::parse(&template.text, "template", SyntaxConfig::default());
    let tree = parsed.map_err(|error| Box::new(syntax::error(template, &error)))?;
    let mut lower = Lower {
        template,
        problems: Vec::new(),
    };
    let body = match &tree {
        ast::Stmt::Template(root) => lower.all(&root.children),
        _ => Vec::new(),
    };
    Ok(Tree {
        body,
        problems: lower.problems,
    })
}

/// The walk. While an expression is made, its spans count in the text of the template.
struct Lower<'a> {
    template: &'a TemplateText,
    problems: Vec<Diagnostic>,
}

impl Lower<'_> {
    fn all(&mut self, statements: &[ast::Stmt]) -> Vec<Statement> {
        let all = statements.iter();
        all.filter_map(|statement| self.statement(statement))
            .collect()
    }

    fn statement(&mut self, statement: &ast::Stmt) -> Option<Statement> {
        use ast::Stmt;
        Some(match statement {
            // Only the root is one.
            Stmt::Template(_) => return None,
            Stmt::EmitRaw(text) => Statement::Text {
                text: text.raw.to_owned(),
                // A raw text is a slice of the template, so the distance of their addresses is its offset.
                at: (text.raw.as_ptr() as usize)
                    .saturating_sub(self.template.text.as_ptr() as usize),
            },
            Stmt::EmitExpr(emit) => Statement::Output(self.whole(&emit.expr)),
            Stmt::IfCond(branch) => Statement::If {
                condition: self.condition(&branch.expr),
                yes: self.all(&branch.true_body),
                no: self.all(&branch.false_body),
            },
            Stmt::ForLoop(each) => {
                if each.recursive {
                    self.refuse("recursive", each.span());
                }
                Statement::For(Box::new(For {
                    target: self.target(&each.target)?,
                    over: self.whole(&each.iter),
                    when: each.filter_expr.as_ref().map(|when| self.condition(when)),
                    body: self.all(&each.body),
                    otherwise: self.all(&each.else_body),
                }))
            }
            Stmt::Set(set) => Statement::Set {
                value: self.whole(&set.expr),
                target: self.target(&set.target)?,
            },
            Stmt::SetBlock(set) => Statement::Capture {
                body: self.all(&set.body),
                filtered: set.filter.as_ref().map(|filter| self.whole(filter)),
                target: self.target(&set.target)?,
            },
            Stmt::WithBlock(part) => return self.refuse("with", part.span()),
            Stmt::AutoEscape(part) => return self.refuse("autoescape", part.span()),
            Stmt::FilterBlock(part) => return self.refuse("filter", part.span()),
            Stmt::Do(part) => return self.refuse("do", part.span()),
        })
    }

    fn refuse(&mut self, name: &str, place: Place) -> Option<Statement> {
        let start = place.start_offset as usize;
        let rest = self.template.text.get(start..).unwrap_or_default();
        let at = start + rest.find(name).unwrap_or_default();
        let span = self.template.span_of(at, at + name.len());
        let found = Diagnostic::new(&codes::BAD_TEMPLATE, syntax::absent(name), span);
        self.problems.push(found.help(syntax::INSTEAD));
        None
    }

    fn target(&mut self, target: &ast::Expr) -> Option<Target> {
        let name = |word: &str, place: Range<usize>| {
            Name::new(
                word.to_owned(),
                self.template.span_of(place.start, place.end),
            )
        };
        match target {
            ast::Expr::Var(var) => Some(Target::Name(name(var.id, range(var.span())))),
            ast::Expr::GetAttr(get) => match &get.expr {
                ast::Expr::Var(var) => {
                    let end = range(get.span()).end;
                    let of = name(var.id, range(var.span()));
                    let field = name(get.name, end.saturating_sub(get.name.len())..end);
                    Some(Target::Field(of, field))
                }
                _ => self.no_target(target),
            },
            ast::Expr::List(names) => self.targets(target, &names.items),
            ast::Expr::Tuple(names) => self.targets(target, &names.items),
            _ => self.no_target(target),
        }
    }

    fn targets(&mut self, whole: &ast::Expr, names: &[ast::Expr]) -> Option<Target> {
        let parts: Option<Vec<Target>> = names.iter().map(|name| self.target(name)).collect();
        let place = range(whole.span());
        Some(Target::Several(
            parts?,
            self.template.span_of(place.start, place.end),
        ))
    }

    fn no_target(&mut self, target: &ast::Expr) -> Option<Target> {
        let message = "only a name, or a field of a namespace, can be set".to_owned();
        self.problem(&codes::BAD_TEMPLATE, message, range(target.span()));
        None
    }

    /// An expression with the spans of the file.
    fn whole(&mut self, expr: &ast::Expr) -> Expr {
        let made = self.expr(expr);
        self.placed(made)
    }

    /// The same as a truth value.
    fn condition(&mut self, expr: &ast::Expr) -> Expr {
        let made = self.expr(expr);
        self.placed(expression::truth(made))
    }

    fn placed(&self, mut expr: Expr) -> Expr {
        self.place(&mut expr);
        expr
    }

    fn place(&self, expr: &mut Expr) {
        let put = |span: &mut Span| {
            *span = self
                .template
                .span_of(span.start as usize, span.end as usize);
        };
        put(&mut expr.span);
        match &mut expr.kind {
            ExprKind::Select { field, .. } => put(&mut field.span),
            ExprKind::Call { function, .. } => put(&mut function.span),
            ExprKind::Binary(op, ..) => put(&mut op.span),
            _ => {}
        }
        expr.each_part_mut(|part| self.place(part));
    }

    /// A span of the text, as long as an expression is made.
    fn span(&self, range: Range<usize>) -> Span {
        Span::new(self.template.span.file, range.start, range.end)
    }

    fn problem(&mut self, code: &'static Code, message: String, range: Range<usize>) {
        let place = self.template.span_of(range.start, range.end);
        self.problems.push(Diagnostic::new(code, message, place));
    }

    fn problem_with(&mut self, found: Diagnostic, help: Option<String>) {
        self.problems.push(found.maybe_help(help));
    }

    /// A place of the file.
    fn at(&self, range: Range<usize>) -> Span {
        self.template.span_of(range.start, range.end)
    }
}

fn range(place: Place) -> Range<usize> {
    place.start_offset as usize..place.end_offset as usize
}
