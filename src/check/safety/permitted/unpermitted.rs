//! Where some way of a run comes to without a permit of a tool.
//!
//! A forward analysis with one small number a kind of call ([`kinds`](super::kinds)): for how many calls the way with the fewest
//! permits still has one. Where ways meet, the fewest count; at a join the most of its members, as the permissions of all of
//! them are passed on. A called graph is a summary: what is left behind it, by what it begins with.
//!
//! A way passes a permit where the question is answered. What a `skip`, a timeout or an error leads past counts for nothing. A
//! no is followed as long as nothing decides: behind `->` it comes along, behind an arm, a `skip` or a `require` it doesn't.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::base::{IdVec, Span};
use crate::ir::{GraphId, JoinId, NodeId, ToolId};
use crate::resolve::program::{Node, Program, Route, Work};

use super::super::super::calls::{called, callers};
use super::super::super::cfg::{BlockId, ControlFlowGraph, EdgeKind, Transition};
use super::super::roots;
use super::Permits;
use super::kinds::{Kind, Kinds};
use super::left::{ALL, Left, NONE, meet};

/// Most arrows of a way that are shown.
const SHOWN: usize = 6;

/// Where some way comes to without a permit.
pub struct Unpermitted<'a> {
    program: &'a Program,
    cfgs: &'a IdVec<GraphId, ControlFlowGraph>,
    kinds: Kinds,
    /// What each graph leaves.
    through: IdVec<GraphId, Through>,
    /// By graph and node: what is left where the node begins.
    at: BTreeMap<GraphId, Vec<Left>>,
    callers: IdVec<GraphId, Vec<(GraphId, NodeId)>>,
    /// Graphs that a run may begin with.
    roots: Vec<GraphId>,
    trees: BTreeMap<(GraphId, usize), Tree>,
}

/// What is left behind a graph, by what it begins with.
#[derive(Clone, Default)]
struct Through {
    /// At its end.
    end: BTreeMap<u8, Left>,
    /// Where it leaves for a node of its caller.
    leave: BTreeMap<u8, Left>,
}

/// From where, and by which arrow, a way comes to each block; from nowhere where the graph begins.
type Tree = BTreeMap<BlockId, (Option<BlockId>, Span)>;

impl<'a> Unpermitted<'a> {
    /// Follows all ways of the program. `permits` are those of each tool that has one.
    pub fn new(
        program: &'a Program,
        cfgs: &'a IdVec<GraphId, ControlFlowGraph>,
        permits: &Permits<'_>,
    ) -> Self {
        let mut found = Self {
            program,
            cfgs,
            kinds: Kinds::new(program, permits),
            through: program.graphs.ids().map(|_| Through::default()).collect(),
            at: BTreeMap::new(),
            callers: callers(program),
            roots: roots(program),
            trees: BTreeMap::new(),
        };
        if found.kinds.count() > 0 {
            found.summaries();
            found.entries();
        }
        found
    }

    /// What is left where a node calls a tool that has a permit, and the kind of that call.
    pub fn at_call(&self, call: (GraphId, NodeId), tool: ToolId) -> Option<(u8, Kind)> {
        let kind = self.kinds.of(call, tool)?;
        Some((self.comes_with(call, kind.number)?, kind))
    }

    fn comes_with(&self, (graph, at): (GraphId, NodeId), number: usize) -> Option<u8> {
        let begins = self.at.get(&graph)?.get(at.0 as usize)?;
        let asked = self.asked_before(graph, self.node((graph, at))?, begins.clone());
        asked.get(number)
    }

