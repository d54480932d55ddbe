//! Refuses a thread of which `migrate` would give two things one name: nothing would tell them apart any more.
//!
//! `check` can't see it, since the old name is gone from the flow: a thread of an earlier version may have something
//! under either.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use crate::ir::Graph;
use crate::run::frame::{OWN_NAMES, is_log};
use crate::run::joins::{self, JOINS};
use crate::run::persisted;
use crate::run::store::{EffectRecord, FrameImage, ThreadImage};
use crate::run::visits::VISITS;
use crate::run::waiting::{self, WAITING};

use super::fit::Held;
use super::names::Names;
use super::{Gone, StartError};

/// Holds what is kept of a thread by its old names. Of a run that begins anew only the state counts.
///
/// # Errors
/// [`StartError::Version`]
pub(super) fn check(names: &Names<'_>, image: &ThreadImage, held: Held) -> Result<(), StartError> {
    for frame in &image.frames {
        let graph = names.graph_of(&frame.frame);
        if let Some(graph) = graph.and_then(|id| names.engine.plan.flow.graphs.get(id)) {
            fields(graph, frame, held)?;
            if held == Held::Frame {
                nodes(graph, frame)?;
            }
        }
        lasting(names, frame)?;
    }
    match held {
        Held::Frame => tasks(names, image),
        Held::State | Held::Lasting(_) => Ok(()),
    }
}

fn refused(message: String) -> StartError {
    let gone = Gone::OneName;
    StartError::Version { message, gone }
}

fn fields(graph: &Graph, frame: &FrameImage, held: Held) -> Result<(), StartError> {
    let names = frame
        .fields
        .keys()
        .filter(|name| persisted::path(name).is_none() && !OWN_NAMES.contains(&name.as_str()));
    let has: BTreeSet<&str> = names.map(|name| field(name)).collect();
    for (old, new) in &graph.migrate.fields {
        let anew = |field: &crate::ir::Field| field.name == *new && held.begins_anew(field);
        let goes = graph.fields.iter().any(anew);
        if !goes && has.contains(&**old) && has.contains(&**new) {
            return Err(refused(format!(
                "`migrate` renames field `{old}` of graph `{}` to `{new}`, and the thread has a value of `{new}` already: one of the two would be lost",
                graph.name
            )));
        }
    }
    Ok(())
}

/// The field that a name in a checkpoint is of.
fn field(name: &str) -> &str {
    match is_log(name) {
        true => name.split([':', '>']).next().unwrap_or(name),
        false => name,
    }
}

fn nodes(graph: &Graph, frame: &FrameImage) -> Result<(), StartError> {
    if graph.migrate.nodes.is_empty() {
        return Ok(());
    }
    let has = at_rest(frame);
    for (old, new) in &graph.migrate.nodes {
        if has.contains(old) && has.contains(new) {
            return Err(refused(format!(
                "`migrate` renames node `{old}` of graph `{}` to `{new}`, and the thread stands at both: nothing would tell them apart",
                graph.name
            )));
        }
    }
    Ok(())
}

/// All of them, each with the name of its graph.
pub(super) fn stands(names: &Names<'_>, frames: &[FrameImage]) -> BTreeSet<(String, String)> {
    let all = frames.iter().flat_map(|frame| {
        let graph = names.graph_of(&frame.frame);
        let graph = graph.and_then(|id| names.engine.plan.flow.graphs.get(id));
        let nodes = graph.map(|graph| (graph, at_rest(frame)));
        nodes.into_iter().flat_map(|(graph, nodes)| {
            let nodes = nodes.into_iter();
            nodes.map(|node| (graph.name.clone(), node))
        })
    });
    all.collect()
}

