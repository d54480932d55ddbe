//! Loops that a counter bounds: `set { n: state.n + 1 }` on each round, and a route that leaves at `state.n >= 3`.
//!
//! Only where one task at a time goes through the graph: tasks beside each other would all see the same count.

use std::collections::BTreeSet;

use crate::ast::expr::{BinaryOp, Expr, ExprKind, Literal, LogicalOp};
use crate::check::cfg::{BlockId, Transition};
use crate::ir::jump::{Arm, Jump, Route, SetItem};
use crate::ir::node::Work;
use crate::ir::{Channel, FieldId, Flow, Graph, Node, NodeId, ToolId};

use super::graph::BoundedGraph;

/// How often a block is passed at most, by the count that its route looks at.
pub(super) struct Cap {
    pub block: BlockId,
    pub visits: u64,
    /// The condition, as it is written.
    pub condition: String,
}

/// The blocks that a counter bounds.
pub(super) fn caps(flow: &Flow, graph: &Graph, bounded: &BoundedGraph) -> Vec<Cap> {
    let mut blocks = bounded.cfg.blocks().chain([BlockId::Entry]);
    let alone = blocks.all(|from| {
        let mut transitions = bounded.transitions(from);
        transitions.all(|to| to.len() < 2 && !to.iter().any(|to| bounded.is_many(from, *to)))
    });
    if !alone || !graph.joins.is_empty() {
        return Vec::new();
    }
    let nodes = graph.nodes.ids();
    nodes
        .filter_map(|id| cap(flow, graph, bounded, id))
        .collect()
}

fn cap(flow: &Flow, graph: &Graph, bounded: &BoundedGraph, id: NodeId) -> Option<Cap> {
    let (node, block) = (graph.nodes.get(id)?, BlockId::Node(id));
    let Some(Route::Arms(arms)) = &node.next else {
        return None;
    };
    let stays = |transition: &Transition| {
        let mut to = transition.successors.iter();
        to.any(|successor| bounded.cfg.same_component(successor.to, block))
    };
    // Each way on is one of the arms, in their order.
    let ways = bounded.cfg.transitions(block);
    if !is_plain(flow, node) || ways.len() != arms.len() || !ways.iter().any(stays) {
        return None;
    }
    let conditions: Vec<Option<&Expr>> = arms.iter().map(condition).collect();
    let (at, limit) = conditions.iter().enumerate().find_map(|(at, condition)| {
        let any = &|limit: &Limit<'_>| graph.field(limit.field).is_some();
        let condition = (*condition)?;
        let found = limit(condition, LogicalOp::Or, any);
        Some((at, found.or_else(|| limit(condition, LogicalOp::And, any))?))
    })?;
    let field = graph.field(limit.field)?;
    // Whether a condition says of the same field that it is below the limit, or past it.
    let says = |condition: Option<&Expr>, by, is_below| {
        let same = |of: &Limit<'_>| {
            of.field == limit.field && of.most <= limit.most && of.is_below == is_below
        };
        condition.is_some_and(|condition| self::limit(condition, by, &same).is_some())
    };
    let mut past = false;
    for (way, condition) in ways.iter().zip(conditions.iter().copied()) {
        if stays(way) && !past && !says(condition, LogicalOp::And, true) {
            return None;
        }
        past |= says(condition, LogicalOp::Or, false);
    }
    let step = step(flow, graph, field)?;
    let adds = |block| match block {
        BlockId::Node(id) => {
            let node = graph.nodes.get(id).filter(|node| is_plain(flow, node));
            node.is_some_and(|node| node.set.iter().any(|item| item.field == field))
        }
        _ => false,
    };
    let counts = adds(block);
    let passes_by = |from| reaches(bounded, from, block, &|block| !adds(block));
    if !counts && bounded.successors(block).any(passes_by) {
        return None;
    }
    let first = graph.fields.get(field)?.default.as_ref()?.as_i64()?;
    // What has been counted before the route is looked at for the first time.
    let before = counts || !passes_by(BlockId::Entry);
    let first = match before {
        true => first.checked_add(step)?,
        false => first,
    };
    let rounds = limit.most.checked_sub(first)?.max(0);
    let rounds = u64::try_from(rounds).ok()?;
    let rounds = rounds.div_ceil(u64::try_from(step).ok()?);
    Some(Cap {
        block,
        visits: rounds + 1,
        condition: arms.get(at)?.when.as_ref()?.text.clone(),
    })
}

