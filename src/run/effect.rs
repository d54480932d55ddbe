//! Effects of one task: named after what they are of, answered from the journal where they have finished before.

use std::future::Future;
use std::sync::{Arc, OnceLock};

use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use crate::expr::eval::Effect;
use crate::ir::{ErrorKind, NodeId};
use crate::value::Value;

use super::context::RunContext;
use super::error::RunError;
use super::key::TaskKey;
use super::ordinal::{Of, Ordinals};
use super::request::Request;
use super::task::{Surroundings, Task};
use super::view::short_hash;
use super::waits::Waits;
use super::work::retry::{Attempted, Failure};

/// Id and kind of the record of an error that was handled.
const HANDLED: &str = "handled";

/// Names the effects of a task, or of a part of it that runs beside others.
///
/// Invariant: the ids depend only on what the task does, not on timing; parts that run at the
/// same time get a [`EffectScope::child`] each, made before they start. An effect's id says what it is of and is
/// counted among its like alone ([`Of`]), so that what a later version of the flow does ahead of it leaves it as it is.
pub struct EffectScope {
    key: TaskKey,
    task: OnceLock<String>,
    prefix: String,
    ordinals: Ordinals,
    /// Ranks of the tasks that it is called by, from the outermost in, and its own node.
    rank: Option<(Arc<[u64]>, NodeId)>,
    /// Positions of the parts that it is in.
    part: Vec<u64>,
    /// Cancelled when the run is, or when another task of the step has failed.
    pub stop: CancellationToken,
    /// The task's waiting for its turn.
    pub waits: Waits,
}

impl EffectScope {
    /// The scope of a whole task.
    pub fn new(key: TaskKey, stop: CancellationToken) -> Self {
        Self {
            key,
            task: OnceLock::new(),
            prefix: String::new(),
            ordinals: Ordinals::default(),
            rank: None,
            part: Vec::new(),
            stop,
            waits: Waits::default(),
        }
    }

    /// The same of a node's task in a frame of that rank.
    pub fn ranked(mut self, frame: &Arc<[u64]>, node: NodeId) -> Self {
        self.rank = Some((Arc::clone(frame), node));
        self
    }

