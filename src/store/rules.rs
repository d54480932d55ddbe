//! What every store refuses, so that a log which was written can be read.
//!
//! - A thread's first append holds a status.
//! - A checkpoint comes after all before it: its `seq` is higher.
//! - An effect is new: no other has its root step, task and id.
//! - Elements are appended to a list or to nothing, entries merged into a map or into nothing.

use std::collections::BTreeSet;

use crate::run::store::{Change, Keep, StoreError};
use crate::value::Value;

/// What a field holds, as far as the next change must know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// No value.
    Nothing,
    /// A list.
    List,
    /// A map.
    Map,
    /// Anything else.
    Other,
}

impl Shape {
    /// What a field of this shape holds after a change; `None` where the change doesn't fit.
    pub(super) fn after(self, change: &Change) -> Option<Shape> {
        match (change, self) {
            (Change::Clear, _) => Some(Shape::Nothing),
            (Change::Put(Value::List(_)), _) => Some(Shape::List),
            (Change::Put(Value::Map(_)), _) => Some(Shape::Map),
            (Change::Put(_), _) => Some(Shape::Other),
            (Change::Append(_), Shape::Nothing | Shape::List) => Some(Shape::List),
            (Change::Merge(_), Shape::Nothing | Shape::Map) => Some(Shape::Map),
            (Change::Append(_) | Change::Merge(_), _) => None,
        }
    }
}

/// The largest `seq` and step: what an SQL integer holds.
pub(super) const MAX_NUMBER: u64 = i64::MAX as u64;

/// A broken rule, which makes the whole append come to nothing.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// The first append holds no status.
    NoStatus,
    /// `seq` isn't above the one before.
    Seq {
        /// Of the record.
        seq: u64,
        /// Highest so far.
        last: u64,
    },
    /// A `seq` or step above [`MAX_NUMBER`].
    Number(u64),
    /// The JSON of the named thing is nested deeper than a reader takes.
    Depth(String),
    /// The effect is there already.
    Effect {
        /// Its task.
        task: String,
        /// Its id within the task.
        id: String,
    },
    /// The change doesn't fit what the field holds.
    Change {
        /// The field.
        field: String,
    },
}

impl Broken {
    /// The error of the append.
    pub(super) fn refusal(self, thread_id: &str) -> StoreError {
        let reason = match self {
            Broken::NoStatus => "its first records hold no status".to_string(),
            Broken::Seq { seq, last } => {
                format!("checkpoint {seq} doesn't come after checkpoint {last}")
            }
            Broken::Number(number) => format!("the number {number} is above {MAX_NUMBER}"),
            Broken::Depth(what) => format!("{what} is nested too deep to be read again"),
            Broken::Effect { task, id } => {
                format!("effect `{id}` of task `{task}` is there already")
            }
            Broken::Change { field } => {
                format!("field `{field}` holds neither nothing nor what the change adds to")
            }
        };
        StoreError::Unavailable {
            message: format!(
                "thread `{thread_id}` can't be written: {reason}; nothing was written"
            ),
        }
    }
}

/// The oldest checkpoint that is kept; `None` where all are. `roots` are the root's checkpoints with their steps,
/// `nested` those of other frames with the root's step that they belong to, both ascending by `seq`.
///
/// Whatever is live at a checkpoint that is kept must be kept: a frame's checkpoint may be older than the root's of the
/// same step, where that was written once more.
pub(super) fn oldest_kept(roots: &[(u64, u64)], nested: &[(u64, u64)], keep: Keep) -> Option<u64> {
    let wanted = match keep {
        Keep::Newest(count) => {
            let count = usize::try_from(count.max(1)).unwrap_or(usize::MAX);
            roots.iter().rev().take(count).next_back()
        }
        Keep::Since(seq) => roots.iter().rev().find(|(root, _)| *root <= seq),
    };
    let (mut oldest, _) = *wanted?;
    loop {
        let from = roots.partition_point(|(seq, _)| *seq < oldest);
        let (gone, kept) = roots.split_at_checked(from)?;
        let steps: BTreeSet<u64> = kept.iter().map(|(_, step)| *step).collect();
        let mut before = nested.iter().take_while(|(seq, _)| *seq < oldest);
        let Some((live, _)) = before.find(|(_, step)| steps.contains(step)) else {
            return Some(oldest);
        };
        let above = gone.iter().rev().find(|(seq, _)| seq <= live);
        oldest = above.map_or(*live, |(seq, _)| *seq);
    }
}
