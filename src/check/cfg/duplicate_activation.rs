//! Nodes that a fork's ways come to in different super-steps, so that they run once for each.
//!
//! From each fork the tasks are followed as long as each has one way on, in step: no condition, person, cap or deferral
//! decides anything there. What two of them come to in different steps surely runs twice. That is meant where the node
//! says so: it is deferred, capped or skipped, routes by what it finds, or goes round with what leads to it.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::base::Span;
use crate::base::name::list;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::{JoinId, NodeId};
use crate::resolve::program::{Graph, Node, Work};

use super::super::not_proven::in_doubt;
use super::model::{BlockId, ControlFlowGraph, EdgeKind, Successor, Transition};

/// Most steps of tasks that are followed from one fork.
const MOST: usize = 10_000;

/// A node that runs twice.
pub struct Twice {
    /// Which.
    pub node: NodeId,
    message: String,
    help: String,
    /// The arrow that is one too many, and what is said of the other one.
    at: Span,
    other: (Span, String),
    fork: Span,
}

impl Twice {
    /// What mends a conflict that there is because the node runs twice.
    pub fn help_beside(&self, cfg: &ControlFlowGraph) -> String {
        let name = cfg.name(BlockId::Node(self.node));
        format!("`{name}` runs twice: {}", self.help)
    }
}

/// Finds them, each once. A fork from which there is too much to be followed is reported.
pub fn found(graph: &Graph, cfg: &ControlFlowGraph, diags: &mut Diagnostics) -> Vec<Twice> {
    let mut all: BTreeMap<NodeId, Twice> = BTreeMap::new();
    // The graph may end in between, or nobody knows where it leads.
    if cfg.broken || !graph.exits.is_empty() {
        return Vec::new();
    }
    let several = |transition: &Transition| {
        let successors = transition.successors.iter();
        successors.filter(|successor| !successor.many).count() > 1
    };
    let forks = cfg
        .all_transitions()
        .filter(|(_, transition)| several(transition));
    let mut followed: HashSet<*const Transition> = HashSet::new();
    for (from, transition) in forks {
        // What comes of this fork was seen when an earlier one was followed.
        if followed.contains(&std::ptr::from_ref(transition)) {
            continue;
        }
        let mut run = Run::new(graph, cfg, from, transition);
        run.follow(transition);
        if run.spent >= MOST {
            let what = "too many steps are taken at once from here";
            diags.push(in_doubt(&codes::RUNS_TWICE, what, transition.span));
            continue;
        }
        followed.extend(&run.followed);
        for (node, first, second) in &run.twice {
            if !cfg.goes_round(BlockId::Node(*node)) && !all.contains_key(node) {
                let found = run.tell(*node, *first, *second);
                all.extend(found.map(|found| (*node, found)));
            }
        }
    }
    all.into_values().collect()
}

/// Warns of them. Those behind a conflict that says how to mend it are left out.
pub fn twice(
    cfg: &ControlFlowGraph,
    found: &[Twice],
    reported: &BTreeSet<NodeId>,
    diags: &mut Diagnostics,
) {
    for twice in found.iter().filter(|twice| !reported.contains(&twice.node)) {
        let declared = cfg.nodes.get(twice.node);
        let (other, text) = &twice.other;
        let mut found = Diagnostic::new(&codes::RUNS_TWICE, twice.message.clone(), twice.at)
            .here("one run for this arrow")
            .label(*other, text.clone())
            .label(twice.fork, "both ways begin here")
            .help(twice.help.clone());
        if let Some(block) = declared {
            found = found.label(block.span, "this node");
        }
        diags.push(found);
    }
}

/// An arrow that a task has followed: where it leads, its place, and the one before it.
#[derive(Clone, Copy)]
struct Arrow {
    to: BlockId,
    span: Span,
    before: Option<usize>,
}

/// The tasks of one fork.
struct Run<'a> {
    graph: &'a Graph,
    cfg: &'a ControlFlowGraph,
    from: Option<BlockId>,
    fork: &'a Transition,
    arrows: Vec<Arrow>,
    /// The step in which each node was first come to, and by which arrow.
    come: BTreeMap<NodeId, (usize, usize)>,
    /// The last component of a node that was come to.
    last: Option<usize>,
    waiting: BTreeMap<JoinId, BTreeSet<NodeId>>,
    twice: Vec<(NodeId, usize, usize)>,
    spent: usize,
    followed: Vec<*const Transition>,
    /// Something has ended the whole run.
    over: bool,
}

