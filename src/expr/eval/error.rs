//! What goes wrong while an expression is compiled or evaluated.

use std::fmt;

use crate::base::Span;

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
    /// An effect failed.
    Effect,
    /// The expression took too long, or made a value that is too large.
    Limit,
}

impl ErrorKind {
    /// Whether `||`, `&&`, `all` and `exists` end with it whatever their other operands say.
    pub(super) fn is_fatal(self) -> bool {
        matches!(self, ErrorKind::Effect | ErrorKind::Limit)
    }
}

impl EvalError {
    pub(super) fn boxed(span: Span, kind: ErrorKind, message: impl Into<String>) -> Box<EvalError> {
        Box::new(EvalError {
            message: message.into(),
            span,
            kind,
        })
    }

    pub(super) fn wrong_kind(span: Span, message: impl Into<String>) -> Box<EvalError> {
        EvalError::boxed(span, ErrorKind::WrongKind, message)
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
