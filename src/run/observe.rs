//! Who observes runs from outside, such as traces: each run, task and call is told as it begins and as it ends.
//!
//! Unlike a reader of the stream of events an observer is called in place, misses nothing and is never waited for. What it
//! gets is whole: requests and replies too. Tasks, attempts that are tried again and repairs are told as events of
//! [`Mode::Tasks`](super::event::Mode::Tasks).

use std::fmt;
use std::sync::Arc;

use serde_json::{Map as JsonMap, Value as Json};

use crate::base::secret::RunSecrets;
use crate::ir::GraphId;

use super::effect::cancelled;
use super::engine::RunResult;
use super::error::RunError;
use super::event::Event;
use super::model::{ChatRequest, Usage};
use super::plan::Plan;
use super::work::model_call::Reply;

/// Observes runs. Each method returns at once: the run does not go on before. May be called from several threads.
pub trait Observer: Send + Sync {
    /// A run begins, or goes on in this process.
    fn run_started(&self, run: &RunKey, start: &RunStart<'_>);
    /// It has come to rest: done, failed, cancelled or waiting for answers.
    fn run_finished(&self, run: &RunKey, result: &RunResult);
    /// Its future was dropped before that, as a timeout around a call does. Nothing more is told of it.
    fn run_dropped(&self, run: &RunKey);
    /// An event of [`Mode::Tasks`](super::event::Mode::Tasks). It has no number: those are of a stream.
    fn event(&self, run: &RunKey, event: &Event);
    /// A call of a model or tool begins that the journal does not answer.
    fn call_started(&self, call: &CallKey, asked: &Asked<'_>);
    /// It has ended, with all its attempts.
    fn call_finished(&self, call: &CallKey, end: &CallEnd<'_>);
}

/// Which run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunKey {
    /// The thread.
    pub thread_id: Arc<str>,
    /// The run: the same over its resumes.
    pub run_id: Arc<str>,
}

/// Which call.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CallKey {
    /// The run that makes it.
    pub run: RunKey,
    /// Key of the task, which is the `id` of its beginning.
    pub task: String,
    /// The effect, such as `model@0`; `model@0~1` where the first fallback of its model is asked.
    pub effect: String,
}

/// What a run begins with.
#[derive(Clone, Copy)]
pub struct RunStart<'r> {
    /// The flow.
    pub plan: &'r Arc<Plan>,
    /// The graph that is run.
    pub graph: GraphId,
    /// Whether an earlier stretch of the run has come to rest, or its process has died.
    pub resumed: bool,
    /// The call that it is made for, where a tool runs a graph.
    pub within: Option<&'r CallKey>,
    /// Secrets that the run was given: they must not be told.
    pub secrets: &'r Arc<RunSecrets>,
}

/// What a call asks for.
#[derive(Clone, Copy)]
pub enum Asked<'c> {
    /// A reply.
    Model {
        /// The provider and its model, as far as the backend knows better than the request.
        served_by: Option<(&'c str, &'c str)>,
        /// The provider, as the flow names it.
        provider: &'c str,
        /// The request.
        request: &'c ChatRequest,
    },
    /// A result.
    Tool {
        /// The tool.
        name: &'c str,
        /// The model's id of the call, where a model asked for it.
        id: Option<&'c str>,
        /// The arguments.
        args: &'c JsonMap<String, Json>,
    },
}

/// How a call has ended.
#[derive(Debug, Clone, Copy, Default)]
pub struct CallEnd<'c> {
    /// Why it failed.
    pub error: Option<&'c RunError>,
    /// What the model replied.
    pub reply: Option<&'c Reply>,
    /// What the tool gave.
    pub result: Option<&'c Json>,
    /// Tokens of all its attempts.
    pub usage: Usage,
}

/// Observers, and the call that what they observe is made for.
#[derive(Clone)]
pub struct Observed {
    by: Vec<Arc<dyn Observer>>,
    within: Option<CallKey>,
}

impl fmt::Debug for Observed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Observed");
        shown.field("within", &self.within).finish_non_exhaustive()
    }
}

impl Observed {
    /// Runs that nothing around them is observed of.
    pub fn new(by: Arc<dyn Observer>) -> Self {
        Self {
            by: vec![by],
            within: None,
        }
    }

    /// The same with those of another, which are told after these.
    pub fn and(mut self, other: Observed) -> Self {
        self.by.extend(other.by);
        self
    }

    /// The same for the runs that a call makes.
    pub(super) fn within(&self, call: CallKey) -> Self {
        Self {
            by: self.by.clone(),
            within: Some(call),
        }
    }

    /// The call that runs are made for.
    pub(super) fn call(&self) -> Option<&CallKey> {
        self.within.as_ref()
    }

    /// Each of the observers.
    pub(super) fn by(&self) -> impl Iterator<Item = &dyn Observer> {
        self.by.iter().map(|by| &**by)
    }
}

/// A run under way. One that is dropped before its end is told as dropped.
pub struct RunUnderWay {
    observed: Observed,
    key: RunKey,
    ended: bool,
}

impl RunUnderWay {
    /// Tells that it begins.
    pub(super) fn begin(observed: &Observed, key: RunKey, start: &RunStart<'_>) -> Self {
        observed.by().for_each(|by| by.run_started(&key, start));
        Self {
            observed: observed.clone(),
            key,
            ended: false,
        }
    }

    /// Tells what it came to.
    pub(super) fn end(mut self, result: &RunResult) {
        self.ended = true;
        let by = self.observed.by();
        by.for_each(|by| by.run_finished(&self.key, result));
    }
}

impl Drop for RunUnderWay {
    fn drop(&mut self) {
        if !self.ended {
            self.observed.by().for_each(|by| by.run_dropped(&self.key));
        }
    }
}

/// A call under way. One that is dropped before its end, as a timeout does, ends as one that was cancelled.
pub struct CallUnderWay {
    observed: Observed,
    key: CallKey,
    ended: bool,
}

impl CallUnderWay {
    /// Tells that it begins.
    pub(super) fn begin(observed: &Observed, key: CallKey, asked: &Asked<'_>) -> Self {
        observed.by().for_each(|by| by.call_started(&key, asked));
        Self {
            observed: observed.clone(),
            key,
            ended: false,
        }
    }

    /// Tells how it has ended.
    pub fn end(mut self, end: &CallEnd<'_>) {
        self.ended = true;
        self.tell(end);
    }

    fn tell(&self, end: &CallEnd<'_>) {
        let by = self.observed.by();
        by.for_each(|by| by.call_finished(&self.key, end));
    }
}

impl Drop for CallUnderWay {
    fn drop(&mut self) {
        if !self.ended {
            let error = Some(&cancelled());
            self.tell(&CallEnd {
                error,
                ..CallEnd::default()
            });
        }
    }
}
