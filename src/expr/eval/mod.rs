//! Evaluation of expressions: compiled once, evaluated many times.
//!
//! [`compile`] turns a tree into a [`Program`] in which every name is already a slot, a field's
//! index, an enum member or a loop variable's place; nothing is looked up by name while it runs.
//! Each construct becomes a closure over what it is made of ([`machine::Node`]). The meaning is CEL's; where the
//! language adds to it, the file says so.
//!
//! What a program needs of the world it asks an [`Env`] for. It reads no clock, no file and no
//! environment, and it ends: loops and created elements use up fuel, sizes are bounded.
//!
//! Reading order: [`machine`], [`compiler`], then a file for each construct.

mod call;
mod collection;
mod compiler;
pub mod early;
mod effect;
mod error;
mod has;
mod index;
mod literal;
mod logic;
mod machine;
mod macros;
mod name;
pub(in crate::expr) mod operator;
mod optional;
mod record;
mod select;
mod shown;
mod template;

use crate::ast::expr::Expr;
use crate::base::{FileId, Span};
use crate::diag::{Diagnostics, Level};
use crate::expr::scope::{Scope, Slot};
use crate::expr::ty::TypeTable;
use crate::parse;
use crate::value::Value;

pub(in crate::expr) use error::brief;
pub use error::{CompileError, ErrorKind, EvalError};
pub use shown::shows_no_secret;
pub use template::TemplateProgram;

use compiler::Compiler;
use machine::{Machine, Node};

/// What a program asks for while it runs.
pub trait Env {
    /// The value of a name; `None` where it has none yet.
    fn slot(&self, slot: Slot) -> Option<Value>;

    /// The value of a field of `state`, by its index in [`Scope::state`]; `None` where it has none yet.
    fn field(&self, index: u32) -> Option<Value>;

    /// Performs an effect. The error is a message without place; it is never absorbed by `||` or `&&`.
    fn effect(&self, effect: Effect) -> Result<Value, String>;

    /// The names of the fields whose newer writes made a field of `state` stale, as a list; empty
    /// while it is fresh. It serves `stale(state.x)` and `invalidated_by(state.x)`.
    fn invalidated_by(&self, _index: u32) -> Result<Value, String> {
        Err("what made a field stale is only known in a run".into())
    }
}

/// What differs from one evaluation to the next, and is therefore journaled in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// `now()`: a timestamp
    Now,
    /// `uuid()`: a text
    Uuid,
    /// `random()`: a float, 0 or above and below 1
    Random,
}

/// A compiled expression.
pub struct Program {
    root: Node,
    /// How many loop variables are alive at once, at most.
    locals: usize,
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program").finish_non_exhaustive()
    }
}

impl Program {
    /// The value of the expression.
    pub fn eval(&self, env: &dyn Env) -> Result<Value, EvalError> {
        let mut machine = Machine::new(env, self.locals);
        self.root.eval(&mut machine).map_err(|error| *error)
    }
}

/// Compiles an expression in a scope. The first thing that can't be compiled is the error: an
/// unknown name or function, a wrong number of arguments, a constant pattern that is no regex.
pub fn compile(expr: &Expr, scope: &Scope, types: &TypeTable) -> Result<Program, CompileError> {
    program(expr, Compiler::new(scope, types))
}

/// As [`compile`], but what can't be resolved is an error of the evaluation that comes to it, as in
/// CEL without a type check: `nobody || true` is true. For expressions that no checker has seen.
pub fn compile_unchecked(
    expr: &Expr,
    scope: &Scope,
    types: &TypeTable,
) -> Result<Program, CompileError> {
    program(expr, Compiler::late(scope, types))
}

fn program(expr: &Expr, mut compiler: Compiler<'_>) -> Result<Program, CompileError> {
    let root = compiler.node(expr)?;
    Ok(Program {
        root,
        locals: compiler.locals(),
    })
}

/// Parses and compiles a text that is one expression. Spans count from its start.
///
/// # Errors
/// The first syntax error, or as [`compile`].
pub fn compile_text(text: &str, scope: &Scope, types: &TypeTable) -> Result<Program, CompileError> {
    compile(&read(text)?, scope, types)
}

/// Parses a text that is one expression. Spans count from its start.
///
/// # Errors
/// The first syntax error.
pub fn read(text: &str) -> Result<Expr, CompileError> {
    let mut diags = Diagnostics::new();
    let parsed = parse::expression(text, FileId(0), &mut diags);
    let wrong = diags.iter().find(|found| found.level == Level::Error);
    match (wrong, parsed) {
        (None, Some(expr)) => Ok(expr),
        (Some(wrong), _) => Err(CompileError {
            message: wrong.message.clone(),
            span: wrong.span(),
        }),
        (None, None) => Err(CompileError {
            message: "expected an expression".to_owned(),
            span: Span::default(),
        }),
    }
}
