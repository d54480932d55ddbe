//! Whether what a thread of another version has kept fits this one; its values are made this version's on the way.
//!
//! All that is kept of a graph's state is held against the graph in one way, wherever it lies: in the run's own graph, in
//! a call under way, or between two calls with `persist thread`. Its fields are there, their values are of their types and
//! within their bounds.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::expr::accept::accept;
use crate::ir::node::Persist;
use crate::ir::{Field, Graph, GraphId, Node};
use crate::run::frame::{OWN_NAMES, is_log, log_name};
use crate::run::refit::{Unfit, refit_field, refit_fields, refit_write};
use crate::run::step::BEFORE;
use crate::run::store::{EffectRecord, FieldImage, FrameImage};
use crate::run::waiting::{self, WAITING};
use crate::run::work::answered::Answered;
use crate::run::work::cached;
use crate::run::{persisted, schedule};
use crate::value::{List, Value};

use super::names::Names;
use super::{Engine, Gone, StartError};

/// What of a graph is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Held {
    /// Its state and what is left to do.
    Frame,
    /// Its state alone: what was left to do is dropped.
    State,
    /// What lasts between two calls of it, which are declared so.
    Lasting(Persist),
}

impl Held {
    /// Whether a field begins anew whatever the thread has of it.
    pub(super) fn begins_anew(self, field: &Field) -> bool {
        match self {
            Held::Frame => false,
            Held::State => !field.lives_with_thread(),
            Held::Lasting(persist) => !field.outlives_call(persist),
        }
    }
}

/// Holds a frame against its graph, and all that lasts inside it. Values that `migrate` has for fields are given where
/// `migrates` says so.
///
/// # Errors
/// [`StartError::Version`]
pub(super) fn frame(
    names: &Names<'_>,
    frame: &mut FrameImage,
    held: Held,
    migrates: bool,
) -> Result<(), StartError> {
    let Some(graph) = names.graph_of(&frame.frame) else {
        let node = names.walk(frame.frame.trim_end_matches('/')).at.1;
        let message =
            format!("the thread is inside a call of node `{node}`, which calls no graph any more");
        return Err(refused(message, Gone::Other));
    };
    let fit = |graph| Fit {
        engine: names.engine,
        id: graph,
        graph: &names.engine.plan.flow.graphs[graph],
        migrates,
    };
    fit(graph).state(frame, held)?;
    for (name, field) in &mut frame.fields {
        let Some(path) = persisted::path(name) else {
            continue;
        };
        let lasting = names.lasting(path);
        let (graph, persist) = lasting.ok_or_else(|| lasts_no_more(names, path))?;
        let mut image = persisted::image(&field.value);
        fit(graph).state(&mut image, Held::Lasting(persist))?;
        field.value = persisted::value(&image);
    }
    Ok(())
}

fn refused(message: String, gone: Gone) -> StartError {
    StartError::Version { message, gone }
}

fn lasts_no_more(names: &Names<'_>, path: &str) -> StartError {
    let (graph, node) = names.walk(path).at;
    let graph = graph.and_then(|id| names.engine.plan.flow.graphs.get(id));
    let graph = graph.map_or("", |graph| graph.name.as_str());
    let message = format!(
        "the thread has the state that calls of node `{node}` have left, and graph `{graph}` has no such node any more whose state outlives a call (`persist thread`, or `persist` of a field)"
    );
    refused(message, Gone::Calls(node))
}

/// A graph that something of is held against.
struct Fit<'e> {
    engine: &'e Engine,
    id: GraphId,
    graph: &'e Graph,
    migrates: bool,
}

