//! Writes that leave a field as it is: `n: state.n`.

use std::collections::BTreeMap;

use crate::base::Span;
use crate::expr::infer::access_path;
use crate::ir::FieldId;
use crate::resolve::program::{Graph, SetItem};

use super::types::flow_state::keeps_value;

/// The places of such writes in a graph, with their fields.
pub fn writes(graph: &Graph) -> BTreeMap<Span, FieldId> {
    let idle = graph.sets().filter_map(|item: &SetItem| {
        let id = item.field?;
        let field = graph.fields.get(id)?;
        let same = access_path(&item.value)?.as_field_of("state") == Some(&field.name.node);
        (same && keeps_value(field, item.replace)).then_some((item.name.span, id))
    });
    idle.collect()
}