    /// A way by which a call of the tool in a node comes without a permit of it: its last arrows, those of callers before those of
    /// the graph that they call.
    pub fn way(&mut self, call: (GraphId, NodeId), tool: ToolId) -> Vec<(Span, String)> {
        let Some(Kind { number, .. }) = self.kinds.of(call, tool) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        let mut open = Some(call);
        while let Some((id, node)) = open.take_if(|(id, _)| seen.insert(*id)) {
            self.arrows_back((id, node), number, &mut found);
            open = self.caller(id, number);
            if let Some(caller) = open.and_then(|at| self.node(at)) {
                let name = &caller.name;
                found.push((name.span, format!("`{}` calls the graph", name.node)));
            }
            if found.len() >= SHOWN {
                break;
            }
        }
        found.truncate(SHOWN);
        found.reverse();
        found
    }

    /// The last arrows of the shortest way within the graph of a node, from the node back.
    fn arrows_back(
        &mut self,
        (id, node): (GraphId, NodeId),
        number: usize,
        found: &mut Vec<(Span, String)>,
    ) {
        let Some(cfg) = self.cfgs.get(id) else { return };
        if !self.trees.contains_key(&(id, number)) {
            let tree = self.tree(id, number);
            self.trees.insert((id, number), tree);
        }
        let tree = self.trees.get(&(id, number));
        let mut at = Some(BlockId::Node(node));
        while let Some(block) = at.filter(|_| found.len() < SHOWN) {
            let Some((from, span)) = tree.and_then(|tree| tree.get(&block)) else {
                break;
            };
            let text = match from {
                Some(from) => format!("`{}` leads to `{}`", cfg.name(*from), cfg.name(block)),
                None => format!("it begins with `{}`", cfg.name(block)),
            };
            found.push((*span, text));
            at = *from;
        }
    }

    /// By which arrow the shortest way without a permit comes to each block of a graph.
    fn tree(&self, id: GraphId, number: usize) -> Tree {
        let mut came = Tree::new();
        let Some(cfg) = self.cfgs.get(id) else {
            return came;
        };
        let none = self.kinds.all(NONE);
        let comes = |block: BlockId| {
            let at = cfg.number(block).zip(self.at.get(&id));
            at.and_then(|(at, all)| all.get(at)?.get(number)) == Some(NONE)
        };
        let mut open = VecDeque::from([None]);
        while let Some(from) = open.pop_front() {
            let transitions = match from {
                Some(block) => cfg.transitions(block),
                None => &cfg.start[..],
            };
            for transition in transitions {
                let left = from.map(|from| self.behind(id, from, transition, &none));
                if left.is_some_and(|left| left.get(number) != Some(NONE)) {
                    continue;
                }
                for to in transition.successors.iter().map(|successor| successor.to) {
                    if comes(to) && !came.contains_key(&to) {
                        came.insert(to, (from, transition.span));
                        open.push_back(Some(to));
                    }
                }
            }
        }
        came
    }

    /// A node that calls the graph without a permit.
    fn caller(&self, id: GraphId, number: usize) -> Option<(GraphId, NodeId)> {
        let mut callers = self.callers.get(id)?.iter().copied();
        callers
            .find(|call| self.comes_with(*call, number) == Some(NONE))
            .filter(|_| !self.roots.contains(&id))
    }

