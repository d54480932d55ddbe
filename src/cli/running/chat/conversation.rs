//! A conversation: a line is a user message and a run on the thread, until the input ends.

use std::io::stdin;
use std::sync::Arc;

use serde_json::{Map as JsonMap, Value as Json};

use crate::ir::GraphId;
use crate::run::engine::RunResult;
use crate::run::store::{RunState, ThreadInfo};

use super::super::run::answers::Reply;
use super::super::run::leg::Leg;
use super::super::run::session::{Session, unusable};
use super::super::run::signals::Signals;
use super::super::run::telemetry;
use super::super::run::watch::Watch;
use super::super::{Exit, Failure, output};
use super::display::{ChatDisplay, Seen};
use super::field::{MessagesField, added};
use super::line::{self, Line};
use super::part::Parts;

/// A conversation under way.
pub struct Conversation<'a> {
    session: Session<'a>,
    graph: GraphId,
    field: MessagesField,
    /// What is sent with each line.
    beside: (JsonMap<String, Json>, Json),
    /// The messages of the thread as they are known.
    messages: Vec<Json>,
    seen: Seen,
}

/// Whether the conversation goes on behind a run.
enum Then {
    Listen,
    End(Exit),
}

impl<'a> Conversation<'a> {
    /// A conversation in which nothing was said yet. `beside` are the other `in` fields and the context of each run.
    pub fn new(
        mut session: Session<'a>,
        (graph, field): (GraphId, MessagesField),
        beside: (JsonMap<String, Json>, Json),
    ) -> Self {
        let seen = Seen::default();
        let parts = Parts::of(Arc::clone(&session.engine.plan.flow), graph);
        let display = ChatDisplay::new(parts, seen.clone(), session.context);
        session.watch = Watch::Person(Box::new(display));
        // Who writes lines answers too, also where no terminal is.
        session.answers.person = true;
        Self {
            session,
            graph,
            field,
            beside,
            messages: Vec::new(),
            seen,
        }
    }

    /// Leads it to its end.
    pub fn lead(mut self) -> Result<Exit, Failure> {
        let runtime = Arc::clone(&self.session.runtime);
        runtime.block_on(async {
            let backends = self.session.engine.backends.clone();
            let traced = self.session.telemetry.take();
            let exit = self.talk().await;
            backends.close().await;
            telemetry::flush(traced).await;
            exit
        })
    }

    async fn talk(mut self) -> Result<Exit, Failure> {
        let session = &self.session;
        let known = session.store.thread(&session.thread).await;
        let known = known.map_err(unusable)?;
        let signals = Signals::listen(self.way_on());
        self.greet(known.as_ref()).await?;
        if let Some(first) = self.left_open(known.as_ref(), &signals).await?
            && let Then::End(exit) = self.turn(first, &signals).await?
        {
            return Ok(exit);
        }
        loop {
            let said = match self.listen(&signals) {
                Line::Said(said) => said,
                Line::Refused(why) => {
                    Failure::unusable(why).say();
                    continue;
                }
                Line::End => {
                    self.session.context.say(&self.way_on());
                    return Ok(Exit::Done);
                }
            };
            let first = Leg::Start {
                graph: self.graph,
                input: self.field.input(&self.beside.0, &self.messages, &said),
                constants: self.beside.1.clone(),
            };
            if let Then::End(exit) = self.turn(first, &signals).await? {
                return Ok(exit);
            }
        }
    }

    /// How to go on later.
    fn way_on(&self) -> String {
        match self.session.keeps {
            true => format!("go on with: {}", self.session.hint.chat()),
            false => "the conversation was kept in memory only".to_owned(),
        }
    }

