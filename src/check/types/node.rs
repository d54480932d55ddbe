//! One node: its expressions in the order in which they run, and what is known when it has finished.

use std::borrow::Cow;

use crate::ast::expr::{BinaryOp, Expr, ExprKind, Literal, LogicalOp};
use crate::ast::item::Let;
use crate::diag::{Diagnostic, codes};
use crate::expr::Type;
use crate::expr::infer::access_path;
use crate::ir::NodeId;
use crate::resolve::naming::IN_SCOPE;
use crate::resolve::node::Require;
use crate::resolve::preparation::{Preparation, preparations};
use crate::resolve::program::{Ask, Cache, Node, Route, Stop, Work};

use super::constant::Decides;
use super::cx::Cx;
use super::flow_state::FlowState;
use super::jump::JumpStates;

/// What is known behind each way out of a node.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// Behind a jump, by its span.
    pub behind: JumpStates,
    /// Behind the static edge, joins included.
    pub edge: FlowState,
    /// Behind a tool's jump.
    pub tool: FlowState,
    /// Behind a subgraph that left.
    pub child: FlowState,
}

/// Types a node in a place where it may begin with the facts that `cx` has.
pub fn node(cx: &mut Cx, id: NodeId, node: &Node) -> Outcome {
    let mut out = Outcome::default();
    let (entry, reported) = (cx.facts.clone(), cx.diags.len());
    let names = cx.scope.names.len();
    if let Some(record) = node.input_record {
        cx.declare("input", Type::Record(record));
    }
    handler(cx, id, node, &mut out.behind);
    if let Some(max) = &node.max_visits {
        let first = cx.facts.clone();
        if let Some(again) = cx.again.take() {
            cx.facts.values_of(&again);
        }
        cx.jump(&max.to, &mut out.behind);
        cx.facts = first;
    }
    cx.used.clear();
    node.stops
        .iter()
        .filter(|stop| !stop.after)
        .for_each(|stop| cx.stop(stop));
    let asked = cx.scope.names.len();
    let skipped = before_work(cx, node, &mut out.behind);
    let untouched = cx.facts.clone();
    if let Some(cache) = &node.cache {
        cx.cache(cache);
    }
    cx.work(node, &mut out);
    node.lets_behind().iter().for_each(|bound| cx.bound(bound));
    cx.set(&node.set);
    cx.written_here(node);
    cx.emits(node.emits.iter().filter(|emit| !emit.on_start));
    timed_out(cx, node, &mut out.behind);
    node.stops
        .iter()
        .filter(|stop| stop.after)
        .for_each(|stop| cx.stop(stop));
    out.tool = cx.facts.clone();
    out.child = left(cx, node, untouched);
    if let Some(facts) = skipped {
        cx.facts.merge(&facts);
        cx.skipped_way_on(node, asked);
    }
    if let Some(goto) = &node.goto {
        cx.route(&goto.node, &mut out.behind);
    }
    out.edge = edges(cx, node);
    cx.unread(node, names);
    if node.let_twice {
        cx.diags.retain(|found| found.code != &codes::UNKNOWN_NAME);
    }
    cx.diags.gather_nulls(reported);
    cx.scope.names.truncate(names);
    cx.lets.clear();
    cx.constants.clear();
    cx.facts = entry;
    out
}

/// `on_error` sees the state as it was when the node began: nothing that it did is kept.
fn handler(cx: &mut Cx, id: NodeId, node: &Node, behind: &mut JumpStates) {
    if let Some(route) = &node.on_error {
        cx.handler(route, behind);
    } else if let Some(route) = cx.graph.and_then(|graph| graph.on_error_of(id)) {
        // The graph's handler is typed once, with the graph; here only what is known behind it counts.
        let heard = std::mem::take(&mut cx.diags);
        let computed = std::mem::take(&mut cx.computed);
        cx.handler(route, behind);
        cx.diags = heard;
        cx.computed = computed;
    }
}

impl Cx<'_> {
    /// Types the key of a `cache`: a value that has a form as text, the same for the same state.
    fn cache(&mut self, cache: &Cache) {
        let Some(key) = &cache.key else { return };
        let found = self.infer(key, None);
        if matches!(found, Type::Optional(_) | Type::TypeValue | Type::Bytes) {
            let message = format!("a value of type {} can't be a key", self.show(&found));
            self.report(Diagnostic::new(&codes::TYPE_MISMATCH, message, key.span));
        }
    }

    /// Types the question of a static interrupt, and brings its answer into scope.
    fn stop(&mut self, stop: &Stop) {
        match &stop.ask {
            Some(Ask::Fields(args)) => self.free_args(args),
            Some(Ask::Text(text)) => self.words(text),
            None => {}
        }
        // One without a type is reported where it is resolved.
        let expect = stop.expect.as_ref().map_or(&Type::Error, |ty| &ty.node);
        self.answered(&stop.name.node, Some(expect), (&[], &[], &stop.permits));
    }

    /// Types the route of an `on_error`.
    pub fn handler(&mut self, route: &Route, behind: &mut JumpStates) {
        let names = self.scope.names.len();
        self.declare("error", Type::Record(crate::expr::ty::ERROR));
        self.route(route, behind);
        self.scope.names.truncate(names);
    }
}

