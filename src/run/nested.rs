//! What a run stands on that a call of a tool makes: the calling run's store, clock, durability and observer.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::ambient::Ambient;
use super::journal::Durability;
use super::model::Usage;
use super::observe::Observed;
use super::store::Store;

/// For a tool that runs a graph.
#[derive(Clone)]
pub struct Nested {
    /// Where threads are kept.
    pub store: Option<Arc<dyn Store>>,
    /// Clock and chance.
    pub ambient: Arc<dyn Ambient>,
    /// When records are kept.
    pub durability: Durability,
    /// How long the run waits for its calls once it is cancelled: less than the calling run waits for this one.
    pub cancel_grace: Duration,
    /// Tokens that the run has used, those of earlier processes included. The tool says them, whatever the run came to.
    pub usage: Arc<Mutex<Usage>>,
    /// Who observes it.
    pub observed: Option<Observed>,
}

impl fmt::Debug for Nested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Nested").finish_non_exhaustive()
    }
}
