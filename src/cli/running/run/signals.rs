//! Ctrl-C, SIGTERM, SIGQUIT and a closed terminal: once stops the run in good order, twice ends the process.

#[cfg(unix)]
use std::io::{IsTerminal, stderr, stdout};
use std::process::exit;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::backend::group;

use super::super::{Exit, term};

/// A closed terminal is told by the shell and by the system: what comes so soon behind another signal is no second one.
const SAME_HANG_UP: Duration = Duration::from_secs(1);

/// What signals do to a run.
#[derive(Debug, Clone, Default)]
pub struct Signals(Arc<Mutex<Now>>);

/// What a signal would stop now.
#[derive(Debug, Default)]
struct Now {
    /// Cancelled by a first Ctrl-C: the run stops before its next effect.
    cancel: CancellationToken,
    /// Cancelled by any other first signal: the run stops behind the super-step under way.
    drain: CancellationToken,
    /// What is said first where a person is being asked: then nothing is under way that could be finished first.
    asking: Option<&'static str>,
}

impl Now {
    fn is_heard(&self) -> bool {
        self.cancel.is_cancelled() || self.drain.is_cancelled()
    }
}

/// What asks the process to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopSignal {
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
        let signals = Self::default();
        let heard = signals.clone();
        tokio::spawn(async move {
            let mut ears = Ears::open();
            let mut first = Instant::now();
            loop {
                let signal = ears.next().await;
                if let Some(said) = heard.lock().asking {
                    term::say(&format!("\n{said}{on}"));
                    group::end_all();
                    exit(Exit::Cancelled.status().into());
                }
                if !heard.is_heard() {
                    first = Instant::now();
                    heard.stop(signal);
                } else if signal != StopSignal::HangUp || first.elapsed() >= SAME_HANG_UP {
                    term::say(&format!("stopped at once; {on}"));
                    group::end_all();
                    exit(Exit::Cancelled.status().into());
                }
            }
        });
        signals
    }

    // No update of it has a middle.
    fn lock(&self) -> MutexGuard<'_, Now> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops the run. How to go on is said once, when it has stopped.
    fn stop(&self, signal: StopSignal) {
        let now = self.lock();
        let (doing, token) = match signal {
            StopSignal::Interrupt => (
                "cancelling: calls of tools that write are finished first, for up to 30 s; tools that only read and models are not waited for",
                &now.cancel,
            ),
            StopSignal::Terminate | StopSignal::HangUp => (
                "stopping: the super-step under way is finished first",
                &now.drain,
            ),
        };
        token.cancel();
        term::say(&format!("\n{doing} (again to stop at once)"));
    }

    /// What cancels the run, and what drains it.
    pub fn tokens(&self) -> (CancellationToken, CancellationToken) {
        let now = self.lock();
        (now.cancel.clone(), now.drain.clone())
    }

    /// Listens for the next run as for a first: what stopped the one before is over.
    pub fn renew(&self) {
        let mut now = self.lock();
        if now.is_heard() {
            (now.cancel, now.drain) = Default::default();
        }
    }

    /// Whether the run has been asked to stop.
    pub fn is_heard(&self) -> bool {
        self.lock().is_heard()
    }

    /// Whether it has been asked to stop by other than Ctrl-C: then the process is to end with it.
    pub fn ends_process(&self) -> bool {
        self.lock().drain.is_cancelled()
    }

    /// Says that a person is being asked, and what is said first where a signal comes then; or that nobody is any more.
    pub fn asking(&self, said: Option<&'static str>) {
        self.lock().asking = said;
    }
}

/// Waits for a signal; for ever where the system gives none.
pub async fn wait() -> StopSignal {
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

    async fn next(&mut self) -> StopSignal {
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
            () = heard(&mut self.interrupt) => StopSignal::Interrupt,
            () = heard(&mut self.terminate) => StopSignal::Terminate,
            () = heard(&mut self.quit) => StopSignal::Terminate,
            () = heard(&mut self.hang_up) => StopSignal::HangUp,
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

    async fn next(&mut self) -> StopSignal {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        StopSignal::Interrupt
    }
}
