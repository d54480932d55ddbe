//! Where some way of a run comes to without a permit of a tool.
//!
//! A forward analysis with two sets of tools: of which some way comes to a block without a `permit` that is left, and of which
//! without one that lasts, which is for any number of calls. Where ways meet,
//! one of them is enough; at a join none of its members may have one, as the permissions of all of them are passed on. A
//! called graph is a summary: which ways through it, to its end or to where it leaves for a node of its caller, pass no permit.
//!
//! A way passes a permit where the question is answered, whatever the answer. What a `skip`, a timeout or an error leads
//! past counts for nothing. A call uses up a `permit once`.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use fixedbitset::FixedBitSet;

use crate::base::{IdVec, Span};
use crate::ir::{GraphId, JoinId, NodeId, ToolId};
use crate::resolve::program::{Graph, Node, Permit, Program, Work};

use super::super::super::calls::{callers, settle};
use super::super::super::cfg::{BlockId, ControlFlowGraph, EdgeKind, Transition};
use super::super::roots;
use super::asking;

/// Most arrows of a way that are shown.
const SHOWN: usize = 6;

/// The tools that have a permit and of which some way to a place has none, by their ids.
#[derive(Clone)]
struct Lacking {
    /// None is left.
    any: FixedBitSet,
    /// None lasts: there are only those for one call.
    lasting: FixedBitSet,
}

impl Lacking {
    /// Takes in another way; whether it lacks more.
    fn join(&mut self, other: &Self) -> bool {
        let more = !other.any.is_subset(&self.any) || !other.lasting.is_subset(&self.lasting);
        self.any.union_with(&other.any);
        self.lasting.union_with(&other.lasting);
        more
    }

    /// Keeps what another way lacks too.
    fn meet(&mut self, other: &Self) {
        self.any.intersect_with(&other.any);
        self.lasting.intersect_with(&other.lasting);
    }

    /// Uses up permits for one call.
    fn spend(&mut self, used: &FixedBitSet) {
        let spent = self.lasting.intersection(used).collect();
        self.any.union_with(&spent);
    }

    fn permit<'p>(mut self, permits: impl Iterator<Item = &'p Permit>) -> Self {
        for permit in permits {
            let tool = permit.tool.map_or(usize::MAX, |tool| tool.0 as usize);
            if self.any.contains(tool) || self.lasting.contains(tool) {
                self.any.remove(tool);
                if !permit.once || permit.each.is_some() {
                    self.lasting.remove(tool);
                }
            }
        }
        self
    }
}

/// Where some way comes to without a permit.
pub struct Unpermitted<'a> {
    program: &'a Program,
    cfgs: &'a IdVec<GraphId, ControlFlowGraph>,
    /// Of all tools that have a permit; of others no way has one.
    all: Lacking,
    none: Lacking,
    /// The nodes that call tools which have a permit, or a graph that does, with those tools.
    uses: BTreeMap<(GraphId, NodeId), FixedBitSet>,
    /// By graph: the tools that some way through it has no permit of, to its end or to where it leaves for a node of its caller.
    through: IdVec<GraphId, Lacking>,
    /// By graph and node: the tools that some way to the node has no permit of, where it begins.
    at: BTreeMap<GraphId, Vec<Lacking>>,
    callers: IdVec<GraphId, Vec<(GraphId, NodeId)>>,
    /// Graphs that a run may begin with.
    roots: Vec<GraphId>,
    arrows: BTreeMap<GraphId, Arrows>,
}

/// From where, and by which arrow, a way without a permit of a tool, by its number, comes first to a block; from nowhere where the
/// graph begins.
type Arrows = HashMap<(BlockId, usize), (Option<BlockId>, Span)>;

impl<'a> Unpermitted<'a> {
    /// Follows all ways of the program. `permits` are those of each tool that has one.
    pub fn new(
        program: &'a Program,
        cfgs: &'a IdVec<GraphId, ControlFlowGraph>,
        permits: &BTreeMap<ToolId, Vec<&Permit>>,
    ) -> Self {
        let empty = FixedBitSet::with_capacity(program.tools.len());
        let mut tools = empty.clone();
        tools.extend(permits.keys().map(|tool| tool.0 as usize));
        let both = |tools: FixedBitSet| Lacking {
            any: tools.clone(),
            lasting: tools,
        };
        let none = both(empty);
        let mut found = Self {
            program,
            cfgs,
            uses: BTreeMap::new(),
            through: program.graphs.ids().map(|_| none.clone()).collect(),
            all: both(tools),
            none,
            at: BTreeMap::new(),
            callers: callers(program),
            roots: roots(program),
            arrows: BTreeMap::new(),
        };
        if !permits.is_empty() {
            found.uses = found.uses();
            found.summaries();
            found.entries();
        }
        found
    }

