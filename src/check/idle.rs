//! Writes that leave a field as it is: `n: state.n`.

use std::collections::BTreeMap;

use crate::base::Span;
use crate::expr::infer::path;
use crate::ir::FieldId;
use crate::resolve::program::{Graph, Route, SetItem};

use super::types::facts::keeps_value;

/// The places of such writes in a graph, with their fields.
pub fn writes(graph: &Graph) -> BTreeMap<Span, FieldId> {
    let jumps = graph.nodes.entries().flat_map(|(id, node)| {
        let routes = node.goto.iter().map(|goto| &goto.node);
        let routes = routes.chain(graph.on_error_of(id)).flat_map(Route::jumps);
        let skips = node.skips.iter().filter_map(|skip| skip.to.as_ref());
        routes.chain(&node.edges).chain(skips)
    });
    let items = jumps.flat_map(|jump| &jump.set);
    let items = items.chain(graph.nodes.iter().flat_map(|node| &node.set));
    let idle = items.filter_map(|item: &SetItem| {
        let id = item.field?;
        let field = graph.fields.get(id)?;
        let same = path(&item.value)?.strip_prefix("state.")? == field.name.node;
        (same && keeps_value(field, item.replace)).then_some((item.name.span, id))
    });
    idle.collect()
}
