//! One stretch of a run: its beginning or a resume, up to its end or the next interrupt, while its events are shown.

use std::sync::Arc;

use serde_json::Value as Json;
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

use crate::backend::scenario::in_turns;
use crate::ir::{Flow, GraphId};
use crate::run::engine::{self, Gone, RunResult, StartError};
use crate::run::interrupt::Answer;

use super::super::Failure;
use super::hint::Hint;
use super::session::Session;
use super::watch::Watch;

/// One stretch of a run, from where it begins to its end or the next interrupt.
#[derive(Debug)]
pub enum Leg {
    /// A new run.
    Start {
        /// Of this graph.
        graph: GraphId,
        /// Its input.
        input: Json,
        /// Its context.
        constants: Json,
    },
    /// On from where the thread stands.
    Resume(Vec<Answer>),
}

impl Session<'_> {
    /// Runs one leg while its events are shown. Where nobody reads them any more, it goes on all the same.
    pub(in crate::cli) async fn leg(&mut self, leg: Leg) -> Result<RunResult, Failure> {
        let watch = std::mem::replace(&mut self.watch, Watch::Nobody);
        let (sink, events) = watch.stream();
        let options = engine::RunOptions {
            events: Some(sink),
            ..self.options.clone()
        };
        // Writing may block, for as long as nobody reads: that must not keep the run from going on.
        let reading = Handle::current();
        let reader = spawn_blocking(move || reading.block_on(watch.follow(events)));
        let at_the_store = Arc::clone(&options.at_the_store);
        let run = async {
            match leg {
                Leg::Start {
                    graph,
                    input,
                    constants,
                } => {
                    let options = engine::RunOptions {
                        context: constants,
                        ..options
                    };
                    let start = self.engine.start(graph, &self.thread, &input, options);
                    start.await
                }
                Leg::Resume(answers) => self.engine.resume(&self.thread, &answers, options).await,
            }
        };
        let ended = match &self.script {
            Some(script) => in_turns(script, &at_the_store, || false, run).await,
            None => run.await,
        };
        self.watch = reader
            .await
            .map_err(|error| Failure::unusable(format!("could not show the run: {error}")))?;
        match ended {
            Ok(result) => Ok(result),
            Err(error) => {
                let migrates = self.options.migrate;
                let hint = self.hint_of_thread().await;
                Err(not_started(error, &self.engine.plan.flow, migrates, &hint))
            }
        }
    }

    /// The hint, with the thread's graph where a new run has to name it.
    async fn hint_of_thread(&self) -> Hint {
        let mut hint = self.hint.clone();
        let flow = &self.engine.plan.flow;
        let entry = self.engine.entry().and_then(|entry| flow.graphs.get(entry));
        if let Ok(Some(thread)) = self.store.thread(&self.thread).await
            && entry.is_none_or(|entry| entry.name != thread.status.graph)
        {
            hint.of_graph(&thread.status.graph);
        }
        hint
    }
}

/// Why a run did not start, with what can be done about a thread of another version.
fn not_started(error: StartError, flow: &Flow, migrates: bool, hint: &Hint) -> Failure {
    let failure = Failure::unusable(error.to_string());
    let StartError::Version { gone, .. } = error else {
        return failure;
    };
    let says = flow.graphs.iter().any(|graph| !graph.migrate.is_empty());
    match gone {
        Gone::Other => failure.help(format!(
            "start a new run on the thread: {}",
            hint.run_again()
        )),
        Gone::OneName => failure.help(
            "give each a name of its own in the flow and in `migrate`, or go on under the version that the thread is of",
        ),
        Gone::Graph => failure.help(format!(
            "name a file that has it, or start a run on a thread of its own: {}",
            hint.run_apart()
        )),
        Gone::Question => failure.help(format!(
            "go on without an answer, as the flow is now: {}",
            hint.resume()
        )),
        Gone::Stop(old) => failure.help(format!(
            "`--no-stops` lets go of it; if the node has another name now, say so with `migrate {{ rename node {old} -> new }}` and add `--migrate`"
        )),
        Gone::Calls(old) => failure.help(format!(
            "`--migrate` lets it go; if the node has another name now, say that first: `migrate {{ rename node {old} -> new }}`"
        )),
        _ if says && !migrates => failure.help("add `--migrate`: the flow says what became of it in `migrate`"),
        Gone::Node(old) => failure.help(format!(
            "say in the graph what became of it, as in `migrate {{ rename node {old} -> new }}`, and add `--migrate`"
        )),
        Gone::Value(of) => failure.help(format!(
            "say in the graph which value it has then, as in `migrate {{ default {of} = .. }}`, and add `--migrate`"
        )),
        Gone::Field(old) => failure.help(format!(
            "say in the graph what became of it, as in `migrate {{ rename field {old} -> new }}` or `migrate {{ drop field {old} }}`, and add `--migrate`"
        )),
    }
}
