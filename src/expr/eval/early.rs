//! Evaluation before a run: what constants come to is asked of thousands of expressions, so that each may take little. What one
//! comes to depends on no other.

use crate::value::Value;

use super::machine::Machine;
use super::{Env, EvalError, Program};

/// Steps of one expression: about a millisecond.
const MOST: u64 = 20_000;

impl Program {
    /// The value of the expression, as far as an evaluation before a run goes.
    ///
    /// # Errors
    /// One of the kind [`Limit`](super::ErrorKind::Limit) where the bound is reached, which says nothing of a run.
    pub fn eval_early(&self, env: &dyn Env) -> Result<Value, EvalError> {
        let mut machine = Machine::within(env, self.locals, MOST);
        self.root.eval(&mut machine).map_err(|error| *error)
    }
}
