//! Ctrl-C, SIGHUP and SIGTERM: once stops the run in good order, twice ends the process.

use std::process::exit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio_util::sync::CancellationToken;

use crate::backend::tool::command;

use super::super::{Exit, term};
#[cfg(unix)]
use super::hangup;

/// What signals do to a run.
#[derive(Debug, Clone)]
pub struct Signals {
    /// Cancelled by a first Ctrl-C: the run stops before its next effect.
    pub cancel: CancellationToken,
    /// Cancelled by a first SIGTERM: the run stops behind the super-step under way.
    pub drain: CancellationToken,
    /// Whether a person is being asked: then nothing is under way that could be finished first.
    asking: Arc<AtomicBool>,
}

/// What asks the process to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// Ctrl-C: SIGINT. And SIGHUP: the terminal is gone.
    Interrupt,
    /// SIGTERM, as whoever runs services sends it.
    Terminate,
}

impl Signals {
    /// Listens from now on, for as long as the process lives. `resume` is the command that goes on.
    pub fn listen(resume: String) -> Self {
        let signals = Self {
            cancel: CancellationToken::new(),
            drain: CancellationToken::new(),
            asking: Arc::default(),
        };
        let heard = signals.clone();
        tokio::spawn(async move {
            let first = wait().await;
            if heard.asking.load(Ordering::Relaxed) {
                term::say(&format!("\nthe question stays open; go on with: {resume}"));
                exit(Exit::Cancelled.status().into());
            }
            let (doing, token) = match first {
                Heard::Interrupt => ("cancelling: what is under way", &heard.cancel),
                Heard::Terminate => ("stopping: the super-step under way", &heard.drain),
            };
            term::say(&format!(
                "\n{doing} is finished first (again to stop at once); go on with: {resume}"
            ));
            token.cancel();
            wait().await;
            command::end_all();
            exit(Exit::Cancelled.status().into());
        });
        signals
    }

    /// Whether the run has been asked to stop.
    pub fn is_heard(&self) -> bool {
        self.cancel.is_cancelled() || self.drain.is_cancelled()
    }

    /// Says whether a person is being asked.
    pub fn asking(&self, asking: bool) {
        self.asking.store(asking, Ordering::Relaxed);
    }
}

/// Waits for the next signal; for ever where the system gives none.
pub async fn wait() -> Heard {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (Ok(mut interrupt), Ok(mut terminate)) = (
            signal(SignalKind::interrupt()),
            signal(SignalKind::terminate()),
        ) else {
            return std::future::pending().await;
        };
        let mut hangup = match hangup::may_be_heard() {
            true => signal(SignalKind::hangup()).ok(),
            false => None,
        };
        let hung_up = async {
            match &mut hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = interrupt.recv() => Heard::Interrupt,
            _ = hung_up => Heard::Interrupt,
            _ = terminate.recv() => Heard::Terminate,
        }
    }
    #[cfg(not(unix))]
    {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        Heard::Interrupt
    }
}
