//! What is written on each way out of a node: what is written whenever it is taken.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::{IdVec, Span};
use crate::ir::{FieldId, GraphId, NodeId};
use crate::resolve::program::{Graph, Node, Program, SetItem, Work};

use super::build::called_bodies;
use super::field_set::{FieldSet, Tracked};
use super::model::{BlockId, ControlFlowGraph, EdgeKind, Transition};
use super::written::Written;

/// The fields that a graph gives back whenever it comes to its end, for each graph.
pub type Given = IdVec<GraphId, BTreeSet<FieldId>>;

/// Writes on the ways of a graph.
pub struct WritesOnWays {
    /// The fields that are followed: those that begin without a value, and those that are given back.
    pub tracked: Tracked,
    /// By node and way, those of a node one behind the other.
    sure: Vec<FieldSet>,
    /// Where those of each node begin.
    first: Vec<u32>,
    /// By node: fields that its called graph gives back whenever it ends.
    given: BTreeMap<NodeId, BTreeSet<FieldId>>,
}

impl WritesOnWays {
    /// The writes of a graph, in which called graphs give back `given`.
    pub fn new(
        program: &Program,
        graph: &Graph,
        cfg: &ControlFlowGraph,
        written: &Written,
        given: &Given,
        tracked: Tracked,
    ) -> Self {
        let mut effects = Self {
            tracked,
            sure: Vec::new(),
            first: Vec::new(),
            given: BTreeMap::new(),
        };
        if effects.tracked.is_empty() {
            return effects;
        }
        for (id, node) in graph.nodes.entries() {
            let work = work(program, graph, node, written, given, &effects.tracked);
            let transitions = cfg.transitions(BlockId::Node(id)).iter();
            effects.first.push(effects.sure.len() as u32);
            for transition in transitions {
                let sure = of_way(node, transition, &work, &effects.tracked);
                effects.sure.push(sure);
            }
            if let Work::Subgraph { .. } = node.work {
                let given = work.given.list().collect();
                effects.given.insert(id, given);
            }
        }
        effects
    }

    /// What is written whenever a block's way of that number is taken.
    pub fn sure(&self, cfg: &ControlFlowGraph, block: BlockId, transition: usize) -> FieldSet {
        let known = match block {
            BlockId::Node(id) => {
                let first = self.first.get(id.0 as usize);
                first.and_then(|first| self.sure.get(*first as usize + transition))
            }
            _ => None,
        };
        known.cloned().unwrap_or_else(|| {
            let transition = cfg.transitions(block).get(transition);
            transition.map_or_else(|| self.tracked.none(), |transition| self.on(transition))
        })
    }

    /// The followed fields that the graph called by a node gives back whenever it comes to its end.
    pub fn given(&self, node: NodeId) -> BTreeSet<FieldId> {
        self.given.get(&node).cloned().unwrap_or_default()
    }

    /// What a way writes itself, wherever it comes from.
    pub fn on(&self, transition: &Transition) -> FieldSet {
        self.tracked
            .of(transition.writes.iter().map(|write| write.field))
    }
}

/// What a node's work and `set` write whenever it comes to its own way on.
struct Wrote {
    sure: FieldSet,
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
    let mut by_tools = tracked.none();
    for (span, body) in called_bodies(program, node) {
        let items = body.set.iter();
        let own = tracked.of(items.filter_map(|item| graph.field(&item.name.node)));
        by_tools.join(&own);
        let known = by_tool.entry(span).or_insert_with(|| tracked.none());
        known.join(&own);
    }
    let mut sure = match node.work {
        Work::Call { .. } => by_tools,
        _ => tracked.none(),
    };
    if let Work::Extern { writes, .. } = &node.work {
        sure = tracked.of(writes.iter().map(|field| field.node));
    }
    if let Some((child, _)) = node.called() {
        let all = written.given_back(program, graph, node);
        let always = given.get(child);
        let is_sure = |from: &FieldId| always.is_some_and(|always| always.contains(from));
        let all = all.into_iter().filter(|(from, ..)| is_sure(from));
        sure = tracked.of(all.map(|(_, to, _)| to));
    }
    let given = match node.work {
        Work::Subgraph { .. } => sure.clone(),
        _ => tracked.none(),
    };
    sure.join(&set);
    Wrote {
        sure,
        set,
        given,
        by_tool,
    }
}

fn of_way(node: &Node, transition: &Transition, work: &Wrote, tracked: &Tracked) -> FieldSet {
    let own = tracked.of(transition.writes.iter().map(|write| write.field));
    let skipped = node.skips.iter().any(|skip| skip.to.is_none());
    let mut sure = match transition.kind {
        // A `skip` without a target takes the same way with nothing written.
        EdgeKind::Edge | EdgeKind::Goto if skipped => tracked.none(),
        EdgeKind::Edge | EdgeKind::Goto => work.sure.clone(),
        EdgeKind::Tool => {
            let own = work.by_tool.get(&transition.span).cloned();
            let mut sure = own.unwrap_or_else(|| tracked.none());
            sure.join(&work.set);
            sure
        }
        EdgeKind::Child
        | EdgeKind::Skip
        | EdgeKind::Error
        | EdgeKind::Visits
        | EdgeKind::Timeout
        | EdgeKind::Exit => tracked.none(),
    };
    sure.join(&own);
    sure
}