    /// Whether some way comes to a call of the tool in a node without a permit of it, or the node may call it again when a permit for
    /// one call is used.
    pub fn come_to(&self, call: (GraphId, NodeId), tool: ToolId) -> bool {
        let tool = tool.0 as usize;
        let Some((node, begins)) = self.node(call).zip(self.begins(call)) else {
            return !self.all.any.contains(tool);
        };
        let many = !matches!(node.work, Work::Call { .. });
        !self.all.any.contains(tool)
            || begins.any.contains(tool)
            || many && begins.lasting.contains(tool)
    }

    /// The nodes that call tools which have a permit.
    fn uses(&self) -> BTreeMap<(GraphId, NodeId), FixedBitSet> {
        let mut uses = BTreeMap::new();
        let none = &self.none.any;
        for (id, graph) in self.program.graphs.entries() {
            for (at, node) in graph.nodes.entries() {
                for (tool, _) in asking(self.program, graph, node) {
                    if self.all.any.contains(tool.0 as usize) {
                        let used = uses.entry((id, at)).or_insert_with(|| none.clone());
                        used.insert(tool.0 as usize);
                    }
                }
            }
        }
        // A called graph uses up what its nodes do.
        settle(self.program, |id| {
            let of = uses.range((id, NodeId(0))..=(id, NodeId(u32::MAX)));
            let mut used = none.clone();
            of.for_each(|(_, of)| used.union_with(of));
            let mut new = false;
            let callers = self.callers.get(id).into_iter().flatten();
            for call in callers.filter(|_| !used.is_clear()) {
                let known = uses.entry(*call).or_insert_with(|| none.clone());
                new |= !used.is_subset(known);
                known.union_with(&used);
            }
            new
        });
        uses
    }

    /// What a node lacks when the questions ahead of it are answered.
    fn begins(&self, (graph, at): (GraphId, NodeId)) -> Option<Lacking> {
        let begins = self.at.get(&graph)?.get(at.0 as usize)?;
        Some(asked_before(self.node((graph, at))?, begins.clone()))
    }

    /// A way by which a call of the tool in a node comes without a permit of it: its last arrows, those of callers before those of
    /// the graph that they call.
    pub fn way(&self, call: (GraphId, NodeId), tool: ToolId) -> Vec<(Span, String)> {
        let number = tool.0 as usize;
        if !self.all.any.contains(number) {
            return Vec::new();
        }
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
        &self,
        (id, node): (GraphId, NodeId),
        number: usize,
        found: &mut Vec<(Span, String)>,
    ) {
        let Some((cfg, arrows)) = self.cfgs.get(id).zip(self.arrows.get(&id)) else {
            return;
        };
        let mut at = Some(BlockId::Node(node));
        while let Some(block) = at.filter(|_| found.len() < SHOWN) {
            let Some((from, span)) = arrows.get(&(block, number)) else {
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

    /// A node that calls the graph without a permit.
    fn caller(&self, id: GraphId, number: usize) -> Option<(GraphId, NodeId)> {
        let mut callers = self.callers.get(id)?.iter().copied();
        callers
            .find(|call| {
                self.begins(*call)
                    .is_some_and(|begins| begins.any.contains(number))
            })
            .filter(|_| !self.roots.contains(&id))
    }

    fn node(&self, (graph, node): (GraphId, NodeId)) -> Option<&'a Node> {
        self.program.graphs.get(graph)?.nodes.get(node)
    }

    /// What each graph lets through, callers again where a called graph lets more through.
    fn summaries(&mut self) {
        settle(self.program, |id| {
            let behind = self.follow(id, &self.all).behind;
            let known = self.through.get_mut(id);
            known.is_some_and(|known| known.join(&behind))
        });
    }

    /// What comes to each block, from the graphs that a run may begin with into those that they call.
    fn entries(&mut self) {
        let mut begins: BTreeMap<GraphId, Lacking> = BTreeMap::new();
        let mut open = Vec::new();
        for root in &self.roots {
            begins.insert(*root, self.all.clone());
            open.push(*root);
        }
        while let Some(id) = open.pop() {
            let Some(start) = begins.get(&id).cloned() else {
                continue;
            };
            let Followed { at, arrows, .. } = self.follow(id, &start);
            let nodes = self.program.graphs.get(id).into_iter();
            let nodes = nodes.flat_map(|graph| &graph.nodes).zip(&at);
            for (node, here) in nodes {
                let Some((child, _)) = node.called() else {
                    continue;
                };
                let given = asked_before(node, here.clone());
                let known = begins.entry(child).or_insert_with(|| self.none.clone());
                if known.join(&given) {
                    open.push(child);
                }
            }
            self.at.insert(id, at);
            self.arrows.insert(id, arrows);
        }
    }

    /// What comes to each block of a graph that begins with `start`, and what leads out of it.
    fn follow(&self, id: GraphId, start: &Lacking) -> Followed {
        let mut found = Followed {
            at: Vec::new(),
            arrows: Arrows::new(),
            behind: self.none.clone(),
        };
        let (Some(graph), Some(cfg)) = (self.program.graphs.get(id), self.cfgs.get(id)) else {
            return found;
        };
        found.at = vec![self.none.clone(); cfg.count()];
        let mut following = Following {
            ways: self,
            of: (id, graph),
            cfg,
            found,
            open: VecDeque::new(),
            waiting: vec![false; cfg.count()],
        };
        for transition in &cfg.start {
            following.lead_on(None, transition, start);
        }
        following.run();
        let mut found = following.found;
        if cfg.exits {
            // It may end behind any super-step.
            found
                .at
                .iter()
                .for_each(|lacking| _ = found.behind.join(lacking));
        }
        found
    }

    /// What is left behind a way out of a node.
    fn behind(
        &self,
        at: (GraphId, NodeId),
        node: &Node,
        kind: EdgeKind,
        begins: &Lacking,
    ) -> Lacking {
        if kind == EdgeKind::Visits {
            return begins.clone();
        }
        let used = self.uses.get(&at);
        let with_used = |mut lacking: Lacking| {
            used.into_iter().for_each(|used| lacking.spend(used));
            lacking
        };
        // A call that has failed may have used a permission.
        if kind == EdgeKind::Error {
            return with_used(begins.clone());
        }
        let asked = asked_before(node, begins.clone());
        let through = (node.called()).and_then(|(child, _)| self.through.get(child));
        let below = |mut lacking: Lacking| {
            through
                .into_iter()
                .for_each(|through| lacking.meet(through));
            lacking
        };
        let skipped = node.skips.iter().any(|skip| skip.to.is_none());
        match kind {
            EdgeKind::Child => return below(asked),
            EdgeKind::Edge | EdgeKind::Goto if !skipped => {}
            EdgeKind::Skip | EdgeKind::Timeout => return asked,
            _ => return with_used(asked),
        }
        let own = match &node.work {
            Work::Interrupt { permits, .. } => permits.as_slice(),
            _ => &[],
        };
        let after = node.stops.iter().filter(|stop| stop.after);
        let after = after.flat_map(|stop| &stop.permits);
        with_used(below(asked)).permit(own.iter().chain(after))
    }
}

/// What the analysis of one graph finds.
struct Followed {
    /// What has come to each block, by its number.
    at: Vec<Lacking>,
    arrows: Arrows,
    /// What has come to its end, or to where it leaves for a node of its caller.
    behind: Lacking,
}

/// The analysis of one graph under way.
struct Following<'f, 'a> {
    ways: &'f Unpermitted<'a>,
    of: (GraphId, &'a Graph),
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
                if !at.is_some_and(|at| at.join(&met)) {
                    continue;
                }
            }
            for transition in self.cfg.transitions(block) {
                let behind = self.behind(number, transition.kind);
                self.lead_on(Some(block), transition, &behind);
            }
        }
    }