/// `skip`, `let`, `require` and what is sent at the start. What is known where a `skip` without a
/// target held is given back.
fn before_work(cx: &mut Cx, node: &Node, behind: &mut JumpStates) -> Option<FlowState> {
    let mut skipped: Option<FlowState> = None;
    for skip in &node.skips {
        cx.deciding(&skip.when, Decides::Skip(&node.name.node));
        let before = cx.facts.clone();
        cx.assume(&skip.when, true);
        match &skip.to {
            Some(jump) => cx.jump(jump, behind),
            None => match &mut skipped {
                Some(facts) => facts.merge(&cx.facts),
                None => skipped = Some(cx.facts.clone()),
            },
        }
        cx.facts = before;
        cx.assume(&skip.when, false);
    }
    for step in preparations(node.lets_ahead(), &node.requires) {
        match step {
            Preparation::Let(bound) => cx.bound(bound),
            Preparation::Require(require) => cx.require(require),
        }
    }
    cx.emits(node.emits.iter().filter(|emit| emit.on_start));
    skipped
}

impl Cx<'_> {
    /// Types a `let` and brings its name into scope.
    pub fn bound(&mut self, bound: &Let) {
        let ty = self.infer_with_effects(&bound.value, None);
        let name = bound.name.node.as_str();
        // Of one that is refused nobody knows whether it or what it hides is meant.
        match IN_SCOPE.contains(&name) {
            true => self.declare(name, Type::Error),
            false => self.bind(bound, ty),
        }
    }

    /// The same of those that an `ensure` uses, which has no effects.
    pub(super) fn lets_within(&mut self, node: &Node) {
        for bound in node.lets_within() {
            let ty = self.infer(&bound.value, None);
            self.bind(bound, ty);
        }
    }

    /// Types a `require`: what follows knows that it held, its message that it did not.
    pub fn require(&mut self, require: &Require) {
        if self.deciding(&require.condition, Decides::Require) {
            self.never_null(&require.condition);
        }
        let before = self.facts.clone();
        if let Some(message) = &require.message {
            self.assume(&require.condition, false);
            self.infer(message, Some(&Type::String));
            self.facts = before;
        }
        self.assume(&require.condition, true);
    }
}

impl Cx<'_> {
    /// A `require` that something is null which is known not to be.
    fn never_null(&mut self, condition: &Expr) {
        if self.facts.known.anything {
            return;
        }
        let read = self.inlined(condition);
        let mut open = vec![&*read];
        while let Some(expr) = open.pop() {
            let (op, left, right) = match &expr.kind {
                ExprKind::Logical(LogicalOp::And, operands) => {
                    open.extend(operands);
                    continue;
                }
                ExprKind::Binary(op, left, right) => (op.node, left, right),
                _ => continue,
            };
            let null = |side: &Expr| matches!(side.kind, ExprKind::Literal(Literal::Null));
            let side = if null(right) { left } else { right };
            let asks = op == BinaryOp::Equal && (null(left) || null(right));
            let Some(place) =
                access_path(side).filter(|place| asks && self.facts.known.holds(place))
            else {
                continue;
            };
            let message = format!("`require` is never true: `{place}` is never null here");
            let span = match read {
                Cow::Borrowed(_) => expr.span,
                Cow::Owned(_) => condition.span,
            };
            let found = Diagnostic::new(&codes::CONSTANT_CONDITION, message, span)
                .here("this always fails")
                .help(format!("write `{place} != null`, or take it out"));
            return self.report(found);
        }
    }
}

/// The timeout of an interrupt is taken before the node's own `set`.
fn timed_out(cx: &Cx, node: &Node, behind: &mut JumpStates) {
    let Work::Interrupt {
        timeout: Some(timeout),
        ..
    } = &node.work
    else {
        return;
    };
    if let Some(facts) = behind.remove(&timeout.to.span) {
        behind.insert(timeout.to.span, left(cx, node, facts));
    }
}

/// A subgraph that leaves may have written what it gives back; the node's own `set` is not made then.
fn left(cx: &Cx, node: &Node, mut facts: FlowState) -> FlowState {
    for write in node.set.iter().filter_map(|item| item.field) {
        if let Some(field) = cx.graph.and_then(|graph| graph.fields.get(write)) {
            facts.disturb(write, field);
        }
    }
    for (id, _) in &cx.given_back {
        if let Some(field) = cx.graph.and_then(|graph| graph.fields.get(*id)) {
            facts.disturb(*id, field);
        }
    }
    facts
}

/// All static edges are followed at once, so each one's update comes after those before it.
fn edges(cx: &mut Cx, node: &Node) -> FlowState {
    for jump in &node.edges {
        let mut behind = JumpStates::new();
        cx.jump(jump, &mut behind);
        if let Some(after) = behind.remove(&jump.span) {
            cx.facts = after;
        }
    }
    cx.facts.clone()
}
