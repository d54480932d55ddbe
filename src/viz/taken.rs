//! The arrows that a thread took, and what it passed through without a step of its own.
//!
//! Checkpoints say which nodes followed on which. Branches and joins between them are passed within a step
//! and are kept nowhere: a way is marked where it leads from one to the other over such alone. Of several
//! such ways all are marked, since nothing tells them apart.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{Graph, JoinId, NodeId, Work};

use super::picture::Kind;
use super::sketch::Sketch;
use super::trace::Standing;

/// What an arrow leaves or reaches, in its own graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spot {
    /// The start.
    Start,
    /// A node, opened or not.
    Node(NodeId),
    /// A join.
    Join(JoinId),
    /// The end.
    End,
    /// A node of the caller.
    Parent,
    /// An error that the flow makes.
    Fail,
}

/// An arrow of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hop {
    /// What it leaves.
    pub from: Spot,
    /// What it reaches.
    pub to: Spot,
    /// Whether it is taken in place of what it leaves, whose visits are used up.
    pub spent: bool,
    /// Whether it is that of a fan-out as a whole, which is taken in place of what it leaves where the list is empty.
    pub behind: bool,
}

/// Marks all that the sketch's thread took and passed.
pub fn mark(sketch: &mut Sketch<'_, '_>) {
    let Some(trace) = sketch.trace else {
        return;
    };
    let own = sketch.panel.name == trace.graph;
    let mut arrows: BTreeSet<usize> = BTreeSet::new();
    let mut boxes: BTreeMap<String, bool> = BTreeMap::new();
    for (at, level) in sketch.levels.iter().enumerate() {
        let mut ways = Ways::new(level.graph, &level.hops);
        let nodes = level.graph.nodes.entries();
        let nodes: BTreeMap<&str, Spot> = nodes
            .map(|(id, node)| (&*node.name, Spot::Node(id)))
            .collect();
        let find = |name: &String| nodes.get(&**name).copied();
        let path = own.then_some(&*level.path);
        let steps = || trace.steps(path, &level.graph.name);
        let seen = steps().flat_map(|step| &step.from).filter_map(find);
        ways.seen.extend(seen);
        for step in steps() {
            ways.step(
                step.from.iter().filter_map(find).collect(),
                step.to.iter().filter_map(find).collect(),
            );
        }
        arrows.extend(&ways.taken);
        for spot in &ways.passed {
            let extra = |kind: Kind| {
                let of = level.extra.iter().filter(move |(is, _, _)| *is == kind);
                of.map(|(_, _, id)| (id.clone(), false)).collect::<Vec<_>>()
            };
            match spot {
                Spot::Start => boxes.extend([(level.start.clone(), false)]),
                Spot::End => boxes.extend(extra(Kind::End)),
                Spot::Join(join) => boxes.extend(sketch.join(at, *join).map(|id| (id, false))),
                Spot::Node(node) => boxes.extend(sketch.entry(at, *node).map(|id| (id, true))),
                Spot::Parent | Spot::Fail => {}
            }
        }
    }
    for at in arrows {
        if let Some(arrow) = sketch.panel.arrows.get_mut(at) {
            arrow.taken = true;
        }
    }
    for shape in &mut sketch.panel.boxes {
        if let Some(node) = boxes.get(&shape.id) {
            let mark = shape.mark.get_or_insert_with(Standing::default);
            mark.passed |= *node;
        }
    }
}

/// The ways of a graph.
struct Ways<'a> {
    /// What is passed within a step.
    fleeting: BTreeSet<Spot>,
    next: BTreeMap<Spot, Vec<(usize, Hop)>>,
    hops: &'a [(usize, Hop)],
    /// All nodes that were run.
    seen: BTreeSet<Spot>,
    taken: BTreeSet<usize>,
    passed: BTreeSet<Spot>,
}

