//! What goes wrong while an expression is compiled or evaluated.

use std::fmt;

use crate::base::Span;
use crate::value::Value;

/// An expression that can't be compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompileError {
    /// What is wrong.
    pub message: String,
    /// The part that is.
    pub span: Span,
}

/// An expression that has no value this time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvalError {
    /// What went wrong.
    pub message: String,
    /// The same without the values that the message shows, where it shows any.
    pub bare: Option<String>,
    /// The part that failed.
    pub span: Span,
    /// Which sort of failure it is.
    pub kind: ErrorKind,
}

/// Sorts of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// A name or a state field that has no value yet.
    NoValue,
    /// An operator or a macro met a kind of value that it has no meaning for (CEL: no such overload).
    WrongKind,
    /// A map has no such key.
    NoSuchKey,
    /// A list has no such index.
    NoSuchIndex,
    /// Overflow, or division by zero.
    Arithmetic,
    /// A function refused its arguments.
    Function,
    /// A value was refused by its `checked`.
    Require,
    /// An effect failed.
    Effect,
    /// The expression took too long, or made a value that is too large.
    Limit,
}

impl ErrorKind {
    /// Whether `||`, `&&`, `all` and `exists` end with it whatever their other operands say.
    pub(super) fn is_fatal(self) -> bool {
        matches!(
            self,
            ErrorKind::Require | ErrorKind::Effect | ErrorKind::Limit
        )
    }
}

impl EvalError {
    pub(super) fn boxed(span: Span, kind: ErrorKind, message: impl Into<String>) -> Box<EvalError> {
        Box::new(EvalError {
            message: message.into(),
            bare: None,
            span,
            kind,
        })
    }

    /// `what`, with the values that it is about.
    pub(super) fn about(
        span: Span,
        kind: ErrorKind,
        what: impl Into<String>,
        values: impl fmt::Display,
    ) -> Box<EvalError> {
        let what = what.into();
        Box::new(EvalError {
            message: format!("{what}: {values}"),
            bare: Some(what),
            span,
            kind,
        })
    }

    pub(super) fn wrong_kind(span: Span, message: impl Into<String>) -> Box<EvalError> {
        EvalError::boxed(span, ErrorKind::WrongKind, message)
    }
}

impl EvalError {
    /// The message without values, for those who must not see them.
    pub fn without_values(&self) -> &str {
        self.bare.as_deref().unwrap_or(&self.message)
    }
}

/// Characters of a value in a message, at most.
const MOST: usize = 60;

/// A value as it would be written, cut where it is long.
pub(in crate::expr) fn brief(value: &Value) -> String {
    match value {
        Value::String(text) => match text.char_indices().nth(MOST) {
            Some((end, _)) => format!("{:?}", format!("{}...", text.get(..end).unwrap_or(""))),
            None => format!("{text:?}"),
        },
        Value::Bytes(bytes) => format!("{} bytes", bytes.len()),
        Value::List(_) | Value::Map(_) => format!("a {} of {}", value.kind(), length(value)),
        value => format!("{value:?}"),
    }
}

fn length(value: &Value) -> usize {
    match value {
        Value::List(list) => list.len(),
        Value::Map(map) => map.len(),
        _ => 0,
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CompileError {}
impl std::error::Error for EvalError {}
