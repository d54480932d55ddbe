//! Conditions of scenarios and filters: texts that are judged when a run is over, so that only what can never hold is wrong.

use crate::base::FileId;
use crate::diag::{Diagnostic, Diagnostics, Level, codes};
use crate::parse;

use super::Scope;
use super::eval::{self, Program};
use super::infer::infer;
use super::ty::{Type, TypeTable};

/// Why a text is no condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoCondition {
    /// In words.
    pub message: String,
    /// What to write.
    pub help: Option<String>,
}

impl From<&Diagnostic> for NoCondition {
    fn from(found: &Diagnostic) -> Self {
        Self {
            message: found.message.clone(),
            help: found.help.clone(),
        }
    }
}

/// Compiles a text that is one condition.
///
/// # Errors
/// It does not compile, gives no truth value, or compares what is never equal. Whether a value is there is asked when it is judged.
pub fn condition(text: &str, scope: &Scope, types: &TypeTable) -> Result<Program, NoCondition> {
    let mut diags = Diagnostics::new();
    let parsed = parse::expression(text, FileId(0), &mut diags);
    if let Some(wrong) = diags.iter().find(|found| found.level == Level::Error) {
        return Err(wrong.into());
    }
    let Some(expr) = parsed else {
        return Err(NoCondition {
            message: "expected an expression".to_owned(),
            help: None,
        });
    };
    let ty = infer(&expr, scope, types, None, &mut diags);
    let program = eval::compile(&expr, scope, types).map_err(|error| {
        // The checker has a help where the compiler of expressions has words alone.
        let same = diags.iter().find(|found| found.span() == error.span);
        same.map_or(
            NoCondition {
                message: error.message,
                help: None,
            },
            NoCondition::from,
        )
    })?;
    if let Some(never) = diags.iter().find(|found| found.code == &codes::NEVER_EQUAL) {
        return Err(never.into());
    }
    let may = matches!(
        ty.without_null(),
        Type::Bool | Type::Json | Type::Error | Type::Never
    );
    match may || diags.has_errors() {
        true => Ok(program),
        false => Err(NoCondition {
            message: format!("it gives `{}`, expected `bool`", types.show(&ty)),
            help: None,
        }),
    }
}
