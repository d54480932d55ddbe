//! Where a field that an answer decided holds what something else has written there since.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use crate::base::{IdVec, Span};
use crate::ir::{Channel, GraphId, NodeId};
use crate::resolve::jumps::Maker;
use crate::resolve::program::{Program, Work};

use super::super::super::cfg::{BlockId, ControlFlowGraph, EdgeKind, Transition};
use super::super::reads::{self, mentions};
use super::beside::Beside;
use super::decided::{Decided, Place};
use super::decision::{is_decision, mentioned};
use super::writes::Told;

/// Most fields of a graph that are followed; of more the rest count as a person's.
const MOST: usize = 64;

/// Places where such a field is no person's any more.
#[derive(Debug, Default)]
pub struct Overwritten {
    /// For each field, by place, the write that it holds there.
    before: BTreeMap<Place, BTreeMap<NodeId, Span>>,
    /// The same behind what the node itself writes.
    behind: BTreeMap<Place, BTreeMap<NodeId, Span>>,
    /// The same where the graph ends.
    ends: BTreeMap<Place, Span>,
    /// Who writes where: the field's name and the node's.
    pub writes: HashMap<Span, (String, String)>,
}

impl Overwritten {
    /// Follows all writes that are no person's from where they stand.
    pub fn new(
        program: &Program,
        cfgs: &IdVec<GraphId, ControlFlowGraph>,
        decided: &Decided<'_>,
    ) -> Self {
        let mut by_field: BTreeMap<Place, Vec<&Told<'_>>> = BTreeMap::new();
        let mut copies: BTreeMap<Place, Vec<&Told<'_>>> = BTreeMap::new();
        for write in &decided.writes {
            if decided.fields.contains(&write.to) && overwrites(program, write.to) {
                by_field.entry(write.to).or_default().push(write);
                for from in copied(program, write) {
                    copies.entry(from).or_default().push(write);
                }
            }
        }
        let all = by_field.values().flatten();
        let harms = all.filter(|write| !decided.is_harmless(write));
        let mut harmful: HashSet<Span> = harms.map(|write| write.span).collect();
        let mut found = Self::default();
        let mut followed: BTreeMap<GraphId, (usize, Beside<'_>)> = BTreeMap::new();
        let mut open: VecDeque<Place> = by_field.keys().copied().collect();
        while let Some(place) = open.pop_front() {
            let (id, _) = place;
            let (Some(graph), Some(cfg)) = (program.graphs.get(id), cfgs.get(id)) else {
                continue;
            };
            let writes = by_field.get(&place).map_or(&[][..], Vec::as_slice);
            if !writes.iter().any(|write| harmful.contains(&write.span)) {
                continue;
            }
            let tasks = followed
                .entry(id)
                .or_insert_with(|| (0, Beside::new(graph, cfg)));
            tasks.0 += 1;
            if tasks.0 > MOST {
                continue;
            }
            found.follow(program, (cfg, &tasks.1), place, (writes, &harmful));
            // What is made there of what the field holds is no person's either.
            for write in copies.get(&place).into_iter().flatten() {
                let node = write.by.node();
                let held = node.and_then(|node| found.at(place, node, false));
                if held.is_some() && harmful.insert(write.span) {
                    open.push_back(write.to);
                }
            }
        }
        found
    }

    /// The write that the field holds where a node begins, or behind what it writes.
    pub fn at(&self, place: Place, node: NodeId, behind: bool) -> Option<Span> {
        let by_node = match behind {
            true => &self.behind,
            false => &self.before,
        };
        by_node.get(&place)?.get(&node).copied()
    }

    /// The write that the field holds where its graph ends.
    pub fn at_end(&self, place: Place) -> Option<Span> {
        self.ends.get(&place).copied()
    }

    fn follow(
        &mut self,
        program: &Program,
        (cfg, tasks): (&ControlFlowGraph, &Beside<'_>),
        place: Place,
        (writes, harmful): (&[&Told<'_>], &HashSet<Span>),
    ) {
        let (id, field) = place;
        let Some(graph) = program.graphs.get(id) else {
            return;
        };
        let mut open: Vec<(BlockId, Span)> = Vec::new();
        let mut written: HashMap<NodeId, Span> = HashMap::new();
        for write in writes {
            let node = write
                .by
                .node()
                .and_then(|by| Some((by, graph.nodes.get(by)?)));
            if let Some((by, node)) = node {
                let set = node.set.iter().map(|item| item.name.span);
                let mut own = set.chain(match &node.work {
                    Work::Extern { writes, .. } => writes.iter().map(|field| field.span).collect(),
                    _ => Vec::new(),
                });
                if own.any(|span| span == write.span) {
                    written.insert(by, write.span);
                }
            }
            let by = match (write.by, node) {
                (_, Some((_, node))) => &*node.name.node,
                (Maker::Start, _) => "start",
                (Maker::Handler, _) => "on_error",
                (Maker::Join(_) | Maker::Node(..), None) => "join",
            };
            let name = graph.fields.get(field).map(|field| &field.name.node);
            let name = name.map_or_else(String::new, String::clone);
            self.writes.insert(write.span, (name, by.to_owned()));
        }
        let wrong = |span: &Span| harmful.contains(span);
        // What a way leads on: what it writes itself, or what was there behind the node.
        let on = |transition: &Transition, before: Option<Span>, behind: Option<Span>| {
            let with_it = transition.writes.iter().rfind(|write| write.field == field);
            match with_it {
                Some(write) => Some(write.span).filter(wrong),
                None => match transition.kind {
                    EdgeKind::Edge | EdgeKind::Goto | EdgeKind::Tool | EdgeKind::Child => behind,
                    _ => before,
                },
            }
        };
        let mut before: BTreeMap<NodeId, Span> = BTreeMap::new();
        let mut after: BTreeMap<NodeId, Span> = BTreeMap::new();
        let mut joins: BTreeSet<usize> = BTreeSet::new();
        let behind_of = |node: NodeId, before: Option<Span>| match written.get(&node) {
            Some(span) => Some(*span).filter(wrong),
            None => before,
        };
        for node in written.keys() {
            let behind = behind_of(*node, None);
            after.extend(behind.map(|span| (*node, span)));
        }
        // Each way that writes it itself, or that leads on from a node that did.
        let begin = cfg.start.iter().map(|transition| (None, transition));
        let others = cfg.blocks().flat_map(|block| {
            let node = match block {
                BlockId::Node(node) => Some(node),
                _ => None,
            };
            cfg.transitions(block)
                .iter()
                .map(move |transition| (node, transition))
        });
        for (node, transition) in begin.chain(others) {
            let behind = node.and_then(|node| behind_of(node, None));
            let span = on(transition, None, behind);
            let successors = transition.successors.iter();
            open.extend(successors.filter_map(|successor| Some((successor.to, span?))));
        }
        let mut seen: BTreeSet<BlockId> = BTreeSet::new();
        for write in writes.iter().filter(|write| wrong(&write.span)) {
            for block in tasks.of(write.by, &mut seen) {
                // A deferred task that waits begins after it.
                let waits = matches!(block, BlockId::Node(node) if cfg.nodes.get(node).is_some_and(|node| node.defer));
                open.extend(waits.then_some((block, write.span)));
                let successors = cfg
                    .transitions(block)
                    .iter()
                    .flat_map(|transition| &transition.successors);
                open.extend(successors.map(|successor| (successor.to, write.span)));
            }
        }
        while let Some((block, span)) = open.pop() {
            let (held, left) = match block {
                BlockId::Node(node) if !before.contains_key(&node) => {
                    before.insert(node, span);
                    let behind = behind_of(node, Some(span));
                    after.extend(behind.map(|span| (node, span)));
                    (Some(span), behind)
                }
                BlockId::Join(_) => match cfg.number(block) {
                    Some(number) if joins.insert(number) => (Some(span), Some(span)),
                    _ => continue,
                },
                BlockId::End | BlockId::Leave => {
                    self.ends.entry(place).or_insert(span);
                    continue;
                }
                _ => continue,
            };
            for transition in cfg.transitions(block) {
                let span = on(transition, held, left);
                let successors = transition.successors.iter();
                open.extend(successors.filter_map(|successor| Some((successor.to, span?))));
            }
        }
        self.before.insert(place, before);
        self.behind.insert(place, after);
    }
}

/// Whether a write takes the place of what was there.
fn overwrites(program: &Program, (graph, field): Place) -> bool {
    let graph = program.graphs.get(graph);
    let field = graph.and_then(|graph| graph.fields.get(field));
    field.is_some_and(|field| matches!(field.channel, Channel::Last | Channel::AnyLast))
}

/// The fields that a write makes something of, where no answer of the node itself comes into it.
fn copied(program: &Program, write: &Told<'_>) -> Vec<Place> {
    let (id, _) = write.to;
    let graph = program.graphs.get(id);
    let node = graph.and_then(|graph| graph.nodes.get(write.by.node()?));
    let (Some(graph), Some(node), Some(value)) = (graph, node, write.value) else {
        return Vec::new();
    };
    let all = mentions(value, &reads::lets(&node.lets));
    if all
        .iter()
        .any(|mention| is_decision(program, node, *mention))
    {
        return Vec::new();
    }
    let fields = all.into_iter();
    let fields = fields.filter_map(|mention| mentioned(program, graph, mention));
    fields.map(|field| (id, field)).collect()
}
