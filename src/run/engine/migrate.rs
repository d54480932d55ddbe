//! What the `migrate` blocks of a flow say became of the fields and nodes of a thread.
//!
//! The image of a thread is changed in memory; [`take_over`](super::take_over) keeps the changes. All that is kept of a
//! graph's state takes its new names here in one way, also what lasts between calls, and so do tasks and questions.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

use serde_json::Value as Json;

use crate::ir::Graph;
use crate::ir::graph::Migrate;
use crate::run::frame::is_log;
use crate::run::half_join::HalfJoin;
use crate::run::joins::{self, JOINS};
use crate::run::permission::{PERMISSION, PERMISSIONS};
use crate::run::store::{EffectRecord, FieldImage, FrameImage, ThreadImage};
use crate::run::visits::{self, VISITS};
use crate::run::waiting::{self, WAITING};
use crate::run::{persisted, schedule};

use super::names::Names;

/// A frame by the names of now.
pub(super) fn frame(names: &Names<'_>, old: &FrameImage) -> FrameImage {
    let Some(graph) = graph(names, names.graph_of(&old.frame)) else {
        return old.clone();
    };
    let mut state = state(graph, old);
    schedule::with_half(&mut state.schedule, |half| half_join(names, half));
    let lasting = old.fields.iter().filter_map(|(name, field)| {
        let path = persisted::path(name)?;
        Some(lasting(names, path, field))
    });
    FrameImage {
        frame: names.key(&old.frame),
        fields: state.fields.into_iter().chain(lasting.flatten()).collect(),
        ..state
    }
}

fn graph<'e>(names: &Names<'e>, id: Option<crate::ir::GraphId>) -> Option<&'e Graph> {
    names.engine.plan.flow.graphs.get(id?)
}

/// A state that lasts between the calls at a path; `None` where this version keeps none there.
fn lasting(names: &Names<'_>, path: &str, field: &FieldImage) -> Option<(String, FieldImage)> {
    let graph = graph(names, names.lasting(path).map(|(id, _)| id))?;
    let state = state(graph, &persisted::image(&field.value));
    let value = persisted::value(&state);
    Some((
        persisted::name::name(&names.key(path)),
        FieldImage::of(value),
    ))
}

/// A join that a called graph has left half arrived at; `None` where this version makes no such call.
fn half_join(names: &Names<'_>, half: HalfJoin) -> Option<HalfJoin> {
    let graph = graph(names, names.called(&half.path))?;
    let node = |name: String| graph.migrate.nodes.get(&name).cloned().unwrap_or(name);
    let nodes = |names: Vec<String>| names.into_iter().map(node).collect();
    Some(HalfJoin {
        path: names.key(&half.path),
        members: nodes(half.members),
        missing: nodes(half.missing),
        to: nodes(half.to),
    })
}

/// What a graph's state holds and what is left to do in it, by the names of now.
fn state(graph: &Graph, old: &FrameImage) -> FrameImage {
    let migrate = &graph.migrate;
    let mut fields = BTreeMap::new();
    for (name, field) in &old.fields {
        if persisted::path(name).is_some() {
            continue;
        }
        if name == VISITS {
            fields.insert(name.clone(), visits::renamed(field, &migrate.nodes));
            continue;
        }
        if name == PERMISSIONS {
            fields.insert(name.clone(), field.clone());
            continue;
        }
        if name == JOINS {
            fields.insert(name.clone(), joins::renamed(field, &migrate.nodes));
            continue;
        }
        if name == WAITING {
            let renamed = |node: &str, input| -> Result<_, Infallible> {
                let node = migrate.nodes.get(node).map_or(node, String::as_str);
                Ok((node.to_owned(), input))
            };
            let Ok(field) = waiting::remade(field, renamed);
            fields.insert(name.clone(), field);
            continue;
        }
        let (base, log) = match is_log(name) {
            true => name.split_at(name.find([':', '>']).unwrap_or(name.len())),
            false => (name.as_str(), ""),
        };
        if migrate.dropped.iter().any(|dropped| dropped == base) {
            continue;
        }
        let base = migrate.fields.get(base).map_or(base, String::as_str);
        fields.insert(format!("{base}{log}"), field.clone());
    }
    FrameImage {
        schedule: left_to_do(&old.schedule, migrate),
        fields,
        ..old.clone()
    }
}

