//! The check of a template: of its syntax, of what it names and how it uses it, and of texts that look as if they were tags.

use crate::ast::node::TemplateText;
use crate::diag::Diagnostics;

use super::super::fold::inline::LetValue;
use super::super::infer::{Checker, Narrowing};
use super::super::scope::Scope;
use super::super::ty::TypeTable;
use super::lower::lower;
use super::{lost, placeholder};

/// Reports what is wrong with a template in a scope.
pub fn check(template: &TemplateText, scope: &Scope, types: &TypeTable, diags: &mut Diagnostics) {
    check_knowing(template, scope, types, (Narrowing::new(), &[]), diags);
}

/// As [`check`], where some places are known not to be null, and names stand for conditions.
pub fn check_knowing(
    template: &TemplateText,
    scope: &Scope,
    types: &TypeTable,
    (known, lets): (Narrowing, &[LetValue]),
    diags: &mut Diagnostics,
) {
    let lowered = match lower(template) {
        Ok(lowered) => lowered,
        Err(found) => return diags.push(*found),
    };
    for found in lowered.problems {
        diags.push(found);
    }
    Checker::new(scope, types, diags)
        .knowing(known)
        .naming(lets)
        .of_template()
        .statements(&lowered.body);
    lost::check(&lowered.body, diags);
    placeholder::check(template, &lowered.body, scope, diags);
}
