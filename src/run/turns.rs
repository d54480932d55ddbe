//! Whose turn it is to use a permission for one call (`permit once`).
//!
//! Tasks of a super-step run side by side, and one permission may cover calls of several: the first of them in the order of the tasks
//! has it, however fast the others are. So a task that may use one waits until each task ahead of it that might do so is done. While it
//! waits its time stands still, and others have its place among the tasks that work.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, Semaphore};

use crate::ir::ToolId;

use super::effect::{EffectScope, cancelled};
use super::error::RunError;
use super::plan::NodePlan;
use super::task::TaskRun;

/// Where a task stands among all that run at the same time ([`EffectScope::rank`]).
type Rank = Vec<u64>;

/// Tasks under way that may use a permission for one call.
#[derive(Debug, Default)]
pub struct Turns {
    under_way: Mutex<BTreeMap<Rank, Vec<ToolId>>>,
    changed: Notify,
}

/// A task under way, until it is dropped.
pub struct Turn<'t> {
    turns: &'t Turns,
    rank: Rank,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.turns.under_way().remove(&self.rank);
        self.turns.changed.notify_waiters();
    }
}

impl Turns {
    fn under_way(&self) -> MutexGuard<'_, BTreeMap<Rank, Vec<ToolId>>> {
        self.under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a task that is to run, before any task of its step does; `None` where it never uses such a permission.
    pub fn note(&self, node: &NodePlan, effects: &EffectScope) -> Option<Turn<'_>> {
        if node.once.is_empty() {
            return None;
        }
        let rank = effects.rank();
        self.under_way().insert(rank.clone(), node.once.clone());
        Some(Turn { turns: self, rank })
    }

    /// Whether a task ahead of that one, and none that it is called by, may still call one of the tools.
    fn is_after(&self, rank: &[u64], tools: &[ToolId]) -> bool {
        let under_way = self.under_way();
        let ahead = under_way
            .iter()
            .take_while(|(other, _)| other.as_slice() < rank);
        let mut ahead = ahead.filter(|(other, _)| !rank.starts_with(other));
        ahead.any(|(_, calls)| calls.iter().any(|tool| tools.contains(tool)))
    }
}

/// Waits until it is the task's turn to use permissions for one call of these tools, where it sees any.
///
/// # Errors
/// Kind `cancelled`, where the task is stopped before.
pub async fn wait(run: &TaskRun<'_>, tools: &[ToolId]) -> Result<(), RunError> {
    let cx = run.around.cx;
    let name = |tool: &ToolId| &*cx.plan.tools[*tool].name;
    let once = tools.iter().copied();
    let once: Vec<ToolId> = once
        .filter(|tool| run.permissions.has_once(name(tool)))
        .collect();
    let rank = run.effects.rank();
    if once.is_empty() || !cx.turns.is_after(&rank, &once) {
        return Ok(());
    }
    let _waits = run.effects.waits.begin();
    let lent = cx.slots.as_ref().map(Lent::of);
    loop {
        let changed = cx.turns.changed.notified();
        tokio::pin!(changed);
        // Listens before it looks: a change in between is not missed.
        changed.as_mut().enable();
        if !cx.turns.is_after(&rank, &once) {
            break;
        }
        tokio::select! {
            biased;
            () = run.effects.stop.cancelled() => return Err(cancelled()),
            () = changed => {}
        }
    }
    if let Some(lent) = lent {
        lent.back().await;
    }
    Ok(())
}

/// The place of a task that waits, which another has meanwhile.
struct Lent<'s>(Option<&'s Semaphore>);

impl<'s> Lent<'s> {
    fn of(slots: &'s Semaphore) -> Self {
        slots.add_permits(1);
        Self(Some(slots))
    }

    /// Waits for a place.
    async fn back(mut self) {
        if let Some(slots) = self.0
            && let Ok(place) = slots.acquire().await
        {
            place.forget();
        }
        self.0 = None;
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        if let Some(slots) = self.0 {
            slots.forget_permits(1);
        }
    }
}
