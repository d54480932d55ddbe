//! Trying a failed effect again: which kinds, how often, after how long.

use std::future::Future;
use std::time::Duration;

use crate::ir::{ErrorKind, Retry};
use crate::run::effect::cancelled;
use crate::run::error::RunError;
use crate::run::event::EventKind;
use crate::run::task::{TaskRun, brief};

/// An attempt's failure.
pub struct Failure {
    /// What happened.
    pub error: RunError,
    /// When the other side wants to be asked again.
    pub retry_after: Option<Duration>,
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        Failure {
            error,
            retry_after: None,
        }
    }
}

/// The effect that attempts are made at.
#[derive(Debug, Clone, Copy)]
pub struct Attempted<'e> {
    /// Its id within the task.
    pub id: &'e str,
    /// `model` or `tool`.
    pub kind: &'e str,
    /// What scripts count it by.
    pub subject: &'e str,
    /// Whether the last attempt's failure is the effect's result, which the caller keeps: kept twice,
    /// it would count twice.
    pub fails_as_result: bool,
}

/// Makes attempts until one succeeds, the policy ends them, or the run is cancelled. Only a failed
/// attempt is made again; each is kept in the journal.
///
/// # Errors
/// The last attempt's, with the number of attempts.
pub async fn attempts<T, F, A>(
    run: &TaskRun<'_>,
    policy: Option<&Retry>,
    effect: Attempted<'_>,
    mut attempt: A,
) -> Result<T, RunError>
where
    F: Future<Output = Result<T, Failure>>,
    A: FnMut(u32) -> F,
{
    let cx = run.around.cx;
    let mut number = 1;
    loop {
        let failure = match attempt(number).await {
            Ok(value) => return Ok(value),
            Err(failure) => failure,
        };
        let mut error = failure.error;
        error.attempt = number;
        let again =
            policy.filter(|policy| number < policy.attempts && policy.on.contains(&error.kind));
        // A call that was cancelled is made again as if for the first time.
        let counts = error.kind != ErrorKind::Cancelled;
        if counts && (again.is_some() || !effect.fails_as_result) {
            let Attempted {
                id, kind, subject, ..
            } = effect;
            run.effects
                .failed_attempt(cx, id, number, kind, subject, &error);
        }
        let Some(policy) = again else {
            return Err(error);
        };
        let wait = pause(policy, number, cx.ambient.random(0))
            .max(failure.retry_after.unwrap_or_default());
        let wait_ms = wait.as_millis() as u64;
        run.send(
            String::new(),
            EventKind::Retrying {
                attempt: number,
                error: brief(&error),
                wait_ms,
            },
        );
        tokio::select! {
            () = cx.ambient.sleep(wait) => {}
            () = run.effects.stop.cancelled() => return Err(cancelled()),
        }
        number += 1;
    }
}

/// The wait after attempt `number`; `chance` in `0.0..1.0`.
fn pause(policy: &Retry, number: u32, chance: f64) -> Duration {
    let exponent = i32::try_from(number.saturating_sub(1)).unwrap_or(i32::MAX);
    let millis = policy.initial_ms as f64 * policy.factor.powi(exponent);
    let millis = millis.min(policy.max_ms as f64);
    let spread = if policy.jitter {
        millis * 0.5 * chance
    } else {
        0.0
    };
    Duration::from_millis((millis + spread) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_up_to_the_longest() {
        let policy = Retry {
            attempts: 9,
            initial_ms: 100,
            factor: 2.0,
            max_ms: 1000,
            jitter: false,
            on: Vec::new(),
        };
        let waits: Vec<u128> = (1..=6)
            .map(|n| pause(&policy, n, 0.9).as_millis())
            .collect();
        assert_eq!(waits, [100, 200, 400, 800, 1000, 1000]);
    }

    #[test]
    fn jitter_adds_at_most_half() {
        let policy = Retry {
            jitter: true,
            initial_ms: 100,
            ..Retry::default()
        };
        assert_eq!(pause(&policy, 1, 0.0).as_millis(), 100);
        assert_eq!(pause(&policy, 1, 0.5).as_millis(), 125);
    }
}
