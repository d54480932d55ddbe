//! Nodes that a fork's ways come to in different super-steps, so that they run once for each.
//!
//! From each fork the tasks are followed as long as each has one way on, in step: no condition, person, cap or deferral
//! decides anything there. What two of them come to in different steps surely runs twice. That is meant where the node
//! says so: it is deferred, capped or skipped, routes by what it finds, or goes round with what leads to it.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::Span;
use crate::base::name::list;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::{JoinId, NodeId};
use crate::resolve::program::{Graph, Work};

use super::avoid::circles_of;
use super::model::{Cause, Flow, Goal, Spot, Stop, Way};

/// Most steps of tasks that are followed from one fork, and from all forks of a graph.
const MOST: usize = 1_000;
const BUDGET: usize = 100_000;

/// Most names of a way that a message writes out.
const NAMED: usize = 8;

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
    pub fn help_beside(&self, flow: &Flow) -> String {
        let name = flow.name(Spot::Node(self.node));
        format!("`{name}` runs twice: {}", self.help)
    }
}

/// Finds them, each once.
pub fn found(graph: &Graph, flow: &Flow) -> Vec<Twice> {
    let mut all: BTreeMap<NodeId, Twice> = BTreeMap::new();
    // The graph may end in between, or nobody knows where it leads.
    if flow.broken || !graph.exits.is_empty() {
        return Vec::new();
    }
    let starts = flow.start.iter().map(|way| (None, way));
    let others = flow.spots().flat_map(|spot| {
        let ways = flow.ways(spot).iter();
        ways.map(move |way| (Some(spot), way))
    });
    let several = |way: &Way| way.goals.iter().filter(|goal| !goal.many).count() > 1;
    let mut forks = starts.chain(others).filter(|(_, way)| several(way));
    let mut circles: Option<Vec<bool>> = None;
    let mut spent = 0;
    for (from, way) in forks.by_ref() {
        if spent > BUDGET {
            break;
        }
        let mut run = Run::new(graph, flow, from, way);
        run.follow(way);
        spent += run.spent;
        for (node, first, second) in &run.twice {
            let round = circles.get_or_insert_with(|| rounds(flow));
            let goes_round = round.get(node.0 as usize).copied().unwrap_or(false);
            if !goes_round && !all.contains_key(node) {
                let found = run.tell(*node, *first, *second);
                all.extend(found.map(|found| (*node, found)));
            }
        }
    }
    all.into_values().collect()
}

/// Warns of them. Those behind a conflict that says how to mend it are left out.
pub fn twice(flow: &Flow, found: &[Twice], told: &BTreeSet<NodeId>, diags: &mut Diagnostics) {
    for twice in found.iter().filter(|twice| !told.contains(&twice.node)) {
        let declared = flow.stops.get(twice.node);
        let (other, text) = &twice.other;
        let mut found = Diagnostic::new(&codes::RUNS_TWICE, twice.message.clone(), twice.at)
            .here("one run for this arrow")
            .label(*other, text.clone())
            .label(twice.fork, "both ways begin here")
            .help(twice.help.clone());
        if let Some(stop) = declared {
            found = found.label(stop.span, "this node");
        }
        diags.push(found);
    }
}

/// For each node whether it can be come to from itself.
fn rounds(flow: &Flow) -> Vec<bool> {
    let circles = circles_of(flow);
    let mut sizes: BTreeMap<usize, usize> = BTreeMap::new();
    for circle in &circles {
        *sizes.entry(*circle).or_default() += 1;
    }
    let itself = |id: NodeId, stop: &Stop| {
        let mut goals = stop.ways.iter().flat_map(|way| &way.goals);
        goals.any(|goal| goal.to == Spot::Node(id))
    };
    let nodes = flow.stops.entries().zip(&circles);
    let nodes = nodes.map(|((id, stop), circle)| {
        sizes.get(circle).is_some_and(|size| *size > 1) || itself(id, stop)
    });
    nodes.collect()
}

/// An arrow that a task has followed: where it leads, its place, and the one before it.
#[derive(Clone, Copy)]
struct Arrow {
    to: Spot,
    span: Span,
    before: Option<usize>,
}

/// The tasks of one fork.
struct Run<'a> {
    graph: &'a Graph,
    flow: &'a Flow,
    from: Option<Spot>,
    fork: &'a Way,
    arrows: Vec<Arrow>,
    /// The step in which each node was first come to, and by which arrow.
    come: BTreeMap<NodeId, (usize, usize)>,
    waiting: BTreeMap<JoinId, BTreeSet<NodeId>>,
    twice: Vec<(NodeId, usize, usize)>,
    spent: usize,
    /// Something has ended the whole run.
    over: bool,
}

impl<'a> Run<'a> {
    fn new(graph: &'a Graph, flow: &'a Flow, from: Option<Spot>, fork: &'a Way) -> Self {
        Self {
            graph,
            flow,
            from,
            fork,
            arrows: Vec::new(),
            come: BTreeMap::new(),
            waiting: BTreeMap::new(),
            twice: Vec::new(),
            spent: 0,
            over: false,
        }
    }

    fn follow(&mut self, way: &'a Way) {
        let mut running = Vec::new();
        for goal in &way.goals {
            running.extend(self.arrive(goal, None, None, 0));
        }
        let mut step = 1;
        while !running.is_empty() && !self.over && self.spent < MOST {
            let mut next = Vec::new();
            for at in std::mem::take(&mut running) {
                let Some(Spot::Node(id)) = self.arrows.get(at).map(|arrow| arrow.to) else {
                    continue;
                };
                for goal in self.way_on(id).into_iter().flat_map(|way| &way.goals) {
                    next.extend(self.arrive(goal, Some(id), Some(at), step));
                }
            }
            running = next;
            step += 1;
        }
    }

