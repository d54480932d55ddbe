//! `open-interrupt`: a question that may stay open for ever, or takes any answer.

use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::resolve::program::Work;

use super::cx::Cx;

/// Notes interrupts without `timeout`, and without `expect`.
pub fn lint(cx: &Cx<'_>, diags: &mut Diagnostics) {
    for (_, node) in cx.nodes() {
        let Work::Interrupt {
            expect, timeout, ..
        } = &node.work
        else {
            continue;
        };
        let name = &node.name.node;
        let (message, help) = match (timeout, expect) {
            (Some(_), Some(_)) => continue,
            (None, Some(_)) => (
                format!(
                    "interrupt `{name}` has no `timeout`: it waits for as long as nobody answers"
                ),
                "write `timeout 7d -> NODE` where the run is not to wait for ever",
            ),
            (Some(_), None) => (
                format!("interrupt `{name}` has no `expect`: it takes any answer"),
                "write `expect T`; an answer that is no `T` is then refused",
            ),
            (None, None) => (
                format!(
                    "interrupt `{name}` has neither `expect` nor `timeout`: it takes any answer, and waits for ever"
                ),
                "write `expect T` and `timeout 7d -> NODE`",
            ),
        };
        diags.push(Diagnostic::new(&codes::OPEN_INTERRUPT, message, node.name.span).help(help));
    }
}
