//! A file and its top-level items.

use crate::base::Span;

use super::expr::Expr;
use super::graph::Graph;
use super::node::{Emit, Jumps, RetrySpec, SetItem, Template};
use super::ty::{Attribute, Field, TypeExpr};
use super::{Doc, Name};

/// One `.graph` file.
#[derive(Debug, Clone, Default)]
pub struct File {
    /// `//!` lines at the top.
    pub doc: Doc,
    /// Items in the order written. Those that did not parse are left out (and reported).
    pub items: Vec<Item>,
    /// Pieces of it that did not parse: items, members, properties, entries. What they were meant to say is not known.
    pub damaged: Vec<Span>,
}

/// A top-level item.
#[derive(Debug, Clone)]
pub enum Item {
    /// `import { A } from "x"`
    Import(Import),
    /// `type Doc { .. }` or `type Key = string | int`
    Type(TypeDecl),
    /// `enum Status { a, b }`
    Enum(EnumDecl),
    /// `reducer merge_docs(old: T, new: U) -> T = expr`
    Reducer(ReducerDecl),
    /// `event changeset.created { .. }`
    Event(EventDecl),
    /// `model writer = "provider/name" { .. }`
    Model(ModelDecl),
    /// `tool read_docs(..) -> T { .. }`
    Tool(ToolDecl),
    /// `toolset t = [a, b where ..]`
    Toolset(ToolsetDecl),
    /// `retry patient = { attempts 5 }`
    Retry(RetryDecl),
    /// `prompt greet(name: string) = """.."""`
    Prompt(PromptDecl),
    /// `graph G(..) leaves [..] { .. }`; boxed, since it is by far the largest
    Graph(Box<Graph>),
    /// `graph Mode1 = Chat(selection: Selection.manual)`
    Instance(InstanceDecl),
    /// `function unified_diff(old: string, new: string) -> string`: a function that the binary provides.
    /// Only the standard library may declare one.
    Function(FunctionDecl),
}

impl Item {
    /// The name that it declares; `None` for an import.
    pub fn name(&self) -> Option<&Name> {
        match self {
            Item::Import(_) => None,
            Item::Type(decl) => Some(&decl.name),
            Item::Enum(decl) => Some(&decl.name),
            Item::Reducer(decl) => Some(&decl.name),
            Item::Event(decl) => Some(&decl.name),
            Item::Model(decl) => Some(&decl.name),
            Item::Tool(decl) => Some(&decl.name),
            Item::Toolset(decl) => Some(&decl.name),
            Item::Retry(decl) => Some(&decl.name),
            Item::Prompt(decl) => Some(&decl.name),
            Item::Graph(decl) => Some(&decl.name),
            Item::Instance(decl) => Some(&decl.name),
            Item::Function(decl) => Some(&decl.name),
        }
    }
}

/// `import { A, b as c } from "./types.graph"`
#[derive(Debug, Clone)]
pub struct Import {
    /// Names brought in.
    pub names: Vec<ImportName>,
    /// The module, as written between the quotes.
    pub from: Name,
    /// The whole item.
    pub span: Span,
}

/// One name of an import.
#[derive(Debug, Clone)]
pub struct ImportName {
    /// Its name in the other file.
    pub name: Name,
    /// `as` name in this file.
    pub alias: Option<Name>,
}

/// A record type or an alias.
#[derive(Debug, Clone)]
pub struct TypeDecl {
    /// Doc comment.
    pub doc: Doc,
    /// Its name.
    pub name: Name,
    /// What it stands for.
    pub body: TypeBody,
    /// The whole item.
    pub span: Span,
}

/// The two forms of `type`.
#[derive(Debug, Clone)]
pub enum TypeBody {
    /// `{ field: T, .. }`
    Record(Vec<Field>),
    /// `= T`
    Alias(TypeExpr),
}

/// `enum Status { pending, approved }`
#[derive(Debug, Clone)]
pub struct EnumDecl {
    /// Doc comment.
    pub doc: Doc,
    /// Its name.
    pub name: Name,
    /// Members in order.
    pub members: Vec<EnumMember>,
    /// The whole item.
    pub span: Span,
}

/// A member of an enum.
#[derive(Debug, Clone)]
pub struct EnumMember {
    /// Doc comment.
    pub doc: Doc,
    /// Its name, which is also its value (a text).
    pub name: Name,
    /// `@desc(..)`, `@alias(..)`
    pub attributes: Vec<Attribute>,
}

/// `reducer name(old: T, new: U) -> T = expr`
#[derive(Debug, Clone)]
pub struct ReducerDecl {
    /// Doc comment.
    pub doc: Doc,
    /// Its name.
    pub name: Name,
    /// Parameters as written; two are required.
    pub params: Vec<Field>,
    /// Result type.
    pub returns: TypeExpr,
    /// What it computes.
    pub body: Expr,
    /// The whole item.
    pub span: Span,
}

/// `event changeset.created { id: string }`
#[derive(Debug, Clone)]
pub struct EventDecl {
    /// Doc comment.
    pub doc: Doc,
    /// Its name, dots included.
    pub name: Name,
    /// Payload.
    pub fields: Vec<Field>,
    /// The whole item.
    pub span: Span,
}

