//! What goes wrong without a word around `each`: nothing comes behind an empty list, and each task decides for itself.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::ast::expr::{BinaryOp, Expr, ExprKind, Literal, LogicalOp, UnaryOp};
use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::expr::fold::inline::{Inliner, LetValue, inlined, let_values};
use crate::expr::fold::same::same;
use crate::expr::infer::path;
use crate::ir::{FieldId, JoinId, NodeId};
use crate::resolve::program::{Each, Graph, Jump, Node, Route, TargetKind};

use super::cfg::effect::WritesOnWays;
use super::cfg::leaves_unwritten::{Count, Known, LeavesUnwritten};
use super::cfg::{Block, BlockId, ControlFlowGraph, EdgeKind};
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
    for (sender, each, at) in unled(graph) {
        let Some(worker) = each.worker.filter(|_| !is_full(graph, &each.items)) else {
            continue;
        };
        // What sends comes behind the worker itself: that has run.
        let behind = |sender| cfg.dominates(BlockId::Node(worker), BlockId::Node(sender));
        if sender.is_some_and(behind) {
            continue;
        }
        let of = cfg.name(BlockId::Node(worker));
        if let Some(next) = first_behind(cfg, worker) {
            let to = &next.name;
            let message = format!(
                "where this list is empty, `{to}` doesn't run: only tasks of `{of}` lead to it"
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
    let workers: BTreeSet<NodeId> = (graph.jumps().flat_map(|(_, jump)| &jump.to))
        .filter_map(|target| match &target.kind {
            TargetKind::Each(each) => each.worker,
            _ => None,
        })
        .collect();
    for worker in workers {
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

/// Fan-outs without `then` whose arm doesn't show that the list is not empty, nor a `require` or `skip` of the node that sends: that
/// node, the fan-out and its place.
fn unled(graph: &Graph) -> Vec<(Option<NodeId>, &Each, Span)> {
    let mut shown = BTreeSet::new();
    for route in graph.start.iter().chain(&graph.on_error) {
        shown.extend(full(route, &[]));
    }
    for node in &graph.nodes {
        let lets = lets_behind_set(graph, node);
        let own = node.goto.iter().map(|goto| &goto.node);
        for route in own.chain(node.on_error.as_deref()) {
            shown.extend(full(route, &lets));
        }
        let requires = node.requires.iter();
        let requires = requires.map(|require| (inlined(&require.condition, &lets), true));
        let skips = node
            .skips
            .iter()
            .map(|skip| (inlined(&skip.when, &lets), false));
        let asked: Vec<_> = requires.chain(skips).collect();
        let not_empty = |each: &Each| {
            let items = inlined(&each.items, &lets);
            let mut asked = asked.iter();
            asked.any(|(when, holds)| fills(when, *holds, &items))
        };
        let ways = node.jumps().filter(|(kind, _)| kind.is_own_way());
        let full = ways
            .flat_map(|(_, jump)| lone(jump))
            .filter(|(each, _)| not_empty(each));
        shown.extend(full.map(|(_, at)| at));
    }
    let all = graph
        .jumps()
        .flat_map(|(maker, jump)| lone(jump).map(move |(each, at)| (maker.node(), each, at)));
    all.filter(|(_, _, at)| !shown.contains(at)).collect()
}

/// What the `let`s of a node stand for on its way on: those that read what its `set` writes stand for the values of before.
fn lets_behind_set(graph: &Graph, node: &Node) -> Vec<LetValue> {
    let written: BTreeSet<FieldId> = node.set.iter().filter_map(|item| item.field).collect();
    let mut lets = let_values(&node.lets);
    lets.retain(|known| read(graph, &written, &known.value).is_none());
    lets
}

/// The fan-outs of a route whose arm shows that the list is not empty.
fn full(route: &Route, lets: &[LetValue]) -> Vec<Span> {
    let Route::Arms(arms, _) = route else {
        return Vec::new();
    };
    let asked = arms.iter().map(|arm| arm.when.as_ref());
    let asked: Vec<_> = asked
        .map(|when| when.map(|when| inlined(when, lets)))
        .collect();
    let mut full = Vec::new();
    for (at, arm) in arms.iter().enumerate() {
        let before = asked.iter().take(at).flatten();
        let own = asked.get(at).into_iter().flatten().map(|when| (when, true));
        let asked: Vec<_> = own.chain(before.map(|when| (when, false))).collect();
        let not_empty = |each: &Each| {
            let items = inlined(&each.items, lets);
            let mut asked = asked.iter();
            asked.any(|(when, holds)| fills(when, *holds, &items))
        };
        let own = lone(&arm.jump).filter(|(each, _)| not_empty(each));
        full.extend(own.map(|(_, at)| at));
    }
    full
}

fn lone(jump: &Jump) -> impl Iterator<Item = (&Each, Span)> {
    jump.to.iter().filter_map(|target| match &target.kind {
        TargetKind::Each(each) if each.then.is_none() => Some((&**each, target.span)),
        _ => None,
    })
}

/// Whether a list has an element whatever happens.
fn is_full(graph: &Graph, items: &Expr) -> bool {
    match &items.kind {
        ExprKind::List(elements) => elements.iter().any(|element| !element.optional),
        ExprKind::Binary(op, left, right) if op.node == BinaryOp::Add => {
            is_full(graph, left) || is_full(graph, right)
        }
        _ => {
            let items = whole(items);
            let field = path(items).and_then(|path| graph.field(path.strip_prefix("state.")?));
            let length = field.and_then(|field| graph.fields.get(field)?.constraints.len);
            matches!(items.kind, ExprKind::List(_)) && is_full(graph, items)
                || length.is_some_and(|(least, _)| least > 0)
        }
    }
}

/// The list that another is made of, with as many elements, or the first of them.
fn whole(items: &Expr) -> &Expr {
    match &items.kind {
        ExprKind::Call {
            target: Some(target),
            function,
            args,
        } => {
            let first = |args: &[Expr]| match args {
                [from, to] => size(from) == Some(0) && size(to) != Some(0),
                _ => false,
            };
            match function.node.as_str() {
                "map" | "sort" | "sortBy" | "reverse" | "distinct" if args.len() < 3 => {
                    whole(target)
                }
                "slice" if first(args) => whole(target),
                _ => items,
            }
        }
        _ => items,
    }
}

/// The number that an expression is.
fn size(expr: &Expr) -> Option<i64> {
    match &expr.kind {
        ExprKind::Literal(Literal::Int(number)) => Some(*number),
        _ => None,
    }
}

/// Whether a condition that `holds`, or doesn't, shows that a list is not empty.
fn fills(when: &Expr, holds: bool, items: &Expr) -> bool {
    let own = |list: &Expr| same(whole(list), whole(items));
    match &when.kind {
        ExprKind::Unary(UnaryOp::Not, of) => fills(of, !holds, items),
        ExprKind::Logical(op, parts) => match (op, holds) {
            (LogicalOp::And, true) | (LogicalOp::Or, false) => {
                parts.iter().any(|part| fills(part, holds, items))
            }
            _ => parts.iter().all(|part| fills(part, holds, items)),
        },
        ExprKind::Binary(op, _, list) if op.node == BinaryOp::In => holds && own(list),
        ExprKind::Binary(op, left, right) => {
            // What the comparison says of an empty list is not so.
            let empty = |side: &Expr| match &side.kind {
                ExprKind::List(elements) if elements.is_empty() => Some(0),
                ExprKind::Call {
                    target,
                    function,
                    args,
                } if function.node == "size" => {
                    let mut of = target.as_deref().into_iter().chain(args);
                    of.next().filter(|of| own(of)).map(|_| 0)
                }
                _ if own(side) => Some(0),
                _ => size(side),
            };
            let speaks = [left, right].iter().any(|side| {
                let parts = side.parts();
                own(side) || parts.iter().any(|part| own(part))
            });
            let (Some(one), Some(other)) = (empty(left), empty(right)) else {
                return false;
            };
            let says = match op.node {
                BinaryOp::Equal => one == other,
                BinaryOp::NotEqual => one != other,
                BinaryOp::Less => one < other,
                BinaryOp::LessEqual => one <= other,
                BinaryOp::Greater => one > other,
                BinaryOp::GreaterEqual => one >= other,
                _ => return false,
            };
            speaks && says != holds
        }
        ExprKind::Call {
            target: Some(list),
            function,
            ..
        } => match function.node.as_str() {
            "exists" | "exists_one" | "existsOne" => holds && own(list),
            "all" => !holds && own(list),
            _ => false,
        },
        _ => false,
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
        if let Some(Route::Arms(arms, _)) = node.goto.as_ref().map(|goto| &goto.node) {
            let lets = let_values(&node.lets);
            let mut read = Inliner::new(&lets);
            let asked = arms.iter().filter_map(|arm| arm.when.as_ref());
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

/// The first node, and no branch, that a worker leads to and that only comes behind it.
fn first_behind(cfg: &ControlFlowGraph, worker: NodeId) -> Option<&Block> {
    let (worker, mut found) = (BlockId::Node(worker), None);
    let (mut seen, mut open) = (BTreeSet::new(), vec![worker]);
    while let Some(block) = open.pop() {
        let ways = cfg.transitions(block).iter().filter(|way| {
            !matches!(
                way.kind,
                EdgeKind::Error | EdgeKind::Visits | EdgeKind::Timeout
            )
        });
        for to in ways.flat_map(|way| &way.successors).map(|to| to.to) {
            if to == worker || !cfg.dominates(worker, to) || !seen.insert(to) {
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
