//! What changes permissions whatever becomes of the task that does so: uses of those for one call, and a person's later answers, which
//! take back what an earlier one permitted.
//!
//! A task that fails leaves no permission. But a call that it has made is made, and a no that it was told has been said. So both are noted
//! for the super-step of the run's own graph that is under way, in the journal too, where an edit in place of that step finds them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::json;

use crate::run::journal::Journal;
use crate::run::store::{EffectRecord, StoreError};

use super::frame::read;
use super::{Change, Claim, Id};

/// Kind of the record of such changes.
pub const PERMISSION: &str = "permission";

#[derive(Debug, Default)]
struct Noted {
    /// Who has used a permission.
    uses: BTreeMap<Id, String>,
    /// Questions, and digests of their pins, that tasks have had answered.
    answered: BTreeMap<String, BTreeSet<(String, String)>>,
}

/// Such changes in the super-step of the run's own graph that is under way. They count at once, also for tasks that do not see each other's changes.
#[derive(Debug, Default)]
pub struct Lasting(Mutex<Noted>);

impl Lasting {
    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in those that an earlier process has kept.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] where one can't be read: the permission would be there once more.
    pub fn load<'e>(
        &self,
        effects: impl IntoIterator<Item = &'e EffectRecord>,
    ) -> Result<(), StoreError> {
        for effect in effects
            .into_iter()
            .filter(|effect| effect.kind == PERMISSION)
        {
            for change in read::<Vec<Change>>(&effect.outcome)? {
                self.note(&effect.task, change);
            }
        }
        Ok(())
    }

    fn note(&self, task: &str, change: Change) {
        let mut noted = self.noted();
        match change {
            Change::Used(claim) => _ = noted.uses.entry(claim.permission).or_insert(claim.call),
            Change::Answered { question, pins } => {
                let answered = noted.answered.entry(task.to_owned()).or_default();
                answered.insert((question, pins));
            }
            Change::Given(_) => {}
        }
    }

    /// Notes changes of a task, and keeps them under that id.
    pub fn keep(&self, journal: &Journal, (task, id): (&str, String), changes: Vec<Change>) {
        if changes.is_empty() {
            return;
        }
        if journal.finished(task, &id).is_none() {
            journal.effect(task, id, PERMISSION, "", json!(changes));
        }
        for change in changes {
            self.note(task, change);
        }
    }

    /// Whether a call may use a permission: nobody has, or that very call has begun to. Notes it.
    pub fn claim(&self, permission: &Id, call: &str) -> bool {
        let mut noted = self.noted();
        let user = noted.uses.entry(permission.clone());
        user.or_insert_with(|| call.to_owned()) == call
    }

    /// The uses so far.
    pub fn uses(&self) -> Vec<Change> {
        let noted = self.noted();
        let uses = noted.uses.iter();
        uses.map(|(permission, call)| {
            Change::Used(Claim {
                permission: permission.clone(),
                call: call.clone(),
            })
        })
        .collect()
    }

    /// What answers to a task, or to those of the graphs that it has called, take back. `under` is its key, or that of a frame.
    pub fn taken_back(&self, under: &str) -> Vec<Change> {
        let noted = self.noted();
        let inside = |task: &str| {
            let rest = task.strip_prefix(under);
            rest.is_some_and(|rest| {
                under.is_empty() || under.ends_with('/') || rest.is_empty() || rest.starts_with('/')
            })
        };
        let from = noted.answered.range(under.to_owned()..);
        let tasks = from.take_while(|(task, _)| task.starts_with(under));
        let answered = tasks
            .filter(|(task, _)| inside(task))
            .flat_map(|(_, of)| of);
        answered
            .map(|(question, pins)| Change::Answered {
                question: question.clone(),
                pins: pins.clone(),
            })
            .collect()
    }

    /// The uses so far, for a commit of the run's own graph, which keeps them. What was taken back is in what its tasks give.
    pub fn commit(&self) -> Vec<Change> {
        let uses = self.uses();
        *self.noted() = Noted::default();
        uses
    }
}
