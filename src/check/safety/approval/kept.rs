//! What a field can hold of this run. A thread, and a graph called with `persist thread`, begins with what the run before
//! has left: that is no answer in this one.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use crate::base::IdVec;
use crate::ir::node::Persist;
use crate::ir::{FieldId, GraphId, NodeId};
use crate::resolve::program::{Graph, Program, Work};

use super::super::super::flow::{Cause, Flow, Spot, Way, Write};
use super::super::roots;
use super::decided::Place;

/// Most steps that are followed back; behind them whatever a field holds counts as of this run.
const MOST: usize = 100_000;

/// Answers whether something may have been written before a node begins, looked up once each.
pub struct Kept<'a> {
    program: &'a Program,
    flows: &'a IdVec<GraphId, Flow>,
    /// Graphs that may begin with what an earlier run has left.
    lasting: BTreeSet<GraphId>,
    known: RefCell<HashMap<(Place, NodeId), bool>>,
    /// Where fields may be what they begin with.
    firsts: RefCell<HashMap<(Place, Seen), bool>>,
    /// What leads to each spot, by graph.
    before: RefCell<HashMap<GraphId, Before>>,
    steps: RefCell<usize>,
}

/// Who reads a field: a node, behind what it writes itself or before, or the graph's end.
type Seen = Option<(NodeId, bool)>;

/// By the number of a spot, the spots that lead there.
type Before = Vec<Vec<Spot>>;

impl<'a> Kept<'a> {
    /// Nothing is looked up yet.
    pub fn new(program: &'a Program, flows: &'a IdVec<GraphId, Flow>) -> Self {
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
            flows,
            lasting: roots(program).into_iter().chain(persists).collect(),
            known: RefCell::default(),
            firsts: RefCell::default(),
            before: RefCell::default(),
            steps: RefCell::default(),
        }
    }

    /// The flow of a field's graph, where runs leave the field to the next ones: it is kept, and no caller gives it.
    fn flow_that_lasts(&self, (id, field): Place) -> Option<&Flow> {
        let declared = self.program.graphs.get(id)?.fields.get(field)?;
        let left = self.lasting.contains(&id) && !declared.mode.is_in();
        self.flows.get(id).filter(|_| left)
    }

    /// Whether all that the field can hold in the node was left by an earlier run; `behind` counts what the node itself
    /// writes.
    pub fn is_of_earlier_run(&self, place: Place, node: NodeId, behind: bool) -> bool {
        let Some(flow) = self.flow_that_lasts(place) else {
            return false;
        };
        let (id, field) = place;
        let writes = |node: NodeId| {
            let stop = flow.stops.get(node);
            stop.is_some_and(|stop| stop.writes.iter().any(|write| write.field == field))
        };
        if behind && writes(node) {
            return false;
        }
        if let Some(known) = self.known.borrow().get(&(place, node)) {
            return *known;
        }
        let found = !self.may_be_written(id, flow, field, node);
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
        let (graph, flow) = (self.program.graphs.get(id), self.flows.get(id));
        let (Some(graph), Some(flow)) = (graph, flow) else {
            return true;
        };
        let found = self.comes_unwritten(graph, flow, field, at);
        self.firsts.borrow_mut().insert(key, found);
        found
    }

    /// Goes on from the start over all ways on which nothing is written.
    fn comes_unwritten(&self, graph: &Graph, flow: &Flow, field: FieldId, at: Seen) -> bool {
        let of_field = |write: &Write| write.field == field;
        // Where it is left out, it writes nothing.
        let writes = |node: NodeId| {
            let is_set = flow
                .stops
                .get(node)
                .is_some_and(|stop| stop.writes.iter().any(of_field));
            let mut skips = graph
                .nodes
                .get(node)
                .into_iter()
                .flat_map(|node| &node.skips);
            is_set && skips.all(|skip| skip.to.is_some())
        };
        let goal = match at {
            Some((node, true)) if writes(node) => return false,
            Some((node, _)) => Some(Spot::Node(node)),
            None => None,
        };
        let is_goal = |spot: Spot| match goal {
            Some(goal) => spot == goal,
            None => matches!(spot, Spot::End | Spot::Leave),
        };
        let mut steps = self.steps.borrow_mut();
        let mut seen: BTreeSet<Spot> = BTreeSet::new();
        let mut open: Vec<(Option<Spot>, &Way)> =
            flow.start.iter().map(|way| (None, way)).collect();
        while let Some((from, way)) = open.pop() {
            let own = matches!(
                way.cause,
                Cause::Edge | Cause::Goto | Cause::Tool | Cause::Child
            );
            let left = match from {
                Some(Spot::Node(node)) if own => writes(node),
                _ => false,
            };
            if left || way.writes.iter().any(of_field) {
                continue;
            }
            for goal in &way.goals {
                *steps += 1;
                if is_goal(goal.to) || *steps > MOST {
                    return true;
                }
                if seen.insert(goal.to) {
                    open.extend(flow.ways(goal.to).iter().map(|way| (Some(goal.to), way)));
                }
            }
        }
        false
    }

    /// Whether all that the field can hold where its graph ends was left by an earlier run: nothing in it writes the field.
    pub fn is_never_written(&self, place: Place) -> bool {
        let Some(flow) = self.flow_that_lasts(place) else {
            return false;
        };
        let (_, field) = place;
        let stops = flow.stops.iter().flat_map(|stop| &stop.writes);
        let ways = flow.spots().flat_map(|spot| flow.ways(spot));
        let ways = ways.chain(&flow.start).flat_map(|way| &way.writes);
        !stops.chain(ways).any(|write| write.field == field)
    }

    /// Goes back over all ways that lead to the node.
    fn may_be_written(&self, id: GraphId, flow: &Flow, field: FieldId, node: NodeId) -> bool {
        let mut before = self.before.borrow_mut();
        let before = before.entry(id).or_insert_with(|| leading(flow));
        let of_field = |write: &Write| write.field == field;
        let begins = flow.start.iter().flat_map(|way| &way.writes);
        if begins.into_iter().any(of_field) {
            return true;
        }
        let mut steps = self.steps.borrow_mut();
        let mut seen = vec![false; before.len()];
        let mut open = vec![Spot::Node(node)];
        while let Some(spot) = open.pop() {
            let from = flow.number(spot).and_then(|number| before.get(number));
            for from in from.into_iter().flatten() {
                let seen = flow.number(*from).and_then(|from| seen.get_mut(from));
                let Some(seen) = seen.filter(|seen| !**seen) else {
                    continue;
                };
                *seen = true;
                *steps += 1 + flow.ways(*from).len();
                if *steps > MOST {
                    return true;
                }
                let own = match from {
                    Spot::Node(node) => flow.stops.get(*node).map(|stop| &stop.writes),
                    _ => None,
                };
                let own = own.into_iter().flatten();
                let ways = flow.ways(*from).iter().flat_map(|way| &way.writes);
                if own.chain(ways).any(of_field) {
                    return true;
                }
                open.push(*from);
            }
        }
        false
    }
}

fn leading(flow: &Flow) -> Before {
    let mut before: Before = vec![Vec::new(); flow.stops.len() + flow.joins.len()];
    for spot in flow.spots() {
        for goal in flow.ways(spot).iter().flat_map(|way| &way.goals) {
            let to = flow.number(goal.to).and_then(|to| before.get_mut(to));
            to.into_iter().for_each(|to| to.push(spot));
        }
    }
    before
}
