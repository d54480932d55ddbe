//! What a field can hold of this run. A thread, and a graph called with `persist thread`, begins with what the run before
//! has left: that is no answer in this one.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use crate::base::IdVec;
use crate::ir::node::Persist;
use crate::ir::{FieldId, GraphId, NodeId};
use crate::resolve::program::{Graph, Program, Work};

use super::super::super::cfg::{BlockId, ControlFlowGraph, EdgeKind, Transition, Write};
use super::super::roots;
use super::decided::Place;

/// Most steps that are followed back; behind them whatever a field holds counts as of this run.
const MOST: usize = 100_000;

/// Answers whether something may have been written before a node begins, looked up once each.
pub struct Kept<'a> {
    program: &'a Program,
    cfgs: &'a IdVec<GraphId, ControlFlowGraph>,
    /// Graphs that may begin with what an earlier run has left.
    lasting: BTreeSet<GraphId>,
    known: RefCell<HashMap<(Place, NodeId), bool>>,
    /// Where fields may be what they begin with.
    firsts: RefCell<HashMap<(Place, Seen), bool>>,
    /// What leads to each block, by graph.
    before: RefCell<HashMap<GraphId, Before>>,
    steps: RefCell<usize>,
}

/// Who reads a field: a node, behind what it writes itself or before, or the graph's end.
type Seen = Option<(NodeId, bool)>;

/// By the number of a block, the blocks that lead there.
type Before = Vec<Vec<BlockId>>;

impl<'a> Kept<'a> {
    /// Nothing is looked up yet.
    pub fn new(program: &'a Program, cfgs: &'a IdVec<GraphId, ControlFlowGraph>) -> Self {
        let nodes = program.graphs.iter().flat_map(|graph| &graph.nodes);
        let persists = nodes.filter_map(|node| match &node.work {
            Work::Subgraph {
                graph: Some(child),
                persist: Persist::Thread,
                ..
            } => Some(*child),
            _ => None,
        });
        Self {
            program,
            cfgs,
            lasting: roots(program).into_iter().chain(persists).collect(),
            known: RefCell::default(),
            firsts: RefCell::default(),
            before: RefCell::default(),
            steps: RefCell::default(),
        }
    }

    /// The flow of a field's graph, where runs leave the field to the next ones: it is kept, and no caller gives it.
    fn flow_that_lasts(&self, (id, field): Place) -> Option<&ControlFlowGraph> {
        let declared = self.program.graphs.get(id)?.fields.get(field)?;
        let left = self.lasting.contains(&id) && !declared.mode.is_in();
        self.cfgs.get(id).filter(|_| left)
    }

    /// Whether all that the field can hold in the node was left by an earlier run; `behind` counts what the node itself
    /// writes.
    pub fn is_of_earlier_run(&self, place: Place, node: NodeId, behind: bool) -> bool {
        let Some(cfg) = self.flow_that_lasts(place) else {
            return false;
        };
        let (id, field) = place;
        let writes = |node: NodeId| {
            let node = cfg.nodes.get(node);
            node.is_some_and(|node| node.writes.iter().any(|write| write.field == field))
        };
        if behind && writes(node) {
            return false;
        }
        if let Some(known) = self.known.borrow().get(&(place, node)) {
            return *known;
        }
        let found = !self.may_be_written(id, cfg, field, node);
        self.known.borrow_mut().insert((place, node), found);
        found
    }

    /// Whether a run may come to a node, or to the graph's end, without anything having been written to the field; `true`
    /// with the node counts what it writes itself.
    pub fn may_be_first(&self, (id, field): Place, at: Seen) -> bool {
        let key = ((id, field), at);
        if let Some(known) = self.firsts.borrow().get(&key) {
            return *known;
        }
        let (graph, cfg) = (self.program.graphs.get(id), self.cfgs.get(id));
        let (Some(graph), Some(cfg)) = (graph, cfg) else {
            return true;
        };
        let found = self.comes_unwritten(graph, cfg, field, at);
        self.firsts.borrow_mut().insert(key, found);
        found
    }

