//! Graphs: state, edges, and what holds for all their nodes.

use crate::base::Span;

use super::expr::Expr;
use super::item::{Duration, ToolRef};
use super::node::{Ask, Jumps, Node, Permit, RetrySpec};
use super::target::{Jump, Target};
use super::ty::{Field, TypeExpr};
use super::{Doc, Name};

/// `graph Name(params) leaves [a] { members }`
#[derive(Debug, Clone)]
pub struct Graph {
    /// Doc comment.
    pub doc: Doc,
    /// Its name.
    pub name: Name,
    /// Compile-time parameters.
    pub params: Vec<Field>,
    /// The fields that a graph must have which a parameter of that name takes.
    pub contracts: Vec<(String, Vec<StateField>)>,
    /// Values that a prompt is given which stands for a parameter, by the parameter's name.
    pub briefs: Vec<(String, Vec<Field>)>,
    /// Names of a caller's nodes that it may go to.
    pub leaves: Vec<Name>,
    /// What stands between the braces.
    pub members: Vec<Member>,
    /// The whole item.
    pub span: Span,
}

/// A member of a graph.
#[derive(Debug, Clone)]
pub enum Member {
    /// `state { .. }`
    State(Vec<StateField>, Span),
    /// `context { .. }`
    Context(Vec<Field>, Span),
    /// `tools [..]`
    Tools(Vec<ToolRef>, Span),
    /// `model NAME`: default for its nodes
    Model(Name, Span),
    /// `retry ..`: default for its nodes
    Retry(RetrySpec, Span),
    /// `timeout 30s`: default for its nodes
    Timeout(Duration, Span),
    /// `recursion_limit 50`
    RecursionLimit(Expr, Span),
    /// `on_error ..`: for nodes that have none
    OnError(Jumps, Span),
    /// `exit when EXPR`
    Exit(Expr, Span),
    /// `start -> a` or `start { when .. }`
    Start(Jumps, Span),
    /// `a -> b -> [c, d]`, `[a, b] -> c`
    Edge(Box<Edge>),
    /// `interrupt NAME before NODE { .. }`
    Interrupt(Box<StaticInterrupt>),
    /// `migrate { .. }`
    Migrate(Vec<Migration>, Span),
    /// A node; boxed, since it is by far the largest.
    Node(Box<Node>),
}

/// One step of an edge chain: `a -> b -> c` is two of them.
#[derive(Debug, Clone)]
pub struct Edge {
    /// One name, or several that are joined.
    pub from: Vec<Name>,
    /// Whether `from` was written as a list (a join, also of one member).
    pub join: bool,
    /// Where to.
    pub to: Jump,
    /// All of it.
    pub span: Span,
}

/// A field of a graph's state.
#[derive(Debug, Clone)]
pub struct StateField {
    /// Doc comment.
    pub doc: Doc,
    /// Word `in` before it.
    pub input: bool,
    /// Word `out` before it.
    pub output: bool,
    /// Word `persist` before it, where it stands.
    pub persist: Option<Span>,
    /// Word `ephemeral` before it, where it stands.
    pub ephemeral: Option<Span>,
    /// Word `untracked` before it, where it stands.
    pub untracked: Option<Span>,
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: TypeExpr,
    /// `via R`
    pub reducer: Option<ReducerRef>,
    /// `= EXPR`
    pub default: Option<Expr>,
    /// `based_on [..]`
    pub based_on: Option<BasedOn>,
    /// `@min(0)` and the like.
    pub attributes: Vec<super::ty::Attribute>,
    /// The whole declaration.
    pub span: Span,
}

/// `via append`, `via upsert(id)`
#[derive(Debug, Clone)]
pub struct ReducerRef {
    /// A built-in or declared reducer.
    pub name: Name,
    /// In parentheses: the key of `upsert`, the names of `barrier`.
    pub args: Vec<Name>,
    /// Name and arguments.
    pub span: Span,
}

/// `based_on [a, b keep] reset`
#[derive(Debug, Clone)]
pub struct BasedOn {
    /// Fields, each with whether `keep` follows it.
    pub fields: Vec<(Name, bool)>,
    /// Word `reset` after the list.
    pub reset: bool,
    /// All of it.
    pub span: Span,
}

/// `interrupt NAME before NODE { ask .. expect T }`
#[derive(Debug, Clone)]
pub struct StaticInterrupt {
    /// Its name.
    pub name: Name,
    /// `after`; otherwise `before`.
    pub after: bool,
    /// The node.
    pub node: Name,
    /// What it shows.
    pub ask: Option<Ask>,
    /// Type of the answer.
    pub expect: Option<TypeExpr>,
    /// Which calls its answer permits.
    pub permits: Vec<Permit>,
    /// Properties that are there already: the word given again, and where it stood first.
    pub twice: Vec<(Span, Span)>,
    /// The whole member.
    pub span: Span,
}

/// One line of a `migrate` block.
#[derive(Debug, Clone)]
pub enum Migration {
    /// `rename field old -> new`
    RenameField(Name, Name),
    /// `rename node old -> new`
    RenameNode(Name, Name),
    /// `drop field old`
    DropField(Name),
    /// `default field = EXPR`
    Default(Name, Expr),
}

/// A jump written as an edge's target has no update of its own.
impl From<Target> for Jump {
    fn from(target: Target) -> Self {
        let span = target.span;
        Jump {
            target,
            set: Vec::new(),
            emits: Vec::new(),
            span,
        }
    }
}
