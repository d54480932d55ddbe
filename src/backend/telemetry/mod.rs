//! Telemetry: traces and metrics of runs, as OpenTelemetry has them, sent to a receiver over OTLP.
//!
//! An observer of runs ([`traces`]) makes [`span`]s of what it is told, by the conventions for generative AI
//! ([`convention`]); finished ones are sent by a thread of its own ([`export`]) in OTLP's JSON form ([`otlp`]), with
//! [`metrics`] counted from them. The engine knows nothing of it but [`run::observe`](crate::run::observe).

mod convention;
mod export;
mod metrics;
mod otlp;
pub mod settings;
mod span;
mod traces;

use std::sync::Arc;
use std::time::Duration;

use crate::run::observe::Observed;

use export::Exporter;
use settings::TelemetrySettings;
use traces::Traces;

/// Longest wait at the end of a process for what is still to be sent.
pub const FLUSH: Duration = Duration::from_secs(2);

/// Traces and metrics of the runs that it observes: [`RunOptions::observed`](crate::run::engine::RunOptions::observed).
///
/// Nothing in it can fail a run or hold it up. What is not flushed when the process ends is lost.
#[derive(Clone)]
pub struct Telemetry {
    traces: Arc<Traces>,
    exporter: Arc<Exporter>,
}

impl Telemetry {
    /// Sends to where the settings say, from now on.
    ///
    /// # Errors
    /// Where the system has no more threads.
    pub fn start(settings: TelemetrySettings) -> std::io::Result<Self> {
        let (content, secrets) = (settings.content, settings.secrets.clone());
        let exporter = Arc::new(Exporter::start(settings)?);
        let traces = Arc::new(Traces::new(Arc::clone(&exporter), content, secrets));
        Ok(Self { traces, exporter })
    }

    /// For the options of a run.
    pub fn observed(&self) -> Observed {
        Observed::new(Arc::clone(&self.traces) as _)
    }

    /// Waits until the spans that have ended are sent, no longer than `within`: [`FLUSH`] as the command line does. Blocks the
    /// thread.
    ///
    /// # Errors
    /// In words, where anything could not be sent.
    pub fn flush(&self, within: Duration) -> Result<(), String> {
        self.exporter.flush(within)
    }
}
