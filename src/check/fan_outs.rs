//! What goes wrong without a word around `each`: nothing comes behind an empty list, and each task decides for itself.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::ast::expr::{BinaryOp, Expr, ExprKind};
use crate::base::{AccessPath, Span};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::expr::fold::inline::{Inliner, LetValue, inlined, let_values};
use crate::expr::infer::access_path;
use crate::ir::{FieldId, JoinId, NodeId};
use crate::resolve::jumps::Maker;
use crate::resolve::naming::IN_SCOPE;
use crate::resolve::program::{Each, Graph, Jump, Node, Route, TargetKind};

use super::cfg::effect::WritesOnWays;
use super::cfg::leaves_unwritten::{Count, Known, LeavesUnwritten};
use super::cfg::{Block, BlockId, BlockSet, ControlFlowGraph, EdgeKind, Successor, Transition};
use super::types::flow_state::begins_set;

/// Reports joins that wait for the worker of a fan-out which leads on as a whole.
///
/// Gives them back: they are waited at in vain.
pub fn joined(graph: &Graph, cfg: &ControlFlowGraph, diags: &mut Diagnostics) -> BTreeSet<JoinId> {
    let mut found = BTreeSet::new();
    let workers: BTreeMap<NodeId, Span> = (cfg.nodes.iter())
        .filter_map(|block| Some((block.fan_out()?, block.span)))
        .collect();
    for (id, join) in graph.joins.entries() {
        let Some((member, then)) =
            (join.members.iter()).find_map(|member| Some((member, workers.get(&member.node)?)))
        else {
            continue;
        };
        let worker = cfg.name(BlockId::Node(member.node));
        let message = format!(
            "this join waits for `{worker}`, whose tasks are waited for by `then`; where the list is empty there is none"
        );
        diags.push(
            Diagnostic::new(&codes::FAN_OUT_IN_JOIN, message, member.span)
                .label(*then, "what comes behind all of its tasks")
                .help("join the node behind `then` in its place"),
        );
        found.insert(id);
    }
    found
}

/// Warns of fan-outs without `then` where an empty list passes over nodes that come behind the worker alone, or leaves an
/// `out` field without a value.
pub fn passed_over(
    graph: &Graph,
    cfg: &ControlFlowGraph,
    (effects, known): (&WritesOnWays, Known),
    diags: &mut Diagnostics,
) {
    let unwritten = |count| LeavesUnwritten::new(cfg, effects, count, known).at_start();
    // The fields that any empty list leaves without a value, found when first asked for. What no list is to blame for is
    // reported by itself.
    let mut candidates: Option<Vec<FieldId>> = None;
    for (sender, each, at) in unguarded(graph) {
        let Some(worker) = each.worker.filter(|_| !is_full(graph, &each.items)) else {
            continue;
        };
        // What sends comes behind the worker itself: that has run.
        let behind = |sender| cfg.dominates(BlockId::Node(worker), BlockId::Node(sender));
        if sender.is_some_and(behind) {
            continue;
        }
        let of = cfg.name(BlockId::Node(worker));
        if let Some(next) = first_behind(cfg, at, worker) {
            let to = &next.name;
            let message = format!(
                "where this list is empty, nothing leads on to `{to}`: only tasks of `{of}` do"
            );
            diags.push(
                Diagnostic::new(&codes::EMPTY_FAN_OUT, message, each.items.span)
                    .label(next.span, format!("passed over without a task of `{of}`"))
                    .help(format!(
                        "lead there behind all tasks, `each .. -> {of} .. then {to}`, in place of the way on of `{of}`; or ask first whether there are any"
                    )),
            );
            continue;
        }
        let candidates = candidates.get_or_insert_with(|| {
            let (left, otherwise) = (unwritten(Count::Certain), unwritten(Count::Sure));
            let fields = left.list();
            let needed = fields.filter(|id| {
                let field = graph.fields.get(*id);
                let needed = field.is_some_and(|field| field.mode.is_out() && !begins_set(field));
                needed && !otherwise.has(*id)
            });
            needed.collect()
        });
        if candidates.is_empty() {
            continue;
        }
        let left = unwritten(Count::Empty(at));
        let mut fields = candidates.iter();
        let field = fields.find(|id| left.has(**id));
        let field = field.and_then(|id| graph.fields.get(*id));
        if let Some(field) = field {
            let name = &field.name.node;
            let message = format!("where this list is empty, `out` field `{name}` has no value");
            diags.push(
                Diagnostic::new(&codes::EMPTY_FAN_OUT, message, each.items.span)
                    .label(field.name.span, "declared here")
                    .help(format!(
                        "give it a default, or lead on behind all tasks: `each .. -> {of} .. then NODE`; or ask first whether there are any"
                    )),
            );
        }
    }
}

