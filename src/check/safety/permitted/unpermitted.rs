//! Where some way of a run comes to without a permission.
//!
//! It is asked of a program ([`at_calls`](super::at_calls)), and of the IR by `graphc audit`: what it has to know of a node are
//! [`Permissions`]. They are numbers, of tools or of whatever else answers stand for.
//!
//! Each permission is followed by itself, as plain reachability along the transitions behind which it is not given:
//!
//! - without any, from where a run begins; and again from each call that may have used up a `permit once`
//! - without one that lasts, which is for any number of calls
//!
//! A question gives its permissions where it is answered, whatever the answer. What a `skip`, a timeout or an error leads past
//! counts for nothing. A join passes on what each of its members has, so that none of them may have it; what one member has
//! used up is used up. A called graph is a summary: whether some way through it, to its end or to where it leaves for a node
//! of its caller, gives none.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

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

/// All graphs of a program or a flow, with what their nodes do with permissions.
pub struct Calls<'a> {
    graphs: IdVec<GraphId, GraphPermissions<'a>>,
    callers: Callers,
    /// Graphs that a run may begin with.
    roots: Vec<GraphId>,
}

/// Permissions that are followed.
#[derive(Clone, Copy)]
struct Followed {
    of: usize,
    /// Only those that last.
    lasting: bool,
}

impl Followed {
    fn given(self, by: &[Permission]) -> bool {
        by.iter()
            .any(|one| one.of == self.of && (one.lasts || !self.lasting))
    }

    /// Whether a way that comes to a node without it goes on without it. `through` says which graphs have a way that gives none.
    fn lacks_behind(self, node: &Permissions, kind: EdgeKind, through: &[bool]) -> bool {
        let passes = |called: GraphId| through.get(called.0 as usize) != Some(&false);
        let asked = !self.given(&node.ahead);
        match kind {
            EdgeKind::Visits | EdgeKind::Error => true,
            EdgeKind::Child => asked && node.calls.is_none_or(passes),
            EdgeKind::Edge | EdgeKind::Goto if !node.skips => {
                asked && node.calls.is_none_or(passes) && !self.given(&node.behind)
            }
            _ => asked,
        }
    }

    /// Whether a node that has used it up goes on without it.
    fn spent_behind(self, node: &Permissions, kind: EdgeKind) -> bool {
        match kind {
            EdgeKind::Visits | EdgeKind::Skip | EdgeKind::Timeout => false,
            EdgeKind::Edge | EdgeKind::Goto if !node.skips => !self.given(&node.behind),
            _ => true,
        }
    }
}

impl<'a> Calls<'a> {
    /// Of graphs of which a run may begin with the `roots`.
    pub fn new(graphs: IdVec<GraphId, GraphPermissions<'a>>, roots: Vec<GraphId>) -> Self {
        let mut callers: Callers = graphs.iter().map(|_| Vec::new()).collect();
        for (id, graph) in graphs.entries() {
            for (at, node) in graph.nodes.entries() {
                let callers = node.calls.and_then(|called| callers.get_mut(called));
                callers.into_iter().for_each(|list| list.push((id, at)));
            }
        }
        Self {
            graphs,
            callers,
            roots,
        }
    }

