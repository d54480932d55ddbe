//! Edits: a thread's state is changed from outside of any run, as if one of its nodes had written it.

mod place;
mod stale;
mod values;

use std::sync::Arc;

use serde_json::Value as Json;

use crate::ir::{FieldId, Graph};
use crate::run::channel::Incoming;
use crate::run::context::RunContext;
use crate::run::frame::Frame;
use crate::run::half_join::{HalfJoin, half_joins};
use crate::run::interrupt::OpenInterrupt;
use crate::run::journal::Journal;
use crate::run::permission::Lasting;
use crate::run::schedule;
use crate::run::store::{
    Checkpoint, FieldWrite, Record, RunState, Source, Store, StoreError, ThreadImage, ThreadStatus,
};
use crate::run::update::update;
use crate::run::work::subgraph::restore;

pub use self::place::path;

use self::place::As;
use super::fit::Held;
use super::{Engine, RunOptions, StartError, latest_step, used_before};

/// What an edit is to do.
#[derive(Debug, Clone, Default)]
pub struct Edit {
    /// The graph under way whose state is edited: its path, such as `content/section_router` (`[0]` behind a node that
    /// was sent to several times), or its frame's key. The run's own graph where left out or empty.
    pub frame: Option<String>,
    /// What is written, in order; may be empty, to go on elsewhere with the state as it is.
    pub writes: Vec<Written>,
    /// The node that it stands for, or `start` for the graph's entry: what follows there is what runs next. Where left out,
    /// the only one that has run last, or that the edit before stood for.
    pub as_node: Option<String>,
}

/// A value that an edit writes.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    /// The field.
    pub field: String,
    /// The value, as an input gives one: through the field's reducer.
    pub value: Json,
    /// Whether it replaces what is there, past the reducer, as `:=` does.
    pub replace: bool,
}

/// What an edit has come to.
#[derive(Debug, Clone, PartialEq)]
pub struct Edited {
    /// `seq` of its checkpoint.
    pub checkpoint: u64,
    /// Key of the frame.
    pub frame: String,
    /// The node that it stood for, or `start`.
    pub as_node: String,
    /// The tasks of the frame that run next, by the names of their nodes, with the index of a send: `work[1]`.
    pub next: Vec<String>,
    /// The tasks that were to run, and have given way.
    pub replaced: Vec<String>,
    /// Joins of the frame that wait for members: where none of those is to run, nobody comes there.
    pub half_joins: Vec<HalfJoin>,
    /// Interrupts that were open, and are not any more.
    pub dropped: Vec<OpenInterrupt>,
    /// Tools that must not be called twice, of which a call in what has given way had begun: whether it happened is not known, and
    /// nobody is asked any more.
    pub in_doubt: Vec<String>,
    /// Where the thread stands: [`RunState::Ready`], unless nothing is left to do or other interrupts are still open.
    pub state: RunState,
}

/// A thread that is edited.
pub(super) struct Target<'t> {
    /// It, as of its latest checkpoint.
    pub image: &'t ThreadImage,
    /// Its id.
    pub thread_id: &'t str,
    /// The thread that has its history.
    pub history: &'t str,
}

impl Engine {
    /// Edits a thread: its values go through the reducers of their fields, checked as inputs are, and what
    /// follows the node that the edit stands for, on the edited state, is what runs next. It is kept as a checkpoint of its own;
    /// results in the journal of what was to run answer nothing any more. Nothing runs before [`Engine::resume`].
    ///
    /// # Errors
    /// [`StartError`]; then the thread is as it was.
    pub async fn edit(&self, thread_id: &str, edit: &Edit) -> Result<Edited, StartError> {
        let held = self.hold(thread_id).await?;
        let done = match (&self.store, held.lease.as_ref(), &held.image) {
            (Some(store), Some(lease), Some(image)) => {
                let target = Target {
                    image,
                    thread_id,
                    history: thread_id,
                };
                match (self.edited(store, &target, edit).await, lease.lease()) {
                    (Ok((records, edited)), Some(lease)) => {
                        let kept = store.append(lease, &records).await;
                        kept.map(|()| edited).map_err(StartError::from)
                    }
                    (Err(error), _) => Err(error),
                    (Ok(_), None) => Err(unknown(thread_id)),
                }
            }
            _ => Err(unknown(thread_id)),
        };
        if let Some(lease) = held.lease {
            lease.give_back().await;
        }
        done
    }