/// The effects of tasks that have another name now, by it. A process that came as far as this before has kept them
/// already: those are left out.
pub(super) fn effects(names: &Names<'_>, image: &ThreadImage) -> Vec<EffectRecord> {
    let renamed = image.effects.iter().filter_map(|effect| {
        let task = names.key(&effect.task);
        let of = match effect.kind.as_str() {
            "model" | "tool" | "begun" | "emit" | PERMISSION => effect.of().to_owned(),
            // A node's path.
            _ => names.key(effect.of()),
        };
        (task != effect.task).then(|| effect.copy(task, &of))
    });
    let all = image.effects.iter();
    let known: BTreeSet<(&str, &str)> = all.map(|old| (&*old.task, &*old.id)).collect();
    renamed
        .filter(|effect| !known.contains(&(&*effect.task, &*effect.id)))
        .collect()
}

/// An open question by the names of now.
pub(super) fn interrupt(names: &Names<'_>, open: &mut Json) {
    let text = |open: &Json, key: &str| open.get(key).and_then(Json::as_str).map(str::to_owned);
    let (task, path) = (text(open, "task"), text(open, "path"));
    if let (Some(task), Some(path), Some(entries)) = (task, path, open.as_object_mut()) {
        let path = names.key(&path);
        let node = path.rsplit('/').next().unwrap_or(&path).to_owned();
        entries.insert("node".to_owned(), node.into());
        entries.insert("path".to_owned(), path.into());
        entries.insert("task".to_owned(), names.key(&task).into());
    }
}

/// What is left to do, by the names of now.
fn left_to_do(old: &Json, migrate: &Migrate) -> Json {
    let mut new = old.clone();
    let node = |name: &mut Json| rename(name, &migrate.nodes);
    for key in ["tasks", "deferred_sends"] {
        each(&mut new, key, |task| {
            task.get_mut("node").into_iter().for_each(node)
        });
    }
    each(&mut new, "joins", |join| {
        each(join, "members", node);
        each(join, "arrived", node);
    });
    for key in ["deferred", "then", "deferred_then"] {
        each(&mut new, key, node);
    }
    each(&mut new, "visits", |visit| {
        visit.get_mut(0).into_iter().for_each(node)
    });
    each(&mut new, "given", |name| rename(name, &migrate.fields));
    if let Some(made) = new.get("made").and_then(Json::as_object).cloned() {
        let gone = |name: &str| migrate.dropped.iter().any(|dropped| dropped == name);
        let kept = made.into_iter().filter(|(name, _)| !gone(name));
        let renamed = kept.map(|(name, mut since)| {
            if let Some(list) = since.as_array_mut() {
                list.retain(|name| !name.as_str().is_some_and(gone));
                list.iter_mut()
                    .for_each(|name| rename(name, &migrate.fields));
            }
            (migrate.fields.get(&name).cloned().unwrap_or(name), since)
        });
        let renamed: serde_json::Map<String, Json> = renamed.collect();
        if let Some(entries) = new.as_object_mut() {
            entries.insert("made".to_owned(), renamed.into());
        }
    }
    new
}

fn each(of: &mut Json, key: &str, act: impl FnMut(&mut Json)) {
    let list = of.get_mut(key).and_then(Json::as_array_mut);
    list.into_iter().flatten().for_each(act);
}

fn rename(name: &mut Json, names: &BTreeMap<String, String>) {
    let found = name.as_str().and_then(|old| names.get(old));
    if let Some(new) = found {
        *name = Json::String(new.clone());
    }
}
