//! Effects of one task: numbered in the order they are asked for, answered from the journal where
//! they have finished before.

use std::future::Future;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use crate::expr::eval::Effect;
use crate::ir::ErrorKind;
use crate::value::Value;

use super::context::RunContext;
use super::error::RunError;
use super::work::retry::Failure;

/// Names a task: unique on its thread, the same whenever the task runs again.
#[derive(Debug, Clone)]
pub struct TaskKey {
    /// Key of the frame, empty for the root, else the key of the task that made the call and `/`.
    pub frame: Arc<str>,
    /// Step of the frame.
    pub step: u64,
    /// Name of the node.
    pub node: Arc<str>,
    /// Index of the send.
    pub send: Option<u32>,
}

impl std::fmt::Display for TaskKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}:{}", self.frame, self.step, self.node)?;
        self.send.map_or(Ok(()), |send| write!(f, "[{send}]"))
    }
}

/// Id and kind of the record of an error that was handled.
const HANDLED: &str = "handled";

/// Numbers the effects of a task, or of a part of it that runs beside others.
///
/// Invariant: the numbers depend only on what the task does, not on timing; parts that run at the
/// same time get a [`EffectScope::child`] each, made before they start.
pub struct EffectScope {
    key: TaskKey,
    task: OnceLock<String>,
    prefix: String,
    next: AtomicU32,
    /// Cancelled when the run is, or when another task of the step has failed.
    pub stop: CancellationToken,
}

impl EffectScope {
    /// The scope of a whole task.
    pub fn new(key: TaskKey, stop: CancellationToken) -> Self {
        Self {
            key,
            task: OnceLock::new(),
            prefix: String::new(),
            next: AtomicU32::new(0),
            stop,
        }
    }

    /// The task's key.
    pub fn key(&self) -> &TaskKey {
        &self.key
    }

    /// The task's key as text. Made when first asked for: most tasks have no effects.
    pub fn task(&self) -> &str {
        self.task.get_or_init(|| self.key.to_string())
    }

    /// Index of the send that made the task.
    pub fn send(&self) -> Option<u32> {
        self.key.send
    }

    /// The next effect's id.
    pub fn next(&self) -> String {
        format!(
            "{}{}",
            self.prefix,
            self.next.fetch_add(1, Ordering::Relaxed)
        )
    }

    /// A scope under the next effect's id.
    pub fn child(&self) -> EffectScope {
        EffectScope {
            key: self.key.clone(),
            task: self.task.clone(),
            prefix: format!("{}.", self.next()),
            next: AtomicU32::new(0),
            stop: self.stop.clone(),
        }
    }

    /// The scope of the node's `on_error`, apart from the work's: how far that got before it failed may
    /// differ when the task runs again.
    pub fn of_handler(&self) -> EffectScope {
        EffectScope {
            key: self.key.clone(),
            task: self.task.clone(),
            prefix: format!("{HANDLED}."),
            next: AtomicU32::new(0),
            stop: self.stop.clone(),
        }
    }

    /// The error that the node's `on_error` has handled before. The work is not done again then, for it
    /// might end another way than what has been made of its error.
    pub fn handled(&self, cx: &RunContext) -> Option<RunError> {
        let error = cx.journal.finished(self.task(), HANDLED)?;
        Some(RunError::from_kept(error))
    }

    /// Keeps an error that the node's `on_error` has handled.
    pub fn keep_handled(&self, cx: &RunContext, path: &str, error: &RunError) {
        cx.journal.effect(
            self.task(),
            HANDLED.to_owned(),
            HANDLED,
            path,
            error.to_kept(),
        );
    }

    /// The id that the next effect would get.
    pub fn here(&self) -> String {
        let next = self.next.load(Ordering::Relaxed);
        format!("{}{next}", self.prefix)
    }

    /// Where the task stands: the same whenever it comes here again.
    pub fn mark(&self) -> String {
        let next = self.next.load(Ordering::Relaxed);
        format!("{}#{}{next}", self.task(), self.prefix)
    }

    /// The id of an effect whose kept result can still be used, or that has none: `id` itself, unless the flow has
    /// changed since, and what was kept under it is of something else than `subject`, or `fits` refuses it.
    pub fn usable(
        &self,
        cx: &RunContext,
        id: &str,
        subject: &str,
        fits: impl Fn(&Json) -> bool,
    ) -> String {
        let mut usable = id.to_owned();
        let mut made = 0;
        while let Some((of, kept)) = cx.journal.finished_of(self.task(), &usable)
            && (of != subject || !fits(kept))
        {
            made += 1;
            usable = format!("{id}={made}");
        }
        usable
    }

    /// A key that is the same whenever this effect is asked for, and no other effect has.
    pub fn idempotency_key(&self, cx: &RunContext, id: &str) -> String {
        format!("{}/{}#{id}", cx.thread_id, self.task())
    }

    /// `now()`, `uuid()` or `random()`.
    pub fn ambient(&self, cx: &RunContext, effect: Effect) -> Value {
        let id = self.next();
        let kind = match effect {
            Effect::Now => "now",
            Effect::Uuid => "uuid",
            Effect::Random => "random",
        };
        if let Some(value) = cx
            .journal
            .finished(self.task(), &id)
            .and_then(Value::from_stored)
        {
            return value;
        }
        let ordinal = cx.journal.count(kind, "");
        let value = match effect {
            Effect::Now => Value::Timestamp(cx.ambient.now()),
            Effect::Uuid => Value::text(cx.ambient.uuid(ordinal)),
            Effect::Random => Value::Float(cx.ambient.random(ordinal)),
        };
        cx.journal
            .effect(self.task(), id, kind, "", value.to_stored());
        value
    }

    /// An effect on the outside: answered from the journal, or made once all before it is kept.
    ///
    /// `Ok` is recorded, also where it stands for a failure that the task takes as a result (a tool's
    /// refusal, which goes back to the model). `Err` is not: a resume makes the effect again.
    pub async fn outside<F>(
        &self,
        cx: &RunContext,
        id: &str,
        kind: &str,
        subject: &str,
        make: F,
    ) -> Result<Json, RunError>
    where
        F: Future<Output = Result<Json, RunError>>,
    {
        if let Some(outcome) = cx.journal.finished(self.task(), id) {
            return Ok(outcome.clone());
        }
        if self.stop.is_cancelled() {
            return Err(cancelled());
        }
        cx.journal.barrier().await?;
        let outcome = make.await?;
        cx.journal
            .effect(self.task(), id.to_owned(), kind, subject, outcome.clone());
        // What was under way is finished and kept; nothing is made of it before a resume.
        if self.stop.is_cancelled() {
            return Err(cancelled());
        }
        Ok(outcome)
    }

    /// Keeps a failed attempt, numbered over all processes, for people who look and for scripts that count.
    pub fn failed_attempt(
        &self,
        cx: &RunContext,
        id: &str,
        attempt: u32,
        kind: &str,
        subject: &str,
        failure: &Failure,
    ) {
        let outcome = json!({ "failed": failure.to_kept() });
        cx.journal.effect(
            self.task(),
            format!("{id}!{attempt}"),
            kind,
            subject,
            outcome,
        );
    }
}

/// What a task ends with that was asked to stop.
pub fn cancelled() -> RunError {
    RunError::new(ErrorKind::Cancelled, "the run was cancelled")
}
