//! Conditions of scenarios: texts that are judged when a run is over, so that only what can never hold is wrong.

use crate::base::FileId;
use crate::diag::{Diagnostics, codes};
use crate::parse;

use super::super::scope::Scope;
use super::super::ty::{Type, TypeTable};
use super::infer;

/// Why a text that compiles is no condition that could ever hold: it gives no truth value, or compares what is never equal.
/// Whether a value is there is asked when it is judged.
pub fn no_condition(text: &str, scope: &Scope, types: &TypeTable) -> Option<String> {
    let mut diags = Diagnostics::new();
    let expr = parse::expression(text, FileId(0), &mut diags)?;
    let ty = infer(&expr, scope, types, None, &mut diags);
    let never = diags.iter().find(|found| found.code == &codes::NEVER_EQUAL);
    if let Some(never) = never {
        return Some(never.message.clone());
    }
    let may = matches!(
        ty.without_null(),
        Type::Bool | Type::Json | Type::Error | Type::Never
    );
    (!may && !diags.has_errors())
        .then(|| format!("it gives `{}`, expected `bool`", types.show(&ty)))
}
