//! Expressions (CEL) and templates (Jinja): their static types and their evaluation.
//!
//! Two halves that share [`ty`], [`scope`] and the [`function`] table:
//!
//! - static: [`infer`] types an [`ast::expr::Expr`](crate::ast::expr::Expr) in a [`Scope`] and reports what can't be;
//! - dynamic: [`eval`] compiles the same tree to slots, once, and evaluates it many times.
//!
//! [`fold`](mod@fold) stands between: it evaluates what is the same in every run.
//!
//! Nothing here knows of graphs or nodes: a scope is a list of names with types.

pub mod accept;
pub mod condition;
pub mod constraint;
pub mod eval;
pub mod fold;
pub mod function;
pub mod infer;
mod operator;
pub mod schema;
pub mod scope;
pub mod template;
pub mod ty;

pub use scope::{Scope, Slot};
pub use ty::{EnumId, RecordId, Type, TypeTable};