    /// Follows the permissions of one number.
    pub fn without(&self, number: usize) -> Unpermitted<'_> {
        let any = Followed {
            of: number,
            lasting: false,
        };
        let lasting = Followed {
            lasting: true,
            ..any
        };
        let mut found = Unpermitted {
            calls: self,
            any: self.reach(any, None),
            once: None,
            number,
        };
        let nodes = self.graphs.iter().flat_map(|graph| &graph.nodes);
        let mut given = nodes.flat_map(|node| node.ahead.iter().chain(&node.behind));
        if given.any(|one| one.of == number && !one.lasts) {
            let lasting = self.reach(lasting, None);
            let mut spending = self.users(number);
            spending.retain(|at| lasting.has(*at));
            found.once = Some((lasting, self.reach(any, Some(&spending))));
        }
        found
    }

    fn node(&self, (graph, node): (GraphId, NodeId)) -> Option<&Permissions> {
        self.graphs.get(graph)?.nodes.get(node)
    }

    /// The nodes with a call that uses up a permission, and those that call a graph with such a node.
    fn users(&self, number: usize) -> BTreeSet<(GraphId, NodeId)> {
        let mut open = Vec::new();
        for (id, graph) in self.graphs.entries() {
            let nodes = graph.nodes.entries();
            let using = nodes.filter(|(_, node)| node.uses.contains(&number));
            open.extend(using.map(|(at, _)| (id, at)));
        }
        let mut users = BTreeSet::new();
        while let Some(at) = open.pop() {
            if users.insert(at) {
                open.extend(self.callers.get(at.0).into_iter().flatten());
            }
        }
        users
    }

    /// Where some way comes to without what is followed: from where a run begins, or from the calls that are `spending` it.
    fn reach(&self, what: Followed, spending: Option<&BTreeSet<(GraphId, NodeId)>>) -> Reached {
        let mut through = vec![false; self.graphs.len()];
        settle_callers(&self.callers, |id| {
            // Nobody asks what leads through a graph that nothing calls.
            let called = self.callers.get(id).is_some_and(|by| !by.is_empty());
            let at = id.0 as usize;
            let more = called
                && through.get(at) == Some(&false)
                && self.follow(id, (what, &through), true, None).leaves;
            if let Some(known) = through.get_mut(at) {
                *known |= more;
            }
            more
        });
        let mut reached = Reached(self.graphs.iter().map(|_| Vec::new()).collect());
        let begins = match spending {
            None => self.roots.as_slice(),
            Some(_) => &[],
        };
        let mut begun: BTreeSet<GraphId> = begins.iter().copied().collect();
        let spends = spending.into_iter().flatten().map(|(id, _)| *id);
        // Each graph once, however many of its nodes are spending.
        let mut open: BTreeSet<GraphId> = begins.iter().copied().chain(spends).collect();
        while let Some(id) = open.pop_first() {
            let begins = begun.contains(&id);
            let arrows = self.follow(id, (what, &through), begins, spending).arrows;
            let nodes = self.graphs.get(id).into_iter();
            let nodes = nodes.flat_map(|graph| &graph.nodes).zip(&arrows);
            let nodes = nodes.filter(|(node, at)| at.is_some() && !what.given(&node.ahead));
            for called in nodes.filter_map(|(node, _)| node.calls) {
                open.extend(begun.insert(called).then_some(called));
            }
            if let Some(known) = reached.0.get_mut(id) {
                *known = arrows;
            }
        }
        reached
    }

    /// The same within one graph, which `begins` without what is followed or not.
    fn follow(
        &self,
        id: GraphId,
        (what, through): (Followed, &[bool]),
        begins: bool,
        spending: Option<&BTreeSet<(GraphId, NodeId)>>,
    ) -> Following {
        let Some(graph) = self.graphs.get(id) else {
            return Following::default();
        };
        let mut found = Following {
            arrows: vec![None; graph.cfg.count()],
            // What one member of a join has used up is used up, whatever the others bring.
            one_member: spending.is_some(),
            ..Following::default()
        };
        for transition in graph.cfg.start.iter().filter(|_| begins) {
            found.lead_on(graph.cfg, None, transition);
        }
        let spending = spending
            .into_iter()
            .flat_map(|all| all.range((id, NodeId(0))..));
        for (_, at) in spending.take_while(|(of, _)| *of == id) {
            let (block, node) = (BlockId::Node(*at), graph.nodes.get(*at));
            for transition in graph.cfg.transitions(block) {
                if node.is_some_and(|node| what.spent_behind(node, transition.kind)) {
                    found.lead_on(graph.cfg, Some(block), transition);
                }
            }
            // Of several tasks only one has a permission for one call.
            let mut sent = graph.cfg.in_edges(block);
            if let Some(edge) = sent.find(|edge| edge.successor().is_some_and(|to| to.many)) {
                found.come(graph.cfg, block, (edge.from, edge.transition.span));
            }
        }
        while let Some(block) = found.open.pop_front() {
            for transition in graph.cfg.transitions(block) {
                let node = match block {
                    BlockId::Node(at) => graph.nodes.get(at),
                    _ => None,
                };
                if node.is_none_or(|node| what.lacks_behind(node, transition.kind, through)) {
                    found.lead_on(graph.cfg, Some(block), transition);
                }
            }
        }
        // With an `exit when` it may end behind any super-step.
        found.leaves |= graph.cfg.exits && found.arrows.iter().any(Option::is_some);
        found
    }
}

/// From where, and by which arrow, some way first comes to a block; from nowhere where the graph begins.
type Arrow = (Option<BlockId>, Span);

/// By graph and block, the arrow by which some way first comes there; `None` where none does.
struct Reached(IdVec<GraphId, Vec<Option<Arrow>>>);

