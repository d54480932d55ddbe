//! Ctrl-C, SIGTERM, SIGQUIT and a closed terminal: once stops the run in good order, twice ends the process.

#[cfg(unix)]
use std::io::{IsTerminal, stderr, stdout};
use std::process::exit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::backend::tool::command;

use super::super::{Exit, term};

/// A closed terminal is told by the shell and by the system: what comes so soon behind another signal is no second one.
const SAME_HANG_UP: Duration = Duration::from_secs(1);

/// What signals do to a run.
#[derive(Debug, Clone)]
pub struct Signals {
    /// Cancelled by a first Ctrl-C: the run stops before its next effect.
    pub cancel: CancellationToken,
    /// Cancelled by any other first signal: the run stops behind the super-step under way.
    pub drain: CancellationToken,
    /// Whether a person is being asked: then nothing is under way that could be finished first.
    asking: Arc<AtomicBool>,
}

/// What asks the process to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// Ctrl-C: SIGINT.
    Interrupt,
    /// SIGTERM, as whoever runs services sends it, or SIGQUIT.
    Terminate,
    /// SIGHUP: the terminal was closed, or the connection to it.
    HangUp,
}

impl Signals {
    /// Listens from now on, for as long as the process lives. `on` says how to go on.
    pub fn listen(on: String) -> Self {
        let signals = Self {
            cancel: CancellationToken::new(),
            drain: CancellationToken::new(),
            asking: Arc::default(),
        };
        let heard = signals.clone();
        tokio::spawn(async move {
            let mut ears = Ears::open();
            let first = ears.next().await;
            if heard.asking.load(Ordering::Relaxed) {
                term::say(&format!("\nthe question is not answered; {on}"));
                exit(Exit::Cancelled.status().into());
            }
            // How to go on is said once, when it has stopped.
            let (doing, token) = match first {
                Heard::Interrupt => (
                    "cancelling: tool calls under way are finished first, a model's reply is not waited for",
                    &heard.cancel,
                ),
                Heard::Terminate | Heard::HangUp => (
                    "stopping: the super-step under way is finished first",
                    &heard.drain,
                ),
            };
            let since = Instant::now();
            token.cancel();
            term::say(&format!("\n{doing} (again to stop at once)"));
            while ears.next().await == Heard::HangUp && since.elapsed() < SAME_HANG_UP {}
            term::say(&format!("stopped at once; {on}"));
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

/// Waits for a signal; for ever where the system gives none.
pub async fn wait() -> Heard {
    Ears::open().next().await
}

/// Hears signals from when it is opened. Those that whoever started the process has it ignore, as `nohup` does, stay ignored.
#[cfg(unix)]
struct Ears {
    interrupt: Option<Signal>,
    terminate: Option<Signal>,
    quit: Option<Signal>,
    hang_up: Option<Signal>,
}

#[cfg(unix)]
impl Ears {
    fn open() -> Self {
        let unless_ignored = |kind: SignalKind| match is_ignored(kind) {
            true => None,
            false => signal(kind).ok(),
        };
        Self {
            interrupt: signal(SignalKind::interrupt()).ok(),
            terminate: signal(SignalKind::terminate()).ok(),
            quit: unless_ignored(SignalKind::quit()),
            hang_up: unless_ignored(SignalKind::hangup()),
        }
    }

    async fn next(&mut self) -> Heard {
        async fn heard(signal: &mut Option<Signal>) {
            let came = match signal {
                Some(signal) => signal.recv().await,
                None => None,
            };
            if came.is_none() {
                std::future::pending().await
            }
        }
        tokio::select! {
            () = heard(&mut self.interrupt) => Heard::Interrupt,
            () = heard(&mut self.terminate) => Heard::Terminate,
            () = heard(&mut self.quit) => Heard::Terminate,
            () = heard(&mut self.hang_up) => Heard::HangUp,
        }
    }
}

/// Whether the process was started with a signal ignored. Linux says so; elsewhere a closed terminal is taken to be ignored where
/// neither output is one, as `nohup` has it.
#[cfg(unix)]
fn is_ignored(kind: SignalKind) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    match mask {
        Some(mask) => mask >> (kind.as_raw_value() - 1) & 1 == 1,
        None => kind == SignalKind::hangup() && !stdout().is_terminal() && !stderr().is_terminal(),
    }
}

#[cfg(not(unix))]
struct Ears;

#[cfg(not(unix))]
impl Ears {
    fn open() -> Self {
        Self
    }

    async fn next(&mut self) -> Heard {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        Heard::Interrupt
    }
}