    fn node(&self, (graph, node): (GraphId, NodeId)) -> Option<&'a Node> {
        self.program.graphs.get(graph)?.nodes.get(node)
    }

    /// What each graph leaves, callers again where a called graph leaves less.
    fn summaries(&mut self) {
        let mut open: Vec<GraphId> = self.program.graphs.ids().collect();
        while let Some(id) = open.pop() {
            let mut fewer = false;
            for start in self.kinds.starts() {
                let followed = self.follow(id, &self.kinds.all(start));
                let all = self.kinds.all(ALL);
                let Some(known) = self.through.get_mut(id) else {
                    continue;
                };
                let end = known.end.entry(start).or_insert_with(|| all.clone());
                fewer |= meet(end, &followed.end);
                let leave = known.leave.entry(start).or_insert(all);
                fewer |= meet(leave, &followed.leave);
            }
            if fewer {
                let again = self.callers.get(id).into_iter().flatten();
                open.extend(again.map(|(caller, _)| *caller));
            }
        }
    }

    /// What comes to each block, from the graphs that a run may begin with into those that they call.
    fn entries(&mut self) {
        let mut begins: BTreeMap<GraphId, Left> = BTreeMap::new();
        let mut open = Vec::new();
        for root in &self.roots {
            begins.insert(*root, self.kinds.all(NONE));
            open.push(*root);
        }
        while let Some(id) = open.pop() {
            let Some(start) = begins.get(&id).cloned() else {
                continue;
            };
            let at = self.follow(id, &start).at;
            let nodes = self.program.graphs.get(id).into_iter();
            let nodes = nodes.flat_map(|graph| &graph.nodes).zip(&at);
            for (node, here) in nodes {
                let Some((child, _)) = called(node) else {
                    continue;
                };
                let given = self.asked_before(id, node, here.clone());
                let known = begins.entry(child).or_insert_with(|| self.kinds.all(ALL));
                if meet(known, &given) {
                    open.push(child);
                }
            }
            self.at.insert(id, at);
        }
    }

    /// What comes to each block of a graph that begins with `start`, and what is left behind it.
    fn follow(&self, id: GraphId, start: &Left) -> Followed {
        let Some(cfg) = self.cfgs.get(id) else {
            return Followed::new(0, start);
        };
        let mut following = Following {
            ways: self,
            id,
            cfg,
            found: Followed::new(cfg.count(), &self.kinds.all(ALL)),
            open: VecDeque::new(),
            waiting: vec![false; cfg.count()],
        };
        let mut start = start.clone();
        if cfg.start.len() > 1 {
            start.decided();
        }
        for transition in &cfg.start {
            following.lead_on(transition, &start);
        }
        following.run();
        let mut found = following.found;
        if cfg.exits {
            // It may end behind any super-step.
            for left in &found.at {
                meet(&mut found.end, left);
            }
        }
        found
    }

    /// With what the questions permit that are asked ahead of all that the node does.
    fn asked_before(&self, graph: GraphId, node: &Node, mut left: Left) -> Left {
        let before = node.stops.iter().filter(|stop| !stop.after);
        for permit in before.flat_map(|stop| &stop.permits) {
            left.permit(self.kinds.covered(graph, permit), permit);
        }
        if decides(node) {
            left.decided();
        }
        left
    }

    /// What is left behind a way out of a block.
    fn behind(&self, id: GraphId, from: BlockId, way: &Transition, begins: &Left) -> Left {
        let BlockId::Node(at) = from else {
            return begins.clone();
        };
        match self.node((id, at)) {
            Some(node) => self.behind_node((id, at), node, way.kind, begins),
            None => begins.clone(),
        }
    }

    fn behind_node(
        &self,
        at: (GraphId, NodeId),
        node: &Node,
        kind: EdgeKind,
        begins: &Left,
    ) -> Left {
        if kind == EdgeKind::Visits {
            return begins.clone();
        }
        // A call that has failed may have used a permission; those of a task that fails are lost.
        if kind == EdgeKind::Error {
            let mut left = begins.clone();
            self.kinds.call(at, &mut left);
            return left;
        }
        let asked = self.asked_before(at.0, node, begins.clone());
        if matches!(kind, EdgeKind::Skip | EdgeKind::Timeout) {
            return asked;
        }
        let mut left = asked.clone();
        self.kinds.call(at, &mut left);
        if let Some(through) = called(node).and_then(|(child, _)| self.through.get(child)) {
            left.through(match kind {
                EdgeKind::Child => &through.leave,
                _ => &through.end,
            });
        }
        if !matches!(kind, EdgeKind::Edge | EdgeKind::Goto) {
            return left;
        }
        let own = match &node.work {
            Work::Interrupt { permits, .. } => permits.as_slice(),
            _ => &[],
        };
        let after = node.stops.iter().filter(|stop| stop.after);
        let after = after.flat_map(|stop| &stop.permits);
        for permit in own.iter().chain(after) {
            left.permit(self.kinds.covered(at.0, permit), permit);
        }
        if node.goto.as_ref().is_some_and(|goto| has_arms(&goto.node)) {
            left.decided();
        }
        if node.skips.iter().any(|skip| skip.to.is_none()) {
            meet(&mut left, &asked);
        }
        left
    }
}

