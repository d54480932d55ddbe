//! What is written on each way out of a node: what is written whenever it is taken, and what may be.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::{IdVec, Span};
use crate::ir::{FieldId, GraphId, NodeId};
use crate::resolve::program::{Graph, Node, Program, SetItem, Work};

use super::bits::{FieldSet, Tracked};
use super::build::called_bodies;
use super::model::{Cause, Flow, Spot, Way};
use super::written::Written;

/// The fields that a graph gives back whenever it comes to its end, for each graph.
pub type Given = IdVec<GraphId, BTreeSet<FieldId>>;

/// Writes on the ways of a graph.
pub struct Effects {
    /// The fields that are followed: those that begin without a value, and those that are given back.
    pub tracked: Tracked,
    /// By node and way, those of a node one behind the other.
    sure: Vec<FieldSet>,
    /// The same of what may be written.
    may: Vec<FieldSet>,
    /// Where those of each node begin.
    first: Vec<u32>,
    /// By node: what its work and `set` surely write, where it is not skipped.
    done: Vec<FieldSet>,
    /// By node: fields that its called graph gives back whenever it ends.
    given: BTreeMap<NodeId, BTreeSet<FieldId>>,
}

impl Effects {
    /// The writes of a graph, in which called graphs give back `given`.
    pub fn new(
        program: &Program,
        graph: &Graph,
        flow: &Flow,
        written: &Written,
        given: &Given,
        tracked: Tracked,
    ) -> Self {
        let mut effects = Self {
            tracked,
            sure: Vec::new(),
            may: Vec::new(),
            first: Vec::new(),
            done: Vec::new(),
            given: BTreeMap::new(),
        };
        if effects.tracked.is_empty() {
            return effects;
        }
        for (id, node) in graph.nodes.entries() {
            let work = work(program, graph, node, written, given, &effects.tracked);
            let ways = flow.ways(Spot::Node(id)).iter();
            effects.first.push(effects.sure.len() as u32);
            for way in ways {
                let (sure, may) = of_way(node, way, &work, &effects.tracked);
                effects.sure.push(sure);
                effects.may.push(may);
            }
            if let Work::Subgraph { .. } = node.work {
                let given = effects.tracked.list(&work.given).collect();
                effects.given.insert(id, given);
            }
            effects.done.push(work.sure);
        }
        effects
    }

    /// What is written whenever a spot's way of that number is taken.
    pub fn sure(&self, flow: &Flow, spot: Spot, way: usize) -> FieldSet {
        self.of(&self.sure, flow, spot, way)
    }

    /// What a node's work and `set` surely write, where it is not skipped.
    pub fn done(&self, node: NodeId) -> FieldSet {
        let known = self.done.get(node.0 as usize);
        known.cloned().unwrap_or_else(|| self.tracked.none())
    }

    /// What may be written when it is taken.
    pub fn may(&self, flow: &Flow, spot: Spot, way: usize) -> FieldSet {
        self.of(&self.may, flow, spot, way)
    }

    /// The followed fields that the graph called by a node gives back whenever it comes to its end.
    pub fn given(&self, node: NodeId) -> BTreeSet<FieldId> {
        self.given.get(&node).cloned().unwrap_or_default()
    }

    /// What a way writes itself, wherever it comes from.
    pub fn on(&self, way: &Way) -> FieldSet {
        self.tracked.of(way.writes.iter().map(|write| write.field))
    }

    fn of(&self, from: &[FieldSet], flow: &Flow, spot: Spot, way: usize) -> FieldSet {
        let known = match spot {
            Spot::Node(id) => {
                let first = self.first.get(id.0 as usize);
                first.and_then(|first| from.get(*first as usize + way))
            }
            _ => None,
        };
        known.cloned().unwrap_or_else(|| {
            let way = flow.ways(spot).get(way);
            way.map_or_else(|| self.tracked.none(), |way| self.on(way))
        })
    }
}

/// What a node's work and `set` write when it comes to its own way on, and what they may.
struct Wrote {
    sure: FieldSet,
    may: FieldSet,
    set: FieldSet,
    given: FieldSet,
    /// What each of its tools writes, by the place where the node names it.
    by_tool: BTreeMap<Span, FieldSet>,
}

fn work(
    program: &Program,
    graph: &Graph,
    node: &Node,
    written: &Written,
    given: &Given,
    tracked: &Tracked,
) -> Wrote {
    let set = tracked.of(node.set.iter().filter_map(SetItem::writes));
    let mut by_tool: BTreeMap<Span, FieldSet> = BTreeMap::new();
    let mut may = tracked.none();
    for (span, body) in called_bodies(program, node) {
        let items = body.set.iter();
        let own = tracked.of(items.filter_map(|item| graph.field(&item.field.node)));
        may.join(&own);
        match by_tool.get_mut(&span) {
            Some(known) => {
                known.join(&own);
            }
            None => {
                by_tool.insert(span, own);
            }
        }
    }
    let mut sure = match node.work {
        Work::Call { .. } => may.clone(),
        _ => tracked.none(),
    };
    if let Work::Extern { writes, .. } = &node.work {
        for field in writes {
            tracked.add(&mut sure, field.node);
            tracked.add(&mut may, field.node);
        }
    }
    if let Work::Subgraph {
        graph: Some(child), ..
    } = &node.work
    {
        let all = written.taken_from(program, graph, node, *child);
        let always = given.get(*child);
        for (from, to) in all {
            tracked.add(&mut may, to);
            if always.is_some_and(|always| always.contains(&from)) {
                tracked.add(&mut sure, to);
            }
        }
    }
    let given = match node.work {
        Work::Subgraph { .. } => sure.clone(),
        _ => tracked.none(),
    };
    sure.join(&set);
    may.join(&set);
    Wrote {
        sure,
        may,
        set,
        given,
        by_tool,
    }
}

fn of_way(node: &Node, way: &Way, work: &Wrote, tracked: &Tracked) -> (FieldSet, FieldSet) {
    let own = tracked.of(way.writes.iter().map(|write| write.field));
    let skipped = node.skips.iter().any(|skip| skip.to.is_none());
    let (mut sure, mut may) = match way.cause {
        // A `skip` without a target takes the same way with nothing written.
        Cause::Edge | Cause::Goto if skipped => (tracked.none(), tracked.none()),
        Cause::Edge | Cause::Goto => (work.sure.clone(), work.may.clone()),
        Cause::Tool => {
            let own = work.by_tool.get(&way.span).cloned();
            let mut sure = own.unwrap_or_else(|| tracked.none());
            sure.join(&work.set);
            (sure, work.may.clone())
        }
        Cause::Child => (tracked.none(), work.may.clone()),
        Cause::Skip | Cause::Error | Cause::Visits | Cause::Timeout | Cause::Exit => {
            (tracked.none(), tracked.none())
        }
    };
    sure.join(&own);
    may.join(&own);
    (sure, may)
}
