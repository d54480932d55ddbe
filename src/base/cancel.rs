//! Whether the run that computes something is to stop, for what computes for long without waiting for anything.

use std::future::Future;

use tokio_util::sync::CancellationToken;

tokio::task_local! {
    static CANCEL: CancellationToken;
}

/// What the computation fails with; the run says why it was stopped.
pub const STOPPED: &str = "it was stopped";

/// Runs something. What it computes asks that token.
pub async fn asking<F: Future>(cancel: CancellationToken, work: F) -> F::Output {
    CANCEL.scope(cancel, work).await
}

/// Whether what is computed now is to stop.
pub fn is_asked() -> bool {
    CANCEL
        .try_with(CancellationToken::is_cancelled)
        .unwrap_or(false)
}
