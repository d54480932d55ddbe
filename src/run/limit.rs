//! How many super-steps a called graph may make: its own `recursion_limit`, beside the one of the run.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::ir::ErrorKind;

use super::context::RunContext;
use super::error::RunError;

/// The `recursion_limit` of one call of a graph. Calls within it count too, and may run at the same time.
///
/// Like the run's own it begins anew with each resume.
#[derive(Debug, Clone)]
pub struct StepLimit {
    most: u64,
    made: Arc<AtomicU64>,
}

impl StepLimit {
    /// The limit of a call that has made no super-step.
    pub fn new(most: u32) -> Self {
        Self {
            most: most.into(),
            made: Arc::default(),
        }
    }
}

/// Counts a super-step against the limit of the run and those of the calls that it is in, `limits`.
///
/// # Errors
/// Kind `recursion_limit`.
pub fn count_step(cx: &RunContext, limits: &[StepLimit]) -> Result<(), RunError> {
    let made = cx.steps.fetch_add(1, Ordering::Relaxed);
    let reached = |message| Err(RunError::new(ErrorKind::RecursionLimit, message));
    if made >= cx.step_limit {
        return reached(format!(
            "the run has made {made} super-steps, which is its limit"
        ));
    }
    for limit in limits {
        let made = limit.made.fetch_add(1, Ordering::Relaxed);
        if made >= limit.most {
            return reached(format!(
                "the called graph has made {made} super-steps, which is its limit"
            ));
        }
    }
    Ok(())
}
