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

/// A place as messages show it: what stands for an element has no name there.
pub fn shown_place(place: &str) -> &str {
    match place.strip_prefix(ELEMENT) {
        Some("") => "the element",
        Some(rest) => rest.trim_start_matches('.'),
        None if place.starts_with(CAPTURED) => "the text",
        None => place,
    }
}

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

/// What a walk through statements meets, in the order in which it happens.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// A text is printed, which begins there in the template.
    Text(&'a str, usize),
    /// A value becomes part of a text.
    Output(&'a Expr),
    /// An expression is evaluated for another purpose.
    Expr(&'a Expr),
    /// Names have a value from here on: that of an expression, or a text that was captured.
    Set(&'a Target, Option<&'a Expr>),
    /// A block begins.
    Open(Block<'a>),
    /// It ends.
    Close(Block<'a>),
}

/// A block of statements.
#[derive(Debug, Clone, Copy)]
pub enum Block<'a> {
    /// One way of an `if`: names that it sets stay.
    Way,
    /// The body of a loop, which has the names of its target and [`LOOP`].
    Loop(&'a For),
    /// Names that it sets end with it: a text that is captured, what is in place of a loop.
    Frame,
}

/// Goes through statements.
pub fn walk<'a>(statements: &'a [Statement], visit: &mut dyn FnMut(Event<'a>)) {
    fn block<'a>(of: Block<'a>, body: &'a [Statement], visit: &mut dyn FnMut(Event<'a>)) {
        visit(Event::Open(of));
        walk(body, visit);
        visit(Event::Close(of));
    }
    for statement in statements {
        match statement {
            Statement::Text { text, at } => visit(Event::Text(text, *at)),
            Statement::Output(expr) => visit(Event::Output(expr)),
            Statement::If { condition, yes, no } => {
                visit(Event::Expr(condition));
                block(Block::Way, yes, visit);
                block(Block::Way, no, visit);
            }
            Statement::For(each) => {
                visit(Event::Expr(&each.over));
                visit(Event::Open(Block::Loop(each)));
                each.when.iter().for_each(|when| visit(Event::Expr(when)));
                walk(&each.body, visit);
                visit(Event::Close(Block::Loop(each)));
                block(Block::Frame, &each.otherwise, visit);
            }
            Statement::Set { target, value } => {
                visit(Event::Expr(value));
                visit(Event::Set(target, Some(value)));
            }
            Statement::Capture {
                target,
                body,
                filtered,
            } => {
                block(Block::Frame, body, visit);
                filtered.iter().for_each(|made| visit(Event::Output(made)));
                visit(Event::Set(target, None));
            }
        }
    }
}

/// Shows the expressions of statements and of those inside, in the order written.
pub fn each_expr<'a>(statements: &'a [Statement], mut visit: impl FnMut(&'a Expr)) {
    walk(statements, &mut |event| {
        if let Event::Output(expr) | Event::Expr(expr) = event {
            visit(expr);
        }
    });
}

/// Whether an expression names something.
pub fn mentions(expr: &Expr, name: &str) -> bool {
    let mut found = matches!(&expr.kind, ExprKind::Ident(own) if own == name);
    expr.each_part(|part| found |= mentions(part, name));
    found
}
