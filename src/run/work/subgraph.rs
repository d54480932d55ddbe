//! `subgraph`: runs a graph as a node. Gives `result`, a record of its `out` fields.
//!
//! The called graph has a state of its own, seeded by its `in` fields. What it wrote to its `out`
//! fields goes through the caller's reducers: a gathering field gets what was added, not the whole.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::ir::node::Persist;
use crate::ir::{FieldId, GraphId};
use crate::run::channel::Incoming;
use crate::run::depth::{self, WithStack};
use crate::run::engine::Gone;
use crate::run::error::RunError;
use crate::run::frame::{Frame, OutLog, is_log, log_name};
use crate::run::half_join::half_joins;
use crate::run::limit::StepLimit;
use crate::run::permission::FramePermissions;
use crate::run::persisted::Base;
use crate::run::plan::GraphPlan;
use crate::run::plan::node::{PassPlan, slots};
use crate::run::schedule;
use crate::run::step::{FrameEnd, keep, run_frame, tell_again};
use crate::run::store::{FrameImage, Source};
use crate::run::task::{Called, TaskRun, join_path};
use crate::value::{Map, Value};

use super::Stop;

/// The work. `false` where the called graph was left for a node of the caller's: the node's own `set`
/// and `emit`, which would see a `result`, are left out then.
///
/// # Errors
/// The called graph's error, with its path, or its open interrupts.
pub async fn work(
    run: &mut TaskRun<'_>,
    frame: &Frame,
    (graph, persist): (GraphId, Persist),
    with: &[PassPlan],
    into: &[(FieldId, FieldId)],
) -> Result<bool, Stop> {
    let cx = run.around.cx;
    let plan = cx.plan.clone();
    let called = &plan.graphs[graph];
    let key = format!("{}/", run.effects.task());
    depth::hold(&key)?;
    let mut child = Frame::new(
        graph,
        called,
        key.as_str().into(),
        join_path(&frame.path, run.name),
        &frame.context,
    );
    child.rank = run.effects.rank().into();
    child.limits.clone_from(&frame.limits);
    child.before = run.around.made;
    let limit = plan.flow.graphs[graph].recursion_limit;
    let kept = cx.steps_within(&key);
    child
        .limits
        .extend(limit.map(|most| StepLimit::new(&called.name, most, child.before, kept)));
    child.tracked = frame.tracked && persist != Persist::None;
    let lasts = plan.flow.graphs[graph].outlives_call(persist);
    let lasting = lasts.then(|| lasting_path(run.effects.task()));
    child.callers.clone_from(&frame.callers);
    if !run.around.graph.narrowed.is_empty() {
        child.callers.push(frame.graph);
    }
    child.permissions = FramePermissions::of_call(Arc::clone(&run.permissions));
    match cx.take_image(&key) {
        Some(image) => {
            restore(&mut child, called, &image)?;
            tell_again(cx, called, &child, image.seq);
        }
        None => {
            let mut changes = match &lasting {
                Some(path) => (cx.persisted).seed((path, persist), &plan, frame, &mut child)?,
                None => Vec::new(),
            };
            let input = input(run, called, with)?;
            changes.extend(child.enter(cx, input)?);
            keep(cx, &plan, &child, changes, Source::Input).await?;
        }
    }
    let called_frame = WithStack(run_frame(cx, &mut child, &run.effects.stop));
    let left = match called_frame.await {
        FrameEnd::Done => Vec::new(),
        FrameEnd::Left(names) => names,
        FrameEnd::Interrupted(open) => return Err(Stop::Interrupted(open)),
        FrameEnd::Failed(error) => return Err(Stop::Failed(error)),
    };
    let mut half = std::mem::take(&mut child.half);
    if left.is_empty() {
        half.extend(half_joins(called, &child.path, &child.agenda));
    }
    run.called = Some(Box::new(Called {
        steps: child.made,
        left: (cx.persisted).left(lasting, persist, &plan, frame, &child),
        half,
    }));
    hand_back(run, called, &child, into)?;
    run.put_slot(slots::RESULT, result(&plan.flow.graphs[graph], &child));
    run.permit(child.permissions.into_changes());
    let stays = left.is_empty();
    run.jumped = !stays;
    for name in left {
        run.go_named(&name)?;
    }
    Ok(stays)
}

/// The path under which the state of a task's call lasts: its key without the steps. Each send has its own, and so have the calls
/// in it.
fn lasting_path(task: &str) -> String {
    let parts = task.split('/').map(|part| match part.split_once(':') {
        Some((_, node)) => node,
        None => part,
    });
    parts.collect::<Vec<_>>().join("/")
}

