//! `@alias` on fields and parameters: another name for values from outside.

use std::collections::BTreeMap;

use crate::ast::expr::{ExprKind, Literal};
use crate::ast::ty::Field;
use crate::base::Span;
use crate::diag::{Diagnostic, codes};

use super::Resolver;

impl Resolver<'_> {
    /// `@alias` with the name of another field, or that another has: one value would be taken for both.
    pub(super) fn other_names(&mut self, fields: &[Field]) {
        let names: BTreeMap<&str, Span> = fields
            .iter()
            .map(|field| (field.name.as_str(), field.name.span))
            .collect();
        let mut aliases: BTreeMap<&str, Span> = BTreeMap::new();
        for field in fields {
            for attribute in field.attributes.iter().filter(|a| a.name.node == "alias") {
                let [argument] = attribute.args.as_slice() else {
                    continue;
                };
                let ExprKind::Literal(Literal::String(alias)) = &argument.kind else {
                    continue;
                };
                let own = names
                    .get(&**alias)
                    .map(|span| (*span, "the field of that name"));
                let other = aliases.insert(alias, argument.span);
                let other = other.map(|span| (span, "first given here"));
                if let Some((first, what)) = own.or(other) {
                    let message = match own {
                        Some(_) if **alias == *field.name.node => {
                            format!("`@alias` of `{alias}` is its own name")
                        }
                        Some(_) => format!(
                            "`@alias` of `{}` is the name of field `{alias}`",
                            field.name.node
                        ),
                        None => format!("`@alias` `{alias}` is given twice"),
                    };
                    self.diags.push(
                        Diagnostic::new(&codes::DUPLICATE_NAME, message, argument.span)
                            .label(first, what)
                            .help("give it a name of its own, or take the attribute out"),
                    );
                }
            }
        }
    }
}
