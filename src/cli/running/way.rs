//! Where a thread went, read from its checkpoints.
//!
//! A checkpoint names the tasks of the step that comes next. All but the newest of a frame have been
//! run; those of the newest are under way where the frame is, which hangs on the task of its caller.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use crate::base::SourceMap;
use crate::ir::Flow;
use crate::run::engine::open_interrupts;
use crate::run::interrupt::OpenInterrupt;
use crate::run::schedule;
use crate::run::store::{CheckpointInfo, RunState, Source, ThreadStatus};
use crate::viz::trace::{Step, Trace};

use super::run::process::runtime;
use super::storage::Place;
use super::threads::{Format, Shelf, failed};
use super::{Context, Exit, Failure, settings};
use crate::project::Project;

/// Checkpoints read at once.
const PAGE: usize = 1_000;

/// Reads the way of a thread of this flow.
pub fn read(
    thread: &str,
    store: Option<String>,
    flow: &Flow,
    project: &Project,
    context: &Context,
) -> Result<Trace, Failure> {
    let mut sources = SourceMap::new();
    let config = settings::load(project, context, &mut sources)?;
    let place = Place::find(store.as_deref(), &config, project)
        .map_err(|found| settings::say(&found, &sources, context, Exit::Unusable))?;
    let shelf = Shelf::open(&place, store, Format::Human, context)?;
    let work = async {
        let (store, info) = shelf.thread(thread).await?;
        let mut all = Vec::new();
        let mut before = None;
        loop {
            let page = store.history(thread, before, PAGE).await.map_err(failed)?;
            let full = page.len() == PAGE;
            before = page.last().map(|checkpoint| checkpoint.seq);
            all.extend(page);
            if !full {
                return Ok::<_, Failure>((info.status, all));
            }
        }
    };
    let (status, checkpoints) = runtime()?.block_on(work)?;
    if flow.graph(&status.graph).is_none() {
        let message = format!(
            "thread `{thread}` runs graph `{}`, which this flow does not have",
            status.graph
        );
        return Err(
            Failure::unusable(message).help("name the flow that the thread was started with")
        );
    }
    let open = open_interrupts(&status).map_err(failed)?;
    Ok(trace(thread, &status, &checkpoints, &open))
}

/// The trace of checkpoints, newest first.
fn trace(
    thread: &str,
    status: &ThreadStatus,
    checkpoints: &[CheckpointInfo],
    open: &[OpenInterrupt],
) -> Trace {
    let mut trace = Trace::new(thread, &status.graph);
    let mut newest: BTreeMap<&str, &CheckpointInfo> = BTreeMap::new();
    let mut graphs: BTreeMap<String, String> = BTreeMap::new();
    for checkpoint in checkpoints {
        newest.entry(&checkpoint.frame).or_insert(checkpoint);
        let graph = text(&checkpoint.schedule, "graph");
        graphs.entry(path(&checkpoint.frame)).or_insert(graph);
    }
    let standing = matches!(
        status.state,
        RunState::Running
            | RunState::Interrupted
            | RunState::Failed
            | RunState::Cancelled
            | RunState::Ready
    );
    let live = if standing {
        live(&newest)
    } else {
        BTreeSet::new()
    };
    let mut newer: BTreeMap<&str, &CheckpointInfo> = BTreeMap::new();
    for checkpoint in checkpoints {
        let frame = &*checkpoint.frame;
        let next = newer.insert(frame, checkpoint);
        let last = next.is_none();
        // What was to run has given way to an edit or a new input; or the step was only put in other words.
        if next.is_some_and(|next| next.source != Source::Step || next.step <= checkpoint.step) {
            continue;
        }
        let graph = text(&checkpoint.schedule, "graph");
        for (node, _) in tasks(&checkpoint.schedule) {
            let at = format!("{}{node}", path(frame));
            trace.note(&at, &graph, |standing| match last && live.contains(frame) {
                true => standing.now = true,
                false => standing.visits += 1,
            });
        }
    }
    for step in steps(checkpoints) {
        trace.step(step);
    }
    let graph_of = |at: &str| {
        let caller = at
            .rfind('/')
            .map_or("", |end| at.get(..=end).unwrap_or_default());
        graphs.get(caller).cloned().unwrap_or_default()
    };
    for open in open {
        let ask = match &open.ask {
            Json::Null => String::new(),
            Json::String(text) => text.clone(),
            ask => format!("{ask:#}"),
        };
        trace.note(&open.path, &graph_of(&open.path), |standing| {
            standing.waits = Some(ask.clone());
        });
    }
    if status.state == RunState::Failed {
        let at = status.error.as_ref().map(|error| text(error, "path"));
        if let Some(at) = at.filter(|at| !at.is_empty()) {
            trace.note(&at, &graph_of(&at), |standing| standing.failed = true);
        }
    }
    trace
}

