//! Where a run goes next, and what it writes and sends on the way.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::flow::EventId;
use super::graph::{End, FieldId, NodeId};
use super::text::{Expr, Named, Place};

/// A place to go to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// A node of this graph. A `branch` is followed at once.
    Node(NodeId),
    /// This path ends.
    End,
    /// The run fails.
    Fail {
        /// A text; a general one where there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<Expr>,
        /// Where it is written.
        at: Place,
    },
    /// A name computed at run time, one of `table`.
    Computed {
        /// Gives the name.
        name: Expr,
        /// All names it may give.
        table: Vec<End>,
    },
    /// One task an element.
    Each {
        /// Loop name, in scope of `with`.
        var: String,
        /// A list.
        items: Expr,
        /// The node that gets the tasks.
        worker: NodeId,
        /// Values of its `input`.
        with: Vec<Named>,
        /// Where the fan-out as a whole leads, behind all of its tasks or in their place: nodes, or the end.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        then: Vec<Target>,
    },
    /// Leaves this graph by that name.
    Parent(String),
    /// In a tool's body: a name that the calling node's `ends` resolve.
    Named(String),
    /// In a tool's body: one task an element, to a node by a name that the calling node's `ends` resolve.
    NamedEach {
        /// Loop name, in scope of `with`.
        var: String,
        /// A list.
        items: Expr,
        /// The name of the node that gets the tasks.
        worker: String,
        /// Values of its `input`.
        with: Vec<Named>,
        /// Where the fan-out as a whole leads: names that the calling node's `ends` resolve, or the end.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        then: Vec<Target>,
    },
}

impl Target {
    /// Where the fan-out as a whole leads, where it is one.
    pub fn then(&self) -> &[Target] {
        match self {
            Target::Each { then, .. } | Target::NamedEach { then, .. } => then,
            _ => &[],
        }
    }
}

/// Targets with an update, as one command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Jump {
    /// Where to; several run in the same super-step.
    pub to: Vec<Target>,
    /// Writes made with it. In a tool's body a field is an index into the body's `fields`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<SetItem>,
    /// Events sent with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub emits: Vec<Emit>,
}

/// One jump, or the first whose condition holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Route {
    /// Without a condition.
    Always(Jump),
    /// The first arm that holds. The compiler has shown that one does.
    Arms(Vec<Arm>),
}

impl Route {
    /// Its jumps, of which one is taken.
    pub fn jumps(&self) -> impl Iterator<Item = &Jump> {
        let (always, arms) = match self {
            Route::Always(jump) => (Some(jump), &[][..]),
            Route::Arms(arms) => (None, arms.as_slice()),
        };
        always.into_iter().chain(arms.iter().map(|arm| &arm.jump))
    }
}

/// What makes a node take a jump. Tools, called graphs and `exit when` jump without one that is written on the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EdgeKind {
    /// A static edge, `start` included.
    Edge,
    /// Its `goto`, one arm of it.
    Goto,
    /// `skip when .. -> target`
    Skip,
    /// A tool that jumps.
    Tool,
    /// A subgraph that leaves by a name.
    Child,
    /// `on_error`
    Error,
    /// `max_visits`: taken instead of entering the node.
    Visits,
    /// The timeout of an interrupt.
    Timeout,
    /// `exit when` of the graph: taken instead of all that a super-step leads to.
    Exit,
}

impl EdgeKind {
    /// Whether the node has done its work where the jump is made.
    pub fn is_own_way(self) -> bool {
        matches!(self, EdgeKind::Edge | EdgeKind::Goto)
    }
}

/// `when cond -> target` or `else -> target`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Arm {
    /// `None` for `else`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Expr>,
    /// Where to.
    pub jump: Jump,
}

/// `field: expr` or `field := expr`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SetItem {
    /// The field.
    pub field: FieldId,
    /// `:=`, past the reducer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replace: bool,
    /// The value.
    pub value: Expr,
}

/// `emit X { .. } on start when EXPR`, `stream as X { .. } when EXPR`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Emit {
    /// Which event.
    pub event: EventId,
    /// Payload.
    pub fields: Vec<Named>,
    /// Before the work instead of after it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub on_start: bool,
    /// Only where it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Expr>,
}
