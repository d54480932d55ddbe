//! Which expressions of a question read its answer.

use crate::ast::expr::Expr;
use crate::ast::item::Let;
use crate::expr::infer::reads;
use crate::expr::{Scope, Type};

/// The names by which the answer to a question is read.
pub struct AnswerNames(Scope);

impl AnswerNames {
    /// The answer's own name, `answered`, and each `let` that reads one of these.
    pub fn of(answer: &str, lets: &[Let]) -> Self {
        let mut names = Self(Scope::of_names([answer, "answered"]));
        for bound in lets {
            if names.read_by(&bound.value) {
                names.0.declare(bound.name.node.as_str(), Type::Json);
            }
        }
        names
    }

    /// Whether an expression reads one of them.
    pub fn read_by(&self, expr: &Expr) -> bool {
        !reads(expr, &self.0).slots.is_empty()
    }
}