    /// What is left behind a way out of a block.
    fn behind(&self, number: usize, kind: EdgeKind) -> Lacking {
        let begins = self.found.at.get(number).unwrap_or(&self.ways.none);
        match self.cfg.block(number) {
            BlockId::Node(id) => match self.of.1.nodes.get(id) {
                Some(node) => self.ways.behind((self.of.0, id), node, kind, begins),
                None => begins.clone(),
            },
            _ => begins.clone(),
        }
    }

    fn lead_on(&mut self, from: Option<BlockId>, transition: &Transition, lacking: &Lacking) {
        for successor in &transition.successors {
            for tool in lacking.any.ones() {
                let arrow = self.found.arrows.entry((successor.to, tool));
                arrow.or_insert((from, transition.span));
            }
            let number = self.cfg.number(successor.to);
            let new = match (successor.to, number) {
                (BlockId::End | BlockId::Leave, _) => {
                    self.found.behind.join(lacking);
                    false
                }
                // Looked at when all that leads there now has been.
                (BlockId::Join(_), _) => true,
                (to, Some(number)) => {
                    let used = match to {
                        // Of several tasks only one has a permission for one call.
                        BlockId::Node(at) if successor.many => self.ways.uses.get(&(self.of.0, at)),
                        _ => None,
                    };
                    let at = self.found.at.get_mut(number);
                    at.is_some_and(|at| {
                        let mut lacking = lacking.clone();
                        used.into_iter().for_each(|used| lacking.spend(used));
                        at.join(&lacking)
                    })
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

    /// What comes to a join: what all of its members bring.
    fn members(&self, id: JoinId) -> Lacking {
        let mut met = self.ways.all.clone();
        let members = self.cfg.joins.get(id).into_iter();
        for (member, _) in members.flat_map(|join| &join.members) {
            let mut brought = self.ways.none.clone();
            for transition in self.cfg.transitions(BlockId::Node(*member)) {
                let mut to = transition.successors.iter();
                if to.any(|successor| successor.to == BlockId::Join(id)) {
                    brought.join(&self.behind(member.0 as usize, transition.kind));
                }
            }
            met.meet(&brought);
        }
        met
    }
}

/// Without what the questions permit that are asked ahead of all that the node does.
fn asked_before(node: &Node, lacking: Lacking) -> Lacking {
    let before = node.stops.iter().filter(|stop| !stop.after);
    lacking.permit(before.flat_map(|stop| &stop.permits))
}