/// Whether a node may do nothing, or fail, by what was answered ahead of it.
fn decides(node: &Node) -> bool {
    !node.skips.is_empty() || !node.requires.is_empty()
}

fn has_arms(route: &Route) -> bool {
    matches!(route, Route::Arms(..))
}

/// What the analysis of one graph finds.
struct Followed {
    /// What has come to each block, by its number.
    at: Vec<Left>,
    /// What has come to its end.
    end: Left,
    /// What it leaves for a node of its caller with.
    leave: Left,
}

impl Followed {
    fn new(blocks: usize, left: &Left) -> Self {
        Self {
            at: vec![left.clone(); blocks],
            end: left.clone(),
            leave: left.clone(),
        }
    }
}

/// The analysis of one graph under way.
struct Following<'f, 'a> {
    ways: &'f Unpermitted<'a>,
    id: GraphId,
    cfg: &'a ControlFlowGraph,
    found: Followed,
    /// Blocks to which something new has come, first in, first out: so a join comes behind its members.
    open: VecDeque<usize>,
    waiting: Vec<bool>,
}

impl Following<'_, '_> {
    fn run(&mut self) {
        while let Some(number) = self.open.pop_front() {
            if let Some(waiting) = self.waiting.get_mut(number) {
                *waiting = false;
            }
            let block = self.cfg.block(number);
            if let BlockId::Join(id) = block {
                let met = self.members(id);
                let at = self.found.at.get_mut(number);
                if !at.is_some_and(|at| meet(at, &met)) {
                    continue;
                }
            }
            for transition in self.cfg.transitions(block) {
                let behind = self.behind(number, transition);
                self.lead_on(transition, &behind);
            }
        }
    }

    /// What is left behind a way out of a block.
    fn behind(&self, number: usize, way: &Transition) -> Left {
        let begins = self.found.at.get(number).cloned().unwrap_or_default();
        let from = self.cfg.block(number);
        self.ways.behind(self.id, from, way, &begins)
    }

    fn lead_on(&mut self, transition: &Transition, left: &Left) {
        for successor in &transition.successors {
            let number = self.cfg.number(successor.to);
            let new = match (successor.to, number) {
                (BlockId::End, _) => {
                    meet(&mut self.found.end, left);
                    false
                }
                (BlockId::Leave, _) => {
                    meet(&mut self.found.leave, left);
                    false
                }
                // Looked at when all that leads there now has been.
                (BlockId::Join(_), _) => true,
                (_, Some(number)) => {
                    let mut left = left.clone();
                    if successor.many {
                        left.used_by_many(0..left.len());
                    }
                    let at = self.found.at.get_mut(number);
                    at.is_some_and(|at| meet(at, &left))
                }
                _ => false,
            };
            let waiting = number.and_then(|number| Some((number, self.waiting.get_mut(number)?)));
            if let Some((number, waiting)) = waiting.filter(|(_, waiting)| new && !**waiting) {
                *waiting = true;
                self.open.push_back(number);
            }
        }
    }

    /// What comes to a join: the most of what its members bring.
    fn members(&self, id: JoinId) -> Left {
        let mut met = self.ways.kinds.all(NONE);
        let members = self.cfg.joins.get(id).into_iter();
        for (member, _) in members.flat_map(|join| &join.members) {
            let mut brought = self.ways.kinds.all(ALL);
            for transition in self.cfg.transitions(BlockId::Node(*member)) {
                let mut to = transition.successors.iter();
                if to.any(|successor| successor.to == BlockId::Join(id)) {
                    meet(&mut brought, &self.behind(member.0 as usize, transition));
                }
            }
            met.at_least(&brought);
        }
        met
    }
}
