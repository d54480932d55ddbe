//! Lists that grow in a loop.

use std::collections::BTreeSet;

use crate::ast::expr::{Expr, ExprKind};
use crate::base::Span;
use crate::base::name::list;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::{Channel, FieldId};
use crate::resolve::program::{Graph, SetItem};

use super::cfg::finish::usual;
use super::cfg::graph::Wanted;
use super::cfg::{BlockId, ControlFlowGraph, EdgeKind, Write};

/// Notes fields that each round of an uncapped loop adds to, and that nothing ever trims.
pub fn growing(graph: &Graph, cfg: &ControlFlowGraph, diags: &mut Diagnostics) {
    let gathers = |field: FieldId| {
        let field = graph.fields.get(field);
        let kept = field.filter(|field| field.ephemeral.is_none());
        kept.is_some_and(|field| matches!(field.channel, Channel::Append | Channel::AddMessages))
    };
    if !graph.fields.ids().any(gathers) {
        return;
    }
    let trimmed = trimmed(graph);
    let among = |block: BlockId| cfg.reached().contains(block);
    let mut reported: BTreeSet<FieldId> = BTreeSet::new();
    for group in cfg.components_among(among, |_, transition| usual(transition), Wanted::Any) {
        let inside = |block: &BlockId| group.binary_search(block).is_ok();
        let transitions = || group.iter().flat_map(|block| cfg.transitions(*block));
        let round = transitions().any(|way| {
            let mut successors = way.successors.iter();
            usual(way) && successors.any(|to| inside(&to.to))
        });
        if !round || transitions().any(|transition| transition.kind == EdgeKind::Visits) {
            continue;
        }
        let nodes = group.iter().filter_map(|block| match block {
            BlockId::Node(id) => cfg.nodes.get(*id),
            _ => None,
        });
        let names = list(nodes.clone().map(|node| &*node.name));
        for write in nodes.flat_map(|node| &node.writes) {
            let grows = gathers(write.field) && !trimmed.contains(&write.field);
            if grows && reported.insert(write.field) {
                diags.push(grows_in(graph, *write, &names));
            }
        }
    }
}

/// Fields that some `:=` replaces, or that some write takes messages out of.
fn trimmed(graph: &Graph) -> BTreeSet<FieldId> {
    let items = graph.jumps().flat_map(|(_, jump)| &jump.set);
    let items = items.chain(graph.nodes.iter().flat_map(|node| &node.set));
    let trims = |item: &&SetItem| item.replace || removes(&item.value);
    items.filter(trims).filter_map(|item| item.field).collect()
}

fn removes(expr: &Expr) -> bool {
    let mut open = vec![expr];
    while let Some(expr) = open.pop() {
        match &expr.kind {
            ExprKind::Call { function, .. } if function.node == "remove" => return true,
            _ => open.extend(expr.parts()),
        }
    }
    false
}

fn grows_in(graph: &Graph, write: Write, names: &str) -> Diagnostic {
    let field = graph.fields.get(write.field);
    let name = field.map_or("?", |field| &*field.name.node);
    let message =
        format!("`{name}` grows with each round of the loop of {names}, and nothing trims it");
    let declared = field.map_or(Span::default(), |field| field.name.span);
    Diagnostic::new(&codes::GROWING_LIST, message, write.span)
        .label(declared, "declared here")
        .help(format!(
            "keep its last elements at some place, `{name} := ..`, or cap the loop with `max_visits`"
        ))
}
