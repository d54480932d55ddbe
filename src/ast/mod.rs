//! What was written: plain data with spans, one type for each construct of the language.
//!
//! The tree keeps every construct of `docs/language`, also those whose meaning a later stage
//! refuses, and it keeps names as text: resolving them is the work of [`resolve`](crate::resolve).
//! It knows nothing of pest; [`parse`](crate::parse) builds it.
//!
//! Reading order: [`item`] (a file and its top-level items), [`graph`] (state, nodes, edges),
//! [`node`] (kinds and properties of a node), [`target`] (where an edge or a jump may lead),
//! [`ty`] (types), [`expr`] (expressions).

pub mod expr;
pub mod graph;
pub mod item;
pub mod node;
pub mod target;
pub mod template;
pub mod ty;

use crate::base::Spanned;

/// A name where it was written.
pub type Name = Spanned<String>;

/// Doc comment lines above a declaration, joined by line ends, without `///`; empty where there are none.
pub type Doc = String;