impl<'a> Ways<'a> {
    fn new(graph: &Graph, hops: &'a [(usize, Hop)]) -> Self {
        let branches = graph
            .nodes
            .entries()
            .filter_map(|(id, node)| matches!(node.work, Work::Branch).then_some(Spot::Node(id)));
        let mut fleeting: BTreeSet<Spot> = branches.collect();
        let joins = graph.joins.entries();
        fleeting.extend(joins.map(|(id, _)| Spot::Join(id)));
        let mut next: BTreeMap<Spot, Vec<(usize, Hop)>> = BTreeMap::new();
        for (at, hop) in hops {
            next.entry(hop.from).or_default().push((*at, *hop));
        }
        Self {
            fleeting,
            next,
            hops,
            seen: BTreeSet::new(),
            taken: BTreeSet::new(),
            passed: BTreeSet::new(),
        }
    }

    /// Marks the ways from what was run to what came next.
    fn step(&mut self, from: Vec<Spot>, to: BTreeSet<Spot>) {
        let from = match from.is_empty() {
            true => vec![Spot::Start],
            false => from,
        };
        let ended = to.is_empty();
        for source in from {
            if source == Spot::Start {
                self.passed.insert(Spot::Start);
            }
            let on =
                !ended && (self.between(source, &to, false) || self.between(source, &to, true));
            if on {
                continue;
            }
            // It came to its end, all at once or while others went on.
            let out = [Spot::End, Spot::Parent];
            let _ = out.into_iter().any(|out| {
                let out = BTreeSet::from([out]);
                self.between(source, &out, false) || (ended && self.between(source, &out, true))
            });
        }
    }

    /// Marks all ways from one to some others, and says whether there is one. `spent` lets a way pass a
    /// node whose visits may be used up.
    fn between(&mut self, source: Spot, to: &BTreeSet<Spot>, spent: bool) -> bool {
        let mut arrows: Vec<(usize, Hop)> = Vec::new();
        let mut reached = BTreeSet::from([source]);
        let mut open = vec![source];
        while let Some(at) = open.pop() {
            let fleeting = at == source || self.fleeting.contains(&at);
            for (arrow, hop) in self.next.get(&at).into_iter().flatten() {
                // What is left of a node that is no branch are the arrows that may be taken in its place.
                if hop.spent && !spent || !fleeting && !hop.spent && !hop.behind {
                    continue;
                }
                arrows.push((*arrow, *hop));
                let goes_on = spent || self.fleeting.contains(&hop.to);
                if goes_on && !to.contains(&hop.to) && reached.insert(hop.to) {
                    open.push(hop.to);
                }
            }
        }
        let mut into: BTreeMap<Spot, Vec<(usize, Spot)>> = BTreeMap::new();
        for (arrow, hop) in &arrows {
            into.entry(hop.to).or_default().push((*arrow, hop.from));
        }
        let mut leading: BTreeSet<Spot> = BTreeSet::new();
        let mut open: Vec<Spot> = to
            .iter()
            .copied()
            .filter(|spot| into.contains_key(spot))
            .collect();
        let found = !open.is_empty();
        while let Some(at) = open.pop() {
            for (arrow, from) in into.get(&at).into_iter().flatten() {
                self.taken.insert(*arrow);
                if *from != source && leading.insert(*from) {
                    open.push(*from);
                }
            }
        }
        let passed = leading.iter().filter(|spot| self.fleeting.contains(spot));
        self.passed.extend(passed);
        self.passed
            .extend(to.iter().filter(|spot| found && **spot == Spot::End));
        if !leading.iter().any(|spot| matches!(spot, Spot::Join(_))) {
            return found;
        }
        // A join that was passed had all of its members.
        for (arrow, hop) in self.hops {
            if leading.contains(&hop.to)
                && matches!(hop.to, Spot::Join(_))
                && self.seen.contains(&hop.from)
            {
                self.taken.insert(*arrow);
            }
        }
        found
    }
}
