//! Threads of an earlier version of the flow: what its `migrate` blocks say became of their fields and nodes.
//!
//! The image of a thread is changed in memory, and the same changes are kept as checkpoints and effects before the run
//! goes on, so that the thread is of this version from then on.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::expr::accept::accept;
use crate::ir::graph::Migrate;
use crate::ir::node::Work;
use crate::ir::{Graph, GraphId};
use crate::run::frame::is_log;
use crate::run::kept;
use crate::run::store::{
    Change, Checkpoint, EffectRecord, FieldImage, FieldWrite, FrameImage, Record, Source,
    ThreadImage,
};
use crate::value::Value;

use super::Engine;

/// A thread as this version of the flow has it.
pub(super) struct Migrated {
    /// The image, changed.
    pub image: ThreadImage,
    /// What has changed in its frames; `seq` is left to whoever keeps them.
    pub checkpoints: Vec<Checkpoint>,
    /// Effects that belong to tasks of another name now.
    pub effects: Vec<EffectRecord>,
}

impl Migrated {
    /// The records to keep, the checkpoints numbered.
    pub fn into_records(self, mut seq: impl FnMut() -> u64) -> Vec<Record> {
        let checkpoints = self.checkpoints.into_iter().map(|mut checkpoint| {
            checkpoint.seq = seq();
            Record::Checkpoint(checkpoint)
        });
        let checkpoints: Vec<Record> = checkpoints.collect();
        let effects = self.effects.into_iter().map(Record::Effect);
        checkpoints.into_iter().chain(effects).collect()
    }
}

impl Engine {
    /// Applies what the flow's `migrate` blocks say to a thread of the graph.
    pub(super) fn migrate(&self, graph: GraphId, image: &ThreadImage) -> Migrated {
        let names = Names {
            engine: self,
            root: graph,
        };
        let mut new = image.clone();
        let at = self.ambient.kept_at().to_string();
        let root_step = image.frames.first().map_or(0, |root| root.step);
        let mut checkpoints = Vec::new();
        for frame in &mut new.frames {
            let old = frame.clone();
            let Some(of) = names.graph_of(&old.frame) else {
                continue;
            };
            frame.frame = names.key(&old.frame);
            frame.schedule = schedule(&old.schedule, &of.migrate);
            frame.fields = self.fields(of, &names, &old);
            if *frame != old {
                checkpoints.push(Checkpoint {
                    seq: 0,
                    frame: frame.frame.clone(),
                    step: frame.step,
                    root_step,
                    run_id: frame.run_id.clone(),
                    source: Source::Step,
                    writes: writes(&old, frame),
                    schedule: frame.schedule.clone(),
                    at: at.clone(),
                });
            }
        }
        let mut effects = Vec::new();
        for effect in &mut new.effects {
            let task = names.key(&effect.task);
            if task != effect.task {
                effect.task = task;
                // That of a call is the tool's name.
                if effect.kind != "tool" {
                    effect.subject = names.path(&effect.subject);
                }
                effects.push(effect.clone());
            }
        }
        // A process that came as far as this before has kept them already.
        let known = |effect: &EffectRecord| {
            let mut all = image.effects.iter();
            all.any(|old| old.task == effect.task && old.id == effect.id)
        };
        effects.retain(|effect| !known(effect));
        for open in &mut new.status.interrupts {
            names.interrupt(open);
        }
        Migrated {
            image: new,
            checkpoints,
            effects,
        }
    }

