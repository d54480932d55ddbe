//! What is vouched for where a way is taken, and in a node.

use crate::base::Span;
use crate::ir::{GraphId, NodeId};
use crate::resolve::program::{Arm, Graph, Jump, Node, Route};

use super::super::super::flow::{Cause, Way};
use super::leaf::{Env, Leaf, Path, vouched};
use super::search::{Inside, Search};
use super::vouch::{Vetted, guards, vetted};

impl Search<'_> {
    /// What is vouched for where a graph begins by that way.
    pub(super) fn told_at_start(&self, id: GraphId, way: Span) -> Vetted {
        let graph = self.program.graphs.get(id);
        match graph.and_then(|graph| graph.start.as_ref()) {
            Some(Route::Arms(arms, _)) => told_by_arm(arms, way, &Env::new()),
            Some(Route::Always(_)) | None => Vetted::new(),
        }
    }

    /// Whether one of these vouches for the path.
    pub(super) fn is_told(&mut self, inside: Inside, told: &Vetted, path: &Path) -> bool {
        let mut own = told.iter().filter(|vouch| vouch.path.holds(path));
        own.any(|vouch| self.trusts(inside, &vouch.relies))
    }

    /// As [`Search::unguarded`], for a node by its id.
    pub fn node_leaves(
        &self,
        (graph, node): (GraphId, NodeId),
        leaves: Vec<Leaf>,
        env: &Env,
    ) -> Vec<Leaf> {
        match self.node(graph, node) {
            Some((_, node)) => self.unguarded(node, leaves, env),
            None => leaves,
        }
    }

    /// The leaves, with what the node's own guards vouch for.
    pub fn unguarded(&self, node: &Node, leaves: Vec<Leaf>, env: &Env) -> Vec<Leaf> {
        if !self.wanted.guarded {
            return leaves;
        }
        let skips = node.skips.iter().map(|skip| &skip.when);
        vouched(leaves, &guards(skips, &node.requires, env))
    }
}

/// The jump that a way of a node is made from.
pub(super) fn jump_of<'a>(
    graph: &'a Graph,
    node: &'a Node,
    id: NodeId,
    way: &Way,
) -> Option<&'a Jump> {
    let handler = graph.inherited_by(id).into_iter().flat_map(Route::jumps);
    let mut all = node.jumps().map(|(_, jump)| jump).chain(handler);
    match way.cause {
        Cause::Tool | Cause::Child => None,
        _ => all.find(|jump| jump.span == way.span),
    }
}

/// What is vouched for where a node takes a way: its arm, or the `skip`.
pub(super) fn told_by_way(
    graph: &Graph,
    (id, node): (NodeId, &Node),
    (cause, way): (Cause, Span),
    env: &Env,
) -> Vetted {
    let arms = |route: &Route| match route {
        Route::Arms(arms, _) => told_by_arm(arms, way, env),
        Route::Always(_) => Vetted::new(),
    };
    match cause {
        Cause::Goto => node
            .goto
            .as_ref()
            .map_or_else(Vetted::new, |goto| arms(&goto.node)),
        Cause::Error => graph.on_error_of(id).map_or_else(Vetted::new, arms),
        Cause::Skip => {
            let own = node
                .skips
                .iter()
                .find(|skip| skip.to.as_ref().is_some_and(|to| to.span == way));
            own.map_or_else(Vetted::new, |skip| vetted(&skip.when, true, env))
        }
        _ => Vetted::new(),
    }
}

fn told_by_arm(arms: &[Arm], span: Span, env: &Env) -> Vetted {
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
