//! The clock and the chance of a scenario: the same in every run of a test.

use std::future::ready;
use std::pin::Pin;
use std::time::Duration;

use jiff::Timestamp;
use uuid::Uuid;

use crate::run::ambient::{Ambient, SystemAmbient};

/// What `now()` gives where a scenario sets no `clock`: 2026-01-01T00:00:00Z, in seconds.
const START: i64 = 1_767_225_600;

/// A clock that stands still, ids that count up, numbers that follow from their position.
#[derive(Debug, Clone, Copy)]
pub struct StillAmbient {
    /// What `now()` gives; `None` for the time itself.
    clock: Option<Timestamp>,
    /// Whether two runs have ids of their own. Ids that a flow asks for count up all the same.
    distinct: bool,
}

impl StillAmbient {
    /// A clock that stands at that time.
    pub fn new(clock: Option<Timestamp>) -> Self {
        let start = Timestamp::from_second(START).unwrap_or(Timestamp::UNIX_EPOCH);
        Self {
            clock: Some(clock.unwrap_or(start)),
            distinct: false,
        }
    }

    /// For a run that plays a scenario on a real store: two runs are two runs, and where the
    /// scenario sets no clock the time is the time.
    pub fn outside_tests(clock: Option<Timestamp>) -> Self {
        Self {
            clock,
            distinct: true,
        }
    }
}

impl Ambient for StillAmbient {
    fn now(&self) -> Timestamp {
        self.clock.unwrap_or_else(Timestamp::now)
    }

    /// On a real store the time itself: a list of threads says when each was last used.
    fn kept_at(&self) -> Timestamp {
        match self.distinct {
            true => Timestamp::now(),
            false => self.now(),
        }
    }

    /// `00000000-0000-4000-8000-000000000001` and on; ids that the flow didn't ask for, such as a
    /// run's, are of their own kind and use none of these up.
    fn uuid(&self, ordinal: u64) -> String {
        let (first, number) = match ordinal {
            u64::MAX if self.distinct => return SystemAmbient.uuid(ordinal),
            u64::MAX => (u32::MAX, 0),
            ordinal => (0, ordinal + 1),
        };
        let [_, _, node @ ..] = number.to_be_bytes();
        Uuid::from_fields(first, 0, 0x4000, &tail(node)).to_string()
    }

    fn random(&self, ordinal: u64) -> f64 {
        (mix(ordinal) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns at once, so that nothing waits for a retry.
    fn sleep(&self, _: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(ready(()))
    }
}

/// The last eight bytes of an id: its variant and 48 bits.
fn tail(node: [u8; 6]) -> [u8; 8] {
    let [a, b, c, d, e, f] = node;
    [0x80, 0, a, b, c, d, e, f]
}

/// A number that looks like chance and follows from another (splitmix64).
pub fn mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