impl Reached {
    fn arrow(&self, graph: GraphId, number: usize) -> Option<Arrow> {
        *self.0.get(graph)?.get(number)?
    }

    fn has(&self, (graph, node): (GraphId, NodeId)) -> bool {
        self.arrow(graph, node.0 as usize).is_some()
    }
}

/// One graph that is being followed.
#[derive(Default)]
struct Following {
    arrows: Vec<Option<Arrow>>,
    open: VecDeque<BlockId>,
    /// The members that have come to joins.
    come: BTreeMap<JoinId, BTreeSet<NodeId>>,
    one_member: bool,
    /// It comes to the end, or to where the graph leaves for a node of its caller.
    leaves: bool,
}

impl Following {
    fn lead_on(&mut self, cfg: &ControlFlowGraph, from: Option<BlockId>, by: &Transition) {
        for to in &by.successors {
            match (to.to, from) {
                (BlockId::End | BlockId::Leave, _) => self.leaves = true,
                (BlockId::Join(id), Some(BlockId::Node(member))) if !self.one_member => {
                    let come = self.come.entry(id).or_default();
                    come.insert(member);
                    if cfg.members(id).all(|member| come.contains(&member)) {
                        self.come(cfg, to.to, (from, by.span));
                    }
                }
                _ => self.come(cfg, to.to, (from, by.span)),
            }
        }
    }

    fn come(&mut self, cfg: &ControlFlowGraph, block: BlockId, arrow: Arrow) {
        let number = cfg.number(block);
        if let Some(slot) = number.and_then(|number| self.arrows.get_mut(number))
            && slot.is_none()
        {
            *slot = Some(arrow);
            self.open.push_back(block);
        }
    }
}

/// Where some way comes to without the permission of one number.
pub struct Unpermitted<'a> {
    calls: &'a Calls<'a>,
    number: usize,
    /// Without any that was ever given.
    any: Reached,
    /// Where some permissions are for one call: without one that lasts, and behind a call that may have used it up.
    once: Option<(Reached, Reached)>,
}

impl Unpermitted<'_> {
    /// Whether some way comes to a call in a node without the permission, or the node may make the call again when a permission for
    /// one call is used.
    pub fn come_to(&self, call: (GraphId, NodeId)) -> bool {
        let Some(node) = self.calls.node(call) else {
            return false;
        };
        let given = |lasting| {
            let followed = Followed {
                of: self.number,
                lasting,
            };
            followed.given(&node.ahead)
        };
        let spent = |(lasting, spent): &(Reached, Reached)| {
            spent.has(call) && !given(false) || node.repeats && lasting.has(call) && !given(true)
        };
        self.any.has(call) && !given(false) || self.once.as_ref().is_some_and(spent)
    }

    /// A way by which a call in a node comes without the permission: its last arrows, those of callers before those of
    /// the graph that they call.
    pub fn way(&self, call: (GraphId, NodeId)) -> Vec<(Span, String)> {
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        let mut open = Some(call);
        while let Some((id, node)) = open.take_if(|(id, _)| seen.insert(*id)) {
            self.arrows_back((id, node), &mut found);
            open = self.caller(id);
            let block = |(id, at)| self.calls.graphs.get(id)?.cfg.nodes.get(at);
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
    fn arrows_back(&self, (id, node): (GraphId, NodeId), found: &mut Vec<(Span, String)>) {
        let Some(graph) = self.calls.graphs.get(id) else {
            return;
        };
        let cfg = graph.cfg;
        let mut seen = BTreeSet::new();
        let mut at = Some(BlockId::Node(node));
        while let Some(block) = at.filter(|block| found.len() < SHOWN && seen.insert(*block)) {
            let arrow = |of: &Reached| of.arrow(id, cfg.number(block)?);
            let spent = || arrow(&self.once.as_ref()?.1);
            let Some((from, span)) = arrow(&self.any).or_else(spent) else {
                break;
            };
            let text = match from {
                Some(from) => format!("`{}` leads to `{}`", cfg.name(from), cfg.name(block)),
                None => format!("it begins with `{}`", cfg.name(block)),
            };
            found.push((span, text));
            at = from;
        }
    }

    /// A node that calls the graph without the permission.
    fn caller(&self, id: GraphId) -> Option<(GraphId, NodeId)> {
        let mut callers = self.calls.callers.get(id)?.iter().copied();
        callers
            .find(|call| self.come_to(*call))
            .filter(|_| !self.calls.roots.contains(&id))
    }
}
