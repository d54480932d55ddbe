//! The end of a process at a point that a scenario names.
//!
//! [`Doom`] counts; [`DoomedStore`] sees what is kept and strikes right after it. To strike is to say
//! so and to stand still: whoever started the process kills it. Nothing more is kept from then on,
//! since the store does not return, and so no further effect begins.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use async_trait::async_trait;
use tokio::sync::Notify;

use crate::project::scenario::{Crash, CrashPoint, Moment};
use crate::run::store::{Around, Lease, Record, Source, Store, StoreError};

/// When the process is to end.
pub struct Doom {
    crash: Crash,
    count: AtomicU64,
    struck: Notify,
    over: AtomicBool,
}

impl Doom {
    /// The end that a scenario names.
    pub fn new(crash: Crash) -> Self {
        Self {
            crash,
            count: AtomicU64::new(0),
            struck: Notify::new(),
            over: AtomicBool::new(false),
        }
    }

    fn is_due(&self, nth: u64) -> bool {
        self.count.fetch_add(1, Ordering::Relaxed) + 1 == nth
    }

    /// Whether a call that was just made is the one to die in.
    pub fn strikes_during(&self, kind: &str, name: &str) -> bool {
        if self.crash.moment != Moment::During {
            return false;
        }
        match &self.crash.point {
            CrashPoint::Tool { name: wanted, nth } => {
                kind == "tool" && name == wanted && self.is_due(*nth)
            }
            CrashPoint::Model { node, nth } => kind == "model" && name == node && self.is_due(*nth),
            CrashPoint::Step(_) => false,
        }
    }

    /// Whether a record is the one to die after.
    fn strikes_after(&self, record: &Record) -> bool {
        if self.crash.moment != Moment::After {
            return false;
        }
        let effect = |kind: &str, subject: &str, nth: u64| match record {
            Record::Effect(effect) => {
                effect.kind == kind && effect.subject == subject && self.is_due(nth)
            }
            Record::Checkpoint(_) | Record::Status(_) | Record::Forget(_) => false,
        };
        match &self.crash.point {
            CrashPoint::Tool { name, nth } => effect("tool", name, *nth),
            CrashPoint::Model { node, nth } => effect("model", node, *nth),
            CrashPoint::Step(nth) => match record {
                Record::Checkpoint(checkpoint) => {
                    checkpoint.frame.is_empty()
                        && checkpoint.source == Source::Step
                        && self.is_due(*nth)
                }
                Record::Effect(_) | Record::Status(_) | Record::Forget(_) => false,
            },
        }
    }

    /// Says that the end has come, and waits for it.
    pub async fn strike(&self) {
        self.over.store(true, Ordering::Release);
        self.struck.notify_one();
        std::future::pending::<()>().await;
    }

    /// Whether the end has come.
    pub fn has_struck(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    /// Returns once the end has come.
    pub async fn struck(&self) {
        self.struck.notified().await;
    }
}

/// A store that lets its process end right after a record is kept.
pub struct DoomedStore {
    /// Where records are kept.
    pub store: Arc<dyn Store>,
    /// When the process ends.
    pub doom: Arc<Doom>,
}

#[async_trait]
impl Around for DoomedStore {
    fn inner(&self) -> &dyn Store {
        &*self.store
    }

    async fn append(&self, lease: &Lease, records: &[Record]) -> Result<(), StoreError> {
        let last = records
            .iter()
            .position(|record| self.doom.strikes_after(record));
        let Some(last) = last else {
            return self.store.append(lease, records).await;
        };
        // What follows it in the same batch has not come to disk when the process ends.
        self.store
            .append(lease, records.get(..=last).unwrap_or(records))
            .await?;
        self.doom.strike().await;
        Ok(())
    }
}
