//! When what is over is let go: now and then, as long as the store is used.

use std::sync::atomic::{AtomicU64, Ordering};

/// It is due with the first use of a process and every so many behind it.
const EVERY: u64 = 32;

/// Counts uses of a kind.
#[derive(Default)]
pub(super) struct Sweeps(AtomicU64);

impl Sweeps {
    /// Counts a use; whether a sweep is due with it.
    pub(super) fn is_due(&self) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed).is_multiple_of(EVERY)
    }
}
