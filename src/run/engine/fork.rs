//! Forks: a new thread from another one's past, which stays as it is.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value as Json, json};

use crate::run::ambient::Ambient;
use crate::run::interrupt::OpenInterrupt;
use crate::run::schedule;
use crate::run::store::{
    EffectKey, EffectRecord, Effects, ForkedFrom, Record, RunState, Source, Store, StoreError,
    ThreadImage, ThreadInfo, ThreadStatus,
};
use crate::run::work::in_doubt;

use super::edit::{Edit, Edited, Target};
use super::lease::HeldLease;
use super::{Engine, StartError, life, open_interrupts};

/// Checkpoints that are looked at at a time.
const PAGE: usize = 64;

/// What is forked.
#[derive(Debug, Clone)]
pub struct Fork<'f> {
    /// The thread.
    pub from: &'f str,
    /// `seq` of the checkpoint that the new one goes on from, of whatever frame.
    pub at: u64,
    /// Id of the new thread.
    pub to: &'f str,
    /// Whether results that came later answer the new thread too ([`Effects::All`]: nothing is called again until
    /// something new is needed, or the old thread was edited or given a new input), or calls are made
    /// again ([`Effects::Before`]).
    pub effects: Effects,
}

/// Makes a thread that goes on from a checkpoint of another one. It can be resumed, unless nothing was left to do there; forked with
/// all effects from the newest checkpoint of an interrupted thread, it waits for the same answers.
///
/// # Errors
/// [`StartError::Store`] where there is no such thread or checkpoint, or there is a thread of the new id already;
/// [`StartError::Refused`] where the run's constants are not kept any more. Nothing has changed then.
pub async fn fork(
    store: &Arc<dyn Store>,
    ambient: &dyn Ambient,
    wanted: &Fork<'_>,
) -> Result<ThreadStatus, StartError> {
    let (source, image) = begin(store, wanted).await?;
    let status = status(store, &source, &image, ambient, wanted).await?;
    let wanted = &Fork {
        effects: of_the_same_way(store, &source, wanted).await?,
        ..wanted.clone()
    };
    let open = open_interrupts(&source.status)?;
    let newest = wanted.at == source.checkpoint && wanted.effects != Effects::Before;
    // A thread with all that an interrupted one has waits for the same answers.
    let waits = match newest && !open.is_empty() {
        true => ThreadStatus {
            state: RunState::Interrupted,
            interrupts: source.status.interrupts.clone(),
            ..status.clone()
        },
        false => status.clone(),
    };
    let lease = HeldLease::new(store, store.acquire(wanted.to).await?);
    let made = make(store, &lease, wanted, &[Record::Status(waits.clone())]).await;
    let settled = match made {
        Ok(()) if waits != status => unless_answered(store, &lease, &open, waits, status).await,
        made => made.map(|()| waits),
    };
    lease.give_back().await;
    Ok(settled?)
}

impl Engine {
    /// [`fork`] on the engine's own store.
    ///
    /// # Errors
    /// As [`fork`]; [`StartError::Refused`] where the engine has no store.
    pub async fn fork(&self, wanted: &Fork<'_>) -> Result<ThreadStatus, StartError> {
        fork(self.forks_in()?, &*self.ambient, wanted).await
    }

    fn forks_in(&self) -> Result<&Arc<dyn Store>, StartError> {
        let refused = || StartError::refused("there is no store to fork threads in");
        self.store.as_ref().ok_or_else(refused)
    }

    /// Forks a thread and edits the new one, all or nothing. Results that came later than the checkpoint don't
    /// answer it, whatever `wanted` says: they are of another state.
    ///
    /// # Errors
    /// As [`fork`] and [`Engine::edit`].
    pub async fn fork_edited(&self, wanted: &Fork<'_>, edit: &Edit) -> Result<Edited, StartError> {
        let store = self.forks_in()?;
        let wanted = Fork {
            effects: Effects::Before,
            ..wanted.clone()
        };
        let (source, mut image) = begin(store, &wanted).await?;
        image.status = status(store, &source, &image, &*self.ambient, &wanted).await?;
        let target = Target {
            image: &image,
            thread_id: wanted.to,
            history: wanted.from,
        };
        let (records, edited) = self.edited(store, &target, edit).await?;
        let lease = HeldLease::new(store, store.acquire(wanted.to).await?);
        let made = make(store, &lease, &wanted, &records).await;
        lease.give_back().await;
        made?;
        Ok(edited)
    }
}

