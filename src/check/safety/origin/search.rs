//! The search: what is open, what has been seen, and the trail back to the use.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::rc::Rc;

use roaring::RoaringBitmap;

use crate::base::{IdVec, Span};
use crate::diag::Diagnostic;
use crate::ir::{FieldId, GraphId, JoinId, NodeId, ToolId};
use crate::resolve::jumps::Maker;
use crate::resolve::program::{Graph, Node, Program};

use super::super::super::calls::callers;
use super::super::super::cfg::{BlockId, ControlFlowGraph, MhpCache};
use super::super::super::lifetime::lasting;
use super::super::permitted::unseen;
use super::aside::Writers;
use super::env::{Env, env, env_knowing};
use super::graph::{Sends, number};
use super::leaf::{Leaf, Path};
use super::shape::Wanted;
use super::vouch::Vetted;

/// Where a path is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inside {
    /// In a node, before its work and its writes.
    Before(GraphId, NodeId),
    /// In a node, behind its work; `state` is still as it was before.
    Work(GraphId, NodeId),
    /// In a node, behind what its `set` wrote.
    After(GraphId, NodeId),
    /// In the body of a tool that the node runs.
    Body(GraphId, NodeId, ToolId),
    /// Where the graph begins.
    Start(GraphId),
    /// Where a join leads on.
    Join(GraphId, JoinId),
    /// In the graph's `on_error`, behind any node that it serves.
    Handler(GraphId),
    /// Where the graph ends.
    End(GraphId),
}

impl Inside {
    /// The graph that it is a place of.
    pub fn graph(self) -> GraphId {
        match self {
            Inside::Before(graph, _)
            | Inside::Work(graph, _)
            | Inside::After(graph, _)
            | Inside::Body(graph, ..)
            | Inside::Start(graph)
            | Inside::Join(graph, _)
            | Inside::Handler(graph)
            | Inside::End(graph) => graph,
        }
    }

    /// The node that it is a place of.
    pub fn node(self) -> Option<NodeId> {
        match self {
            Inside::Before(_, node)
            | Inside::Work(_, node)
            | Inside::After(_, node)
            | Inside::Body(_, node, _) => Some(node),
            Inside::Start(_) | Inside::Join(..) | Inside::Handler(_) | Inside::End(_) => None,
        }
    }

    /// Where what is written with a jump is read.
    pub fn jump(graph: GraphId, by: Maker) -> Self {
        match by {
            Maker::Start => Inside::Start(graph),
            Maker::Join(join) => Inside::Join(graph, join),
            Maker::Handler => Inside::Handler(graph),
            Maker::Node(node, why) if why.is_own_way() => Inside::After(graph, node),
            Maker::Node(node, _) => Inside::Before(graph, node),
        }
    }
}

/// A value's way from its source to its use.
#[derive(Debug, Clone)]
pub struct Trail {
    /// Where it begins, and what that is.
    pub source: (Span, String),
    /// Writes that it passes, from the source on.
    pub through: Vec<(Span, String)>,
    /// Where it is read for the use.
    pub read: Span,
}

impl Trail {
    /// The finding with the source, and the writes on the way from there.
    pub fn label(&self, found: Diagnostic) -> Diagnostic {
        let all = [&self.source].into_iter().chain(&self.through);
        all.fold(found, |found, (span, text)| {
            found.label(*span, text.clone())
        })
    }
}

/// The part of a trail from its source to a place.
#[derive(Clone)]
struct Way {
    source: (Span, String),
    through: Vec<(Span, String)>,
}

/// A field of a graph's state as a place of it sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub graph: GraphId,
    /// By [`number`].
    pub place: usize,
    pub field: FieldId,
    /// Which path below the field, by [`Search::path`].
    pub rest: u32,
}

/// What is open, with what it was asked for.
pub(super) struct Item {
    pub key: Key,
    pub parent: Option<usize>,
    /// The write or binding that leads on to the parent.
    pub note: Option<(Span, String)>,
}

/// How often what a condition compares with is held against what that was compared with, and so on.
const JUDGES: usize = 2;

