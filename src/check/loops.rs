//! Cycles that never end once they have gone round, and cycles without a bound.

use std::collections::{BTreeMap, BTreeSet};

use crate::ast::expr::Expr;
use crate::base::name::list;
use crate::base::{SharedSet, Span};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::expr::infer::reads;
use crate::expr::scope::StateFields;
use crate::expr::{Scope, Type};
use crate::ir::{FieldId, NodeId};
use crate::resolve::program::{Graph, Jump, Node, Route, TargetKind, Work};

use super::cfg::cycle::rounds;
use super::cfg::finish::usual;
use super::cfg::graph::{OfCycle, Wanted};
use super::cfg::{
    Block, BlockId, ControlFlowGraph, EdgeKind, MayHappenInParallel, Successor, Transition, Write,
};
use super::self_assignment;
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

/// What lets a cycle end at one place.
enum Exit<'a> {
    /// A cap, a timeout, a tool or a called graph decides.
    Free,
    /// These conditions decide.
    When(NodeId, Vec<&'a Expr>, Span),
}

/// Reports cycles whose ways out depend on nothing that changes while they go round, and those that
/// go on for as long as a model, a tool or a person says. `ends` says of a cycle whether the graph's own `exit when` may
/// end it.
pub fn loops(
    graph: &Graph,
    cfg: &ControlFlowGraph,
    mhp: &MayHappenInParallel,
    ends: OfCycle,
    diags: &mut Diagnostics,
) {
    let state = graph.fields.iter();
    let state = state.map(|field| (field.name.node.clone(), field.ty.node.clone()));
    let fields = std::sync::Arc::new(state.collect::<StateFields>());
    let among = |block: BlockId| cfg.reached().contains(block);
    let mut idle: Option<BTreeMap<Span, FieldId>> = None;
    let mut written_beside: Option<Vec<SharedSet<FieldId>>> = None;
    for group in cfg.components_among(among, |_, transition| usual(transition), Wanted::Any) {
        if !goes_round(cfg, &group) || group.iter().all(|block| cfg.is_branch(*block)) {
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
        let idle = idle.get_or_insert_with(|| self_assignment::writes(graph));
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
    let mut transitions = group.iter().flat_map(|block| cfg.transitions(*block));
    group.len() > 1 || transitions.any(|way| usual(way) && stays(group, way))
}

fn stays(group: &[BlockId], transition: &Transition) -> bool {
    transition
        .successors
        .iter()
        .any(|successor| group.binary_search(&successor.to).is_ok())
}

/// What the cycle may write, and the updates of its arrows.
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
        let transitions = || cfg.transitions(*block).iter().filter(|way| usual(way));
        let mut leaving = transitions().filter(|way| !stays(group, way));
        let Some(node) = graph.nodes.get(id) else {
            // What decides a choice stands in the nodes that lead to it.
            exits.extend(leaving.next().map(|_| Exit::Free));
            continue;
        };
        for lists in transitions().map(|way| sent(group, node, way)) {
            let first = lists.first().map(|list| list.span);
            exits.extend(first.map(|place| Exit::When(id, lists, place)));
        }
        let outside = |way: &Transition| {
            matches!(
                way.kind,
                EdgeKind::Tool | EdgeKind::Child | EdgeKind::Timeout | EdgeKind::Visits
            )
        };
        let back = transitions().any(|way| stays(group, way) && outside(way));
        for way in leaving {
            exits.push(match back || outside(way) {
                true => Exit::Free,
                false => {
                    let (conditions, place) = conditions(node, way);
                    Exit::When(id, conditions, place)
                }
            });
        }
    }
    exits
}

/// The lists by which alone a way stays in a cycle: it ends there where they are empty.
fn sent<'a>(group: &[BlockId], node: &'a Node, way: &Transition) -> Vec<&'a Expr> {
    let inside = |to: &&Successor| group.binary_search(&to.to).is_ok();
    let back: Vec<&Successor> = way.successors.iter().filter(inside).collect();
    if back.iter().any(|to| !to.many) {
        return Vec::new();
    }
    let lists = node.targets().filter_map(|target| match &target.kind {
        TargetKind::Each(each) if back.iter().any(|to| to.span == target.span) => Some(&each.items),
        _ => None,
    });
    lists.collect()
}