/// The thread that is forked, and what it had.
async fn begin(
    store: &Arc<dyn Store>,
    wanted: &Fork<'_>,
) -> Result<(ThreadInfo, ThreadImage), StoreError> {
    let Some(source) = store.thread(wanted.from).await? else {
        let thread_id = wanted.from.to_owned();
        return Err(StoreError::NoThread { thread_id });
    };
    let image = store
        .image_at(wanted.from, wanted.at, Effects::Before)
        .await?;
    Ok((source, image))
}

/// Tools that are `@idempotent(false)` of which a call had begun behind the checkpoint, and nobody knows whether it happened: a
/// fork without later results does not know of them, and makes them again.
///
/// # Errors
/// As [`fork`] of a thread or checkpoint that isn't there.
pub async fn fork_in_doubt(
    store: &Arc<dyn Store>,
    wanted: &Fork<'_>,
) -> Result<Vec<String>, StartError> {
    if wanted.effects != Effects::Before {
        return Ok(Vec::new());
    }
    let (from, at) = (wanted.from, wanted.at);
    let known = store.image_at(from, at, Effects::Before).await?.effects;
    let known: BTreeSet<EffectKey> = known.iter().map(EffectRecord::key).collect();
    let all = store.image_at(from, at, Effects::All).await?;
    let root_step = all.frames.first().map_or(0, |root| root.step);
    let since = all
        .effects
        .iter()
        .filter(|effect| effect.root_step >= root_step && !known.contains(&effect.key()));
    let tools: BTreeSet<String> = in_doubt::open_calls(since).into_iter().collect();
    Ok(tools.into_iter().collect())
}

async fn make(
    store: &Arc<dyn Store>,
    lease: &HeldLease,
    wanted: &Fork<'_>,
    records: &[Record],
) -> Result<(), StoreError> {
    let Some(lease) = lease.lease() else {
        let thread_id = wanted.to.to_owned();
        return Err(StoreError::Fenced { thread_id });
    };
    let (from, at, effects) = (wanted.from, wanted.at, wanted.effects);
    store.fork(from, at, effects, lease, records).await
}

/// Where the new thread stands.
async fn status(
    store: &Arc<dyn Store>,
    source: &ThreadInfo,
    image: &ThreadImage,
    ambient: &dyn Ambient,
    wanted: &Fork<'_>,
) -> Result<ThreadStatus, StartError> {
    let old = &source.status;
    let first = old.forked_from.as_ref().map(|from| &from.first);
    let root = image.frames.first();
    let ended = root.is_none_or(|root| schedule::is_finished(&root.schedule));
    let past = past(store, source, image, wanted).await?;
    Ok(ThreadStatus {
        state: match ended {
            true => RunState::Done,
            false => RunState::Ready,
        },
        graph: old.graph.clone(),
        version: past.version.unwrap_or_default(),
        run_id: root.map_or_else(|| old.run_id.clone(), |root| root.run_id.clone()),
        interrupts: Vec::new(),
        error: None,
        context: past.context,
        usage: json!(
            root.map(|root| schedule::usage(&root.schedule))
                .unwrap_or_default()
        ),
        named_from: old.named_from,
        life: Some(life(&ambient.uuid(u64::MAX))),
        interrupt_before: old.interrupt_before.clone(),
        recursion_limit: old.recursion_limit,
        served_by: old.served_by.clone(),
        forked_from: Some(Box::new(ForkedFrom {
            thread_id: wanted.from.to_owned(),
            checkpoint: wanted.at,
            first: first.unwrap_or(&source.thread_id).clone(),
            stood: image
                .frames
                .iter()
                .map(|frame| (frame.frame.clone(), frame.step))
                .collect(),
        })),
        at: ambient.kept_at().to_string(),
    })
}