impl<'a> Run<'a> {
    fn new(
        graph: &'a Graph,
        cfg: &'a ControlFlowGraph,
        from: Option<BlockId>,
        fork: &'a Transition,
    ) -> Self {
        Self {
            graph,
            cfg,
            from,
            fork,
            arrows: Vec::new(),
            come: BTreeMap::new(),
            last: None,
            waiting: BTreeMap::new(),
            twice: Vec::new(),
            spent: 0,
            followed: Vec::new(),
            over: false,
        }
    }

    fn follow(&mut self, transition: &'a Transition) {
        let mut running = Vec::new();
        for successor in &transition.successors {
            running.extend(self.arrive(successor, None, None, 0));
        }
        let mut step = 1;
        while self.goes_on(&running) && !self.over && self.spent < MOST {
            let mut next = Vec::new();
            for at in std::mem::take(&mut running) {
                let Some(BlockId::Node(id)) = self.arrows.get(at).map(|arrow| arrow.to) else {
                    continue;
                };
                let on = self.way_on(id).into_iter();
                for successor in on.flat_map(|transition| &transition.successors) {
                    next.extend(self.arrive(successor, Some(id), Some(at), step));
                }
            }
            running = next;
            step += 1;
        }
    }

    /// Whether a task may still come to where one has been. One that is alone, behind all of that, does not.
    fn goes_on(&self, running: &[usize]) -> bool {
        let block = |at: &usize| self.arrows.get(*at).map(|arrow| arrow.to);
        match running {
            [] => false,
            [only] => block(only).and_then(|block| self.cfg.component(block)) < self.last,
            _ => true,
        }
    }

