//! A graph: its state and its nodes.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::IdVec;
use crate::expr::constraint::Constraints;
use crate::expr::ty::{RecordField, Type};
use crate::typed_id;
use crate::value::{List, Map, Value};

use super::error::Retry;
use super::flow::{GraphId, ReducerId, ToolId};
use super::jump::{EdgeKind, Emit, Jump, Route, SetItem, Target};
use super::narrow::Narrowed;
use super::node::{Cache, Persist, Require, Skip, Stop, Work};
use super::text::{Expr, Named, Place};

typed_id! {
    /// A field of a graph's state.
    FieldId
}
typed_id! {
    /// A node of a graph, in the order declared.
    NodeId
}
typed_id! {
    /// A join of a graph.
    JoinId
}

/// A graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Graph {
    /// Its name.
    pub name: String,
    /// Doc comment.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub doc: String,
    /// Constants that whoever starts a run gives; a called graph takes its caller's of the same name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<RecordField>,
    /// Which graph it is an instance of, and with which values; `None` where it has no parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<Instance>,
    /// State.
    pub fields: IdVec<FieldId, Field>,
    /// Names of a caller's nodes that it may go to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leaves: Vec<String>,
    /// The most that its nodes may use; `None` where it sets no bound of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<ToolId>>,
    /// Those of them that may be called with some arguments alone, here and in called graphs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub narrowed: Vec<Narrowed>,
    /// The entry.
    pub start: Route,
    /// Nodes in the order declared.
    pub nodes: IdVec<NodeId, Node>,
    /// `[a, b] -> c`
    #[serde(default, skip_serializing_if = "IdVec::is_empty")]
    pub joins: IdVec<JoinId, Join>,
    /// Conditions that end the graph where one of them holds after a super-step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exits: Vec<Expr>,
    /// What a thread of an earlier version of the graph has to change.
    #[serde(default, skip_serializing_if = "Migrate::is_empty")]
    pub migrate: Migrate,
    /// Most super-steps of a run that starts here; `None` for the run's own limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recursion_limit: Option<u32>,
    /// Where it is declared.
    pub at: Place,
}

impl Graph {
    /// Whether something of its state lasts from call to call of a node that keeps it so.
    pub fn outlives_call(&self, persist: Persist) -> bool {
        let mut fields = self.fields.iter();
        persist == Persist::Thread || fields.any(|field| field.outlives_call(persist))
    }

    /// The field of that name.
    pub fn field(&self, name: &str) -> Option<FieldId> {
        self.fields
            .entries()
            .find(|(_, field)| field.name == name)
            .map(|(id, _)| id)
    }

    /// The node of that name.
    pub fn node(&self, name: &str) -> Option<NodeId> {
        self.nodes
            .entries()
            .find(|(_, node)| node.name == name)
            .map(|(id, _)| id)
    }
}

/// What became of names that an earlier version of a graph had.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Migrate {
    /// Old names of fields, with the names that they have now.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, String>,
    /// Old names of nodes, with the names that they have now.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub nodes: BTreeMap<String, String>,
    /// Fields that are no more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<String>,
    /// Values of fields of which a thread has none, or none of their type.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub defaults: BTreeMap<String, serde_json::Value>,
}

impl Migrate {
    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Values of a graph's parameters: what `params` is in its expressions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Instance {
    /// Name of the graph with the parameters, in the flow's `parametric`.
    pub of: String,
    /// Every parameter and its value.
    pub params: BTreeMap<String, serde_json::Value>,
}

/// Who sees a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FieldMode {
    /// Private to the graph.
    Private,
    /// Given by the caller, read-only here.
    In,
    /// Given back to the caller.
    Out,
    /// Both.
    InOut,
}

impl FieldMode {
    /// Whether a caller gives it.
    pub fn is_in(self) -> bool {
        matches!(self, FieldMode::In | FieldMode::InOut)
    }

