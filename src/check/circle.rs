//! Circles that never end once they have gone round, and circles without a bound.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::ast::expr::Expr;
use crate::base::name::list;
use crate::base::{SharedSet, Span};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::expr::infer::{Reads, reads};
use crate::expr::scope::StateFields;
use crate::expr::{Scope, Type};
use crate::ir::{FieldId, NodeId};
use crate::resolve::program::{Graph, Jump, Node, Route, TargetKind, Work};

use super::cfg::cycle::shortest;
use super::cfg::finish::usual;
use super::cfg::graph::{OfCircle, Wanted};
use super::cfg::{
    BlockId, ControlFlowGraph, EdgeKind, MayHappenInParallel, Successor, Transition, Write,
};
use super::idle;
use super::types::beside;

/// Most places of one finding that are pointed at.
const SHOWN: usize = 6;

/// Names that are something else at each visit of a node.
const CHANGING: [&str; 10] = [
    "run",
    "input",
    "reply",
    "output",
    "transcript",
    "results",
    "result",
    "answer",
    "answered",
    "error",
];

/// What lets a circle end at one place.
enum Exit<'a> {
    /// A cap, a timeout, a tool or a called graph decides.
    Free,
    /// These conditions decide.
    When(NodeId, Vec<&'a Expr>, Span),
}

/// Reports circles whose ways out depend on nothing that changes while they go round, and those that
/// go on for as long as a model, a tool or a person says. `ends` says of a circle whether the graph's own `exit when` may
/// end it.
pub fn circles(
    graph: &Graph,
    cfg: &ControlFlowGraph,
    mhp: &MayHappenInParallel,
    (reached, ends): (&[bool], OfCircle),
    diags: &mut Diagnostics,
) {
    let state = graph.fields.iter();
    let state = state.map(|field| (field.name.node.clone(), field.ty.node.clone()));
    let fields = std::sync::Arc::new(state.collect::<StateFields>());
    let among = |block: BlockId| {
        let number = cfg.number(block);
        number.is_some_and(|n| reached.get(n).copied().unwrap_or(false))
    };
    let mut idle: Option<BTreeMap<Span, FieldId>> = None;
    let mut written_beside: Option<Vec<SharedSet<FieldId>>> = None;
    for group in cfg.components_among(among, |_, transition| usual(transition), Wanted::Any) {
        if !goes_round(cfg, &group) || group.iter().all(|block| is_branch(cfg, *block)) {
            continue;
        }
        let exits = exits(graph, cfg, &group);
        if exits.is_empty() || ends(&group) {
            continue;
        }
        let scopes = Scopes {
            graph,
            fields: fields.clone(),
        };
        let idle = idle.get_or_insert_with(|| idle::writes(graph));
        let mut changed = written(cfg, &group, idle);
        if let Some(read) = scopes.stuck(&exits, &changed) {
            let beside = written_beside.get_or_insert_with(|| beside(cfg, mhp));
            for block in &group {
                if let BlockId::Node(id) = block {
                    changed.extend(beside.get(id.0 as usize).into_iter().flatten());
                }
            }
            if scopes.stuck(&exits, &changed).is_some() {
                diags.push(stuck(graph, cfg, &group, (&exits, idle), &read));
                continue;
            }
        }
        if !scopes.bounded(cfg, &group, &exits) {
            diags.push(unbounded(cfg, &group));
        }
    }
}

fn goes_round(cfg: &ControlFlowGraph, group: &[BlockId]) -> bool {
    let itself = |block: BlockId| {
        let transitions = cfg
            .transitions(block)
            .iter()
            .filter(|transition| usual(transition));
        transitions
            .flat_map(|transition| &transition.successors)
            .any(|successor| successor.to == block)
    };
    group.len() > 1 || group.first().is_some_and(|block| itself(*block))
}

fn is_branch(cfg: &ControlFlowGraph, block: BlockId) -> bool {
    matches!(block, BlockId::Node(id) if cfg.nodes.get(id).is_some_and(|node| node.branch))
}

fn stays(group: &[BlockId], transition: &Transition) -> bool {
    transition
        .successors
        .iter()
        .any(|successor| group.binary_search(&successor.to).is_ok())
}

