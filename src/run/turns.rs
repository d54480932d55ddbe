//! Whose turn it is to use a permission for one call (`permit once`).
//!
//! Tasks of a super-step run side by side, and one permission may cover calls of several: the first of them in the order of the tasks
//! has it, however fast the others are. So a call that may use one waits until no task ahead of it may use the same: each is done, or has
//! come to its one call, and that one can't. While it waits its time stands still, and others have its place among the tasks that work.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value as Json;
use tokio::sync::Notify;

use crate::ir::ToolId;
use crate::value::Map;

use super::effect::{EffectScope, cancelled};
use super::error::RunError;
use super::permission::Once;
use super::plan::NodePlan;
use super::task::TaskRun;
use super::work::approve::outer;

/// Where a task stands among all that run at the same time ([`EffectScope::rank`]).
type Rank = Vec<u64>;

/// What a task under way may call.
#[derive(Debug)]
enum Calls {
    /// These tools, with any arguments.
    Any(Vec<ToolId>),
    /// One call: what it calls else it has called.
    One(ToolId, Json),
}

/// A call that may use permissions for one call.
struct Wanted {
    tool: ToolId,
    args: Json,
    once: Once,
}

impl Calls {
    /// Whether they may use what that call may use.
    fn vie_with(&self, wanted: &Wanted) -> bool {
        match self {
            Calls::Any(tools) => tools.contains(&wanted.tool),
            Calls::One(tool, args) => {
                *tool == wanted.tool && (wanted.once == Once::Any || *args == wanted.args)
            }
        }
    }
}

/// Tasks under way that may use a permission for one call.
#[derive(Debug, Default)]
pub struct Turns {
    under_way: Mutex<BTreeMap<Rank, Calls>>,
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
    fn under_way(&self) -> MutexGuard<'_, BTreeMap<Rank, Calls>> {
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
        let calls = Calls::Any(node.once.clone());
        self.under_way().insert(rank.clone(), calls);
        Some(Turn { turns: self, rank })
    }

    /// Whether a task ahead of that one, and none that it is called by, may use what one of those calls may use.
    fn is_after(&self, rank: &[u64], wanted: &[Wanted]) -> bool {
        let under_way = self.under_way();
        let ahead = under_way
            .iter()
            .take_while(|(other, _)| other.as_slice() < rank);
        let mut ahead = ahead.filter(|(other, _)| !rank.starts_with(other));
        ahead.any(|(_, calls)| wanted.iter().any(|wanted| calls.vie_with(wanted)))
    }
}

/// [`wait`] for the only call that a task makes.
///
/// # Errors
/// As there.
pub async fn wait_alone(run: &TaskRun<'_>, (tool, args): (ToolId, &Map)) -> Result<(), RunError> {
    let cx = run.around.cx;
    let rank = run.effects.rank();
    let known = match cx.turns.under_way().get_mut(&rank) {
        Some(calls) => {
            *calls = Calls::One(tool, outer(&cx.plan.flow.tools[tool], args));
            true
        }
        None => false,
    };
    if known {
        cx.turns.changed.notify_waiters();
    }
    wait(run, std::iter::once((tool, args))).await
}

/// Waits until it is the task's turn to use permissions for one call for these calls, where it sees any.
///
/// # Errors
/// Kind `cancelled`, where the task is stopped before.
pub async fn wait<'c>(
    run: &TaskRun<'_>,
    calls: impl Iterator<Item = (ToolId, &'c Map)>,
) -> Result<(), RunError> {
    let cx = run.around.cx;
    let wanted = calls.map(|(tool, args)| {
        let declared = &cx.plan.flow.tools[tool];
        let args = outer(declared, args);
        let once = run.permissions.once(&declared.name, &args);
        Wanted { tool, args, once }
    });
    let wanted: Vec<Wanted> = wanted.filter(|wanted| wanted.once != Once::None).collect();
    let rank = run.effects.rank();
    if wanted.is_empty() || !cx.turns.is_after(&rank, &wanted) {
        return Ok(());
    }
    let _waits = run.effects.waits.begin();
    let turn = turn_of(run, &rank, &wanted);
    match &cx.slots {
        Some(slots) => slots.lend(run.effects.task(), turn).await,
        None => turn.await,
    }
}

/// Waits until no task ahead may use what those calls may use.
async fn turn_of(run: &TaskRun<'_>, rank: &[u64], wanted: &[Wanted]) -> Result<(), RunError> {
    let turns = &run.around.cx.turns;
    loop {
        let changed = turns.changed.notified();
        tokio::pin!(changed);
        // Listens before it looks: a change in between is not missed.
        changed.as_mut().enable();
        if !turns.is_after(rank, wanted) {
            return Ok(());
        }
        tokio::select! {
            biased;
            () = run.effects.stop.cancelled() => return Err(cancelled()),
            () = changed => {}
        }
    }
}
