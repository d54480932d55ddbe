//! The program: what the files say, with every name resolved to an id.
//!
//! Shape: types are [`Type`]s of one [`TypeTable`]; fields, nodes, tools, models, events and graphs
//! are ids of the vectors here. Expressions and templates are as written (the checker types them),
//! and every name keeps its span, so that a rule can point at it.
//!
//! Invariant: a reference that is `None` (or [`TargetKind::Unknown`], or [`Type::Error`]) was
//! reported when it was resolved; later stages pass over it in silence.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use thin_vec::ThinVec;

use crate::ast::expr::Expr;
use crate::ast::node::TemplateText;
use crate::ast::{Doc, Name, item};
use crate::base::{FileId, IdVec, Span, Spanned};
use crate::expr::constraint::Constraints;
use crate::expr::ty::{EnumId, RecordId, Type, TypeTable};
use crate::ir::{ErrorKind, EventId, GraphId, ModelId, ReducerId, Retry, ToolId};
use crate::typed_id;

pub use super::graph::{
    Arg, BasedOn, Basis, Bound, Context, Declared, Field, Graph, Instance, Join, Migrate,
    NewDefault,
};
pub use super::mark::{Marks, Sink};
pub use super::node::{
    Ask, Binding, Cache, End, Ends, InterruptTimeout, MaxVisits, ModelCall, Node, Pass, Permit,
    PromptUse, Skip, Stop, Words, Work,
};
pub use super::target::{Arm, Each, Emit, Jump, Route, SetItem, Target, TargetKind, Then};

/// A whole flow: the first file and all it imports, directly or not.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// Records and enums. Defaults of fields are in it already, as JSON.
    pub types: TypeTable,
    /// The declared records (built-in and synthetic ones have no entry).
    pub records: Vec<RecordDecl>,
    /// The declared enums.
    pub enums: Vec<EnumDecl>,
    /// Events.
    pub events: IdVec<EventId, Event>,
    /// Declared reducers.
    pub reducers: IdVec<ReducerId, Reducer>,
    /// Models.
    pub models: IdVec<ModelId, Model>,
    /// Tools.
    pub tools: IdVec<ToolId, Tool>,
    /// Named prompts.
    pub prompts: IdVec<PromptId, Prompt>,
    /// Every `where` on a tool, also in a toolset that nothing uses.
    pub narrowings: IdVec<NarrowingId, Narrowing>,
    /// Graphs: those of the first file first.
    pub graphs: IdVec<GraphId, Graph>,
    /// Declared instances of graphs with parameters.
    pub instances: Vec<InstanceDecl>,
    /// The graph that runs where none is named: the only one of the first file that no other calls.
    pub entry: Option<GraphId>,
    /// Fields of records that are marked `@untrusted @private @secret`, by record and name. Copies that
    /// imports made are in it under their own ids.
    pub marked: BTreeMap<(RecordId, String), Marks>,
    /// What each file imports beside types, by [`FileId`] of its source.
    pub modules: Vec<Module>,
    /// The files as written, for rules that go by what stands there and not by what it means.
    pub trees: Vec<Tree>,
    /// Each use of a name of a file's top level, and of a parameter of a graph.
    pub references: BTreeSet<Reference>,
}

/// A use of a name of a file's top level, or of a parameter of a graph. Of an imported name each use refers to the import, and that to the declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    /// The name where it is declared or imported.
    pub to: Span,
    /// The name where it is used.
    pub at: Span,
}

/// A file as written.
#[derive(Debug, Clone)]
pub struct Tree {
    /// The file.
    pub file: FileId,
    /// Whether it is part of the standard library.
    pub standard: bool,
    /// Its items.
    pub items: Vec<item::Item>,
    /// Pieces of it that did not parse.
    pub damaged: Vec<Span>,
}

impl Program {
    /// Whether a file is part of the standard library.
    pub fn is_standard(&self, file: FileId) -> bool {
        let mut trees = self.trees.iter();
        trees.any(|tree| tree.file == file && tree.standard)
    }

    /// Names of the standard-library functions that a file's expressions may call
    /// ([`Scope::functions`](crate::expr::Scope)).
    pub fn functions(&self, file: FileId) -> Arc<Vec<String>> {
        self.modules
            .iter()
            .find(|module| module.file == file)
            .map(|module| module.functions.clone())
            .unwrap_or_default()
    }

    /// Where a name is used that is declared or imported there.
    pub fn references_to(&self, to: Span) -> impl Iterator<Item = Span> {
        let at = Span::default();
        let all = self.references.range(Reference { to, at }..);
        all.take_while(move |found| found.to == to)
            .map(|found| found.at)
    }

    /// The graphs that another graph calls.
    pub fn called_by_others(&self) -> BTreeSet<GraphId> {
        let calls = self.graphs.entries().flat_map(|(caller, graph)| {
            let called = graph.nodes.iter().filter_map(Node::called);
            let called = called.map(|(called, _)| called);
            called.filter(move |called| *called != caller)
        });
        calls.collect()
    }
}

