//! How deep calls of graphs may be nested, and where each has its stack.
//!
//! A called graph runs inside of the task that calls it, and so on the same stack: one that calls itself would use up any.

use std::pin::Pin;
use std::task::{Context, Poll};

use crate::ir::ErrorKind;

use super::error::RunError;

/// Calls of graphs inside of each other, at most.
pub const MAX_DEPTH: usize = 1000;

/// Stack that one call has at least, in bytes: several times what one takes in a build without optimisation.
const AT_LEAST: usize = 1 << 20;

/// What is taken at once where there is less, in bytes.
const MORE: usize = 16 << 20;

/// Refuses a call whose frame has that key, where it is nested too deep.
///
/// # Errors
/// Kind `recursion_limit`.
pub fn hold(key: &str) -> Result<(), RunError> {
    match key.matches('/').count() > MAX_DEPTH {
        false => Ok(()),
        true => Err(RunError::new(
            ErrorKind::RecursionLimit,
            format!(
                "calls of graphs are nested {MAX_DEPTH} deep, and may be no deeper: does a graph call itself without an end?"
            ),
        )),
    }
}

/// A future that has stack enough whenever it is polled.
pub struct WithStack<F>(pub F);

impl<F: Future + Unpin> Future for WithStack<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        stacker::maybe_grow(AT_LEAST, MORE, || Pin::new(&mut self.0).poll(cx))
    }
}