/// What followed on what, read from checkpoints that lie one behind the other in a frame.
fn steps(checkpoints: &[CheckpointInfo]) -> Vec<Step> {
    let names = |checkpoint: &CheckpointInfo| -> Vec<String> {
        let tasks = tasks(&checkpoint.schedule).into_iter();
        let names: BTreeSet<String> = tasks.map(|(node, _)| node).collect();
        names.into_iter().collect()
    };
    let mut before: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut steps = Vec::new();
    // They come newest first.
    for checkpoint in checkpoints.iter().rev() {
        let to = names(checkpoint);
        let last = before.insert(&checkpoint.frame, to.clone());
        let from = match checkpoint.source {
            Source::Input => Vec::new(),
            Source::Step => last.unwrap_or_default(),
            Source::Update => match schedule::edited_as(&checkpoint.schedule) {
                Some(node) if node != "start" => vec![node.to_owned()],
                _ => Vec::new(),
            },
        };
        if checkpoint.source == Source::Step && from.is_empty() {
            continue;
        }
        steps.push(Step {
            path: path(&checkpoint.frame),
            graph: text(&checkpoint.schedule, "graph"),
            from,
            to,
        });
    }
    steps
}

/// Frames that are under way: the run's own, and those whose call is a task of a frame that is.
fn live<'a>(newest: &BTreeMap<&'a str, &CheckpointInfo>) -> BTreeSet<&'a str> {
    let mut live = BTreeSet::new();
    // A caller's key is the beginning of what it calls, so that it comes before it.
    for (frame, checkpoint) in newest {
        let called = frame.strip_suffix('/').map(|task| match task.rfind('/') {
            Some(end) => task.split_at(end + 1),
            None => ("", task),
        });
        let Some((caller, task)) = called else {
            live.insert(*frame);
            continue;
        };
        let Some(above) = newest.get(caller).filter(|_| live.contains(caller)) else {
            continue;
        };
        let standing = tasks(&above.schedule).iter().any(|(node, send)| {
            let send = send.map(|send| format!("[{send}]")).unwrap_or_default();
            format!("{}:{node}{send}", above.step) == task
        });
        if standing && checkpoint.frame == **frame {
            live.insert(*frame);
        }
    }
    live
}

/// Path of the nodes of a frame: `cake_man/` for the key `3:cake_man/`, empty for the run's own graph.
fn path(frame: &str) -> String {
    let parts = frame.split_terminator('/');
    let names = parts.map(|part| {
        let name = part.split_once(':').map_or(part, |(_, name)| name);
        name.split_once('[').map_or(name, |(name, _)| name)
    });
    names.map(|name| format!("{name}/")).collect()
}

/// Tasks of the step that comes next: the node, and the number of the send.
fn tasks(schedule: &Json) -> Vec<(String, Option<u64>)> {
    let tasks = schedule.get("tasks").and_then(Json::as_array);
    let tasks = tasks.into_iter().flatten();
    tasks
        .map(|task| (text(task, "node"), task.get("send").and_then(Json::as_u64)))
        .collect()
}

fn text(json: &Json, key: &str) -> String {
    let text = json.get(key).and_then(Json::as_str);
    text.unwrap_or_default().to_owned()
}
