//! Templates compiled once and rendered many times.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::ast::expr::{Expr, ExprKind, Literal};
use crate::ast::node::TemplateText;
use crate::ast::template::each_expr;
use crate::base::{FileId, Span};
use crate::diag::{Diagnostic, Diagnostics, Level, codes};
use crate::value::Value;

use super::super::eval::{Env, EvalError, TemplateProgram};
use super::super::scope::Scope;
use super::super::ty::TypeTable;
use super::check::check;
use super::lower::tree;

/// What went wrong in a template, and where in the file.
#[derive(Debug, Clone, PartialEq)]
pub struct TemplateError {
    /// Lower case, no full stop.
    pub message: String,
    /// The part of the template that failed.
    pub span: Span,
}

/// A template in a scope.
pub struct Template {
    program: TemplateProgram,
    text: TemplateText,
}

impl std::fmt::Debug for Template {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Template").field(&self.text.text).finish()
    }
}

impl Template {
    /// A template whose text stands alone: places count from its start.
    ///
    /// # Errors
    /// As [`Template::compile`].
    pub fn compile_text(text: &str, scope: &Scope) -> Result<Template, TemplateError> {
        let text = TemplateText::of_file(text.to_owned(), FileId(0));
        Template::compile(&text, scope)
    }

    /// The same, checked.
    ///
    /// # Errors
    /// The first error that the check finds.
    pub fn check_text(text: &str, scope: &Scope) -> Result<Template, Box<Diagnostic>> {
        let text = TemplateText::of_file(text.to_owned(), FileId(0));
        let mut found = Diagnostics::new();
        check(&text, scope, &TypeTable::default(), &mut found);
        match found.iter().find(|found| found.level == Level::Error) {
            Some(found) => Err(Box::new(found.clone())),
            None => Template::compile(&text, scope).map_err(|error| {
                Box::new(Diagnostic::new(
                    &codes::BAD_TEMPLATE,
                    error.message,
                    error.span,
                ))
            }),
        }
    }

    /// Compiles a template. Names that the scope lacks have no value when it is rendered: they are for
    /// [`check`](super::check()) to report.
    ///
    /// # Errors
    /// What is wrong with its syntax; a filter, test or function that there is not.
    pub fn compile(text: &TemplateText, scope: &Scope) -> Result<Template, TemplateError> {
        let tree = tree(text);
        // What fails whenever it is computed fails when it is.
        let fails = |found: &&Diagnostic| !std::ptr::eq(found.code, &codes::ALWAYS_FAILS);
        if let Some(first) = tree.problems.iter().find(fails) {
            return Err(TemplateError {
                message: first.message.clone(),
                span: first.span(),
            });
        }
        let program = TemplateProgram::compile(&tree.body, scope, &TypeTable::default());
        let program = program.map_err(|error| TemplateError {
            message: error.message,
            span: error.span,
        })?;
        Ok(Template {
            program,
            text: text.clone(),
        })
    }

    /// The text for the values of `env`. One that isn't there yet is an error only where the template uses it.
    ///
    /// # Errors
    /// What has no value, or can't be computed.
    pub fn render(&self, env: &dyn Env) -> Result<String, TemplateError> {
        self.render_encoded(env, |text| Cow::Borrowed(text))
    }

    /// The same, with what each placeholder prints in another encoding.
    ///
    /// # Errors
    /// As [`Template::render`].
    pub fn render_encoded(
        &self,
        env: &dyn Env,
        encode: fn(&str) -> Cow<'_, str>,
    ) -> Result<String, TemplateError> {
        let rendered = self.program.render(env, encode);
        rendered.map_err(|error| self.failed(error))
    }

    /// The value of a text that is one placeholder and nothing else; of any other what [`Template::render`] gives.
    ///
    /// # Errors
    /// As [`Template::render`].
    pub fn value(&self, env: &dyn Env) -> Result<Value, TemplateError> {
        match self.program.only_value(env) {
            Some(value) => value.map_err(|error| self.failed(error)),
            None => self.render(env).map(Value::from),
        }
    }

    /// The fields that the template reads of a name; `None` where it uses the name in another way.
    pub fn fields_of(&self, name: &str) -> Option<BTreeSet<&str>> {
        let (mut found, mut alone) = (BTreeSet::new(), true);
        each_expr(&tree(&self.text).body, |expr| {
            alone &= collect_fields(expr, name, &mut found);
        });
        alone.then_some(found)
    }

    fn failed(&self, error: EvalError) -> TemplateError {
        TemplateError {
            message: error.message,
            span: match error.span == Span::default() {
                true => self.text.span,
                false => error.span,
            },
        }
    }
}

/// Adds the fields of a name that an expression reads. Whether it uses the name for nothing else.
fn collect_fields<'e>(expr: &'e Expr, name: &str, found: &mut BTreeSet<&'e str>) -> bool {
    let is_name = |expr: &Expr| matches!(&expr.kind, ExprKind::Ident(own) if own == name);
    match &expr.kind {
        ExprKind::Select { operand, field, .. } if is_name(operand) => {
            found.insert(field);
            true
        }
        ExprKind::Index { operand, index, .. } if is_name(operand) => match &index.kind {
            ExprKind::Literal(Literal::String(field)) => {
                found.insert(field);
                true
            }
            _ => false,
        },
        _ => {
            let mut alone = !is_name(expr);
            expr.each_part(|part| alone &= collect_fields(part, name, found));
            alone
        }
    }
}
