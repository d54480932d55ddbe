//! Going over the elements of a list or the keys of a map.

use std::ops::ControlFlow;

use crate::ast::expr::Expr;
use crate::base::Span;
use crate::value::Value;

use super::super::compiler::{Compiler, error, variable};
use super::super::machine::{Evaluated, Local, Machine, Node};
use super::super::{CompileError, EvalError};
use super::MacroCall;

/// A loop: what it goes over and the places of its variables.
pub(super) struct Each {
    range: Node,
    vars: Vars,
    span: Span,
}

/// One variable is the element of a list or the key of a map; of two, the first is the index
/// or the key, the second the element or the value.
#[derive(Clone, Copy)]
enum Vars {
    One(Local),
    Two(Local, Local),
}

type Step = Result<ControlFlow<()>, Box<EvalError>>;

/// Goes on with the next element.
pub(super) const NEXT: Step = Ok(ControlFlow::Continue(()));
/// Ends the loop.
pub(super) const STOP: Step = Ok(ControlFlow::Break(()));

impl Each {
    /// Compiles the range outside of the variables' scope, and what `bodies` compiles inside.
    pub fn compile<T>(
        compiler: &mut Compiler<'_>,
        call: MacroCall<'_>,
        vars: &[&Expr],
        bodies: impl FnOnce(&mut Compiler<'_>) -> Result<T, CompileError>,
    ) -> Result<(Each, T), CompileError> {
        let range = compiler.node(call.target)?;
        Each::over(compiler, range, call, vars, bodies)
    }

    /// The same with a condition.
    pub fn with_condition(
        compiler: &mut Compiler<'_>,
        call: MacroCall<'_>,
        vars: &[&Expr],
        when: &Expr,
    ) -> Result<(Each, Condition), CompileError> {
        Each::compile(compiler, call, vars, |compiler| {
            Condition::compile(compiler, when)
        })
    }

    /// The same with a range that is compiled already.
    pub fn over<T>(
        compiler: &mut Compiler<'_>,
        range: Node,
        call: MacroCall<'_>,
        vars: &[&Expr],
        bodies: impl FnOnce(&mut Compiler<'_>) -> Result<T, CompileError>,
    ) -> Result<(Each, T), CompileError> {
        let (vars, bodies) = match vars {
            [var] => compiler.with_vars([variable(var)?], |compiler, [var]| {
                Ok((Vars::One(var), bodies(compiler)?))
            })?,
            [key, value] => {
                let names = [variable(key)?, variable(value)?];
                compiler.with_vars(names, |compiler, [key, value]| {
                    Ok((Vars::Two(key, value), bodies(compiler)?))
                })?
            }
            _ => return Err(error(call.span, "expected one or two variables")),
        };
        let span = call.target.span;
        Ok((Each { range, vars, span }, bodies))
    }

    /// The list or map to go over. It comes before any variable is set: loops inside of it use
    /// the same places.
    pub fn range(&self, machine: &mut Machine<'_>) -> Evaluated {
        self.range.eval(machine)
    }

    /// Runs `body` for each element, with the variables set; it is told the first variable's value.
    pub fn run(
        &self,
        machine: &mut Machine<'_>,
        body: impl FnMut(&mut Machine<'_>, &Value) -> Step,
    ) -> Result<(), Box<EvalError>> {
        let range = self.range(machine)?;
        self.run_over(machine, range, body)
    }

    /// The same with a range that is evaluated already.
    pub fn run_over(
        &self,
        machine: &mut Machine<'_>,
        range: Value,
        mut body: impl FnMut(&mut Machine<'_>, &Value) -> Step,
    ) -> Result<(), Box<EvalError>> {
        match range {
            Value::List(list) => {
                for (index, element) in (0..).zip(list.iter()) {
                    if self
                        .step(machine, Value::Int(index), element, element, &mut body)?
                        .is_break()
                    {
                        break;
                    }
                }
            }
            Value::Map(map) => {
                for (key, value) in map.iter() {
                    let key = key.value();
                    if self
                        .step(machine, key.clone(), value, &key, &mut body)?
                        .is_break()
                    {
                        break;
                    }
                }
            }
            other => {
                return Err(EvalError::wrong_kind(
                    self.span,
                    format!("a list or a map is expected here, found `{}`", other.kind()),
                ));
            }
        }
        Ok(())
    }

    fn step(
        &self,
        machine: &mut Machine<'_>,
        key: Value,
        value: &Value,
        single: &Value,
        body: &mut impl FnMut(&mut Machine<'_>, &Value) -> Step,
    ) -> Step {
        machine.spend(1, self.span)?;
        match self.vars {
            Vars::One(var) => {
                machine.put(var, single.clone());
                body(machine, single)
            }
            Vars::Two(first, second) => {
                machine.put(first, key.clone());
                machine.put(second, value.clone());
                body(machine, &key)
            }
        }
    }
}

/// A condition in a macro.
pub(super) struct Condition {
    node: Node,
    span: Span,
}

impl Condition {
    pub fn compile(compiler: &mut Compiler<'_>, expr: &Expr) -> Result<Condition, CompileError> {
        Ok(Condition {
            node: compiler.node(expr)?,
            span: expr.span,
        })
    }

    pub fn holds(&self, machine: &mut Machine<'_>) -> Result<bool, Box<EvalError>> {
        match self.node.eval(machine)? {
            Value::Bool(holds) => Ok(holds),
            other => Err(EvalError::wrong_kind(
                self.span,
                format!("a condition is a `bool`, found `{}`", other.kind()),
            )),
        }
    }
}