/// The search for sources of one kind.
pub struct Search<'a> {
    pub(super) program: &'a Program,
    pub(super) cfgs: &'a IdVec<GraphId, ControlFlowGraph>,
    pub(super) mhp_cache: Rc<MhpCache<'a>>,
    pub(super) wanted: Wanted,
    pub(super) callers: IdVec<GraphId, Vec<(GraphId, NodeId)>>,
    /// Graphs whose state some node keeps from call to call.
    pub(super) lasting: BTreeSet<GraphId>,
    /// The tools that a permit lets through with any arguments.
    pub(super) unseen: BTreeMap<ToolId, Span>,
    sends: HashMap<GraphId, Sends<'a>>,
    /// Which nodes write each field, in graphs that run more than one thing at once.
    pub(super) writers: HashMap<GraphId, Rc<Writers>>,
    /// What runs in the steps in which a branch is followed.
    pub(super) around: HashMap<(GraphId, NodeId), Rc<RoaringBitmap>>,
    envs: HashMap<(GraphId, NodeId), Rc<Env>>,
    paths: HashMap<Vec<String>, u32>,
    names: Vec<Vec<String>>,
    /// What comes from nowhere.
    clean: HashSet<Key>,
    /// What was found to come from a source, with the way from there.
    tainted: HashMap<Key, Rc<Way>>,
    /// Such a place, come to in the question at hand.
    known: Option<(usize, Rc<Way>)>,
    // Of the question at hand:
    pub(super) items: Vec<Item>,
    queue: VecDeque<usize>,
    seen: HashSet<Key>,
    /// Writes between a source and the item, or the use, that it was found for.
    pub(super) direct: Vec<(Span, String)>,
    /// Another search, for what conditions compare with.
    judge: Option<Box<Search<'a>>>,
    /// How many searches ask this one; the last of them trusts constants only.
    level: usize,
    /// What was looked into already: the prompts of a node (0), or what is sent as its n-th input.
    pub(super) entered: HashSet<(GraphId, NodeId, usize)>,
}

impl<'a> Search<'a> {
    /// A search for such sources.
    pub fn new(program: &'a Program, mhp_cache: &Rc<MhpCache<'a>>, wanted: Wanted) -> Self {
        let cfgs = mhp_cache.cfgs;
        Self {
            program,
            cfgs,
            mhp_cache: mhp_cache.clone(),
            wanted,
            callers: callers(program),
            lasting: lasting(program),
            unseen: unseen(program),
            sends: HashMap::new(),
            writers: HashMap::new(),
            around: HashMap::new(),
            envs: HashMap::new(),
            paths: HashMap::new(),
            names: Vec::new(),
            clean: HashSet::new(),
            tainted: HashMap::new(),
            known: None,
            items: Vec::new(),
            queue: VecDeque::new(),
            seen: HashSet::new(),
            direct: Vec::new(),
            judge: None,
            level: 0,
            entered: HashSet::new(),
        }
    }

    /// The first source that one of the leaves, read there, comes from.
    pub fn source(&mut self, inside: Inside, leaves: &[Leaf]) -> Option<Trail> {
        leaves.iter().find_map(|leaf| self.trail(inside, leaf))
    }

    fn trail(&mut self, inside: Inside, leaf: &Leaf) -> Option<Trail> {
        self.items.clear();
        self.queue.clear();
        self.seen.clear();
        self.entered.clear();
        self.direct.clear();
        self.known = None;
        let mut hit = self
            .resolve(inside, leaf, None)
            .map(|source| (None, source));
        while hit.is_none() && self.known.is_none() {
            let Some(at) = self.queue.pop_front() else {
                break;
            };
            hit = self.cross(at).map(|(by, source)| (Some(by), source));
        }
        let (by, way) = match (hit, self.known.take()) {
            (Some((by, source)), _) => {
                let through = std::mem::take(&mut self.direct);
                (by, Rc::new(Way { source, through }))
            }
            (None, Some((at, way))) => (Some(at), way),
            (None, None) => {
                // Nothing on the way was a source, so none of it is.
                self.clean.extend(self.seen.drain());
                return None;
            }
        };
        let way = self.back(by, way);
        Some(Trail {
            source: way.source.clone(),
            through: way.through.clone(),
            read: leaf.span,
        })
    }

    /// Whether a condition vouches for the leaf, and what it compares with is no such source itself.
    pub(super) fn is_vouched(&mut self, inside: Inside, leaf: &Leaf) -> bool {
        self.wanted.guarded && leaf.relies.iter().any(|with| self.trusts(inside, with))
    }

