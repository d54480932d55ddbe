//! The end of a run: what it came to is kept and given back.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::ir::{ErrorKind, GraphId};
use crate::run::context::RunContext;
use crate::run::error::RunError;
use crate::run::frame::Frame;
use crate::run::half_join::half_joins;
use crate::run::interrupt::OpenInterrupt;
use crate::run::step::{FrameEnd, kept_context};
use crate::run::store::{Record, RunState, ThreadStatus};
use crate::value::Value;

use super::{Engine, RunResult, StartError};

impl Engine {
    /// Where a thread stands, as a record.
    pub(super) fn status(
        &self,
        cx: &RunContext,
        frame: &Frame,
        state: RunState,
        interrupts: &[OpenInterrupt],
        error: Option<&RunError>,
    ) -> Record {
        Record::Status(ThreadStatus {
            state,
            graph: self.plan.flow.graphs[frame.graph].name.clone(),
            version: self.plan.version.clone(),
            run_id: cx.run_id.to_string(),
            interrupts: interrupts
                .iter()
                .filter_map(|open| serde_json::to_value(open).ok())
                .collect(),
            error: error.map(RunError::to_json),
            context: kept_context(&frame.context),
            usage: json!(cx.usage()),
            named_from: Some(cx.journal.first_named()),
            life: cx.life.as_deref().map(str::to_owned),
            forked_from: cx.forked_from.clone(),
            interrupt_before: cx.interrupt_before.clone(),
            recursion_limit: cx.told_limit,
            served_by: cx.served_by.clone(),
            at: self.ambient.kept_at().to_string(),
        })
    }

    /// What a run of a graph that is done on a thread came to, as its store has it.
    ///
    /// # Errors
    /// Where the store can't be read, or has no such thread.
    pub async fn done(&self, graph: GraphId, thread_id: &str) -> Result<RunResult, StartError> {
        let store = self.store.as_ref();
        let known = match store {
            Some(store) => store.thread(thread_id).await?.zip(Some(store)),
            None => None,
        };
        let Some((known, store)) = known else {
            return Err(StartError::refused(format!(
                "there is no thread `{thread_id}`"
            )));
        };
        let state = store.state(thread_id, "", known.checkpoint).await?;
        let fields = || self.plan.flow.graphs[graph].fields.iter();
        let pick = |wanted: fn(crate::ir::FieldMode) -> bool| {
            let fields = fields().filter(|field| wanted(field.mode));
            fields
                .filter_map(|field| Some((field.name.clone(), state.get(&field.name)?.to_json())))
                .collect()
        };
        Ok(RunResult {
            state: known.status.state,
            thread_id: thread_id.to_owned(),
            run_id: known.status.run_id.clone(),
            checkpoint_id: Some(known.checkpoint),
            output: pick(crate::ir::FieldMode::is_out),
            values: pick(|_| true),
            interrupts: Vec::new(),
            permissions: Vec::new(),
            error: None,
            usage: serde_json::from_value(known.status.usage).unwrap_or_default(),
            begun: true,
            left: Vec::new(),
            half_joins: Vec::new(),
            in_doubt: Vec::new(),
            warnings: Vec::new(),
        })
    }

    /// The state of the root at a checkpoint, of a run whose store has failed; empty where it can't be read either.
    async fn state_kept(&self, thread_id: &str, at: Option<u64>) -> BTreeMap<String, Value> {
        let (Some(store), Some(at)) = (&self.store, at) else {
            return BTreeMap::new();
        };
        let read = tokio::time::timeout(READ_AGAIN, store.state(thread_id, "", at)).await;
        read.ok().and_then(Result::ok).unwrap_or_default()
    }

    /// Keeps what the run came to, unless the thread is to stay as it was, gives it back and says it.
    pub(super) async fn finish(
        &self,
        mut cx: RunContext,
        graph: GraphId,
        frame: Frame,
        end: FrameEnd,
        tells: bool,
    ) -> RunResult {
        let warnings = cx.take_warnings();
        let under_way = cx.under_way.take();
        let (mut half, mut left) = (Vec::new(), Vec::new());
        let (mut state, mut interrupts, mut error) = match end {
            FrameEnd::Done => {
                half = half_joins(&self.plan.graphs[graph], "", &frame.agenda);
                half.extend(frame.half.iter().cloned());
                (RunState::Done, Vec::new(), None)
            }
            FrameEnd::Left(names) => {
                left = names.iter().map(|name| name.to_string()).collect();
                (RunState::Done, Vec::new(), None)
            }
            FrameEnd::Interrupted(open) => (RunState::Interrupted, open, None),
            // A backend may say that too, of a run that nobody has stopped: that is a failure.
            FrameEnd::Failed(error) if error.kind == ErrorKind::Cancelled && cx.is_stopped() => {
                (RunState::Cancelled, Vec::new(), Some(error))
            }
            FrameEnd::Failed(error) => (RunState::Failed, Vec::new(), Some(error)),
        };
        if tells {
            let status = self.status(&cx, &frame, state, &interrupts, error.as_ref());
            cx.journal.append(vec![status]);
        }
        let plan = &self.plan.flow.graphs[graph];
        let pick = |wanted: fn(crate::ir::FieldMode) -> bool| {
            let fields = plan
                .fields
                .iter()
                .zip(&frame.fields)
                .filter(|(field, _)| wanted(field.mode));
            fields
                .filter_map(|(field, value)| Some((field.name.clone(), value.as_ref()?.to_json())))
                .collect()
        };
        let (mut output, mut values): (Entries, Entries) =
            (pick(crate::ir::FieldMode::is_out), pick(|_| true));
        let (thread_id, run_id, usage) =
            (cx.thread_id.to_string(), cx.run_id.to_string(), cx.usage());
        let mut checkpoint_id = cx.journal.keeps().then(|| cx.journal.last_seq());
        let kept = cx.journal.kept_seq();
        let mut permissions = frame.permissions.all_with(cx.permitting.uses());
        let fork = cx.forked_from.is_some().then_some(cx.life.as_deref());
        for permission in &mut permissions {
            permission.inherited = !permission.is_of(fork);
        }
        if let Err(failed) = cx.journal.close().await {
            // What the run came to is not kept, whatever it was: that counts first.
            state = RunState::Failed;
            interrupts.clear();
            half.clear();
            left.clear();
            checkpoint_id = Some(kept.load(Ordering::Acquire)).filter(|seq| *seq > 0);
            let fields = self.state_kept(&thread_id, checkpoint_id).await;
            let names = |name: &String| fields.contains_key(name);
            output.retain(|name, _| names(name));
            values.retain(|name, _| names(name));
            for (name, value) in &fields {
                for entries in [&mut output, &mut values] {
                    if let Some(entry) = entries.get_mut(name) {
                        *entry = value.to_json();
                    }
                }
            }
            error = Some(RunError {
                cause: error
                    .filter(|error| error.kind != ErrorKind::Store)
                    .map(Box::new),
                ..failed.into()
            });
        }
        let result = RunResult {
            state,
            thread_id,
            run_id,
            checkpoint_id,
            output,
            values,
            interrupts,
            permissions,
            error,
            usage,
            begun: true,
            left,
            half_joins: half,
            in_doubt: Vec::new(),
            warnings,
        };
        if let Some(under_way) = under_way {
            under_way.end(&result);
        }
        result
    }
}

/// Fields that a result shows.
type Entries = serde_json::Map<String, Json>;

/// Longest wait for a store that has failed to say what it has kept.
const READ_AGAIN: Duration = Duration::from_secs(2);
