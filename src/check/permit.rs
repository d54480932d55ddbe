//! `permit` that changes nothing: of tools that never ask, of calls that nobody can make.

use crate::ast::item::NamedArg;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::expr::Scope;
use crate::expr::infer::reads;
use crate::resolve::program::{Graph, Program};

/// Reports permissions for calls that nobody is asked about, and for those that no call can be.
pub fn needless(program: &Program, graph: &Graph, diags: &mut Diagnostics) {
    for permit in graph.nodes.iter().flat_map(|node| node.permits()) {
        for pin in permit.args.iter().flatten().filter(|pin| is_made_anew(pin)) {
            let message = format!(
                "the permission pins a value of `{}` that no other expression gives again, so it covers no call",
                pin.name.node
            );
            let found = Diagnostic::new(&codes::NEEDLESS_PERMIT, message, pin.value.span);
            diags.push(found.help(
                "make the value in a node ahead of the question, keep it in a field, and pin the field",
            ));
        }
        let tool = permit.tool.and_then(|id| program.tools.get(id));
        let Some(tool) = tool.filter(|tool| !tool.asks()) else {
            continue;
        };
        let name = &tool.name.node;
        let message = format!("a call of `{name}` never asks: there is nothing to permit");
        let found = Diagnostic::new(&codes::NEEDLESS_PERMIT, message, permit.name.span);
        diags.push(match tool.unattended {
            Some(unattended) => found
                .label(unattended, "`@unattended`: nobody is asked")
                .help("take the `permit` out, or `@unattended`"),
            None if tool.params.iter().any(|param| param.sink.is_some()) => found
                .label(tool.name.span, "it asks nobody")
                .help(format!(
                    "say `@approve` on `{name}`: then each call asks, and a `permit` that pins its arguments saves the question"
                )),
            None => found
                .label(
                    tool.name.span,
                    "it is not `@effect(destructive)` and not `@approve`",
                )
                .help(format!(
                    "take the `permit` out, or say `@effect(destructive)` or `@approve` on `{name}`"
                )),
        });
    }
}

/// Whether it calls `now()`, `uuid()` or `random()` itself.
fn is_made_anew(pin: &NamedArg) -> bool {
    reads(&pin.value, &Scope::default()).effects
}
