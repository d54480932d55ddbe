//! graphc.

pub mod ast;
pub mod base;
pub mod diag;
pub mod expr;
pub mod parse;
pub mod value;