/// What a thread was like at a checkpoint, as far as its status tells of now alone.
struct Past {
    /// The version of the flow that made the checkpoint; where it isn't known, whether the thread fits is looked at when it goes on.
    version: Option<String>,
    /// The constants of its run.
    context: Json,
}

/// Each process notes its version of the flow with its first checkpoint, each run its constants with its input.
async fn past(
    store: &Arc<dyn Store>,
    source: &ThreadInfo,
    image: &ThreadImage,
    wanted: &Fork<'_>,
) -> Result<Past, StartError> {
    let old = &source.status;
    let run = image.frames.first().map(|root| root.run_id.as_str());
    let newest = wanted.at == source.checkpoint;
    let mut version = newest.then(|| old.version.clone());
    let same = old.context.is_null() || run.is_none_or(|run| run == old.run_id);
    let mut context = same.then(|| old.context.clone());
    let mut before = wanted.at.saturating_add(1);
    while version.is_none() || context.is_none() {
        let page = store.history(wanted.from, Some(before), PAGE).await?;
        for info in &page {
            if version.is_none() {
                version = schedule::version(&info.schedule).map(str::to_owned);
            }
            let begins = info.frame.is_empty() && info.source == Source::Input;
            if context.is_none() && begins && Some(&*info.run_id) == run {
                let noted = schedule::context(&info.schedule);
                context = Some(noted.cloned().unwrap_or_default());
            }
        }
        let Some(last) = page.last() else { break };
        before = last.seq;
    }
    let context = context.ok_or_else(|| {
        StartError::refused(format!(
            "checkpoint {} of thread `{}` is of an earlier run, whose constants (`context`) are not kept any more",
            wanted.at, wanted.from
        ))
    })?;
    Ok(Past { version, context })
}

/// The effects that may answer the fork: of those made since, the ones on the thread's own way on from the checkpoint. Behind a new
/// input or an edit, steps of the same numbers make other calls.
async fn of_the_same_way(
    store: &Arc<dyn Store>,
    source: &ThreadInfo,
    wanted: &Fork<'_>,
) -> Result<Effects, StoreError> {
    if wanted.effects != Effects::All {
        return Ok(wanted.effects);
    }
    let mut end = None;
    let mut before = source.checkpoint.saturating_add(1);
    while before > wanted.at.saturating_add(1) {
        let page = store.history(wanted.from, Some(before), PAGE).await?;
        for info in page.iter().filter(|info| info.seq > wanted.at) {
            let input = info.frame.is_empty() && info.source == Source::Input;
            if input || info.source == Source::Update {
                end = Some(info.seq);
            }
        }
        let Some(last) = page.last() else { break };
        before = last.seq;
    }
    Ok(end.map_or(Effects::All, Effects::Until))
}

/// Where a fork stands that `waits` for answers, unless one was given while the thread was copied: that is not open here either.
async fn unless_answered(
    store: &Arc<dyn Store>,
    lease: &HeldLease,
    open: &[OpenInterrupt],
    waits: ThreadStatus,
    status: ThreadStatus,
) -> Result<ThreadStatus, StoreError> {
    let thread_id = lease.lease().map(|lease| lease.thread_id.as_str());
    let image = store.load(thread_id.unwrap_or_default()).await?;
    let answered = image.iter().flat_map(|image| &image.effects).any(|effect| {
        let is = |open: &OpenInterrupt| open.task == effect.task && open.effect == effect.id;
        open.iter().any(is)
    });
    let (Some(lease), true) = (lease.lease(), answered) else {
        return Ok(waits);
    };
    store
        .append(lease, &[Record::Status(status.clone())])
        .await?;
    Ok(status)
}