/// Whether a node that is done always writes its `set` and goes on by its route.
fn is_plain(flow: &Flow, node: &Node) -> bool {
    let jumps = |tool: &ToolId| {
        let tool = flow.tools.get(*tool);
        let body = tool.and_then(|tool| tool.body.as_ref());
        body.is_some_and(|body| body.goto.is_some())
    };
    let leaves = match &node.work {
        Work::Interrupt { timeout, .. } => timeout.is_some(),
        Work::Subgraph { graph, .. } => {
            let graph = flow.graphs.get(*graph);
            graph.is_none_or(|graph| !graph.leaves.is_empty())
        }
        _ => false,
    };
    let tools = node.work.tools().iter().any(jumps);
    !leaves && !tools && node.skips.is_empty() && node.on_error.is_none()
}

fn condition(arm: &Arm) -> Option<&Expr> {
    arm.when.as_ref()?.tree().ok().map(|tree| &**tree)
}

/// A field that is compared with a number: `state.n >= 3`, `state.n < 3`.
struct Limit<'e> {
    field: &'e str,
    /// From this number on it is past the limit.
    most: i64,
    /// Whether the comparison holds below the limit, not past it.
    is_below: bool,
}

/// The first comparison that `wanted` takes of a condition, or of the parts that `by` joins in it.
fn limit<'e>(
    condition: &'e Expr,
    by: LogicalOp,
    wanted: &dyn Fn(&Limit<'e>) -> bool,
) -> Option<Limit<'e>> {
    match &condition.kind {
        ExprKind::Logical(op, parts) if *op == by => {
            parts.iter().find_map(|part| limit(part, by, wanted))
        }
        ExprKind::Binary(op, left, right) => {
            let number = number(right)?;
            let (most, is_below) = match op.node {
                BinaryOp::GreaterEqual => (number, false),
                BinaryOp::Less => (number, true),
                BinaryOp::Greater => (number.checked_add(1)?, false),
                BinaryOp::LessEqual => (number.checked_add(1)?, true),
                _ => return None,
            };
            let field = field_of(left)?;
            let found = Limit {
                field,
                most,
                is_below,
            };
            wanted(&found).then_some(found)
        }
        _ => None,
    }
}

fn number(expr: &Expr) -> Option<i64> {
    match expr.kind {
        ExprKind::Literal(Literal::Int(number)) => Some(number),
        _ => None,
    }
}

/// `state.n`
fn field_of(expr: &Expr) -> Option<&str> {
    let ExprKind::Select { operand, field, .. } = &expr.kind else {
        return None;
    };
    let of_state = matches!(&operand.kind, ExprKind::Ident(root) if root == "state");
    of_state.then_some(field.node.as_str())
}

/// The least that a write of a field adds to it, where all of them add.
fn step(flow: &Flow, graph: &Graph, field: FieldId) -> Option<i64> {
    let known = graph.fields.get(field)?;
    let adds = match known.channel {
        Channel::Last | Channel::AnyLast => false,
        Channel::Add => true,
        _ => return None,
    };
    let reset = known.based_on.as_ref().is_some_and(|basis| basis.reset);
    if known.mode.is_in() || known.ephemeral || known.untracked || reset {
        return None;
    }
    let mut jumps: Vec<&Jump> = graph.start.jumps().collect();
    let mut items: Vec<&SetItem> = Vec::new();
    for node in graph.nodes.iter() {
        jumps.extend(node.jumps().map(|(_, jump)| jump));
        items.extend(&node.set);
        let elsewhere = match &node.work {
            Work::Subgraph { into, .. } => into.iter().any(|binding| binding.to == field),
            Work::Extern { writes, .. } => writes.contains(&field),
            _ => false,
        };
        let tools = node.work.tools().iter();
        let mut bodies = tools.filter_map(|tool| flow.tools.get(*tool)?.body.as_ref());
        let by_tool = |body: &crate::ir::flow::ToolBody| {
            body.fields.contains(&known.name)
                || body.set.iter().any(|item| item.field == known.name)
        };
        if elsewhere || bodies.any(by_tool) {
            return None;
        }
    }
    items.extend(jumps.iter().flat_map(|jump| &jump.set));
    let own = items.into_iter().filter(|item| item.field == field);
    let steps = own.map(|item| {
        let value = item.value.tree().ok()?;
        match &value.kind {
            _ if adds && !item.replace => number(value),
            ExprKind::Binary(op, left, right) if op.node == BinaryOp::Add => {
                (field_of(left)? == known.name).then(|| number(right))?
            }
            _ => None,
        }
    });
    let steps = steps.collect::<Option<Vec<i64>>>()?;
    steps.into_iter().min().filter(|step| *step > 0)
}

/// Whether a way leads from a block to another, only through blocks that `takes` takes.
fn reaches(
    graph: &BoundedGraph,
    from: BlockId,
    to: BlockId,
    takes: &dyn Fn(BlockId) -> bool,
) -> bool {
    let mut known = BTreeSet::from([from]);
    let mut open = vec![from];
    while let Some(block) = open.pop() {
        if block == to {
            return true;
        }
        if takes(block) {
            open.extend(graph.successors(block).filter(|to| known.insert(*to)));
        }
    }
    false
}
