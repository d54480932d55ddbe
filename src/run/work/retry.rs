//! Trying a failed effect again: which kinds, how often, after how long.

use std::future::Future;
use std::time::Duration;

use serde_json::Value as Json;

use crate::base::duration;
use crate::ir::{ErrorKind, Retry};
use crate::run::effect::{cancelled, drained};
use crate::run::error::RunError;
use crate::run::event::EventKind;
use crate::run::model::ModelError;
use crate::run::request::Request;
use crate::run::task::{TaskRun, brief};
use crate::value::{MAX_DEPTH, is_deeper};

use super::in_doubt;

/// An attempt's failure.
pub struct Failure {
    /// What happened.
    pub error: RunError,
    /// When the other side wants to be asked again.
    pub retry_after: Option<Duration>,
    /// What came, where that can't be used (`invalid_output`): kept for people who look.
    pub received: Option<Json>,
    /// Of a call that must not be made twice (`@idempotent(false)`): whether it may have happened all the same.
    pub in_doubt: Option<bool>,
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        Failure {
            error,
            retry_after: None,
            received: None,
            in_doubt: None,
        }
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        Failure {
            retry_after: error.retry_after,
            ..RunError::from(error).into()
        }
    }
}

impl From<Failure> for RunError {
    fn from(failure: Failure) -> Self {
        failure.error
    }
}

impl Failure {
    /// What came is not of its type. It isn't kept where it is nested too deep for that.
    pub fn unusable(message: String, received: Json) -> Self {
        Failure {
            received: (!is_deeper(&received, MAX_DEPTH.into())).then_some(received),
            ..RunError::new(ErrorKind::InvalidOutput, message).into()
        }
    }

    /// What the journal keeps of it.
    pub fn to_kept(&self) -> Json {
        let mut kept = self.error.to_json();
        if let (Some(received), Some(entries)) = (&self.received, kept.as_object_mut()) {
            entries.insert("received".to_owned(), received.clone());
        }
        if let (Some(in_doubt), Some(entries)) = (self.in_doubt, kept.as_object_mut()) {
            entries.insert("in_doubt".to_owned(), in_doubt.into());
        }
        kept
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
    /// What it is asked with.
    pub request: &'e Request,
    /// Whether the last attempt's failure is the effect's result, which the caller keeps: kept twice,
    /// it would count twice.
    pub fails_as_result: bool,
    /// Whether what may have happened must not be made again: no policy holds for a failure that leaves that open.
    pub once: bool,
}

/// The attempts at one effect, over all processes.
#[derive(Debug, Clone, Default)]
pub struct Series {
    /// Attempts made, all of which have failed.
    pub made: u32,
    /// Those of them since the policy last ended a series, with which the run or the model had failed.
    pub since: u32,
    /// The kind of the last error of each series that the policy has ended.
    pub ends: Vec<ErrorKind>,
    /// The last error that earlier processes have left.
    pub last: Option<RunError>,
}

impl Series {
    /// What earlier processes have left in the journal.
    /// `once` as [`Attempted::once`].
    pub fn known(run: &TaskRun<'_>, policy: Option<&Retry>, id: &str, once: bool) -> Self {
        let journal = &run.around.cx.journal;
        let mut series = Self::default();
        let attempt = |number| journal.finished(run.effects.task(), &format!("{id}!{number}"));
        while let Some(kept) = attempt(series.made + 1) {
            let error = kept.get("failed").map(RunError::from_kept);
            let policy = policy.filter(|_| !(once && in_doubt::is_left_by(kept)));
            let kind = error.as_ref().map_or(ErrorKind::Store, |error| error.kind);
            series.add(policy, kind);
            series.last = error;
        }
        series
    }

    /// Counts a failed attempt. Gives the policy where it lets another follow.
    fn add<'p>(&mut self, policy: Option<&'p Retry>, kind: ErrorKind) -> Option<&'p Retry> {
        self.made += 1;
        self.since += 1;
        let again =
            policy.filter(|policy| self.since < policy.attempts && policy.on.contains(&kind));
        if again.is_none() {
            self.since = 0;
            self.ends.push(kind);
        }
        again
    }
}

/// Makes attempts until one succeeds, the policy ends them, or the run is cancelled. Only a failed
/// attempt is made again; each is kept in the journal, and a resume goes on after those it finds there. A run that is
/// drained does not wait for another.
///
/// # Errors
/// The last attempt's, with the number of attempts.
pub async fn attempts<T, F, A>(
    run: &TaskRun<'_>,
    policy: Option<&Retry>,
    effect: Attempted<'_>,
    mut attempt: A,
) -> Result<T, Failure>
where
    F: Future<Output = Result<T, Failure>>,
    A: FnMut(u32) -> F,
{
    let cx = run.around.cx;
    let mut series = Series::known(run, policy, effect.id, effect.once);
    loop {
        let number = series.made + 1;
        let mut failure = match attempt(number).await {
            Ok(value) => return Ok(value),
            Err(failure) => failure,
        };
        failure.error.attempt = number;
        let kind = failure.error.kind;
        let may_have_happened = failure.in_doubt == Some(true);
        let policy = policy.filter(|_| !may_have_happened);
        tell_of_wait(&mut failure, policy);
        let again = series.add(policy, kind);
        // A call that was cancelled is made again as if for the first time. That one which had begun has not happened is kept.
        let counts = kind != ErrorKind::Cancelled || failure.in_doubt == Some(false);
        if counts && (again.is_some() || !effect.fails_as_result) {
            run.effects.failed_attempt(cx, &effect, number, &failure);
        }
        let Some(policy) = again else {
            return Err(failure);
        };
        let wanted = failure.retry_after.unwrap_or_default().min(longest(policy));
        let wait = pause(policy, series.since, cx.ambient.random(0)).max(wanted);
        let wait_ms = wait.as_millis() as u64;
        run.send(
            format!("{}#{}!{number}", run.effects.task(), effect.id),
            EventKind::Retrying {
                attempt: number,
                error: brief(&failure.error),
                wait_ms,
                by: run.speaker(),
            },
        );
        tokio::select! {
            biased;
            () = run.effects.stop.cancelled() => return Err(cancelled().into()),
            () = cx.drain.cancelled() => return Err(drained("before another attempt").into()),
            () = cx.ambient.sleep(wait) => {}
        }
        cx.journal.barrier().await.map_err(RunError::from)?;
    }
}

/// The longest that the other side may have a run wait.
fn longest(policy: &Retry) -> Duration {
    Duration::from_millis(policy.max_ms)
}

/// Says in a failure that the other side asks for a wait, where it is longer than the policy has, or none tries again.
fn tell_of_wait(failure: &mut Failure, policy: Option<&Retry>) {
    let Some(wait) = failure.retry_after else {
        return;
    };
    let wanted = duration::show(wait);
    let policy = policy.filter(|policy| policy.on.contains(&failure.error.kind));
    let said = match policy.map(longest) {
        None => format!(" (it asks for a wait of {wanted})"),
        Some(longest) if wait > longest => {
            let longest = duration::show(longest);
            format!(" (it asks for a wait of {wanted}; the `max` of `retry` is {longest})")
        }
        Some(_) => return,
    };
    failure.error.message.push_str(&said);
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
