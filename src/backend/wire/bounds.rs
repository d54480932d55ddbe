//! What ends a call early: its time is up, or the run is cancelled.

use std::future::Future;
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::run::model::CallContext;

use super::Failure;

/// The `silence` of each call.
const SILENCE: Duration = Duration::from_secs(600);

/// The bounds of one call, over all of its parts.
#[derive(Debug, Clone)]
pub struct Bounds {
    timeout: Duration,
    end: Option<Instant>,
    /// Longest silence of the other side, where the call itself has no bound.
    pub silence: Duration,
    cancel: CancellationToken,
}

impl Bounds {
    /// The bounds that a context sets, and `own` where that is shorter; time counts from now.
    pub fn new(cx: &CallContext, own: Option<Duration>) -> Self {
        let timeout = cx.timeout.into_iter().chain(own).min();
        Self {
            timeout: timeout.unwrap_or_default(),
            end: timeout.and_then(|timeout| Instant::now().checked_add(timeout)),
            silence: SILENCE,
            cancel: cx.cancel.clone(),
        }
    }

    /// Of a time alone, from now on.
    pub fn of(timeout: Duration) -> Self {
        Self {
            timeout,
            end: Instant::now().checked_add(timeout),
            silence: SILENCE,
            cancel: CancellationToken::new(),
        }
    }

    /// Waits for what the other side sends next: as [`Bounds::within`], and not for ever where the call has no bound in time.
    ///
    /// # Errors
    /// `Timeout` or `Cancelled`; `work` is dropped then.
    pub async fn receive<F: Future>(&self, work: F) -> Result<F::Output, Failure> {
        if self.end.is_some() {
            return self.within(work).await;
        }
        let heard = self
            .within(tokio::time::timeout(self.silence, work))
            .await?;
        heard.map_err(|_| Failure::timeout(self.silence))
    }

    /// Waits for `work`, but not past the bounds. Work that is begun behind its time is not done at all, so that a reply that
    /// comes without a pause ends as well.
    ///
    /// # Errors
    /// `Timeout` or `Cancelled`; `work` is dropped then.
    pub async fn within<F: Future>(&self, work: F) -> Result<F::Output, Failure> {
        if self.end.is_some_and(|end| end <= Instant::now()) {
            return Err(Failure::timeout(self.timeout));
        }
        let too_late = async {
            match self.end {
                Some(end) => tokio::time::sleep_until(end).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(Failure::cancelled()),
            done = work => Ok(done),
            () = too_late => Err(Failure::timeout(self.timeout)),
        }
    }
}
