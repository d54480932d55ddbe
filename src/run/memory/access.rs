//! What a call of a memory tool works on.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use serde_json::Value as Json;

use crate::run::journal::AtTheStore;
use crate::run::store::{Store, StoreError};

use super::ItemStore;

/// The run's store, its time and its constants, as a call of a tool of the standard library gets them.
#[derive(Clone)]
pub struct Access {
    store: Option<Arc<dyn Store>>,
    at_the_store: Arc<AtomicUsize>,
    /// When the call is made by the run's clock, in milliseconds since 1970.
    pub now: i64,
    /// The constants of the graph that calls (`context`); null where it has none.
    pub context: Json,
    /// What the memory is apart by ([`Space::apart`](super::Space::apart)): empty, but for a run that has one of its own.
    pub root: String,
}

impl Access {
    /// To the memory in that store. `at_the_store` counts the calls that wait for it.
    pub fn new(
        store: Option<Arc<dyn Store>>,
        at_the_store: Arc<AtomicUsize>,
        now: i64,
        context: Json,
    ) -> Self {
        Self {
            store,
            at_the_store,
            now,
            context,
            root: String::new(),
        }
    }

    /// Does something with the memory.
    ///
    /// # Errors
    /// Of the work; where the run has no store, or one without memory.
    pub async fn with<'s, T, F>(
        &'s self,
        work: impl FnOnce(&'s dyn ItemStore) -> F,
    ) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        let Some(store) = &self.store else {
            let message = "the run has no store, so it has no long-term memory".to_owned();
            return Err(StoreError::Unavailable { message });
        };
        let Some(items) = store.memory() else {
            let message = "the run's store keeps threads alone, no long-term memory".to_owned();
            return Err(StoreError::Unavailable { message });
        };
        let _waits = AtTheStore::count(&self.at_the_store);
        work(items).await
    }
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access").field("now", &self.now).finish()
    }
}
