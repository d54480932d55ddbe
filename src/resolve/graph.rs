//! Graphs of a resolved program.

use std::collections::BTreeMap;

use crate::ast::expr::Expr;
use crate::ast::{Doc, Name};
use crate::base::id::Id;
use crate::base::{FileId, IdVec, NameIndex, Span, Spanned};
use crate::expr::constraint::Constraints;
use crate::expr::ty::{RecordId, Type};
use crate::ir::{Channel, FieldId, FieldMode, GraphId, JoinId, ModelId, NodeId, Retry};

use super::mark::Marks;
use super::node::{Node, Work};
use super::program::{Param, ToolList};
use super::target::{Jump, Route};

/// A graph.
#[derive(Debug, Clone)]
pub struct Graph {
    /// Its name.
    pub name: Name,
    /// Doc comment.
    pub doc: Doc,
    /// The file it stands in.
    pub file: FileId,
    /// Parameters, in order.
    pub params: Vec<Param>,
    /// The record of its parameters: type of `params` in its expressions. `None` where it has none.
    pub params_record: Option<RecordId>,
    /// What stands for those of its parameters that are no values: models, toolsets, prompts, graphs and types. Each list of
    /// them makes a graph of its own.
    pub bound: Vec<Bound>,
    /// Whether something that stands for such a parameter is not known, since nothing gives it: then it is no part of what runs.
    pub open: bool,
    /// Those of its parameters that are no values and that nothing in it uses.
    pub unused_params: Vec<Name>,
    /// Which instance it is. What the resolver gives has none: the checker makes instances.
    pub instance: Option<Instance>,
    /// Whether a part of it is lost: it did not parse, or an edge names no node. Rules about what
    /// is missing in it (an edge, a write) would report what is only lost, and pass over it.
    pub broken: bool,
    /// Names of a caller's nodes that it may go to.
    pub leaves: Vec<Name>,
    /// `tools [..]`: the most that its nodes may use.
    pub tools: Option<ToolList>,
    /// `context { .. }`, where it is written.
    pub context: Option<Context>,
    /// State.
    pub fields: IdVec<FieldId, Field>,
    /// The record of its `out` fields: type of `result` in a node that calls it.
    pub result: RecordId,
    /// The entry; `None` where none is written (for the checker to report).
    pub start: Option<Route>,
    /// Nodes in the order declared.
    pub nodes: IdVec<NodeId, Node>,
    /// `[a, b] -> c`
    pub joins: IdVec<JoinId, Join>,
    /// Statements `a -> b`, by the place of the target: the text that goes with one that is taken out.
    pub plain_edges: BTreeMap<Span, Span>,
    /// `recursion_limit 50`, with the place of the property.
    pub recursion_limit: Option<Spanned<u32>>,
    /// `recursion_limit params.x`: each instance has its own limit.
    pub recursion_by: Option<Expr>,
    /// Default of its `llm` and `agent` nodes, which have it already where they name none.
    pub model: Option<Spanned<ModelId>>,
    /// Default of its nodes that call a model or a tool, which have it already where they have none.
    pub retry: Option<Retry>,
    /// Default of the same nodes, in milliseconds.
    pub timeout_ms: Option<u64>,
    /// Where `timeout` is written.
    pub timeout_at: Option<Span>,
    /// Where `retry` is written.
    pub retry_at: Option<Span>,
    /// `exit when ..`: where one holds after a super-step, the graph ends.
    pub exits: Vec<Expr>,
    /// What a thread of an earlier version of the graph has to change.
    pub migrate: Migrate,
    /// Where an error of a node leads that has no `on_error` of its own.
    pub on_error: Option<Route>,
    /// The whole item.
    pub span: Span,
    /// Where each name is.
    pub index: GraphIndex,
}