/// The conditions that decide whether a way of a node is taken, and the place of the one that speaks of it.
fn conditions<'a>(node: &'a Node, way: &Transition) -> (Vec<&'a Expr>, Span) {
    let mut asked: Vec<&Expr> = Vec::new();
    for skip in &node.skips {
        asked.push(&skip.when);
        if skip.to.as_ref().is_some_and(|to| to.span == way.span) {
            return (asked, skip.when.span);
        }
    }
    match node.goto.as_ref().map(|goto| &goto.node) {
        Some(Route::Arms(arms, _)) => {
            for arm in arms {
                asked.extend(&arm.when);
                if arm.jump.span == way.span {
                    // An `else` is decided by the condition before it.
                    asked.extend(computed(&arm.jump));
                    let place = asked.last().map_or(arm.span, |when| when.span);
                    return (asked, place);
                }
            }
        }
        Some(Route::Always(jump)) => asked.extend(computed(jump)),
        None => {}
    }
    (asked, way.span)
}

fn computed(jump: &Jump) -> impl Iterator<Item = &Expr> {
    jump.to.iter().filter_map(|target| match &target.kind {
        TargetKind::Computed(name) => Some(&**name),
        _ => None,
    })
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
        let mut known: Vec<(BTreeSet<u32>, bool)> = Vec::new();
        for value in lets.iter().map(|bound| &bound.value).chain([expr]) {
            let seen = reads(value, &scope);
            let (mut fields, mut changes) = (seen.fields, seen.effects);
            for slot in seen.slots {
                let bound = (slot.0 as usize).checked_sub(first);
                match bound.and_then(|at| known.get(at)) {
                    Some((more, too)) => {
                        fields.extend(more);
                        changes |= too;
                    }
                    None => changes = true,
                }
            }
            if let Some(bound) = lets.get(known.len()) {
                scope.declare(&bound.name.node, Type::Error);
            }
            known.push((fields, changes));
        }
        let (fields, changes) = known.pop().unwrap_or_default();
        (fields.into_iter().map(FieldId).collect(), changes)
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
        let capped = |id: NodeId| cfg.nodes.get(id).is_some_and(Block::is_capped);
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
    list(cfg.names(group.iter().copied()))
}

fn stuck(
    graph: &Graph,
    cfg: &ControlFlowGraph,
    group: &[BlockId],
    (exits, idle): (&[Exit], &BTreeMap<Span, FieldId>),
    read: &BTreeSet<FieldId>,
) -> Diagnostic {
    let name = |id: FieldId| graph.fields.get(id).map_or("?", |field| &*field.name.node);
    let places = exits.iter().filter_map(|exit| match exit {
        Exit::When(_, _, place) => Some(*place),
        Exit::Free => None,
    });
    let mut writes = group.iter().flat_map(|block| cfg.writes(*block));
    let again = writes.find(|write| idle.contains_key(&write.span) && read.contains(&write.field));
    let nodes = names(cfg, group);
    let (message, at, help) = match again {
        Some(again) => {
            let name = name(again.field);
            (
                format!("`{name}` is written as it is, so that the cycle of {nodes} never ends"),
                again.span,
                format!(
                    "write what it is to be in the next round, such as `{name}: state.{name} + 1`"
                ),
            )
        }
        None => (
            format!(
                "the way out of the cycle of {nodes} depends on {} alone, which nothing in it writes",
                list(read.iter().map(|id| name(*id)))
            ),
            places.clone().next().unwrap_or_default(),
            "write it in the cycle, or say how often it may go round: `max_visits N -> TARGET`"
                .to_owned(),
        ),
    };
    let mut found = Diagnostic::new(&codes::STUCK_CYCLE, message, at).help(help);
    for place in places.filter(|place| *place != at).take(SHOWN) {
        found = found.label(place, "once the cycle has gone round, this stays as it is");
    }
    match again {
        Some(_) => found,
        None => rounds(
            cfg,
            group,
            found.here("once the cycle has gone round, this stays as it is"),
        ),
    }
}

fn unbounded(cfg: &ControlFlowGraph, group: &[BlockId]) -> Diagnostic {
    let head = group.first().and_then(|block| match block {
        BlockId::Node(id) => cfg.nodes.get(*id),
        _ => None,
    });
    let message = format!("nothing bounds the loop of {}", names(cfg, group));
    let place = head.map_or(Span::default(), |node| node.span);
    let found = Diagnostic::new(&codes::UNBOUNDED_LOOP, message, place).help(
        "cap it: `max_visits N -> TARGET` on one of its nodes, or a counter that a way out looks at",
    );
    rounds(cfg, group, found)
}
