//! Where some way of a run comes to without a permit of a tool.
//!
//! A forward analysis with two bits a tool: whether some way comes to a block without a `permit` of it that is left, and whether
//! without one that lasts, which is for any number of calls. Where ways meet,
//! one of them is enough; at a join none of its members may have one, as the permissions of all of them are passed on. A
//! called graph is a summary: which ways from its start to its end pass no permit.
//!
//! A way passes a permit where the question is answered, whatever the answer. What a `skip`, a timeout or an error leads
//! past counts for nothing. A call uses up a `permit once`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::base::{IdVec, Span};
use crate::ir::{GraphId, JoinId, NodeId, ToolId};
use crate::resolve::program::{Graph, Node, Permit, Program, Work};

use super::super::super::calls::{called, callers, settle};
use super::super::super::cfg::{BlockId, ControlFlowGraph, EdgeKind, Transition};
use super::super::roots;
use super::asking;

/// Most arrows of a way that are shown.
const SHOWN: usize = 6;

/// By the number of each tool that has a permit, which is even: whether none is left; by the next one: whether none lasts.
type Bits = Vec<u64>;

/// Where some way comes to without a permit.
pub struct Unpermitted<'a> {
    program: &'a Program,
    cfgs: &'a IdVec<GraphId, ControlFlowGraph>,
    /// The tools that have a permit; of others no way has one.
    numbers: BTreeMap<ToolId, usize>,
    /// The nodes that call tools which have a permit, or a graph that does, with those tools.
    uses: BTreeMap<(GraphId, NodeId), Bits>,
    /// By graph: the tools that some way from its start to its end has no permit of.
    through: IdVec<GraphId, Bits>,
    /// The same, to where it leaves for a node of its caller.
    leaves: IdVec<GraphId, Bits>,
    /// By graph and node: the tools that some way to the node has no permit of, where it begins.
    at: BTreeMap<GraphId, Vec<Bits>>,
    callers: IdVec<GraphId, Vec<(GraphId, NodeId)>>,
    /// Graphs that a run may begin with.
    roots: Vec<GraphId>,
    trees: BTreeMap<(GraphId, usize), Tree>,
}

/// From where, and by which arrow, a way comes to each block; from nowhere where the graph begins.
type Tree = BTreeMap<BlockId, (Option<BlockId>, Span)>;

impl<'a> Unpermitted<'a> {
    /// Follows all ways of the program. `permits` are those of each tool that has one.
    pub fn new(
        program: &'a Program,
        cfgs: &'a IdVec<GraphId, ControlFlowGraph>,
        permits: &BTreeMap<ToolId, Vec<&Permit>>,
    ) -> Self {
        let numbers: BTreeMap<ToolId, usize> =
            permits.keys().copied().zip((0..).step_by(2)).collect();
        let words = numbers.len().div_ceil(32);
        let mut found = Self {
            program,
            cfgs,
            uses: BTreeMap::new(),
            through: program.graphs.ids().map(|_| vec![0; words]).collect(),
            leaves: program.graphs.ids().map(|_| vec![0; words]).collect(),
            numbers,
            at: BTreeMap::new(),
            callers: callers(program),
            roots: roots(program),
            trees: BTreeMap::new(),
        };
        if !found.numbers.is_empty() {
            found.uses = found.uses();
            found.summaries();
            found.entries();
        }
        found
    }

    /// Whether some way comes to a call of the tool in a node without a permit of it, or the node may call it again when a permit for
    /// one call is used.
    pub fn come_to(&self, call: (GraphId, NodeId), tool: ToolId) -> bool {
        let Some(number) = self.numbers.get(&tool).copied() else {
            return true;
        };
        let node = self.node(call);
        let many = node.is_some_and(|node| !matches!(node.work, Work::Call { .. }));
        self.comes_to(call, number) || many && self.comes_to(call, number + 1)
    }

    /// The nodes that call tools which have a permit.
    fn uses(&self) -> BTreeMap<(GraphId, NodeId), Bits> {
        let mut uses = BTreeMap::new();
        for (id, graph) in self.program.graphs.entries() {
            for (at, node) in graph.nodes.entries() {
                for (tool, _) in asking(self.program, graph, node) {
                    if let Some(number) = self.numbers.get(&tool) {
                        let bits = uses.entry((id, at)).or_insert_with(|| self.none());
                        add(bits, *number);
                    }
                }
            }
        }
        // A called graph uses up what its nodes do.
        settle(self.program, |id| {
            let of = uses.range((id, NodeId(0))..=(id, NodeId(u32::MAX)));
            let mut used = self.none();
            of.for_each(|(_, bits)| _ = join(&mut used, bits));
            let mut new = false;
            for call in self.callers.get(id).into_iter().flatten() {
                if used.iter().any(|word| *word != 0) {
                    new |= join(uses.entry(*call).or_insert_with(|| self.none()), &used);
                }
            }
            new
        });
        uses
    }