    /// Whether a caller gets it.
    pub fn is_out(self) -> bool {
        matches!(self, FieldMode::Out | FieldMode::InOut)
    }
}

/// A field of the state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Doc comment.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub doc: String,
    /// Its type.
    pub ty: Type,
    /// Who sees it.
    pub mode: FieldMode,
    /// How writes are put together.
    pub channel: Channel,
    /// First value as JSON; without one a nullable field begins as null, a gathering list or map
    /// empty, and any other has no value until it is written.
    #[serde(
        default,
        deserialize_with = "crate::value::written",
        skip_serializing_if = "Option::is_none"
    )]
    pub default: Option<serde_json::Value>,
    /// What its attributes ask of its values.
    #[serde(default, skip_serializing_if = "Constraints::is_empty")]
    pub constraints: Constraints,
    /// Whether its value lives with the thread; that of an `in out` field does without being said so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub persist: bool,
    /// Whether it is cleared after the super-step that follows a write.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ephemeral: bool,
    /// Whether it is left out of checkpoints.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub untracked: bool,
    /// What it is made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub based_on: Option<BasedOn>,
    /// Where it is declared.
    pub at: Place,
}

impl Field {
    /// Whether its value lives with the thread: a later run goes on with it, where the graph is the run's own.
    pub fn lives_with_thread(&self) -> bool {
        let passes = self.ephemeral || self.untracked;
        !passes && (self.persist || self.mode == FieldMode::InOut)
    }

    /// Whether a call of its graph goes on with the value that the call before it has left. What a caller gives it gives anew.
    pub fn outlives_call(&self, persist: Persist) -> bool {
        let passes = self.ephemeral || self.untracked || self.mode.is_in();
        !passes && (self.persist || persist == Persist::Thread)
    }
}

/// `based_on [a, b keep] reset`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BasedOn {
    /// Fields whose writes make it stale.
    pub on: Vec<FieldId>,
    /// Fields whose writes do not (`keep`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<FieldId>,
    /// Whether it goes back to its first value where it would become stale.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reset: bool,
}

/// How the writes to a field are put together: its reducer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    /// The one write of the step; two are an error.
    Last,
    /// The last write of the step in the fixed order.
    AnyLast,
    /// Elements are added to the end of a list.
    Append,
    /// Sum of numbers.
    Add,
    /// Least value.
    Min,
    /// Greatest value.
    Max,
    /// Logical and.
    And,
    /// Logical or.
    Or,
    /// Elements that the list lacks are added.
    Union,
    /// Entries of a map, the newer ones win.
    Merge,
    /// As `merge`, in nested maps too.
    DeepMerge,
    /// Records of a list, by a key field; a known key is replaced in place.
    Upsert {
        /// The field that is the key.
        key: String,
    },
    /// Messages by id: a known id is replaced, `remove(id)` takes one out.
    AddMessages,
    /// A list of names; counts as written when all have arrived.
    Barrier {
        /// The names that are waited for.
        names: Vec<String>,
    },
    /// A declared reducer.
    Own {
        /// Which.
        reducer: ReducerId,
    },
}

impl Channel {
    /// Whether several writes in one super-step are put together instead of refused.
    pub fn gathers(&self) -> bool {
        !matches!(self, Channel::Last)
    }

    /// Whether a list or map under it begins empty.
    pub fn begins_empty(&self) -> bool {
        matches!(
            self,
            Channel::Append
                | Channel::Union
                | Channel::Merge
                | Channel::DeepMerge
                | Channel::Upsert { .. }
                | Channel::AddMessages
                | Channel::Barrier { .. }
                | Channel::Own { .. }
        )
    }

    /// What a field of that type begins with where it has no default: null, or an empty list or map to gather in; `None` for no value.
    pub fn begins_with(&self, ty: &Type) -> Option<Value> {
        match ty {
            ty if ty.admits_null() => Some(Value::Null),
            Type::List(_) if self.begins_empty() => Some(Value::List(List::new())),
            Type::Map(_) if self.begins_empty() => Some(Value::Map(Map::new())),
            _ => None,
        }
    }
}

