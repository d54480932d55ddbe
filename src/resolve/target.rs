//! Routes of a resolved program: where a node, a handler or a tool may go.

use thin_vec::ThinVec;

use crate::ast::Name;
use crate::ast::expr::Expr;
use crate::ast::item::NamedArg;
use crate::base::Span;
use crate::ir::{EventId, FieldId, NodeId};

/// A place to go to.
#[derive(Debug, Clone)]
pub struct Target {
    /// Which form.
    pub kind: TargetKind,
    /// Where it is written.
    pub span: Span,
}

/// The forms of a target. `[a, b]` is several targets of one [`Jump`].
#[derive(Debug, Clone)]
pub enum TargetKind {
    /// A node of this graph, a `branch` included.
    Node(NodeId),
    /// `end`
    End,
    /// `fail` or `fail(message)`
    Fail(Option<Box<Expr>>),
    /// `(expr)`: computed at run time.
    Computed(Box<Expr>),
    /// `each x in items -> worker with { .. } then next`
    Each(Box<Each>),
    /// `parent.name`
    Parent(Name),
    /// In a tool's body: a node of whichever graph calls the tool.
    Named(Name),
    /// In a tool's body: `each` to a node of whichever graph calls the tool, which has a name only.
    NamedEach(Box<Each>),
    /// No such node; already reported.
    Unknown,
}

/// `each x in items -> worker with { .. } then next`
#[derive(Debug, Clone)]
pub struct Each {
    /// Loop name, in scope of `with`.
    pub var: Name,
    /// A list.
    pub items: Expr,
    /// The node that gets one task an element; `None` in a tool's body, and where there is none, which is reported.
    pub worker: Option<NodeId>,
    /// The worker's name.
    pub name: Name,
    /// Values of the worker's `input`.
    pub with: Vec<NamedArg>,
    /// What comes behind all of its tasks.
    pub then: Option<Then>,
}

/// `then NODE` of an `each`: an arrow of the fan-out as a whole.
#[derive(Debug, Clone)]
pub struct Then {
    /// Nodes, branches included, or `end`: [`TargetKind::Node`], [`TargetKind::Named`] in a tool's body, [`TargetKind::End`]
    /// or [`TargetKind::Unknown`].
    pub to: ThinVec<Target>,
    /// What is written behind `then`.
    pub span: Span,
}

impl Then {
    /// The nodes among its targets, each with its place.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, Span)> {
        let nodes = self.to.iter();
        nodes.filter_map(|target| Some((target.node()?, target.span)))
    }
}

impl Target {
    /// The node of this graph that it names, also as the worker of an `each`.
    pub fn node(&self) -> Option<NodeId> {
        match &self.kind {
            TargetKind::Node(node) => Some(*node),
            TargetKind::Each(each) => each.worker,
            _ => None,
        }
    }
}

/// Targets with an update, as one command. More than one target: all in the next super-step.
#[derive(Debug, Clone)]
pub struct Jump {
    /// Where to; empty only where the file has an empty list, which is reported.
    pub to: ThinVec<Target>,
    /// Writes made with it.
    pub set: ThinVec<SetItem>,
    /// Events sent with it.
    pub emits: ThinVec<Emit>,
    /// All of it.
    pub span: Span,
}

impl Jump {
    /// Its targets in order, behind each fan-out those that it leads to as a whole.
    pub fn targets(&self) -> impl Iterator<Item = &Target> {
        self.to.iter().flat_map(|target| {
            let then = match &target.kind {
                TargetKind::Each(each) | TargetKind::NamedEach(each) => each.then.as_ref(),
                _ => None,
            };
            let behind = then.into_iter().flat_map(|then| &then.to);
            std::iter::once(target).chain(behind)
        })
    }
}

/// One jump, or the first whose condition holds.
#[derive(Debug, Clone)]
pub enum Route {
    /// Without a condition.
    Always(Jump),
    /// `{ when .. -> .. else -> .. }`
    Arms(Vec<Arm>, Span),
}

impl Route {
    /// Its jumps, in order.
    pub fn jumps(&self) -> impl Iterator<Item = &Jump> {
        let (one, arms) = match self {
            Route::Always(jump) => (Some(jump), [].as_slice()),
            Route::Arms(arms, _) => (None, arms.as_slice()),
        };
        one.into_iter().chain(arms.iter().map(|arm| &arm.jump))
    }

    /// Targets of all its jumps, in order ([`Jump::targets`]).
    pub fn targets(&self) -> impl Iterator<Item = &Target> {
        self.jumps().flat_map(Jump::targets)
    }

    /// The conditions of its arms, in order.
    pub fn conditions(&self) -> impl Iterator<Item = &Expr> {
        let arms = match self {
            Route::Always(_) => [].as_slice(),
            Route::Arms(arms, _) => arms.as_slice(),
        };
        arms.iter().filter_map(|arm| arm.when.as_ref())
    }

    /// All of it.
    pub fn span(&self) -> Span {
        match self {
            Route::Always(jump) => jump.span,
            Route::Arms(_, span) => *span,
        }
    }
}

/// `when cond -> target` or `else -> target`
#[derive(Debug, Clone)]
pub struct Arm {
    /// `None` for `else`.
    pub when: Option<Expr>,
    /// Where to.
    pub jump: Jump,
    /// The whole arm.
    pub span: Span,
}

/// `field: expr` or `field := expr`
#[derive(Debug, Clone)]
pub struct SetItem {
    /// The field.
    pub field: Option<FieldId>,
    /// Where there is no such field, which is reported, the one that was likely meant.
    pub near: Option<FieldId>,
    /// Its name.
    pub name: Name,
    /// `:=`, past the reducer.
    pub replace: bool,
    /// The value.
    pub value: Expr,
}

impl SetItem {
    /// The field that it writes, or was likely meant to.
    pub fn writes(&self) -> Option<FieldId> {
        self.field.or(self.near)
    }
}

/// `emit X { .. } on start when EXPR`, `stream as X { .. } when EXPR`
#[derive(Debug, Clone)]
pub struct Emit {
    /// Which event.
    pub event: Option<EventId>,
    /// Its name.
    pub name: Name,
    /// Payload.
    pub fields: Vec<NamedArg>,
    /// When the node begins its work, not when it has finished.
    pub on_start: bool,
    /// Only where it holds.
    pub when: Option<Expr>,
    /// All of it.
    pub span: Span,
}
