//! Evaluation before a run: what constants come to is asked of thousands of expressions, so that each may take little, and all
//! of a compilation together not much.

use std::cell::Cell;

use crate::value::Value;

use super::machine::Machine;
use super::{Env, EvalError, Program};

/// Steps of one expression: some milliseconds.
const EACH: u64 = 100_000;

/// Steps of all expressions of a compilation: well under a second.
const ALL: u64 = 2_000_000;

thread_local! {
    /// Steps that are left on this thread.
    static LEFT: Cell<u64> = const { Cell::new(ALL) };
}

/// Begins anew to count steps; each compilation does, so that what it finds depends on its texts alone.
pub fn afresh() {
    LEFT.set(ALL);
}

impl Program {
    /// The value of the expression, as far as an evaluation before a run goes.
    ///
    /// # Errors
    /// One of the kind [`Limit`](super::ErrorKind::Limit) where the bound is reached, which says nothing of a run.
    pub fn eval_early(&self, env: &dyn Env) -> Result<Value, EvalError> {
        let most = EACH.min(LEFT.get());
        let mut machine = Machine::within(env, self.locals, most);
        let found = self.root.eval(&mut machine).map_err(|error| *error);
        LEFT.set(LEFT.get().saturating_sub(most - machine.left()));
        found
    }
}
