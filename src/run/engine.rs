//! Runs of a flow on threads: starting, resuming, and what they come to.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Map as JsonMap, Value as Json, json};
use tokio_util::sync::CancellationToken;

use crate::expr::Type;
use crate::expr::accept::accept;
use crate::ir::{Channel, ErrorKind, FieldId, Graph, GraphId};
use crate::value::Value;

use super::ambient::Ambient;
use super::backends::Backends;
use super::context::RunContext;
use super::error::RunError;
use super::frame::Frame;
use super::interrupt::{Answer, OpenInterrupt};
use super::journal::{Durability, Journal};
use super::model::Usage;
use super::plan::{Plan, WorkPlan};
use super::step::{BEFORE, FrameEnd, keep, run_frame};
use super::store::{
    EffectRecord, Lease, Record, RunState, Source, Store, StoreError, ThreadImage, ThreadStatus,
};
use super::stream::EventSink;
use super::task::show;
use super::work::doubt;
use super::work::subgraph::restore;

/// Super-steps of a run where neither it nor its graph sets a limit.
pub const RECURSION_LIMIT: u64 = 1000;

/// A flow with all it needs to run.
#[derive(Clone)]
pub struct Engine {
    /// The flow.
    pub plan: Arc<Plan>,
    /// Models and tools.
    pub backends: Backends,
    /// Where threads are kept; `None` keeps nothing, and an interrupt can't be answered then.
    pub store: Option<Arc<dyn Store>>,
    /// Clock and chance.
    pub ambient: Arc<dyn Ambient>,
}

/// Choices for one run.
#[derive(Clone, Default)]
pub struct RunOptions {
    /// When records are kept.
    pub durability: Durability,
    /// Most super-steps, those of subgraphs included; the graph's own limit or [`RECURSION_LIMIT`] where left out.
    pub recursion_limit: Option<u64>,
    /// Tasks of one super-step that may run at the same time; all where left out.
    pub max_concurrency: Option<usize>,
    /// Super-steps to commit, those of subgraphs included, before the run stops as if it had been
    /// cancelled: a clean stop that a resume goes on from.
    pub stop_after_steps: Option<u64>,
    /// Longest time of the run.
    pub timeout: Option<Duration>,
    /// Nodes to stop before, by name or path.
    pub interrupt_before: Vec<String>,
    /// Who watches.
    pub events: Option<EventSink>,
    /// Cancels the run.
    pub cancel: CancellationToken,
}

/// What a run came to.
#[derive(Debug, Clone)]
pub struct RunResult {
    /// How it ended.
    pub state: RunState,
    /// The thread.
    pub thread_id: String,
    /// The run.
    pub run_id: String,
    /// The latest checkpoint of the thread, where it is kept.
    pub checkpoint_id: Option<u64>,
    /// `out` fields that have a value.
    pub output: JsonMap<String, Json>,
    /// The whole state of the graph.
    pub values: JsonMap<String, Json>,
    /// Open interrupts.
    pub interrupts: Vec<OpenInterrupt>,
    /// Why it failed.
    pub error: Option<RunError>,
    /// Tokens.
    pub usage: Usage,
}

impl RunResult {
    /// The result object of `graphc run` (docs/cli.md).
    pub fn to_json(&self) -> Json {
        let mut json = JsonMap::new();
        json.insert("status".into(), json!(self.state));
        json.insert("thread_id".into(), json!(self.thread_id));
        json.insert("run_id".into(), json!(self.run_id));
        if let Some(id) = self.checkpoint_id {
            json.insert("checkpoint_id".into(), json!(id.to_string()));
        }
        json.insert("output".into(), Json::Object(self.output.clone()));
        if !self.interrupts.is_empty() {
            json.insert(
                "interrupts".into(),
                self.interrupts.iter().map(OpenInterrupt::to_json).collect(),
            );
        }
        if let Some(error) = &self.error {
            json.insert("error".into(), error.to_json());
        }
        json.insert("usage".into(), json!(self.usage));
        Json::Object(json)
    }
}

/// Why a run did not start. The thread is as it was.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StartError {
    /// The input, the thread or an answer does not fit.
    #[error("{message}")]
    Refused {
        /// What does not fit, and what would.
        message: String,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The thread belongs to a version of the flow that this one can't go on with.
    #[error("{message}")]
    Version {
        /// What has changed.
        message: String,
    },
}

