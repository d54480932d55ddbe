//! What a run told, in a form that is the same in whatever way it was played.
//!
//! docs/runtime/streams.md says which order is promised: of a task, of a super-step, of a graph and its calls. That is
//! held against the events of each process as they were read ([`promises`]). Tasks side by side come as they come: here
//! they are put in the order in which the flow declares them. Over a stop and a resume a super-step is told again from its
//! beginning: what comes again with the same `type` and `id` is dropped, after a look whether it says the same.
//!
//! Left out are `seq` and the numbers of checkpoints, which count over tasks side by side; that a task was stopped on the
//! way; what tasks told beside one that has failed, which stops them at some point ([`Failures`]); and what a process knows that has not stopped: `untracked` fields, and the cycle that an error names.

use std::collections::{BTreeMap, BTreeSet};

use graphc::ir::{Flow, GraphId};
use graphc::run::event::{Event, EventKind};
use graphc::scenario::order::{self, Place};
use serde_json::{Value as Json, json};

pub mod promises;

/// What the processes of a run told.
#[derive(Debug, Default)]
pub struct EventLog {
    /// Each event once, in an order that follows from the flow.
    pub lines: Vec<String>,
    /// Promises that were not kept.
    pub faults: Vec<String>,
}

/// A flow and the graph of it that ran.
#[derive(Clone, Copy)]
pub struct Ran<'f> {
    pub flow: &'f Flow,
    pub graph: GraphId,
}

impl EventLog {
    /// Of a run over its processes.
    pub fn of(ran: Ran<'_>, processes: &[Vec<Event>]) -> EventLog {
        let mut told = EventLog::default();
        let mut known: BTreeMap<(String, String), Json> = BTreeMap::new();
        let mut items = Vec::new();
        for (number, events) in processes.iter().enumerate() {
            let faults = promises::broken(events);
            let faults = faults.into_iter();
            told.faults
                .extend(faults.map(|fault| format!("process {}: {fault}", number + 1)));
            let mut met = BTreeSet::new();
            for event in joined(events) {
                let line = line(ran, &event);
                let key = name(&event);
                if !met.insert(key.clone()) {
                    told.faults.push(format!(
                        "process {}: {key:?} came twice: {line}",
                        number + 1
                    ));
                }
                match known.get(&key) {
                    Some(before) if *before == line => {}
                    Some(before) => told
                        .faults
                        .push(format!("{key:?} said another thing: {before}, then {line}")),
                    None => {
                        if !is_stop(&event) {
                            items.push((event, line.to_string()));
                        }
                        known.insert(key, line);
                    }
                }
            }
        }
        let failures = Failures::of(items.iter().map(|(event, _)| event));
        items.retain(|(event, _)| !failures.cut_off(event));
        let items = items.into_iter();
        let items = items.map(|(event, line)| (place(ran, &event), line));
        told.lines = order::sort(items.collect());
        told
    }
}

/// The tokens of an attempt at a reply as one, where the first of them came.
fn joined(events: &[Event]) -> Vec<Event> {
    let mut places: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut all: Vec<Event> = Vec::new();
    for event in events {
        if let Some((_, text)) = event.kind.token() {
            let known = places.get(&name(event)).copied();
            if let Some((_, whole)) = known.and_then(|at| all[at].kind.token_mut()) {
                whole.push_str(text);
                continue;
            }
            places.insert(name(event), all.len());
        }
        all.push(event.clone());
    }
    all
}

/// What names an event: its type and id; of tokens and of what is sent during a call, whose they are.
fn name(event: &Event) -> (String, String) {
    let kind = event.kind.mode().map_or("dropped", |mode| mode.word());
    let id = match (event.kind.token(), &event.kind) {
        (Some(((by, call, attempt, _), _)), _) => format!("{}#{call}~{attempt}", by.task),
        (
            None,
            EventKind::Custom {
                during: Some(of), ..
            },
        ) => of.key(),
        (None, _) => event.id.clone(),
    };
    (kind.to_owned(), id)
}

