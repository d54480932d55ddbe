//! Ctrl-C and SIGTERM: once stops the run in good order, twice ends the process.

use std::process::exit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio_util::sync::CancellationToken;

use super::super::{Exit, term};

/// What signals do to a run.
#[derive(Debug, Clone)]
pub struct Signals {
    /// Cancelled by the first signal.
    pub cancel: CancellationToken,
    /// Whether a person is being asked: then nothing is under way that could be finished first.
    asking: Arc<AtomicBool>,
}

impl Signals {
    /// Listens from now on, for as long as the process lives. `resume` is the command that goes on.
    pub fn listen(resume: String) -> Self {
        let signals = Self {
            cancel: CancellationToken::new(),
            asking: Arc::default(),
        };
        let heard = signals.clone();
        tokio::spawn(async move {
            wait().await;
            if heard.asking.load(Ordering::Relaxed) {
                term::say(&format!("\nthe question stays open; go on with: {resume}"));
                exit(Exit::Cancelled.status().into());
            }
            term::say(&format!(
                "\ncancelling: what is under way is finished first (again to stop at once); go on with: {resume}"
            ));
            heard.cancel.cancel();
            wait().await;
            exit(Exit::Cancelled.status().into());
        });
        signals
    }

    /// Says whether a person is being asked.
    pub fn asking(&self, asking: bool) {
        self.asking.store(asking, Ordering::Relaxed);
    }
}

/// Waits for the next signal; for ever where the system gives none.
pub async fn wait() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (Ok(mut interrupt), Ok(mut terminate)) = (
            signal(SignalKind::interrupt()),
            signal(SignalKind::terminate()),
        ) else {
            return std::future::pending().await;
        };
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    }
    #[cfg(not(unix))]
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