impl StartError {
    fn refused(message: impl Into<String>) -> Self {
        StartError::Refused {
            message: message.into(),
        }
    }

    fn from_run(error: RunError) -> Self {
        match error.kind {
            ErrorKind::Version => StartError::Version {
                message: error.message,
            },
            _ => StartError::Refused {
                message: error.message,
            },
        }
    }
}

/// A thread that is held, and what is known of it.
struct Held {
    lease: Option<HeldLease>,
    image: Option<ThreadImage>,
}

/// A lease that is given back when it is dropped: a caller may stop waiting at any point.
struct HeldLease {
    store: Arc<dyn Store>,
    lease: Option<Lease>,
}

impl HeldLease {
    fn new(store: &Arc<dyn Store>, lease: Lease) -> Self {
        Self {
            store: store.clone(),
            lease: Some(lease),
        }
    }

    /// The lease, for whoever gives it back from now on.
    fn take(mut self) -> Option<Lease> {
        self.lease.take()
    }

    async fn give_back(self) {
        let store = self.store.clone();
        if let Some(lease) = self.take() {
            // A lease that can't be given back ends with this process.
            let _ = store.release(lease).await;
        }
    }
}

impl Drop for HeldLease {
    fn drop(&mut self) {
        let (Some(lease), Ok(runtime)) = (self.lease.take(), tokio::runtime::Handle::try_current())
        else {
            return;
        };
        let store = self.store.clone();
        runtime.spawn(async move { store.release(lease).await });
    }
}

impl Engine {
    /// Runs a graph with an input, on a new thread or after what a known one has.
    ///
    /// # Errors
    /// [`StartError`]; then nothing has run and the thread is as it was.
    pub async fn start(
        &self,
        graph: GraphId,
        thread_id: &str,
        input: &Json,
        options: RunOptions,
    ) -> Result<RunResult, StartError> {
        let held = self.hold(thread_id).await?;
        let prepared = self.prepare(graph, held.image.as_ref(), input);
        let (mut frame, input) = match prepared {
            Ok(prepared) => prepared,
            Err(error) => return Err(self.give_up(held, error).await),
        };
        let image = held.image.as_ref().map(|image| ThreadImage {
            effects: Vec::new(),
            ..image.clone()
        });
        let journal = self.journal(held.lease, options.durability, image.as_ref());
        let run_id = self.ambient.uuid(u64::MAX);
        let cx = self.context(graph, thread_id, run_id, journal, &options);
        cx.journal.enter_root_step(frame.step);
        // The status goes with the input: a run whose input is not kept has never begun.
        cx.journal.hold_until_checkpoint();
        let status = self.status(&cx, graph, RunState::Running, &[], None);
        cx.journal.append(vec![status]);
        let mut tells = true;
        let entered = match frame.enter(&cx, input) {
            Ok(changes) => keep(&cx, &self.plan, &frame, changes, Source::Input).await,
            Err(error) => {
                // What the thread waits for, it still does; only a new thread tells of the failure.
                cx.journal.drop_held();
                tells = held.image.is_none();
                Err(error)
            }
        };
        let end = match entered {
            Ok(()) => self.begin(&cx, &mut frame, &options).await,
            Err(error) => FrameEnd::Failed(error),
        };
        Ok(self.finish(cx, graph, frame, end, tells).await)
    }