impl Fit<'_> {
    fn state(&self, image: &mut FrameImage, held: Held) -> Result<(), StartError> {
        if held == Held::Frame {
            let plan = &self.engine.plan.graphs[self.id];
            schedule::agenda(plan, image).map_err(StartError::from_run)?;
            self.inputs(image)?;
        }
        let fields = self.graph.fields.iter();
        let fields: BTreeMap<&str, &Field> = fields.map(|f| (f.name.as_str(), f)).collect();
        self.all_known(&fields, image)?;
        if matches!(held, Held::Lasting(_)) {
            let anew = |name: &str| fields.get(base(name)).is_some_and(|f| held.begins_anew(f));
            image.fields.retain(|name, _| !anew(name));
        }
        for (field, first) in self
            .graph
            .fields
            .iter()
            .zip(&self.engine.plan.graphs[self.id].initial)
        {
            if held.begins_anew(field) {
                continue;
            }
            if let Some(default) = self.graph.migrate.defaults.get(&field.name) {
                self.default(field, first.as_ref(), default, image)?;
            }
            if let Some(kept) = image.fields.get_mut(&field.name) {
                let types = &self.engine.plan.flow.types;
                refit_field(types, field, first.as_ref(), kept)
                    .map_err(|why| self.unfit(field, &why))?;
            }
            for replaced in [true, false] {
                self.log(field, replaced, image)?;
            }
        }
        Ok(())
    }

    fn all_known(
        &self,
        fields: &BTreeMap<&str, &Field>,
        image: &FrameImage,
    ) -> Result<(), StartError> {
        let mut names = image.fields.keys().map(|name| base(name));
        let gone = names.find(|name| {
            persisted::path(name).is_none()
                && !OWN_NAMES.contains(name)
                && !fields.contains_key(name)
        });
        let Some(name) = gone else { return Ok(()) };
        let message = format!(
            "the thread has a field `{name}`, which graph `{}` does not have any more",
            self.graph.name
        );
        Err(refused(message, Gone::Field(name.to_owned())))
    }

    /// The value that `migrate` has for a field, for a thread without one that fits.
    fn default(
        &self,
        field: &Field,
        first: Option<&Value>,
        default: &Json,
        image: &mut FrameImage,
    ) -> Result<(), StartError> {
        let types = &self.engine.plan.flow.types;
        let kept = image.fields.get(&field.name).cloned();
        let fits = |mut kept| refit_field(types, field, first, &mut kept).is_ok();
        match (kept, self.migrates) {
            (Some(kept), true) if fits(kept.clone()) => {}
            (None, true) if self.knows(field, image) => {}
            (_, true) => {
                let value = accept(default, &field.ty, types);
                let value = value.unwrap_or_else(|_| Value::from_json(default));
                let made = FieldImage { value, changes: 0 };
                // Of what is let go, the caller hears nothing.
                for replaced in [true, false] {
                    image.fields.remove(&log_name(&field.name, replaced));
                }
                image.fields.insert(field.name.clone(), made);
            }
            (None, false) if !self.knows(field, image) => {
                let (name, graph) = (&field.name, &self.graph.name);
                let message = format!(
                    "the flow has changed since the thread's last step, and gives field `{name}` of graph `{graph}` a value when it is migrated"
                );
                return Err(refused(message, Gone::Value(name.clone())));
            }
            (_, false) => {}
        }
        Ok(())
    }

    /// Whether the thread was written by a version that has had a value for a field already.
    fn knows(&self, field: &Field, image: &FrameImage) -> bool {
        let given = image.schedule.get("given").and_then(Json::as_array);
        let mut given = given.into_iter().flatten();
        given.any(|name| name.as_str() == Some(&*field.name))
    }

    /// What was written to a field, for the caller, which hears of `out` fields alone.
    fn log(&self, field: &Field, replaced: bool, image: &mut FrameImage) -> Result<(), StartError> {
        if !field.mode.is_out() {
            return Ok(());
        }
        let Some(kept) = image.fields.get_mut(&log_name(&field.name, replaced)) else {
            return Ok(());
        };
        let mut changed = false;
        let mut values = Vec::new();
        for (at, value) in kept
            .value
            .as_list()
            .into_iter()
            .flat_map(List::iter)
            .enumerate()
        {
            let made = refit_write(&self.engine.plan.flow, field, replaced && at == 0, value)
                .map_err(|why| self.unfit(field, &Unfit::Type(why)))?;
            changed |= made.is_some();
            values.push(made.unwrap_or_else(|| value.clone()));
        }
        if changed {
            *kept = FieldImage {
                value: Value::List(values.into_iter().collect()),
                changes: 0,
            };
        }
        Ok(())
    }

    fn unfit(&self, field: &Field, why: &Unfit) -> StartError {
        let (name, graph) = (&field.name, &self.graph.name);
        let what = match why {
            Unfit::Type(why) => format!("is not of its type any more: {why}"),
            Unfit::Bounds(why) => format!("is out of its bounds now: {why}"),
        };
        let message = format!(
            "the flow has changed since the thread's last step, and field `{name}` of graph `{graph}` {what}"
        );
        refused(message, Gone::Value(name.clone()))
    }

    /// What was sent to nodes that are to run.
    fn inputs(&self, image: &mut FrameImage) -> Result<(), StartError> {
        let nodes = self.graph.nodes.iter();
        let nodes: BTreeMap<&str, &Node> = nodes.map(|n| (n.name.as_str(), n)).collect();
        for key in ["tasks", "deferred_sends"] {
            let tasks = image.schedule.get_mut(key).and_then(Json::as_array_mut);
            for task in tasks.into_iter().flatten() {
                let name = task.get("node").and_then(Json::as_str);
                let sent = task.get("input").and_then(Value::from_stored);
                let node = name.and_then(|name| nodes.get(name));
                let (Some(node), Some(sent)) = (node, sent) else {
                    continue;
                };
                let made = self.input(node, &sent)?;
                if let (Some(made), Some(task)) = (made, task.as_object_mut()) {
                    task.insert("input".to_owned(), made.to_stored());
                }
            }
        }
        if let Some(field) = image.fields.get_mut(WAITING) {
            *field = waiting::remade(field, |name, sent| {
                let made = match nodes.get(name) {
                    Some(node) => self.input(node, &sent)?,
                    None => None,
                };
                Ok::<_, StartError>((name.to_owned(), made.unwrap_or(sent)))
            })?;
        }
        Ok(())
    }

    /// What was sent to a node, where it has become another.
    fn input(&self, node: &Node, sent: &Value) -> Result<Option<Value>, StartError> {
        if !matches!(sent, Value::Map(_)) {
            return Ok(None);
        }
        let made = refit_fields(&self.engine.plan.flow.types, &node.input, sent);
        made.map_err(|why| {
            let (name, graph) = (&node.name, &self.graph.name);
            let message = format!(
                "the flow has changed since the thread's last step, and what was sent to node `{name}` of graph `{graph}` is not its input any more: {why}"
            );
            refused(message, Gone::Other)
        })
    }
}

