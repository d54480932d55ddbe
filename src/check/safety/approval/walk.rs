//! Where runs come without anybody having agreed, through all graphs: the places come to, and how. What a node does with a
//! run that comes to it is in [`onward`](super::onward), calls are in [`called`](super::called).

use std::collections::{BTreeSet, HashMap, VecDeque};

use crate::base::{IdVec, Span};
use crate::ir::{GraphId, JoinId, NodeId};
use crate::resolve::jumps::Maker;
use crate::resolve::program::{Graph, Node, Program};

use super::super::super::calls::callers;
use super::super::super::cfg::{BlockId, ControlFlowGraph, Transition};
use super::super::roots;
use super::answer::Says;
use super::decided::Decided;
use super::kept::Kept;
use super::overwritten::Overwritten;
use super::sure::Sure;

/// What has been asked on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// Nobody was asked, or somebody refused.
    No,
    /// Somebody was asked and nothing has looked at the answer yet.
    Open,
}

/// What made a run go on without an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hop {
    /// The entry of a graph that nobody calls.
    Start,
    /// Nothing special.
    On,
    /// Into a called graph, or back from it.
    Call,
    /// Past an interrupt, or where its answer was looked at.
    Past(Bypass, Span),
}

/// How an interrupt did not help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bypass {
    /// `skip`
    Skipped,
    /// `timeout`
    TimedOut,
    /// `on_error`
    Failed,
    /// `max_visits`
    Visits,
    /// The answer says no.
    Refused,
    /// The answer is not looked at.
    Ignored,
    /// The field that held the answer was written by something else.
    Overwritten,
    /// The field holds what an earlier run has left.
    Kept,
}

/// What the arms of a `goto` say, by the place of their jumps, and why an answer which an arm would speak of is none.
pub(super) type Said = HashMap<Span, (Says, Option<Lost>)>;

/// Why a condition on a field that holds answers speaks of none, and where: the write that took its place, or the
/// condition on what an earlier run has left.
pub(super) type Lost = (Bypass, Span);

/// A node, with where it stands.
#[derive(Clone, Copy)]
pub(super) struct Here<'a> {
    pub(super) graph_id: GraphId,
    pub(super) graph: &'a Graph,
    pub(super) id: NodeId,
    pub(super) node: &'a Node,
}

/// A place of the walk, by graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct At {
    /// The graph.
    pub graph: GraphId,
    /// The node, join or exit in it.
    pub block: BlockId,
    /// What has been asked before.
    pub asked: Asked,
}

/// The walk and what it has come to.
pub struct Walk<'a> {
    /// The program.
    pub program: &'a Program,
    pub(super) cfgs: &'a IdVec<GraphId, ControlFlowGraph>,
    pub(super) decided: &'a Decided<'a>,
    /// Where they are no person's any more.
    pub overwritten: &'a Overwritten,
    /// Where they are of an earlier run.
    pub(super) kept: Kept<'a>,
    /// Fields that only a person's answer makes say yes.
    pub(super) sure: Sure,
    /// First number of each graph's places.
    first: Vec<usize>,
    pub(super) callers: IdVec<GraphId, Vec<(GraphId, NodeId)>>,
    /// For each place how it was first come to: from where, and by what.
    came: Vec<Option<(Option<At>, Hop)>>,
    /// Members of joins that have come, by number of the join and what was asked.
    joined: Vec<BTreeSet<NodeId>>,
    /// Joins that a member has come to with an answer still open.
    asked: BTreeSet<(GraphId, JoinId)>,
    /// How many members each join waits for, where it was asked.
    waits: HashMap<(GraphId, JoinId), usize>,
    open: VecDeque<At>,
    pub(super) seen: BTreeSet<(GraphId, BlockId)>,
    /// Nodes come to that run a destructive tool, with the first way to each.
    pub found: Vec<Found>,
}

/// A node that runs a destructive tool.
#[derive(Debug, Clone, Copy)]
pub struct Found {
    /// The node, and what was asked on the way to it.
    pub at: At,
    /// Its own interrupt, where it has one in front, and how that does not help.
    pub own: Option<(Bypass, Span)>,
}