    /// The one way on of a node; `None` where something decides, or a person is waited for.
    fn way_on(&self, id: NodeId) -> Option<&'a Way> {
        let node = self.graph.nodes.get(id)?;
        if matches!(node.work, Work::Interrupt { .. }) || !node.stops.is_empty() {
            return None;
        }
        let ways = &self.flow.stops.get(id)?.ways;
        let mut ways = ways.iter().filter(|way| usual(way));
        ways.next().filter(|_| ways.next().is_none())
    }

    /// The tasks that an arrow begins in a step, as the arrows to them.
    fn arrive(
        &mut self,
        goal: &'a Goal,
        member: Option<NodeId>,
        before: Option<usize>,
        step: usize,
    ) -> Vec<usize> {
        let mut begun = Vec::new();
        let mut open = vec![(goal, member, before)];
        while let Some((goal, member, before)) = open.pop() {
            self.spent += 1;
            if goal.many || self.spent > MOST {
                continue;
            }
            let at = self.arrows.len();
            self.arrows.push(Arrow {
                to: goal.to,
                span: goal.span,
                before,
            });
            match goal.to {
                Spot::End => {}
                Spot::Fail | Spot::Leave => self.over = true,
                Spot::Join(id) => {
                    let come = self.waiting.entry(id).or_default();
                    come.extend(member);
                    let Some(join) = self.flow.joins.get(id) else {
                        continue;
                    };
                    if join.members.iter().all(|(member, _)| come.contains(member)) {
                        come.clear();
                        let goals = join.ways.iter().flat_map(|way| &way.goals);
                        open.extend(goals.map(|goal| (goal, None, Some(at))));
                    }
                }
                Spot::Node(id) => {
                    let Some(stop) = self.flow.stops.get(id) else {
                        continue;
                    };
                    if stop.branch {
                        let way = self.way_on(id).filter(|_| !self.has(at, id));
                        let goals = way.into_iter().flat_map(|way| &way.goals);
                        open.extend(goals.map(|goal| (goal, Some(id), Some(at))));
                    } else if !stop.defer {
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
        way.any(|arrow| arrow.to == Spot::Node(id)) || self.from == Some(Spot::Node(id))
    }

    /// The arrows up to one, the last one first.
    fn way(&self, at: Option<usize>) -> Vec<Arrow> {
        let of = |at: Option<usize>| at.and_then(|at| self.arrows.get(at).copied());
        std::iter::successors(of(at), |arrow| of(arrow.before)).collect()
    }

    /// Whether nothing says that a node is to run more than once.
    fn once(&self, id: NodeId) -> bool {
        let (Some(node), Some(stop)) = (self.graph.nodes.get(id), self.flow.stops.get(id)) else {
            return false;
        };
        let ways = stop.ways.iter().filter(|way| usual(way));
        let asks = matches!(node.work, Work::Interrupt { .. }) || !node.stops.is_empty();
        node.max_visits.is_none() && node.skips.is_empty() && !asks && ways.count() < 2
    }

    fn tell(&self, node: NodeId, first: usize, second: usize) -> Option<Twice> {
        let (one, two) = (self.way(Some(first)), self.way(Some(second)));
        // What the fork itself leads to runs at once, and again for the other: that is written in one place.
        if one.len() < 2 || two.len() < 2 {
            return None;
        }
        let name = self.flow.name(Spot::Node(node));
        let message = format!(
            "`{name}` runs twice: `{}` and `{}` come to it in different super-steps",
            self.shown(&one),
            self.shown(&two)
        );
        let before = |way: &[Arrow]| way.get(1).map(|arrow| arrow.to);
        let (from, other) = (before(&one)?, before(&two)?);
        // Who writes two joins means each of them.
        if matches!((from, other), (Spot::Join(_), Spot::Join(_))) {
            return None;
        }
        // Of a join and an arrow beside it, the arrow is one too many.
        let turned = matches!(from, Spot::Join(_)) && !matches!(other, Spot::Join(_));
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
    fn mend(&self, name: &str, lone: Spot, other: Spot) -> String {
        let members = |spot: Spot| -> Vec<&str> {
            match spot {
                Spot::Join(id) => {
                    let join = self.flow.joins.get(id).into_iter();
                    let members = join.flat_map(|join| &join.members);
                    members
                        .map(|(member, _)| self.flow.name(Spot::Node(*member)))
                        .collect()
                }
                spot => vec![self.flow.name(spot)],
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

    /// `start -> a -> b`, of a long way its end.
    fn shown(&self, way: &[Arrow]) -> String {
        let names = way.iter().rev().map(|arrow| arrow.to);
        let names = names.filter(|spot| !matches!(spot, Spot::Join(_)));
        let names: Vec<&str> = names.map(|spot| self.flow.name(spot)).collect();
        let fork = match self.from {
            None => Some("start"),
            Some(Spot::Join(_)) => None,
            Some(spot) => Some(self.flow.name(spot)),
        };
        let hidden = names.len().saturating_sub(NAMED);
        let dots = (hidden > 0).then_some("...");
        let last = names.iter().skip(hidden).copied();
        let all: Vec<&str> = fork.into_iter().chain(dots).chain(last).collect();
        all.join(" -> ")
    }
}

/// Ways that a node takes when nothing goes wrong.
fn usual(way: &Way) -> bool {
    !matches!(way.cause, Cause::Error | Cause::Visits)
}
