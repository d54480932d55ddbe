//! Nodes that an instance can't reach are no part of it.

use crate::base::{IdVec, Spanned};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::{JoinId, NodeId};
use crate::resolve::program::{Graph, Join, Jump, Program, Route, TargetKind, Work};

use super::super::cfg::{BlockId, Written, build};

/// Takes out what no run of the graph comes to. Gives back which nodes of the graph as written are left.
///
/// A join that waits for a node which is no part of the instance would wait for ever; it is reported.
pub fn prune(program: &Program, graph: &mut Graph, diags: &mut Diagnostics) -> Vec<bool> {
    let cfg = build::of(program, graph, &Written::nothing());
    if cfg.broken {
        return vec![true; graph.nodes.len()];
    }
    let reached = cfg.reached();
    let nodes = graph.nodes.ids().map(BlockId::Node);
    let kept: Vec<bool> = nodes.map(|block| reached.contains(block)).collect();
    if kept.iter().all(|kept| *kept) {
        return kept;
    }
    let is_reached = |id: &JoinId| reached.contains(BlockId::Join(*id));
    let joins: Vec<JoinId> = graph.joins.ids().filter(is_reached).collect();
    for join in joins.iter().filter_map(|id| graph.joins.get(*id)) {
        waits_in_vain(graph, join, &kept, diags);
    }
    let numbers = Numbers::of(&kept, &joins, graph.joins.len());
    numbers.apply(graph);
    kept
}

fn waits_in_vain(graph: &Graph, join: &Join, kept: &[bool], diags: &mut Diagnostics) {
    let gone = |id: NodeId| !kept.get(id.0 as usize).copied().unwrap_or(true);
    let Some(member) = join.members.iter().find(|member| gone(member.node)) else {
        return;
    };
    let name = |member: &Spanned<NodeId>| {
        let node = graph.nodes.get(member.node);
        node.map_or("?", |node| node.name.node.as_str()).to_owned()
    };
    let others: Vec<String> = join
        .members
        .iter()
        .filter(|m| !gone(m.node))
        .map(name)
        .collect();
    let others = crate::base::name::list(others.iter().map(String::as_str));
    let place = graph
        .nodes
        .get(member.node)
        .map_or(join.span, |node| node.name.span);
    diags.push(
        Diagnostic::new(
            &codes::JOIN_NEVER_FIRES,
            format!("this join waits for `{}`, which never runs", name(member)),
            join.span,
        )
        .label(place, "no part of the instance")
        .help(format!(
            "write an edge from {others} instead, or let `{}` run and `skip when` it has nothing to do",
            name(member)
        )),
    );
}

/// The new numbers of what is left.
struct Numbers {
    nodes: Vec<Option<NodeId>>,
    joins: Vec<Option<JoinId>>,
}

impl Numbers {
    fn of(kept: &[bool], left: &[JoinId], joins: usize) -> Self {
        let mut next = 0;
        let nodes = kept.iter().map(|kept| {
            kept.then(|| {
                next += 1;
                NodeId(next - 1)
            })
        });
        let nodes = nodes.collect();
        let mut numbers = vec![None; joins];
        for (new, old) in left.iter().enumerate() {
            if let Some(slot) = numbers.get_mut(old.0 as usize) {
                *slot = Some(JoinId(new as u32));
            }
        }
        Self {
            nodes,
            joins: numbers,
        }
    }

    fn node(&self, id: NodeId) -> Option<NodeId> {
        self.nodes.get(id.0 as usize).copied().flatten()
    }

    fn join(&self, id: JoinId) -> Option<JoinId> {
        self.joins.get(id.0 as usize).copied().flatten()
    }

    fn apply(&self, graph: &mut Graph) {
        let joins = std::mem::take(&mut graph.joins);
        let left = joins.entries().filter(|(id, _)| self.join(*id).is_some());
        let left = left.map(|(_, join)| {
            let mut join = join.clone();
            let members = join.members.iter();
            let members = members.filter_map(|m| Some(Spanned::new(self.node(m.node)?, m.span)));
            join.members = members.collect();
            self.jump(&mut join.to);
            join
        });
        graph.joins = left.collect();
        graph.start.iter_mut().for_each(|route| self.route(route));
        graph
            .on_error
            .iter_mut()
            .for_each(|route| self.route(route));
        let nodes = std::mem::take(&mut graph.nodes);
        let left = nodes.entries().filter(|(id, _)| self.node(*id).is_some());
        let left = left.map(|(_, node)| {
            let mut node = node.clone();
            self.node_parts(&mut node);
            node
        });
        let nodes: IdVec<NodeId, _> = left.collect();
        graph.nodes = nodes;
        graph.index = Default::default();
    }

    fn node_parts(&self, node: &mut crate::resolve::program::Node) {
        node.joins = node.joins.iter().filter_map(|id| self.join(*id)).collect();
        let skips = node.skips.iter_mut().filter_map(|skip| skip.to.as_mut());
        let full = node.max_visits.iter_mut().map(|max| &mut max.to);
        let jumps = skips.chain(&mut node.edges).chain(full);
        jumps.for_each(|jump| self.jump(jump));
        let routes = node.goto.iter_mut().map(|goto| &mut goto.node);
        let routes = routes.chain(node.on_error.as_deref_mut());
        routes.for_each(|route| self.route(route));
        if let Work::Interrupt {
            timeout: Some(timeout),
            ..
        } = &mut node.work
        {
            self.jump(&mut timeout.to);
        }
        if let Some(ends) = &mut node.ends {
            ends.items.retain_mut(|end| self.target(&mut end.to.kind));
        }
    }

    fn route(&self, route: &mut Route) {
        match route {
            Route::Always(jump) => self.jump(jump),
            Route::Arms(arms, _) => arms.iter_mut().for_each(|arm| self.jump(&mut arm.jump)),
        }
    }

    fn jump(&self, jump: &mut Jump) {
        jump.to.retain_mut(|target| self.target(&mut target.kind));
    }

    /// Whether the target is left. All that a reached node leads to is reached, so only the graph's handler
    /// and `ends` lose any.
    fn target(&self, target: &mut TargetKind) -> bool {
        match target {
            TargetKind::Node(id) => match self.node(*id) {
                Some(new) => *id = new,
                None => return false,
            },
            TargetKind::Each(each) => {
                if let Some(then) = &mut each.then {
                    then.to.retain_mut(|target| self.target(&mut target.kind));
                }
                if let Some(worker) = each.worker {
                    each.worker = self.node(worker);
                    return each.worker.is_some();
                }
            }
            _ => {}
        }
        true
    }
}
