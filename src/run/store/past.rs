//! What is asked of a thread's past: states of old, forks, compaction.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::run::key::TaskKey;

use super::EffectRecord;

/// Which effects go with a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effects {
    /// Those that were there when the checkpoint was made: the thread as it was. An image has those of the root's step
    /// (`root_step` is that of the root in the image, appended before the checkpoint); a fork also all with a lower
    /// `root_step`. Counts are those of that time: the thread's, less what was appended later. Of effects of which it isn't known
    /// when they were appended (an earlier version kept no such thing) those of that very step count as later.
    Before,
    /// Also those made since, so that what follows is answered by what was there already. An image has those of the
    /// root's step and of all later ones (`root_step` at least that of the root in the image), a fork has all. Counts are the thread's.
    All,
    /// Also those made since that were appended before checkpoint `seq` of the thread: what follows is answered by what was
    /// there, up to where the thread took another way. Counts are those of that time. Of effects of which it isn't known when they were
    /// appended those of the root's step and later ones count as later.
    Until(u64),
}

impl Effects {
    /// Whether all of them go along; else the `seq` that later ones have to be behind no more than.
    pub fn later(self) -> (bool, u64) {
        match self {
            Self::Before => (false, 0),
            Self::All => (true, 0),
            Self::Until(seq) => (false, seq),
        }
    }
}

/// How much of a thread is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// As many of the root's newest checkpoints, at least one, and all since the oldest of them.
    Newest(u64),
    /// All since the root's latest checkpoint up to that `seq`; all where there is none.
    Since(u64),
}

/// What a thread had more before it was compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Compacted {
    /// Checkpoints that are gone.
    pub checkpoints: u64,
    /// Effects that are gone.
    pub effects: u64,
    /// Changes of fields that are gone; one that others were put together in is none.
    pub changes: u64,
}

/// An effect in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedEffect {
    /// Where the list goes on: ascending, and of no other meaning.
    pub position: u64,
    /// `seq` of the latest checkpoint when it was appended, 0 before the first; `None` where an earlier version has kept it.
    pub behind: Option<u64>,
    /// The effect.
    pub effect: EffectRecord,
}

/// Where a thread comes from that was forked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkedFrom {
    /// The thread.
    pub thread_id: String,
    /// `seq` of its checkpoint.
    pub checkpoint: u64,
    /// The thread at the beginning of all forks: the same question has the same id in each of them.
    pub first: String,
    /// Where it stood: the super-steps to come of the frames under way, by their keys. The tasks of these see what those of the old thread
    /// have seen, whatever the flow says now. None in what earlier versions of the program have kept.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub stood: BTreeMap<String, u64>,
}

impl ForkedFrom {
    /// Whether a task is one of those that were to run where the thread was forked.
    pub fn stood_at(&self, task: &TaskKey) -> bool {
        self.stood.get(&*task.frame) == Some(&task.step)
    }
}

/// The nearest checkpoints, for a message.
pub(super) fn nearest(before: Option<u64>, after: Option<u64>) -> String {
    match (before, after) {
        (Some(before), Some(after)) => format!("; the nearest are {before} and {after}"),
        (Some(only), None) => format!("; the latest is {only}"),
        (None, Some(only)) => format!("; the earliest is {only}"),
        (None, None) => "; it has none at all".to_owned(),
    }
}
