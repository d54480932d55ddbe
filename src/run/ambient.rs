//! The clock and chance, behind a trait: the one place where a run touches them.

use jiff::Timestamp;
use uuid::Uuid;

/// Where `now()`, `uuid()` and `random()` and the runtime's own times and ids come from.
pub trait Ambient: Send + Sync {
    /// The time.
    fn now(&self) -> Timestamp;

    /// The time that records of a thread are dated with: no part of what a run computes.
    fn kept_at(&self) -> Timestamp {
        self.now()
    }

    /// A new id. `ordinal` counts the ids that the thread has had from `uuid()`, from 0.
    fn uuid(&self, ordinal: u64) -> String;

    /// A number in `0.0..1.0`. `ordinal` counts as for [`Ambient::uuid`].
    fn random(&self, ordinal: u64) -> f64;

    /// Waits. A scripted clock may return at once.
    fn sleep(
        &self,
        duration: std::time::Duration,
    ) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// The clock by which a run waits for others (who reads its events, a place at a provider): the real one always, since they live by that. No
/// part of what a run computes.
pub fn readers_clock() -> tokio::time::Instant {
    tokio::time::Instant::now()
}

/// The real clock and the system's randomness.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemAmbient;

impl Ambient for SystemAmbient {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn uuid(&self, _ordinal: u64) -> String {
        Uuid::new_v4().to_string()
    }

    fn random(&self, _ordinal: u64) -> f64 {
        // 53 bits are all that a double's fraction holds.
        let bits = (Uuid::new_v4().as_u128() & ((1 << 53) - 1)) as u64;
        bits as f64 / (1u64 << 53) as f64
    }
}