/// What the circle may write, and the updates of its arrows.
fn written(
    cfg: &ControlFlowGraph,
    group: &[BlockId],
    idle: &BTreeMap<Span, FieldId>,
) -> BTreeSet<FieldId> {
    let mut fields = BTreeSet::new();
    let changes = |write: &&Write| !idle.contains_key(&write.span);
    for block in group {
        if let BlockId::Node(id) = block {
            let own = cfg.nodes.get(*id).into_iter().flat_map(|node| &node.writes);
            fields.extend(own.filter(changes).map(|write| write.field));
        }
        let transitions = cfg
            .transitions(*block)
            .iter()
            .filter(|transition| stays(group, transition));
        let on = transitions
            .flat_map(|transition| &transition.writes)
            .filter(changes);
        fields.extend(on.map(|write| write.field));
    }
    fields
}

fn exits<'a>(graph: &'a Graph, cfg: &ControlFlowGraph, group: &[BlockId]) -> Vec<Exit<'a>> {
    let mut exits = Vec::new();
    for block in group {
        let BlockId::Node(id) = *block else { continue };
        let Some(node) = graph.nodes.get(id) else {
            continue;
        };
        exits.extend(sent(cfg, group, id, node));
        let transitions = || {
            cfg.transitions(*block)
                .iter()
                .filter(|transition| usual(transition))
        };
        let decided = |transition: &Transition| {
            let outside = matches!(
                transition.kind,
                EdgeKind::Tool | EdgeKind::Child | EdgeKind::Timeout | EdgeKind::Visits
            );
            outside && (stays(group, transition) || transition.kind != EdgeKind::Visits)
        };
        let back = transitions().any(|other| stays(group, other) && decided(other));
        let mut asked = Asked::of(node);
        for transition in transitions().filter(|transition| !stays(group, transition)) {
            let free = back
                || matches!(
                    transition.kind,
                    EdgeKind::Visits | EdgeKind::Timeout | EdgeKind::Tool | EdgeKind::Child
                );
            exits.push(match free {
                true => Exit::Free,
                false => {
                    let (conditions, place) = asked.conditions(transition);
                    Exit::When(id, conditions, place)
                }
            });
        }
    }
    exits
}

/// Where a circle goes on by `each` alone: it ends there with an empty list.
fn sent<'a>(
    cfg: &ControlFlowGraph,
    group: &[BlockId],
    id: NodeId,
    node: &'a Node,
) -> Vec<Exit<'a>> {
    let inside = |successor: &&Successor| group.binary_search(&successor.to).is_ok();
    let mut exits = Vec::new();
    for transition in cfg
        .transitions(BlockId::Node(id))
        .iter()
        .filter(|transition| usual(transition))
    {
        let back: Vec<&Successor> = transition.successors.iter().filter(inside).collect();
        if back.is_empty() || back.iter().any(|successor| !successor.many) {
            continue;
        }
        let lists = node.targets().filter_map(|target| match &target.kind {
            TargetKind::Each(each) => Some((target.span, &each.items)),
            _ => None,
        });
        let lists: Vec<(Span, &Expr)> = lists
            .filter(|(span, _)| back.iter().any(|successor| successor.span == *span))
            .collect();
        let Some((_, first)) = lists.first() else {
            continue;
        };
        let place = first.span;
        let lists = lists.iter().map(|(_, items)| *items).collect();
        exits.push(Exit::When(id, lists, place));
    }
    exits
}

/// The conditions of a node, in the order in which they are asked.
struct Asked<'a> {
    all: Vec<&'a Expr>,
    /// By the span of a jump how many of them are asked up to it, its place, and the jump.
    jumps: HashMap<Span, (usize, Span, &'a Jump)>,
    /// How many were given for a way before.
    given: usize,
    node: &'a Node,
}

impl<'a> Asked<'a> {
    fn of(node: &'a Node) -> Self {
        let mut asked = Self {
            all: Vec::new(),
            jumps: HashMap::new(),
            given: 0,
            node,
        };
        for skip in &node.skips {
            asked.all.push(&skip.when);
            if let Some(jump) = &skip.to {
                asked.note(jump, skip.when.span);
            }
        }
        if let Some(Route::Arms(arms, _)) = node.goto.as_ref().map(|goto| &goto.node) {
            for arm in arms {
                asked.all.extend(arm.when.as_ref());
                // An `else` is decided by the condition before it.
                let place = asked.all.last().map_or(arm.span, |when| when.span);
                asked.note(&arm.jump, place);
            }
        }
        asked
    }

    fn note(&mut self, jump: &'a Jump, place: Span) {
        let found = (self.all.len(), place, jump);
        self.jumps.entry(jump.span).or_insert(found);
    }