fn input(
    run: &TaskRun<'_>,
    called: &GraphPlan,
    with: &[PassPlan],
) -> Result<Vec<(FieldId, Value)>, RunError> {
    let mut input = Vec::with_capacity(with.len());
    for pass in with {
        match pass {
            PassPlan::Value { to, value } => input.push((*to, run.eval(value)?)),
            // A field of the caller that has no value yet leaves the child's without one.
            PassPlan::Field { to, from } => {
                input.extend(run.view.get(*from).map(|value| (*to, value.clone())))
            }
            PassPlan::Sent { to } => {
                let given = run.sent.and_then(|sent| sent.get(&called.fields[*to]));
                input.extend(given.map(|value| (*to, value.clone())));
            }
        }
    }
    Ok(input)
}

/// What was written to each `out` field, through the caller's reducer.
fn hand_back(
    run: &mut TaskRun<'_>,
    called: &GraphPlan,
    child: &Frame,
    into: &[(FieldId, FieldId)],
) -> Result<(), RunError> {
    for (from, to) in into {
        let log = child.out_logs.as_ref().and_then(|logs| logs.get(from));
        let Some(log) = log else { continue };
        let gathers = called.channels[*from].gathers() && run.around.graph.channels[*to].gathers();
        // Of a field that gathers only since the flow was changed there is what it has.
        if gathers && !log.values.is_empty() {
            for (index, value) in log.values.iter().enumerate() {
                let replace = log.replaced && index == 0;
                run.view.put(
                    *to,
                    Incoming {
                        value: value.clone(),
                        replace,
                    },
                )?;
            }
        } else if let Some(value) = child.fields.get(from.0 as usize).cloned().flatten() {
            run.view.put(
                *to,
                Incoming {
                    value,
                    replace: log.replaced,
                },
            )?;
        }
    }
    Ok(())
}

fn result(graph: &crate::ir::Graph, child: &Frame) -> Value {
    let out = graph
        .fields
        .iter()
        .zip(&child.fields)
        .filter(|(field, _)| field.mode.is_out());
    Value::Map(
        out.filter_map(|(field, value)| Some((field.name.as_str(), value.clone()?)))
            .collect::<Map>(),
    )
}

/// A frame as a checkpoint has it.
///
/// # Errors
/// Kind `version`, where the graph has changed so that the thread does not fit it any more.
pub fn restore(frame: &mut Frame, graph: &GraphPlan, image: &FrameImage) -> Result<(), RunError> {
    let numbers;
    (frame.agenda, numbers) = schedule::agenda(graph, image)?;
    frame.made = schedule::steps(&image.schedule);
    frame.half = schedule::half(&image.schedule);
    frame.visits.load(graph, image);
    frame.base = Base::of(graph, image);
    frame.permissions.load(image)?;
    restore_fields(frame, graph, image)?;
    frame.joins.load(image, numbers);
    Ok(())
}

/// The same without what was left to do: for a run that begins anew on what the thread has.
///
/// # Errors
/// Kind `version`, where the thread has a field that the graph has no more.
pub fn restore_fields(
    frame: &mut Frame,
    graph: &GraphPlan,
    image: &FrameImage,
) -> Result<(), RunError> {
    frame.step = image.step;
    frame.waiting.load(image);
    frame.joins.load(image, BTreeMap::new());
    frame.freshness = schedule::freshness(graph, &image.schedule);
    for (id, name) in graph.fields.entries() {
        if let (Some(field), Some(place)) = (
            image.fields.get(&**name),
            frame.fields.get_mut(id.0 as usize),
        ) {
            *place = Some(field.value.clone());
            frame.note_growth(id, field.changes);
            if graph.ephemeral.contains(&id) {
                frame.live.insert(id);
            }
        }
        let Some(logs) = &mut frame.out_logs else {
            continue;
        };
        for replaced in [true, false] {
            let Some(kept) = image.fields.get(&log_name(name, replaced)) else {
                continue;
            };
            let values = kept
                .value
                .as_list()
                .map(|list| list.iter().cloned().collect())
                .unwrap_or_default();
            logs.insert(id, OutLog { values, replaced });
            // A replaced field's log begins anew under its other name; the older one counts no more.
            break;
        }
    }
    let known = |name: &str| graph.fields.iter().any(|field| **field == *name);
    let gone = image
        .fields
        .keys()
        .find(|name| !is_log(name) && !known(name));
    match gone {
        Some(name) => {
            let message = format!(
                "the thread has a field `{name}`, which graph `{}` does not have any more",
                graph.name
            );
            Err(RunError::gone(message, Gone::Field(name.clone())))
        }
        None => Ok(()),
    }
}