    /// The one way on of a node; `None` where something decides, or a person is waited for.
    fn way_on(&mut self, id: NodeId) -> Option<&'a Transition> {
        let asks =
            |node: &Node| matches!(node.work, Work::Interrupt { .. }) || !node.stops.is_empty();
        if self.graph.nodes.get(id).is_some_and(asks) {
            return None;
        }
        let transitions = &self.cfg.nodes.get(id)?.transitions;
        let mut transitions = transitions.iter().filter(|transition| usual(transition));
        let only = transitions.next().filter(|_| transitions.next().is_none());
        self.followed.extend(only.map(std::ptr::from_ref));
        only
    }

    /// The tasks that an arrow begins in a step, as the arrows to them.
    fn arrive(
        &mut self,
        successor: &'a Successor,
        member: Option<NodeId>,
        before: Option<usize>,
        step: usize,
    ) -> Vec<usize> {
        let mut begun = Vec::new();
        let mut open = vec![(successor, member, before)];
        while let Some((successor, member, before)) = open.pop() {
            self.spent += 1;
            if successor.many || self.spent > MOST {
                continue;
            }
            let at = self.arrows.len();
            self.arrows.push(Arrow {
                to: successor.to,
                span: successor.span,
                before,
            });
            match successor.to {
                BlockId::End => {}
                BlockId::Entry | BlockId::Fail | BlockId::Leave => self.over = true,
                BlockId::Join(id) => {
                    let come = self.waiting.entry(id).or_default();
                    come.extend(member);
                    if self.cfg.members(id).all(|member| come.contains(&member)) {
                        come.clear();
                        let successors = self.cfg.successors(successor.to);
                        open.extend(successors.map(|successor| (successor, None, Some(at))));
                    }
                }
                BlockId::Node(id) => {
                    let Some(block) = self.cfg.nodes.get(id) else {
                        continue;
                    };
                    if block.branch {
                        let transition = self.way_on(id).filter(|_| !self.has(at, id));
                        let successors = transition
                            .into_iter()
                            .flat_map(|transition| &transition.successors);
                        open.extend(successors.map(|successor| (successor, Some(id), Some(at))));
                    } else if !block.defer {
                        begun.extend(self.begin(id, at, step));
                    }
                }
            }
        }
        begun
    }

    /// A task of a node, unless one has been there.
    fn begin(&mut self, id: NodeId, at: usize, step: usize) -> Option<usize> {
        let Some((when, first)) = self.come.get(&id).copied() else {
            self.come.insert(id, (step, at));
            self.last = self.last.max(self.cfg.component(BlockId::Node(id)));
            return Some(at);
        };
        let known = |(node, _, _): &(NodeId, usize, usize)| *node == id;
        if when != step && !self.has(at, id) && !self.twice.iter().any(known) && self.once(id) {
            self.twice.push((id, first, at));
        }
        None
    }

    /// Whether the way to an arrow has come by a node before.
    fn has(&self, at: usize, id: NodeId) -> bool {
        let before = self.arrows.get(at).and_then(|arrow| arrow.before);
        let mut way = self.way(before).into_iter();
        way.any(|arrow| arrow.to == BlockId::Node(id)) || self.from == Some(BlockId::Node(id))
    }

    /// The arrows up to one, the last one first.
    fn way(&self, at: Option<usize>) -> Vec<Arrow> {
        let of = |at: Option<usize>| at.and_then(|at| self.arrows.get(at).copied());
        std::iter::successors(of(at), |arrow| of(arrow.before)).collect()
    }

    /// Whether nothing says that a node is to run more than once.
    fn once(&self, id: NodeId) -> bool {
        let (Some(node), Some(block)) = (self.graph.nodes.get(id), self.cfg.nodes.get(id)) else {
            return false;
        };
        let transitions = block.transitions.iter().filter(|way| usual(way));
        let asks = matches!(node.work, Work::Interrupt { .. }) || !node.stops.is_empty();
        node.max_visits.is_none() && node.skips.is_empty() && !asks && transitions.count() < 2
    }

    fn tell(&self, node: NodeId, first: usize, second: usize) -> Option<Twice> {
        let (one, two) = (self.way(Some(first)), self.way(Some(second)));
        // What the fork itself leads to runs at once, and again for the other: that is written in one place.
        if one.len() < 2 || two.len() < 2 {
            return None;
        }
        let name = self.cfg.name(BlockId::Node(node));
        let message = format!(
            "`{name}` runs twice: `{}` and `{}` come to it in different super-steps",
            self.shown(&one),
            self.shown(&two)
        );
        let before = |way: &[Arrow]| way.get(1).map(|arrow| arrow.to);
        let (from, other) = (before(&one)?, before(&two)?);
        // Who writes two joins means each of them.
        if matches!((from, other), (BlockId::Join(_), BlockId::Join(_))) {
            return None;
        }
        // Of a join and an arrow beside it, the arrow is one too many.
        let turned = matches!(from, BlockId::Join(_)) && !matches!(other, BlockId::Join(_));
        let (at, rest) = match turned {
            true => (two.first()?, one.first()?),
            false => (one.first()?, two.first()?),
        };
        let (lone, waits) = match turned {
            true => (other, from),
            false => (from, other),
        };
        Some(Twice {
            node,
            message,
            help: self.mend(name, lone, waits),
            at: at.span,
            other: (rest.span, "and one for this".to_owned()),
            fork: self.fork.span,
        })
    }

    /// How to write that a node waits for both.
    fn mend(&self, name: &str, lone: BlockId, other: BlockId) -> String {
        let members = |block: BlockId| -> Vec<&str> {
            match block {
                BlockId::Join(id) => {
                    let members = self.cfg.members(id).map(BlockId::Node);
                    members.map(|member| self.cfg.name(member)).collect()
                }
                block => vec![self.cfg.name(block)],
            }
        };
        let (mut all, more) = (members(lone), members(other));
        if all.iter().all(|name| more.contains(name)) {
            return format!(
                "take this arrow out: the join of {} waits for {} already",
                list(more.iter().copied()),
                list(all.iter().copied())
            );
        }
        for name in more {
            if !all.contains(&name) {
                all.push(name);
            }
        }
        format!(
            "let it wait for both: `[{}] -> {name}` in place of their arrows to it; `defer` where it is to wait for all that runs",
            all.join(", ")
        )
    }

    /// `start -> a -> b`
    fn shown(&self, way: &[Arrow]) -> String {
        let from = self.from.unwrap_or(BlockId::Entry);
        let blocks = way.iter().rev().map(|arrow| arrow.to);
        self.cfg.path(std::iter::once(from).chain(blocks))
    }
}

/// Ways that a node takes when nothing goes wrong.
fn usual(transition: &Transition) -> bool {
    !matches!(transition.kind, EdgeKind::Error | EdgeKind::Visits)
}
