//! Templates (`{{ x }}`, `{% if x %}`) as statements around expressions.
//!
//! An expression of a template is an [`Expr`] like any other. What Jinja has and the language lacks is a [`ExprKind::Call`]
//! of a function whose name no expression can write: a filter `|upper`, a test `is odd`, an operator `~`.

use crate::base::Span;
use crate::diag::Diagnostic;

use super::Name;
use super::expr::{Expr, ExprKind};

/// The name that an element has within `map`, `select`, `sort` and the other filters that go over a list.
pub const ELEMENT: &str = "(element)";

/// The name that the text of `{% set x | filter %}..{% endset %}` has in the filter.
pub const CAPTURED: &str = "(text)";

/// The name that a loop has in its body.
pub const LOOP: &str = "loop";

/// A template as a tree, and what is wrong with it that needs no types.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    /// Its statements; those that are refused are left out, and of a text that can't be parsed all.
    pub body: Vec<Statement>,
    /// What is refused.
    pub problems: Vec<Diagnostic>,
}

/// A statement.
#[derive(Debug, Clone)]
pub enum Statement {
    /// Text between the tags.
    Text {
        /// As it is printed.
        text: String,
        /// Where it begins in the text of the template, in bytes.
        at: usize,
    },
    /// `{{ value }}`
    Output(Expr),
    /// `{% if .. %}`; an `elif` is an `If` in `no`.
    If {
        /// A `bool`.
        condition: Expr,
        /// Where it holds.
        yes: Vec<Statement>,
        /// Where it doesn't.
        no: Vec<Statement>,
    },
    /// `{% for x in xs if c %}`
    For(Box<For>),
    /// `{% set x = value %}`
    Set {
        /// What is set.
        target: Target,
        /// To what.
        value: Expr,
    },
    /// `{% set x %}..{% endset %}`
    Capture {
        /// What is set to the text.
        target: Target,
        /// What makes the text.
        body: Vec<Statement>,
        /// What is made from the text, by the name [`CAPTURED`].
        filtered: Option<Expr>,
    },
}

/// A loop.
#[derive(Debug, Clone)]
pub struct For {
    /// Names for the element.
    pub target: Target,
    /// What it goes over.
    pub over: Expr,
    /// Which elements it takes: a `bool`.
    pub when: Option<Expr>,
    /// For each element.
    pub body: Vec<Statement>,
    /// Where there is no element.
    pub otherwise: Vec<Statement>,
}

/// What is given a value.
#[derive(Debug, Clone)]
pub enum Target {
    /// A name.
    Name(Name),
    /// A field of a namespace: `ns.x`.
    Field(Name, Name),
    /// `a, b`: the elements of a list.
    Several(Vec<Target>, Span),
}

impl Target {
    /// The names that are given a value, fields of a namespace left out.
    pub fn names(&self) -> Vec<&Name> {
        match self {
            Target::Name(name) => vec![name],
            Target::Field(..) => Vec::new(),
            Target::Several(parts, _) => parts.iter().flat_map(Target::names).collect(),
        }
    }
}

impl Statement {
    /// Shows the expressions of the statement and of those inside, in the order written.
    pub fn each_expr<'a>(&'a self, visit: &mut impl FnMut(&'a Expr)) {
        match self {
            Statement::Text { .. } => {}
            Statement::Output(expr) | Statement::Set { value: expr, .. } => visit(expr),
            Statement::If { condition, yes, no } => {
                visit(condition);
                for statement in yes.iter().chain(no) {
                    statement.each_expr(visit);
                }
            }
            Statement::For(each) => {
                visit(&each.over);
                each.when.iter().for_each(&mut *visit);
                for statement in each.body.iter().chain(&each.otherwise) {
                    statement.each_expr(visit);
                }
            }
            Statement::Capture { body, filtered, .. } => {
                for statement in body {
                    statement.each_expr(visit);
                }
                filtered.iter().for_each(visit);
            }
        }
    }

    /// Whether a statement names something, or one inside does.
    pub fn mentions(&self, name: &str) -> bool {
        let mut found = false;
        self.each_expr(&mut |expr| found |= mentions(expr, name));
        found
    }
}

/// Whether an expression names something.
pub fn mentions(expr: &Expr, name: &str) -> bool {
    let mut found = matches!(&expr.kind, ExprKind::Ident(own) if own == name);
    expr.each_part(|part| found |= mentions(part, name));
    found
}
