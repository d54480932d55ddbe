//! Which expressions of a question read its answer.

use crate::ast::expr::Expr;
use crate::ast::item::Let;
use crate::expr::infer::reads;
use crate::expr::{Scope, Type};

/// The names by which the answer to a question is read.
pub struct AnswerNames(Scope);

impl AnswerNames {
    /// All that is there only with the answer: its own name, `answered`, and each `let` that reads one of these.
    pub fn of(answer: &str, lets: &[Let]) -> Self {
        Self::from(&[answer, "answered"], lets)
    }

    /// What the answer itself decides: its own name, and each `let` that reads it. Who gave it, and when, is no part of it.
    pub fn itself(answer: &str, lets: &[Let]) -> Self {
        Self::from(&[answer], lets)
    }

    fn from(names: &[&str], lets: &[Let]) -> Self {
        let mut names = Self(Scope::of_names(names));
        for bound in lets {
            if names.read_by(&bound.value) {
                names.add(&bound.name.node);
            }
        }
        names
    }

    /// Adds the name of what is taken from one of them.
    pub fn add(&mut self, name: &str) {
        self.0.declare(name, Type::Json);
    }

    /// Whether an expression reads one of them.
    pub fn read_by(&self, expr: &Expr) -> bool {
        !reads(expr, &self.0).slots.is_empty()
    }
}