    /// Goes on with a thread: after an interrupt with answers, after a crash, a failure or a
    /// cancellation without.
    ///
    /// # Errors
    /// [`StartError`]; then nothing has run and the thread is as it was.
    pub async fn resume(
        &self,
        thread_id: &str,
        answers: &[Answer],
        options: RunOptions,
    ) -> Result<RunResult, StartError> {
        let held = self.hold(thread_id).await?;
        let prepared = self.prepare_resume(thread_id, held.image.as_ref(), answers);
        let (graph, mut frame, mut image, answered) = match prepared {
            Ok(prepared) => prepared,
            Err(error) => return Err(self.give_up(held, error).await),
        };
        image.effects.extend(answered.iter().cloned());
        let journal = self.journal(held.lease, options.durability, Some(&image));
        let mut cx = self.context(
            graph,
            thread_id,
            image.status.run_id.clone(),
            journal,
            &options,
        );
        cx.usage = Mutex::new(used_before(&image));
        cx.count_known = image.status.state == RunState::Running;
        let nested = image
            .frames
            .into_iter()
            .filter(|frame| !frame.frame.is_empty());
        cx.images = Mutex::new(nested.map(|frame| (frame.frame.clone(), frame)).collect());
        cx.journal.enter_root_step(frame.step);
        // Together, so that no answer is there while its interrupt still counts as open.
        let mut records: Vec<Record> = answered.into_iter().map(Record::Effect).collect();
        records.push(self.status(&cx, graph, RunState::Running, &[], None));
        cx.journal.append(records);
        let end = self.begin(&cx, &mut frame, &options).await;
        Ok(self.finish(cx, graph, frame, end, true).await)
    }

    async fn hold(&self, thread_id: &str) -> Result<Held, StartError> {
        let Some(store) = &self.store else {
            return Ok(Held {
                lease: None,
                image: None,
            });
        };
        let lease = HeldLease::new(store, store.acquire(thread_id).await?);
        match store.load(thread_id).await {
            Ok(image) => Ok(Held {
                lease: Some(lease),
                image,
            }),
            Err(error) => {
                lease.give_back().await;
                Err(error.into())
            }
        }
    }

    async fn give_up(&self, held: Held, error: StartError) -> StartError {
        if let Some(lease) = held.lease {
            lease.give_back().await;
        }
        error
    }

    fn journal(
        &self,
        lease: Option<HeldLease>,
        durability: Durability,
        image: Option<&ThreadImage>,
    ) -> Journal {
        match (&self.store, lease.and_then(HeldLease::take)) {
            (Some(store), Some(lease)) => Journal::open(store.clone(), lease, durability, image),
            _ => Journal::none(),
        }
    }

    fn context(
        &self,
        graph: GraphId,
        thread_id: &str,
        run_id: String,
        journal: Journal,
        options: &RunOptions,
    ) -> RunContext {
        let own_limit = self.plan.flow.graphs[graph].recursion_limit.map(u64::from);
        RunContext {
            plan: self.plan.clone(),
            backends: self.backends.clone(),
            journal,
            ambient: self.ambient.clone(),
            events: options.events.clone(),
            thread_id: thread_id.to_owned(),
            run_id,
            cancel: options.cancel.clone(),
            max_concurrency: options.max_concurrency.unwrap_or(usize::MAX),
            interrupt_before: options.interrupt_before.clone(),
            step_limit: options
                .recursion_limit
                .or(own_limit)
                .unwrap_or(RECURSION_LIMIT),
            steps: AtomicU64::new(0),
            stop_after_steps: options.stop_after_steps,
            committed: AtomicU64::new(0),
            usage: Mutex::default(),
            count_known: false,
            images: Mutex::default(),
        }
    }

    /// The frame of a new run and its input, checked.
    fn prepare(
        &self,
        graph: GraphId,
        image: Option<&ThreadImage>,
        input: &Json,
    ) -> Result<(Frame, Vec<(FieldId, Value)>), StartError> {
        let plan = &self.plan.graphs[graph];
        let flow_graph = &self.plan.flow.graphs[graph];
        if !flow_graph.leaves.is_empty() {
            let names = crate::base::name::list(flow_graph.leaves.iter().map(String::as_str));
            let message = format!(
                "graph `{}` leaves for {names} of its caller, so that it can only be called",
                plan.name
            );
            return Err(StartError::refused(message));
        }
        let mut frame = Frame::new(graph, plan, "".into(), String::new());
        if let Some(image) = image {
            self.check_graph(&plan.name, image)?;
            if let Some(root) = image.frames.first() {
                restore(&mut frame, plan, root).map_err(StartError::from_run)?;
                self.check_types(flow_graph, &frame, image)?;
                // What the last run left undone is dropped; its effects must not answer this run's.
                frame.step = root.step + 1;
                frame.agenda = super::frame::Agenda::default();
            }
        }
        let input = self.input(flow_graph, &frame, input)?;
        Ok((frame, input))
    }

