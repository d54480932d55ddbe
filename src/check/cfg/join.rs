//! Joins that can never lead on.

use std::collections::BTreeSet;

use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::{JoinId, NodeId};

use super::mhp::MayHappenInParallel;
use super::model::{BlockId, ControlFlowGraph};

/// Reports joins two of whose members can't both arrive, since they lie on ways that exclude each other, and
/// joins whose member comes only behind the join itself. Gives back all joins that never lead on.
pub fn never(
    cfg: &ControlFlowGraph,
    mhp: &MayHappenInParallel,
    diags: &mut Diagnostics,
) -> BTreeSet<JoinId> {
    apart(cfg, mhp, diags);
    let ids = cfg.joins.ids().filter(|id| !mhp.fires(*id));
    let silent: BTreeSet<JoinId> = ids.collect();
    behind_itself(cfg, mhp, &silent, diags);
    silent
}

/// Reports joins that wait for what only they lead to, also in a cycle of several.
fn behind_itself(
    cfg: &ControlFlowGraph,
    mhp: &MayHappenInParallel,
    silent: &BTreeSet<JoinId>,
    diags: &mut Diagnostics,
) {
    let mut reported: BTreeSet<JoinId> = BTreeSet::new();
    for id in silent {
        let Some(join) = cfg.joins.get(*id) else {
            continue;
        };
        let late = join.members.iter().find_map(|(member, span)| {
            // What leads to the join and comes behind it goes round with it.
            let round = cfg.same_component(BlockId::Node(*member), BlockId::Join(*id));
            if !round || mhp.runs(*member) {
                return None;
            }
            let before = before(cfg, *member);
            let own = before.contains(id);
            own.then_some((*member, *span, before))
        });
        let Some((member, span, before)) = late else {
            continue;
        };
        if before.iter().any(|other| reported.contains(other)) {
            continue;
        }
        reported.insert(*id);
        let name = cfg.name(BlockId::Node(member));
        let message = format!("this join waits for `{name}`, which only runs after it");
        let mut found =
            Diagnostic::new(&codes::JOIN_NEVER_FIRES, message, join.span).label(span, "waited for");
        if let Some((block, arrow)) = first_arrow(cfg, member) {
            found = found.label(arrow, format!("`{}` only comes from here", cfg.name(block)));
        }
        diags.push(found.help(format!(
            "take `{name}` out of the join, or lead to it before, beside the other members"
        )));
    }
}

/// Joins on the ways to a node.
fn before(cfg: &ControlFlowGraph, node: NodeId) -> BTreeSet<JoinId> {
    let blocks = cfg.all_before(BlockId::Node(node));
    let joins = blocks.filter_map(|block| match block {
        BlockId::Join(join) => Some(join),
        _ => None,
    });
    joins.collect()
}

fn first_arrow(cfg: &ControlFlowGraph, node: NodeId) -> Option<(BlockId, Span)> {
    let block = BlockId::Node(node);
    let successor = cfg.in_edges(block).next()?.successor()?;
    Some((block, successor.span))
}

fn apart(cfg: &ControlFlowGraph, mhp: &MayHappenInParallel, diags: &mut Diagnostics) {
    for (id, join) in cfg.joins.entries() {
        let arrive = join.members.iter().all(|(member, _)| mhp.runs(*member));
        if mhp.fires(id) || !arrive {
            continue;
        }
        let members = || join.members.iter().enumerate();
        let apart = members().find_map(|(i, a)| {
            let others = join.members.iter().skip(i + 1);
            others
                .map(|b| (a, b))
                .find(|(a, b)| !mhp.meet(id, a.0, b.0))
        });
        let Some((a, b)) = apart else { continue };
        let name = |id| cfg.nodes.get(id).map_or("?", |node| node.name.as_str());
        let node = |id| cfg.nodes.get(id).map(|node| node.span).unwrap_or(join.span);
        diags.push(
            Diagnostic::new(
                &codes::JOIN_NEVER_FIRES,
                format!(
                    "this join waits for both `{}` and `{}`, of which only one runs",
                    name(a.0),
                    name(b.0)
                ),
                join.span,
            )
            .label(node(a.0), format!("`{}`", name(a.0)))
            .label(node(b.0), "runs instead of it")
            .help(format!(
                "write an edge from each (`{} -> ..`), or start both with `[{}, {}]`",
                name(a.0),
                name(a.0),
                name(b.0)
            )),
        );
    }
}
