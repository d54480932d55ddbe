//! Loops that a counter bounds: `set { n: state.n + 1 }` on each round, and a route that leaves at `state.n >= 3`.
//!
//! Only where one task at a time goes through the graph: tasks beside each other would all see the same count.

use std::collections::BTreeSet;

use crate::ast::expr::{BinaryOp, Expr, ExprKind, Literal, LogicalOp};
use crate::ir::jump::{Arm, Jump, Route, SetItem};
use crate::ir::node::Work;
use crate::ir::{Channel, FieldId, Flow, Graph, Node};

use super::map::{Map, Tasks, Way, jumps_of};
use super::reach::tools_of;

/// How often a place is passed at most, by the count that its route looks at.
pub(super) struct Cap {
    pub spot: usize,
    pub visits: u64,
    /// The condition, as it is written.
    pub condition: String,
}

/// The places that a counter bounds.
pub(super) fn caps(flow: &Flow, graph: &Graph, map: &Map) -> Vec<Cap> {
    let one = |way: &Way| matches!(way.tasks, Tasks::One | Tasks::Many(1));
    let mut arms = map.spots.iter().flat_map(|spot| &spot.arms);
    let alone = arms.all(|arm| arm.len() < 2 && arm.iter().all(one));
    if !alone || !graph.joins.is_empty() {
        return Vec::new();
    }
    let spots = 0..map.spots.len();
    spots
        .filter_map(|spot| cap(flow, graph, map, spot))
        .collect()
}

fn cap(flow: &Flow, graph: &Graph, map: &Map, spot: usize) -> Option<Cap> {
    let node = node_at(graph, map, spot)?;
    let Some(Route::Arms(arms)) = &node.next else {
        return None;
    };
    // Each way on is one of the arms, in their order.
    if !is_plain(flow, node) || map.arms(spot).len() != arms.len() {
        return None;
    }
    let conditions: Vec<Option<&Expr>> = arms.iter().map(condition).collect();
    let (at, field, most) = conditions.iter().enumerate().find_map(|(at, condition)| {
        let condition = (*condition)?;
        let (field, most) = limit(condition, LogicalOp::Or).or(limit(condition, LogicalOp::And))?;
        Some((at, graph.field(&field)?, most))
    })?;
    let step = step(flow, graph, field)?;
    let adds = |spot: usize| {
        let node = node_at(graph, map, spot).filter(|node| is_plain(flow, node));
        node.is_some_and(|node| node.set.iter().any(|item| item.field == field))
    };
    let name = &graph.fields.get(field)?.name;
    let of = |condition: Option<&Expr>, by| {
        let found = limit(condition?, by)?;
        (found.0 == *name && found.1 <= most).then_some(())
    };
    let stays = |arm: usize| {
        let ways = map.arms(spot).get(arm).into_iter().flatten();
        ways.into_iter()
            .any(|way| reaches(map, way.to, spot, &|_| true))
    };
    let mut past = false;
    for (arm, condition) in conditions.iter().copied().enumerate() {
        let below = past || of(condition, LogicalOp::And).is_some_and(|()| is_below(condition));
        if stays(arm) && !below {
            return None;
        }
        past |= of(condition, LogicalOp::Or).is_some() && !is_below(condition);
    }
    let counts = adds(spot);
    let mut next = map.arms(spot).iter().flatten();
    if !counts && next.any(|way| reaches(map, way.to, spot, &|spot| !adds(spot))) {
        return None;
    }
    let first = graph.fields.get(field)?.default.as_ref()?.as_i64()?;
    // What has been counted before the route is looked at for the first time.
    let before = counts || !reaches(map, 0, spot, &|spot| !adds(spot));
    let first = if before {
        first.checked_add(step)?
    } else {
        first
    };
    let rounds = most.checked_sub(first)?.max(0);
    let rounds = u64::try_from(rounds)
        .ok()?
        .div_ceil(u64::try_from(step).ok()?);
    Some(Cap {
        spot,
        visits: rounds + 1,
        condition: arms.get(at)?.when.as_ref()?.text.clone(),
    })
}

