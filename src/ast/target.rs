//! Where an edge or a jump may lead.

use crate::base::Span;

use super::Name;
use super::expr::Expr;
use super::item::NamedArg;
use super::node::{Emit, SetItem};

/// A place to go to.
#[derive(Debug, Clone)]
pub struct Target {
    /// Which form.
    pub kind: TargetKind,
    /// Where, without the update.
    pub span: Span,
}

/// The forms of a target.
#[derive(Debug, Clone)]
pub enum TargetKind {
    /// A node of this graph.
    Node(String),
    /// `end`
    End,
    /// `fail` or `fail(message)`
    Fail(Option<Box<Expr>>),
    /// `[a, b]`: all of them.
    All(Vec<Target>),
    /// `(expr)`: computed at run time.
    Computed(Box<Expr>),
    /// `each x in items -> worker with { topic: x } then next`
    Each(Box<Each>),
    /// `parent.name`
    Parent(Name),
}

/// `each x in items -> worker with { topic: x } then next`
#[derive(Debug, Clone)]
pub struct Each {
    /// Loop name, in scope of `with`.
    pub var: Name,
    /// A list.
    pub items: Expr,
    /// The node that gets one task an element.
    pub worker: Name,
    /// Values of its `input`.
    pub with: Vec<NamedArg>,
    /// Where the fan-out as a whole leads, behind all of its tasks.
    pub then: Option<Target>,
}

/// A target with an update, as one command: `-> a { set {..} emit .. }`.
#[derive(Debug, Clone)]
pub struct Jump {
    /// Where to.
    pub target: Target,
    /// Updates made with the jump.
    pub set: Vec<SetItem>,
    /// Events sent with the jump.
    pub emits: Vec<Emit>,
    /// All of it.
    pub span: Span,
}

/// `when cond -> target` or `else -> target`.
#[derive(Debug, Clone)]
pub struct Arm {
    /// `None` for `else`.
    pub when: Option<Expr>,
    /// Where to.
    pub jump: Jump,
    /// The whole arm.
    pub span: Span,
}