    /// The conditions that decide whether a way is taken, but for those that were given for another before, and the place
    /// of the one that speaks of it.
    fn conditions(&mut self, transition: &Transition) -> (Vec<&'a Expr>, Span) {
        let known = self.jumps.get(&transition.span).copied();
        let (upto, place, jump) = match known {
            Some((upto, place, jump)) => (upto, place, Some(jump)),
            None => (self.all.len(), transition.span, None),
        };
        let mut found = self.all.get(self.given..upto).unwrap_or_default().to_vec();
        self.given = self.given.max(upto);
        let always = match self.node.goto.as_ref().map(|goto| &goto.node) {
            Some(Route::Always(jump)) => Some(jump),
            _ => None,
        };
        let before = found.len();
        let jump = match known {
            Some(_) => jump.filter(|_| transition.kind != EdgeKind::Skip),
            None => always,
        };
        jump.into_iter()
            .for_each(|jump| computed(&jump.to, &mut found));
        // What an arm computes says more of it than what is asked before.
        let named = found.get(before..).and_then(|names| names.last());
        let place = named
            .filter(|_| known.is_some())
            .map_or(place, |name| name.span);
        (found, place)
    }
}

fn computed<'a>(targets: &'a [crate::resolve::program::Target], found: &mut Vec<&'a Expr>) {
    found.extend(targets.iter().filter_map(|target| match &target.kind {
        TargetKind::Computed(name) => Some(&**name),
        _ => None,
    }));
}

struct Scopes<'a> {
    graph: &'a Graph,
    fields: std::sync::Arc<StateFields>,
}

impl Scopes<'_> {
    /// What an expression of a node reads, its `let` names looked through.
    fn read(&self, node: NodeId, expr: &Expr) -> (BTreeSet<FieldId>, bool) {
        let mut scope = Scope {
            state: Some(self.fields.clone()),
            ..Scope::default()
        };
        for name in CHANGING {
            scope.declare(name, Type::Error);
        }
        let node = self.graph.nodes.get(node);
        // Answers are others at each visit too.
        let nodes = node.map_or(&[][..], |node| &node.stops);
        for node in nodes {
            scope.declare(&node.name.node, Type::Error);
        }
        let first = scope.names.len();
        let lets = node.map_or(&[][..], |node| &node.lets);
        let mut known: Vec<Reads> = Vec::new();
        let see = |reads: Reads, known: &[Reads]| {
            let mut all = Reads {
                fields: reads.fields.clone(),
                effects: reads.effects,
                ..Reads::default()
            };
            for slot in reads.slots {
                match (slot.0 as usize)
                    .checked_sub(first)
                    .and_then(|at| known.get(at))
                {
                    Some(of) => {
                        all.fields.extend(&of.fields);
                        all.effects |= of.effects;
                    }
                    None => all.effects = true,
                }
            }
            all
        };
        for binding in lets {
            let seen = see(reads(&binding.value, &scope), &known);
            known.push(seen);
            scope.declare(&binding.name.node, Type::Error);
        }
        let seen = see(reads(expr, &scope), &known);
        (seen.fields.into_iter().map(FieldId).collect(), seen.effects)
    }

    /// The fields that all ways out depend on, where none of them is among the changed ones and nothing
    /// else that they read changes.
    fn stuck(&self, exits: &[Exit], changed: &BTreeSet<FieldId>) -> Option<BTreeSet<FieldId>> {
        let mut all = BTreeSet::new();
        for exit in exits {
            let Exit::When(node, conditions, _) = exit else {
                return None;
            };
            for condition in conditions {
                let (fields, changes) = self.read(*node, condition);
                if changes || !fields.is_disjoint(changed) {
                    return None;
                }
                all.extend(fields);
            }
        }
        (!all.is_empty()).then_some(all)
    }

    /// Whether something counts: a cap, a person, or a number, a list or a map that a way out looks at.
    fn bounded(&self, cfg: &ControlFlowGraph, group: &[BlockId], exits: &[Exit]) -> bool {
        let nodes = || {
            group.iter().filter_map(|block| match block {
                BlockId::Node(id) => Some(*id),
                _ => None,
            })
        };
        let paced = |id: NodeId| {
            let node = self.graph.nodes.get(id);
            node.is_some_and(|node| {
                matches!(node.work, Work::Interrupt { .. }) || !node.stops.is_empty()
            })
        };
        let capped = |id: NodeId| {
            let transitions = cfg.transitions(BlockId::Node(id)).iter();
            transitions
                .into_iter()
                .any(|transition| transition.kind == EdgeKind::Visits)
        };
        let counted = |exit: &Exit| match exit {
            Exit::Free => false,
            Exit::When(node, conditions, _) => conditions.iter().any(|condition| {
                let (fields, _) = self.read(*node, condition);
                fields.iter().any(|field| self.counts(*field)) || speaks_of_run(condition)
            }),
        };
        self.graph.recursion_limit.is_some()
            || nodes().any(|id| paced(id) || capped(id))
            || exits.iter().any(counted)
    }

    fn counts(&self, field: FieldId) -> bool {
        let field = self.graph.fields.get(field);
        field.is_some_and(|field| {
            let ty = match &field.ty.node {
                Type::Nullable(of) => of,
                other => other,
            };
            matches!(
                ty,
                Type::Int | Type::Float | Type::List(_) | Type::Map(_) | Type::Error
            )
        })
    }
}