    /// Where the task, or the part of it, stands among all that run at the same time: super-step, node in the order
    /// declared and send, of each graph from the outermost in, then the positions of the part in the task. Compared
    /// entry by entry.
    pub fn rank(&self) -> Vec<u64> {
        let mut rank = Vec::new();
        if let Some((above, node)) = &self.rank {
            let send = self.key.send.map_or(0, |send| u64::from(send) + 1);
            rank.extend(above.iter());
            rank.extend([self.key.step, u64::from(node.0), send]);
        }
        rank.extend(&self.part);
        rank
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

    /// The id of the next effect of that.
    pub fn next(&self, cx: &RunContext, of: Of<'_>) -> String {
        let position = self.ordinals.pass();
        match cx.journal.numbers_effects() {
            true => self.numbered(cx, position, of),
            false => self.named(of),
        }
    }

    /// The id that the first effect of that has, whether or not it is there.
    pub fn first(&self, of: Of<'_>) -> String {
        format!("{}{}", self.prefix, Ordinals::default().id(of))
    }

    /// The id of a record of the task that is no effect of its own, and never counted as one by earlier versions
    /// of the program.
    pub fn beside(&self, cx: &RunContext, of: Of<'_>) -> String {
        match cx.journal.numbers_effects() {
            true => format!("{}{}", self.prefix, self.ordinals.passed()),
            false => self.named(of),
        }
    }

    fn named(&self, of: Of<'_>) -> String {
        format!("{}{}", self.prefix, self.ordinals.id(of))
    }

    /// As earlier versions of the program named effects: by their position in the task. One whose record there is of
    /// something else has another beside it.
    fn numbered(&self, cx: &RunContext, position: u32, of: Of<'_>) -> String {
        let first = format!("{}{position}", self.prefix);
        let mut id = first.clone();
        let mut made = 0;
        while let Some(kept) = cx.journal.entry(self.task(), &id)
            && (kept.kind != of.kind || kept.subject != of.subject)
        {
            made += 1;
            id = format!("{first}={made}");
        }
        id
    }

    /// A scope under the id of the next part of that.
    pub fn child(&self, cx: &RunContext, of: Of<'_>) -> EffectScope {
        let mut part = self.part.clone();
        part.push(u64::from(self.ordinals.passed()));
        let prefix = self.next(cx, of);
        EffectScope {
            prefix: format!("{prefix}."),
            part,
            ..self.again()
        }
    }

    /// The same task without anything counted.
    fn again(&self) -> EffectScope {
        EffectScope {
            key: self.key.clone(),
            task: self.task.clone(),
            prefix: String::new(),
            ordinals: Ordinals::default(),
            rank: self.rank.clone(),
            part: Vec::new(),
            stop: self.stop.clone(),
            waits: self.waits.clone(),
        }
    }

    /// The scope of the node's `on_error`, apart from the work's: how far that got before it failed may
    /// differ when the task runs again.
    pub fn of_handler(&self) -> EffectScope {
        EffectScope {
            prefix: format!("{HANDLED}."),
            ..self.again()
        }
    }

    /// The error that the node's `on_error` has handled before. The work is not done again then, for it
    /// might end another way than what has been made of its error.
    pub fn handled(&self, around: &Surroundings<'_>, task: &Task) -> Option<RunError> {
        let id = self.handled_id(around, task)?;
        let error = around.cx.journal.finished(self.task(), &id)?;
        Some(RunError::from_kept(error))
    }

    /// Keeps an error that the node's `on_error` has handled.
    pub fn keep_handled(
        &self,
        (around, task): (&Surroundings<'_>, &Task),
        path: &str,
        error: &RunError,
    ) {
        let id = self.handled_id(around, task);
        let error = seen(around, task).noted(error.to_kept());
        around.cx.journal.effect(
            self.task(),
            id.unwrap_or_else(|| HANDLED.to_owned()),
            HANDLED,
            path,
            error,
        );
    }

    /// The id of the record, where an earlier process may have kept it.
    fn handled_id(&self, around: &Surroundings<'_>, task: &Task) -> Option<String> {
        around.cx.journal.finished(self.task(), HANDLED)?;
        Some(match around.cx.forked_from {
            None => HANDLED.to_owned(),
            Some(_) => self.of_request(around.cx, HANDLED, &seen(around, task)),
        })
    }

    /// Where the task stands: the same whenever it comes here again.
    pub fn mark(&self) -> String {
        let passed = self.ordinals.passed();
        format!("{}#{}{passed}", self.task(), self.prefix)
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
        while let Some(kept) = cx.journal.entry(self.task(), &usable)
            && (kept.subject != subject || !fits(&kept.outcome))
        {
            made += 1;
            usable = format!("{id}={made}");
        }
        usable
    }

    /// A key that is the same whenever this effect is asked for, also where its node has another name by then, and no
    /// other effect has. It names the thread: backends that send it to others send a hash of it.
    pub fn idempotency_key(&self, cx: &RunContext, id: &str) -> String {
        let task = cx.former_name(self.task());
        match &cx.life {
            Some(life) => format!("{}~{life}/{task}#{id}", cx.thread_id),
            None => format!("{}/{task}#{id}", cx.thread_id),
        }
    }

    /// The id of the question whose answer is that effect: the same whenever it is asked, also in forks of the thread.
    pub fn question_id(&self, cx: &RunContext, id: &str) -> String {
        let thread = cx.asking_thread();
        short_hash(
            "i",
            &format!("{thread}/{}#{id}", cx.former_name(self.task())),
        )
    }

    /// `now()`, `uuid()` or `random()`.
    pub fn ambient(&self, cx: &RunContext, effect: Effect) -> Value {
        let kind = match effect {
            Effect::Now => "now",
            Effect::Uuid => "uuid",
            Effect::Random => "random",
        };
        let id = self.next(cx, Of::kind(kind));
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
        {
            // How slow a reader and the store are counts in no timeout of the node.
            let waits = self.waits.clone();
            let _waits = waits.begin();
            cx.room().await;
            cx.journal.barrier().await?;
        }
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
        effect: &Attempted<'_>,
        attempt: u32,
        failure: &Failure,
    ) {
        let outcome = json!({ "failed": failure.to_kept() });
        cx.journal.effect(
            self.task(),
            format!("{}!{attempt}", effect.id),
            effect.kind,
            effect.subject,
            effect.request.noted(outcome),
        );
    }
}

fn seen(around: &Surroundings<'_>, task: &Task) -> Request {
    Request::of_seen(around, task.send.as_ref().map(|(_, input)| input))
}

/// What a run ends with that was drained, and where it did.
pub fn drained(place: &str) -> RunError {
    let message = format!("the run was asked to stop, and did so {place}");
    RunError::new(ErrorKind::Cancelled, message)
}

/// What a task ends with that was asked to stop.
pub fn cancelled() -> RunError {
    RunError::new(ErrorKind::Cancelled, "the run was cancelled")
}