/// `model writer = "openai/gpt-5.2" { temperature 0.2, retry 3, fallback [backup] }`
#[derive(Debug, Clone)]
pub struct ModelDecl {
    /// Doc comment.
    pub doc: Doc,
    /// Its name in flows.
    pub name: Name,
    /// `provider/model`.
    pub reference: Name,
    /// Settings in order.
    pub settings: Vec<ModelSetting>,
    /// The whole item.
    pub span: Span,
}

/// One setting of a model.
#[derive(Debug, Clone)]
pub struct ModelSetting {
    /// `temperature`, `timeout`, ... The parser accepts any word; the resolver knows which exist.
    pub key: Name,
    /// Its value.
    pub value: SettingValue,
    /// Key and value.
    pub span: Span,
}

/// Values of a model setting.
#[derive(Debug, Clone)]
pub enum SettingValue {
    /// `0.2`, `true`, `"high"`, ...
    Expr(Expr),
    /// `60s`
    Duration(Duration),
    /// `[backup, other]`
    Names(Vec<Name>),
    /// `3`, `patient` or `{ attempts 3, .. }` after `retry`
    Retry(RetrySpec),
}

/// `10s` in a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Duration {
    /// Milliseconds.
    pub millis: u64,
    /// Where.
    pub span: Span,
}

/// `tool name(params) -> T @attributes { body }`
#[derive(Debug, Clone)]
pub struct ToolDecl {
    /// Doc comment: what the model reads.
    pub doc: Doc,
    /// Its name.
    pub name: Name,
    /// Parameters.
    pub params: Vec<Field>,
    /// Result type; `None` where it gives nothing back.
    pub returns: Option<TypeExpr>,
    /// `@effect(write)` and the like.
    pub attributes: Vec<Attribute>,
    /// With a body it runs in the interpreter; without one `graphc.yaml` binds it.
    pub body: Option<ToolBody>,
    /// The whole item.
    pub span: Span,
}

/// What a tool with a body does, in this order.
#[derive(Debug, Clone, Default)]
pub struct ToolBody {
    /// `reads { docs: map<Doc> }`: fields of the calling graph's state that it needs.
    pub reads: Vec<Field>,
    /// `let x = expr`
    pub lets: Vec<Let>,
    /// `require cond else message`, and `ensure` in the same form
    pub requires: Vec<Require>,
    /// `set { .. }`
    pub set: Vec<SetItem>,
    /// `emit X { .. }`
    pub emits: Vec<Emit>,
    /// `goto ..`
    pub goto: Option<Jumps>,
    /// `return expr`
    pub returns: Option<Expr>,
}

/// `let x = expr`
#[derive(Debug, Clone)]
pub struct Let {
    /// The new name.
    pub name: Name,
    /// Its value.
    pub value: Expr,
}

/// `require cond else message`
#[derive(Debug, Clone)]
pub struct Require {
    /// Must hold.
    pub condition: Expr,
    /// Text of the error where it doesn't.
    pub message: Option<Expr>,
    /// The whole property.
    pub span: Span,
}

/// `toolset t = [a, b with { k: 5 } where target == X]`
#[derive(Debug, Clone)]
pub struct ToolsetDecl {
    /// Doc comment.
    pub doc: Doc,
    /// Its name.
    pub name: Name,
    /// Members.
    pub tools: Vec<ToolRef>,
    /// The whole item.
    pub span: Span,
}

/// A tool or toolset in a `tools [..]` list.
#[derive(Debug, Clone)]
pub struct ToolRef {
    /// Name of a tool or a toolset.
    pub name: Name,
    /// `with { .. }`: arguments that the flow fixes.
    pub fixed: Vec<NamedArg>,
    /// `where` condition on its arguments.
    pub narrow: Option<Expr>,
}

/// `retry patient = { attempts 5 }` or `retry patient = 5`
#[derive(Debug, Clone)]
pub struct RetryDecl {
    /// Doc comment.
    pub doc: Doc,
    /// Its name.
    pub name: Name,
    /// The policy.
    pub policy: RetrySpec,
    /// The whole item.
    pub span: Span,
}

/// `prompt greet(name: string) = """..."""`
#[derive(Debug, Clone)]
pub struct PromptDecl {
    /// Doc comment.
    pub doc: Doc,
    /// Its name.
    pub name: Name,
    /// Variables of its template.
    pub params: Vec<Field>,
    /// The text.
    pub template: Template,
    /// The whole item.
    pub span: Span,
}

/// `graph Mode1 = Chat(selection: Selection.manual)`
#[derive(Debug, Clone)]
pub struct InstanceDecl {
    /// Doc comment.
    pub doc: Doc,
    /// Its name.
    pub name: Name,
    /// The graph it is an instance of.
    pub base: Name,
    /// Values of parameters.
    pub args: Vec<NamedArg>,
    /// The whole item.
    pub span: Span,
}

/// `name: expr` in a call of a tool, graph or prompt.
#[derive(Debug, Clone)]
pub struct NamedArg {
    /// Which parameter.
    pub name: Name,
    /// Its value.
    pub value: Expr,
}

/// `function name(params) -> T` in the standard library.
#[derive(Debug, Clone)]
pub struct FunctionDecl {
    /// Doc comment.
    pub doc: Doc,
    /// Its name.
    pub name: Name,
    /// Parameters.
    pub params: Vec<Field>,
    /// Result type.
    pub returns: TypeExpr,
    /// The whole item.
    pub span: Span,
}
