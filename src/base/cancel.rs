//! Whether the run that computes something is to stop, for what computes for long without waiting for anything.

/// What the computation fails with; the run says why it was stopped.
pub const STOPPED: &str = "it was stopped";

#[cfg(feature = "run")]
pub use of_runs::{asking, is_asked};

#[cfg(feature = "run")]
mod of_runs {
    use std::future::Future;

    use tokio_util::sync::CancellationToken;

    tokio::task_local! {
        static CANCEL: CancellationToken;
    }

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
}

/// Whether what is computed now is to stop: there is no run that could be.
#[cfg(not(feature = "run"))]
pub fn is_asked() -> bool {
    false
}