fn speaks_of_run(condition: &Expr) -> bool {
    let mut scope = Scope::default();
    scope.declare("run", Type::Error);
    !reads(condition, &scope).slots.is_empty()
}

fn names(cfg: &ControlFlowGraph, group: &[BlockId]) -> String {
    let nodes = group
        .iter()
        .filter(|block| matches!(block, BlockId::Node(_)));
    list(nodes.map(|block| cfg.name(*block)))
}

fn stuck(
    graph: &Graph,
    cfg: &ControlFlowGraph,
    group: &[BlockId],
    (exits, idle): (&[Exit], &BTreeMap<Span, FieldId>),
    read: &BTreeSet<FieldId>,
) -> Diagnostic {
    let fields = read.iter().filter_map(|id| graph.fields.get(*id));
    let fields = list(fields.map(|field| field.name.node.as_str()));
    let places = exits.iter().filter_map(|exit| match exit {
        Exit::When(_, _, place) => Some(*place),
        Exit::Free => None,
    });
    let places: Vec<Span> = places.collect();
    let again = group.iter().find_map(|block| {
        let own = match block {
            BlockId::Node(id) => cfg.nodes.get(*id).map_or(&[][..], |node| &node.writes),
            _ => &[],
        };
        let transitions = cfg
            .transitions(*block)
            .iter()
            .flat_map(|transition| &transition.writes);
        let mut writes = own.iter().chain(transitions);
        writes.find(|write| idle.contains_key(&write.span) && read.contains(&write.field))
    });
    if let Some(again) = again {
        let name = graph
            .fields
            .get(again.field)
            .map_or("?", |field| &*field.name.node);
        let message = format!(
            "`{name}` is written as it is, so that the cycle of {} never ends",
            names(cfg, group)
        );
        let mut found = Diagnostic::new(&codes::STUCK_CYCLE, message, again.span).help(format!(
            "write what it is to be in the next round, such as `{name}: state.{name} + 1`"
        ));
        for place in places.into_iter().take(SHOWN) {
            found = found.label(place, "once the cycle has gone round, this stays as it is");
        }
        return found;
    }
    let message = format!(
        "the way out of the cycle of {} depends on {fields} alone, which nothing in it writes",
        names(cfg, group)
    );
    let first = places.first().copied().unwrap_or_default();
    let mut found = Diagnostic::new(&codes::STUCK_CYCLE, message, first)
        .here("once the cycle has gone round, this stays as it is");
    for place in places.iter().take(SHOWN).skip(1) {
        found = found.label(*place, "and so does this");
    }
    let inside = |_: BlockId, transition: &Transition, to: BlockId| {
        usual(transition) && group.binary_search(&to).is_ok()
    };
    let cycle = group
        .first()
        .and_then(|block| shortest(cfg, *block, inside));
    if let Some(cycle) = cycle {
        found = cycle.labels(cfg, found);
    }
    found.help("write it in the cycle, or say how often it may go round: `max_visits N -> TARGET`")
}

fn unbounded(cfg: &ControlFlowGraph, group: &[BlockId]) -> Diagnostic {
    let head = group.first().and_then(|block| match block {
        BlockId::Node(id) => cfg.nodes.get(*id),
        _ => None,
    });
    let message = format!("nothing bounds the loop of {}", names(cfg, group));
    let place = head.map_or(Span::default(), |node| node.span);
    let inside = |_: BlockId, transition: &Transition, to: BlockId| {
        usual(transition) && group.binary_search(&to).is_ok()
    };
    let mut found = Diagnostic::new(&codes::UNBOUNDED_LOOP, message, place).help(
        "cap it: `max_visits N -> TARGET` on one of its nodes, or a counter that a way out looks at",
    );
    let cycle = group
        .first()
        .and_then(|block| shortest(cfg, *block, inside));
    if let Some(cycle) = cycle {
        found = cycle.labels(cfg, found);
    }
    found
}
