//! The contract between the compiler and the runtime: plain, versioned data.
//!
//! Everything is resolved: fields, nodes, tools, models, reducers, events and graphs are indices.
//! Expressions and templates stay text (with their place in the source), so that a person can read
//! an IR in a review; the runtime compiles them to slots once, when it makes its plan. Tools stand
//! apart from graphs: a tool's body names the state fields and nodes of whichever graph calls it,
//! so there, and only there, fields and nodes are names.
//!
//! The same source gives the same bytes. No spans are needed to run; places are carried for errors.
//!
//! Reading order: [`flow`] (all of it), [`graph`] (state and nodes), [`node`] (what a node does),
//! [`jump`] (where it goes), [`narrow`] (`where` on tools), [`error`] (kinds of error and retry), [`text`] (expressions, templates, places),
//! [`memory`] (names in long-term memory).

pub mod diff;
pub mod error;
mod finish;
pub mod flow;
pub mod graph;
pub mod jump;
pub mod memory;
pub mod narrow;
pub mod node;
pub mod text;
pub mod valid;
mod version;

pub use error::{ErrorKind, Retry};
pub use finish::FinishReason;
pub use flow::{
    Event, EventId, Flow, GraphId, Model, ModelId, Reducer, ReducerId, Tool, ToolBody, ToolId,
};
pub use graph::{Channel, Field, FieldId, FieldMode, Graph, Join, JoinId, Node, NodeId};
pub use jump::{Arm, EdgeKind, Emit, Jump, Route, SetItem, Target};
pub use node::{Ask, ModelCall, Work};
pub use text::{Expr, Place, Template};

/// The JSON Schema of the IR.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Flow).to_value()
}