/// The field that a name in a checkpoint is of.
fn base(name: &str) -> &str {
    match is_log(name) && persisted::path(name).is_none() {
        true => name.split([':', '>']).next().unwrap_or(name),
        false => name,
    }
}

/// Holds what tasks go on with against their nodes: results of caches, and answers to questions that are asked still.
///
/// # Errors
/// [`StartError::Version`]
pub(super) fn effects(names: &Names<'_>, effects: &[EffectRecord]) -> Result<(), StartError> {
    let answers = effects.iter();
    let answers = answers.filter(|effect| effect.kind == "answer" && effect.id != BEFORE);
    for answer in answers {
        held_answer(names, answer)?;
    }
    let flow = &names.engine.plan.flow;
    for effect in effects.iter().filter(|effect| effect.kind == "cache") {
        let (Some(id), node) = names.walk(&effect.task).at else {
            continue;
        };
        let graph = &flow.graphs[id];
        cached::fits(flow, graph, &effect.outcome).map_err(|why| {
            let graph = &graph.name;
            let message = format!(
                "the flow has changed since the thread's last step, and the kept result that node `{node}` of graph `{graph}` goes on with is not its own any more: {why}"
            );
            refused(message, Gone::Other)
        })?;
    }
    Ok(())
}

fn held_answer(names: &Names<'_>, answer: &EffectRecord) -> Result<(), StartError> {
    let engine = names.engine;
    let Some(ty) = engine.takes(names.root, &answer.task, answer.of()) else {
        return Ok(());
    };
    accept(Answered::of(&answer.outcome).answer, ty, &engine.plan.flow.types).map_err(|wrong| {
        let message = format!(
            "the flow has changed since the thread's last step, and the answer that `{}` was given is not of its type any more: {wrong}",
            answer.of()
        );
        refused(message, Gone::Other)
    })?;
    Ok(())
}
