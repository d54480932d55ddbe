//! What tasks beside write: a field has it in the next super-step, whatever the task that leads there knows of it.
//!
//! A condition tells what a field held while it was read. So where a node leads on, what the others of its step write
//! comes in beside what the way brings, and no guard of the way stands before it.

use std::rc::Rc;

use thin_vec::ThinVec;

use roaring::RoaringBitmap;

use crate::ir::{FieldId, GraphId, NodeId};

use super::super::super::cfg::{BlockId, ControlFlowGraph, EdgeKind, Transition, writes_of};
use super::cross::Source;
use super::search::{Inside, Key, Search};
use super::vouch::Vetted;

/// The nodes that write each field of a graph.
#[derive(Debug)]
pub struct Writers {
    by_field: Vec<RoaringBitmap>,
    /// Whether the graph ever runs more than one thing at once.
    forks: bool,
}

impl Writers {
    fn new(cfg: &ControlFlowGraph, fields: usize) -> Self {
        let mut by_field = vec![RoaringBitmap::default(); fields];
        for id in cfg.nodes.ids() {
            let joins = cfg.transitions(BlockId::Node(id)).iter();
            let joins = joins
                .flat_map(|transition| &transition.successors)
                .filter_map(|successor| match successor.to {
                    BlockId::Join(join) => cfg.joins.get(join),
                    _ => None,
                });
            let by_joins = joins.flat_map(|join| &join.transitions);
            let by_joins = by_joins.flat_map(|transition| transition.writes.iter().copied());
            for write in writes_of(cfg, id).into_iter().chain(by_joins) {
                let writers = by_field.get_mut(write.field.0 as usize);
                writers.into_iter().for_each(|all| _ = all.insert(id.0));
            }
        }
        let forks = forks(cfg);
        Self { by_field, forks }
    }

    fn of(&self, field: FieldId) -> Option<&RoaringBitmap> {
        let writers = self.by_field.get(field.0 as usize);
        writers.filter(|all| !all.is_empty())
    }
}