    /// Goes on from the start over all ways on which nothing is written.
    fn comes_unwritten(
        &self,
        graph: &Graph,
        cfg: &ControlFlowGraph,
        field: FieldId,
        at: Seen,
    ) -> bool {
        let of_field = |write: &Write| write.field == field;
        // Where it is left out, it writes nothing.
        let writes = |node: NodeId| {
            let is_set = cfg
                .nodes
                .get(node)
                .is_some_and(|node| node.writes.iter().any(of_field));
            let mut skips = graph
                .nodes
                .get(node)
                .into_iter()
                .flat_map(|node| &node.skips);
            is_set && skips.all(|skip| skip.to.is_some())
        };
        let successor = match at {
            Some((node, true)) if writes(node) => return false,
            Some((node, _)) => Some(BlockId::Node(node)),
            None => None,
        };
        let is_goal = |block: BlockId| match successor {
            Some(successor) => block == successor,
            None => matches!(block, BlockId::End | BlockId::Leave),
        };
        let mut steps = self.steps.borrow_mut();
        let mut seen: BTreeSet<BlockId> = BTreeSet::new();
        let mut open: Vec<(Option<BlockId>, &Transition)> = cfg
            .start
            .iter()
            .map(|transition| (None, transition))
            .collect();
        while let Some((from, transition)) = open.pop() {
            let own = matches!(
                transition.kind,
                EdgeKind::Edge | EdgeKind::Goto | EdgeKind::Tool | EdgeKind::Child
            );
            let left = match from {
                Some(BlockId::Node(node)) if own => writes(node),
                _ => false,
            };
            if left || transition.writes.iter().any(of_field) {
                continue;
            }
            for successor in &transition.successors {
                *steps += 1;
                if is_goal(successor.to) || *steps > MOST {
                    return true;
                }
                if seen.insert(successor.to) {
                    open.extend(
                        cfg.transitions(successor.to)
                            .iter()
                            .map(|transition| (Some(successor.to), transition)),
                    );
                }
            }
        }
        false
    }

    /// Whether all that the field can hold where its graph ends was left by an earlier run: nothing in it writes the field.
    pub fn is_never_written(&self, place: Place) -> bool {
        let Some(cfg) = self.flow_that_lasts(place) else {
            return false;
        };
        let (_, field) = place;
        let nodes = cfg.nodes.iter().flat_map(|node| &node.writes);
        let transitions = cfg.blocks().flat_map(|block| cfg.transitions(block));
        let transitions = transitions
            .chain(&cfg.start)
            .flat_map(|transition| &transition.writes);
        !nodes.chain(transitions).any(|write| write.field == field)
    }

    /// Goes back over all ways that lead to the node.
    fn may_be_written(
        &self,
        id: GraphId,
        cfg: &ControlFlowGraph,
        field: FieldId,
        node: NodeId,
    ) -> bool {
        let mut before = self.before.borrow_mut();
        let before = before.entry(id).or_insert_with(|| leading(cfg));
        let of_field = |write: &Write| write.field == field;
        let begins = cfg.start.iter().flat_map(|transition| &transition.writes);
        if begins.into_iter().any(of_field) {
            return true;
        }
        let mut steps = self.steps.borrow_mut();
        let mut seen = vec![false; before.len()];
        let mut open = vec![BlockId::Node(node)];
        while let Some(block) = open.pop() {
            let from = cfg.number(block).and_then(|number| before.get(number));
            for from in from.into_iter().flatten() {
                let seen = cfg.number(*from).and_then(|from| seen.get_mut(from));
                let Some(seen) = seen.filter(|seen| !**seen) else {
                    continue;
                };
                *seen = true;
                *steps += 1 + cfg.transitions(*from).len();
                if *steps > MOST {
                    return true;
                }
                let own = match from {
                    BlockId::Node(node) => cfg.nodes.get(*node).map(|node| &node.writes),
                    _ => None,
                };
                let own = own.into_iter().flatten();
                let transitions = cfg
                    .transitions(*from)
                    .iter()
                    .flat_map(|transition| &transition.writes);
                if own.chain(transitions).any(of_field) {
                    return true;
                }
                open.push(*from);
            }
        }
        false
    }
}

fn leading(cfg: &ControlFlowGraph) -> Before {
    let mut before: Before = vec![Vec::new(); cfg.nodes.len() + cfg.joins.len()];
    for block in cfg.blocks() {
        for successor in cfg
            .transitions(block)
            .iter()
            .flat_map(|transition| &transition.successors)
        {
            let to = cfg.number(successor.to).and_then(|to| before.get_mut(to));
            to.into_iter().for_each(|to| to.push(block));
        }
    }
    before
}
