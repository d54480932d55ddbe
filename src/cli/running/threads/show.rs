//! `graphc threads show`

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map as JsonMap, Value as Json, json};

use crate::diag::render::snippet::visible;
use crate::ir::Flow;
use crate::run::engine::{open_interrupts, under_way};
use crate::run::error::RunError;
use crate::run::frame::is_log;
use crate::run::interrupt::OpenInterrupt;
use crate::run::permission::{self, PERMISSIONS, Permission};
use crate::run::schedule::next_tasks;
use crate::run::store::{Effects, RunState, Store, ThreadInfo};
use crate::value::Value;

use super::super::run::ask;
use super::super::run::hint::Hint;
use super::super::run::remedy::remedy;
use super::super::{Context, Failure, output};
use super::{Format, RUNNING, Shelf, failed, flow, put_fork, put_status, seconds, word};

/// The state of a thread at a checkpoint.
struct Standing {
    checkpoint: u64,
    /// Key of the frame, empty for the run's own graph.
    frame: String,
    /// Graph of the frame, where that isn't the run's own.
    graph: Option<String>,
    next: Vec<String>,
    state: JsonMap<String, Json>,
    /// Calls that people have permitted.
    permissions: Vec<Permission>,
}

/// Prints where a thread stands, or stood at a checkpoint.
pub async fn run(
    shelf: &Shelf,
    thread: &str,
    checkpoint: Option<u64>,
    context: &Context,
) -> Result<(), Failure> {
    let (store, info) = shelf.thread(thread).await?;
    let mut standing = match checkpoint {
        None => newest(store, thread).await?,
        Some(seq) => at(shelf, store, thread, seq).await?,
    };
    let fork = info.status.forked_from.is_some();
    let fork = fork.then_some(info.status.life.as_deref());
    for permission in &mut standing.permissions {
        permission.inherited = !permission.is_of(fork);
    }
    let open = match checkpoint {
        None => open_interrupts(&info.status).map_err(failed)?,
        Some(_) => Vec::new(),
    };
    // Which file the flow is in is not kept with a thread.
    let flow = flow::of(&info.status, context);
    if let Some((_, plan)) = &flow {
        let graph = standing.graph.as_ref().unwrap_or(&info.status.graph);
        flow::fill(&mut standing.state, graph, plan);
    }
    let word = match checkpoint {
        None => word(store, &info).await?,
        Some(_) => "",
    };
    let text = match shelf.format {
        Format::Json => format!("{}\n", machine(&info, &standing, &open, word)),
        Format::Human => {
            let file = flow.as_ref().map_or("FILE", |(file, _)| file);
            let flow = flow.as_ref().map(|(_, plan)| &*plan.flow);
            let hint = shelf.hint(file, thread, &info.status, context);
            visible(&human(&info, &standing, &open, (&hint, flow), word))
        }
    };
    output::print(&text)
}

async fn newest(store: &Arc<dyn Store>, thread: &str) -> Result<Standing, Failure> {
    let image = store.load(thread).await.map_err(failed)?;
    // The newest may be one of a call under way; what is shown is where the run's own graph stands with it.
    let newest = image.as_ref().map_or(0, |image| image.last_seq);
    let permissions = image.as_ref().map(permission::of_thread).transpose();
    let permissions = permissions.map_err(failed)?;
    let root = image.and_then(|image| image.frames.into_iter().next());
    let permissions = permissions.unwrap_or_default();
    Ok(match root {
        Some(root) => Standing {
            checkpoint: newest,
            frame: String::new(),
            graph: None,
            next: next_tasks(&root.schedule),
            state: root
                .fields
                .into_iter()
                .filter(|(name, _)| !is_log(name))
                .map(|(name, field)| (name, field.value.to_json()))
                .collect(),
            permissions,
        },
        None => Standing {
            checkpoint: 0,
            frame: String::new(),
            graph: None,
            next: Vec::new(),
            state: JsonMap::new(),
            permissions,
        },
    })
}

async fn at(
    shelf: &Shelf,
    store: &Arc<dyn Store>,
    thread: &str,
    seq: u64,
) -> Result<Standing, Failure> {
    let before = seq.saturating_add(1);
    let found = store
        .history(thread, Some(before), 1)
        .await
        .map_err(failed)?;
    let Some(checkpoint) = found.into_iter().find(|checkpoint| checkpoint.seq == seq) else {
        let image = store.image_at(thread, seq, Effects::Before).await;
        let gone = image.err().map(|error| shelf.past(error, thread));
        return Err(gone.unwrap_or_else(|| Failure::unusable("the thread has changed meanwhile")));
    };
    let state = state(shelf, store, thread, (&checkpoint.frame, seq)).await?;
    let permissions = state.get(PERMISSIONS).map(permission::of_value);
    let permissions = permissions.transpose().map_err(failed)?;
    Ok(Standing {
        permissions: permissions.unwrap_or_default(),
        checkpoint: seq,
        graph: checkpoint
            .schedule
            .get("graph")
            .and_then(Json::as_str)
            .map(str::to_owned),
        next: next_tasks(&checkpoint.schedule),
        frame: checkpoint.frame,
        state: state
            .into_iter()
            // Logs that a called graph keeps for its caller are no part of its state.
            .filter(|(name, _)| !is_log(name))
            .map(|(name, value)| (name, value.to_json()))
            .collect(),
    })
}