    fn check_graph(&self, graph: &str, image: &ThreadImage) -> Result<(), StartError> {
        if image.status.graph == graph {
            return Ok(());
        }
        let message = format!(
            "the thread belongs to graph `{}`, not `{graph}`",
            image.status.graph
        );
        Err(StartError::refused(message))
    }

    /// Under another version of the flow, the values of a thread must still be of their types.
    fn check_types(
        &self,
        graph: &Graph,
        frame: &Frame,
        image: &ThreadImage,
    ) -> Result<(), StartError> {
        if image.status.version == self.plan.version {
            return Ok(());
        }
        for (field, value) in graph.fields.iter().zip(&frame.fields) {
            let Some(value) = value else { continue };
            if let Err(wrong) = accept(&value.to_json(), &field.ty, &self.plan.flow.types) {
                let first = wrong
                    .first()
                    .map(|mismatch| mismatch.to_string())
                    .unwrap_or_default();
                let message = format!(
                    "the flow has changed since the thread's last step, and its field `{}` is not of its type any more: {first}",
                    field.name
                );
                return Err(StartError::Version { message });
            }
        }
        Ok(())
    }

    fn input(
        &self,
        graph: &Graph,
        frame: &Frame,
        input: &Json,
    ) -> Result<Vec<(FieldId, Value)>, StartError> {
        let Json::Object(entries) = input else {
            return Err(StartError::refused(
                "the input must be a JSON object of the graph's `in` fields",
            ));
        };
        let names = || {
            graph
                .fields
                .iter()
                .filter(|field| field.mode.is_in())
                .map(|field| field.name.as_str())
        };
        let mut problems = Vec::new();
        for name in entries
            .keys()
            .filter(|name| !names().any(|known| known == name.as_str()))
        {
            let hint = match crate::base::name::closest(name, names()) {
                Some(close) => format!("; did you mean `{close}`?"),
                None => format!("; it takes {}", crate::base::name::list(names())),
            };
            problems.push(format!(
                "graph `{}` takes no input `{name}`{hint}",
                graph.name
            ));
        }
        let mut values = Vec::new();
        for (id, field) in graph
            .fields
            .entries()
            .filter(|(_, field)| field.mode.is_in())
        {
            match entries.get(&field.name) {
                Some(json) => match accept(json, self.write_type(field), &self.plan.flow.types) {
                    Ok(value) => values.push((id, value)),
                    Err(wrong) => problems
                        .extend(wrong.iter().map(|m| format!("input `{}`: {m}", field.name))),
                },
                None if frame.fields.get(id.0 as usize).is_none_or(Option::is_none) => {
                    problems.push(format!("input `{}` is missing", field.name));
                }
                None => {}
            }
        }
        if problems.is_empty() {
            Ok(values)
        } else {
            Err(StartError::refused(problems.join("\n")))
        }
    }

    /// The type of what is written to a field: an own reducer's second parameter, else the field's.
    fn write_type<'f>(&'f self, field: &'f crate::ir::Field) -> &'f Type {
        match &field.channel {
            Channel::Own { reducer } => &self.plan.flow.reducers[*reducer].new.1,
            _ => &field.ty,
        }
    }

    /// The frame of a run that goes on, with the answers as effects.
    fn prepare_resume(
        &self,
        thread_id: &str,
        image: Option<&ThreadImage>,
        answers: &[Answer],
    ) -> Result<(GraphId, Frame, ThreadImage, Vec<EffectRecord>), StartError> {
        let Some(image) = image else {
            return Err(StartError::refused(format!(
                "there is no thread `{thread_id}`"
            )));
        };
        if image.status.state == RunState::Done {
            return Err(StartError::refused(format!(
                "thread `{thread_id}` is done: there is nothing to resume"
            )));
        }
        let name = &image.status.graph;
        let Some(graph) = self.plan.flow.graph(name) else {
            let message = format!(
                "the thread belongs to graph `{name}`, which the flow does not have any more"
            );
            return Err(StartError::Version { message });
        };
        let Some(root) = image.frames.first() else {
            let message = format!(
                "thread `{thread_id}` has no checkpoint to go on from; run it again with its input"
            );
            return Err(StartError::refused(message));
        };
        let plan = &self.plan.graphs[graph];
        let mut frame = Frame::new(graph, plan, "".into(), String::new());
        restore(&mut frame, plan, root).map_err(StartError::from_run)?;
        self.check_types(&self.plan.flow.graphs[graph], &frame, image)?;
        let answered = self.answers(graph, image, answers)?;
        Ok((graph, frame, image.clone(), answered))
    }

