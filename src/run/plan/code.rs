//! Compiled expressions and templates that know their place in the source.

use std::sync::Arc;

use crate::base::Span;
use crate::expr::eval::{self, Effect, Env, Program};
use crate::expr::scope::StateFields;
use crate::expr::template::Template;
use crate::expr::{Scope, Slot, Type};
use crate::ir::{self, ErrorKind, Flow, Place};
use crate::run::error::RunError;
use crate::value::Value;

/// An IR that does not hold together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PlanError {
    /// What is wrong, with its place where one is known.
    pub message: String,
}

impl PlanError {
    /// That error.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
        }
    }
}

/// What the parts of a plan are made with.
pub struct Builder<'a> {
    /// The flow.
    pub flow: &'a Flow,
    /// Standard-library functions that its expressions use.
    pub functions: Arc<Vec<String>>,
    files: Arc<[String]>,
}

impl<'a> Builder<'a> {
    /// A builder for the parts of that flow.
    pub fn new(flow: &'a Flow) -> Self {
        Self {
            flow,
            functions: Arc::new(flow.functions.clone()),
            files: flow.files.clone().into(),
        }
    }

    /// A scope over the state of a graph. Types don't matter any more: the compiler has checked them.
    pub fn scope(&self, state: &Arc<StateFields>, effects: bool) -> Scope {
        Scope {
            state: Some(state.clone()),
            names: Vec::new(),
            effects,
            functions: self.functions.clone(),
        }
    }

    /// The expression, compiled.
    ///
    /// # Errors
    /// Where it can't be.
    pub fn code(&self, expr: &ir::Expr, scope: &Scope) -> Result<Code, PlanError> {
        let place = Source {
            text: expr.text.as_str().into(),
            at: expr.at,
            indent: 0,
            files: self.files.clone(),
        };
        let program = eval::compile_text(&expr.text, scope, &self.flow.types).map_err(|error| {
            PlanError::new(format!("{}: {}", place.show(error.span), error.message))
        })?;
        Ok(Code {
            program,
            source: place,
        })
    }

    /// The template, parsed.
    ///
    /// # Errors
    /// Where it can't be.
    pub fn text(&self, template: &ir::Template, scope: &Scope) -> Result<Text, PlanError> {
        let source = Source {
            text: template.text.as_str().into(),
            at: first_character(template),
            indent: indent(template),
            files: self.files.clone(),
        };
        let mut own = Scope::default();
        let mut args = None;
        for arg in template.args.iter().flatten() {
            let values: &mut Vec<Code> = args.get_or_insert_default();
            values.push(self.code(&arg.value, scope)?);
            own.declare(arg.name.as_str(), Type::Json);
        }
        let scope = if template.args.is_some() { &own } else { scope };
        let compiled = Template::compile_text(&template.text, scope).map_err(|error| {
            PlanError::new(format!("{}: {}", source.show(error.span), error.message))
        })?;
        Ok(Text {
            template: compiled,
            source,
            args,
        })
    }

    /// A place in the source, `file:line:column`.
    pub fn place(&self, at: Place) -> String {
        Source {
            text: "".into(),
            at,
            indent: 0,
            files: self.files.clone(),
        }
        .show(Span::default())
    }
}

/// A text and where it begins.
struct Source {
    text: Arc<str>,
    at: Place,
    /// Columns that were removed from the start of every line but the first.
    indent: u32,
    files: Arc<[String]>,
}

/// Where the text of a template begins: behind the quotes, or on the line after `"""`.
fn first_character(template: &ir::Template) -> Place {
    let Some((_, offset)) = template.anchors.first() else {
        return template.at;
    };
    let ahead = offset.saturating_sub(template.at.offset);
    match indented(template) {
        Some(indent) => Place {
            line: template.at.line + 1,
            column: indent + 1,
            offset: *offset,
            ..template.at
        },
        None => Place {
            column: template.at.column + ahead,
            offset: *offset,
            ..template.at
        },
    }
}

fn indent(template: &ir::Template) -> u32 {
    indented(template).unwrap_or(0)
}

/// Common indentation of a text that begins on the line after `"""`.
fn indented(template: &ir::Template) -> Option<u32> {
    let (_, offset) = template.anchors.first()?;
    let behind_line_end = template.at.offset + 4;
    (*offset >= behind_line_end).then(|| offset - behind_line_end)
}

impl Source {
    /// The place of a part of the text, `file:line:column`.
    fn show(&self, span: Span) -> String {
        let file = self
            .files
            .get(self.at.file as usize)
            .map_or("<flow>", String::as_str);
        let before = self.text.get(..span.start as usize).unwrap_or("");
        let lines = before.matches('\n').count() as u32;
        let last = before.rsplit('\n').next().unwrap_or("").chars().count() as u32;
        let column = if lines == 0 {
            self.at.column + last
        } else {
            self.indent + last + 1
        };
        format!("{file}:{}:{column}", self.at.line + lines)
    }
}

/// A compiled expression.
pub struct Code {
    program: Program,
    source: Source,
}

impl Code {
    /// Its value.
    ///
    /// # Errors
    /// Kind `expression`, with the place of the part that failed.
    pub fn eval(&self, env: &dyn Env) -> Result<Value, RunError> {
        self.program.eval(env).map_err(|error| {
            RunError::new(ErrorKind::Expression, error.message).at(self.source.show(error.span))
        })
    }

    /// Its value where it is a bool.
    ///
    /// # Errors
    /// As [`Code::eval`], and where it is none.
    pub fn holds(&self, env: &dyn Env) -> Result<bool, RunError> {
        match self.eval(env)? {
            Value::Bool(b) => Ok(b),
            other => {
                let message = format!(
                    "the condition is {}, expected a bool",
                    crate::run::channel::kind(&other)
                );
                Err(self.error(message))
            }
        }
    }

    /// An error of kind `expression` about the whole of it.
    pub fn error(&self, message: impl Into<String>) -> RunError {
        RunError::new(ErrorKind::Expression, message).at(self.place())
    }

    /// Where it begins.
    pub fn place(&self) -> String {
        self.source.show(Span::default())
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.source.text
    }
}

/// A parsed template.
pub struct Text {
    template: Template,
    source: Source,
    /// Values of the names in the text, where it is that of a named prompt with parameters.
    args: Option<Vec<Code>>,
}

/// The names of a named prompt's text.
struct PromptEnv(Vec<Value>);

impl Env for PromptEnv {
    fn slot(&self, slot: Slot) -> Option<Value> {
        self.0.get(slot.0 as usize).cloned()
    }

    fn field(&self, _index: u32) -> Option<Value> {
        None
    }

    fn effect(&self, _effect: Effect) -> Result<Value, String> {
        Err("a prompt has no effects".to_owned())
    }
}

impl Text {
    /// The text with its placeholders filled in.
    ///
    /// # Errors
    /// Kind `expression`, with the place of the part that failed.
    pub fn render(&self, env: &dyn Env) -> Result<String, RunError> {
        let Some(args) = &self.args else {
            return self.rendered(env);
        };
        let values = args.iter().map(|value| value.eval(env));
        self.rendered(&PromptEnv(values.collect::<Result<_, _>>()?))
    }

    fn rendered(&self, env: &dyn Env) -> Result<String, RunError> {
        self.template.render(env).map_err(|error| {
            RunError::new(ErrorKind::Expression, error.message).at(self.source.show(error.span))
        })
    }
}
