//! What a resolved program must hold before it may run.

use crate::base::SourceMap;
use crate::diag::Diagnostics;
use crate::resolve::Program;

/// What the rules found out that lowering needs.
#[derive(Debug, Clone, Default)]
pub struct Checked {}

/// Runs every rule.
pub fn check(_program: &Program, _sources: &SourceMap, _diags: &mut Diagnostics) -> Checked {
    Checked {}
}
