//! Untrusted text in a `system` prompt or message: there a model takes it for orders of its owner.

use std::collections::BTreeMap;

use crate::ast::expr::{Expr, ExprKind};
use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::resolve::exprs::{Recipient, Written};

use super::labels::{Label, Labels, Operand, Reader, Unit, Value};

/// Warns of them.
pub fn system_texts(labels: &Labels<'_>, diags: &mut Diagnostics) {
    let is_found = &mut |value: &Value| labels.trail(value, &[Label::Untrusted]).is_some();
    // What comes from one source is one mistake, however much of it is shown.
    let mut by_source: BTreeMap<(Unit, Span), Diagnostic> = BTreeMap::new();
    labels.each_site(&mut |owner, reader, site| {
        let (operands, of) = match (site.written, site.to) {
            (_, Recipient::System) => {
                let of = format!("text of `{}`", owner.name());
                (reader.operands(site, is_found), of)
            }
            (Written::Expr(expr), _) => {
                let mut found = Vec::new();
                messages(reader, expr, is_found, &mut found);
                (found, "message".to_owned())
            }
            (Written::Text(_), _) => return,
        };
        for operand in operands {
            let Some(trail) = labels.trail(&operand.value, &[Label::Untrusted]) else {
                continue;
            };
            let shown = operand.name.as_deref().unwrap_or("..");
            let source = (owner.unit, trail.source().0);
            let found = match by_source.remove(&source) {
                Some(found) => found.label(operand.span, format!("`{shown}` too")),
                None => {
                    let message =
                        format!("`{shown}` in the `system` {of} was written by somebody untrusted");
                    trail.label(Diagnostic::new(
                        &codes::UNTRUSTED_SYSTEM,
                        message,
                        operand.span,
                    ))
                }
            };
            by_source.insert(source, found);
        }
    });
    for found in by_source.into_values() {
        let help = "show it in `prompt` or in a user message, as material to work on";
        diags.push(found.help(help));
    }
}

/// What `system(text)` is given, wherever the message goes.
fn messages(
    reader: &mut Reader,
    expr: &Expr,
    is_found: &mut dyn FnMut(&Value) -> bool,
    found: &mut Vec<Operand>,
) {
    if let ExprKind::Call {
        target: None,
        function,
        args,
    } = &expr.kind
        && function.node == "system"
    {
        let args = args.iter();
        args.for_each(|arg| found.extend(reader.operands_of(arg, is_found)));
    }
    reader.each_part(expr, &mut |reader, part| {
        messages(reader, part, is_found, found)
    });
}