/// Warns of routes that each task of a fan-out takes by itself, on what its siblings add to.
pub fn decided(graph: &Graph, cfg: &ControlFlowGraph, diags: &mut Diagnostics) {
    for worker in graph.workers() {
        let Some(block) = cfg.nodes.get(worker) else {
            continue;
        };
        let gathers = |field: &FieldId| {
            let field = graph.fields.get(*field);
            field.is_some_and(|field| field.channel.gathers())
        };
        let writes = block.writes.iter().map(|write| write.field);
        let gathered: BTreeSet<FieldId> = writes.filter(gathers).collect();
        for (span, when) in routes(graph, cfg, worker) {
            let Some(field) = read(graph, &gathered, &when) else {
                continue;
            };
            let message = format!(
                "each task of `{}` decides this by itself: of `{field}` it doesn't see what the others add",
                block.name
            );
            diags.push(
                Diagnostic::new(&codes::DECIDED_PER_TASK, message, span)
                    .label(block.span, "gets a task for each element")
                    .help(format!(
                        "decide it once, behind all tasks: `each .. -> {} .. then BRANCH`, with these arms in the branch",
                        block.name
                    )),
            );
        }
    }
}

/// Fan-outs without `then` of a list that no condition of who sends asks about: the node that sends, the fan-out and its place.
fn unguarded(graph: &Graph) -> Vec<(Option<NodeId>, &Each, Span)> {
    let mut found = Vec::new();
    // Jumps of one node follow each other.
    let mut last: Option<(Maker, Asked)> = None;
    for (maker, jump) in graph.jumps() {
        for (each, at) in lone(jump) {
            let known = last.take().filter(|(of, _)| match (of, maker) {
                (Maker::Node(a, _), Maker::Node(b, _)) => *a == b,
                (of, maker) => *of == maker,
            });
            let (_, asked) = last.insert(known.unwrap_or_else(|| (maker, Asked::by(graph, maker))));
            if !asked.about(&each.items) {
                found.push((maker.node(), each, at));
            }
        }
    }
    found
}

/// What the conditions of a node, or of a route of the graph itself, read.
struct Asked {
    lets: Vec<LetValue>,
    paths: BTreeSet<AccessPath>,
}

impl Asked {
    fn by(graph: &Graph, maker: Maker) -> Self {
        let node = maker.node().and_then(|id| graph.nodes.get(id));
        let route = match maker {
            Maker::Start => graph.start.as_ref(),
            Maker::Handler => graph.on_error.as_ref(),
            Maker::Node(..) | Maker::Join(_) => node.and_then(|node| node.on_error.as_deref()),
        };
        let lets = node.map_or_else(Vec::new, |node| let_values(&node.lets));
        let route = route.into_iter().flat_map(Route::conditions);
        let asked = route.chain(node.into_iter().flat_map(Node::conditions));
        let paths = asked
            .flat_map(|when| paths(&inlined(when, &lets)))
            .collect();
        Self { lets, paths }
    }

    /// Whether something is asked that a list is made of.
    fn about(&self, items: &Expr) -> bool {
        !paths(&inlined(items, &self.lets)).is_disjoint(&self.paths)
    }
}

/// The places that an expression reads: fields of the state, of an input, of a result. Names that a macro binds are none.
fn paths(expr: &Expr) -> BTreeSet<AccessPath> {
    let (mut open, mut found) = (vec![expr], BTreeSet::new());
    while let Some(expr) = open.pop() {
        match access_path(expr) {
            Some(path) => {
                if path.root().is_some_and(|root| IN_SCOPE.contains(&root)) {
                    found.insert(path);
                }
            }
            None => expr.each_part(|part| open.push(part)),
        }
    }
    found
}

fn lone(jump: &Jump) -> impl Iterator<Item = (&Each, Span)> {
    jump.to.iter().filter_map(|target| match &target.kind {
        TargetKind::Each(each) if each.then.is_none() => Some((&**each, target.span)),
        _ => None,
    })
}

/// Methods whose list is empty only where the one that they are called on is.
const AS_LONG: [&str; 5] = ["map", "sort", "sortBy", "reverse", "distinct"];

