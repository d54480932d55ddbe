//! Whether the run that computes something is to stop, for what computes for long without waiting for anything.

#[cfg(feature = "run")]
use std::future::Future;

#[cfg(feature = "run")]
use tokio_util::sync::CancellationToken;

#[cfg(feature = "run")]
tokio::task_local! {
    static CANCEL: CancellationToken;
}

/// What the computation fails with; the run says why it was stopped.
pub const STOPPED: &str = "it was stopped";

#[cfg(feature = "run")]
/// Runs something. What it computes asks that token.
pub async fn asking<F: Future>(cancel: CancellationToken, work: F) -> F::Output {
    CANCEL.scope(cancel, work).await
}

#[cfg(feature = "run")]
/// Whether what is computed now is to stop.
pub fn is_asked() -> bool {
    CANCEL
        .try_with(CancellationToken::is_cancelled)
        .unwrap_or(false)
}

#[cfg(not(feature = "run"))]
/// Whether what is computed now is to stop: there is no run that could be.
pub fn is_asked() -> bool {
    false
}