/// A parameter that is no value, with what stands for it.
#[derive(Debug, Clone)]
pub struct Bound {
    /// The parameter.
    pub param: String,
    /// The name of the item, as it was given; `?` where it is not known.
    pub item: String,
    /// How it is declared.
    pub written: ItemParam,
}

/// How a parameter that is no value is declared.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemParam {
    /// Where it says what it takes.
    pub takes: Span,
    /// Where it says what it is when nothing is given.
    pub default: Option<Span>,
    /// The fields that a graph must have which is given for it.
    pub fields: Vec<(FieldMode, String)>,
}

impl Graph {
    /// The fields by which a node exchanges values with a graph that is a parameter and not known.
    pub fn fields_of_unknown(&self, node: &Node) -> &[(FieldMode, String)] {
        let Work::Subgraph {
            graph: None, name, ..
        } = &node.work
        else {
            return &[];
        };
        let param = self.bound.iter().find(|bound| bound.param == name.node);
        param.map_or(&[], |param| &param.written.fields)
    }
}

/// A graph with values for its parameters.
#[derive(Debug, Clone)]
pub struct Instance {
    /// The graph with parameters, in the program that the resolver gave.
    pub of: GraphId,
    /// Its own name: the declared one, else the graph's with the values, as in `Chat(auto: true)`.
    pub name: String,
    /// Whether it is declared: `graph NAME = ..`
    pub declared: Option<Declared>,
    /// Whether an item that it is made with is not known.
    pub open: bool,
    /// Values in the order of the parameters; `None` where one is not known, which is reported or no
    /// instance gives it.
    pub args: Vec<Option<Arg>>,
}

/// Where an instance is declared.
#[derive(Debug, Clone)]
pub struct Declared {
    /// Its name.
    pub name: Name,
    /// Its own doc comment.
    pub doc: Doc,
}

/// The value of a parameter in an instance.
#[derive(Debug, Clone, PartialEq)]
pub struct Arg {
    /// The value, as a default of the type would be.
    pub value: serde_json::Value,
    /// Where it is written: the argument, or the default.
    pub span: Span,
}

impl Instance {
    /// Whether the value of every parameter is known.
    pub fn is_whole(&self) -> bool {
        !self.open && self.args.iter().all(Option::is_some)
    }
}

/// Where the names of a graph's nodes and fields are.
#[derive(Debug, Clone, Default)]
pub struct GraphIndex {
    nodes: NameIndex,
    fields: NameIndex,
}

impl Graph {
    /// The node of that name.
    pub fn node(&self, name: &str) -> Option<NodeId> {
        let named = |at| {
            self.nodes
                .get(Id::from_index(at))
                .map_or("", |n| &n.name.node)
        };
        let at = self.index.nodes.find(name, self.nodes.len(), named)?;
        Some(Id::from_index(at))
    }

    /// The field of that name.
    pub fn field(&self, name: &str) -> Option<FieldId> {
        let named = |at| {
            self.fields
                .get(Id::from_index(at))
                .map_or("", |f| &f.name.node)
        };
        let at = self.index.fields.find(name, self.fields.len(), named)?;
        Some(Id::from_index(at))
    }

    /// Its name, or that of the instance which it is.
    pub fn shown_name(&self) -> &str {
        let instance = self.instance.as_ref();
        instance.map_or(&self.name.node, |instance| &instance.name)
    }

    /// The value of a parameter in this instance.
    pub fn param(&self, name: &str) -> Option<&Arg> {
        let at = self
            .params
            .iter()
            .position(|param| param.name.node == name)?;
        self.instance.as_ref()?.args.get(at)?.as_ref()
    }

    /// Where an error of the node leads: its own `on_error`, else the graph's.
    ///
    /// The graph's does not serve a `branch` (whose conditions fail in the node that is followed by
    /// it) nor a node that it leads to itself, which would run in a cycle.
    pub fn on_error_of(&self, id: NodeId) -> Option<&Route> {
        let node = self.nodes.get(id)?;
        let own = node.on_error.as_deref();
        own.or_else(|| self.inherited_by(id))
    }