impl<'a> Walk<'a> {
    /// A walk that has not begun.
    pub fn new(
        program: &'a Program,
        cfgs: &'a IdVec<GraphId, ControlFlowGraph>,
        (decided, overwritten): (&'a Decided<'a>, &'a Overwritten),
        sure: Sure,
    ) -> Self {
        let mut count = 0;
        let mut first = Vec::new();
        for cfg in cfgs {
            first.push(count);
            // Its nodes, its joins, its end, its ways upward.
            count += 2 * (cfg.nodes.len() + cfg.joins.len() + 2);
        }
        Self {
            program,
            cfgs,
            decided,
            overwritten,
            kept: Kept::new(program, cfgs),
            sure,
            first,
            callers: callers(program),
            came: vec![None; count],
            joined: vec![BTreeSet::new(); count],
            asked: BTreeSet::new(),
            waits: HashMap::new(),
            open: VecDeque::new(),
            seen: BTreeSet::new(),
            found: Vec::new(),
        }
    }

    /// Follows everything.
    pub fn run(mut self) -> Self {
        for graph in roots(self.program) {
            self.enter(graph, Asked::No, None, Hop::Start);
        }
        while let Some(at) = self.open.pop_front() {
            match at.block {
                BlockId::Node(id) => self.node(at, id),
                BlockId::Join(_) => {
                    let cfg = self.cfgs.get(at.graph);
                    for transition in cfg.into_iter().flat_map(|cfg| cfg.transitions(at.block)) {
                        self.take(at, transition, at.asked, Hop::On);
                    }
                }
                BlockId::End | BlockId::Leave => self.back(at),
                BlockId::Fail => {}
            }
        }
        self
    }

    /// Whether a destructive tool was come to.
    pub fn comes_to_one(&self) -> bool {
        !self.found.is_empty()
    }

    /// Whether a run may come to where the jump is made without an approval.
    pub fn visited(&self, graph: GraphId, by: Maker) -> bool {
        let came = |block: BlockId| {
            let at = |asked| At {
                graph,
                block,
                asked,
            };
            let mut all = [Asked::No, Asked::Open].into_iter();
            all.any(|asked| self.came(at(asked)).is_some())
        };
        match by {
            Maker::Node(node, _) => came(BlockId::Node(node)),
            Maker::Join(join) => came(BlockId::Join(join)),
            Maker::Handler => {
                let served = self.program.graphs.get(graph);
                let mut served = served.into_iter().flat_map(|graph| graph.served());
                served.any(|node| came(BlockId::Node(node)))
            }
            Maker::Start => {
                let cfg = self.cfgs.get(graph);
                let transitions = cfg.into_iter().flat_map(|cfg| &cfg.start);
                transitions
                    .flat_map(|transition| &transition.successors)
                    .any(|successor| came(successor.to))
            }
        }
    }

    /// From where and by what a place was come to.
    pub fn came(&self, at: At) -> Option<(Option<At>, Hop)> {
        self.came.get(self.number(at)?).copied().flatten()
    }

    fn number(&self, at: At) -> Option<usize> {
        let cfg = self.cfgs.get(at.graph)?;
        let count = cfg.nodes.len() + cfg.joins.len();
        let block = match at.block {
            BlockId::End => count,
            BlockId::Leave => count + 1,
            BlockId::Fail => return None,
            block => cfg.number(block)?,
        };
        let asked = usize::from(at.asked == Asked::Open);
        Some(self.first.get(at.graph.0 as usize)? + 2 * block + asked)
    }

    pub(super) fn enter(&mut self, graph: GraphId, asked: Asked, from: Option<At>, hop: Hop) {
        let cfg = self.cfgs.get(graph);
        // Where an edge or a node is lost, what looks like a way past an approval may be none.
        let Some(cfg) = cfg.filter(|cfg| !cfg.broken) else {
            return;
        };
        for transition in &cfg.start {
            for successor in &transition.successors {
                let at = At {
                    graph,
                    block: successor.to,
                    asked,
                };
                self.come(at, from, hop);
            }
        }
    }

    pub(super) fn take(&mut self, from: At, transition: &Transition, asked: Asked, hop: Hop) {
        for successor in &transition.successors {
            let at = At {
                block: successor.to,
                asked,
                ..from
            };
            match successor.to {
                BlockId::Join(join) => self.arrive(at, join, from, hop),
                _ => self.come(at, Some(from), hop),
            }
        }
    }

    /// A join goes on when all members have come: one of them behind an approval is enough.
    pub(super) fn arrive(&mut self, at: At, join: JoinId, from: At, hop: Hop) {
        let BlockId::Node(member) = from.block else {
            return self.come(at, Some(from), hop);
        };
        let cfg = self.cfgs.get(at.graph);
        let all = *self.waits.entry((at.graph, join)).or_insert_with(|| {
            let join = cfg.and_then(|cfg| cfg.joins.get(join));
            let members = join.into_iter().flat_map(|join| &join.members);
            let members: BTreeSet<NodeId> = members.map(|(id, _)| *id).collect();
            members.len()
        });
        // A member that comes with the answer still open makes it open behind the join.
        let open = At {
            asked: Asked::Open,
            ..at
        };
        if at.asked == Asked::Open {
            self.asked.insert((at.graph, join));
        }
        if at.asked == Asked::No && self.has_come(at, member, all) {
            self.come(at, Some(from), hop);
        }
        if self.has_come(open, member, all) && self.asked.contains(&(at.graph, join)) {
            self.come(open, Some(from), hop);
        }
    }

    /// Notes that a member has come to a join, and says whether all have.
    fn has_come(&mut self, at: At, member: NodeId, all: usize) -> bool {
        let arrived = self.number(at).and_then(|n| self.joined.get_mut(n));
        arrived.is_some_and(|arrived| {
            arrived.insert(member);
            arrived.len() >= all
        })
    }

    pub(super) fn come(&mut self, at: At, from: Option<At>, hop: Hop) {
        let Some(slot) = self.number(at).and_then(|n| self.came.get_mut(n)) else {
            return;
        };
        if slot.is_none() {
            *slot = Some((from, hop));
            self.open.push_back(at);
        }
    }
}
