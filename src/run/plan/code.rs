//! Compiled expressions and templates that know their place in the source.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::base::{Span, cancel};
use crate::expr::eval::{self, CompileError, Effect, Env, Program};
use crate::expr::infer::reads;
use crate::expr::scope::StateFields;
use crate::expr::template::Template;
use crate::expr::{Scope, Slot, Type};
use crate::ir::text::{Anchor, Tree};
use crate::ir::{self, ErrorKind, Flow, Place};
use crate::run::effect::cancelled;
use crate::run::error::{Passage, RunError};
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
    /// Names of what is marked `@secret`.
    secret: BTreeSet<String>,
    files: Arc<[String]>,
}

impl<'a> Builder<'a> {
    /// A builder for the parts of that flow.
    pub fn new(flow: &'a Flow) -> Self {
        Self {
            flow,
            functions: Arc::new(flow.functions.clone()),
            secret: secret(flow),
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
        let source = self.source(&expr.text, expr.at, vec![first(expr.at)]);
        let refused = |error: &CompileError| {
            let place = source.passage(error.span);
            PlanError::new(format!("{place}: {}", error.message))
        };
        let tree = expr.tree().map_err(refused)?.clone();
        let program =
            eval::compile(&tree, scope, &self.flow.types).map_err(|error| refused(&error))?;
        let secret = &self.secret;
        Ok(Code {
            program,
            source,
            shows_values: secret.is_empty() || eval::shows_no_secret(&tree, secret),
            tree,
        })
    }

    /// The template, parsed.
    ///
    /// # Errors
    /// Where it can't be.
    pub fn text(&self, template: &ir::Template, scope: &Scope) -> Result<Text, PlanError> {
        let anchors = match template.anchors.is_empty() {
            true => vec![first(template.at)],
            false => template.anchors.clone(),
        };
        let source = self.source(&template.text, template.at, anchors);
        let mut own = Scope::default();
        let mut args = None;
        for arg in template.args.iter().flatten() {
            let values: &mut Vec<Code> = args.get_or_insert_default();
            values.push(self.code(&arg.value, scope)?);
            own.declare(arg.name.as_str(), Type::Json);
        }
        let scope = if template.args.is_some() { &own } else { scope };
        let compiled = Template::compile_text(&template.text, scope).map_err(|error| {
            let place = source.passage(error.span);
            PlanError::new(format!("{place}: {}", error.message))
        })?;
        Ok(Text {
            template: compiled,
            source,
            args,
        })
    }

    /// A place in the source.
    pub fn place(&self, at: Place) -> Passage {
        self.source("", at, vec![first(at)])
            .passage(Span::default())
    }

    fn source(&self, text: &str, at: Place, anchors: Vec<Anchor>) -> Source {
        Source {
            text: text.into(),
            file: at.file,
            anchors,
            files: self.files.clone(),
        }
    }
}

/// Names of fields that are marked, and of tools that are, so that a flow with one has a name here.
fn secret(flow: &Flow) -> BTreeSet<String> {
    let tools = flow.tools.iter().filter(|tool| tool.secret);
    let tools = tools.map(|tool| tool.name.clone());
    flow.secrets.iter().cloned().chain(tools).collect()
}

/// A text and where its parts stand.
struct Source {
    text: Arc<str>,
    file: u32,
    /// Ascending; the first is at the text's start.
    anchors: Vec<Anchor>,
    files: Arc<[String]>,
}

/// The anchor of a text that stands in the file as it is.
fn first(at: Place) -> Anchor {
    Anchor {
        text: 0,
        line: at.line,
        column: at.column,
    }
}

impl Source {
    /// The place of a part of the text.
    fn passage(&self, span: Span) -> Passage {
        let (start, end) = (span.start as usize, span.end as usize);
        let begins = self.point(start);
        // Of a part that ends with its line the end is in that line too.
        let last = self.text.floor_char_boundary(end.saturating_sub(1));
        let ends = match end > start {
            true => self.point(last),
            false => begins,
        };
        Passage {
            file: self
                .files
                .get(self.file as usize)
                .map_or("<flow>", String::as_str)
                .to_owned(),
            start: begins,
            end: (ends.0, ends.1 + u32::from(end > start)),
        }
    }

    /// Line and column of a byte of the text.
    fn point(&self, offset: usize) -> (u32, u32) {
        let behind = self
            .anchors
            .partition_point(|anchor| anchor.text as usize <= offset);
        let Some(anchor) = self.anchors.get(behind.saturating_sub(1)) else {
            return (1, 1);
        };
        let between = self.text.get(anchor.text as usize..offset).unwrap_or("");
        let width = |text: &str| u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
        match between.rsplit_once('\n') {
            None => (anchor.line, anchor.column + width(between)),
            Some((lines, last)) => {
                let lines = lines.matches('\n').count() + 1;
                let lines = u32::try_from(lines).unwrap_or(u32::MAX);
                (anchor.line + lines, width(last) + 1)
            }
        }
    }
}

/// A compiled expression.
pub struct Code {
    tree: Tree,
    program: Program,
    source: Source,
    /// Whether its errors may show the values that it met: not where one could be a secret.
    shows_values: bool,
}

impl Code {
    /// Its value, where that goes on into a state, an output, an argument or a text: numbers in it are finite.
    ///
    /// # Errors
    /// Kind `expression`, with the place of the part that failed.
    pub fn eval(&self, env: &dyn Env) -> Result<Value, RunError> {
        let value = self.intermediate(env)?;
        match value.check_finite() {
            Ok(()) => Ok(value),
            Err(why) => Err(self.error(why)),
        }
    }

    /// Its value, where other expressions go on with it: that of a `let`, which may be infinite, as in CEL.
    ///
    /// # Errors
    /// As [`Code::eval`].
    pub fn intermediate(&self, env: &dyn Env) -> Result<Value, RunError> {
        self.program.eval(env).map_err(|error| {
            if cancel::is_asked() {
                return cancelled();
            }
            let message = match self.shows_values {
                true => error.message.as_str(),
                false => error.without_values(),
            };
            RunError::new(kind(&error), message).at(self.source.passage(error.span))
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

    /// Where all of it stands.
    pub fn place(&self) -> Passage {
        let whole = Span {
            end: u32::try_from(self.source.text.len()).unwrap_or(u32::MAX),
            ..Span::default()
        };
        self.source.passage(whole)
    }

    /// The names that it reads, but for fields of `state`.
    pub fn reads(&self, scope: &Scope) -> BTreeSet<Slot> {
        reads(&self.tree, scope).slots
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.source.text
    }
}

/// The kind of a run's error that an expression's is.
fn kind(error: &eval::EvalError) -> ErrorKind {
    match error.kind {
        eval::ErrorKind::Require => ErrorKind::Require,
        _ => ErrorKind::Expression,
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
            if cancel::is_asked() {
                return cancelled();
            }
            RunError::new(ErrorKind::Expression, error.message).at(self.source.passage(error.span))
        })
    }
}