/// Whether a list has an element whatever happens.
fn is_full(graph: &Graph, items: &Expr) -> bool {
    match &items.kind {
        ExprKind::List(elements) => elements.iter().any(|element| !element.optional),
        ExprKind::Binary(op, left, right) if op.node == BinaryOp::Add => {
            is_full(graph, left) || is_full(graph, right)
        }
        ExprKind::Call {
            target: Some(of),
            function,
            args,
        } if AS_LONG.contains(&function.node.as_str()) && args.len() < 3 => is_full(graph, of),
        _ => {
            let field = access_path(items).and_then(|of| graph.field(of.as_field_of("state")?));
            let length = field.and_then(|field| graph.fields.get(field)?.constraints.len);
            length.is_some_and(|(least, _)| least > 0)
        }
    }
}

/// The conditions that a task of a worker asks on its way on, each with its place, those of the branches behind it included.
fn routes<'g>(
    graph: &'g Graph,
    cfg: &ControlFlowGraph,
    worker: NodeId,
) -> Vec<(Span, Cow<'g, Expr>)> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::from([worker]);
    let mut open = vec![worker];
    while let Some(id) = open.pop() {
        let Some(node) = graph.nodes.get(id) else {
            continue;
        };
        if let Some(goto) = &node.goto {
            let lets = let_values(&node.lets);
            let mut read = Inliner::new(&lets);
            let asked = goto.node.conditions();
            found.extend(asked.map(|when| (when.span, read.read(when))));
        }
        let own = cfg.transitions(BlockId::Node(id)).iter();
        let own = own.filter(|way| way.kind.is_own_way());
        for block in own.flat_map(|way| &way.successors).map(|to| to.to) {
            if let BlockId::Node(to) = block
                && cfg.is_branch(block)
                && seen.insert(to)
            {
                open.push(to);
            }
        }
    }
    found
}

/// The first of some fields that a condition reads.
fn read<'g>(graph: &'g Graph, fields: &BTreeSet<FieldId>, when: &Expr) -> Option<&'g str> {
    let mut open = vec![when];
    while let Some(expr) = open.pop() {
        if let ExprKind::Select { operand, field, .. } = &expr.kind
            && matches!(&operand.kind, ExprKind::Ident(root) if root == "state")
            && let Some(id) = graph.field(&field.node).filter(|id| fields.contains(id))
        {
            return graph.fields.get(id).map(|field| field.name.node.as_str());
        }
        expr.each_part(|part| open.push(part));
    }
    None
}

/// The first node, and no branch, that a worker leads to and that nothing else leads to of what runs then where the fan-out at
/// `at` has no task. What every way to the sender has passed is no such node: a loop may end where the list is empty.
fn first_behind(cfg: &ControlFlowGraph, at: Span, worker: NodeId) -> Option<&Block> {
    let is_each = |to: &&Successor| to.many && to.span == at;
    let mut ways = cfg.all_transitions();
    let (sender, way) = ways.find(|(_, way)| way.successors.iter().any(|to| is_each(&to)))?;
    let others = way.successors.iter().filter(|to| !is_each(to));
    let mut open: Vec<BlockId> = others.map(|to| to.to).collect();
    // What a fork leads to beside what leads to the sender.
    let mut before = BlockSet::new(cfg);
    let all = sender.into_iter().flat_map(|sender| cfg.all_before(sender));
    all.for_each(|block| _ = before.insert(block));
    for (_, fork) in cfg.all_transitions() {
        if fork.successors.iter().any(|to| before.contains(to.to)) {
            let others = fork.successors.iter().map(|to| to.to);
            open.extend(others.filter(|to| !before.contains(*to)));
        }
    }
    let mut beside = BlockSet::new(cfg);
    while let Some(block) = open.pop() {
        if beside.insert(block) {
            open.extend(cfg.successors(block).map(|to| to.to));
        }
    }
    let worker = BlockId::Node(worker);
    let (mut found, mut seen, mut open) = (None, BTreeSet::new(), vec![worker]);
    while let Some(block) = open.pop() {
        let usual = |way: &&Transition| {
            use EdgeKind::{Error, Timeout, Visits};
            !matches!(way.kind, Error | Timeout | Visits)
        };
        let ways = cfg.transitions(block).iter().filter(usual);
        for to in ways.flat_map(|way| &way.successors).map(|to| to.to) {
            let passed = |to| sender.is_some_and(|sender| cfg.dominates(to, sender));
            let back = to == worker || passed(to);
            if back || beside.contains(to) || !seen.insert(to) {
                continue;
            }
            match to {
                BlockId::Node(id) => match cfg.nodes.get(id) {
                    Some(node) if node.branch || node.synthetic.is_some() => open.push(to),
                    _ => found = Some(found.map_or(id, |known: NodeId| known.min(id))),
                },
                BlockId::Join(_) => open.push(to),
                _ => {}
            }
        }
    }
    cfg.nodes.get(found?)
}
