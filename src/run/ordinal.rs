//! Ids of effects: what an effect is of, and its ordinal among those of the same in its task.
//!
//! `tool:pay@0` is the first call of `pay`, `answer:sure@0` the answer to the interrupt `sure` around the node, `uuid@1` the second
//! `uuid()`. A position in the task would do for one version of a flow; but a thread goes on under a changed one too, and
//! there a `let`, a question or a call ahead of an effect would make it another.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// What an effect is of.
#[derive(Debug, Clone, Copy)]
pub struct Of<'o> {
    /// Kind of its record: `tool`, `ask`, `uuid`.
    pub kind: &'o str,
    /// Which of that kind: the tool, the interrupt around the node. Empty where the task's key says it.
    pub name: &'o str,
    /// Subject of its record: the node's path, the tool's name.
    pub subject: &'o str,
}

impl<'o> Of<'o> {
    /// Of a kind, and about nothing that has a name.
    pub fn kind(kind: &'o str) -> Self {
        Self::node(kind, "")
    }

    /// Of the node at a path.
    pub fn node(kind: &'o str, path: &'o str) -> Self {
        let (name, subject) = ("", path);
        Self {
            kind,
            name,
            subject,
        }
    }

    /// Of a tool or an event.
    pub fn named(kind: &'o str, name: &'o str) -> Self {
        let subject = name;
        Self {
            kind,
            name,
            subject,
        }
    }
}

/// Counts the effects of a task or of a part of it.
#[derive(Debug, Default)]
pub struct Ordinals {
    passed: AtomicU32,
    /// By kind and name.
    seen: Mutex<BTreeMap<String, u32>>,
}

impl Ordinals {
    /// The position of the next effect among all; counts it.
    pub fn pass(&self) -> u32 {
        self.passed.fetch_add(1, Ordering::Relaxed)
    }

    /// How many have been passed.
    pub fn passed(&self) -> u32 {
        self.passed.load(Ordering::Relaxed)
    }

    /// The id of the next effect of that: it has no `.`, which divides a part from what is in it, and none of the signs that stand
    /// behind an id (`!`, `^`, `?`, `&`, `%`, `=`, `~`).
    pub fn id(&self, of: Of<'_>) -> String {
        let label = match of.name {
            "" => of.kind.to_owned(),
            name => format!("{}:{name}", of.kind),
        };
        // No update of a count has a middle.
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let ordinal = seen.get(&label).copied().unwrap_or_default();
        let id = format!("{label}@{ordinal}");
        seen.insert(label, ordinal + 1);
        id
    }
}
