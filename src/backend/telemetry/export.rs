//! Sends finished spans, and the metrics counted from them, to the receiver.
//!
//! A thread of its own does it, so that nothing that sends can hold up a run: what is to be sent waits in a queue of bounded
//! length, and what finds it full is counted and left out.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::Value as Json;
use tracing::warn;

use crate::backend::wire::{self, Bounds, Failure, Peer, Wire};
use crate::base::log::TELEMETRY;
use crate::ir::ErrorKind;

use super::metrics::Metrics;
use super::otlp;
use super::settings::TelemetrySettings;
use super::span::Span;

/// Spans that may wait to be sent.
const WAITING: usize = 8192;
/// Spans of one request.
const BATCH: usize = 512;
/// Between two requests, where fewer spans than that wait.
const PAUSE: Duration = Duration::from_secs(5);

/// Ahead of each further attempt at a request, where the receiver names no time.
const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_millis(800)];
/// The longest that is waited where it does.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Between two looks whether a full queue has room.
const FULL: Duration = Duration::from_millis(10);

/// Nanoseconds since 1970.
pub fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    })
}

enum Message {
    Span(Box<Span>),
    /// Send all that came before this, then say so.
    Flush(SyncSender<()>),
}

/// The way to the thread that sends.
pub struct Exporter {
    queue: SyncSender<Message>,
    shared: Arc<Shared>,
}

/// What both ends know.
#[derive(Default)]
struct Shared {
    /// Spans that found the queue full, or that could not be sent.
    lost: AtomicU64,
    /// Why the first request failed that did.
    failure: std::sync::OnceLock<String>,
}

impl Exporter {
    /// Starts the thread. It ends with this value or with the process.
    ///
    /// # Errors
    /// Where the system has no more threads.
    pub fn start(settings: TelemetrySettings) -> std::io::Result<Self> {
        let (queue, waiting) = sync_channel(WAITING);
        let shared = Arc::new(Shared::default());
        let sender = Sender {
            settings,
            wire: Wire::new(),
            metrics: Metrics::default(),
            begun: now(),
            shared: Arc::clone(&shared),
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        thread::Builder::new()
            .name("telemetry".to_owned())
            .spawn(move || sender.work(&runtime, &waiting))?;
        Ok(Self { queue, shared })
    }

    /// Hands a span over; never waits.
    pub fn send(&self, span: Span) {
        if self.queue.try_send(Message::Span(Box::new(span))).is_err() {
            self.shared.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits until all that was handed over is sent, no longer than `within`.
    ///
    /// # Errors
    /// In words, where anything since the beginning could not be sent.
    pub fn flush(&self, within: Duration) -> Result<(), String> {
        let until = Instant::now() + within;
        let (done, ended) = sync_channel(1);
        let flush = || Message::Flush(done.clone());
        // Behind spans that wait for their place too.
        while self.queue.try_send(flush()).is_err() && Instant::now() < until {
            thread::sleep(FULL);
        }
        let left = until.saturating_duration_since(Instant::now());
        if ended.recv_timeout(left).is_err() {
            return Err(match self.shared.failure.get() {
                Some(why) => why.clone(),
                None => format!("the receiver has not answered within {within:?}"),
            });
        }
        match (
            self.shared.failure.get(),
            self.shared.lost.load(Ordering::Relaxed),
        ) {
            (Some(why), _) => Err(why.clone()),
            (None, 0) => Ok(()),
            (None, lost) => Err(format!("{lost} spans came faster than they could be sent")),
        }
    }
}

/// Why a request failed.
struct Unsent {
    failure: Failure,
    /// Whether it may succeed a while later.
    passes: bool,
}

/// The thread's own.
struct Sender {
    settings: TelemetrySettings,
    wire: Arc<Wire>,
    metrics: Metrics,
    begun: u64,
    shared: Arc<Shared>,
}

impl Sender {
    fn work(mut self, runtime: &tokio::runtime::Runtime, waiting: &Receiver<Message>) {
        let mut batch = Vec::new();
        let mut counted = false;
        let mut due = Instant::now() + PAUSE;
        loop {
            let left = due.saturating_duration_since(Instant::now());
            let message = waiting.recv_timeout(left);
            let flushed = match message {
                Ok(Message::Span(span)) => {
                    self.metrics.count(&span);
                    counted = true;
                    batch.push(*span);
                    if batch.len() < BATCH {
                        continue;
                    }
                    None
                }
                Ok(Message::Flush(done)) => Some(done),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            // While many spans come, counts can wait.
            let with_metrics = counted && batch.len() < BATCH;
            runtime.block_on(self.send(&batch, with_metrics));
            counted &= !with_metrics;
            batch.clear();
            if let Some(done) = flushed {
                // Who has asked may not wait any more.
                let _ = done.send(());
            }
            due = Instant::now() + PAUSE;
        }
    }

    /// Sends spans, and `with_metrics` the counts so far.
    async fn send(&self, batch: &[Span], with_metrics: bool) {
        let resource = &self.settings.resource;
        let traces = async {
            if let Some(address) = self.settings.traces.as_ref().filter(|_| !batch.is_empty()) {
                self.post(address, &otlp::traces(resource, batch)).await;
            }
        };
        let metrics = async {
            if let Some(address) = self.settings.metrics.as_ref().filter(|_| with_metrics) {
                let counted = self.metrics.counted();
                let body = otlp::metrics(resource, counted, (self.begun, now()));
                self.post(address, &body).await;
            }
        };
        futures_util::join!(traces, metrics);
    }

    async fn post(&self, address: &str, body: &Json) {
        if let Err(why) = self.posted(address, body).await {
            warn!(target: TELEMETRY, reason = why, "telemetry not sent");
            // The first is what people can act on; the others are mostly the same.
            let _ = self.shared.failure.set(why);
        }
    }

    /// Sends a request, and again where the protocol has that another attempt may succeed.
    async fn posted(&self, address: &str, body: &Json) -> Result<(), String> {
        let mut pauses = PAUSES.into_iter();
        loop {
            let Unsent { failure, passes } = match self.attempt(address, body).await {
                Ok(()) => return Ok(()),
                Err(unsent) => unsent,
            };
            match pauses.next().filter(|_| passes) {
                None => return Err(failure.message),
                Some(pause) => {
                    let wanted = failure.retry_after.unwrap_or(pause);
                    tokio::time::sleep(wanted.min(LONGEST_PAUSE)).await;
                }
            }
        }
    }

    async fn attempt(&self, address: &str, body: &Json) -> Result<(), Unsent> {
        let peer = Peer {
            name: "telemetry",
            secrets: &self.settings.secrets,
        };
        let bounds = Bounds::of(self.settings.timeout);
        let lost = |failure: Failure| Unsent {
            passes: failure.kind == ErrorKind::Network,
            failure,
        };
        let mut request = self.wire.client().map_err(lost)?.post(address).json(body);
        for (name, value) in &self.settings.headers {
            request = request.header(name, value.reveal());
        }
        let response = wire::answer(request, peer, &bounds).await.map_err(lost)?;
        let status = response.status();
        match status.is_success() {
            true => Ok(()),
            false => Err(Unsent {
                passes: matches!(status.as_u16(), 429 | 502 | 503 | 504),
                failure: wire::refused(response, peer, &bounds).await,
            }),
        }
    }
}