    /// Answers as effects; a stop before a node is passed by any resume.
    fn answers(
        &self,
        graph: GraphId,
        image: &ThreadImage,
        answers: &[Answer],
    ) -> Result<Vec<EffectRecord>, StartError> {
        let open = open_interrupts(&image.status);
        let root_step = image.frames.first().map_or(0, |frame| frame.step);
        let effect = |interrupt: &OpenInterrupt, outcome: Json| EffectRecord {
            task: interrupt.task.clone(),
            id: interrupt.effect.clone(),
            root_step,
            kind: "answer".to_owned(),
            subject: interrupt.path.clone(),
            outcome,
        };
        let stops = open.iter().filter(|interrupt| interrupt.effect == BEFORE);
        let mut effects: Vec<EffectRecord> = stops.map(|stop| effect(stop, json!(true))).collect();
        let questions: Vec<&OpenInterrupt> = open
            .iter()
            .filter(|interrupt| interrupt.effect != BEFORE)
            .collect();
        for answer in answers {
            let interrupt = find(&questions, answer.interrupt.as_deref())?;
            let ty = self.expected(graph, interrupt)?;
            if let Err(wrong) = accept(&answer.value, ty, &self.plan.flow.types) {
                let problems: Vec<String> = wrong.iter().map(|m| m.to_string()).collect();
                let message = format!(
                    "the answer to `{}` ({}) is refused, the thread is as it was: {}\nexpected: {}",
                    interrupt.id,
                    interrupt.path,
                    problems.join("; "),
                    self.plan.flow.types.describe(ty),
                );
                return Err(StartError::refused(message));
            }
            doubt::check(&self.plan.flow, interrupt, &answer.value).map_err(StartError::refused)?;
            if effects
                .iter()
                .any(|known| known.task == interrupt.task && known.id == interrupt.effect)
            {
                return Err(StartError::refused(format!(
                    "interrupt `{}` is answered twice",
                    interrupt.id
                )));
            }
            effects.push(effect(interrupt, answer.value.clone()));
        }
        Ok(effects)
    }

    /// Runs once the beginning is kept, where the durability asks for that.
    async fn begin(&self, cx: &RunContext, frame: &mut Frame, options: &RunOptions) -> FrameEnd {
        match cx.journal.committed().await {
            Ok(()) => self.drive(cx, frame, options).await,
            Err(error) => FrameEnd::Failed(error.into()),
        }
    }

    /// The type of an interrupt's answer in this version of the flow.
    fn expected(&self, graph: GraphId, open: &OpenInterrupt) -> Result<&Type, StartError> {
        if doubt::is_doubt(open) {
            return Ok(self.plan.happened.as_ref().unwrap_or(&Type::Json));
        }
        let mut graph = &self.plan.graphs[graph];
        for name in open.path.split('/') {
            let node = graph.nodes.iter().find(|node| *node.name == *name);
            match node.map(|node| &node.work) {
                Some(WorkPlan::Subgraph { graph: called, .. }) => {
                    graph = &self.plan.graphs[*called]
                }
                Some(WorkPlan::Interrupt { expect, .. }) => return Ok(expect),
                _ => break,
            }
        }
        let message = format!(
            "the thread waits at `{}`, which is no interrupt of the flow any more",
            open.path
        );
        Err(StartError::Version { message })
    }

    async fn drive(&self, cx: &RunContext, frame: &mut Frame, options: &RunOptions) -> FrameEnd {
        let run = run_frame(cx, frame, &cx.cancel);
        let Some(limit) = options.timeout else {
            return run.await;
        };
        tokio::time::timeout(limit, run).await.unwrap_or_else(|_| {
            let message = format!(
                "the run took longer than {}",
                crate::base::duration::show(limit)
            );
            FrameEnd::Failed(RunError::new(ErrorKind::Timeout, message))
        })
    }

