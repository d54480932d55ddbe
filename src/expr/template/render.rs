//! Templates compiled once and rendered many times.

use crate::ast::node::TemplateText;
use crate::base::{FileId, Span};
use crate::diag::{Diagnostic, codes};

use super::super::eval::{Env, TemplateProgram};
use super::super::scope::Scope;
use super::super::ty::TypeTable;
use super::lower::lower;

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
    text: String,
    /// All of the text.
    span: Span,
}

impl std::fmt::Debug for Template {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Template").field(&self.text).finish()
    }
}

impl Template {
    /// A template whose text stands alone: places count from its start.
    ///
    /// # Errors
    /// As [`Template::compile`].
    pub fn compile_text(text: &str, scope: &Scope) -> Result<Template, TemplateError> {
        let span = Span::new(FileId(0), 0, text.len());
        let text = TemplateText {
            text: text.to_owned(),
            span,
            anchors: vec![(0, 0)],
        };
        Template::compile(&text, scope)
    }

    /// Compiles a template. Names that the scope lacks have no value when it is rendered: they are for
    /// [`check`](super::check()) to report.
    ///
    /// # Errors
    /// What is wrong with its syntax; a filter, test or function that there is not.
    pub fn compile(text: &TemplateText, scope: &Scope) -> Result<Template, TemplateError> {
        let refused = |found: &Diagnostic| TemplateError {
            message: found.message.clone(),
            span: found.span(),
        };
        let lowered = lower(text).map_err(|found| refused(&found))?;
        // What fails whenever it is computed fails when it is.
        let fails = |found: &&Diagnostic| !std::ptr::eq(found.code, &codes::ALWAYS_FAILS);
        if let Some(first) = lowered.problems.iter().find(fails) {
            return Err(refused(first));
        }
        let program = TemplateProgram::compile(&lowered.body, scope, &TypeTable::default());
        let program = program.map_err(|error| TemplateError {
            message: error.message,
            span: error.span,
        })?;
        Ok(Template {
            program,
            text: text.text.clone(),
            span: text.span,
        })
    }

    /// The text for the values of `env`. One that isn't there yet is an error only where the template uses it.
    ///
    /// # Errors
    /// What has no value, or can't be computed.
    pub fn render(&self, env: &dyn Env) -> Result<String, TemplateError> {
        self.program.render(env).map_err(|error| TemplateError {
            message: error.message,
            span: if error.span == Span::default() {
                self.span
            } else {
                error.span
            },
        })
    }
}
