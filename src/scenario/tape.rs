//! All that a scenario's run told, of every mode, by process: what one way of playing it is held against another by.

use std::sync::{Mutex, PoisonError};

use crate::run::event::Event;

/// The events of each engine that a scenario was played with, in the order read.
#[derive(Debug, Default)]
pub struct Tape {
    processes: Mutex<Vec<Vec<Event>>>,
}

impl Tape {
    /// An engine of its own begins: a start or a resume.
    pub fn begin(&self) {
        let mut processes = self
            .processes
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        processes.push(Vec::new());
    }

    /// Notes an event of the engine that began last.
    pub fn note(&self, event: Event) {
        let mut processes = self
            .processes
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = processes.last_mut() {
            last.push(event);
        }
    }

    /// All so far.
    pub fn processes(&self) -> Vec<Vec<Event>> {
        let processes = self
            .processes
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        processes.clone()
    }
}