impl Search<'_> {
    /// The node whose writes an item stands for, if it does.
    pub(super) fn task_of(&self, key: Key) -> Option<NodeId> {
        let first = self.first_task(key.graph)?;
        let number = key.place.checked_sub(first)?;
        Some(NodeId(number as u32))
    }

    /// Items for what nodes write have numbers behind those of all places.
    fn first_task(&self, graph: GraphId) -> Option<usize> {
        let cfg = self.cfgs.get(graph)?;
        Some(cfg.nodes.len() + cfg.joins.len() + 2)
    }

    /// Opens what tasks beside write to the field in the step that ends where the way leads on from that place.
    pub(super) fn aside(&mut self, at: usize, key: Key, from: Option<usize>) {
        let Some(cfg) = self.cfgs.get(key.graph) else {
            return;
        };
        let writers = self.writers(key.graph, cfg);
        let Some(writers) = writers.of(key.field).filter(|_| writers.forks) else {
            return;
        };
        if let Some(BlockId::Node(node)) = from.map(|number| cfg.block(number)) {
            // Behind a fan-out is what its tasks have written.
            let worker = cfg.nodes.get(node).and_then(|node| node.fan_out());
            if let Some(worker) = worker.filter(|worker| writers.contains(worker.0)) {
                self.open_task(Some(at), key, worker, None);
            }
            let around = self.around(key.graph, node);
            for task in (&*around & writers)
                .into_iter()
                .filter(|other| *other != node.0)
            {
                let beside = format!("beside `{}`", cfg.name(BlockId::Node(node)));
                self.open_task(Some(at), key, NodeId(task), Some(&beside));
            }
        }
        let to = (key.place < cfg.nodes.len()).then_some(NodeId(key.place as u32));
        let waits = |node: &NodeId| cfg.nodes.get(*node).is_some_and(|node| node.defer);
        if let (Some(to), Some(mhp)) = (to.filter(waits), self.mhp_cache.of(key.graph)) {
            let waiting = mhp.partners_waiting(to);
            for task in &*waiting & writers {
                let waits = format!("while `{}` waits", cfg.name(BlockId::Node(to)));
                self.open_task(Some(at), key, NodeId(task), Some(&waits));
            }
        }
    }

    /// Opens what a task writes, that runs then.
    fn open_task(&mut self, at: Option<usize>, key: Key, task: NodeId, when: Option<&str>) {
        let (Some(first), Some(cfg)) = (self.first_task(key.graph), self.cfgs.get(key.graph))
        else {
            return;
        };
        let place = first + task.0 as usize;
        let node = cfg.nodes.get(task);
        let note = |when: &str| Some((node?.span, format!("`{}` runs {when}", node?.name)));
        self.open(Key { place, ..key }, at, when.and_then(note));
    }

    /// Opens what earlier runs, or earlier calls, have written to a field that lives on.
    pub(super) fn earlier(
        &mut self,
        (graph, field): (GraphId, FieldId),
        rest: &[String],
        parent: Option<usize>,
    ) {
        let Some(cfg) = self.cfgs.get(graph) else {
            return;
        };
        let writers = self.writers(graph, cfg);
        let key = Key {
            graph,
            place: 0,
            field,
            rest: self.path(rest),
        };
        let writers = writers.of(key.field).into_iter();
        for task in writers.flat_map(|all| all.iter()) {
            self.open_task(parent, key, NodeId(task), Some("in an earlier run"));
        }
    }

    /// What a task writes to the field, whatever way it takes.
    pub(super) fn by_task(&mut self, at: usize, key: Key, task: NodeId) -> Option<Source> {
        let graph = self.program.graphs.get(key.graph)?;
        let cfg = self.cfgs.get(key.graph)?;
        // A choice writes nothing itself.
        let declared = graph.nodes.get(task);
        let transitions = cfg.transitions(BlockId::Node(task));
        // The worker of a fan-out that leads on as a whole needs no way of its own.
        let last = declared.map(|node| Transition {
            kind: EdgeKind::Edge,
            successors: ThinVec::new(),
            writes: ThinVec::new(),
            span: node.name.span,
        });
        let last = last.iter().filter(|_| transitions.is_empty());
        for transition in transitions.iter().chain(last) {
            let hit = declared
                .and_then(|node| self.past(at, key, (task, node), graph, (transition, false)));
            if hit.is_some() {
                return hit;
            }
            for successor in &transition.successors {
                let hit = self.led_on(at, key, successor.to);
                if hit.is_some() {
                    return hit;
                }
            }
        }
        None
    }

    /// What is written in the same step where a task is led on: by branches, joins, and in place of a node that was visited
    /// too often.
    fn led_on(&mut self, at: usize, key: Key, to: BlockId) -> Option<Source> {
        let graph = self.program.graphs.get(key.graph)?;
        let cfg = self.cfgs.get(key.graph)?;
        match to {
            BlockId::Node(next) if cfg.nodes.get(next)?.branch => {
                self.open_task(Some(at), key, next, None);
            }
            BlockId::Node(next) => {
                let node = graph.nodes.get(next)?;
                let transitions = cfg.transitions(to).iter();
                for transition in
                    transitions.filter(|transition| transition.kind == EdgeKind::Visits)
                {
                    let hit = self.past(at, key, (next, node), graph, (transition, false));
                    if hit.is_some() {
                        return hit;
                    }
                }
            }
            BlockId::Join(join) => {
                let set = graph.joins.get(join).map(|join| &join.to.set[..]);
                let inside = Inside::Join(key.graph, join);
                if let Err(source) = self.written(at, key, inside, set, &Vetted::new()) {
                    return Some(source);
                }
            }
            BlockId::Entry | BlockId::End | BlockId::Fail | BlockId::Leave => {}
        }
        None
    }

    fn writers(&mut self, graph: GraphId, cfg: &ControlFlowGraph) -> Rc<Writers> {
        let program = self.program;
        let fields = || {
            program
                .graphs
                .get(graph)
                .map_or(0, |graph| graph.fields.len())
        };
        let made = || Rc::new(Writers::new(cfg, fields()));
        self.writers.entry(graph).or_insert_with(made).clone()
    }

    /// The nodes that may run in the step in which a node leads on. A branch is followed in that of whoever leads to it.
    fn around(&mut self, graph: GraphId, node: NodeId) -> Rc<RoaringBitmap> {
        if let Some(known) = self.around.get(&(graph, node)) {
            return known.clone();
        }
        let mut all = RoaringBitmap::default();
        if let (Some(cfg), Some(mhp)) = (self.cfgs.get(graph), self.mhp_cache.of(graph)) {
            let mut seen = RoaringBitmap::default();
            let mut open = vec![node.0 as usize];
            while let Some(number) = open.pop() {
                if seen.contains(number as u32) {
                    continue;
                }
                seen.insert(number as u32);
                let branch = match cfg.block(number) {
                    BlockId::Node(node) => {
                        all |= &*mhp.partners(node);
                        cfg.nodes.get(node).is_some_and(|node| node.branch)
                    }
                    _ => true,
                };
                if branch {
                    let before = cfg.predecessors(cfg.block(number));
                    open.extend(before.filter_map(|block| cfg.number(block)));
                }
            }
        }
        let all = Rc::new(all);
        self.around.insert((graph, node), all.clone());
        all
    }
}

/// Whether a flow ever runs more than one thing at once.
fn forks(cfg: &ControlFlowGraph) -> bool {
    let transitions = cfg.blocks().flat_map(|block| cfg.transitions(block));
    let mut transitions = cfg.start.iter().chain(transitions);
    transitions.any(|transition| {
        transition.successors.len() > 1
            || transition.successors.iter().any(|successor| successor.many)
    })
}