    fn status(
        &self,
        cx: &RunContext,
        graph: GraphId,
        state: RunState,
        interrupts: &[OpenInterrupt],
        error: Option<&RunError>,
    ) -> Record {
        Record::Status(ThreadStatus {
            state,
            graph: self.plan.flow.graphs[graph].name.clone(),
            version: self.plan.version.clone(),
            run_id: cx.run_id.clone(),
            interrupts: interrupts
                .iter()
                .filter_map(|open| serde_json::to_value(open).ok())
                .collect(),
            error: error.map(RunError::to_json),
            usage: json!(cx.usage()),
            at: self.ambient.now().to_string(),
        })
    }

    /// Keeps what the run came to, unless the thread is to stay as it was, gives it back and says it.
    async fn finish(
        &self,
        cx: RunContext,
        graph: GraphId,
        frame: Frame,
        end: FrameEnd,
        tells: bool,
    ) -> RunResult {
        let (mut state, mut interrupts, mut error) = match end {
            FrameEnd::Done | FrameEnd::Left(_) => (RunState::Done, Vec::new(), None),
            FrameEnd::Interrupted(open) => (RunState::Interrupted, open, None),
            FrameEnd::Failed(error) if error.kind == ErrorKind::Cancelled => {
                (RunState::Cancelled, Vec::new(), Some(error))
            }
            FrameEnd::Failed(error) => (RunState::Failed, Vec::new(), Some(error)),
        };
        if tells {
            let status = self.status(&cx, graph, state, &interrupts, error.as_ref());
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
        let (output, values) = (pick(crate::ir::FieldMode::is_out), pick(|_| true));
        let (thread_id, run_id, usage) = (cx.thread_id.clone(), cx.run_id.clone(), cx.usage());
        let checkpoint_id = cx.journal.keeps().then(|| cx.journal.last_seq());
        if let Err(failed) = cx.journal.close().await {
            // What the run came to is not kept, whatever it was: that counts first.
            state = RunState::Failed;
            interrupts.clear();
            error = Some(RunError {
                cause: error
                    .filter(|error| error.kind != ErrorKind::Store)
                    .map(Box::new),
                ..failed.into()
            });
        }
        RunResult {
            state,
            thread_id,
            run_id,
            checkpoint_id,
            output,
            values,
            interrupts,
            error,
            usage,
        }
    }
}

/// Tokens that earlier processes of the run have used, as far as they had noted it: the count only grows.
fn used_before(image: &ThreadImage) -> Usage {
    let noted = serde_json::from_value(image.status.usage.clone()).unwrap_or_default();
    let frames = image
        .frames
        .iter()
        .map(|frame| super::schedule::usage(&frame.schedule));
    let most = frames
        .chain([noted])
        .max_by_key(|usage| usage.input_tokens + usage.output_tokens);
    most.unwrap_or_default()
}

/// The interrupts that a thread waits at.
pub fn open_interrupts(status: &ThreadStatus) -> Vec<OpenInterrupt> {
    if status.state != RunState::Interrupted {
        return Vec::new();
    }
    status
        .interrupts
        .iter()
        .filter_map(|open| serde_json::from_value(open.clone()).ok())
        .collect()
}

fn find<'o>(open: &[&'o OpenInterrupt], id: Option<&str>) -> Result<&'o OpenInterrupt, StartError> {
    let list = || {
        let lines = open.iter().map(|open| {
            format!(
                "\n  {}  {}  {}",
                open.id,
                open.path,
                show(&Value::from_json(&open.ask))
            )
        });
        lines.collect::<String>()
    };
    match (id, open) {
        (_, []) => Err(StartError::refused(
            "no interrupt is open on this thread: resume it without an answer",
        )),
        (None, [only]) => Ok(only),
        (None, _) => Err(StartError::refused(format!(
            "several interrupts are open; name one of:{}",
            list()
        ))),
        (Some(id), open) => {
            let named: Vec<&OpenInterrupt> = open
                .iter()
                .filter(|known| known.id == id || known.path == id)
                .copied()
                .collect();
            match named.as_slice() {
                [only] => Ok(only),
                [] => Err(StartError::refused(format!(
                    "no open interrupt has the id or path `{id}`; open is:{}",
                    list()
                ))),
                _ => Err(StartError::refused(format!(
                    "several interrupts are open at `{id}`; name one by its id:{}",
                    list()
                ))),
            }
        }
    }
}