/// What holds for all expressions of one file.
#[derive(Debug, Clone)]
pub struct Module {
    /// The file.
    pub file: FileId,
    /// Imported standard-library functions.
    pub functions: Arc<Vec<String>>,
}

/// A field of a record, event or `input` block, or a parameter of a tool or reducer.
#[derive(Debug, Clone)]
pub struct Param {
    /// Its name.
    pub name: Name,
    /// Doc comment.
    pub doc: Doc,
    /// Its type, at the place of the type expression.
    pub ty: Spanned<Type>,
    /// Default as written; a constant of the type.
    pub default: Option<Expr>,
    /// What its attributes ask of values from outside.
    pub constraints: Constraints,
    /// `@untrusted @private @secret`, on fields of records.
    pub marks: Marks,
    /// `@sink`, on parameters of tools.
    pub sink: Option<Sink>,
    /// The whole declaration.
    pub span: Span,
}

/// Where a record is declared. Its types are in the table under `id`.
#[derive(Debug, Clone)]
pub struct RecordDecl {
    /// Its entry of [`Program::types`].
    pub id: RecordId,
    /// Its name.
    pub name: Name,
    /// Fields, as many and in the same order as in the table.
    pub fields: Vec<Param>,
    /// The whole item.
    pub span: Span,
}

/// Where an enum is declared. Its members are in the table under `id`.
#[derive(Debug, Clone)]
pub struct EnumDecl {
    /// Its entry of [`Program::types`].
    pub id: EnumId,
    /// Its name.
    pub name: Name,
    /// Members, as many and in the same order as in the table.
    pub members: Vec<Name>,
    /// The whole item.
    pub span: Span,
}

/// `graph Mode1 = Chat(selection: Selection.manual)`
#[derive(Debug, Clone)]
pub struct InstanceDecl {
    /// Its name.
    pub name: Name,
    /// Doc comment.
    pub doc: Doc,
    /// The file it stands in.
    pub file: FileId,
    /// The graph that it is an instance of.
    pub base: Option<GraphId>,
    /// That graph's name.
    pub base_name: Name,
    /// Values of parameters, as written.
    pub args: Vec<item::NamedArg>,
    /// Whether a part of it did not parse, which may be a value that it lacks.
    pub damaged: bool,
    /// The whole item.
    pub span: Span,
}

/// A custom event.
#[derive(Debug, Clone)]
pub struct Event {
    /// Its name, dots included.
    pub name: Name,
    /// Doc comment.
    pub doc: Doc,
    /// Payload.
    pub fields: Vec<Param>,
}

/// A declared reducer.
#[derive(Debug, Clone)]
pub struct Reducer {
    /// Its name.
    pub name: Name,
    /// The value so far.
    pub old: Param,
    /// The value written.
    pub new: Param,
    /// Type of its result, which is that of `old`.
    pub returns: Spanned<Type>,
    /// What it computes.
    pub body: Expr,
}

/// A model by name, all settings checked.
#[derive(Debug, Clone)]
pub struct Model {
    /// Its name.
    pub name: Name,
    /// `provider/model` as written.
    pub reference: Name,
    /// Settings, in the form that the IR has. `fallback` is in [`Model::fallback`] with its spans.
    pub settings: ModelSettings,
    /// Models tried in turn when this one has failed for good.
    pub fallback: Vec<Spanned<ModelId>>,
    /// The whole item.
    pub span: Span,
}

/// Settings of a model. What each means: [`ir::Model`](crate::ir::Model).
#[derive(Debug, Clone, Default)]
pub struct ModelSettings {
    /// 0 to 2.
    pub temperature: Option<f64>,
    /// 0 to 1.
    pub top_p: Option<f64>,
    /// Tokens, at least 1.
    pub max_tokens: Option<u32>,
    /// Tokens, at least 1.
    pub thinking_budget: Option<u32>,
    /// `low`, `medium`, `high` or another word of the provider.
    pub reasoning_effort: Option<String>,
    /// Seed for sampling.
    pub seed: Option<i64>,
    /// Milliseconds, at least 1.
    pub timeout_ms: Option<u64>,
    /// What is tried again.
    pub retry: Option<Retry>,
    /// Kinds of errors after which another model is asked.
    pub fallback_on: Option<Vec<ErrorKind>>,
}

typed_id! {
    /// A named prompt of a program.
    PromptId
}

/// A named text with parameters.
#[derive(Debug, Clone)]
pub struct Prompt {
    /// Its name.
    pub name: Name,
    /// Doc comment.
    pub doc: Doc,
    /// The names in its text: nothing else is in scope of it.
    pub params: Vec<Param>,
    /// The text; `None` where it can't be had, which is reported.
    pub text: Option<TemplateText>,
    /// The whole item.
    pub span: Span,
}

