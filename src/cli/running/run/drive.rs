//! A run from its beginning to its end, or to an interrupt that nobody answers.

use std::sync::Arc;

use serde_json::Value as Json;

use crate::backend::scenario::seed;
use crate::ir::GraphId;
use crate::run::engine::{RunResult, open_interrupts};
use crate::run::interrupt::OpenInterrupt;
use crate::run::memory::Access;
use crate::run::store::RunState;

use super::super::{Exit, Failure, threads};
use super::answers::Reply;
use super::leg::Leg;
use super::outcome::IN_MEMORY;
use super::session::{Session, unusable};
use super::signals::Signals;
use super::telemetry;

impl Session<'_> {
    /// Runs to an end, or to an interrupt that nobody answers, and prints what it came to.
    pub fn run(self, first: Leg) -> Result<Exit, Failure> {
        let runtime = Arc::clone(&self.runtime);
        runtime.block_on(self.go(first))
    }

    /// Keeps what the scenario says that memory holds when it begins.
    pub(in crate::cli) async fn remember(&self) -> Result<(), Failure> {
        let Some(script) = &self.script else {
            return Ok(());
        };
        let now = self.engine.ambient.now().as_millisecond();
        let access = Access::new(
            Some(Arc::clone(&self.store)),
            Arc::default(),
            now,
            Json::Null,
        );
        let kept = seed(script, access, &self.thread).await;
        kept.map_err(Failure::unusable)
    }

    async fn go(mut self, first: Leg) -> Result<Exit, Failure> {
        if let Leg::Start { graph, .. } = &first {
            self.names_graph(*graph);
        }
        let signals = Signals::listen(match self.keeps {
            true => format!("go on with: {}", self.hint.resume()),
            false => IN_MEMORY.to_owned(),
        });
        self.stopped_by(&signals);
        if matches!(first, Leg::Start { .. }) {
            self.remember().await?;
        }
        let dropped = match first {
            Leg::Start { .. } => self.what_is_dropped().await?,
            Leg::Resume(_) => None,
        };
        let mut next = match first {
            Leg::Resume(answers) if answers.is_empty() => self.asked_first(&signals).await?,
            given => given,
        };
        let mut begun = true;
        let mut before: Option<RunResult> = None;
        let mut in_doubt = Vec::new();
        let mut result = loop {
            let result = match (self.leg(next).await, before) {
                (Ok(result), _) => result,
                // The thread stands where the leg before has left it.
                (Err(refused), Some(result)) => {
                    refused.say();
                    break result;
                }
                (Err(failure), None) => return Err(failure),
            };
            begun &= result.begun;
            in_doubt.extend(result.in_doubt.iter().cloned());
            if result.state != RunState::Interrupted || signals.is_heard() {
                break result;
            }
            match self.asks(&result.interrupts, &signals) {
                Reply::GoOn(answers) => next = Leg::Resume(answers),
                Reply::Leave => break result,
            }
            before = Some(result);
        };
        if let Some(note) = dropped.filter(|_| begun) {
            self.context.say(&note);
        }
        for tool in &in_doubt {
            self.context.say(&threads::edit::in_doubt(tool));
        }
        // Of whichever leg: the first is the one that takes the place of anything.
        result.in_doubt = in_doubt;
        if let Some(note) = self.answers.unused() {
            self.context.say(&note);
        }
        for call in self.script.iter().flat_map(|script| script.unmatched()) {
            self.context.say(&format!("warning: {call}"));
        }
        self.engine.backends.close().await;
        self.end_services().await;
        telemetry::flush(self.telemetry.take()).await;
        let printed = self.watch.result(&result, self.context);
        self.say(&result);
        if let Err(failure) = printed {
            if result.state == RunState::Done {
                return Err(failure);
            }
            failure.say();
        }
        Ok(match result.state {
            RunState::Done | RunState::Running | RunState::Ready => Exit::Done,
            RunState::Interrupted => Exit::Interrupted,
            RunState::Failed => Exit::Failed,
            RunState::Cancelled => Exit::Cancelled,
        })
    }

    /// Has later hints name the graph, where the flow alone doesn't say which it is.
    pub(in crate::cli) fn names_graph(&mut self, graph: GraphId) {
        if self.engine.entry() != Some(graph)
            && let Some(graph) = self.engine.plan.flow.graphs.get(graph)
        {
            self.hint.of_graph(&graph.name);
        }
    }

    /// Has signals stop what runs next.
    pub(in crate::cli) fn stopped_by(&mut self, signals: &Signals) {
        (self.options.cancel, self.options.drain) = signals.tokens();
    }

    /// The answers to open interrupts.
    pub(in crate::cli) fn asks(&mut self, open: &[OpenInterrupt], signals: &Signals) -> Reply {
        signals.asking(Some("the question is not answered; "));
        let reply = self.answers.to(open, &self.engine.plan.flow.types);
        signals.asking(None);
        reply
    }

    /// A thread that waits for answers is answered before it goes on, where a person is there.
    pub(in crate::cli) async fn asked_first(&mut self, signals: &Signals) -> Result<Leg, Failure> {
        let known = self.store.thread(&self.thread).await.map_err(unusable)?;
        let open = known.map(|thread| open_interrupts(&thread.status));
        let open = open.transpose().map_err(unusable)?.unwrap_or_default();
        if open.is_empty() || !self.answers.person {
            return Ok(Leg::Resume(Vec::new()));
        }
        Ok(match self.asks(&open, signals) {
            Reply::GoOn(answers) => Leg::Resume(answers),
            Reply::Leave => Leg::Resume(Vec::new()),
        })
    }

    /// A new input on a thread that has something left to do lets go of that.
    async fn what_is_dropped(&self) -> Result<Option<String>, Failure> {
        let known = self.store.thread(&self.thread).await.map_err(unusable)?;
        let known = known.filter(|thread| thread.checkpoint > 0);
        let state = match known.map(|thread| thread.status.state) {
            None | Some(RunState::Done) => return Ok(None),
            Some(RunState::Interrupted) => "was interrupted",
            Some(RunState::Failed) => "had failed",
            Some(RunState::Cancelled) => "was cancelled",
            Some(RunState::Running) => "was cut off",
            Some(RunState::Ready) => "was forked or edited",
        };
        Ok(Some(format!(
            "note: thread `{}` {state}; what it left undone is dropped (`{}` would have gone on with it)",
            self.thread,
            self.hint.resume(),
        )))
    }
}
