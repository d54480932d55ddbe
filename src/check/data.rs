//! Fields of the state that nobody writes or nobody reads.

use std::collections::BTreeSet;

use crate::diag::{Diagnostic, Diagnostics, Level, codes};
use crate::expr::Type;
use crate::ir::{FieldId, FieldMode, GraphId};
use crate::resolve::program::{Graph, Program, Work};

use super::cfg::Written;
use super::cfg::build::called_bodies;

/// Reports `out` fields that are never written: the caller would get nothing.
pub fn unwritten_out(graph: &Graph, id: GraphId, written: &Written, diags: &mut Diagnostics) {
    if graph.broken {
        return;
    }
    for (field_id, field) in graph.fields.entries() {
        if field.mode != FieldMode::Out || field.default.is_some() || written.has(id, field_id) {
            continue;
        }
        let name = &field.name.node;
        let found = Diagnostic::new(
            &codes::OUT_NEVER_WRITTEN,
            format!("`out` field `{name}` is never written"),
            field.name.span,
        );
        let found = found.about(field.name.span);
        // It has a value, null, so that a run can give it back.
        let null = field.ty.node.admits_null() && field.ty.node != Type::Json;
        let help = match null {
            true => format!(
                "write it in a node: `set {{ {name}: .. }}`, or say that it is null: `= null`"
            ),
            false => format!("write it in a node: `set {{ {name}: .. }}`, or give it a default"),
        };
        let mut found = found.help(help);
        if null {
            found.level = Level::Warning;
        }
        diags.push(found);
    }
}

/// Warns of fields that are of no use: never read, or never anything but their first value.
/// `read` are the fields that some expression of the graph reads.
pub fn useless(
    program: &Program,
    id: GraphId,
    written: &Written,
    read: &BTreeSet<FieldId>,
    diags: &mut Diagnostics,
) {
    let Some(graph) = program.graphs.get(id) else {
        return;
    };
    let mut passed = passed_on(program, graph);
    let bases = graph
        .fields
        .iter()
        .filter_map(|field| field.based_on.as_ref());
    passed.extend(bases.flat_map(|b| &b.on).filter_map(|basis| basis.field));
    for (field_id, field) in graph.fields.entries() {
        let name = &field.name.node;
        let is_read = read.contains(&field_id) || passed.contains(&field_id);
        let is_written = written.has(id, field_id);
        let found = match field.mode {
            FieldMode::Private if !is_read && !is_written => Some("is neither read nor written"),
            FieldMode::Private | FieldMode::In if !is_read => Some("is never read"),
            FieldMode::Private if !is_written => Some("is never written"),
            // What the caller gets is its first value then, as it may be meant; what is decided by it here is not.
            FieldMode::Out if is_read && !is_written => Some("is never written"),
            _ => None,
        };
        if let Some(found) = found {
            let help = match (is_read, field.mode) {
                (true, _) => {
                    format!("write it: `set {{ {name}: .. }}`, or put its value where it is read")
                }
                (false, FieldMode::Private) => {
                    format!(
                        "take `{name}` out, or declare it `out` for the caller to read, `in` where the caller gives it"
                    )
                }
                (false, _) => format!("take `{name}` out"),
            };
            diags.push(
                Diagnostic::new(
                    &codes::UNUSED_FIELD,
                    format!("field `{name}` {found}"),
                    field.name.span,
                )
                .help(help),
            );
        }
    }
}

/// Fields that called graphs take by name and that tools read.
fn passed_on(program: &Program, graph: &Graph) -> BTreeSet<FieldId> {
    let mut fields = BTreeSet::new();
    for node in &graph.nodes {
        for (_, body) in called_bodies(program, node) {
            fields.extend(
                body.reads
                    .iter()
                    .filter_map(|read| graph.field(&read.name.node)),
            );
        }
        let Work::Subgraph {
            graph: child, with, ..
        } = &node.work
        else {
            continue;
        };
        let child = child.and_then(|child| program.graphs.get(child));
        let known = child.into_iter().flat_map(|child| &child.fields);
        let known = known.map(|field| (field.mode, &field.name.node));
        let unknown = graph.fields_of_unknown(node).iter();
        let taken = known.chain(unknown.map(|(mode, name)| (*mode, name)));
        // What `with` or a send gives is not taken by its name.
        let taken = taken.filter(|(mode, name)| {
            mode.is_in() && !with.iter().any(|pass| pass.name.node == **name)
        });
        fields.extend(taken.filter_map(|(_, name)| graph.field(name)));
    }
    fields
}