/// A tool.
#[derive(Debug, Clone)]
pub struct Tool {
    /// Its name.
    pub name: Name,
    /// Doc comment: what the model reads.
    pub doc: Doc,
    /// Parameters.
    pub params: Vec<Param>,
    /// Result; `None` where it gives nothing back.
    pub returns: Option<Spanned<Type>>,
    /// `@effect(..)`
    pub effect: crate::ir::flow::ToolEffect,
    /// The place of `@effect(..)`; `None` where it is not said and it counts as reading.
    pub effect_span: Option<Span>,
    /// `@approve`: a person is asked before each call.
    pub approve: Option<Span>,
    /// `@unattended`: nobody has to be asked before a destructive call.
    pub unattended: Option<Span>,
    /// `@untrusted @private @secret`, of its result.
    pub marks: Marks,
    /// `@on_error(value)`: its result in place of an error; a constant of the result's type.
    pub on_error: Option<Expr>,
    /// `@idempotent`, `@idempotent(false)`
    pub idempotent: Option<bool>,
    /// `@timeout(10s)`, in milliseconds.
    pub timeout_ms: Option<u64>,
    /// `@progress(EVENT)`: what it reports while it works.
    pub progress: Option<EventId>,
    /// The module of the standard library that it is of.
    pub module: Option<String>,
    /// Body; a tool without one is bound in `graphc.yaml`.
    pub body: Option<ToolBody>,
    /// The whole item.
    pub span: Span,
}

impl Tool {
    /// Whether a call of it asks a person, unless somebody has permitted it.
    pub fn asks(&self) -> bool {
        let destroys = self.effect == crate::ir::flow::ToolEffect::Destructive;
        self.approve.is_some() || (destroys && self.unattended.is_none())
    }
}

/// What a tool with a body does, in this order. Fields and nodes are names here: they are those of
/// whichever graph calls the tool.
#[derive(Debug, Clone)]
pub struct ToolBody {
    /// Fields of the calling graph's state that it reads, in scope by their bare names.
    pub reads: Vec<Param>,
    /// `let` names in order.
    pub lets: Vec<item::Let>,
    /// What must hold.
    pub requires: Vec<super::node::Require>,
    /// Fields of the calling graph's state that it writes.
    pub set: ThinVec<SetItem>,
    /// Events it sends.
    pub emits: Vec<Emit>,
    /// Its jump. Targets are those that name nodes of whichever graph calls the tool ([`TargetKind::Named`],
    /// [`TargetKind::NamedEach`]), `Computed`, `Parent`, `End` or `Fail`; fields of its `set`s are names as well.
    pub goto: Option<Route>,
    /// Its result.
    pub returns: Option<Expr>,
}

impl ToolBody {
    /// What its jumps write with them, in order.
    pub fn jump_sets(&self) -> impl Iterator<Item = &SetItem> {
        self.goto
            .iter()
            .flat_map(Route::jumps)
            .flat_map(|jump| &jump.set)
    }

    /// All that it may write, its jumps included.
    pub fn writes(&self) -> impl Iterator<Item = &SetItem> {
        self.set.iter().chain(self.jump_sets())
    }

    /// Fields that it may write.
    pub fn written(&self) -> impl Iterator<Item = &Name> {
        self.writes().map(|item| &item.name)
    }

    /// Names of the calling graph's nodes (or `end`) that it may jump to, each once, with the first place.
    /// Those that it computes are in its types alone.
    pub fn jumps(&self) -> Vec<Name> {
        let mut names: Vec<Name> = Vec::new();
        for target in self.goto.iter().flat_map(Route::targets) {
            let name = match &target.kind {
                TargetKind::Named(name) => name.clone(),
                TargetKind::NamedEach(each) => each.name.clone(),
                TargetKind::End => Name::new("end".to_owned(), target.span),
                _ => continue,
            };
            if names.iter().all(|known| known.node != name.node) {
                names.push(name);
            }
        }
        names
    }
}

/// A tool in a `tools [..]` list.
#[derive(Debug, Clone)]
pub struct ToolUse {
    /// Which tool.
    pub tool: ToolId,
    /// Where it is named: itself, or the toolset that holds it.
    pub span: Span,
    /// What its arguments are narrowed by, all of it: those of the toolsets that it comes through first.
    pub narrowed: Vec<NarrowingId>,
    /// Arguments that the flow fixes: a model neither sees nor gives them.
    pub fixed: Vec<item::NamedArg>,
}

typed_id! {
    /// A `where` of a program.
    NarrowingId
}

/// `where EXPR` behind a tool or a toolset.
#[derive(Debug, Clone)]
pub struct Narrowing {
    /// What must hold of the arguments.
    pub condition: Expr,
    /// The tool or toolset before it.
    pub name: Name,
    /// The tool, or the tools of the toolset, with what they are narrowed by already.
    pub tools: Vec<ToolUse>,
}

/// A `tools [..]` list, toolsets replaced by their members, each tool once.
#[derive(Debug, Clone)]
pub struct ToolList {
    /// Tools in order.
    pub tools: Vec<ToolUse>,
    /// The whole list.
    pub span: Span,
    /// Whether an entry of it names nothing, so that a tool may be missing that was meant.
    pub broken: bool,
}

impl ToolList {
    /// The entry of the tool.
    pub fn find(&self, tool: ToolId) -> Option<&ToolUse> {
        self.tools.iter().find(|used| used.tool == tool)
    }

    /// Whether the tool is in it.
    pub fn has(&self, tool: ToolId) -> bool {
        self.tools.iter().any(|used| used.tool == tool)
    }
}
