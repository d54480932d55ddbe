//! What is vouched for where a way is taken, and in a node.

use crate::ast::expr::Expr;
use crate::base::Span;
use crate::ir::{GraphId, NodeId};
use crate::resolve::program::{Arm, Graph, Jump, Node, Route};

use super::super::super::cfg::{EdgeKind, Transition};
use super::env::{Env, env, env_knowing};
use super::leaf::{Leaf, Path, leaves, vouched};
use super::search::{Inside, Search};
use super::vouch::{Vetted, guards, vetted};

impl Search<'_> {
    /// What is vouched for where a graph begins by that way.
    pub(super) fn facts_at_start(&self, id: GraphId, transition: Span) -> Vetted {
        let graph = self.program.graphs.get(id);
        match graph.and_then(|graph| graph.start.as_ref()) {
            Some(Route::Arms(arms, _)) => facts_of_arm(arms, transition, &Env::new()),
            Some(Route::Always(_)) | None => Vetted::new(),
        }
    }

    /// Whether one of these vouches for the path.
    pub(super) fn path_is_vouched(&mut self, inside: Inside, facts: &Vetted, path: &Path) -> bool {
        let mut own = facts.iter().filter(|vouch| vouch.holds(path));
        own.any(|vouch| self.trusts(inside, &vouch.relies))
    }

    /// What the node's own guards vouch for.
    pub(super) fn guards(&self, node: &Node) -> Vetted {
        let ensures = node.ensured().next().is_some();
        match node.skips.is_empty() && node.requires.is_empty() && !ensures {
            true => Vetted::new(),
            false => self.guards_in(node, &env(&node.lets)),
        }
    }

    /// The same, with the node's `let` names.
    pub(super) fn guards_in(&self, node: &Node, env: &Env) -> Vetted {
        if !self.wanted.guarded {
            return Vetted::new();
        }
        let skips = node.skips.iter().map(|skip| &skip.when);
        let mut all = guards(skips, &node.requires, env);
        all.extend(
            node.ensured()
                .flat_map(|condition| vetted(condition, true, env)),
        );
        all
    }

    /// What is in scope behind the node's own guards.
    pub fn guarded(&self, node: &Node) -> Env {
        env_knowing(&node.lets, &self.guards(node))
    }

    /// What an expression of a node is made from, as far as the node's own guards don't vouch for it.
    pub fn read(&self, node: &Node, expr: &Expr) -> Vec<Leaf> {
        self.unguarded(node, leaves(expr, &self.guarded(node)))
    }

    /// The leaves, with what the node's own guards vouch for.
    pub fn unguarded(&self, node: &Node, leaves: Vec<Leaf>) -> Vec<Leaf> {
        vouched(leaves, &self.guards(node))
    }

    /// What of it holds on both sides of what the node writes: not what is said of a field that it does.
    pub(super) fn on_both_sides(&self, (graph, id): (GraphId, NodeId), facts: Vetted) -> Vetted {
        if facts.is_empty() {
            return facts;
        }
        let cfg = self.cfgs.get(graph);
        let node = cfg.and_then(|cfg| cfg.nodes.get(id));
        let written: Vec<&str> = (node.iter().flat_map(|node| &node.writes))
            .filter_map(|write| self.program.graphs.get(graph)?.fields.get(write.field))
            .map(|field| field.name.node.as_str())
            .collect();
        let mut facts = facts;
        facts.retain(|vouch| match vouch.path.0.as_slice() {
            [root, field, ..] if root == "state" => !written.contains(&field.as_str()),
            _ => vouch.said.is_none() || written.is_empty() || !vouch.mentions("state"),
        });
        facts
    }
}

/// The jump that a way of a node is made from.
pub(super) fn jump_of<'a>(
    graph: &'a Graph,
    node: &'a Node,
    id: NodeId,
    transition: &Transition,
) -> Option<&'a Jump> {
    let handler = graph.inherited_by(id).into_iter().flat_map(Route::jumps);
    let mut all = node.jumps().map(|(_, jump)| jump).chain(handler);
    match transition.kind {
        EdgeKind::Tool | EdgeKind::Child => None,
        _ => all.find(|jump| jump.span == transition.span),
    }
}

/// What is vouched for where a node takes a way: its arm, or the `skip`.
pub(super) fn facts_of_way(
    graph: &Graph,
    (id, node): (NodeId, &Node),
    (kind, transition): (EdgeKind, Span),
    env: &Env,
) -> Vetted {
    let arms = |route: &Route| match route {
        Route::Arms(arms, _) => facts_of_arm(arms, transition, env),
        Route::Always(_) => Vetted::new(),
    };
    match kind {
        EdgeKind::Goto => node
            .goto
            .as_ref()
            .map_or_else(Vetted::new, |goto| arms(&goto.node)),
        EdgeKind::Error => graph.on_error_of(id).map_or_else(Vetted::new, arms),
        EdgeKind::Skip => {
            let own = node
                .skips
                .iter()
                .find(|skip| skip.to.as_ref().is_some_and(|to| to.span == transition));
            own.map_or_else(Vetted::new, |skip| vetted(&skip.when, true, env))
        }
        _ => Vetted::new(),
    }
}

fn facts_of_arm(arms: &[Arm], span: Span, env: &Env) -> Vetted {
    let Some(at) = arms.iter().position(|arm| arm.jump.span == span) else {
        return Vetted::new();
    };
    let Some(arm) = arms.get(at) else {
        return Vetted::new();
    };
    // It is taken only where none before it was.
    let before = arms.get(..at).unwrap_or_default();
    let before = before.iter().filter_map(|arm| arm.when.as_ref());
    let own = arm.when.iter().flat_map(|when| vetted(when, true, env));
    own.chain(before.flat_map(|when| vetted(when, false, env)))
        .collect()
}