    /// The fields of a frame by their names of now, defaults filled in.
    fn fields(
        &self,
        graph: &Graph,
        names: &Names<'_>,
        old: &FrameImage,
    ) -> BTreeMap<String, FieldImage> {
        let migrate = &graph.migrate;
        let mut fields = BTreeMap::new();
        for (name, field) in &old.fields {
            if let Some(path) = kept::path(name) {
                fields.insert(format!("@{}", names.path(path)), field.clone());
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
        for (name, default) in &migrate.defaults {
            let Some(field) = graph.field(name).and_then(|id| graph.fields.get(id)) else {
                continue;
            };
            let fits = fields.get(name).is_some_and(|kept| {
                accept(&kept.value.to_json(), &field.ty, &self.plan.flow.types).is_ok()
            });
            if !fits {
                let value = accept(default, &field.ty, &self.plan.flow.types)
                    .unwrap_or_else(|_| Value::from_json(default));
                fields.insert(name.clone(), FieldImage { value, changes: 0 });
            }
        }
        fields
    }

    /// Whether a thread lacks what the flow gives threads of an earlier version.
    pub(super) fn lacks_defaults(&self, graph: &Graph, image: &ThreadImage) -> Option<String> {
        let root = image.frames.first()?;
        let mut names = graph.migrate.defaults.keys();
        names.find(|name| !root.fields.contains_key(*name)).cloned()
    }
}

fn writes(old: &FrameImage, new: &FrameImage) -> Vec<FieldWrite> {
    let same_frame = old.frame == new.frame;
    let gone = old
        .fields
        .keys()
        .filter(|name| !new.fields.contains_key(*name));
    let cleared = gone.filter(|_| same_frame).map(|name| FieldWrite {
        field: name.clone(),
        change: Change::Clear,
    });
    let changed = new.fields.iter().filter(|(name, field)| {
        !same_frame || old.fields.get(*name).is_none_or(|before| before != *field)
    });
    let put = changed.map(|(name, field)| FieldWrite {
        field: name.clone(),
        change: Change::Put(field.value.clone()),
    });
    cleared.chain(put).collect()
}

/// Names of nodes in keys and paths, each looked up in the graph that it stands in.
struct Names<'e> {
    engine: &'e Engine,
    root: GraphId,
}

impl<'e> Names<'e> {
    fn graph(&self, id: GraphId) -> Option<&'e Graph> {
        self.engine.plan.flow.graphs.get(id)
    }

    /// A node's name of now, and the graph that it calls.
    fn node<'n>(&self, graph: Option<&'e Graph>, name: &'n str) -> (&'n str, Option<&'e Graph>)
    where
        'e: 'n,
    {
        let Some(graph) = graph else {
            return (name, None);
        };
        let name = graph.migrate.nodes.get(name).map_or(name, String::as_str);
        let node = graph.node(name).and_then(|id| graph.nodes.get(id));
        let called = match node.map(|node| &node.work) {
            Some(Work::Subgraph { graph, .. }) => self.graph(*graph),
            _ => None,
        };
        (name, called)
    }

    /// The key of a frame or a task: `0:content/1:inner[2]`.
    fn key(&self, key: &str) -> String {
        self.walk(key).0
    }

    /// The graph of a frame by its key.
    fn graph_of(&self, key: &str) -> Option<&'e Graph> {
        match key.is_empty() {
            true => self.graph(self.root),
            false => self.walk(key.trim_end_matches('/')).1,
        }
    }

    fn walk(&self, key: &str) -> (String, Option<&'e Graph>) {
        let mut graph = self.graph(self.root);
        let mut parts = Vec::new();
        for part in key.split('/') {
            let (step, rest) = part.split_once(':').unwrap_or(("", part));
            let (name, send) = rest.split_at(rest.find('[').unwrap_or(rest.len()));
            let (name, called) = self.node(graph, name);
            graph = called.or(graph.filter(|_| part.is_empty()));
            parts.push(match step.is_empty() {
                true => format!("{name}{send}"),
                false => format!("{step}:{name}{send}"),
            });
        }
        (parts.join("/"), graph)
    }

    /// The path of a node: `content/inner`.
    fn path(&self, path: &str) -> String {
        self.walk(path).0
    }

    fn interrupt(&self, open: &mut Json) {
        let text = |open: &Json, key: &str| open.get(key).and_then(Json::as_str).map(str::to_owned);
        let (task, path) = (text(open, "task"), text(open, "path"));
        if let (Some(task), Some(path), Some(entries)) = (task, path, open.as_object_mut()) {
            let path = self.path(&path);
            let node = path.rsplit('/').next().unwrap_or(&path).to_owned();
            entries.insert("node".to_owned(), node.into());
            entries.insert("path".to_owned(), path.into());
            entries.insert("task".to_owned(), self.key(&task).into());
        }
    }
}

/// What is left to do, by the names of now.
fn schedule(old: &Json, migrate: &Migrate) -> Json {
    let mut new = old.clone();
    let node = |name: &mut Json| rename(name, &migrate.nodes);
    each(&mut new, "tasks", |task| {
        task.get_mut("node").into_iter().for_each(node)
    });
    each(&mut new, "joins", |join| {
        each(join, "members", node);
        each(join, "arrived", node);
    });
    each(&mut new, "deferred", node);
    each(&mut new, "visits", |visit| {
        visit.get_mut(0).into_iter().for_each(node)
    });
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