    /// Says which thread it is, and how much was said on it.
    async fn greet(&mut self, known: Option<&ThreadInfo>) -> Result<(), Failure> {
        let session = &self.session;
        let thread = &session.thread;
        let Some(known) = known.filter(|known| known.checkpoint > 0) else {
            session.remember().await?;
            session.context.say(&format!("thread `{thread}` is new"));
            return Ok(());
        };
        let graph = session.flow().graphs.get(self.graph);
        if graph.is_some_and(|graph| graph.name != known.status.graph) {
            let other = &known.status.graph;
            let failure = Failure::unusable(format!("thread `{thread}` is of graph `{other}`"));
            return Err(failure.help("name another thread, or that graph with `--graph`"));
        }
        let image = session.store.load(thread).await.map_err(unusable)?;
        let frame = image.and_then(|image| image.frames.into_iter().next());
        let fields = frame.into_iter().flat_map(|frame| frame.fields);
        let state = fields.map(|(name, field)| (name, field.value.to_json()));
        self.messages = self.field.in_state(&state.collect());
        let count = match self.messages.len() {
            0 => "nothing was said on it yet".to_owned(),
            1 => "1 message was said on it".to_owned(),
            count => format!("{count} messages were said on it"),
        };
        let note = format!("thread `{thread}` goes on: {count}");
        self.session.context.say(&note);
        Ok(())
    }

    /// What a known thread is in the middle of: a question, or a run whose process has died.
    async fn left_open(
        &mut self,
        known: Option<&ThreadInfo>,
        signals: &Signals,
    ) -> Result<Option<Leg>, Failure> {
        match known.map(|known| known.status.state) {
            Some(RunState::Interrupted) => self.session.asked_first(signals).await.map(Some),
            Some(RunState::Running) => {
                let note = "its last run was cut off, and goes on first";
                self.session.context.say(note);
                Ok(Some(Leg::Resume(Vec::new())))
            }
            _ => Ok(None),
        }
    }

    /// The next line.
    fn listen(&self, signals: &Signals) -> Line {
        let terminal = &self.session.context.terminal;
        if terminal.stdin && terminal.stderr {
            super::super::run::ask::stderr("> ");
        }
        signals.asking(Some(""));
        let line = line::next(&mut stdin().lock());
        signals.asking(None);
        if line == Line::End && terminal.stdin && terminal.stderr {
            super::super::run::ask::stderr("\n");
        }
        line
    }

    /// A run with its questions, to its end. What goes wrong is said, and the conversation goes on.
    async fn turn(&mut self, first: Leg, signals: &Signals) -> Result<Then, Failure> {
        let mut next = first;
        let mut before: Option<RunResult> = None;
        loop {
            signals.renew();
            self.session.stopped_by(signals);
            let result = match (self.session.leg(next).await, before) {
                (Ok(result), _) => {
                    self.show_calls_and_replies(&result)?;
                    result
                }
                // The question is as it was.
                (Err(refused), Some(result)) => {
                    refused.say();
                    result
                }
                (Err(refused), None) => {
                    refused.say();
                    return Ok(Then::Listen);
                }
            };
            if signals.ends_process() {
                self.session.context.say(&self.way_on());
                return Ok(Then::End(Exit::Cancelled));
            }
            if result.state != RunState::Interrupted || signals.is_heard() {
                self.ended(&result);
                return Ok(Then::Listen);
            }
            match self.session.asks(&result.interrupts, signals) {
                Reply::GoOn(answers) => next = Leg::Resume(answers),
                Reply::Leave => {
                    self.session.say(&result);
                    return Ok(Then::End(Exit::Interrupted));
                }
            }
            before = Some(result);
        }
    }

    /// Shows what a stretch has come to: replies, and calls that a scenario had nothing for.
    fn show_calls_and_replies(&mut self, result: &RunResult) -> Result<(), Failure> {
        self.replies(result)?;
        let script = self.session.script.iter();
        for call in script.flat_map(|script| script.unmatched()) {
            self.session.context.say(&format!("warning: {call}"));
        }
        Ok(())
    }

    /// Says why a run has ended early.
    fn ended(&self, result: &RunResult) {
        match result.state {
            RunState::Cancelled => self.session.context.say("cancelled; the thread is kept"),
            _ => self.session.say(result),
        }
    }

    /// Shows what the run has added to the messages, where it wasn't shown as it came.
    fn replies(&mut self, result: &RunResult) -> Result<(), Failure> {
        if !result.begun {
            return Ok(());
        }
        let after = self.field.in_state(&result.values);
        for text in self.seen.unseen(added(&self.messages, &after)) {
            output::print(&format!("{text}\n"))?;
        }
        self.messages = after;
        Ok(())
    }
}
