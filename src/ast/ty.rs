//! Types as written.

use crate::base::Span;

use super::{Doc, Name, expr::Expr};

/// A type expression.
#[derive(Debug, Clone, PartialEq)]
pub struct TypeExpr {
    /// What it is.
    pub kind: TypeKind,
    /// Where.
    pub span: Span,
}

/// The forms of a type expression.
#[derive(Debug, Clone, PartialEq)]
pub enum TypeKind {
    /// `string`, `Doc`, ...: a built-in or declared type.
    Name(String),
    /// `list<T>`, `map<T>`: a built-in type of one parameter.
    Generic(Name, Box<TypeExpr>),
    /// `T?`: may be null.
    Optional(Box<TypeExpr>),
    /// `A | B`, at least two members.
    Union(Vec<TypeExpr>),
    /// `"approve"`: that text alone.
    Literal(String),
    /// `{ decision: Decision, note: string? }`: a record without a name, behind `expect`.
    Record(Vec<Field>),
}

/// `@name` or `@name(args)` behind a field, parameter or tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Attribute {
    /// The word after `@`.
    pub name: Name,
    /// Arguments; none where there are no parentheses. A word such as `write` is an identifier expression.
    pub args: Vec<Expr>,
    /// From `@` to the end.
    pub span: Span,
}

/// A field of a record, event or `input` block, or a parameter of a tool, prompt, graph or function.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Doc comment.
    pub doc: Doc,
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: TypeExpr,
    /// After `=`.
    pub default: Option<Expr>,
    /// `@min(0)` and the like.
    pub attributes: Vec<Attribute>,
    /// The whole declaration.
    pub span: Span,
}