    /// The records of an edit.
    pub(super) async fn edited(
        &self,
        store: &Arc<dyn Store>,
        target: &Target<'_>,
        edit: &Edit,
    ) -> Result<(Vec<Record>, Edited), StartError> {
        let (image, thread_id) = (target.image, target.thread_id);
        let root = self.graph_of(image)?;
        if image.frames.is_empty() {
            let message =
                format!("thread `{thread_id}` has no checkpoint: there is nothing to edit");
            return Err(StartError::refused(message));
        }
        let taken = self.take_over(root, image, false, Held::Frame)?;
        let place = self.place(
            root,
            &taken.image,
            edit.frame.as_deref().unwrap_or_default(),
        )?;
        let as_node = match edit.as_node.as_deref() {
            Some(name) => place.named(name)?,
            None => place.ran_last(store, target.history).await?,
        };
        let mut frame = place.frame;
        restore(&mut frame, &self.plan.graphs[place.graph], place.image)
            .map_err(StartError::from_run)?;
        let replaced = schedule::next_tasks(&place.image.schedule);
        let writes = self.values(&self.plan.flow.graphs[place.graph], &edit.writes)?;
        // Ids of effects have the step: none of what was to run must answer what runs now.
        frame.step = match frame.key.is_empty() {
            true => latest_step(&taken.image),
            false => stale::latest_step(&frame.key, place.image.step, &taken.image),
        };
        let mut cx = self.context(
            root,
            thread_id,
            place.image.run_id.clone(),
            Journal::none(),
            &RunOptions::default(),
        );
        cx.forked_from = image.status.forked_from.clone();
        let mut changes = step(&mut frame, &cx, &as_node, writes)
            .map_err(|error| self.refused(&place.path, &as_node, &error))?;
        changes.extend(permitted(&mut frame, &taken.image)?);
        let plan = &self.plan.graphs[place.graph];
        let name = as_node.name().to_owned();
        let mut schedule = schedule::to_json(plan, &frame, used_before(&taken.image));
        if frame.key.is_empty() {
            taken.former().note(&mut schedule);
        }
        schedule::note_edit(&mut schedule, &name);
        schedule::note_version(&mut schedule, &self.plan.version);
        let mut seq = image.last_seq;
        let mut next_seq = || {
            seq += 1;
            seq
        };
        let mut records = taken.records(&mut next_seq);
        records.extend(stale::forgotten(store, target, &taken.image, place.image).await?);
        let (dropped, open) = stale::interrupts(&taken.image, &frame.key)?;
        let state = state(&taken.image, &frame, !open.is_empty());
        let at = self.ambient.kept_at().to_string();
        let edited = Edited {
            checkpoint: next_seq(),
            frame: frame.key.to_string(),
            as_node: name,
            next: schedule::next_tasks(&schedule),
            half_joins: half_joins(plan, "", &frame.agenda),
            replaced,
            dropped,
            in_doubt: stale::in_doubt(&taken.image, place.image),
            state,
        };
        records.push(Record::Checkpoint(Checkpoint {
            seq: edited.checkpoint,
            frame: edited.frame.clone(),
            step: frame.step,
            root_step: match frame.key.is_empty() {
                true => frame.step,
                false => taken.image.frames.first().map_or(0, |root| root.step),
            },
            run_id: place.image.run_id.clone(),
            source: Source::Update,
            writes: changes,
            schedule,
            at: at.clone(),
        }));
        records.push(Record::Status(ThreadStatus {
            state,
            version: self.plan.version.clone(),
            interrupts: open,
            error: None,
            at,
            ..image.status.clone()
        }));
        Ok((records, edited))
    }

    /// An edit that its graph does not take.
    fn refused(&self, path: &str, node: &As, error: &crate::run::error::RunError) -> StartError {
        let of = match path {
            "" => String::new(),
            path => format!(" of `{path}`"),
        };
        let place = error.place.as_ref().map(|at| format!(" ({at})"));
        StartError::refused(format!(
            "the edit as `{}`{of} is refused, the thread is as it was: {}{}",
            node.name(),
            error.message,
            place.unwrap_or_default(),
        ))
    }
}

fn unknown(thread_id: &str) -> StartError {
    StartError::refused(format!("there is no thread `{thread_id}`"))
}

/// Makes the step that an edit stands for.
fn step(
    frame: &mut Frame,
    cx: &RunContext,
    as_node: &As,
    writes: Vec<(FieldId, Incoming)>,
) -> Result<Vec<FieldWrite>, crate::run::error::RunError> {
    match as_node {
        As::Node(node, _) => update(frame, cx, *node, writes),
        As::Start => {
            frame.step += 1;
            frame.go_in(cx, writes, false)
        }
    }
}

/// What of the frame's open step counts although that gives way: answers that took permissions back and, in the run's own graph, which
/// keeps them, uses of those for one call.
fn permitted(frame: &mut Frame, image: &ThreadImage) -> Result<Option<FieldWrite>, StoreError> {
    let lasting = Lasting::default();
    let root_step = image.frames.first().map_or(0, |root| root.step);
    let open = image.effects.iter();
    lasting.load(open.filter(|effect| effect.root_step == root_step))?;
    let mut changed = lasting.taken_back(&frame.key);
    let root = frame.key.is_empty();
    if root {
        changed.extend(lasting.uses());
    }
    Ok(frame.permissions.accept(changed, root))
}

/// Where the thread stands behind an edit of that frame.
fn state(image: &ThreadImage, frame: &Frame, waits: bool) -> RunState {
    let root = image.frames.first().map(|root| &root.schedule);
    let ended = match frame.key.is_empty() {
        true => frame.is_finished(),
        false => root.is_none_or(schedule::is_finished),
    };
    match (ended, waits) {
        (true, _) => RunState::Done,
        (false, true) => RunState::Interrupted,
        (false, false) => RunState::Ready,
    }
}

/// Fields that an edit may write.
fn editable(graph: &Graph) -> impl Iterator<Item = &str> {
    let fields = graph.fields.iter().filter(|field| !field.untracked);
    fields.map(|field| field.name.as_str())
}
