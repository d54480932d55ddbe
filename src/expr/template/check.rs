//! The check of a template: of its syntax, of what it names and how it uses it, and of texts that look as if they were tags.

use crate::ast::node::TemplateText;
use crate::diag::Diagnostics;

use super::super::fold::inline::LetValue;
use super::super::infer::{Checker, Narrowing};
use super::super::scope::Scope;
use super::super::ty::TypeTable;
use super::lower::tree;
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
    let tree = tree(template);
    for found in &tree.problems {
        diags.push(found.clone());
    }
    Checker::new(scope, types, diags)
        .knowing(known)
        .naming(lets)
        .of_template()
        .statements(&tree.body);
    lost::check(&tree.body, diags);
    placeholder::check(template, &tree.body, (scope, types), diags);
}