    /// Whether none of these comes from such a source.
    pub(super) fn trusts(&mut self, inside: Inside, with: &[Leaf]) -> bool {
        if with.is_empty() || self.level >= JUDGES {
            return with.is_empty();
        }
        let (program, mhp_cache, wanted) = (self.program, &self.mhp_cache, self.wanted);
        let level = self.level + 1;
        let judge = self.judge.get_or_insert_with(|| {
            let judge = Search::new(program, mhp_cache, wanted);
            Box::new(Search { level, ..judge })
        });
        judge.source(inside, with).is_none()
    }

    /// The way from the source on to the use. What lies on it is known from now on.
    fn back(&mut self, by: Option<usize>, mut way: Rc<Way>) -> Rc<Way> {
        let mut at = by;
        while let Some(item) = at.and_then(|at| self.items.get(at)) {
            self.tainted.insert(item.key, way.clone());
            if let Some(note) = &item.note
                && way.through.last() != Some(note)
            {
                let mut longer = Way::clone(&way);
                longer.through.push(note.clone());
                way = Rc::new(longer);
            }
            at = item.parent;
        }
        way
    }

    /// Opens a field as it is where a node begins, or at another place.
    pub(super) fn push(
        &mut self,
        (graph, block): (GraphId, BlockId),
        (field, rest): (FieldId, &[String]),
        parent: Option<usize>,
        note: Option<(Span, String)>,
    ) {
        let Some(place) = self.cfgs.get(graph).and_then(|cfg| number(cfg, block)) else {
            return;
        };
        let rest = self.path(rest);
        let key = Key {
            graph,
            place,
            field,
            rest,
        };
        self.open(key, parent, note);
    }

    /// Opens an item.
    pub(super) fn open(&mut self, key: Key, parent: Option<usize>, note: Option<(Span, String)>) {
        if self.clean.contains(&key) || !self.seen.insert(key) {
            return;
        }
        self.items.push(Item { key, parent, note });
        let at = self.items.len() - 1;
        match self.tainted.get(&key) {
            Some(way) => self.known = Some((at, way.clone())),
            None => self.queue.push_back(at),
        }
    }

    pub(super) fn path(&mut self, rest: &[String]) -> u32 {
        if let Some(id) = self.paths.get(rest) {
            return *id;
        }
        let id = self.names.len() as u32;
        self.names.push(rest.to_vec());
        self.paths.insert(rest.to_vec(), id);
        id
    }

    /// The path below the field of a key.
    pub(super) fn rest(&self, key: Key) -> Vec<String> {
        self.names
            .get(key.rest as usize)
            .cloned()
            .unwrap_or_default()
    }

    /// The path of a key as expressions name it.
    pub(super) fn whole(&self, graph: &Graph, key: Key) -> Path {
        let field = graph.fields.get(key.field);
        let name = field.map_or("", |field| &field.name.node);
        let mut path = vec!["state".to_owned(), name.to_owned()];
        path.extend(self.rest(key));
        Path(path)
    }

    /// What the graph sends.
    pub(super) fn sends(&mut self, id: GraphId) -> Option<&Sends<'a>> {
        let graph = self.program.graphs.get(id)?;
        let sends = self.sends.entry(id);
        Some(sends.or_insert_with(|| Sends::new(graph)))
    }

    /// What the `let` names of a node are made from.
    pub(super) fn lets(&mut self, (graph, node): (GraphId, NodeId)) -> Rc<Env> {
        if let Some(known) = self.envs.get(&(graph, node)) {
            return known.clone();
        }
        let declared = self.node(graph, node);
        let made = Rc::new(declared.map_or_else(Env::new, |(_, node)| env(&node.lets)));
        self.envs.insert((graph, node), made.clone());
        made
    }

    /// The same where that is vouched for.
    pub(super) fn lets_knowing(&mut self, at: (GraphId, NodeId), facts: &Vetted) -> Rc<Env> {
        match self.node(at.0, at.1) {
            Some((_, node)) if facts.iter().any(|vouch| vouch.said.is_some()) => {
                Rc::new(env_knowing(&node.lets, facts))
            }
            _ => self.lets(at),
        }
    }

    /// A node of a graph.
    pub(super) fn node(&self, graph: GraphId, node: NodeId) -> Option<(&'a Graph, &'a Node)> {
        let program: &'a Program = self.program;
        let graph = program.graphs.get(graph)?;
        Some((graph, graph.nodes.get(node)?))
    }
}