/// Nodes that a frame knows of: tasks to come, what waits, joins, counted entries.
fn at_rest(frame: &FrameImage) -> BTreeSet<String> {
    let schedule = &frame.schedule;
    let list = |of: &Json, key: &str| {
        let list = of.get(key).and_then(Json::as_array);
        list.cloned().unwrap_or_default()
    };
    let behind = ["deferred", "then", "deferred_then"].into_iter();
    let mut names: Vec<Json> = behind.flat_map(|key| list(schedule, key)).collect();
    for key in ["tasks", "deferred_sends"] {
        let tasks = list(schedule, key).into_iter();
        names.extend(tasks.filter_map(|task| task.get("node").cloned()));
    }
    for join in list(schedule, "joins") {
        names.extend(list(&join, "members"));
    }
    let visits = list(schedule, "visits").into_iter();
    names.extend(visits.filter_map(|visit| visit.get(0).cloned()));
    let names = names.iter().filter_map(Json::as_str).map(str::to_owned);
    let mut all: BTreeSet<String> = names.collect();
    let joins = joins::of_checkpoint(frame.fields.get(JOINS)).into_iter();
    all.extend(joins.flat_map(|join| join.members));
    let waiting = waiting::entries(frame.fields.get(WAITING));
    all.extend(waiting.map(|(node, _)| node.to_owned()));
    let visits = frame.fields.get(VISITS);
    let visits = visits.and_then(|visits| visits.value.as_map());
    let visits = visits.into_iter().flat_map(|visits| visits.iter());
    all.extend(visits.filter_map(|(node, _)| node.as_str().map(str::to_owned)));
    all
}

/// What lasts between calls, which a path names.
fn lasting(names: &Names<'_>, frame: &FrameImage) -> Result<(), StartError> {
    let paths = frame.fields.keys().filter_map(|name| persisted::path(name));
    let paths: BTreeSet<&str> = paths.collect();
    for path in &paths {
        let Some((id, persist)) = names.lasting(path) else {
            continue;
        };
        let new = names.key(path);
        if new != **path && paths.contains(&*new) {
            return Err(refused(format!(
                "`migrate` makes `{path}` to `{new}`, and the thread has the state that calls of `{new}` have left already: one of the two would be lost"
            )));
        }
        let field = frame.fields.get(&persisted::name::name(path));
        let graph = names.engine.plan.flow.graphs.get(id);
        if let (Some(graph), Some(field)) = (graph, field) {
            fields(
                graph,
                &persisted::image(&field.value),
                Held::Lasting(persist),
            )?;
        }
    }
    Ok(())
}

/// Tasks by what was made in them and what they ask: calls without checkpoints have nothing else.
fn tasks(names: &Names<'_>, image: &ThreadImage) -> Result<(), StartError> {
    let text = |open: &Json| open.get("task").and_then(Json::as_str).map(str::to_owned);
    let asking: BTreeSet<String> = image.status.interrupts.iter().filter_map(text).collect();
    let mut made: BTreeMap<&str, Vec<&EffectRecord>> = BTreeMap::new();
    for effect in &image.effects {
        made.entry(&effect.task).or_default().push(effect);
    }
    let of = |task: &str| made.get(task).map(Vec::as_slice).unwrap_or_default();
    let all = made.keys().copied();
    for old in all.chain(asking.iter().map(String::as_str)) {
        let new = names.key(old);
        let taken = made.contains_key(&*new) || asking.contains(&new);
        let goes_on_there = !asking.contains(old) && is_copied(of(old), of(&new));
        let came_from_there = !asking.contains(&new) && is_left_behind(of(&new), of(old));
        if new != old && taken && !goes_on_there && !came_from_there {
            return Err(refused(format!(
                "`migrate` makes task `{old}` of the thread to `{new}`, which it has already: nothing would tell them apart"
            )));
        }
    }
    Ok(())
}

/// Whether an earlier `--migrate` has taken all that was made in a task on to where it has gone on since, under another name.
fn is_left_behind(made: &[&EffectRecord], since: &[&EffectRecord]) -> bool {
    let since = since.iter().map(|effect| (effect.id.as_str(), *effect));
    let since: BTreeMap<&str, &EffectRecord> = since.collect();
    made.iter().all(|effect| {
        let other = since.get(effect.id.as_str());
        other.is_some_and(|other| {
            other.outcome == effect.outcome && (other.is_copy() || effect.is_copy())
        })
    })
}

/// Whether all that was made in a task is there under another name: what an earlier `--migrate` has left.
fn is_copied(made: &[&EffectRecord], copies: &[&EffectRecord]) -> bool {
    let copies = copies.iter().map(|copy| (copy.id.as_str(), &copy.outcome));
    let copies: BTreeMap<&str, &Json> = copies.collect();
    let mut made = made.iter();
    made.all(|effect| copies.get(effect.id.as_str()) == Some(&&effect.outcome))
}
