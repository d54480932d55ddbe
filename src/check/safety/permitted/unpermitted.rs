//! Where some way of a run comes to without a permission.
//!
//! It is asked of a program ([`at_calls`](super::at_calls)), and of the IR by `graphc audit`: what it has to know of a node are
//! [`Permissions`]. They are numbers, of tools or of whatever else answers stand for.
//!
//! A forward analysis with two sets of permissions: which some way to a block has not, and of which it has none that lasts,
//! which is for any number of calls. Where ways meet,
//! one of them is enough; at a join none of its members may have one, as the permissions of all of them are passed on. A
//! called graph is a summary: which ways through it, to its end or to where it leaves for a node of its caller, pass no permit.
//!
//! A way passes a permit where the question is answered, whatever the answer. What a `skip`, a timeout or an error leads
//! past counts for nothing. A call uses up a `permit once`.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use fixedbitset::FixedBitSet;

use crate::base::{IdVec, Span};
use crate::ir::{GraphId, JoinId, NodeId};

use super::super::super::calls::{Callers, settle_callers};
use super::super::super::cfg::{BlockId, ControlFlowGraph, EdgeKind, Transition};

/// Most arrows of a way that are shown.
const SHOWN: usize = 6;

/// What the answer to a question gives.
#[derive(Debug, Clone, Copy)]
pub struct Permission {
    /// Its number.
    pub of: usize,
    /// It is for any number of calls.
    pub lasts: bool,
}

impl Permission {
    /// That of a `permit`. One for each element of a list is for several calls.
    pub fn new(of: usize, once: bool, each: bool) -> Self {
        Self {
            of,
            lasts: !once || each,
        }
    }
}

/// What a node does with permissions.
#[derive(Debug, Default)]
pub struct Permissions {
    /// Those that questions ahead of all that it does give.
    pub ahead: Vec<Permission>,
    /// Those that its own question gives, and those ahead of its way on.
    pub behind: Vec<Permission>,
    /// What its calls use up.
    pub uses: Vec<usize>,
    /// Whether it may make a call again.
    pub repeats: bool,
    /// Whether a `skip` without a target leads by its way on.
    pub skips: bool,
    /// The graph that it calls.
    pub calls: Option<GraphId>,
}

/// A graph with the permissions of its nodes.
#[derive(Debug)]
pub struct GraphPermissions<'a> {
    /// Where a run of it can go.
    pub cfg: &'a ControlFlowGraph,
    /// By node.
    pub nodes: IdVec<NodeId, Permissions>,
}

/// The permissions that some way to a place has not, of those that something gives, by their numbers.
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

    fn permit(mut self, given: &[Permission]) -> Self {
        for permission in given {
            self.any.remove(permission.of);
            if permission.lasts {
                self.lasting.remove(permission.of);
            }
        }
        self
    }
}

/// Where some way comes to without a permission.
pub struct Unpermitted<'a> {
    graphs: IdVec<GraphId, GraphPermissions<'a>>,
    /// Of all that something gives; of others no way has one.
    all: Lacking,
    none: Lacking,
    /// The nodes whose calls use up what something gives, or that call a graph which does.
    uses: BTreeMap<(GraphId, NodeId), FixedBitSet>,
    /// What any call uses up.
    used: FixedBitSet,
    /// By graph: what some way through it has not, to its end or to where it leaves for a node of its caller.
    through: IdVec<GraphId, Lacking>,
    /// By graph and node: what some way to the node has not, where it begins.
    at: BTreeMap<GraphId, Vec<Lacking>>,
    callers: Callers,
    /// Graphs that a run may begin with.
    roots: Vec<GraphId>,
    arrows: BTreeMap<GraphId, Arrows>,
}

/// From where, and by which arrow, a way without a permission that calls use up comes first to a block; from nowhere where the
/// graph begins.
type Arrows = HashMap<(BlockId, usize), (Option<BlockId>, Span)>;

impl<'a> Unpermitted<'a> {
    /// Follows all ways that begin with one of the `roots`. Permissions have numbers below `count`.
    pub fn new(
        graphs: IdVec<GraphId, GraphPermissions<'a>>,
        roots: Vec<GraphId>,
        count: usize,
    ) -> Self {
        let empty = FixedBitSet::with_capacity(count);
        let mut given = empty.clone();
        let mut used = empty.clone();
        let mut callers: Callers = graphs.iter().map(|_| Vec::new()).collect();
        for (id, graph) in graphs.entries() {
            for (at, node) in graph.nodes.entries() {
                given.extend(node.ahead.iter().chain(&node.behind).map(|one| one.of));
                used.extend(node.uses.iter().copied());
                let callers = node.calls.and_then(|called| callers.get_mut(called));
                callers.into_iter().for_each(|list| list.push((id, at)));
            }
        }
        used.intersect_with(&given);
        let both = |of: FixedBitSet| Lacking {
            any: of.clone(),
            lasting: of,
        };
        let none = both(empty);
        let mut found = Self {
            uses: BTreeMap::new(),
            through: graphs.ids().map(|_| none.clone()).collect(),
            graphs,
            all: both(given),
            none,
            used,
            at: BTreeMap::new(),
            callers,
            roots,
            arrows: BTreeMap::new(),
        };
        if !found.all.any.is_clear() {
            found.uses = found.uses();
            found.summaries();
        }
        found.entries();
        found
    }