fn node_at<'g>(graph: &'g Graph, map: &Map, spot: usize) -> Option<&'g Node> {
    graph.nodes.get(map.spots.get(spot)?.node?)
}

/// Whether a node that is done always writes its `set` and goes on by its route.
fn is_plain(flow: &Flow, node: &Node) -> bool {
    let jumps = |tool| {
        let tool = flow.tools.get(tool);
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
    let tools = tools_of(node).into_iter().any(jumps);
    !leaves && !tools && node.skips.is_empty() && node.on_error.is_none()
}

fn condition(arm: &Arm) -> Option<&Expr> {
    arm.when.as_ref()?.tree().ok().map(|tree| &**tree)
}

/// The field and the number that a condition, or one of the parts that `by` joins in it, compares: `state.n >= 3`, `state.n < 3`.
fn limit(condition: &Expr, by: LogicalOp) -> Option<(String, i64)> {
    match &condition.kind {
        ExprKind::Logical(op, parts) if *op == by => parts.iter().find_map(|part| limit(part, by)),
        ExprKind::Binary(op, left, right) => {
            let number = number(right)?;
            let most = match op.node {
                BinaryOp::GreaterEqual | BinaryOp::Less => number,
                BinaryOp::Greater | BinaryOp::LessEqual => number.checked_add(1)?,
                _ => return None,
            };
            Some((field_of(left)?.to_owned(), most))
        }
        _ => None,
    }
}

/// Whether the comparison in a condition is one of below: `<`, `<=`.
fn is_below(condition: Option<&Expr>) -> bool {
    let mut open: Vec<&Expr> = condition.into_iter().collect();
    while let Some(expr) = open.pop() {
        match &expr.kind {
            ExprKind::Logical(_, parts) => open.extend(parts),
            ExprKind::Binary(op, left, right)
                if field_of(left).is_some() && number(right).is_some() =>
            {
                return matches!(op.node, BinaryOp::Less | BinaryOp::LessEqual);
            }
            _ => {}
        }
    }
    false
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
    let mut jumps: Vec<&Jump> = jumps_of(&graph.start);
    let mut items: Vec<&SetItem> = Vec::new();
    for node in graph.nodes.iter() {
        let routes = node.next.iter().chain(&node.on_error);
        jumps.extend(routes.flat_map(jumps_of));
        jumps.extend(node.skips.iter().filter_map(|skip| skip.to.as_ref()));
        jumps.extend(node.max_visits.iter().map(|visits| &visits.to));
        items.extend(&node.set);
        let elsewhere = match &node.work {
            Work::Interrupt { timeout, .. } => {
                jumps.extend(timeout.iter().map(|timeout| &timeout.to));
                false
            }
            Work::Subgraph { into, .. } => into.iter().any(|binding| binding.to == field),
            Work::Extern { writes, .. } => writes.contains(&field),
            _ => false,
        };
        let tools = tools_of(node);
        let bodies = tools
            .iter()
            .filter_map(|tool| flow.tools.get(*tool)?.body.as_ref());
        let by_tool = |body: &crate::ir::flow::ToolBody| {
            body.fields.contains(&known.name)
                || body.set.iter().any(|item| item.field == known.name)
        };
        if elsewhere || bodies.into_iter().any(by_tool) {
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

/// Whether a way leads from a place to another, only through places that `takes` takes.
fn reaches(map: &Map, from: usize, to: usize, takes: &dyn Fn(usize) -> bool) -> bool {
    let mut known = BTreeSet::from([from]);
    let mut open = vec![from];
    while let Some(spot) = open.pop() {
        if spot == to {
            return true;
        }
        if takes(spot) {
            let ways = map.arms(spot).iter().flatten();
            open.extend(ways.map(|way| way.to).filter(|to| known.insert(*to)));
        }
    }
    false
}