    fn comes_to(&self, (graph, at): (GraphId, NodeId), number: usize) -> bool {
        let blocks = self.at.get(&graph);
        let begins = blocks.and_then(|blocks| blocks.get(at.0 as usize));
        let node = begins.and_then(|_| self.node((graph, at)));
        begins.zip(node).is_some_and(|(begins, node)| {
            has(begins, number) && has(&self.asked_before(node, begins.clone()), number)
        })
    }

    /// A way by which a call of the tool in a node comes without a permit of it: its last arrows, those of callers before those of
    /// the graph that they call.
    pub fn way(&mut self, call: (GraphId, NodeId), tool: ToolId) -> Vec<(Span, String)> {
        let Some(number) = self.numbers.get(&tool).copied() else {
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
        let (Some(graph), Some(cfg)) = (self.program.graphs.get(id), self.cfgs.get(id)) else {
            return came;
        };
        let comes = |block: BlockId| {
            let at = cfg.number(block).zip(self.at.get(&id));
            at.and_then(|(at, all)| all.get(at))
                .is_some_and(|bits| has(bits, number))
        };
        let mut open = VecDeque::from([None]);
        while let Some(from) = open.pop_front() {
            let (transitions, node) = match from {
                Some(block @ BlockId::Node(at)) => {
                    let node = graph.nodes.get(at).map(|node| (at, node));
                    (cfg.transitions(block), node)
                }
                Some(block) => (cfg.transitions(block), None),
                None => (&cfg.start[..], None),
            };
            for transition in transitions {
                let left = node
                    .map(|(at, node)| self.behind((id, at), node, transition.kind, &self.all()));
                if left.is_some_and(|left| !has(&left, number)) {
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
            .find(|call| self.comes_to(*call, number))
            .filter(|_| !self.roots.contains(&id))
    }

    fn node(&self, (graph, node): (GraphId, NodeId)) -> Option<&'a Node> {
        self.program.graphs.get(graph)?.nodes.get(node)
    }

    fn all(&self) -> Bits {
        let mut bits = self.none();
        for number in self.numbers.values() {
            add(&mut bits, *number);
            add(&mut bits, number + 1);
        }
        bits
    }

    fn none(&self) -> Bits {
        vec![0; self.numbers.len().div_ceil(32)]
    }

    /// What each graph lets through, callers again where a called graph lets more through.
    fn summaries(&mut self) {
        let mut open: Vec<GraphId> = self.program.graphs.ids().collect();
        while let Some(id) = open.pop() {
            let Followed { end, leave, .. } = self.follow(id, &self.all());
            let known = self.through.get_mut(id).zip(self.leaves.get_mut(id));
            if known.is_some_and(|(ends, leaves)| join(ends, &end) | join(leaves, &leave)) {
                let again = self.callers.get(id).into_iter().flatten();
                open.extend(again.map(|(caller, _)| *caller));
            }
        }
    }

    /// What comes to each block, from the graphs that a run may begin with into those that they call.
    fn entries(&mut self) {
        let mut begins: BTreeMap<GraphId, Bits> = BTreeMap::new();
        let mut open = Vec::new();
        for root in &self.roots {
            begins.insert(*root, self.all());
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
                let given = self.asked_before(node, here.clone());
                let known = begins.entry(child).or_insert_with(|| self.none());
                if join(known, &given) {
                    open.push(child);
                }
            }
            self.at.insert(id, at);
        }
    }

    /// What comes to each block of a graph that begins with `start`, and what leads out of it.
    fn follow(&self, id: GraphId, start: &Bits) -> Followed {
        let mut found = Followed {
            at: Vec::new(),
            end: self.none(),
            leave: self.none(),
        };
        let (Some(graph), Some(cfg)) = (self.program.graphs.get(id), self.cfgs.get(id)) else {
            return found;
        };
        found.at = vec![self.none(); cfg.count()];
        let mut following = Following {
            ways: self,
            of: (id, graph),
            cfg,
            found,
            open: VecDeque::new(),
            waiting: vec![false; cfg.count()],
        };
        for transition in &cfg.start {
            following.lead_on(transition, start);
        }
        following.run();
        let Followed { at, mut end, leave } = following.found;
        if cfg.exits {
            // It may end behind any super-step.
            at.iter().for_each(|bits| _ = join(&mut end, bits));
        }
        Followed { at, end, leave }
    }

    /// Without what the questions permit that are asked ahead of all that the node does.
    fn asked_before(&self, node: &Node, bits: Bits) -> Bits {
        let before = node.stops.iter().filter(|stop| !stop.after);
        self.without(bits, before.flat_map(|stop| &stop.permits))
    }

    fn without<'p>(&self, mut bits: Bits, permits: impl Iterator<Item = &'p Permit>) -> Bits {
        for permit in permits {
            let number = permit.tool.and_then(|tool| self.numbers.get(&tool));
            if let Some(number) = number
                && let Some(word) = bits.get_mut(number / 64)
            {
                let lasts = !permit.once || permit.each.is_some();
                *word &= !((if lasts { 3 } else { 1 }) << (number % 64));
            }
        }
        bits
    }

    /// What is left behind a way out of a node.
    fn behind(&self, at: (GraphId, NodeId), node: &Node, kind: EdgeKind, begins: &Bits) -> Bits {
        if kind == EdgeKind::Visits {
            return begins.clone();
        }
        let used = self.uses.get(&at);
        let with_used = |mut bits: Bits| {
            used.into_iter().for_each(|used| spend(&mut bits, used));
            bits
        };
        // A call that has failed may have used a permission.
        if kind == EdgeKind::Error {
            return with_used(begins.clone());
        }
        let asked = self.asked_before(node, begins.clone());
        let through = called(node).and_then(|(child, _)| match kind {
            EdgeKind::Child => self.leaves.get(child),
            _ => self.through.get(child),
        });
        let below = |mut bits: Bits| {
            let words = bits.iter_mut().zip(through.into_iter().flatten());
            words.for_each(|(word, through)| *word &= through);
            bits
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
        self.without(with_used(below(asked)), own.iter().chain(after))
    }
}

/// What the analysis of one graph finds.
struct Followed {
    /// What has come to each block, by its number.
    at: Vec<Bits>,
    /// What has come to its end.
    end: Bits,
    /// What has come to where it leaves for a node of its caller.
    leave: Bits,
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
                if !at.is_some_and(|at| join(at, &met)) {
                    continue;
                }
            }
            for transition in self.cfg.transitions(block) {
                let behind = self.behind(number, transition.kind);
                self.lead_on(transition, &behind);
            }
        }
    }

    /// What is left behind a way out of a block.
    fn behind(&self, number: usize, kind: EdgeKind) -> Bits {
        let begins = self.found.at.get(number).cloned().unwrap_or_default();
        match self.cfg.block(number) {
            BlockId::Node(id) => match self.of.1.nodes.get(id) {
                Some(node) => self.ways.behind((self.of.0, id), node, kind, &begins),
                None => begins,
            },
            _ => begins,
        }
    }

    fn lead_on(&mut self, transition: &Transition, bits: &Bits) {
        for successor in &transition.successors {
            let number = self.cfg.number(successor.to);
            let new = match (successor.to, number) {
                (BlockId::End, _) => {
                    join(&mut self.found.end, bits);
                    false
                }
                (BlockId::Leave, _) => {
                    join(&mut self.found.leave, bits);
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
                        let mut bits = bits.clone();
                        used.into_iter().for_each(|used| spend(&mut bits, used));
                        join(at, &bits)
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
    fn members(&self, id: JoinId) -> Bits {
        let mut met = self.ways.all();
        let members = self.cfg.joins.get(id).into_iter();
        for (member, _) in members.flat_map(|join| &join.members) {
            let mut brought = self.ways.none();
            for transition in self.cfg.transitions(BlockId::Node(*member)) {
                let mut to = transition.successors.iter();
                if to.any(|successor| successor.to == BlockId::Join(id)) {
                    join(
                        &mut brought,
                        &self.behind(member.0 as usize, transition.kind),
                    );
                }
            }
            let words = met.iter_mut().zip(&brought);
            words.for_each(|(word, brought)| *word &= brought);
        }
        met
    }
}

fn has(bits: &Bits, number: usize) -> bool {
    let word = bits.get(number / 64);
    word.is_some_and(|word| word & (1 << (number % 64)) != 0)
}

/// Uses up permits for one call.
fn spend(bits: &mut Bits, used: &Bits) {
    for (word, used) in bits.iter_mut().zip(used) {
        *word |= *word >> 1 & used;
    }
}

fn add(bits: &mut Bits, number: usize) {
    if let Some(word) = bits.get_mut(number / 64) {
        *word |= 1 << (number % 64);
    }
}

/// Adds the other's bits; whether one was new.
fn join(bits: &mut Bits, other: &Bits) -> bool {
    let mut new = false;
    for (word, other) in bits.iter_mut().zip(other) {
        new |= *other & !*word != 0;
        *word |= other;
    }
    new
}