    /// Whether some way comes to a call in a node without the permission, or the node may make the call again when a permission for
    /// one call is used.
    pub fn come_to(&self, call: (GraphId, NodeId), number: usize) -> bool {
        let Some((node, begins)) = self.node(call).zip(self.begins(call)) else {
            return !self.all.any.contains(number);
        };
        !self.all.any.contains(number)
            || begins.any.contains(number)
            || node.repeats && begins.lasting.contains(number)
    }

    /// The permissions that each way to what a node does has passed, whether they are left or not; `None` where a run never comes to
    /// the node.
    pub fn passed(&self, (graph, at): (GraphId, NodeId)) -> Option<FixedBitSet> {
        let cfg = self.graphs.get(graph)?.cfg;
        let begins = self.begins((graph, at))?;
        let passed = self.all.any.difference(&begins.any).collect();
        cfg.reached().contains(BlockId::Node(at)).then_some(passed)
    }

    /// The nodes whose calls use up what something gives.
    fn uses(&self) -> BTreeMap<(GraphId, NodeId), FixedBitSet> {
        let mut uses = BTreeMap::new();
        let none = &self.none.any;
        for (id, graph) in self.graphs.entries() {
            for (at, node) in graph.nodes.entries() {
                for number in node.uses.iter().filter(|of| self.all.any.contains(**of)) {
                    let used = uses.entry((id, at)).or_insert_with(|| none.clone());
                    used.insert(*number);
                }
            }
        }
        // A called graph uses up what its nodes do.
        settle_callers(&self.callers, |id| {
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
        let begins = self.at.get(&graph)?.get(at.0 as usize)?.clone();
        Some(begins.permit(&self.node((graph, at))?.ahead))
    }

    /// A way by which a call in a node comes without the permission: its last arrows, those of callers before those of
    /// the graph that they call.
    pub fn way(&self, call: (GraphId, NodeId), number: usize) -> Vec<(Span, String)> {
        if !self.all.any.contains(number) {
            return Vec::new();
        }
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        let mut open = Some(call);
        while let Some((id, node)) = open.take_if(|(id, _)| seen.insert(*id)) {
            self.arrows_back((id, node), number, &mut found);
            open = self.caller(id, number);
            let block = |(id, at)| self.graphs.get(id)?.cfg.nodes.get(at);
            if let Some(caller) = open.and_then(block) {
                let text = format!("`{}` calls the graph", caller.name);
                found.push((caller.span, text));
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
        let Some((graph, arrows)) = self.graphs.get(id).zip(self.arrows.get(&id)) else {
            return;
        };
        let cfg = graph.cfg;
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

    /// A node that calls the graph without the permission.
    fn caller(&self, id: GraphId, number: usize) -> Option<(GraphId, NodeId)> {
        let mut callers = self.callers.get(id)?.iter().copied();
        callers
            .find(|call| {
                self.begins(*call)
                    .is_some_and(|begins| begins.any.contains(number))
            })
            .filter(|_| !self.roots.contains(&id))
    }

    fn node(&self, (graph, node): (GraphId, NodeId)) -> Option<&Permissions> {
        self.graphs.get(graph)?.nodes.get(node)
    }

    /// What each graph lets through, callers again where a called graph lets more through.
    fn summaries(&mut self) {
        let callers = self.callers.clone();
        settle_callers(&callers, |id| {
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
            let graph = self.graphs.get(id);
            for ((at, node), here) in graph.iter().flat_map(|of| of.nodes.entries()).zip(&at) {
                let reached =
                    |of: &GraphPermissions<'_>| of.cfg.reached().contains(BlockId::Node(at));
                let Some(child) = node.calls.filter(|_| graph.is_some_and(reached)) else {
                    continue;
                };
                let given = here.clone().permit(&node.ahead);
                let fresh = !begins.contains_key(&child);
                let known = begins.entry(child).or_insert_with(|| self.none.clone());
                if known.join(&given) || fresh {
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
        let Some(graph) = self.graphs.get(id) else {
            return found;
        };
        let cfg = graph.cfg;
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
        node: &Permissions,
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
        let asked = begins.clone().permit(&node.ahead);
        let through = node.calls.and_then(|child| self.through.get(child));
        let below = |mut lacking: Lacking| {
            through
                .into_iter()
                .for_each(|through| lacking.meet(through));
            lacking
        };
        match kind {
            EdgeKind::Child => with_used(below(asked)),
            EdgeKind::Edge | EdgeKind::Goto if !node.skips => {
                with_used(below(asked)).permit(&node.behind)
            }
            EdgeKind::Skip | EdgeKind::Timeout => asked,
            _ => with_used(asked),
        }
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
    of: (GraphId, &'f GraphPermissions<'a>),
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
            for number in lacking.any.intersection(&self.ways.used) {
                let arrow = self.found.arrows.entry((successor.to, number));
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
