//! How long a run waits for a reader that falls behind.
//!
//! At most [`PATIENCE`] at once, and over a long run at most that, a tenth of its time and [`FOR_EACH`] for each event that the
//! reader has taken: one that reads slowly slows a run and loses nothing; one that has stopped holds it up once.

use std::time::Duration;

use tokio::time::Instant;

/// The longest that a run waits for a reader that takes nothing.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// What a reader gives back with an event that it takes.
pub const FOR_EACH: Duration = Duration::from_millis(125);

/// Time that does not wait gives back one part in this many.
const SHARE: u32 = 10;

/// What is left of it.
#[derive(Debug)]
pub struct Patience {
    most: Duration,
    left: Duration,
    /// When `left` was true.
    at: Instant,
    /// Whether somebody waits since then.
    waits: bool,
}

impl Patience {
    /// All of it.
    pub fn new(now: Instant, most: Duration) -> Self {
        Self {
            most,
            left: most,
            at: now,
            waits: false,
        }
    }

    fn settle(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.at);
        self.left = match self.waits {
            true => self.left.saturating_sub(passed),
            false => self.left.saturating_add(passed / SHARE).min(self.most),
        };
        self.at = now;
    }

    /// Somebody waits. Until when; `None` where nothing is left.
    pub fn wait(&mut self, now: Instant) -> Option<Instant> {
        self.settle(now);
        self.waits = !self.left.is_zero();
        self.waits.then(|| now + self.left)
    }

    /// The reader has taken an event for which the run would have waited.
    pub fn taken(&mut self, now: Instant) {
        self.settle(now);
        self.left = self.left.saturating_add(FOR_EACH).min(self.most);
    }

    /// Nobody waits any more.
    pub fn go_on(&mut self, now: Instant) {
        self.settle(now);
        self.waits = false;
    }
}