    /// The graph's `on_error` where it serves the node: one without its own that is none of its targets.
    pub fn inherited_by(&self, id: NodeId) -> Option<&Route> {
        let (node, route) = (self.nodes.get(id)?, self.on_error.as_ref()?);
        let target = || route.targets().any(|target| target.node() == Some(id));
        let branch = matches!(node.work, super::node::Work::Branch);
        (node.on_error.is_none() && !branch && !target()).then_some(route)
    }
}

/// A field of a graph's state.
#[derive(Debug, Clone)]
pub struct Field {
    /// Its name.
    pub name: Name,
    /// Doc comment.
    pub doc: Doc,
    /// Its type.
    pub ty: Spanned<Type>,
    /// Who sees it.
    pub mode: FieldMode,
    /// Its reducer; [`Channel::Last`] also where the reducer's name is unknown.
    pub channel: Channel,
    /// `via R`, where it is written.
    pub via: Option<Span>,
    /// Whether that is wrong, and reported: then nobody knows what a write takes, nor how two go together.
    pub via_wrong: bool,
    /// Default as written; a constant of the type.
    pub default: Option<Expr>,
    /// What its attributes ask of its values.
    pub constraints: Constraints,
    /// Word `persist`, where it stands: its value lives with the thread.
    pub persist: Option<Span>,
    /// Word `ephemeral`, where it stands: cleared after the next super-step.
    pub ephemeral: Option<Span>,
    /// Word `untracked`, where it stands: never in a checkpoint.
    pub untracked: Option<Span>,
    /// `based_on [..]`
    pub based_on: Option<BasedOn>,
    /// Names of the fields that a write to this one resets: those based on it, directly or not, that say `reset`.
    pub resets: Vec<String>,
    /// `@untrusted @private @secret`
    pub marks: Marks,
    /// The whole declaration.
    pub span: Span,
}

/// `based_on [a, b keep] reset`
#[derive(Debug, Clone)]
pub struct BasedOn {
    /// The fields that it is made from, each once.
    pub on: Vec<Basis>,
    /// Whether it goes back to its first value where it would become stale.
    pub reset: bool,
    /// All of it.
    pub span: Span,
}

/// An entry of `based_on`.
#[derive(Debug, Clone)]
pub struct Basis {
    /// The field.
    pub field: Option<FieldId>,
    /// Its name.
    pub name: Name,
    /// Word `keep` behind it: its writes make nothing stale.
    pub keep: bool,
}

/// `context { .. }`: constants that whoever starts a run gives.
#[derive(Debug, Clone)]
pub struct Context {
    /// Its fields.
    pub fields: Vec<Param>,
    /// The record of them: type of `context` in expressions.
    pub record: RecordId,
    /// The whole block.
    pub span: Span,
}

/// `migrate { .. }`: what became of names that an earlier version of the graph had.
#[derive(Debug, Clone, Default)]
pub struct Migrate {
    /// `rename field old -> new`
    pub fields: Vec<(Name, Name)>,
    /// `rename node old -> new`
    pub nodes: Vec<(Name, Name)>,
    /// `drop field old`
    pub dropped: Vec<Name>,
    /// `default field = EXPR`
    pub defaults: Vec<NewDefault>,
}

/// `default field = EXPR` of a `migrate` block.
#[derive(Debug, Clone)]
pub struct NewDefault {
    /// The field.
    pub field: FieldId,
    /// Its name.
    pub name: Name,
    /// What a thread gets that has no value for it; a constant of its type.
    pub value: Expr,
}

/// `[a, b] -> c`
#[derive(Debug, Clone)]
pub struct Join {
    /// Nodes that must arrive, each with the place of its name.
    pub members: Vec<Spanned<NodeId>>,
    /// Where it goes then.
    pub to: Jump,
    /// All of it.
    pub span: Span,
}