/// A node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Doc comment.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub doc: String,
    /// What it does.
    pub work: Work,
    /// Questions ahead of all that it does, and ahead of its way on, in the order written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stops: Vec<Stop>,
    /// Values that a send gives it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub input: Vec<RecordField>,
    /// When it does nothing, in the order written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skips: Vec<Skip>,
    /// `let` names that something ahead of the work uses, in the order in which they are computed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lets: Vec<Named>,
    /// What must hold before the work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requires: Vec<Require>,
    /// `let` names that an `ensure` or `permit` uses and that read what the work gives: computed with each reply or answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lets_within: Vec<Named>,
    /// `let` names that are computed behind the work, in order. One that is computed within it too is computed again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lets_behind: Vec<Named>,
    /// Writes after the work; all see the state before them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<SetItem>,
    /// Events, at the start of the work or at the end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub emits: Vec<Emit>,
    /// Where it goes when nothing jumped: its static edges or its `goto`. `None` where it only
    /// feeds joins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Route>,
    /// Joins that it arrives at when nothing jumped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joins: Vec<JoinId>,
    /// Every place that it may go to, by the name a computed target, a tool or a leaving subgraph uses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ends: Vec<End>,
    /// What is tried again, the graph's default included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
    /// Longest time of one visit, in milliseconds, the graph's default included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Where an error leads, the graph's default included. Sees `error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_error: Option<Route>,
    /// How often it may be entered in one run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_visits: Option<MaxVisits>,
    /// Whether it waits until nothing else is left.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub defer: bool,
    /// Whether the result of its work is used again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<Cache>,
    /// Its tools that may be called with some arguments alone, the graph's `where` included.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub narrowed: Vec<Narrowed>,
    /// Words for streams and viewers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Where it is declared.
    pub at: Place,
}

impl Node {
    /// Every jump that is written on it.
    pub fn jumps(&self) -> impl Iterator<Item = (EdgeKind, &Jump)> {
        let next = self.next.iter().flat_map(|route| {
            let kind = match route {
                Route::Always(_) => EdgeKind::Edge,
                Route::Arms(_) => EdgeKind::Goto,
            };
            route.jumps().map(move |jump| (kind, jump))
        });
        let timeout = match &self.work {
            Work::Interrupt { timeout, .. } => timeout.as_ref(),
            _ => None,
        };
        let skips = self.skips.iter().filter_map(|skip| skip.to.as_ref());
        let errors = self.on_error.iter().flat_map(Route::jumps);
        next.chain(skips.map(|jump| (EdgeKind::Skip, jump)))
            .chain(errors.map(|jump| (EdgeKind::Error, jump)))
            .chain(
                self.max_visits
                    .iter()
                    .map(|max| (EdgeKind::Visits, &max.to)),
            )
            .chain(timeout.map(|timeout| (EdgeKind::Timeout, &timeout.to)))
    }

    /// The place that its `ends` call so.
    pub fn end(&self, name: &str) -> Option<&Target> {
        let end = self.ends.iter().find(|end| end.name == name)?;
        Some(&end.to)
    }

    /// The graph that it calls.
    pub fn called(&self) -> Option<GraphId> {
        match self.work {
            Work::Subgraph { graph, .. } => Some(graph),
            _ => None,
        }
    }
}

/// A name that a node's jumps may use and what it leads to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct End {
    /// The name: a member of a computed target's enum, a tool's target, a name that a subgraph leaves by.
    pub name: String,
    /// `Node`, `End` or `Parent`.
    pub to: Target,
}

/// `max_visits N -> TARGET`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MaxVisits {
    /// Entries within one run.
    pub limit: u32,
    /// Where the next entry goes instead.
    pub to: Jump,
}

/// `[a, b] -> c`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Join {
    /// Nodes that must arrive.
    pub members: Vec<NodeId>,
    /// Where it goes then.
    pub to: Jump,
}
