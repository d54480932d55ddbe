//! Joins that can never lead on.

use crate::diag::{Diagnostic, Diagnostics, codes};

use super::model::Flow;
use super::together::Together;

/// Reports joins two of whose members can't both arrive: they lie on ways that exclude each other.
pub fn never(flow: &Flow, together: &Together, diags: &mut Diagnostics) {
    for (id, join) in flow.joins.entries() {
        let arrive = join
            .members
            .iter()
            .all(|(member, _)| together.runs(*member));
        if together.fires(id) || !arrive {
            continue;
        }
        let members = || join.members.iter().enumerate();
        let apart = members().find_map(|(i, a)| {
            let others = join.members.iter().skip(i + 1);
            others
                .map(|b| (a, b))
                .find(|(a, b)| !together.meet(id, a.0, b.0))
        });
        let Some((a, b)) = apart else { continue };
        let name = |id| flow.stops.get(id).map_or("?", |stop| stop.name.as_str());
        let stop = |id| {
            flow.stops
                .get(id)
                .map(|stop| stop.span)
                .unwrap_or(join.span)
        };
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
            .label(stop(a.0), format!("`{}`", name(a.0)))
            .label(stop(b.0), "runs instead of it")
            .help(format!(
                "write an edge from each (`{} -> ..`), or start both with `[{}, {}]`",
                name(a.0),
                name(a.0),
                name(b.0)
            )),
        );
    }
}