/// The fields of a frame at a checkpoint of its own. A call with `persist thread` has on top of what frames around it have.
async fn state(
    shelf: &Shelf,
    store: &Arc<dyn Store>,
    thread: &str,
    (frame, seq): (&str, u64),
) -> Result<BTreeMap<String, Value>, Failure> {
    if !frame.is_empty() {
        let image = store.image_at(thread, seq, Effects::Before).await;
        let image = image.map_err(|error| shelf.past(error, thread))?;
        let frames = under_way(&image.frames).map_err(failed)?;
        if let Some(found) = frames.into_iter().find(|found| found.frame == frame) {
            let fields = found.fields.into_iter();
            return Ok(fields.map(|(name, field)| (name, field.value)).collect());
        }
    }
    store.state(thread, frame, seq).await.map_err(failed)
}

fn machine(info: &ThreadInfo, standing: &Standing, open: &[OpenInterrupt], word: &str) -> Json {
    let newest = !word.is_empty();
    let status = &info.status;
    let mut json = json!({
        "thread_id": info.thread_id,
        "graph": standing.graph.as_ref().unwrap_or(&status.graph),
        "checkpoint_id": standing.checkpoint.to_string(),
        "run_id": status.run_id,
        "created_at": info.created_at,
        "updated_at": status.at,
        "next": standing.next,
        "state": standing.state,
    });
    if newest {
        put_status(&mut json, info, word);
    }
    if let (false, Some(entries)) = (standing.frame.is_empty(), json.as_object_mut()) {
        entries.insert("frame".to_owned(), json!(standing.frame));
    }
    if let Some(entries) = json.as_object_mut() {
        put_fork(entries, info);
        if !open.is_empty() {
            let open = open.iter().map(OpenInterrupt::to_json).collect();
            entries.insert("interrupts".to_owned(), open);
        }
        if !standing.permissions.is_empty() {
            let permissions = standing.permissions.iter().map(Permission::to_json);
            entries.insert("permissions".to_owned(), permissions.collect());
        }
        if let (true, RunState::Failed, Some(error)) = (newest, status.state, &status.error) {
            entries.insert("error".to_owned(), error.clone());
        }
    }
    json
}

/// Which calls a person has permitted, who it was and where.
fn permitted(permission: &Permission) -> String {
    let args = match &permission.args {
        Some(args) => args.to_string(),
        None => "any arguments".to_owned(),
    };
    let once = match (permission.once, &permission.used) {
        (false, _) => "",
        (true, None) => ", once",
        (true, Some(_)) => ", once, used",
    };
    let Permission {
        tool, by, question, ..
    } = permission;
    let at = seconds(&permission.at);
    let here = match permission.inherited {
        true => " (before the fork: it permits no call here)",
        false => "",
    };
    format!("{tool} {args}{once}, by {by} at {question}, {at}{here}")
}

fn human(
    info: &ThreadInfo,
    standing: &Standing,
    open: &[OpenInterrupt],
    (hint, flow): (&Hint, Option<&Flow>),
    word: &str,
) -> String {
    let newest = !word.is_empty();
    let status = &info.status;
    let mut out = String::new();
    let mut line = |name: &str, value: &str| {
        if !value.is_empty() {
            out.push_str(&format!("{name:<11} {value}\n"));
        }
    };
    line("thread", &info.thread_id);
    line("graph", standing.graph.as_ref().unwrap_or(&status.graph));
    line("frame", &standing.frame);
    if let Some(from) = &status.forked_from {
        let at = from.checkpoint;
        line(
            "forked from",
            &format!("{} at checkpoint {at}", from.thread_id),
        );
    }
    line("status", word);
    line("checkpoint", &standing.checkpoint.to_string());
    line("created", &seconds(&info.created_at));
    line("updated", &seconds(&status.at));
    line("next", &standing.next.join(", "));
    for (index, permission) in standing.permissions.iter().enumerate() {
        let name = if index == 0 { "permitted" } else { "" };
        line(name, &permitted(permission));
    }
    let error = status.error.as_ref().filter(|_| newest);
    if let Some(error) = error.filter(|_| status.state == RunState::Failed) {
        let text = |key: &str| error.get(key).and_then(Json::as_str).unwrap_or_default();
        let place = match text("place") {
            "" => String::new(),
            place => format!(" ({place})"),
        };
        line(
            "error",
            &format!("{}{place}: {}", text("kind"), text("message")),
        );
    }
    let (stops, asked): (Vec<&OpenInterrupt>, Vec<&OpenInterrupt>) =
        open.iter().partition(|open| open.is_stop());
    let places: Vec<String> = stops.iter().map(|stop| stop.place()).collect();
    if !places.is_empty() {
        line("stopped", &format!("before {}", places.join(", ")));
    }
    // An answer passes stops too.
    let rests = newest && word != RUNNING;
    if rests && asked.is_empty() && !matches!(status.state, RunState::Done) {
        let error = status.error.as_ref().map(RunError::from_kept);
        let error = error.filter(|_| status.state == RunState::Failed);
        let help = error.as_ref().and_then(|error| remedy(error, hint));
        match help {
            // Its input was not taken.
            _ if standing.checkpoint == 0 => {
                let mut again = hint.clone();
                again.of_graph(&status.graph);
                line("begin with", &format!("{} --input ..", again.run_again()));
            }
            Some(help) => line("help", &help),
            None => line("go on with", &hint.resume()),
        }
    }
    for interrupt in asked {
        out.push_str(&ask::question(interrupt));
        if word != RUNNING {
            let command = hint.answer(interrupt, flow);
            out.push_str(&format!("  {command}\n"));
        }
    }
    let state = Json::Object(standing.state.clone());
    out.push_str(&format!("\n{state:#}\n"));
    out
}