/// What it says.
fn line(ran: Ran<'_>, event: &Event) -> Json {
    let mut line = event.to_json();
    let entries = line.as_object_mut().unwrap();
    entries.remove("seq");
    let Some(data) = entries["data"].as_object_mut() else {
        return line;
    };
    match &event.kind {
        EventKind::Checkpoint { .. } => {
            data.remove("checkpoint_id");
        }
        EventKind::Values(_) => {
            // Any task of the frame says which graph it is of.
            let graph = order::read(ran.flow, ran.graph, &format!("{}:", event.task())).graph;
            let fields = &ran.flow.graphs[graph.unwrap()].fields;
            data.retain(|name, _| !fields.iter().any(|f| f.name == *name && f.untracked));
        }
        _ => {}
    }
    line
}

/// Where it stands: of a frame's step the entry, the checkpoint and the state that it begins with, its tasks, the jumps of
/// joins.
fn place(ran: Ran<'_>, event: &Event) -> Place {
    let task = event.task();
    let (frame, last) = task.rsplit_once('/').map_or(("", task), |(f, l)| (f, l));
    if last.contains(':') {
        return order::read(ran.flow, ran.graph, task).place;
    }
    let mut place = match frame {
        "" => Place::new(),
        frame => order::read(ran.flow, ran.graph, frame).place,
    };
    let rank = match event.kind {
        EventKind::Checkpoint { .. } => 1,
        _ => 2,
    };
    place.push((last.parse().unwrap(), 0, rank));
    place
}

/// Super-steps that were not committed, since a task of theirs has failed.
#[derive(Default)]
struct Failures {
    /// Keys of the tasks.
    tasks: BTreeSet<String>,
    /// The last step of each frame that was begun.
    reached: BTreeMap<String, u64>,
}

/// The tasks that an event is in, outermost first: the frame, the step, and the key of each.
fn within(event: &Event) -> impl Iterator<Item = (&str, u64, &str)> {
    let task = event.task();
    let ends = task.match_indices('/').map(|(end, _)| end);
    ends.chain([task.len()]).filter_map(move |end| {
        let key = &task[..end];
        let (frame, part) = key.rsplit_once('/').unwrap_or(("", key));
        let (step, _) = part.split_once(':')?;
        Some((frame, step.parse().unwrap(), key))
    })
}

impl Failures {
    fn of<'e>(events: impl Iterator<Item = &'e Event>) -> Failures {
        let mut failures = Failures::default();
        for event in events {
            match &event.kind {
                EventKind::TaskFinished { error: Some(_), .. } => {
                    failures.tasks.insert(event.task().to_owned());
                }
                EventKind::Values(_) => {
                    let (frame, step) = event.task().rsplit_once('/').unwrap_or(("", event.task()));
                    let reached = failures.reached.entry(frame.to_owned()).or_default();
                    *reached = step.parse::<u64>().unwrap().max(*reached);
                }
                _ => {}
            }
        }
        failures
    }

    /// Whether an event is of a task beside one that has failed, in a step that was not committed.
    fn cut_off(&self, event: &Event) -> bool {
        within(event).any(|(frame, step, key)| {
            let last = self.reached.get(frame) == Some(&step);
            let mut beside = self.tasks.iter().filter(|task| {
                let (of, part) = task.rsplit_once('/').unwrap_or(("", task));
                of == frame
                    && part
                        .split_once(':')
                        .is_some_and(|(s, _)| s == step.to_string())
            });
            last && !key.ends_with('!') && !self.tasks.contains(key) && beside.next().is_some()
        })
    }
}

/// Whether a task says that it was stopped.
fn is_stop(event: &Event) -> bool {
    match &event.kind {
        EventKind::TaskFinished {
            error: Some(error), ..
        } => error["kind"] == json!("cancelled"),
        _ => false,
    }
}
